//! The conversation: items laid out when they are seen, drawn from where the reader stands. What a frame
//! costs depends on the rows on the screen, not on how much was said.

mod block;
mod call;
mod item;
mod items;
mod live;
mod note;
mod prompt;
pub mod row;
#[cfg(test)]
pub(crate) mod sample;
mod scrollback;
mod select;
mod stored;
#[cfg(test)]
mod tests;
mod thought;
mod view;

use base::interface::Scrollbar;
use base::protocol::{ChildState, Event, Paid};
use base::{CallId, Entry, EntryId, SessionId};

pub use self::block::lines_of;
pub use self::call::is_own_command;

use self::call::Crew;
use self::item::{Body, Fold, Setting};
use self::items::{Items, Number};
use self::live::Live;
use self::note::Note;
use self::row::Click;
use self::scrollback::Scrollback;
use self::select::Selection;
use self::stored::Running;
use self::view::View;
use crate::canvas::{Canvas, Point, Rect};
use crate::line::Line;
use crate::look::{Look, Pictures};

/// Older entries are looked up when the reader is this many items away from the oldest.
const NEAR_OLDEST: Number = 40;
/// How far back something may be that still moves.
const REACH: usize = 200;

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scroll {
    /// Rows; up is negative.
    Rows(i32),
    /// Pages; up is negative.
    Pages(i32),
    /// Items; up is negative. The item becomes the chosen one.
    Items(i32),
    /// To the beginning of what is loaded.
    Top,
    /// To the end, and stay there while more is said.
    Bottom,
}

/// What a click hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clicked {
    /// Nothing that does something.
    Nothing,
    /// An item folded or unfolded.
    Folded,
    /// A link.
    Link(String),
}

/// The conversation of one session, with its sub-agents' below the calls they work for.
#[derive(Debug, Default)]
pub struct Transcript {
    items: Items,
    live: Live,
    view: View,
    selection: Option<Selection>,
    /// The oldest entry at hand, if there are older ones.
    oldest: Option<EntryId>,
    has_asked: bool,
    /// What was paid in the time of the entries that are loaded next.
    paid: Vec<Paid>,
    /// Calls that are seen, and whose sub-agents are being looked up.
    asked: Vec<CallId>,
    scrollback: Scrollback,
}

impl Transcript {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// When the scrollbar is shown.
    pub fn set_scrollbar(&mut self, scrollbar: Scrollbar) {
        self.view.scrollbar = scrollbar;
    }

    /// What model calls cost in the time of the entries that are loaded next: their footers tell it.
    pub fn know_paid(&mut self, paid: Vec<Paid>) {
        self.paid = paid;
    }

    /// Shows a session from its newest entries; `more` tells whether there are older ones.
    pub fn load(&mut self, session: SessionId, entries: &[Entry], more: More) {
        let (open, scrollbar) = (self.view.open, self.view.scrollbar);
        let paid = std::mem::take(&mut self.paid);
        *self = Self::default();
        self.live.running.paid = paid;
        self.live.main = Some(session);
        (self.view.open, self.view.scrollbar) = (open, scrollbar);
        for entry in entries {
            let Live { running, orphans, .. } = &mut self.live;
            stored::add(entry, &mut self.items, running, orphans);
        }
        self.note_oldest(entries, more);
    }

    /// Puts older entries before those that are shown; the reader stays where they are.
    pub fn prepend(&mut self, entries: &[Entry], more: More) {
        let (mut older, mut running) = (Items::default(), Running::default());
        running.paid = std::mem::take(&mut self.paid);
        for entry in entries {
            stored::add(entry, &mut older, &mut running, &mut self.live.orphans);
        }
        self.items.put_before(older);
        self.note_oldest(entries, more);
    }

    fn note_oldest(&mut self, entries: &[Entry], more: More) {
        self.has_asked = false;
        self.oldest = match more {
            More::Older => entries.first().map(|entry| entry.id),
            More::Nothing => None,
        };
    }

    /// The entry before which older ones should be looked up, if the reader has come near; asked after a draw.
    /// It is given once until [`Transcript::prepend`].
    pub fn wants_older(&mut self) -> Option<EntryId> {
        let first = self.view.first_seen()?;
        let is_near = first - self.items.range().start < NEAR_OLDEST;
        let oldest = self.oldest.filter(|_| is_near && !self.has_asked)?;
        self.has_asked = true;
        Some(oldest)
    }

