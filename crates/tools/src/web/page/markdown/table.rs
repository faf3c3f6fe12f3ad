//! Tables: rows are held until the end of a table tells whether it is one, or only lays out a page.

use std::borrow::Cow;

use super::{Mark, Marks, Writer};

/// Characters of a cell beyond which its table is a layout, and lines.
const CELL_CHARS: usize = 600;
const CELL_LINES: usize = 8;
/// Cells of a row that are written.
const ROW_CELLS: usize = 100;

/// A table that is being read.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    is_layout: bool,
    /// Whether one of its cells is open.
    pub(super) in_cell: bool,
}

impl Writer {
    pub(super) fn row(&mut self) {
        if let Some(table) = self.tables.last_mut() {
            table.rows.push(Vec::new());
        }
    }

    pub(super) fn cell(&mut self) -> Mark {
        let Some(table) = self.tables.last_mut() else { return Mark::Block { gap: 1 } };
        if table.rows.is_empty() {
            table.rows.push(Vec::new());
        }
        table.in_cell = true;
        let prefix = std::mem::take(&mut self.prefix);
        let (start, floor) = (self.out.len(), self.floor);
        (self.floor, self.gap, self.blank) = (start, 0, false);
        Mark::Cell { start, floor, prefix }
    }

    pub(super) fn end_cell(&mut self, start: usize, floor: usize, prefix: String) {
        let text = self.out[start..].trim().to_owned();
        self.cut(start);
        (self.floor, self.prefix, self.gap, self.blank) = (floor, prefix, 0, false);
        let Some(table) = self.tables.last_mut() else { return };
        table.in_cell = false;
        table.is_layout |= text.len() > CELL_CHARS || text.lines().count() > CELL_LINES;
        if let Some(row) = table.rows.last_mut()
            && row.len() < ROW_CELLS
        {
            row.push(text);
        }
    }

    pub(super) fn end_table(&mut self) {
        let Some(mut table) = self.tables.pop() else { return };
        table.rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
        if table.rows.is_empty() {
            return;
        }
        self.block(2);
        if table.is_layout || columns < 2 || self.marks == Marks::Left {
            let gap = if table.is_layout { 2 } else { 1 };
            for row in table.rows {
                let cells = row.iter().filter(|cell| !cell.is_empty());
                if table.is_layout {
                    cells.for_each(|cell| {
                        self.lines(cell);
                        self.block(gap);
                    });
                } else {
                    let cells: Vec<Cow<'_, str>> = cells.map(|cell| one_line(cell)).collect();
                    self.lines(&cells.join("  "));
                    self.block(gap);
                }
            }
        } else {
            self.rows(&table.rows, columns);
        }
        self.block(2);
    }

    fn rows(&mut self, rows: &[Vec<String>], columns: usize) {
        for (number, row) in rows.iter().enumerate() {
            self.block(1);
            self.pay();
            self.out.push('|');
            for column in 0..columns {
                let cell = row.get(column).map(|cell| one_line(cell)).unwrap_or_default();
                self.out.push(' ');
                if cell.contains('|') {
                    self.out.push_str(&cell.replace('|', "\\|"));
                } else {
                    self.out.push_str(&cell);
                }
                self.out.push_str(" |");
            }
            if number == 0 {
                self.block(1);
                self.pay();
                self.out.push('|');
                self.out.extend(std::iter::repeat_n(" --- |", columns));
            }
        }
    }
}

/// A cell's text in one line.
fn one_line(cell: &str) -> Cow<'_, str> {
    if cell.contains('\n') {
        Cow::Owned(cell.split_whitespace().collect::<Vec<_>>().join(" "))
    } else {
        Cow::Borrowed(cell)
    }
}
