//! The frame around what lies over the conversation: a box where there is room for one, else the whole screen.

use crate::canvas::{Canvas, Rect};
use crate::line::Line;
use crate::look::Look;
use crate::text;
use crate::theme::Role;

/// The least screen that has room for a box.
const BOXED: (u16, u16) = (60, 16);
/// The largest box: longer lines and lists are hard to read.
const MOST: (u16, u16) = (160, 44);
/// The least box: a list that is still being looked up does not jump much when it comes.
const LEAST_ROWS: u16 = 12;

/// What a frame is around.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Framed<'a> {
    /// Its title.
    pub(crate) title: &'a str,
    /// Rows that it would fill; a box is not higher than needed.
    pub(crate) rows: usize,
}

/// Draws the frame with its title, and returns the room inside.
pub(crate) fn frame(canvas: &mut Canvas, area: Rect, framed: Framed<'_>, look: &Look) -> Rect {
    let Framed { title, rows } = framed;
    let panel = look.theme.style(Role::Panel);
    let heading = look.theme.style(Role::Strong);
    if area.width < BOXED.0 || area.height < BOXED.1 {
        canvas.fill(area, panel);
        let (top, rest) = area.split_top(1);
        canvas.text(top.inset(1, 0), title, heading);
        return if area.width > 2 {
            Rect { x: rest.x + 1, width: rest.width - 2, ..rest }
        } else {
            rest
        };
    }
    let rows = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(2).max(LEAST_ROWS);
    let height = area.height.saturating_sub(2).min(MOST.1).min(rows);
    let boxed = area.middle(area.width.saturating_sub(4).min(MOST.0), height);
    canvas.fill(boxed, panel);
    border(canvas, boxed, look);
    let at = Rect { x: boxed.x + 2, width: boxed.width - 4, height: 1, ..boxed };
    canvas.text(at, &format!(" {} ", text::ellipsis(title, usize::from(at.width) - 2)), heading);
    boxed.inset(2, 1)
}

fn border(canvas: &mut Canvas, area: Rect, look: &Look) {
    let faint = look.theme.style(Role::Faint);
    let [across, down, corners] =
        if look.unicode { ["─", "│", "╭╮╰╯"] } else { ["-", "|", "++++"] };
    let corner = |index| corners.chars().nth(index).map(String::from).unwrap_or_default();
    let middle = across.repeat(usize::from(area.width.saturating_sub(2)));
    let row = |y| Rect { y, height: 1, ..area };
    canvas.text(row(area.y), &format!("{}{middle}{}", corner(0), corner(1)), faint);
    canvas.text(row(area.bottom() - 1), &format!("{}{middle}{}", corner(2), corner(3)), faint);
    for y in area.y + 1..area.bottom() - 1 {
        canvas.text(Rect { width: 1, ..row(y) }, down, faint);
        canvas.text(Rect { x: area.right() - 1, width: 1, ..row(y) }, down, faint);
    }
}

/// A row of hints, each a key and what it does; those that do not fit are left out, the last ones first.
pub(crate) fn footer(canvas: &mut Canvas, row: Rect, hints: &[(&str, &str)], look: &Look) {
    let (key, word) = (look.theme.style(Role::Muted), look.theme.style(Role::Faint));
    let between = if look.unicode { " · " } else { " | " };
    let mut line = Line::EMPTY;
    for (name, does) in hints {
        let gap = if line.spans.is_empty() { "" } else { between };
        let wide = text::width(gap) + text::width(name) + 1 + text::width(does);
        if line.width() + wide > usize::from(row.width) {
            break;
        }
        line.push(gap, word);
        line.push(*name, key);
        line.push(format!(" {does}"), word);
    }
    canvas.line(row, &line);
}
