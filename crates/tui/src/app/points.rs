//! The mouse: wheel, clicks, and a drag that selects and copies.

use super::App;
use crate::canvas::{Point, Rect};
use crate::key::{Button, Mouse, MouseKind};
use crate::message::Effect;
use crate::pane::Pressed;
use crate::panel::Has;
use crate::transcript::{Clicked, Scroll};

/// Rows a turn of the wheel moves.
const WHEEL: i32 = 3;
/// How soon a second click makes a double click.
const DOUBLE_MS: u64 = 400;

/// What the mouse is doing, and where things were drawn that it can hit.
#[derive(Debug, Default)]
pub(super) struct Pointer {
    /// Where the button went down in the conversation.
    down: Option<Point>,
    is_dragging: bool,
    /// The last click: where, when, and the how many-eth in a row.
    last: Option<(Point, u64, u8)>,
    pub(super) transcript: Rect,
    pub(super) composer: Rect,
    pub(super) panel: Rect,
}

impl App {
    pub(super) fn take_mouse(&mut self, mouse: Mouse) -> Vec<Effect> {
        if let Some((_, pane)) = self.panes.last_mut() {
            let pressed = pane.mouse(mouse);
            return self.taken_by_pane(pressed).unwrap_or_default();
        }
        if !self.panels.is_empty() && self.pointer.panel.contains(mouse.at) {
            if matches!(mouse.kind, MouseKind::Down(Button::Left)) {
                self.has = Has::Keys;
            }
            return match self.panels.mouse(mouse) {
                Pressed::Taken(effects) | Pressed::Done(effects) => effects,
                Pressed::Ignored => Vec::new(),
            };
        }
        match mouse.kind {
            MouseKind::WheelUp => self.transcript.scroll(Scroll::Rows(-WHEEL)),
            MouseKind::WheelDown => self.transcript.scroll(Scroll::Rows(WHEEL)),
            MouseKind::Down(Button::Left) => self.press(mouse.at),
            MouseKind::Drag(Button::Left) => {
                if let Some(from) = self.pointer.down {
                    self.pointer.is_dragging = true;
                    self.transcript.select(from, mouse.at);
                }
            }
            MouseKind::Up(Button::Left) => return self.release(mouse.at),
            MouseKind::Down(Button::Middle | Button::Right)
            | MouseKind::Up(Button::Middle | Button::Right)
            | MouseKind::Drag(Button::Middle | Button::Right) => {}
        }
        Vec::new()
    }

    fn press(&mut self, at: Point) {
        self.transcript.unselect();
        self.pointer.is_dragging = false;
        self.pointer.down = self.pointer.transcript.contains(at).then_some(at);
        if self.pointer.composer.contains(at) {
            self.has = Has::OnlySpareKeys;
            self.composer.click(at);
        }
    }

    fn release(&mut self, at: Point) -> Vec<Effect> {
        let Some(down) = self.pointer.down.take() else { return Vec::new() };
        if self.pointer.is_dragging && down != at {
            return self.copy_selected();
        }
        let now = self.look.now_ms;
        let count = match self.pointer.last {
            Some((point, when, count)) if point == at && now.saturating_sub(when) <= DOUBLE_MS => {
                count % 3 + 1
            }
            Some(_) | None => 1,
        };
        self.pointer.last = Some((at, now, count));
        if count > 1 {
            self.transcript.select_around(at, count);
            return self.copy_selected();
        }
        match self.transcript.click(at) {
            Clicked::Link(link) if link.contains("://") || link.starts_with("mailto:") => {
                vec![Effect::OpenLink(link)]
            }
            Clicked::Link(place) => {
                let said = Effect::Say(format!("copied {place}"));
                vec![Effect::Copy(place), said]
            }
            Clicked::Nothing | Clicked::Folded => Vec::new(),
        }
    }

    fn copy_selected(&mut self) -> Vec<Effect> {
        match self.transcript.selected() {
            Some(text) if !text.is_empty() => {
                let count = text.chars().count();
                vec![Effect::Copy(text), Effect::Say(format!("copied {count} characters"))]
            }
            Some(_) | None => Vec::new(),
        }
    }
}
