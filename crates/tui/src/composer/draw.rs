//! How the composer looks: a rule above and below, a prompt mark, the text, and where the caret is.

use std::borrow::Cow;

use super::buffer::next;
use super::marks::is_mark;
use super::vi::Vi;
use super::{Composer, Speech};
use crate::canvas::{Canvas, Point, Rect};
use crate::look::Look;
use crate::style::Style;
use crate::text;
use crate::theme::Role;

/// Rows of the frame.
const FRAME: u16 = 2;
/// Columns of the prompt mark.
const GUTTER: u16 = 2;

/// What of the text is on the screen.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct View {
    /// The first row that is shown.
    top: usize,
    /// Where the text was drawn last.
    area: Rect,
}

impl Composer {
    /// Rows it wants, frame included, at most `most`.
    pub fn height(&mut self, width: u16, most: u16) -> u16 {
        self.lay_out(width);
        let rows = u16::try_from(self.rows.count()).unwrap_or(u16::MAX);
        let frame = if most > FRAME { FRAME } else { 0 };
        rows.saturating_add(frame).min(most)
    }

    /// Draws it and returns where the caret is. `hint` is shown while it is empty.
    pub fn draw(
        &mut self,
        canvas: &mut Canvas,
        area: Rect,
        hint: &str,
        look: &Look,
    ) -> Option<Point> {
        self.lay_out(area.width);
        let inner = if area.height > FRAME { area.inset(0, 1) } else { area };
        let (gutter, inside) = inner.split_left(GUTTER);
        self.view.area = inside;
        if inner.height == 0 || inside.width == 0 {
            return None;
        }
        let (row, column) = self.place();
        self.scroll(row, usize::from(inner.height));
        if area.height > FRAME {
            self.draw_frame(canvas, area, look);
        }
        self.draw_prompt(canvas, gutter, look);
        if self.buffer.text().is_empty() {
            let hint = shorter(hint, usize::from(inside.width));
            canvas.text(inside, &hint, look.theme.style(Role::Faint));
        }
        for (y, index) in (inside.y..inside.bottom()).zip(self.view.top..self.rows.count()) {
            self.draw_row(canvas, Rect { y, height: 1, ..inside }, index, look);
        }
        let y = inside.y + u16::try_from(row - self.view.top).unwrap_or(0);
        if self.buffer.caret() == 0 && self.speech() != Speech::Say {
            let x = gutter.x + u16::from(self.speech() == Speech::Command);
            return Some(Point { x, y });
        }
        let x = inside.x + u16::try_from(column).unwrap_or(0).min(inside.width - 1);
        Some(Point { x, y })
    }

    /// Moves the caret to a point of the screen, in what was drawn last.
    pub fn click(&mut self, at: Point) {
        let area = self.view.area;
        if at.y < area.y || at.y >= area.bottom() {
            return;
        }
        self.settle_rows();
        let last = self.rows.count().saturating_sub(1);
        let row = (self.view.top + usize::from(at.y - area.y)).min(last);
        let column = usize::from(at.x.saturating_sub(area.x));
        let there = self.rows.byte_at(self.measure(), row, column);
        self.put_caret(there);
    }

    /// Wraps the text to this width, if it is not.
    pub(super) fn lay_out(&mut self, width: u16) {
        // One column is the caret's at the end of a full row.
        self.cells = usize::from(width.saturating_sub(GUTTER + 1)).max(1);
        self.settle_rows();
    }

    fn scroll(&mut self, row: usize, height: usize) {
        let last = self.rows.count().saturating_sub(height);
        let lowest = (row + 1).saturating_sub(height);
        self.view.top = self.view.top.clamp(lowest, row).min(last);
    }

    fn draw_frame(&self, canvas: &mut Canvas, area: Rect, look: &Look) {
        let height = usize::from(area.height - FRAME);
        let below = self.rows.count().saturating_sub(self.view.top + height);
        let (up, down) = if look.unicode { ("↑", "↓") } else { ("^", "v") };
        let hidden = |mark: &str, count: usize| match count {
            0 => String::new(),
            count => format!("{mark} {count} more"),
        };
        let mode = self.vi.as_ref().map(Vi::status).unwrap_or_default();
        let notes = [hidden(down, below), mode];
        let notes: Vec<&str> =
            notes.iter().map(String::as_str).filter(|note| !note.is_empty()).collect();
        let bottom = notes.join(if look.unicode { " · " } else { " - " });
        let top = Rect { height: 1, ..area };
        self.draw_rule(canvas, top, &hidden(up, self.view.top), look);
        self.draw_rule(canvas, Rect { y: area.bottom() - 1, ..top }, &bottom, look);
    }

