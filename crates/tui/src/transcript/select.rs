//! Selected text: it stays on its rows when they are scrolled, and is copied as it was written.

use super::item::Setting;
use super::items::Items;
use super::row::{self, Join, Row};
use super::view::{Place, Seen, View, gap_before};
use crate::canvas::{Canvas, Point, Rect};
use crate::text;
use crate::theme::Role;

/// A column of a row of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    place: Place,
    column: u16,
}

/// What is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Where the drag began on the screen, to know it again.
    pressed: Point,
    /// Where it began.
    anchor: Spot,
    /// Where it is now; the column is part of it.
    head: Spot,
}

impl Selection {
    fn ends(&self) -> (Spot, Spot) {
        if self.anchor <= self.head { (self.anchor, self.head) } else { (self.head, self.anchor) }
    }
}

/// The column of an item's row at a point.
fn column(view: &View, items: &Items, seen: Seen, x: u16) -> u16 {
    let indent = items.get(seen.place.item).map_or(0, super::item::Item::indent);
    x.saturating_sub(view.left().saturating_add(indent))
}

/// The spot at a point.
fn spot(view: &View, items: &Items, at: Point) -> Option<Spot> {
    let seen = view.at(at)?;
    Some(Spot { place: seen.place, column: column(view, items, seen, at.x) })
}

/// Goes on with a drag, or begins one.
pub(crate) fn drag(
    view: &View,
    items: &Items,
    before: Option<Selection>,
    (from, to): (Point, Point),
) -> Option<Selection> {
    let head = spot(view, items, to)?;
    let anchor = match before.filter(|before| before.pressed == from) {
        Some(before) => before.anchor,
        None => spot(view, items, from)?,
    };
    Some(Selection { pressed: from, anchor, head })
}

/// The word at a point, or with three clicks the line as it was written.
pub(crate) fn around(view: &View, items: &Items, at: Point, clicks: u8) -> Option<Selection> {
    let seen = view.at(at)?;
    let rows = rows_of(view, items, seen.place.item)?;
    // The item may have changed since it was drawn.
    let own = seen.own.filter(|own| *own < rows.len())?;
    let column = column(view, items, seen, at.x);
    let place =
        |own: usize| Place { row: seen.place.row - seen.own.unwrap_or(0) + own, ..seen.place };
    let (start, end) = if clicks >= 3 {
        let is_wrapped = |row: &Row| matches!(row.join, Join::Wrapped(_));
        let mut first = own;
        while first > 0 && is_wrapped(&rows[first]) {
            first -= 1;
        }
        let more = rows[own + 1..].iter().take_while(|row| is_wrapped(row)).count();
        ((first, 0), (own + more, u16::MAX - 1))
    } else {
        let (from, to) = word(rows.get(own)?, column)?;
        ((own, from), (own, to.saturating_sub(1)))
    };
    let anchor = Spot { place: place(start.0), column: start.1 };
    let head = Spot { place: place(end.0), column: end.1 };
    Some(Selection { pressed: Point { x: u16::MAX, y: u16::MAX }, anchor, head })
}

/// The columns of the word at a column.
fn word(row: &Row, column: u16) -> Option<(u16, u16)> {
    let is_part = |grapheme: &str| {
        grapheme
            .chars()
            .any(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '~' | '@'))
    };
    let plain = row.line.plain();
    let (mut at, mut start, mut found) = (0_u16, None, None);
    for grapheme in text::graphemes(&plain) {
        let wide = u16::try_from(text::grapheme_width(grapheme)).unwrap_or(0);
        if is_part(grapheme) && at >= row.skip {
            start.get_or_insert(at);
        } else if found.is_none() {
            start = None;
        }
        if !is_part(grapheme) && found.is_some() {
            break;
        }
        if start.is_some() && (at..at + wide.max(1)).contains(&column) {
            found = start;
        }
        at += wide;
        if !is_part(grapheme) && at > column && found.is_none() {
            return None;
        }
    }
    let start = found?;
    let end = word_end(&plain, start, is_part);
    Some((start, end))
}

fn word_end(plain: &str, start: u16, is_part: impl Fn(&str) -> bool) -> u16 {
    let mut at = 0_u16;
    for grapheme in text::graphemes(plain) {
        if at >= start && !is_part(grapheme) {
            break;
        }
        at += u16::try_from(text::grapheme_width(grapheme)).unwrap_or(0);
    }
    at
}

fn rows_of(view: &View, items: &Items, number: super::items::Number) -> Option<Vec<Row>> {
    let look = view.look.as_ref()?;
    let setting = Setting { cells: View::cells(view.area.width), look, open: view.open };
    Some(items.get(number)?.rows_once(&setting))
}

/// Lays the look of a selection over what was drawn.
pub(crate) fn tint(view: &View, items: &Items, selection: &Selection, canvas: &mut Canvas) {
    let (start, end) = selection.ends();
    let Some(look) = &view.look else { return };
    let style = look.theme.style(Role::Selection);
    let style = if style == crate::style::Style::PLAIN {
        style.with(crate::style::Attrs::REVERSE)
    } else {
        style
    };
    let mut laid: Option<(super::items::Number, Vec<Row>)> = None;
    for (y, seen) in (view.area.y..).zip(&view.seen) {
        let Some(own) = seen.own.filter(|_| (start.place..=end.place).contains(&seen.place)) else {
            continue;
        };
        if laid.as_ref().is_none_or(|(number, _)| *number != seen.place.item) {
            laid = rows_of(view, items, seen.place.item).map(|rows| (seen.place.item, rows));
        }
        let Some(row) = laid.as_ref().and_then(|(_, rows)| rows.get(own)) else { continue };
        if row.join == Join::Ours {
            continue;
        }
        let from = if seen.place == start.place { start.column } else { 0 }.max(row.skip);
        let wide = u16::try_from(row.line.width()).unwrap_or(u16::MAX);
        let to =
            if seen.place == end.place { end.column.saturating_add(1) } else { u16::MAX }.min(wide);
        let indent = items.get(seen.place.item).map_or(0, super::item::Item::indent);
        let x = view.left().saturating_add(indent).saturating_add(from);
        canvas.tint(Rect { x, y, width: to.saturating_sub(from), height: 1 }, style);
    }
}

/// The selected text as it was written.
pub(crate) fn copied(view: &View, items: &Items, selection: &Selection) -> Option<String> {
    let (start, end) = selection.ends();
    let mut out: Vec<String> = Vec::new();
    for number in start.place.item..=end.place.item {
        let Some(rows) = rows_of(view, items, number) else { continue };
        let gap = gap_before(items, number);
        let first =
            if number == start.place.item { start.place.row.saturating_sub(gap) } else { 0 };
        let starts_in_gap = number == start.place.item && start.place.row < gap;
        let last = if number == end.place.item {
            match (end.place.row + 1).checked_sub(gap) {
                Some(last) => last.min(rows.len()),
                None => continue,
            }
        } else {
            rows.len()
        };
        let from = if number == start.place.item && !starts_in_gap { start.column } else { 0 };
        let to = if number == end.place.item { end.column.saturating_add(1) } else { u16::MAX };
        if first < last {
            out.push(row::copied(rows[first..last].iter(), (from, to)));
        }
    }
    let text = out.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join("\n\n");
    (!text.is_empty()).then_some(text)
}
