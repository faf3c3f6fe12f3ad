//! The edit engine: one piece of text replaced by another, as pure functions over a file's bytes.
//!
//! A match is looked for in three ways, each only when the one before found nothing: exactly; by whole
//! lines that differ in blanks; by whole lines that also differ in typography (curly quotes, dashes,
//! full-width letters). The last two must be unique and are told to the model. Nothing looser is tried: a
//! wrong match costs more than a second call.
//!
//! Bytes outside the match stay as they are, whatever their encoding. So do lines inside it that the edit
//! does not change, line endings included.

mod fold;
mod indent;
mod lines;
mod nearest;
mod rewrite;
mod sequence;

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

pub(crate) use fold::{Tolerance, key};
pub(crate) use lines::{Ending, Line, split};
pub(crate) use nearest::{Excerpt, nearest};
pub(crate) use rewrite::{Rewrite, copy};
pub(crate) use sequence::{Failure, Outcome, Wish, apply_all};

/// One replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edit<'a> {
    pub(crate) old: &'a [u8],
    pub(crate) new: &'a [u8],
    pub(crate) scope: Scope,
}

/// How many matches are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The only one there is.
    One,
    /// Every one.
    All,
}

/// An edit that fitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) bytes: Vec<u8>,
    pub(crate) matches: usize,
    pub(crate) tolerance: Tolerance,
}

/// Why an edit does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Misfit {
    #[error("old_string is empty")]
    Empty,
    #[error("old_string and new_string are the same, so there is nothing to do")]
    Same,
    #[error("the file is {0} text, which cannot hold some of these letters")]
    Unwritable(&'static str),
    #[error("old_string has the line numbers view shows; leave them out")]
    Numbered,
    #[error("old_string was not found{}", hint(.nearest.as_ref()))]
    Missing { nearest: Option<Excerpt> },
    #[error(
        "old_string fits {} places ({}); add lines around it until it fits one, or set replace_all",
        .lines.len(),
        places(.lines)
    )]
    Ambiguous { lines: Vec<usize> },
}

fn hint(nearest: Option<&Excerpt>) -> String {
    match nearest {
        Some(excerpt) => format!(
            ". The nearest lines (→ is a tab, · a blank at a line's start or end):\n{excerpt}"
        ),
        None => ", nor anything like it".to_owned(),
    }
}

fn places(lines: &[usize]) -> String {
    const SHOWN: usize = 5;
    let mut text: Vec<String> =
        lines.iter().take(SHOWN).map(|line| format!("line {line}")).collect();
    if lines.len() > SHOWN {
        text.push("…".to_owned());
    }
    text.join(", ")
}

/// Applies an edit to a file's content.
pub(crate) fn apply(content: &[u8], edit: &Edit<'_>) -> Result<Applied, Misfit> {
    let (mark, body) = content.split_at(mark_length(content));
    let old = without_returns(&edit.old[mark_length(edit.old)..]);
    let new = without_returns(&edit.new[mark_length(edit.new)..]);
    if old.is_empty() {
        return Err(Misfit::Empty);
    }
    if old == new {
        return Err(Misfit::Same);
    }
    let view = View::new(body);
    let found = Found::look(&view, &old, edit.scope)?;
    let mut bytes = mark.to_vec();
    match &found {
        Found::Exact(starts) => replace_exact(&view, (&old, &new), starts, &mut bytes),
        Found::Lines { starts, tolerance } => {
            let lines = view.lines();
            Rewrite::new(&lines, &old, &new, *tolerance).at(starts, &mut bytes);
        }
    }
    Ok(Applied { bytes, matches: found.count(), tolerance: found.tolerance() })
}

/// Length of the byte order mark some editors begin a file with.
pub(crate) fn mark_length(content: &[u8]) -> usize {
    if content.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

/// Text with plain line feeds. Models write those, whatever the file has.
fn without_returns(text: &[u8]) -> Cow<'_, [u8]> {
    if memmem::find(text, b"\r\n").is_none() {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memmem::find(rest, b"\r\n") {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
    }
    plain.extend_from_slice(rest);
    Cow::Owned(plain)
}

/// A file's body with plain line feeds, and the way back to its real bytes.
struct View<'a> {
    body: &'a [u8],
    plain: Cow<'a, [u8]>,
    /// Where in `plain` the line feeds are that have a carriage return before them in `body`.
    returns: Vec<usize>,
}

impl<'a> View<'a> {
    fn new(body: &'a [u8]) -> Self {
        let plain = without_returns(body);
        // The nth return stands n bytes further on in the body than in the plain text.
        let returns = memmem::find_iter(body, b"\r\n").enumerate().map(|(n, at)| at - n).collect();
        Self { body, plain, returns }
    }