    /// Calls that are seen and whose sub-agents should be looked up; asked after a draw. Until
    /// [`Transcript::know_children`] no others are given.
    pub fn wants_children(&mut self) -> Vec<CallId> {
        if !self.asked.is_empty() {
            return Vec::new();
        }
        let items = &mut self.items;
        let seen: Vec<Number> = match self.scrollback.waits_for() {
            Some(first) => (first..items.range().end).collect(),
            None => self.view.seen.iter().map(|seen| seen.place.item).collect(),
        };
        for number in seen {
            let Some(Body::Calls(calls)) = items.get_mut(number).map(|item| &mut item.body) else {
                continue;
            };
            for call in calls.iter_mut().filter(|call| call.crew == Crew::Unknown) {
                call.crew = Crew::Asked;
                self.asked.push(call.id.clone());
            }
        }
        self.asked.clone()
    }

    /// Takes the sub-agents that were asked for; none if they cannot be looked up.
    pub fn know_children(&mut self, children: &[ChildState], now_ms: u64) {
        for call in std::mem::take(&mut self.asked) {
            if let Some(call) = self.items.call_mut(&call) {
                call.crew = Crew::Known;
            }
        }
        self.live.learn(children, now_ms, &mut self.items);
    }

    /// Takes an event of the session or of one of its sub-agents at a time; others are left alone.
    pub fn see(&mut self, event: &Event, now_ms: u64) {
        self.live.see(event, now_ms, &mut self.items);
    }

    /// Adds something of our own: the first words, a failure of ours.
    pub fn notice(&mut self, text: &str) {
        live::note(Note::Notice(text.to_owned()), &mut self.items);
    }

    /// Whether something moves by itself: a spinner, a running clock.
    pub fn is_animated(&self) -> bool {
        self.items.newest_first().take(REACH).any(|(_, item)| item.is_moving())
    }

    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Draws what the reader sees.
    pub fn draw(&mut self, canvas: &mut Canvas, area: Rect, look: &Look) {
        if self.view.area.width != area.width {
            self.selection = None;
        }
        self.scrollback.rest();
        self.view.draw(&mut self.items, canvas, area, look);
        if let Some(selection) = &self.selection {
            select::tint(&self.view, &self.items, selection, canvas);
        }
    }

    /// Moves the reader.
    pub fn scroll(&mut self, by: Scroll) {
        self.view.scroll(by);
    }

    /// Whether the reader is at the end and stays there.
    pub fn is_following(&self) -> bool {
        !self.view.is_away
    }

    /// A click at a point of the screen, in what was drawn last.
    pub fn click(&mut self, at: Point) -> Clicked {
        let hit = self.view.area.contains(at).then(|| self.view.at(at)).flatten();
        let Some((seen, own)) = hit.and_then(|seen| Some((seen, seen.own?))) else {
            return Clicked::Nothing;
        };
        let Some(look) = self.view.look.clone() else { return Clicked::Nothing };
        let setting =
            Setting { cells: View::cells(self.view.area.width), look: &look, open: self.view.open };
        let left = self.view.left();
        let Some(item) = self.items.get_mut(seen.place.item) else { return Clicked::Nothing };
        let indent = item.indent();
        let Some(row) = item.rows(&setting).get(own) else { return Clicked::Nothing };
        let column = at.x.checked_sub(left.saturating_add(indent));
        if let Some(link) = column.and_then(|column| row.link_at(column)) {
            return Clicked::Link(link.to_owned());
        }
        if row.click == Click::Fold && item.can_fold() {
            item.toggle(setting.open);
            self.selection = None;
            return Clicked::Folded;
        }
        Clicked::Nothing
    }

    /// Selects from one point of the screen to another, in what was drawn last; the rows keep their selection
    /// when they are scrolled. Dragging beyond an edge scrolls.
    pub fn select(&mut self, from: Point, to: Point) {
        self.selection = select::drag(&self.view, &self.items, self.selection, (from, to));
        if to.y < self.view.area.y || (to.y == 0 && self.view.area.y == 0 && from.y > 0) {
            self.view.scroll(Scroll::Rows(-1));
        } else if to.y >= self.view.area.bottom() {
            self.view.scroll(Scroll::Rows(1));
        }
    }

    /// Selects the word, or with 3 clicks the row, at a point.
    pub fn select_around(&mut self, at: Point, clicks: u8) {
        self.selection = select::around(&self.view, &self.items, at, clicks);
    }

    /// The selected text, as it was written: no borders, no wrapping of ours.
    pub fn selected(&self) -> Option<String> {
        select::copied(&self.view, &self.items, self.selection.as_ref()?)
    }

