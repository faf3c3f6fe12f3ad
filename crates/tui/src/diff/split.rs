//! Changes in two columns: before at the left, after at the right.

use super::parse::Change;
use super::{Painted, Painter};
use crate::line::{Line, Span};
use crate::style::Style;
use crate::theme::Role;
use crate::transcript::row::{self, Join, Row};

/// Rows of a hunk.
pub(super) fn rows(lines: &[Painted], cells: usize, painter: &Painter<'_>) -> Vec<Row> {
    let half = cells.saturating_sub(1) / 2;
    let mut rows = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let removed = run(&lines[at..], Change::Removed);
        let added = run(&lines[at + removed..], Change::Added);
        if removed + added == 0 {
            put(Some(&lines[at]), Some(&lines[at]), half, painter, &mut rows);
            at += 1;
            continue;
        }
        for pair in 0..removed.max(added) {
            let left = (pair < removed).then(|| &lines[at + pair]);
            let right = (pair < added).then(|| &lines[at + removed + pair]);
            put(left, right, half, painter, &mut rows);
        }
        at += removed + added;
    }
    rows
}

fn run(lines: &[Painted], change: Change) -> usize {
    lines.iter().take_while(|line| line.change == change).count()
}

/// Which half of a row.
#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

fn put(
    left: Option<&Painted>,
    right: Option<&Painted>,
    half: usize,
    painter: &Painter<'_>,
    rows: &mut Vec<Row>,
) {
    let before = side(left, Side::Before, half, painter);
    let after = side(right, Side::After, half, painter);
    let bar = if painter.look.unicode { "│" } else { "|" };
    let faint = painter.look.theme.style(Role::Faint);
    let gutter = u16::try_from(painter.gutter_cells()).unwrap_or(0);
    let middle = u16::try_from(half + 1).unwrap_or(0);
    for index in 0..before.len().max(after.len()) {
        let empty = Row::default();
        let one = before.get(index).unwrap_or(&empty);
        let other = after.get(index).unwrap_or(&empty);
        let mut line = Line { spans: one.line.spans.clone(), fill: None };
        let style = one.line.fill.unwrap_or(Style::PLAIN);
        line.push(" ".repeat(half.saturating_sub(one.line.width())), style);
        line.push(bar, faint);
        line.spans.extend(other.line.spans.iter().cloned());
        if let Some(fill) = other.line.fill {
            line.spans.push(Span::new(" ".repeat(half.saturating_sub(other.line.width())), fill));
        }
        let mut row = Row::new(line);
        row.skip = gutter;
        row.columns = Some((middle - 1, middle + gutter));
        let are_wrapped = one.join != Join::Line || other.join != Join::Line;
        row.join = if index > 0 && are_wrapped { Join::Wrapped(0) } else { Join::Line };
        rows.push(row);
    }
}

fn side(line: Option<&Painted>, side: Side, half: usize, painter: &Painter<'_>) -> Vec<Row> {
    let Some(shown) = line else { return Vec::new() };
    let number = match side {
        Side::Before => shown.old,
        Side::After => shown.new,
    };
    let room = half.saturating_sub(painter.gutter_cells()).max(1);
    let fill = (shown.change != Change::Kept).then(|| painter.style(shown.change));
    let line = Line { spans: shown.spans.clone(), fill };
    let mut rows = row::wrap(&line, room, 0);
    for row in &mut rows {
        let number = (row.join == Join::Line).then_some(number);
        row.put_before(&painter.gutter(shown.change, number));
        row.line.fill = fill;
    }
    rows
}