    fn draw_rule(&self, canvas: &mut Canvas, area: Rect, note: &str, look: &Look) {
        let role = match self.speech() {
            Speech::Say | Speech::Command => Role::Faint,
            Speech::Shell => Role::Warning,
        };
        let stroke = if look.unicode { "─" } else { "-" };
        canvas.text(area, &stroke.repeat(usize::from(area.width)), look.theme.style(role));
        let wide = u16::try_from(text::width(note) + 2).unwrap_or(u16::MAX);
        if !note.is_empty() && wide.saturating_add(2) <= area.width {
            let place = Rect { x: area.right() - wide - 1, width: wide, ..area };
            canvas.text(place, &format!(" {note} "), look.theme.style(Role::Muted));
        }
    }

    fn draw_prompt(&self, canvas: &mut Canvas, gutter: Rect, look: &Look) {
        if self.view.top > 0 {
            return;
        }
        let mark = if look.unicode { "›" } else { ">" };
        let style = |role| look.theme.style(role);
        match self.speech() {
            Speech::Say => {
                canvas.text(gutter, mark, style(Role::Accent));
            }
            Speech::Shell => {
                canvas.text(gutter, "!", style(Role::Warning));
            }
            Speech::Command => {
                let x = canvas.text(gutter, mark, style(Role::Accent));
                let width = gutter.right().saturating_sub(x);
                canvas.text(Rect { x, width, ..gutter }, "/", style(Role::Accent));
            }
        }
    }

    fn draw_row(&self, canvas: &mut Canvas, area: Rect, index: usize, look: &Look) {
        let Some(row) = self.rows.row(index) else { return };
        let text = self.buffer.text();
        let selected = self.buffer.selection().unwrap_or_default();
        let name = match self.speech() {
            Speech::Command => 0..text.find(char::is_whitespace).unwrap_or(text.len()),
            Speech::Say | Speech::Shell => 0..0,
        };
        let (mut at, mut used) = (row.start, 0);
        while at < row.end {
            let edges = [selected.start, selected.end, name.end, row.end];
            let limit = edges.into_iter().filter(|edge| *edge > at).min().unwrap_or(row.end);
            let (end, wide) = self.run(at, limit, used);
            let is_special = name.contains(&at) || text[at..].starts_with(is_mark);
            let mut style = look.theme.style(if is_special { Role::Accent } else { Role::Text });
            if selected.contains(&at) {
                style = look.theme.style(Role::Selection).over(style);
            }
            let x = area.x.saturating_add(u16::try_from(used).unwrap_or(u16::MAX));
            let cells = u16::try_from(wide).unwrap_or(u16::MAX);
            let place = Rect { x, width: cells.min(area.right().saturating_sub(x)), ..area };
            self.draw_run(canvas, place, &text[at..end], style);
            used += wide;
            at = end;
        }
    }

    /// What can be drawn at once: a run of plain letters up to `limit`, or one grapheme; and its cells.
    fn run(&self, at: usize, limit: usize, used: usize) -> (usize, usize) {
        let bytes = &self.buffer.text().as_bytes()[at..];
        let plain = bytes.iter().take(limit - at).take_while(|byte| (0x20..0x7f).contains(*byte));
        let plain = plain.count();
        // The last letter may belong to what follows, as to an accent.
        let joins = bytes.get(plain).is_some_and(|byte| !byte.is_ascii());
        let letters = plain.saturating_sub(usize::from(joins));
        if letters > 0 && at > 0 {
            return (at + letters, letters);
        }
        let end = next(self.buffer.text(), at);
        (end, self.measure().wide(at, end, used))
    }

    fn draw_run(&self, canvas: &mut Canvas, area: Rect, run: &str, style: Style) {
        if run == "\t" {
            canvas.text(area, &" ".repeat(usize::from(area.width)), style);
        } else if area.width > 0 {
            let shown = self.marks.shown(run);
            let shown = text::ellipsis(&shown, usize::from(area.width));
            canvas.text(area, &shown, style);
        }
    }
}

/// As many of a hint's parts as fit; of the first, what does.
fn shorter(hint: &str, cells: usize) -> Cow<'_, str> {
    let mut parts: Vec<&str> = hint.match_indices(" · ").map(|(at, _)| &hint[..at]).collect();
    parts.push(hint);
    let fitting = parts.iter().rev().find(|part| text::width(part) <= cells);
    fitting.map_or_else(|| text::ellipsis(parts[0], cells), |part| Cow::Borrowed(*part))
}
