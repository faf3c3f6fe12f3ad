//! Where vi's motions go, and which part of the text an order is about.

use std::ops::Range;

use super::super::buffer::{next, previous, snap};
use super::super::motion::{Class, Words, line_end, line_start, line_text, skip, skip_back};
use super::order::{Extent, Find, Motion, Object};

/// Where a motion goes, and what an operator makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    /// The place.
    pub(super) at: usize,
    /// What an operator makes of it.
    pub(super) reach: Reach,
}

/// What an operator makes of a motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Up to the place.
    Exclusive,
    /// Its grapheme too.
    Inclusive,
    /// Whole lines.
    Lines,
}

/// Where a motion goes from the caret; none if there is nothing like it.
pub(super) fn target(
    text: &str,
    caret: usize,
    motion: Motion,
    count: Option<usize>,
) -> Option<Target> {
    let times = count.unwrap_or(1);
    let (start, end) = (line_start(text, caret), line_end(text, caret));
    let repeat = |step: &dyn Fn(usize) -> usize| (0..times).fold(caret, |at, _| step(at));
    let (at, reach) = match motion {
        Motion::Left => (repeat(&|at| previous(text, at).max(start)), Reach::Exclusive),
        Motion::Right => (repeat(&|at| next(text, at).min(end)), Reach::Exclusive),
        Motion::Up => (line_away(text, caret, times, previous_line)?, Reach::Lines),
        Motion::Down => (line_away(text, caret, times, next_line)?, Reach::Lines),
        Motion::Word(words) => (repeat(&|at| next_word(text, at, words)), Reach::Exclusive),
        Motion::Back(words) => (repeat(&|at| previous_word(text, at, words)), Reach::Exclusive),
        Motion::End(words) => (repeat(&|at| word_end(text, at, words)), Reach::Inclusive),
        Motion::LineStart => (start, Reach::Exclusive),
        Motion::LineText => (line_text(text, caret), Reach::Exclusive),
        Motion::LineEnd => {
            let last = line_away(text, caret, times - 1, next_line)?;
            (line_end(text, last), Reach::Exclusive)
        }
        Motion::Top => (line_number(text, times), Reach::Lines),
        Motion::Bottom => match count {
            Some(number) => (line_number(text, number), Reach::Lines),
            None => (line_text(text, text.len()), Reach::Lines),
        },
        Motion::Find(find) => {
            let reach = if find.is_back { Reach::Exclusive } else { Reach::Inclusive };
            (found(text, caret, find, times)?, reach)
        }
        // They were made a `Find` by who remembers the last one.
        Motion::Again | Motion::AgainBack => return None,
    };
    Some(Target { at: snap(text, at), reach })
}

/// The part from the caret to where a motion goes; a word at the end of a line ends with it.
pub(super) fn span(text: &str, caret: usize, motion: Motion, target: Target) -> Range<usize> {
    let (start, end) = (caret.min(target.at), caret.max(target.at));
    match (motion, target.reach) {
        (_, Reach::Lines) => line_start(text, start)..line_end(text, end),
        (_, Reach::Inclusive) => start..next(text, end),
        (Motion::Word(_), Reach::Exclusive) => {
            let crossed = text[start..end].trim_end();
            let is_crossing = text[start + crossed.len()..end].contains('\n');
            let stop = (start + crossed.len()).max(line_end(text, start).min(end));
            start..if is_crossing { stop } else { end }
        }
        (_, Reach::Exclusive) => start..end,
    }
}

/// The part that an object at the caret is; none if there is none.
pub(super) fn object(
    text: &str,
    caret: usize,
    extent: Extent,
    object: Object,
) -> Option<Range<usize>> {
    match object {
        Object::Word(words) => word_object(text, caret, extent, words),
        Object::Quoted(quote) => {
            let (open, close) = quoted(text, caret, quote)?;
            Some(trimmed(open, close, 1, extent))
        }
        Object::Bracketed(opens, closes) => {
            let (open, close) = bracketed(text, caret, opens, closes)?;
            Some(trimmed(open, close, opens.len_utf8(), extent))
        }
    }
}

fn trimmed(open: usize, close: usize, wide: usize, extent: Extent) -> Range<usize> {
    match extent {
        Extent::Inner => open + wide..close,
        Extent::Around => open..close + wide,
    }
}

fn next_word(text: &str, at: usize, words: Words) -> usize {
    let at = match words.class(text, at) {
        None => return at,
        Some(Class::Blank) => at,
        Some(Class::Mark) => next(text, at),
        Some(class) => run_end(text, at, words, class),
    };
    skip(text, at, |class| class == Class::Blank)
}

fn previous_word(text: &str, at: usize, words: Words) -> usize {
    let at = skip_back(text, at, |class| class == Class::Blank);
    let Some(class) = (at > 0).then(|| words.class(text, previous(text, at))).flatten() else {
        return at;
    };
    if class == Class::Mark { previous(text, at) } else { run_start(text, at, words, class) }
}

