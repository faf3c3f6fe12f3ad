//! What all lists have in common: a picker, a preview beside it, keys of their own.

use std::fmt::Debug;

use base::protocol::{ClientError, Reply};

use super::{Pane, Pressed, Shared};
use crate::canvas::{Canvas, Point, Rect};
use crate::key::{Code, Key, Mods, Mouse, MouseKind};
use crate::line::Line;
use crate::look::Look;
use crate::message::{Effect, Purpose};
use crate::picker::{Picked, Picker, Side};

/// Keys and what they do, the most needed first.
pub(super) type Hints = &'static [(&'static str, &'static str)];

/// Whether something lies over a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cover {
    /// Nothing does.
    Nothing,
    /// It was drawn; this is where the caret is.
    Drawn(Option<Point>),
}

/// What one list adds to a picker.
pub(crate) trait List: Debug {
    /// What a row stands for.
    type Worth: Debug;

    /// The picker it begins with.
    fn picker(&mut self) -> Picker<Self::Worth>;

    /// Whether there is something to show beside the list.
    fn has_preview(&self) -> bool {
        false
    }

    /// Keys and what they do.
    fn hints(&self) -> Hints;

    /// What it must look up.
    fn open(&mut self) -> Vec<Effect> {
        Vec::new()
    }

    /// The answer to a look-up.
    fn hear(&mut self, _picker: &mut Picker<Self::Worth>, _what: u8, _reply: Reply) -> Vec<Effect> {
        Vec::new()
    }

    /// A key, before the picker sees it; none leaves it to the picker.
    fn key(&mut self, _picker: &mut Picker<Self::Worth>, _key: Key) -> Option<Pressed> {
        None
    }

    /// Pasted text, before the picker sees it; none leaves it to the picker.
    fn paste(&mut self, _text: &str) -> Option<Pressed> {
        None
    }

    /// The chosen row is to be taken.
    fn take(&mut self, picker: &mut Picker<Self::Worth>) -> Pressed;

    /// Another row is chosen, or another search was written.
    fn moved(&mut self, _picker: &mut Picker<Self::Worth>, _how: Picked) -> Vec<Effect> {
        Vec::new()
    }

    /// It is left without a choice.
    fn leave(&mut self) -> Vec<Effect> {
        Vec::new()
    }

    /// What is shown beside the list of the chosen row.
    fn preview(&mut self, _worth: &Self::Worth, _width: usize, _look: &Look) -> Vec<Line> {
        Vec::new()
    }

    /// Draws what lies over the list, if anything does.
    fn over(&self, _canvas: &mut Canvas, _area: Rect, _look: &Look) -> Cover {
        Cover::Nothing
    }

    /// See [`Pane::submitted`].
    fn submitted(&mut self, _purpose: Purpose, _outcome: Result<(), ClientError>) -> Vec<Effect> {
        Vec::new()
    }

    /// See [`Pane::is_done`].
    fn is_done(&self) -> bool {
        false
    }

    /// See [`Pane::share`].
    fn share(&mut self, _picker: &mut Picker<Self::Worth>, _shared: &Shared) {}

    /// See [`Pane::wants_tick`].
    fn wants_tick(&self) -> bool {
        false
    }

    /// See [`Pane::tick`].
    fn tick(&mut self, _picker: &mut Picker<Self::Worth>, _now_ms: u64) -> Vec<Effect> {
        Vec::new()
    }
}

/// A list as a pane.
#[derive(Debug)]
pub(crate) struct ListPane<L: List> {
    list: L,
    picker: Picker<L::Worth>,
    side: Side,
    /// The preview's first row, and how many it had and had room for when it was drawn last.
    top: usize,
    rows: usize,
    room: Rect,
}

impl<L: List> ListPane<L> {
    /// A pane of a list.
    pub(crate) fn new(mut list: L) -> Self {
        let picker = list.picker();
        let side = if list.has_preview() { Side::List } else { Side::Nothing };
        Self { list, picker, side, top: 0, rows: 0, room: Rect::default() }
    }

