//! A change as lines: the one door of panes and panels to the view of diffs.

use crate::diff;
use crate::line::Line;
use crate::look::Look;

/// A unified diff as lines of a width.
pub(crate) fn lines(path: &str, unified: &str, width: usize, look: &Look) -> Vec<Line> {
    diff::rows(path, unified, width, look).into_iter().map(|row| row.line).collect()
}