/// The last grapheme of the word.
fn word_end(text: &str, at: usize, words: Words) -> usize {
    let start = skip(text, next(text, at), |class| class == Class::Blank);
    match words.class(text, start) {
        None => text.len(),
        Some(Class::Mark) => start,
        Some(class) => previous(text, run_end(text, start, words, class)),
    }
}

fn run_end(text: &str, mut at: usize, words: Words, class: Class) -> usize {
    while words.class(text, at) == Some(class) {
        at = next(text, at);
    }
    at
}

fn run_start(text: &str, mut at: usize, words: Words, class: Class) -> usize {
    while at > 0 && words.class(text, previous(text, at)) == Some(class) {
        at = previous(text, at);
    }
    at
}

fn next_line(text: &str, at: usize) -> Option<usize> {
    let end = line_end(text, at);
    (end < text.len()).then_some(end + 1)
}

fn previous_line(text: &str, at: usize) -> Option<usize> {
    line_start(text, at).checked_sub(1)
}

/// A place in the line so many lines away, or as far as there are any; none if there is none at all.
fn line_away(
    text: &str,
    caret: usize,
    times: usize,
    step: fn(&str, usize) -> Option<usize>,
) -> Option<usize> {
    let mut at = caret;
    for taken in 0..times {
        match step(text, at) {
            Some(there) => at = there,
            None if taken == 0 => return None,
            None => break,
        }
    }
    Some(at)
}

fn line_number(text: &str, number: usize) -> usize {
    line_text(text, line_away(text, 0, number.saturating_sub(1), next_line).unwrap_or(0))
}

fn found(text: &str, caret: usize, find: Find, times: usize) -> Option<usize> {
    let Find { character, is_back, is_short, is_again } = find;
    let skips = is_short && is_again;
    if is_back {
        let start = line_start(text, caret);
        let is_beside = skips && text[start..caret].ends_with(character);
        let end = if is_beside { previous(text, caret) } else { caret };
        let (at, _) = text[start..end].rmatch_indices(character).nth(times - 1)?;
        return Some(if is_short { next(text, start + at) } else { start + at });
    }
    let (start, end) = (next(text, caret), line_end(text, caret));
    let is_beside = skips && text[start..].starts_with(character);
    let start = if is_beside { next(text, start) } else { start };
    let (at, _) = text.get(start..end)?.match_indices(character).nth(times - 1)?;
    Some(if is_short { previous(text, start + at) } else { start + at })
}

fn word_object(text: &str, caret: usize, extent: Extent, words: Words) -> Option<Range<usize>> {
    let class = words.class(text, caret)?;
    let (first, last) = (line_start(text, caret), line_end(text, caret));
    let range = match class {
        Class::Mark => caret..next(text, caret),
        Class::Blank | Class::Word | Class::Sign => {
            let start = run_start(text, caret, words, class).max(first);
            start..run_end(text, caret, words, class).min(last)
        }
    };
    if extent == Extent::Inner {
        return Some(range);
    }
    if class == Class::Blank {
        let end = words.class(text, range.end).map(|class| run_end(text, range.end, words, class));
        return Some(range.start..end.unwrap_or(range.end).min(last));
    }
    let blank = |class| class == Class::Blank;
    let end = skip(text, range.end, blank).min(last);
    if end > range.end {
        return Some(range.start..end);
    }
    Some(skip_back(text, range.start, blank).max(first)..range.end)
}

/// The quotes around the caret, or the first behind it, in its line.
fn quoted(text: &str, caret: usize, quote: char) -> Option<(usize, usize)> {
    let start = line_start(text, caret);
    let line = &text[start..line_end(text, caret)];
    let is_escaped = |at: &usize| line[..*at].ends_with('\\');
    let quotes: Vec<usize> =
        line.match_indices(quote).map(|(at, _)| at).filter(|at| !is_escaped(at)).collect();
    let pairs = quotes.chunks_exact(2).map(|pair| (start + pair[0], start + pair[1]));
    pairs.into_iter().find(|(_, close)| *close >= caret)
}

/// The nearest brackets around the caret.
fn bracketed(text: &str, caret: usize, opens: char, closes: char) -> Option<(usize, usize)> {
    let open = if text[caret..].starts_with(opens) {
        caret
    } else {
        unmatched(text[..caret].char_indices().rev(), closes, opens)?
    };
    let inside = open + opens.len_utf8();
    let behind = text[inside..].char_indices().map(|(at, c)| (inside + at, c));
    Some((open, unmatched(behind, opens, closes)?))
}

/// The first `wanted` that has no `other` before it on the way.
fn unmatched(
    chars: impl Iterator<Item = (usize, char)>,
    other: char,
    wanted: char,
) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in chars {
        if c == other {
            depth += 1;
        } else if c == wanted {
            depth = match depth.checked_sub(1) {
                None => return Some(at),
                Some(depth) => depth,
            };
        }
    }
    None
}
