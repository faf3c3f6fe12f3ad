//! What a model says or thinks, while it streams: words that repeat without an end.
//!
//! Two ways of repeating are looked for: the tail of the text is one short piece over and over, and the same
//! long line or sentence comes again and again. Code repeats itself for good reasons, so inside of fences
//! it takes much more.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How much of the tail is looked at, outside and inside of fences.
const TAIL_BYTES: usize = 1_536;
const CODE_TAIL_BYTES: usize = 8_192;
/// How many times the piece must fit into the tail.
const ROUNDS: usize = 8;
/// How often the tail is looked at.
const LOOK_EVERY_BYTES: usize = 512;
/// A line or sentence that is shorter may well come again: `}`, `Yes.`, a heading of a table.
const LONG_CHARS: usize = 24;
/// So often may a long one come, outside and inside of fences: a report may say the same of a dozen files.
const TIMES: u32 = 20;
const CODE_TIMES: u32 = 80;
/// Most lines remembered; an answer with more of them is not stuck on one.
const REMEMBERED: usize = 4_096;

/// One answer while it streams.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    tail: Vec<u8>,
    since_look: usize,
    /// The line or sentence that has not ended yet.
    open: String,
    is_code: bool,
    seen: HashMap<u64, u32>,
}

impl Words {
    /// Takes more text; says why the answer should end, if it should.
    pub(super) fn see(&mut self, delta: &str) -> Option<String> {
        for c in delta.chars() {
            if let Some(reason) = self.see_char(c) {
                return Some(reason);
            }
        }
        self.tail.extend_from_slice(delta.as_bytes());
        let excess = self.tail.len().saturating_sub(CODE_TAIL_BYTES);
        self.tail.drain(..excess);
        self.since_look += delta.len();
        if self.since_look < LOOK_EVERY_BYTES {
            return None;
        }
        self.since_look = 0;
        let length = if self.is_code { CODE_TAIL_BYTES } else { TAIL_BYTES };
        let tail = self.tail.get(self.tail.len().checked_sub(length)?..)?;
        (period(tail) * ROUNDS <= length)
            .then(|| "Stopped: the model repeats the same words over and over.".to_owned())
    }

    fn see_char(&mut self, c: char) -> Option<String> {
        let ends = match c {
            '\n' | '。' | '！' | '？' => true,
            // The dot of `a.rs` does not end a sentence; the one before a blank does.
            c => c.is_whitespace() && self.open.ends_with(['.', '!', '?']),
        };
        if !ends {
            // A line without an end is caught by its tail.
            if self.open.len() < TAIL_BYTES {
                self.open.push(c);
            }
            return None;
        }
        let unit = std::mem::take(&mut self.open);
        if unit.trim_start().starts_with("```") || unit.trim_start().starts_with("~~~") {
            self.is_code = !self.is_code;
            return None;
        }
        self.see_unit(&unit)
    }

    fn see_unit(&mut self, unit: &str) -> Option<String> {
        let words: Vec<String> = unit.split_whitespace().map(str::to_lowercase).collect();
        let chars: usize = words.iter().map(|word| word.chars().count()).sum();
        let letters = unit.chars().filter(|c| c.is_alphabetic()).count();
        // A rule such as `| --- | --- |` or a row of numbers is long and says nothing.
        if chars < LONG_CHARS || letters * 2 < chars || self.seen.len() >= REMEMBERED {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        let times = self.seen.entry(hasher.finish()).or_default();
        *times += 1;
        let limit = if self.is_code { CODE_TIMES } else { TIMES };
        (*times >= limit).then(|| {
            let start: String = unit.trim().chars().take(60).collect();
            format!("Stopped: the model said the same thing {times} times: \"{start}\".")
        })
    }
}

/// The length of the shortest piece that, repeated, makes up all of `text` (its last round may be cut).
fn period(text: &[u8]) -> usize {
    let mut border = vec![0; text.len()];
    let mut matched = 0;
    for at in 1..text.len() {
        while matched > 0 && text[at] != text[matched] {
            matched = border[matched - 1];
        }
        if text[at] == text[matched] {
            matched += 1;
        }
        border[at] = matched;
    }
    text.len() - border.last().copied().unwrap_or(0)
}
