//! Where the reader stands, and what they see from there.
//!
//! A place is an item and a row in it, so items before and after may come and go without a jump.

use super::Scroll;
use super::item::{Body, Open, Setting};
use super::items::{Items, Number};
use super::row::Row;
use crate::canvas::{Canvas, Point, Rect};
use crate::look::Look;
use crate::theme::Role;

use base::interface::Scrollbar;

/// Items around those on the screen whose rows are kept.
const KEPT_AROUND: Number = 30;
/// Columns at the left, for the mark of the chosen item.
const LEFT: u16 = 1;
/// Columns at the right, for the scrollbar and some air.
const RIGHT: u16 = 2;

/// A row of an item; rows of blank before it count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) item: Number,
    pub(crate) row: usize,
}

/// A row on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) place: Place,
    /// The row of the item's own rows; none for a blank before it.
    pub(crate) own: Option<usize>,
}

/// Where the reader stands.
#[derive(Debug, Default)]
pub(crate) struct View {
    top: Place,
    pub(crate) is_away: bool,
    pending: Vec<Scroll>,
    pub(crate) chosen: Option<Number>,
    pub(crate) area: Rect,
    pub(crate) seen: Vec<Seen>,
    laid: Vec<Number>,
    pub(crate) open: Open,
    pub(crate) scrollbar: Scrollbar,
    /// What it was drawn with last.
    pub(crate) look: Option<Look>,
}

impl View {
    /// Moves the reader with the next frame, which knows how long things are.
    pub(crate) fn scroll(&mut self, by: Scroll) {
        match by {
            Scroll::Rows(rows) | Scroll::Pages(rows) | Scroll::Items(rows) if rows < 0 => {
                self.is_away = true;
            }
            Scroll::Top => self.is_away = true,
            Scroll::Bottom => {
                self.is_away = false;
                self.chosen = None;
            }
            Scroll::Rows(_) | Scroll::Pages(_) | Scroll::Items(_) => {}
        }
        self.pending.push(by);
    }

    /// Cells that items are laid out for in an area.
    pub(crate) fn cells(width: u16) -> u16 {
        width.saturating_sub(LEFT + RIGHT).max(1)
    }

    /// The column where rows begin.
    pub(crate) fn left(&self) -> u16 {
        self.area.x.saturating_add(LEFT.min(self.area.width / 4))
    }

    /// Draws what the reader sees.
    pub(crate) fn draw(&mut self, items: &mut Items, canvas: &mut Canvas, area: Rect, look: &Look) {
        self.area = area;
        self.look = Some(look.clone());
        self.seen.clear();
        if area.height == 0 || area.width == 0 || items.is_empty() {
            self.pending.clear();
            return;
        }
        let setting = Setting { cells: Self::cells(area.width), look, open: self.open };
        self.arrive(items, &setting);
        self.draw_rows(items, canvas, &setting);
        self.draw_scrollbar(items, canvas, look);
        self.forget_far(items);
    }

    /// Applies what was asked for since the last frame, and keeps the reader inside.
    fn arrive(&mut self, items: &mut Items, setting: &Setting<'_>) {
        let range = items.range();
        self.top.item = self.top.item.clamp(range.start, range.end - 1);
        let height = usize::from(self.area.height);
        let page = height.saturating_sub(2).max(1);
        let mut steps = Steps { items, setting, laid: &mut self.laid };
        let mut goes_down = false;
        for scroll in std::mem::take(&mut self.pending) {
            if !self.is_away {
                self.top = steps.up(steps.end(), height);
            }
            let rows = match scroll {
                Scroll::Rows(rows) => i64::from(rows),
                Scroll::Pages(pages) => i64::from(pages) * i64::try_from(page).unwrap_or(1),
                Scroll::Top => {
                    self.top = Place { item: range.start, row: 0 };
                    0
                }
                Scroll::Bottom => {
                    self.top = steps.up(steps.end(), height);
                    0
                }
                Scroll::Items(count) => {
                    let from = self.chosen.unwrap_or(range.end);
                    let chosen = choosable(steps.items, from, count);
                    self.chosen = chosen;
                    if let Some(chosen) = chosen {
                        self.top = steps.showing(chosen, self.top, height);
                        self.is_away = true;
                        goes_down = count > 0;
                    }
                    0
                }
            };
            let distance = usize::try_from(rows.unsigned_abs()).unwrap_or(usize::MAX);
            if rows < 0 {
                self.top = steps.up(self.top, distance);
            } else if rows > 0 {
                self.top = steps.down(self.top, distance);
                goes_down = true;
            }
        }
        if !self.is_away {
            self.top = steps.up(steps.end(), height);
            return;
        }
        let own = steps.height(self.top.item);
        self.top.row = self.top.row.min(own.saturating_sub(1));
        let left = steps.left_below(self.top, height + 1);
        if left < height || (left == height && goes_down) {
            self.top = steps.up(steps.end(), height);
            self.is_away = false;
        }
    }

