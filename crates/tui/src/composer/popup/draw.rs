//! How the popup looks.

use super::{Item, Kind, MOST_ROWS, Popup};
use crate::canvas::{Canvas, Rect};
use crate::line::Line;
use crate::look::Look;
use crate::style::Style;
use crate::text;
use crate::theme::Role;

/// Cells that a row without a line about it may spare for one.
const LEAST_ABOUT: usize = 12;

impl Popup {
    /// Draws it above `area`, over what is there.
    pub(in crate::composer) fn draw(&self, canvas: &mut Canvas, area: Rect, look: &Look) {
        let above = usize::from(area.y.min(canvas.area().height));
        let count = self.items.len().min(MOST_ROWS).min(above);
        let Ok(height) = u16::try_from(count) else { return };
        let top = (self.chosen + 1).saturating_sub(count).min(self.items.len() - count);
        let items = self.items.iter().enumerate().skip(top).take(count);
        let names = items.clone().map(|(_, item)| name_width(item)).max().unwrap_or(0);
        for (y, (index, item)) in (area.y - height..area.y).zip(items) {
            let row = Rect { y, height: 1, ..area };
            let is_chosen = index == self.chosen;
            canvas.line(row, &line(item, is_chosen, (usize::from(area.width), names), look));
        }
    }
}

fn line(item: &Item, is_chosen: bool, (cells, names): (usize, usize), look: &Look) -> Line {
    let style = |role| look.theme.style(role);
    let base = style(if is_chosen { Role::Chosen } else { Role::Panel });
    let mut line = Line { fill: Some(base), ..Line::EMPTY };
    let mark = match (is_chosen, look.unicode) {
        (true, true) => "› ",
        (true, false) => "> ",
        (false, _) => "  ",
    };
    line.push(mark, style(Role::Accent).over(base));
    let room = cells.saturating_sub(3);
    push_name(&mut line, item, room, base, look);
    let used = line.width();
    if !item.arguments.is_empty() && used + 2 < room {
        let arguments = text::ellipsis(&item.arguments, room - used - 1);
        line.push(format!(" {arguments}"), style(Role::Muted).over(base));
    }
    let column = (names + 2).min(cells / 2);
    let gap = (column + 2).saturating_sub(line.width()).max(2);
    let left = cells.saturating_sub(line.width() + gap + 1);
    if left >= LEAST_ABOUT {
        let about = item.about.lines().next().unwrap_or_default();
        line.push(" ".repeat(gap), base);
        line.push(text::ellipsis(about, left).into_owned(), style(Role::Muted).over(base));
    }
    line
}

/// What stands before an item's name.
fn sign(kind: Kind) -> &'static str {
    match kind {
        Kind::Command | Kind::Optional | Kind::Needy => "/",
        Kind::Agent => "@agent-",
        Kind::File | Kind::Folder | Kind::Resource => "",
    }
}

fn name_width(item: &Item) -> usize {
    let arguments = if item.arguments.is_empty() { 0 } else { 1 + text::width(&item.arguments) };
    sign(item.kind).len() + text::width(&item.name) + arguments
}

/// The name, letters that were typed marked; of a long path the end is shown.
fn push_name(line: &mut Line, item: &Item, room: usize, base: Style, look: &Look) {
    let plain = look.theme.style(Role::Text).over(base);
    let fits = look.theme.style(Role::Match).over(base);
    line.push(sign(item.kind), plain);
    let room = room.saturating_sub(sign(item.kind).len());
    let start = tail_start(&item.name, room);
    if start > 0 {
        line.push(if look.unicode { "…" } else { "~" }, plain);
    }
    for (at, grapheme) in text_pieces(&item.name, start) {
        let is_letter =
            item.letters.iter().any(|letter| (at..at + grapheme.len()).contains(letter));
        let style = if is_letter { fits } else { plain };
        match line.spans.last_mut() {
            Some(span) if span.style == style => span.text.push_str(grapheme),
            Some(_) | None => line.push(grapheme, style),
        }
    }
}

fn text_pieces(name: &str, start: usize) -> impl Iterator<Item = (usize, &str)> {
    text::graphemes(&name[start..]).scan(start, |at, grapheme| {
        let here = *at;
        *at += grapheme.len();
        Some((here, grapheme))
    })
}

/// Where the end of a name begins that fits, with room for an ellipsis if something is left out.
fn tail_start(name: &str, room: usize) -> usize {
    if text::width(name) <= room {
        return 0;
    }
    let (mut start, mut used) = (name.len(), 1);
    for grapheme in text::graphemes(name).rev() {
        used += text::grapheme_width(grapheme);
        if used > room {
            break;
        }
        start -= grapheme.len();
    }
    start
}
