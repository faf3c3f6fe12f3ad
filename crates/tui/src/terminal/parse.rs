//! What a terminal sends, from bytes to [`Input`]: keys as old terminals write them and as kitty's protocol
//! does, pastes, the mouse, focus, and answers to our questions.
//!
//! Bytes come in pieces that may break anywhere; nothing is decided before it is whole. Only an Escape that
//! nothing follows needs a decision by time: the caller asks [`Parser::is_waiting`] and calls
//! [`Parser::settle`] when enough has passed.

mod control;
mod keys;
mod strings;
#[cfg(test)]
mod tests;

use crate::key::{Code, Input, Key, Mods};

const ESC: u8 = 0x1b;

/// How a paste ends.
const PASTE_END: &[u8] = b"\x1b[201~";

/// Bytes a control sequence may have; what is longer is rubbish.
const LONGEST_CONTROL: usize = 256;

/// Bytes a string may have: a clipboard is the largest.
const LONGEST_STRING: usize = 16 << 20;

/// Turns bytes into input.
#[derive(Debug, Default)]
pub struct Parser {
    pending: Vec<u8>,
    /// How much of what is pending was searched for an end already.
    searched: usize,
    paste: Option<Vec<u8>>,
}

/// What the beginning of some bytes is.
#[derive(Clone, Copy)]
enum Step {
    /// So many bytes are done with.
    Done(usize),
    /// It cannot be told yet.
    More,
    /// A paste begins after so many bytes.
    Paste(usize),
}

impl Parser {
    /// One that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes and adds what they mean to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Input>) {
        self.pending.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            if self.paste.is_some() {
                at += self.take_paste(at, out);
                self.searched = 0;
                if self.paste.is_some() {
                    break;
                }
            }
            let rest = &self.pending[at..];
            match step(rest, self.searched, out) {
                Step::Done(used) => (at, self.searched) = (at + used, 0),
                Step::Paste(used) => {
                    (at, self.searched) = (at + used, 0);
                    self.paste = Some(Vec::new());
                }
                Step::More => break,
            }
        }
        self.pending.drain(..at.min(self.pending.len()));
        // An end may be split over two pieces, so the last bytes are looked at again.
        self.searched = self.pending.len().saturating_sub(1);
    }

    /// Whether time decides about what is pending: an Escape may be a key, or begin a sequence.
    pub fn is_waiting(&self) -> bool {
        let Some(rest) = self.pending.strip_prefix(b"\x1b") else { return false };
        let rest = rest.strip_prefix(b"\x1b").unwrap_or(rest);
        self.paste.is_none() && matches!(rest, [] | [b'[' | b'O' | b']' | b'P' | b'_'])
    }

    /// Decides that nothing follows what is pending.
    pub fn settle(&mut self, out: &mut Vec<Input>) {
        if !self.is_waiting() {
            return;
        }
        let mut rest = self.pending.get(1..).unwrap_or_default();
        if let Some(second) = rest.strip_prefix(b"\x1b") {
            out.push(Input::Key(Key::plain(Code::Esc)));
            rest = second;
        }
        match rest.first() {
            Some(byte) => keys::push(keys::of_byte(*byte), Mods::ALT, out),
            None => out.push(Input::Key(Key::plain(Code::Esc))),
        }
        self.pending.clear();
        self.searched = 0;
    }

    /// Takes pasted bytes from `at` on, perhaps to the paste's end; returns how many were used.
    fn take_paste(&mut self, at: usize, out: &mut Vec<Input>) -> usize {
        let rest = &self.pending[at..];
        let end = find(rest, PASTE_END);
        // What may be the beginning of the end waits for the rest of it.
        let length = end.unwrap_or_else(|| rest.len() - overlap(rest, PASTE_END));
        let mut paste = self.paste.take().unwrap_or_default();
        paste.extend_from_slice(&rest[..length]);
        if end.is_none() {
            self.paste = Some(paste);
            return length;
        }
        let text = String::from_utf8_lossy(&paste).replace("\r\n", "\n").replace('\r', "\n");
        out.push(Input::Paste(text));
        length + PASTE_END.len()
    }
}

/// Takes one thing from the beginning of some bytes.
fn step(bytes: &[u8], searched: usize, out: &mut Vec<Input>) -> Step {
    match bytes {
        [] | [ESC] | [ESC, ESC] => Step::More,
        [ESC, b'[', ..] => control::step(bytes, Mods::NONE, out),
        [ESC, b'O', ..] => keys::after_o(bytes, Mods::NONE, out),
        [ESC, b']' | b'P' | b'_', ..] => strings::step(bytes, searched, out),
        // Some terminals write alt as an Escape before the sequence.
        [ESC, ESC, b'[', ..] => shifted(control::step(&bytes[1..], Mods::ALT, out)),
        [ESC, ESC, b'O', ..] => shifted(keys::after_o(&bytes[1..], Mods::ALT, out)),
        [ESC, ESC, ..] => {
            out.push(Input::Key(Key::plain(Code::Esc)));
            Step::Done(1)
        }
        [ESC, rest @ ..] => shifted(keys::character(rest, Mods::ALT, out)),
        _ => keys::character(bytes, Mods::NONE, out),
    }
}

/// The same step, one byte later.
fn shifted(step: Step) -> Step {
    match step {
        Step::Done(used) => Step::Done(used + 1),
        Step::Paste(used) => Step::Paste(used + 1),
        Step::More => Step::More,
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// How many bytes at the end are a beginning of `what`.
fn overlap(bytes: &[u8], what: &[u8]) -> usize {
    let most = bytes.len().min(what.len() - 1);
    (1..=most).rev().find(|&count| what.starts_with(&bytes[bytes.len() - count..])).unwrap_or(0)
}
