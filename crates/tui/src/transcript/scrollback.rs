//! Inline mode: what has settled goes to the terminal's own scrollback, once; what still changes is drawn
//! below it.

use super::item::{Item, Setting};
use super::items::{Items, Number};
use super::view::gap_before;
use crate::line::Line;

/// What was given to the scrollback.
#[derive(Debug, Default)]
pub(crate) struct Scrollback {
    /// The first item that was not given whole.
    next: Option<Number>,
    /// What was given of it already, if it is an answer that is arriving.
    part: Part,
    /// The item that was given whole last, and whether it is still to be given.
    whole: Option<(Number, bool)>,
    /// Whether it is what is drawn: something was taken since the whole screen was drawn.
    is_in_use: bool,
}

/// The beginning of an answer that was given.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    bytes: usize,
    rows: usize,
    cells: u16,
}

impl Scrollback {
    /// Takes what has settled since; `is_busy` tells whether calls that only read may be joined by others.
    pub(crate) fn take(
        &mut self,
        items: &mut Items,
        is_busy: bool,
        setting: &Setting<'_>,
    ) -> Vec<Line> {
        self.is_in_use = true;
        let range = items.range();
        let mut lines = Vec::new();
        let mut number = self.next.unwrap_or(range.start).max(range.start);
        while number < range.end && has_settled(items, number, is_busy) {
            let given = self.given(items, number, setting);
            lines.extend(rows(items, number, setting).skip(given));
            if let Some(item) = items.get_mut(number) {
                item.forget_rows();
            }
            self.part = Part::default();
            number += 1;
        }
        if let Some((whole, is_due @ true)) = &mut self.whole {
            *is_due = false;
            lines.push(Line::EMPTY);
            lines.extend(items.get(*whole).into_iter().flat_map(|item| item.whole(setting)));
        } else if !lines.is_empty() {
            self.whole = None;
        }
        self.next = Some(number);
        if number < range.end {
            lines.extend(self.take_part(items, number, setting));
        }
        lines
    }

    /// Has the newest item that was given folded be given once more, whole; then the one before it, and so on.
    /// Tells whether there is one. What is still drawn is folded or unfolded where it is.
    pub(crate) fn unfold(&mut self, items: &mut Items, setting: &Setting<'_>) -> bool {
        let range = items.range();
        let next = self.next.unwrap_or(range.start).max(range.start);
        let can_fold = |number: &Number| items.get(*number).is_some_and(Item::can_fold);
        if let Some(number) = (next..range.end).rev().find(can_fold)
            && let Some(item) = items.get_mut(number)
        {
            item.toggle(setting.open);
            return true;
        }
        let before = self.whole.map_or(next, |(number, _)| number);
        let hides = |number: &Number| {
            let item = items.get(*number).filter(|item| item.can_fold());
            item.is_some_and(|item| item.whole(setting).len() > item.rows_once(setting).len())
        };
        let found = (range.start..before).rev().find(hides);
        self.whole = found.map(|number| (number, true)).or(self.whole);
        found.is_some()
    }

    /// The first item that was not given whole, if anybody waits for it.
    pub(crate) fn waits_for(&self) -> Option<Number> {
        self.next.filter(|_| self.is_in_use)
    }

    /// The whole screen is drawn: nobody waits for the rest.
    pub(crate) fn rest(&mut self) {
        self.is_in_use = false;
    }

    /// The rows of an answer that is arriving which stay as they are, so that only its end must be drawn anew.
    fn take_part(&mut self, items: &mut Items, number: Number, setting: &Setting<'_>) -> Vec<Line> {
        let given = self.given(items, number, setting);
        let gap = gap_before(items, number);
        let Some((settled, bytes)) = items.get_mut(number).map(|item| item.settled(setting)) else {
            return Vec::new();
        };
        if settled == 0 || gap + settled <= given {
            return Vec::new();
        }
        self.part = Part { bytes, rows: gap + settled, cells: setting.cells };
        rows(items, number, setting).take(gap + settled).skip(given).collect()
    }

    /// Rows of an item that were given, in today's width.
    fn given(&self, items: &Items, number: Number, setting: &Setting<'_>) -> usize {
        if self.next != Some(number) || self.part.bytes == 0 || self.part.cells == setting.cells {
            return if self.next == Some(number) { self.part.rows } else { 0 };
        }
        let rows = items.get(number).map_or(0, |item| item.rows_of_bytes(self.part.bytes, setting));
        gap_before(items, number) + rows
    }

    /// What is still changing.
    pub(crate) fn live(&self, items: &mut Items, setting: &Setting<'_>) -> Vec<Line> {
        let range = items.range();
        let from = self.next.unwrap_or(range.start).max(range.start);
        let mut lines = Vec::new();
        for number in from..range.end {
            let given = self.given(items, number, setting);
            lines.extend(rows(items, number, setting).skip(given));
        }
        lines
    }
}

fn has_settled(items: &Items, number: Number, is_busy: bool) -> bool {
    let may_grow = is_busy && number + 1 == items.range().end;
    items.get(number).is_some_and(|item| item.is_settled() && !(may_grow && item.is_reading()))
}

/// Rows of an item as lines that stand by themselves, blank ones before it included.
fn rows<'a>(
    items: &'a mut Items,
    number: Number,
    setting: &Setting<'_>,
) -> impl Iterator<Item = Line> + use<'a> {
    let gap = gap_before(items, number);
    let blank = std::iter::repeat_n(Line::EMPTY, gap);
    let item = items.get_mut(number);
    let indent = item.as_ref().map_or(0, |item| item.indent());
    let own = item.map(|item| item.rows(setting)).unwrap_or_default();
    blank.chain(own.iter().map(move |row| row.standing(indent)))
}
