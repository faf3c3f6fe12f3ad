//! Vi's keys: insert and normal mode, operators with motions and text objects, counts, and the dot.

mod obey;
mod order;
mod reach;
#[cfg(test)]
mod tests;

use super::buffer::previous;
use super::marks::is_mark;
use super::motion::line_start;
use super::{Composer, Typed};
use crate::key::{Code, Key, Mods};
use order::{Find, Stuck, parse};

/// Which way keys are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    /// They are text.
    #[default]
    Insert,
    /// They are orders.
    Normal,
}

/// What was deleted or copied last.
#[derive(Debug, Default)]
struct Register {
    text: String,
    is_lines: bool,
}

/// Vi's state.
#[derive(Debug, Default)]
pub(super) struct Vi {
    mode: Mode,
    /// Keys of an order that is not complete yet.
    pending: String,
    register: Register,
    /// What a semicolon finds again.
    find: Option<Find>,
    /// Keys of the order under way, with what it put in; for the dot.
    recorded: Option<Vec<Key>>,
    /// Keys of the last order that changed something.
    repeated: Vec<Key>,
}

impl Vi {
    /// The mode, and what was typed of an order, as it is shown.
    pub(super) fn status(&self) -> String {
        match self.mode {
            Mode::Insert => "insert".to_owned(),
            Mode::Normal if self.pending.is_empty() => "normal".to_owned(),
            Mode::Normal => format!("normal {}", self.pending),
        }
    }

    /// Whether keys are orders.
    pub(super) fn is_normal(&self) -> bool {
        self.mode == Mode::Normal
    }

    /// Gets ready for the next prompt.
    pub(super) fn start_over(&mut self) {
        self.mode = Mode::Insert;
        self.pending.clear();
        self.recorded = None;
        if self.register.text.contains(is_mark) {
            self.register = Register::default();
        }
    }

    fn give_up(&mut self) {
        self.pending.clear();
        self.recorded = None;
    }
}

impl Composer {
    /// A key, with vi's keys.
    pub(super) fn vi_key(&mut self, key: Key) -> Typed {
        let typed = match &mut self.vi {
            None => Typed::Ignored,
            Some(vi) if vi.is_normal() => self.normal_key(key),
            Some(vi) => {
                if let Some(recorded) = &mut vi.recorded {
                    recorded.push(key);
                }
                self.insert_key(key)
            }
        };
        self.refresh();
        typed
    }

    fn insert_key(&mut self, key: Key) -> Typed {
        if key != Key::plain(Code::Esc) && key != Key::ctrl('[') {
            return self.plain_key(key);
        }
        self.buffer.release();
        let (text, caret) = (self.buffer.text(), self.buffer.caret());
        let left = previous(text, caret).max(line_start(text, caret));
        self.step_to(left);
        if let Some(vi) = &mut self.vi {
            vi.mode = Mode::Normal;
            if let Some(recorded) = vi.recorded.take() {
                vi.repeated = recorded;
            }
        }
        Typed::Taken
    }

    fn normal_key(&mut self, key: Key) -> Typed {
        let Some(vi) = &mut self.vi else { return Typed::Ignored };
        if key == Key::ctrl('r') {
            vi.give_up();
            self.buffer.redo();
            self.stay_on_line();
            return Typed::Taken;
        }
        if key == Key::plain(Code::Esc) {
            let typed = if vi.pending.is_empty() { Typed::Ignored } else { Typed::Taken };
            vi.give_up();
            return typed;
        }
        let Some(letter) = letter(key) else { return Typed::Ignored };
        vi.pending.push(letter);
        vi.recorded.get_or_insert_default().push(key);
        match parse(&vi.pending) {
            Err(Stuck::Unfinished) => {}
            Err(Stuck::Unknown) => vi.give_up(),
            Ok(order) => {
                vi.pending.clear();
                self.obey(order);
            }
        }
        Typed::Taken
    }
}

/// The letter that a key stands for in an order.
fn letter(key: Key) -> Option<char> {
    if let Some(c) = key.typed() {
        return Some(c).filter(|c| !c.is_control() && !is_mark(*c));
    }
    let named = [
        (Code::Left, 'h'),
        (Code::Backspace, 'h'),
        (Code::Right, 'l'),
        (Code::Up, 'k'),
        (Code::Down, 'j'),
        (Code::Home, '0'),
        (Code::End, '$'),
        (Code::Delete, 'x'),
    ];
    let is_plain = key.mods == Mods::NONE;
    named.iter().find(|(code, _)| is_plain && *code == key.code).map(|(_, letter)| *letter)
}
