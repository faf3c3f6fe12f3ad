//! The lines a model most likely meant, shown so that it can see what differs.

use std::collections::HashSet;
use std::fmt;

use super::fold::{Tolerance, key};
use super::lines::Line;

/// Lines compared letter by letter, at most; a hint is not worth more.
const COMPARED: usize = 20_000;
/// Lines shown, at most.
const SHOWN: usize = 12;
/// Letters of a line shown and compared, at most.
const WIDTH: usize = 200;
/// From this likeness on a line is worth showing.
const LIKE: f64 = 0.5;

/// Some lines of a file, with blanks made visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    first: usize,
    lines: Vec<String>,
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, line) in self.lines.iter().enumerate() {
            let gap = if at == 0 { "" } else { "\n" };
            write!(f, "{gap}{}\t{line}", self.first + at)?;
        }
        Ok(())
    }
}

/// The part of a file most like the wanted lines; none if nothing is.
pub(crate) fn nearest(lines: &[Line<'_>], wanted: &[Line<'_>]) -> Option<Excerpt> {
    let start = most_same(lines, wanted).or_else(|| most_like(lines, wanted))?;
    let first = start.saturating_sub(1);
    let end = (start + wanted.len() + 1).min(first + SHOWN).min(lines.len());
    let shown = lines[first..end].iter().map(|line| visible(line.text)).collect();
    Some(Excerpt { first: first + 1, lines: shown })
}

/// Where at least half of the wanted lines stand, in their places, but for blanks and typography.
fn most_same(lines: &[Line<'_>], wanted: &[Line<'_>]) -> Option<usize> {
    let folded = |line: &Line<'_>| key(line.text, Tolerance::Typography).into_owned();
    let wanted: Vec<_> = wanted.iter().take(WIDTH).map(folded).collect();
    let said = wanted.iter().filter(|line| !line.is_empty()).count();
    let keys: Vec<_> = lines.iter().take(COMPARED).map(folded).collect();
    let same = |start: usize| {
        let pairs = keys[start..].iter().zip(&wanted);
        pairs.filter(|(file, model)| !model.is_empty() && file == model).count()
    };
    let (start, count) = (0..keys.len())
        .map(|start| (start, same(start)))
        .max_by_key(|&(start, count)| (count, usize::MAX - start))?;
    (count > 0 && count * 2 >= said).then_some(start)
}

/// Where the line stands that is most like the longest of those wanted, letter by letter.
fn most_like(lines: &[Line<'_>], wanted: &[Line<'_>]) -> Option<usize> {
    let length = |at: &usize| wanted[*at].text.trim_ascii().len();
    let longest = (0..wanted.len()).max_by_key(length)?;
    let target = pairs_of(wanted[longest].text);
    let mut best = (LIKE, None);
    for (at, line) in lines.iter().take(COMPARED).enumerate() {
        let found = likeness(&target, &pairs_of(line.text));
        if found > best.0 {
            best = (found, Some(at));
        }
    }
    best.1.map(|at| at.saturating_sub(longest))
}

/// Each pair of neighbouring bytes, blanks left out.
fn pairs_of(text: &[u8]) -> HashSet<[u8; 2]> {
    let said: Vec<u8> =
        text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(WIDTH).collect();
    said.windows(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// Dice's coefficient: 1 for the same pairs, 0 for none in common.
#[expect(clippy::cast_precision_loss, reason = "at most a few hundred")]
fn likeness(one: &HashSet<[u8; 2]>, other: &HashSet<[u8; 2]>) -> f64 {
    let all = one.len() + other.len();
    if all == 0 {
        return 0.0;
    }
    2.0 * one.intersection(other).count() as f64 / all as f64
}

fn visible(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let body = text.trim_matches(|letter| matches!(letter, ' ' | '\t'));
    let head = text.find(body).unwrap_or_default();
    let show = |blanks: &str| blanks.replace('\t', "→").replace(' ', "·");
    let tail = head + body.len();
    let mut shown = show(&text[..head]);
    shown.push_str(&body.replace('\t', "→"));
    shown.push_str(&show(&text[tail..]));
    if shown.chars().count() > WIDTH {
        shown = shown.chars().take(WIDTH).collect();
        shown.push('…');
    }
    shown
}
