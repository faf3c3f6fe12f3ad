//! What tests of lists, panes and panels need: a look, keys as words, a screen as text.

use base::interface::DiffMode;

use crate::canvas::{Canvas, Point, Rect};
use crate::key::{Button, Key, Mods, Mouse, MouseKind};
use crate::look::{Look, Pictures};
use crate::pane::{Pane, Pressed};
use crate::theme::Theme;

/// A look at a time.
pub(crate) fn look_at(now_ms: u64) -> Look {
    Look {
        theme: Theme::dark(),
        version: 1,
        diff: DiffMode::Auto,
        frame: 0,
        now_ms,
        unicode: true,
        pictures: Pictures::HalfBlocks,
        unfold: "ctrl+o".to_owned(),
    }
}

/// A look.
pub(crate) fn look() -> Look {
    look_at(0)
}

/// A key by its name.
pub(crate) fn key(text: &str) -> Key {
    text.parse().unwrap()
}

/// A click.
pub(crate) fn click(x: u16, y: u16) -> Mouse {
    Mouse { at: Point { x, y }, kind: MouseKind::Down(Button::Left), mods: Mods::NONE }
}

/// What a pane shows on a screen of a size.
pub(crate) fn screen(pane: &mut dyn Pane, width: u16, height: u16) -> String {
    let mut canvas = Canvas::new(width, height);
    let caret = pane.draw(&mut canvas, Rect::sized(width, height), &look());
    assert!(caret.is_none_or(|at| canvas.area().contains(at)), "{caret:?}");
    canvas.plain()
}

/// Presses keys, by their names, and returns what the last one did.
pub(crate) fn press(pane: &mut dyn Pane, keys: &str) -> Pressed {
    let mut pressed = Pressed::Ignored;
    for text in keys.split_whitespace() {
        pressed = pane.key(key(text));
    }
    pressed
}

/// Writes text into a pane, key by key.
pub(crate) fn write(pane: &mut dyn Pane, text: &str) {
    for c in text.chars() {
        pane.key(Key::plain(crate::key::Code::Char(c)));
    }
}
