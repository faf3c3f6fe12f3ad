//! The words that differ between a removed line and the one that took its place.

use std::borrow::Cow;
use std::ops::Range;

use similar::{ChangeTag, TextDiff};

use super::parse::{Change, DiffLine};
use crate::line::Span;
use crate::style::Style;

/// Lines longer than this are not compared.
const MOST_BYTES: usize = 1_000;
/// Blocks of more lines than this are not compared.
const MOST_LINES: usize = 200;
/// Lines that are less alike than this are different lines, and marks would only be noise.
const LEAST_ALIKE: f32 = 0.4;

/// For each line the bytes that changed, where it stands for another one.
pub(super) fn marks(lines: &[DiffLine<'_>], texts: &[Cow<'_, str>]) -> Vec<Vec<Range<usize>>> {
    let mut marks = vec![Vec::new(); lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let removed = run(lines, at, Change::Removed);
        let added = run(lines, at + removed, Change::Added);
        if removed <= MOST_LINES && added <= MOST_LINES {
            for pair in 0..removed.min(added) {
                let (old, new) = (at + pair, at + removed + pair);
                let (in_old, in_new) = compare(&texts[old], &texts[new]);
                marks[old] = in_old;
                marks[new] = in_new;
            }
        }
        at += (removed + added).max(1);
    }
    marks
}

fn run(lines: &[DiffLine<'_>], from: usize, change: Change) -> usize {
    lines[from.min(lines.len())..].iter().take_while(|line| line.change == change).count()
}

/// The bytes that differ in both.
fn compare(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    if old.len() > MOST_BYTES || new.len() > MOST_BYTES {
        return (Vec::new(), Vec::new());
    }
    let diff = TextDiff::from_unicode_words(old, new);
    if diff.ratio() < LEAST_ALIKE {
        return (Vec::new(), Vec::new());
    }
    let (mut in_old, mut in_new) = (Vec::new(), Vec::new());
    let (mut at_old, mut at_new) = (0, 0);
    for change in diff.iter_all_changes() {
        let length = change.value().len();
        match change.tag() {
            ChangeTag::Equal => {
                at_old += length;
                at_new += length;
            }
            ChangeTag::Delete => extend(&mut in_old, &mut at_old, length),
            ChangeTag::Insert => extend(&mut in_new, &mut at_new, length),
        }
    }
    (in_old, in_new)
}

fn extend(ranges: &mut Vec<Range<usize>>, at: &mut usize, length: usize) {
    let end = *at + length;
    match ranges.last_mut() {
        Some(last) if last.end == *at => last.end = end,
        Some(_) | None => ranges.push(*at..end),
    }
    *at = end;
}

/// Spans with the changed bytes in another style.
pub(super) fn mark(spans: Vec<Span>, changed: &[Range<usize>], style: Style) -> Vec<Span> {
    if changed.is_empty() {
        return spans;
    }
    let mut out = Vec::new();
    let mut at = 0;
    for span in spans {
        let end = at + span.text.len();
        let mut from = at;
        for range in changed.iter().filter(|range| range.start < end && range.end > at) {
            let (start, stop) = (range.start.max(at), range.end.min(end));
            push(&mut out, &span, &span.text[from - at..start - at], span.style);
            let marked = Style { bg: style.bg, ..span.style }.with(style.attrs);
            let marked =
                if style.bg == crate::style::Color::Default { style.over(marked) } else { marked };
            push(&mut out, &span, &span.text[start - at..stop - at], marked);
            from = stop;
        }
        push(&mut out, &span, &span.text[from - at..], span.style);
        at = end;
    }
    out
}

fn push(out: &mut Vec<Span>, span: &Span, text: &str, style: Style) {
    if !text.is_empty() {
        out.push(Span { text: text.to_owned(), style, link: span.link.clone() });
    }
}
