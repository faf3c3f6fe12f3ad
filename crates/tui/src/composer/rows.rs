//! The text in rows as they are shown: soft wrapped, with every byte's place known.
//!
//! A row has room for `cells` and one cell more, in which the caret stands at the end of a full row and in
//! which a blank may hang. After a change only the lines it touches are wrapped again.

#[cfg(test)]
mod tests;

use super::buffer::{Dirty, next};
use super::marks::{Marks, is_mark};
use super::motion::{line_end, line_start};
use crate::text::{self, grapheme_width};

/// Cells from one tab stop to the next.
const TAB: usize = 4;

/// A row: bytes of the text, without the new line that may end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    /// Its first byte.
    pub(super) start: usize,
    /// The byte behind it.
    pub(super) end: usize,
}

/// What the width of a grapheme depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// Its marks.
    pub(super) marks: &'a Marks,
    /// Cells of a row.
    pub(super) cells: usize,
}

impl Measure<'_> {
    /// Cells of the grapheme `at..end`, in a row of which `used` are taken.
    pub(super) fn wide(&self, at: usize, end: usize, used: usize) -> usize {
        let grapheme = &self.text[at..end];
        match grapheme.as_bytes() {
            // It is shown before the first row, as the prompt.
            b"!" | b"/" if at == 0 => 0,
            [b'\t'] => TAB - used % TAB,
            [byte] if !byte.is_ascii_control() => 1,
            _ if grapheme.starts_with(is_mark) => {
                text::width(&self.marks.shown(grapheme)).min(self.cells)
            }
            _ if !grapheme.chars().any(text::is_unsafe) => grapheme_width(grapheme),
            _ => text::width(&text::clean(grapheme)),
        }
    }
}

/// The rows of a text.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    cells: usize,
}

impl Rows {
    /// Lays the text out, if it or the width has changed.
    pub(super) fn update(&mut self, measure: Measure<'_>, dirty: Option<Dirty>) {
        let cells = measure.cells.max(1);
        let measure = Measure { cells, ..measure };
        if self.cells != cells || self.rows.is_empty() {
            self.cells = cells;
            self.rows.clear();
            wrap_lines(measure, 0, measure.text.len(), &mut self.rows);
        } else if let Some(dirty) = dirty {
            self.patch(measure, dirty);
        }
    }

    /// How many there are: at least one, once laid out.
    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// One of them.
    pub(super) fn row(&self, index: usize) -> Option<Row> {
        self.rows.get(index).copied()
    }

    /// The row in which the caret is at a byte.
    pub(super) fn row_of(&self, at: usize) -> usize {
        self.rows.partition_point(|row| row.start <= at).saturating_sub(1)
    }

    /// Row and column of a byte.
    pub(super) fn place(&self, measure: Measure<'_>, at: usize) -> (usize, usize) {
        let index = self.row_of(at);
        let Some(row) = self.row(index) else { return (0, 0) };
        let mut used = 0;
        let mut here = row.start;
        while here < at.min(row.end) {
            let end = next(measure.text, here);
            used += measure.wide(here, end, used);
            here = end;
        }
        (index, used.min(self.cells))
    }

    /// The byte at a column of a row: the last one that is not behind it.
    pub(super) fn byte_at(&self, measure: Measure<'_>, index: usize, column: usize) -> usize {
        let Some(row) = self.row(index) else { return measure.text.len() };
        let is_wrapped = self.row(index + 1).is_some_and(|below| below.start == row.end);
        let (mut here, mut used) = (row.start, 0);
        while here < row.end {
            let end = next(measure.text, here);
            used += measure.wide(here, end, used);
            // The end of a wrapped row is the beginning of the next one.
            if used > column || (is_wrapped && end >= row.end) {
                break;
            }
            here = end;
        }
        here
    }

    fn patch(&mut self, measure: Measure<'_>, dirty: Dirty) {
        let start = line_start(measure.text, dirty.start.min(measure.text.len()));
        let end = line_end(measure.text, dirty.new_end.min(measure.text.len()));
        let old_end = (end + dirty.old_end).saturating_sub(dirty.new_end);
        let first = self.rows.partition_point(|row| row.start < start);
        let behind = self.rows.partition_point(|row| row.start <= old_end);
        let mut fresh = Vec::new();
        wrap_lines(measure, start, end, &mut fresh);
        for row in &mut self.rows[behind.max(first)..] {
            row.start = row.start + end - old_end;
            row.end = row.end + end - old_end;
        }
        self.rows.splice(first..behind.max(first), fresh);
    }
}

/// Wraps whole lines from `start` to `end`.
fn wrap_lines(measure: Measure<'_>, start: usize, end: usize, rows: &mut Vec<Row>) {
    let mut at = start;
    loop {
        let line = line_end(measure.text, at);
        wrap(measure, at, line, rows);
        if line >= end {
            return;
        }
        at = line + 1;
    }
}

/// Wraps a line: behind blanks where there are any, around marks and wide graphemes, else anywhere.
fn wrap(measure: Measure<'_>, start: usize, end: usize, rows: &mut Vec<Row>) {
    let line = &measure.text[start..end];
    let is_plain = line.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if is_plain && line.len() <= measure.cells {
        rows.push(Row { start, end });
        return;
    }
    let (mut row, mut used) = (start, 0);
    let (mut cut, mut used_at_cut) = (start, 0);
    let mut at = start;
    while at < end {
        let after = next(measure.text, at);
        let wide = measure.wide(at, after, used);
        let is_blank = measure.text[at..after].chars().all(char::is_whitespace);
        let stands_alone = wide > 1 && !is_blank;
        if stands_alone {
            (cut, used_at_cut) = (at, used);
        }
        if used + wide > measure.cells && is_blank {
            rows.push(Row { start: row, end: after });
            (row, used) = (after, 0);
        } else {
            if used + wide > measure.cells && at > row {
                if cut <= row {
                    (cut, used_at_cut) = (at, used);
                }
                rows.push(Row { start: row, end: cut });
                (row, used) = (cut, used - used_at_cut);
            }
            used += wide;
        }
        if is_blank || stands_alone {
            (cut, used_at_cut) = (after, used);
        }
        at = after;
    }
    rows.push(Row { start: row, end });
}
