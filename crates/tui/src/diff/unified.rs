//! Changes in one column.

use super::parse::Change;
use super::{Painted, Painter};
use crate::line::Line;
use crate::transcript::row::{self, Join, Row};

/// Rows of a hunk.
pub(super) fn rows(lines: &[Painted], cells: usize, painter: &Painter<'_>) -> Vec<Row> {
    let room = cells.saturating_sub(painter.gutter_cells()).max(1);
    let mut rows = Vec::new();
    for painted in lines {
        let number = match painted.change {
            Change::Removed => painted.old,
            Change::Added | Change::Kept => painted.new,
        };
        let fill = (painted.change != Change::Kept).then(|| painter.style(painted.change));
        let line = Line { spans: painted.spans.clone(), fill };
        for mut row in row::wrap(&line, room, 0) {
            let number = (row.join == Join::Line).then_some(number);
            row.put_before(&painter.gutter(painted.change, number));
            row.line.fill = fill;
            if number.is_some() {
                // A copy has the sign before the text, as a diff is written.
                let sign = u16::try_from(painter.digits + 1).unwrap_or(0);
                row.skip = sign;
                row.gap = Some((sign + 1, sign + 2));
            }
            rows.push(row);
        }
    }
    rows
}