    fn draw_rows(&mut self, items: &mut Items, canvas: &mut Canvas, setting: &Setting<'_>) {
        let area = self.area;
        let (left, end) = (self.left(), items.range().end);
        let mut place = self.top;
        let mut y = area.y;
        while y < area.bottom() && place.item < end {
            let gap = gap_before(items, place.item);
            let chosen = self.chosen == Some(place.item);
            let Some(item) = items.get_mut(place.item) else { break };
            let indent = item.indent();
            note_laid(&mut self.laid, place.item);
            let rows = item.rows(setting);
            let height = gap + rows.len();
            while y < area.bottom() && place.row < height {
                let own = place.row.checked_sub(gap);
                if let Some(row) = own.and_then(|own| rows.get(own)) {
                    let x = left.saturating_add(indent);
                    let width =
                        area.right().saturating_sub(x).saturating_sub(RIGHT.min(area.width / 4));
                    canvas.line(Rect { x, y, width, height: 1 }, &row.line);
                    draw_picture(canvas, row, Rect { x, y, width, height: area.bottom() - y });
                    if chosen {
                        let mark = if setting.look.unicode { "▌" } else { "|" };
                        let style = setting.look.theme.style(Role::Accent);
                        canvas.text(Rect { x: area.x, y, width: 1, height: 1 }, mark, style);
                    }
                }
                self.seen.push(Seen { place, own });
                place.row += 1;
                y += 1;
            }
            place = Place { item: place.item + 1, row: 0 };
        }
    }

    /// The bar tells which part of the items is seen; how many rows the others have nobody knows.
    fn draw_scrollbar(&self, items: &Items, canvas: &mut Canvas, look: &Look) {
        let is_shown = match self.scrollbar {
            Scrollbar::Default => self.is_away,
            Scrollbar::Always => true,
            Scrollbar::Never => false,
        };
        let range = items.range();
        let (Some(first), Some(last)) = (self.seen.first(), self.seen.last()) else { return };
        let count = usize::try_from(range.end - range.start).unwrap_or(1).max(1);
        let height = usize::from(self.area.height);
        let index = |item: Number| usize::try_from(item - range.start).unwrap_or(0);
        if !is_shown
            || (index(first.place.item) == 0
                && index(last.place.item) + 1 == count
                && !self.is_away)
        {
            return;
        }
        let from = index(first.place.item) * height / count;
        let to = ((index(last.place.item) + 1) * height).div_ceil(count);
        let from = if self.is_away { from.min(height.saturating_sub(2)) } else { from };
        let bar = if look.unicode { "▐" } else { "|" };
        for row in from..to.clamp(from + 1, height.max(from + 1)) {
            let y = self.area.y.saturating_add(u16::try_from(row).unwrap_or(u16::MAX));
            let x = self.area.right().saturating_sub(1);
            canvas.text(Rect { x, y, width: 1, height: 1 }, bar, look.theme.style(Role::Faint));
        }
    }

    fn forget_far(&mut self, items: &mut Items) {
        let (Some(first), Some(last)) = (self.seen.first(), self.seen.last()) else { return };
        let near = first.place.item - KEPT_AROUND..=last.place.item + KEPT_AROUND;
        self.laid.retain(|number| {
            let is_near = near.contains(number);
            if !is_near && let Some(item) = items.get_mut(*number) {
                item.forget_rows();
            }
            is_near
        });
    }

    /// The first item on the screen.
    pub(crate) fn first_seen(&self) -> Option<Number> {
        self.seen.first().map(|seen| seen.place.item)
    }

    /// What is at a row of the screen; outside, what is nearest.
    pub(crate) fn at(&self, point: Point) -> Option<Seen> {
        let y = point.y.clamp(self.area.y, self.area.bottom().saturating_sub(1).max(self.area.y));
        let index = usize::from(y - self.area.y).min(self.seen.len().checked_sub(1)?);
        self.seen.get(index).copied()
    }
}

