//! What all pages have in common: lines that are scrolled.

use std::fmt::Debug;

use base::protocol::{ClientError, Reply};

use super::{Pane, Pressed, Shared};
use crate::canvas::{Canvas, Point, Rect};
use crate::key::{Code, Key, Mods, Mouse, MouseKind};
use crate::line::Line;
use crate::look::Look;
use crate::message::Effect;
use crate::picker::{Framed, footer, frame};
use crate::theme::Role;

const HINTS: [(&str, &str); 2] = [("esc", "close"), ("up/down", "scroll")];

/// What one page shows.
pub(crate) trait Sheet: Debug {
    /// Its heading.
    fn title(&self) -> String;

    /// What it must look up.
    fn open(&mut self) -> Vec<Effect> {
        Vec::new()
    }

    /// The answer to its look-up.
    fn hear(&mut self, _reply: Reply) {}

    /// See [`Pane::share`].
    fn share(&mut self, _shared: &Shared) {}

    /// What it shows.
    fn lines(&self, width: usize, look: &Look) -> Vec<Line>;
}

/// A page as a pane.
#[derive(Debug)]
pub(crate) struct SheetPane<S: Sheet> {
    sheet: S,
    failure: Option<String>,
    top: usize,
    most: usize,
    page: usize,
}

impl<S: Sheet> SheetPane<S> {
    /// A pane of a page.
    pub(crate) fn new(sheet: S) -> Self {
        Self { sheet, failure: None, top: 0, most: 0, page: 1 }
    }

    fn lines(&self, width: usize, look: &Look) -> Vec<Line> {
        match &self.failure {
            Some(why) => Line::new(why, look.theme.style(Role::Bad)).wrap(width, 0),
            None => self.sheet.lines(width, look),
        }
    }

    fn scroll(&mut self, by: isize) -> Pressed {
        self.top = self.top.saturating_add_signed(by).min(self.most);
        Pressed::Taken(Vec::new())
    }
}

impl<S: Sheet> Pane for SheetPane<S> {
    fn open(&mut self) -> Vec<Effect> {
        self.sheet.open()
    }

    fn hear(&mut self, _what: u8, reply: Result<Reply, ClientError>) -> Vec<Effect> {
        match reply {
            Ok(reply) => self.sheet.hear(reply),
            Err(error) => self.failure = Some(error.to_string()),
        }
        Vec::new()
    }

    fn key(&mut self, key: Key) -> Pressed {
        let page = self.page.cast_signed();
        match key {
            Key { code: Code::Esc | Code::Enter | Code::Char('q'), mods: Mods::NONE }
            | Key { code: Code::Char('c'), mods: Mods::CTRL } => Pressed::Done(Vec::new()),
            Key { code: Code::Up | Code::Char('k'), mods: Mods::NONE } => self.scroll(-1),
            Key { code: Code::Down | Code::Char('j'), mods: Mods::NONE } => self.scroll(1),
            Key { code: Code::PageUp, mods: Mods::NONE } => self.scroll(-page),
            Key { code: Code::PageDown | Code::Char(' '), mods: Mods::NONE } => self.scroll(page),
            Key { code: Code::Home, mods: Mods::NONE } => self.scroll(isize::MIN),
            Key { code: Code::End, mods: Mods::NONE } => self.scroll(isize::MAX),
            _ => Pressed::Ignored,
        }
    }

    fn paste(&mut self, _text: &str) -> Pressed {
        Pressed::Ignored
    }

    fn mouse(&mut self, mouse: Mouse) -> Pressed {
        match mouse.kind {
            MouseKind::WheelUp => self.scroll(-3),
            MouseKind::WheelDown => self.scroll(3),
            MouseKind::Down(_) | MouseKind::Up(_) | MouseKind::Drag(_) => Pressed::Ignored,
        }
    }

    fn draw(&mut self, canvas: &mut Canvas, area: Rect, look: &Look) -> Option<Point> {
        // The frame must know how many rows there are, which the width inside decides.
        let width = usize::from(area.width.saturating_sub(8).min(156));
        let rows = self.lines(width, look).len() + 3;
        let title = self.sheet.title();
        let inner = frame(canvas, area, Framed { title: &title, rows }, look);
        let (body, foot) = inner.split_bottom(u16::from(inner.height > 2));
        footer(canvas, foot, &HINTS, look);
        let (_, body) = body.split_top(u16::from(body.height > 8));
        let (body, _) = body.split_bottom(u16::from(body.height > 8));
        let lines = self.lines(body.width.into(), look);
        self.page = usize::from(body.height.max(2) - 1);
        self.most = lines.len().saturating_sub(usize::from(body.height));
        self.top = self.top.min(self.most);
        canvas.lines(body, lines.iter().skip(self.top));
        None
    }

    fn share(&mut self, shared: &Shared) {
        self.sheet.share(shared);
    }
}
