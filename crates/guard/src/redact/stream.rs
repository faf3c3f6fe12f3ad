//! Masking text that comes in pieces.

use super::{Redactor, shape};

/// Most that is kept back while it is not clear where a secret ends.
const CARRY_BYTES: usize = 64 * 1024;
/// What is kept back even then: longer than any secret that has no line breaks.
const CUT_BYTES: usize = 8 * 1024;

/// Masks text that comes in pieces. Keeps back the last word, or the line with something that may become a
/// secret, until more has come.
#[derive(Debug)]
pub struct RedactStream {
    redactor: Redactor,
    carry: String,
}

impl RedactStream {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self { redactor, carry: String::new() }
    }

    /// Takes a piece, and gives what is safe to show by now.
    pub fn push(&mut self, piece: &str) -> String {
        self.carry.push_str(piece);
        let mut end = self.settled();
        if self.carry.len() - end > CARRY_BYTES {
            end = self.carry.floor_char_boundary(self.carry.len() - CUT_BYTES);
        }
        let rest = self.carry.split_off(end);
        let ready = std::mem::replace(&mut self.carry, rest);
        match self.redactor.text(&ready) {
            std::borrow::Cow::Borrowed(_) => ready,
            std::borrow::Cow::Owned(masked) => masked,
        }
    }

    /// Gives the rest: nothing more comes.
    pub fn finish(self) -> String {
        self.redactor.text(&self.carry).into_owned()
    }

    /// Where what is kept back begins: at a word's beginning, before anything that may go on.
    fn settled(&self) -> usize {
        let text = self.carry.as_str();
        let known = self.redactor.known();
        let spaced = known.iter().map(|known| known.longest_spaced).max().unwrap_or(0);
        let mut end = word_start(text, text.len().saturating_sub(spaced));
        loop {
            let earlier = before_secret(text, end);
            if earlier == end {
                return end;
            }
            end = earlier;
        }
    }
}

/// `end`, or the beginning of a word before it whose secret may reach over it.
fn before_secret(text: &str, end: usize) -> usize {
    let block = shape::last_block_before(text, end).filter(|block| block.end > end);
    let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
    let anchor = shape::first_anchor(&text[line..]).map(|at| line + at).filter(|at| *at < end);
    let reaching = block.map(|block| block.start).into_iter().chain(anchor).min();
    reaching.map_or(end, |start| word_start(text, start))
}

/// The beginning of the word that holds or ends at `at`.
fn word_start(text: &str, at: usize) -> usize {
    let before = &text[..text.floor_char_boundary(at)];
    let space = before.char_indices().rev().find(|(_, c)| c.is_whitespace());
    space.map_or(0, |(at, c)| at + c.len_utf8())
}