    fn lines(&self) -> Vec<Line<'a>> {
        split(self.body, &[Ending::CrLf, Ending::Lf])
    }

    /// Where in the body what begins here in `plain` begins; a line's end includes its carriage return.
    fn real(&self, at: usize) -> usize {
        at + self.returns.partition_point(|&feed| feed < at)
    }

    fn line_number(&self, at: usize) -> usize {
        memchr::memchr_iter(b'\n', &self.plain[..at]).count() + 1
    }
}

/// Where an edit fits.
enum Found {
    /// At these bytes of the plain text.
    Exact(Vec<usize>),
    /// At these lines.
    Lines { starts: Vec<usize>, tolerance: Tolerance },
}

impl Found {
    fn look(view: &View<'_>, old: &[u8], scope: Scope) -> Result<Self, Misfit> {
        let starts = exact(&view.plain, old, scope);
        if !starts.is_empty() {
            let number = |at: &usize| view.line_number(*at);
            unique(&starts, scope, || starts.iter().map(number).collect())?;
            return Ok(Self::Exact(starts));
        }
        let lines = view.lines();
        let wanted = split(old, &[Ending::Lf]);
        for tolerance in [Tolerance::Blanks, Tolerance::Typography] {
            let starts = whole_lines(&lines, &wanted, tolerance);
            if !starts.is_empty() {
                unique(&starts, scope, || starts.iter().map(|start| start + 1).collect())?;
                return Ok(Self::Lines { starts, tolerance });
            }
        }
        let unnumbered = without_numbers(&wanted);
        if unnumbered.is_some_and(|old| memmem::find(&view.plain, &old).is_some()) {
            return Err(Misfit::Numbered);
        }
        Err(Misfit::Missing { nearest: nearest(&lines, &wanted) })
    }

    fn count(&self) -> usize {
        match self {
            Self::Exact(starts) | Self::Lines { starts, .. } => starts.len(),
        }
    }

    fn tolerance(&self) -> Tolerance {
        match self {
            Self::Exact(_) => Tolerance::None,
            Self::Lines { tolerance, .. } => *tolerance,
        }
    }
}

/// Lines without the number and tab each begins with; none if one does not.
fn without_numbers(lines: &[Line<'_>]) -> Option<Vec<u8>> {
    let bare = lines.iter().map(|line| {
        let digits = line.text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        line.text[digits..].strip_prefix(b"\t").filter(|_| digits > 0)
    });
    Some(bare.collect::<Option<Vec<_>>>()?.join(b"\n".as_slice()))
}

fn unique(
    starts: &[usize],
    scope: Scope,
    lines: impl FnOnce() -> Vec<usize>,
) -> Result<(), Misfit> {
    match scope {
        Scope::One if starts.len() > 1 => Err(Misfit::Ambiguous { lines: lines() }),
        Scope::One | Scope::All => Ok(()),
    }
}

/// Every exact match. Matches that overlap count where one is wanted, because either could be meant.
fn exact(text: &[u8], old: &[u8], scope: Scope) -> Vec<usize> {
    let finder = memmem::Finder::new(old);
    let mut starts = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| finder.find(rest)) {
        starts.push(from + at);
        from += at
            + match scope {
                Scope::One => 1,
                Scope::All => old.len(),
            };
    }
    starts
}

/// Every place where whole lines are those wanted, but for what is tolerated. None overlap.
fn whole_lines(lines: &[Line<'_>], wanted: &[Line<'_>], tolerance: Tolerance) -> Vec<usize> {
    let wanted: Vec<_> = wanted.iter().map(|line| key(line.text, tolerance)).collect();
    // Blank lines alone fit anywhere.
    if wanted.len() > lines.len() || wanted.iter().all(|line| line.is_empty()) {
        return Vec::new();
    }
    let keys: Vec<_> = lines.iter().map(|line| key(line.text, tolerance)).collect();
    let mut starts = Vec::new();
    let mut from = 0;
    while from + wanted.len() <= keys.len() {
        if keys[from..from + wanted.len()] == wanted[..] {
            starts.push(from);
            from += wanted.len();
        } else {
            from += 1;
        }
    }
    starts
}

/// Replaces exact matches. What old and new begin and end with alike is not touched, so that lines keep
/// their own endings.
fn replace_exact(view: &View<'_>, text: (&[u8], &[u8]), starts: &[usize], out: &mut Vec<u8>) {
    let (old, new) = text;
    let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let head = old.iter().zip(new).take_while(same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(same).count();
    let ending = Ending::usual(view.body);
    let written = ending.write(&new[head..new.len() - tail]);
    let mut done = 0;
    for start in starts {
        let Range { start, end } = view.real(start + head)..view.real(start + old.len() - tail);
        out.extend_from_slice(&view.body[done..start]);
        out.extend_from_slice(&written);
        done = end;
    }
    out.extend_from_slice(&view.body[done..]);
}

#[cfg(test)]
mod tests;