/// Lays the picture that begins in a row over the rows below, if it is there as a whole.
fn draw_picture(canvas: &mut Canvas, row: &Row, area: Rect) {
    let Some(placed) = &row.picture else { return };
    let x = area.x.saturating_add(row.skip);
    let room = area.width.saturating_sub(row.skip);
    if placed.rows <= area.height && placed.columns <= room {
        let area = Rect { x, y: area.y, width: placed.columns, height: placed.rows };
        canvas.place_picture(area, placed.picture.clone());
    }
}

/// Blank rows before an item.
pub(crate) fn gap_before(items: &Items, number: Number) -> usize {
    let (Some(item), before) = (items.get(number), items.get(number - 1)) else { return 0 };
    if item.is_hidden() {
        return 0;
    }
    let Some(before) = before else { return 1 };
    let is_close = match (&before.body, &item.body) {
        (Body::Calls(_), Body::Calls(_)) => before.is_one_line(),
        (_, Body::Note(note)) => note.is_close(),
        (
            Body::Prompt(_)
            | Body::Answer { .. }
            | Body::Thought(_)
            | Body::Calls(_)
            | Body::Note(_),
            Body::Prompt(_) | Body::Answer { .. } | Body::Thought(_) | Body::Calls(_),
        ) => false,
    };
    usize::from(!is_close)
}

fn note_laid(laid: &mut Vec<Number>, number: Number) {
    if !laid.contains(&number) {
        laid.push(number);
    }
}

/// The item that many from another that is worth choosing.
fn choosable(items: &Items, from: Number, count: i32) -> Option<Number> {
    let range = items.range();
    let is_worth = |number: &Number| {
        items
            .get(*number)
            .is_some_and(|item| !matches!(item.body, Body::Note(_)) || item.can_fold())
    };
    let steps = usize::try_from(count.unsigned_abs()).unwrap_or(1).max(1);
    if count < 0 {
        let found: Vec<Number> =
            (range.start..from.min(range.end)).rev().filter(is_worth).take(steps).collect();
        found.last().copied().or_else(|| Some(from).filter(|from| range.contains(from)))
    } else {
        (from + 1..range.end).filter(is_worth).take(steps).last()
    }
}

/// Steps from row to row over items.
struct Steps<'a, 'b> {
    items: &'a mut Items,
    setting: &'a Setting<'b>,
    laid: &'a mut Vec<Number>,
}

impl Steps<'_, '_> {
    /// Rows of an item, blanks before it included.
    fn height(&mut self, number: Number) -> usize {
        let gap = gap_before(self.items, number);
        note_laid(self.laid, number);
        self.items.get_mut(number).map_or(0, |item| gap + item.rows(self.setting).len())
    }

    /// The place after the last row.
    fn end(&self) -> Place {
        Place { item: self.items.range().end, row: 0 }
    }

    fn up(&mut self, from: Place, mut rows: usize) -> Place {
        let first = self.items.range().start;
        let mut place = from;
        while rows > place.row {
            if place.item <= first {
                return Place { item: first, row: 0 };
            }
            rows -= place.row;
            place.item -= 1;
            place.row = self.height(place.item);
        }
        place.row -= rows;
        place
    }

    fn down(&mut self, from: Place, mut rows: usize) -> Place {
        let end = self.items.range().end;
        let mut place = from;
        while place.item < end {
            let left = self.height(place.item).saturating_sub(place.row);
            if rows < left {
                place.row += rows;
                return place;
            }
            rows -= left;
            place = Place { item: place.item + 1, row: 0 };
        }
        Place { item: end - 1, row: self.height(end - 1).saturating_sub(1) }
    }

    /// Rows from a place to the end, counted up to `most`.
    fn left_below(&mut self, from: Place, most: usize) -> usize {
        let end = self.items.range().end;
        let (mut number, mut rows) = (from.item, 0);
        let mut skipped = from.row;
        while number < end && rows < most {
            rows += self.height(number).saturating_sub(skipped);
            skipped = 0;
            number += 1;
        }
        rows.min(most)
    }

    /// The top from which an item is seen, as near to where the reader stands as it can be.
    fn showing(&mut self, number: Number, top: Place, height: usize) -> Place {
        let gap = gap_before(self.items, number);
        let begins = Place { item: number, row: gap.saturating_sub(1) };
        let end = Place { item: number, row: self.height(number) };
        let lowest = self.up(end, height);
        if begins < top {
            begins
        } else if lowest > top {
            lowest.min(begins)
        } else {
            top
        }
    }
}
