//! A few answers to choose from: one a row, or all in few rows where there is no room.

use crate::canvas::{Canvas, Point, Rect};
use crate::line::Line;
use crate::look::Look;
use crate::text;
use crate::theme::Role;

/// An answer as it is shown.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    /// The key that gives it.
    pub(super) key: String,
    /// In one or two words, where there is no room.
    pub(super) short: String,
    /// In full.
    pub(super) long: String,
    /// What it would keep, or what is written.
    pub(super) detail: String,
}

/// Rows that answers take in few rows.
pub(super) fn packed_height(choices: &[Choice], width: u16) -> u16 {
    let rows = placed(choices, width).last().map_or(0, |(_, at)| at.y + 1);
    rows.max(1)
}

/// Draws answers one a row; returns the rows they stand in.
pub(super) fn rows(
    canvas: &mut Canvas,
    area: Rect,
    choices: &[Choice],
    (at, look): (usize, &Look),
) -> Vec<Rect> {
    let style = |role| look.theme.style(role);
    let mut hits = Vec::new();
    for (index, (y, choice)) in (area.y..area.bottom()).zip(choices).enumerate() {
        let row = Rect { y, height: 1, ..area };
        let is_chosen = index == at;
        let pick = |role| style(if is_chosen { Role::Chosen } else { role });
        let pointer = if is_chosen { if look.unicode { "› " } else { "> " } } else { "  " };
        let mut line = Line::new(pointer, pick(Role::Accent));
        if !choice.key.is_empty() {
            line.push(format!("{}  ", choice.key), pick(Role::Accent));
        }
        line.push(&choice.long, pick(Role::Text));
        let room = usize::from(row.width).saturating_sub(line.width() + 2);
        if !choice.detail.is_empty() && room > 3 {
            line.push("  ", pick(Role::Text));
            line.push(text::ellipsis(&choice.detail, room), pick(Role::Code));
        }
        line.fill = is_chosen.then(|| style(Role::Chosen));
        canvas.line(row, &line);
        hits.push(row);
    }
    hits
}

/// Draws answers side by side; returns where they stand.
pub(super) fn packed(
    canvas: &mut Canvas,
    area: Rect,
    choices: &[Choice],
    (at, look): (usize, &Look),
) -> Vec<Rect> {
    let mut hits = Vec::new();
    for (index, place) in placed(choices, area.width) {
        let words = label(&choices[index]);
        let wide = u16::try_from(text::width(&words)).unwrap_or(u16::MAX);
        let x = area.x + place.x;
        let width = wide.min(area.right().saturating_sub(x));
        let cell = Rect { x, y: area.y + place.y, width, height: 1 };
        if cell.y >= area.bottom() {
            break;
        }
        let role = if index == at { Role::Chosen } else { Role::Text };
        canvas.text(cell, &words, look.theme.style(role));
        hits.push(cell);
    }
    hits
}

fn label(choice: &Choice) -> String {
    if choice.key.is_empty() {
        format!(" {} ", choice.short)
    } else {
        format!(" {} {} ", choice.key, choice.short)
    }
}

/// Where answers stand side by side, from the top left of their room.
fn placed(choices: &[Choice], width: u16) -> Vec<(usize, Point)> {
    let mut at = Point { x: 0, y: 0 };
    let mut places = Vec::new();
    for (index, choice) in choices.iter().enumerate() {
        let wide = u16::try_from(text::width(&label(choice))).unwrap_or(u16::MAX);
        if at.x > 0 && at.x.saturating_add(wide) > width {
            at = Point { x: 0, y: at.y + 1 };
        }
        places.push((index, at));
        at.x = at.x.saturating_add(wide);
    }
    places
}
