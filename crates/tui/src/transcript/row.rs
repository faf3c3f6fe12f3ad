//! Rows: what an item is laid out into, with what copying needs to undo the layout.

use std::sync::Arc;

use crate::line::{Line, Span};
use crate::terminal::picture::Picture;
use crate::text;

/// A row on the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// What it shows.
    pub line: Line,
    /// Cells at its left that are ours and not copied: gutters, line numbers.
    pub skip: u16,
    /// A stretch further right that is not copied either.
    pub gap: Option<(u16, u16)>,
    /// Where the first of two columns ends, and where the text of the second begins.
    pub columns: Option<(u16, u16)>,
    /// How its text follows that of the row above.
    pub join: Join,
    /// What a click on it does.
    pub click: Click,
    /// A picture that begins in this row and covers blank ones below.
    pub picture: Option<Box<Placed>>,
}

/// A picture and the cells it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The picture.
    pub picture: Arc<Picture>,
    /// Columns.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// How a row's text follows that of the row above.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Join {
    /// It is a line of its own.
    #[default]
    Line,
    /// It was wrapped by us, where so many blanks stood.
    Wrapped(u8),
    /// All of it is ours: nothing of it is copied.
    Ours,
}

/// What a click on a row does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Click {
    /// Nothing, unless it hits a link.
    #[default]
    Nothing,
    /// It folds or unfolds the item.
    Fold,
}

impl Row {
    /// A row that is copied as it is.
    pub fn new(line: Line) -> Self {
        Self { line, ..Self::default() }
    }

    /// A row of which nothing is copied.
    pub fn ours(line: Line) -> Self {
        Self { line, join: Join::Ours, ..Self::default() }
    }

    /// The same, folding its item when it is clicked.
    #[must_use]
    pub fn folds(mut self) -> Self {
        self.click = Click::Fold;
        self
    }

    /// What it shows, moved to the right, as a line that stands by itself.
    pub fn standing(&self, indent: u16) -> Line {
        let mut line = self.line.clone();
        if indent > 0 {
            let blank = " ".repeat(usize::from(indent));
            line.spans.insert(0, Span::new(blank, crate::style::Style::PLAIN));
        }
        line
    }

    /// Puts something of ours before it.
    pub fn put_before(&mut self, prefix: &[Span]) {
        let wide: usize = prefix.iter().map(|span| text::width(&span.text)).sum();
        let wide = u16::try_from(wide).unwrap_or(u16::MAX);
        self.skip = self.skip.saturating_add(wide);
        for (from, to) in self.gap.iter_mut().chain(self.columns.iter_mut()) {
            *from = from.saturating_add(wide);
            *to = to.saturating_add(wide);
        }
        self.line.spans.splice(0..0, prefix.iter().cloned());
    }

    /// The text between two columns, without what is ours.
    pub fn copied(&self, from: u16, to: u16) -> String {
        let mut out = String::new();
        let mut column = 0_u16;
        for span in &self.line.spans {
            for grapheme in text::graphemes(&span.text) {
                let wide = u16::try_from(text::grapheme_width(grapheme)).unwrap_or(0);
                let is_gap = self.gap.is_some_and(|(start, end)| (start..end).contains(&column));
                if column >= self.skip && column >= from && column < to && !is_gap {
                    out.push_str(grapheme);
                }
                column = column.saturating_add(wide);
            }
        }
        out
    }

    /// The address behind a column.
    pub fn link_at(&self, column: u16) -> Option<&str> {
        let mut end = 0;
        let hit = self.line.spans.iter().find(|span| {
            end += text::width(&span.text);
            usize::from(column) < end
        });
        hit.and_then(|span| span.link.as_deref())
    }
}

/// Wraps a line to `cells`; rows after the first begin with `indent` blanks.
pub fn wrap(line: &Line, cells: usize, indent: usize) -> Vec<Row> {
    if line.width() <= cells {
        return vec![Row::new(line.clone())];
    }
    let source = line.plain();
    let mut rest = source.as_str();
    let mut rows = Vec::new();
    for (index, line) in line.wrap(cells, indent).into_iter().enumerate() {
        let mut row = Row::new(line);
        let plain = row.line.plain();
        let mut shown = plain.as_str();
        if index > 0 {
            let indent = plain.len() - plain.trim_start_matches(' ').len();
            row.skip = u16::try_from(indent).unwrap_or(0);
            shown = &plain[indent..];
            let trimmed = rest.trim_start();
            let blanks = text::width(&rest[..rest.len() - trimmed.len()]);
            row.join = Join::Wrapped(u8::try_from(blanks).unwrap_or(u8::MAX));
            rest = trimmed;
        }
        rest = rest.strip_prefix(shown).unwrap_or(rest);
        rows.push(row);
    }
    rows
}

/// The text of rows as it was written: `ends` are the first column of the first row and the column after the
/// last of the last. Of two columns, the one is copied that the selection begins in; else the second.
pub fn copied<'a>(rows: impl ExactSizeIterator<Item = &'a Row>, ends: (u16, u16)) -> String {
    let (count, mut out, mut has_any, mut is_first_column) =
        (rows.len(), String::new(), false, false);
    for (index, row) in rows.enumerate() {
        let mut from = if index == 0 { ends.0 } else { 0 };
        let mut to = if index + 1 == count { ends.1 } else { u16::MAX };
        if let Some((end, begin)) = row.columns {
            is_first_column =
                if index == 0 { from >= row.skip && from < end } else { is_first_column };
            (from, to) =
                if is_first_column { (from, to.min(end)) } else { (from.max(begin), u16::MAX) };
        }
        let text = row.copied(from, to);
        let is_missing = row.columns.is_some() && text.trim().is_empty();
        match row.join {
            Join::Ours => continue,
            Join::Line | Join::Wrapped(_) if is_missing => continue,
            Join::Line if has_any => out.push('\n'),
            Join::Wrapped(blanks) if has_any => {
                out.extend(std::iter::repeat_n(' ', usize::from(blanks)));
            }
            Join::Line | Join::Wrapped(_) => {}
        }
        has_any = true;
        out.push_str(text.trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;
    use proptest::prelude::*;

    #[test]
    fn a_wrapped_line_is_copied_whole() {
        let line = Line::new("the quick  brown fox-jumps", Style::PLAIN);
        let mut rows = wrap(&line, 10, 2);
        for row in &mut rows {
            row.put_before(&[Span::new("│ ", Style::PLAIN)]);
        }
        assert!(rows.len() > 2);
        assert_eq!(copied(rows.iter(), (0, u16::MAX)), "the quick  brown fox-jumps");
        assert_eq!(copied(rows.iter(), (6, u16::MAX)), "quick  brown fox-jumps");
    }

    proptest! {
        #[test]
        fn wrapping_is_undone_by_copying(words in prop::collection::vec("[a-z日é]{1,12}", 1..12), cells in 4usize..30) {
            let text = words.join(" ");
            let rows = wrap(&Line::new(text.clone(), Style::PLAIN), cells, 2);
            prop_assert_eq!(copied(rows.iter(), (0, u16::MAX)), text);
        }
    }
}
