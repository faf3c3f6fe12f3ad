//! Tables that fit: columns shrink, cells are wrapped, and where even that does not help rows become records.

use crate::line::{Line, Span};
use crate::look::Look;
use crate::style::{Attrs, Style};
use crate::text;
use crate::theme::Role;
use crate::transcript::row::Row;

/// Cells between two columns.
const BETWEEN: usize = 2;
/// A column narrower than this is of no use.
const LEAST: usize = 4;

/// Where the texts of a column stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At its beginning.
    Left,
    /// In its middle.
    Middle,
    /// At its end.
    Right,
}

/// Rows of a table; its first line is the head. A column of which `sides` says nothing stands left.
pub fn table(lines: &[Vec<Line>], sides: &[Side], cells: usize, look: &Look) -> Vec<Row> {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let (Some((head, body)), true) = (lines.split_first(), columns > 0) else { return Vec::new() };
    let between = BETWEEN * (columns - 1);
    if cells < columns * LEAST + between {
        return records(head, body, cells, look);
    }
    let widths = fit(lines, columns, cells - between);
    let sides = sides.iter().copied().chain(std::iter::repeat(Side::Left));
    let columns: Vec<(usize, Side)> = widths.into_iter().zip(sides).collect();
    let bold = Style::PLAIN.with(Attrs::BOLD);
    let head: Vec<Line> = head.iter().map(|cell| styled(cell, bold)).collect();
    let mut rows = Vec::new();
    put(&head, &columns, &mut rows);
    let dash = if look.unicode { "─" } else { "-" };
    let mut rule = Line::EMPTY;
    for (index, (width, _)) in columns.iter().enumerate() {
        let gap = if index == 0 { "" } else { "  " };
        rule.push(format!("{gap}{}", dash.repeat(*width)), look.theme.style(Role::Faint));
    }
    rows.push(Row::ours(rule));
    for line in body {
        put(line, &columns, &mut rows);
    }
    rows
}

/// Widths of the columns: the widest give way first.
fn fit(lines: &[Vec<Line>], columns: usize, cells: usize) -> Vec<usize> {
    let mut widths = vec![1; columns];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.width());
        }
    }
    let sum_at = |most: usize| widths.iter().map(|width| (*width).min(most)).sum::<usize>();
    let mut most = widths.iter().copied().max().unwrap_or(1);
    if sum_at(most) > cells {
        let (mut fits, mut fails) = (1, most);
        while fits + 1 < fails {
            let middle = usize::midpoint(fits, fails);
            if sum_at(middle) <= cells { fits = middle } else { fails = middle }
        }
        most = fits;
    }
    let mut spare = cells.saturating_sub(sum_at(most));
    for width in &mut widths {
        let is_cut = *width > most;
        *width = (*width).min(most) + usize::from(is_cut && spare > 0);
        spare = spare.saturating_sub(usize::from(is_cut));
    }
    widths
}

fn put(line: &[Line], columns: &[(usize, Side)], rows: &mut Vec<Row>) {
    let empty = Line::EMPTY;
    let wrapped: Vec<Vec<Line>> = columns
        .iter()
        .enumerate()
        .map(|(column, (width, _))| line.get(column).unwrap_or(&empty).wrap(*width, 0))
        .collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    for row in 0..height {
        let mut out = Line::EMPTY;
        let mut owed = 0;
        for (cell, (width, side)) in wrapped.iter().zip(columns) {
            let piece = cell.get(row).unwrap_or(&empty);
            let free = width.saturating_sub(piece.width());
            let before = match side {
                Side::Left => 0,
                Side::Middle => free / 2,
                Side::Right => free,
            };
            if piece.width() > 0 {
                out.push(" ".repeat(owed + before), Style::PLAIN);
                out.spans.extend(piece.spans.iter().cloned());
                owed = free - before + BETWEEN;
            } else {
                owed += width + BETWEEN;
            }
        }
        rows.push(Row::new(out));
    }
}

/// One row of a table after the other, as `head: cell`.
fn records(head: &[Line], body: &[Vec<Line>], cells: usize, look: &Look) -> Vec<Row> {
    let strong = look.theme.style(Role::Strong);
    let mut rows = Vec::new();
    for line in body {
        if !rows.is_empty() {
            rows.push(Row::default());
        }
        for (index, cell) in line.iter().enumerate() {
            let mut out = Line::EMPTY;
            if let Some(name) = head.get(index) {
                out.push(format!("{}: ", name.plain()), strong);
            }
            out.spans.extend(cell.spans.iter().cloned());
            rows.extend(crate::transcript::row::wrap(&out, cells, 2));
        }
    }
    rows
}

fn styled(line: &Line, style: Style) -> Line {
    let span = |span: &Span| Span { style: span.style.over(style), ..span.clone() };
    line.spans.iter().map(span).collect::<Vec<Span>>().into()
}

/// A table's cells from plain texts.
pub(crate) fn cells<'a>(texts: impl IntoIterator<Item = &'a String>, look: &Look) -> Vec<Line> {
    let style = look.theme.style(Role::Text);
    let one_line = |text: &String| text.replace('\n', " ");
    texts.into_iter().map(|text| Line::new(text::clean(&one_line(text)), style)).collect()
}