    fn picked(&mut self, picked: Picked) -> Pressed {
        match picked {
            Picked::Ignored => Pressed::Ignored,
            Picked::Taken => Pressed::Taken(Vec::new()),
            Picked::Moved | Picked::Searched => {
                self.top = 0;
                Pressed::Taken(self.list.moved(&mut self.picker, picked))
            }
            Picked::Chosen => self.list.take(&mut self.picker),
            Picked::Left if self.side == Side::Preview => {
                self.side = Side::List;
                Pressed::Taken(Vec::new())
            }
            Picked::Left => Pressed::Done(self.list.leave()),
        }
    }

    /// Keys of the preview; whether it was one.
    fn preview_key(&mut self, key: Key) -> bool {
        if self.side == Side::Nothing {
            return false;
        }
        let page = usize::from(self.room.height.max(2) - 1);
        match key {
            Key { code: Code::Tab, mods: Mods::NONE } => {
                self.side = if self.side == Side::List { Side::Preview } else { Side::List };
            }
            Key { code: Code::Up, mods: Mods::SHIFT } => self.scroll(-1),
            Key { code: Code::Down, mods: Mods::SHIFT } => self.scroll(1),
            Key { code: Code::PageUp, mods: Mods::SHIFT } => self.scroll(-page.cast_signed()),
            Key { code: Code::PageDown, mods: Mods::SHIFT } => self.scroll(page.cast_signed()),
            _ => return false,
        }
        true
    }

    fn scroll(&mut self, by: isize) {
        let most = self.rows.saturating_sub(usize::from(self.room.height));
        self.top = self.top.saturating_add_signed(by).min(most);
    }
}

impl<L: List> Pane for ListPane<L> {
    fn open(&mut self) -> Vec<Effect> {
        self.list.open()
    }

    fn hear(&mut self, what: u8, reply: Result<Reply, ClientError>) -> Vec<Effect> {
        match reply {
            Ok(reply) => self.list.hear(&mut self.picker, what, reply),
            Err(error) => {
                self.picker.fail(error.to_string());
                Vec::new()
            }
        }
    }

    fn key(&mut self, key: Key) -> Pressed {
        if let Some(pressed) = self.list.key(&mut self.picker, key) {
            return pressed;
        }
        if self.preview_key(key) {
            return Pressed::Taken(Vec::new());
        }
        let picked = self.picker.key(key);
        self.picked(picked)
    }

    fn paste(&mut self, text: &str) -> Pressed {
        if let Some(pressed) = self.list.paste(text) {
            return pressed;
        }
        let picked = self.picker.paste(text);
        self.picked(picked)
    }

    fn mouse(&mut self, mouse: Mouse) -> Pressed {
        if self.room.contains(mouse.at) {
            match mouse.kind {
                MouseKind::WheelUp => self.scroll(-3),
                MouseKind::WheelDown => self.scroll(3),
                MouseKind::Down(_) | MouseKind::Up(_) | MouseKind::Drag(_) => {}
            }
            return Pressed::Taken(Vec::new());
        }
        let picked = self.picker.mouse(mouse);
        self.picked(picked)
    }

    fn draw(&mut self, canvas: &mut Canvas, area: Rect, look: &Look) -> Option<Point> {
        let drawn = self.picker.draw(canvas, area, (self.list.hints(), self.side), look);
        self.room = drawn.preview.unwrap_or_default();
        if let Some(worth) = self.picker.chosen()
            && self.room.width > 0
        {
            let lines = self.list.preview(worth, self.room.width.into(), look);
            self.rows = lines.len();
            self.scroll(0);
            canvas.lines(self.room, lines.iter().skip(self.top));
        }
        match self.list.over(canvas, area, look) {
            Cover::Nothing => drawn.caret,
            Cover::Drawn(caret) => caret,
        }
    }

    fn submitted(&mut self, purpose: Purpose, outcome: Result<(), ClientError>) -> Vec<Effect> {
        self.list.submitted(purpose, outcome)
    }

    fn is_done(&self) -> bool {
        self.list.is_done()
    }

    fn share(&mut self, shared: &Shared) {
        self.list.share(&mut self.picker, shared);
    }

    fn wants_tick(&self) -> bool {
        self.list.wants_tick()
    }

    fn tick(&mut self, now_ms: u64) -> Vec<Effect> {
        self.list.tick(&mut self.picker, now_ms)
    }
}