    /// Selects nothing.
    pub fn unselect(&mut self) {
        self.selection = None;
    }

    /// Folds or unfolds the chosen item, else the newest that can be folded.
    pub fn toggle_fold(&mut self) {
        let open = self.view.open;
        let newest = || self.items.newest_first().find(|(_, item)| item.can_fold());
        let number = self.view.chosen.or_else(|| newest().map(|(number, _)| number));
        if let Some(item) = number.and_then(|number| self.items.get_mut(number)) {
            item.toggle(open);
            self.selection = None;
        }
    }

    /// For inline mode: has the newest item whose end was not printed be printed whole, and with each call one
    /// before it; tells whether there is one.
    pub fn print_whole(&mut self, width: u16, look: &Look) -> bool {
        let look = &in_cells(look);
        let setting = Setting { cells: width, look, open: self.view.open };
        self.scrollback.unfold(&mut self.items, &setting)
    }

    /// Folds or unfolds all tool blocks.
    pub fn toggle_all(&mut self) -> Folding {
        self.view.open.calls = !self.view.open.calls;
        self.unfold_usual(|body| matches!(body, Body::Calls(_)));
        Folding::of(self.view.open.calls)
    }

    /// Shows thoughts, or folds them.
    pub fn toggle_thoughts(&mut self) -> Folding {
        self.view.open.thoughts = !self.view.open.thoughts;
        self.unfold_usual(|body| matches!(body, Body::Thought(_)));
        Folding::of(self.view.open.thoughts)
    }

    /// Items of a kind are as all of it are again.
    fn unfold_usual(&mut self, is_kind: fn(&Body) -> bool) {
        self.selection = None;
        for item in self.items.iter_mut().filter(|item| is_kind(&item.body)) {
            item.fold = Fold::Usual;
        }
    }

    /// The newest answer's text, as the model wrote it.
    pub fn newest_answer(&self) -> Option<String> {
        self.items.newest_first().find_map(|(_, item)| match &item.body {
            Body::Answer { text, .. } => Some(text.text().to_owned()),
            Body::Prompt(_) | Body::Thought(_) | Body::Calls(_) | Body::Note(_) => None,
        })
    }

    /// What the user said in a prompt that is shown.
    pub fn prompt_of(&self, entry: EntryId) -> Option<String> {
        let (_, item) = self.items.newest_first().find(|(_, item)| item.entry == Some(entry))?;
        match &item.body {
            Body::Prompt(prompt) => Some(prompt.text().to_owned()),
            Body::Answer { .. } | Body::Thought(_) | Body::Calls(_) | Body::Note(_) => None,
        }
    }

    /// For inline mode: rows that will change no more and were not taken before, in order. What is still
    /// changing is drawn by [`Transcript::draw_live`].
    pub fn take_settled(&mut self, width: u16, look: &Look) -> Vec<Line> {
        let look = &in_cells(look);
        let setting = Setting { cells: width, look, open: self.view.open };
        self.scrollback.take(&mut self.items, self.live.is_busy, &setting)
    }

    /// For inline mode: rows that what is still changing wants.
    pub fn live_height(&mut self, width: u16, look: &Look) -> u16 {
        u16::try_from(self.live_lines(width, look).len()).unwrap_or(u16::MAX)
    }

    /// For inline mode: draws what is still changing; its end if it does not fit.
    pub fn draw_live(&mut self, canvas: &mut Canvas, area: Rect, look: &Look) {
        let lines = self.live_lines(area.width, look);
        let hidden = lines.len().saturating_sub(usize::from(area.height));
        canvas.lines(area, &lines[hidden..]);
    }

    fn live_lines(&mut self, width: u16, look: &Look) -> Vec<Line> {
        let look = &in_cells(look);
        let setting = Setting { cells: width, look, open: self.view.open };
        self.scrollback.live(&mut self.items, &setting)
    }
}

/// The same look with pictures in cells: the scrollback takes nothing else.
fn in_cells(look: &Look) -> Look {
    Look { pictures: Pictures::HalfBlocks, ..look.clone() }
}

/// How items of a kind are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folding {
    /// Folded.
    Folded,
    /// Whole.
    Whole,
}

impl Folding {
    fn of(is_open: bool) -> Self {
        if is_open { Self::Whole } else { Self::Folded }
    }
}

/// Whether there are older entries than those at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// There are.
    Older,
    /// There are none.
    Nothing,
}
