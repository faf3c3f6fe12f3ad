//! A small box over a pane: a name to write, a choice to make.

use crate::canvas::{Canvas, Point, Rect};
use crate::field::Field;
use crate::line::Line;
use crate::look::Look;
use crate::picker::footer;
use crate::text;
use crate::theme::Role;

/// What a small box shows.
#[derive(Debug)]
pub(crate) struct Overlay<'a> {
    /// What it is about.
    pub(crate) title: &'a str,
    /// What is to be said.
    pub(crate) lines: Vec<Line>,
    /// What is being written, and the hint while nothing is.
    pub(crate) field: Option<(&'a Field, &'a str)>,
    /// Keys and what they do.
    pub(crate) hints: &'a [(&'a str, &'a str)],
}

/// Draws a small box into the middle of `area` and returns where the caret is.
pub(crate) fn overlay(
    canvas: &mut Canvas,
    area: Rect,
    shown: &Overlay<'_>,
    look: &Look,
) -> Option<Point> {
    let width = area.width.min(72);
    let cells = usize::from(width.saturating_sub(4));
    let rows: Vec<Line> = shown.lines.iter().flat_map(|line| line.wrap(cells, 0)).collect();
    let wanted = rows.len() + 4 + if shown.field.is_some() { 2 } else { 0 };
    let boxed = area.middle(width, u16::try_from(wanted).unwrap_or(u16::MAX));
    canvas.fill(boxed, look.theme.style(Role::Panel));
    let rule = if look.unicode { "─" } else { "-" }.repeat(usize::from(boxed.width));
    let faint = look.theme.style(Role::Accent);
    let (top, rest) = boxed.split_top(1);
    canvas.text(top, &rule, faint);
    let title = format!(" {} ", text::ellipsis(shown.title, cells));
    canvas.text(
        Rect { x: top.x + 1, width: top.width.saturating_sub(1), ..top },
        &title,
        look.theme.style(Role::Strong),
    );
    let (rest, last) = rest.split_bottom(1);
    canvas.text(last, &rule, faint);
    let rest = rest.inset(2, 0);
    let (rest, foot) = rest.split_bottom(1);
    footer(canvas, foot, shown.hints, look);
    let (text_area, field_area) = match shown.field {
        Some(_) => rest.split_bottom(2.min(rest.height)),
        None => (rest, Rect::default()),
    };
    canvas.lines(text_area, &rows);
    let (field, hint) = shown.field?;
    field.draw(
        canvas,
        field_area,
        (hint, look.theme.style(Role::Faint)),
        look.theme.style(Role::Text),
    )
}
