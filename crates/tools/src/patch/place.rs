//! Finding where the changes of a patch belong, and making them.

use super::{Anchor, Chunk};
use crate::edit::{
    Ending, Excerpt, Line, Rewrite, Tolerance, copy, key, mark_length, nearest, split,
};
use crate::text::Encoding;

/// In the order they are tried.
const TOLERANCES: [Tolerance; 4] =
    [Tolerance::None, Tolerance::Trailing, Tolerance::Blanks, Tolerance::Typography];

/// A content with every change made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) bytes: Vec<u8>,
    /// What the model should know besides.
    pub(crate) notes: Vec<String>,
}

/// Why a change does not fit a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PlaceError {
    #[error("there is no line `{0}` to change something below")]
    NoHeading(String),
    #[error("these lines were not found{}:\n{wanted}{}", after(*.from), hint(.nearest.as_ref()))]
    Missing { wanted: String, from: usize, nearest: Option<Excerpt> },
    #[error("these lines fit more than one place when blanks are ignored; copy them exactly:\n{0}")]
    Ambiguous(String),
}

fn after(from: usize) -> String {
    if from == 0 { String::new() } else { format!(" after line {from}") }
}

fn hint(nearest: Option<&Excerpt>) -> String {
    match nearest {
        Some(excerpt) => {
            format!(
                "\nThe nearest are (→ is a tab, · a blank at a line's start or end):\n{excerpt}"
            )
        }
        None => String::new(),
    }
}

/// Makes each change, in order, each below the one before.
pub(crate) fn place(content: &[u8], chunks: &[Chunk]) -> Result<Placed, PlaceError> {
    let encoding = Encoding::of(content);
    let content = encoding.workable(content);
    let (mark, body) = content.split_at(mark_length(&content));
    let lines = split(body, &[Ending::CrLf, Ending::Lf, Ending::Cr]);
    let mut placed = Placed { bytes: mark.to_vec(), notes: Vec::new() };
    let (mut done, mut from) = (0, 0);
    for chunk in chunks {
        let (found, old, new) = find(&lines, chunk, from)?;
        // Added lines may go where the last change ended, and then there is nothing to copy.
        let start = found.start.max(done);
        copy(&lines[done..start], &mut placed.bytes);
        let length = old.len();
        Rewrite::of_lines(&lines, (old, new), found.tolerance).one(start, &mut placed.bytes);
        done = start + length;
        from = done;
        placed.notes.extend(found.note);
    }
    copy(&lines[done..], &mut placed.bytes);
    placed.bytes = encoding.restored(placed.bytes);
    Ok(placed)
}

struct Found {
    start: usize,
    tolerance: Tolerance,
    note: Option<String>,
}

type Texts<'a> = Vec<&'a [u8]>;

fn find<'a>(
    lines: &'a [Line<'a>],
    chunk: &'a Chunk,
    from: usize,
) -> Result<(Found, Texts<'a>, Texts<'a>), PlaceError> {
    let from = below_headings(lines, &chunk.headings, from)?;
    let texts = |lines: &'a [String]| lines.iter().map(String::as_bytes).collect::<Texts<'a>>();
    let (mut old, mut new) = (texts(&chunk.old), texts(&chunk.new));
    if old.is_empty() {
        return Ok(addition(lines, chunk, new, from));
    }
    let mut found = look(lines, &old, chunk.anchor, from);
    // A blank line at the end of a change is often only the patch's own.
    if found.is_none() && old.len() > 1 && old.last() == Some(&b"".as_slice()) {
        old.pop();
        new.pop_if(|line| line.is_empty());
        found = look(lines, &old, chunk.anchor, from);
    }
    let wanted = || {
        let shown: Vec<_> = old.iter().take(6).map(|line| String::from_utf8_lossy(line)).collect();
        shown.join("\n")
    };
    let Some((starts, tolerance)) = found else {
        let wanted_lines: Vec<_> =
            old.iter().map(|&text| Line { text, ending: Ending::Lf }).collect();
        let nearest = nearest(lines, &wanted_lines);
        return Err(PlaceError::Missing { wanted: wanted(), from, nearest });
    };
    let note = match (tolerance, starts.as_slice()) {
        (_, [_]) => None,
        (Tolerance::Blanks | Tolerance::Typography, _) => {
            return Err(PlaceError::Ambiguous(wanted()));
        }
        (Tolerance::None | Tolerance::Trailing, _) => Some(format!(
            "the lines changed at line {} also stand at line {}; give more lines or `@@ heading` if \
             those were meant",
            starts[0] + 1,
            starts[1] + 1
        )),
    };
    Ok((Found { start: starts[0], tolerance, note }, old, new))
}

/// Lines that only come: below their heading, else at the end of the file.
fn addition<'a>(
    lines: &'a [Line<'a>],
    chunk: &Chunk,
    mut new: Texts<'a>,
    from: usize,
) -> (Found, Texts<'a>, Texts<'a>) {
    let start = if chunk.headings.is_empty() { lines.len() } else { from };
    let found = |start| Found { start, tolerance: Tolerance::None, note: None };
    match lines.last() {
        // The last line gets an ending, and what comes after it has none.
        Some(last) if start == lines.len() && last.ending == Ending::None && from < start => {
            new.insert(0, last.text);
            (found(start - 1), vec![last.text], new)
        }
        Some(_) | None => (found(start), Vec::new(), new),
    }
}

/// The line below the last of these headings, each looked for below the one before.
fn below_headings(
    lines: &[Line<'_>],
    headings: &[String],
    mut from: usize,
) -> Result<usize, PlaceError> {
    for heading in headings {
        let found = look(lines, &[heading.as_bytes()], Anchor::Anywhere, from);
        let (starts, _) = found.ok_or_else(|| PlaceError::NoHeading(heading.clone()))?;
        from = starts[0] + 1;
    }
    Ok(from)
}

/// The first two places where lines stand from a line on, with as little tolerance as it takes.
fn look(
    lines: &[Line<'_>],
    wanted: &[&[u8]],
    anchor: Anchor,
    from: usize,
) -> Option<(Vec<usize>, Tolerance)> {
    for tolerance in TOLERANCES {
        let wanted: Vec<_> = wanted.iter().map(|line| key(line, tolerance)).collect();
        let fits = |start: &usize| {
            let there = &lines[*start..*start + wanted.len()];
            there.iter().zip(&wanted).all(|(line, wanted)| key(line.text, tolerance) == *wanted)
        };
        let last = lines.len().checked_sub(wanted.len())?;
        if anchor == Anchor::End && last >= from && fits(&last) {
            return Some((vec![last], tolerance));
        }
        let starts: Vec<usize> = (from..=last).filter(fits).take(2).collect();
        if !starts.is_empty() {
            return Some((starts, tolerance));
        }
    }
    None
}
