//! Lines replaced by lines where the match was not exact: what the edit keeps stays the file's own.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::fold::Tolerance;
use super::indent::{Indent, blanks};
use super::lines::{Ending, Line, split};

/// A replacement of whole lines.
pub(crate) struct Rewrite<'a> {
    lines: &'a [Line<'a>],
    old: Vec<&'a [u8]>,
    new: Vec<&'a [u8]>,
    steps: Vec<DiffOp>,
    tolerance: Tolerance,
    ending: Ending,
}

impl<'a> Rewrite<'a> {
    /// Of `old` by `new`, both with plain line feeds, in a file of these lines.
    pub(crate) fn new(
        lines: &'a [Line<'a>],
        old: &'a [u8],
        new: &'a [u8],
        tolerance: Tolerance,
    ) -> Self {
        let texts = |text: &'a [u8]| -> Vec<&'a [u8]> {
            split(text, &[Ending::Lf]).iter().map(|line| line.text).collect()
        };
        Self::of_lines(lines, (texts(old), texts(new)), tolerance)
    }

    /// The same for lines already split.
    pub(crate) fn of_lines(
        lines: &'a [Line<'a>],
        (old, new): (Vec<&'a [u8]>, Vec<&'a [u8]>),
        tolerance: Tolerance,
    ) -> Self {
        let steps = capture_diff_slices(Algorithm::Myers, &old, &new);
        Self { lines, old, new, steps, tolerance, ending: Ending::usual_of(lines) }
    }

    /// Writes the file with the lines from each of `starts` on replaced.
    pub(crate) fn at(&self, starts: &[usize], out: &mut Vec<u8>) {
        let mut done = 0;
        for &start in starts {
            copy(&self.lines[done..start], out);
            self.one(start, out);
            done = start + self.old.len();
        }
        copy(&self.lines[done..], out);
    }

    /// Writes what replaces the lines from `start` on.
    pub(crate) fn one(&self, start: usize, out: &mut Vec<u8>) {
        let matched = &self.lines[start..start + self.old.len()];
        let indent = self.indent(matched);
        let from = out.len();
        for step in &self.steps {
            match *step {
                DiffOp::Equal { old_index, len, .. } => {
                    for line in &matched[old_index..old_index + len] {
                        self.write(line.text, line.ending, out);
                    }
                }
                DiffOp::Delete { .. } => {}
                DiffOp::Insert { new_index, new_len, .. }
                | DiffOp::Replace { new_index, new_len, .. } => {
                    for text in &self.new[new_index..new_index + new_len] {
                        match &indent {
                            Some(indent) => self.write(&indent.apply(text), self.ending, out),
                            None => self.write(text, self.ending, out),
                        }
                    }
                }
            }
        }
        // The file ends as it did: with a line ending or without.
        let unended = matched.last().is_some_and(|line| line.ending == Ending::None);
        if unended && out.len() > from {
            out.truncate(out.len() - self.ending.bytes().len());
        }
    }

    /// Writes one line of the replaced part; one that had no ending may not be the last any more.
    fn write(&self, text: &[u8], ending: Ending, out: &mut Vec<u8>) {
        let ending = if ending == Ending::None { self.ending } else { ending };
        out.extend_from_slice(text);
        out.extend_from_slice(ending.bytes());
    }

    /// Whether the new lines begin as the file does although the old ones did not: then the model has put
    /// the indent right itself.
    fn is_indented(&self, matched: &[Line<'_>]) -> bool {
        let first = |lines: &[&[u8]]| {
            let said = lines.iter().find(|line| !line.trim_ascii().is_empty());
            said.map(|line| blanks(line).to_owned())
        };
        let file: Vec<&[u8]> = matched.iter().map(|line| line.text).collect();
        first(&self.new) == first(&file) && first(&self.old) != first(&file)
    }

    fn indent(&self, matched: &[Line<'_>]) -> Option<Indent> {
        match self.tolerance {
            Tolerance::None | Tolerance::Trailing => None,
            Tolerance::Blanks | Tolerance::Typography if self.is_indented(matched) => None,
            Tolerance::Blanks | Tolerance::Typography => {
                let pairs = matched.iter().map(|line| line.text).zip(self.old.iter().copied());
                let written: Vec<&[u8]> = self.old.iter().chain(&self.new).copied().collect();
                Some(Indent::learn(pairs, &written, self.lines))
            }
        }
    }
}

/// Writes lines as they are.
pub(crate) fn copy(lines: &[Line<'_>], out: &mut Vec<u8>) {
    for line in lines {
        out.extend_from_slice(line.text);
        out.extend_from_slice(line.ending.bytes());
    }
}
