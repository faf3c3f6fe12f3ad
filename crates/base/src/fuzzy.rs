//! Fuzzy matching: letters typed in order find a text, and the likelier a text is meant, the higher it
//! scores. Files, commands, models and sessions are all found this way.
//!
//! A text fits if it holds the letters in their order. Of all the ways to place them the best counts:
//! letters that follow each other, that begin a word or a part of a path, that stand in the file name.

mod align;

use align::{LETTER, Table};

/// Places to look at, letters times characters; where there are more, the first way found counts.
const MOST_PLACES: usize = 1 << 16;

/// What somebody has typed to find something. White space in it is left out; an upper-case letter in it
/// makes case count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pattern {
    letters: Vec<char>,
    /// The same as bytes; none where a letter is beyond ASCII.
    bytes: Option<Vec<u8>>,
    heeds_case: bool,
    mask: u64,
}

/// A text that fits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Match {
    /// The higher, the likelier it is meant; comparable between texts for one pattern.
    pub score: i32,
    /// Where the letters stand: bytes at which their characters begin, in order.
    pub positions: Vec<usize>,
}

/// Memory that is used again from text to text.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    table: Table,
    bytes: Vec<u8>,
    characters: [Vec<char>; 2],
}

impl Pattern {
    /// Takes what was typed.
    pub fn new(typed: &str) -> Self {
        let heeds_case = typed.chars().any(char::is_uppercase);
        let letters = typed.chars().filter(|letter| !letter.is_whitespace());
        let letters = letters.map(|letter| if heeds_case { letter } else { folded(letter) });
        let letters: Vec<char> = letters.collect();
        let mask = letters.iter().fold(0, |mask, letter| mask | bit(*letter));
        let bytes = letters.iter().map(|letter| u8::try_from(*letter).ok().filter(u8::is_ascii));
        Self { bytes: bytes.collect(), letters, heeds_case, mask }
    }

    /// Whether nothing was typed: everything fits.
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Whether a text with this [`mask`] may fit: a cheap look before the dear one.
    pub fn may_fit(&self, mask: u64) -> bool {
        self.mask & !mask == 0
    }

    /// How well a text fits; none if it does not.
    pub fn score(&self, text: &str, scratch: &mut Scratch) -> Option<i32> {
        self.place(text, scratch).map(|(score, _)| score)
    }

    /// How well a text fits, and where the letters stand in it.
    pub fn find(&self, text: &str) -> Option<Match> {
        let mut scratch = Scratch::default();
        let (score, end) = self.place(text, &mut scratch)?;
        let Some(end) = end else {
            return Some(Match { score, positions: self.first_way(text)? });
        };
        let places = scratch.table.trace(end);
        let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
        Some(Match { score, positions: places.into_iter().map(|place| starts[place]).collect() })
    }

    /// The texts that fit, best first, by their number; of equally good ones the shortest first.
    pub fn best<'t>(&self, texts: impl IntoIterator<Item = &'t str>, limit: usize) -> Vec<usize> {
        let mut scratch = Scratch::default();
        let scored = texts.into_iter().enumerate().filter_map(|(number, text)| {
            let score = self.score(text, &mut scratch)?;
            Some((std::cmp::Reverse(score), text.len(), number))
        });
        let mut scored: Vec<_> = scored.collect();
        if scored.len() > limit && limit > 0 {
            scored.select_nth_unstable(limit - 1);
        }
        scored.truncate(limit);
        scored.sort_unstable();
        scored.into_iter().map(|(.., number)| number).collect()
    }

    /// The best score and where to trace it from; nothing to trace where there was too much to look at.
    fn place(&self, text: &str, scratch: &mut Scratch) -> Option<(i32, Option<usize>)> {
        if self.letters.is_empty() {
            return Some((0, None));
        }
        if text.len().saturating_mul(self.letters.len()) > MOST_PLACES {
            let letters = i32::try_from(self.letters.len()).unwrap_or(i32::MAX);
            return self.first_way(text).map(|_| (letters.saturating_mul(LETTER), None));
        }
        let (score, end) = if text.is_ascii() {
            let mut bytes = std::mem::take(&mut scratch.bytes);
            bytes.clear();
            bytes.extend_from_slice(text.as_bytes());
            if !self.heeds_case {
                bytes.make_ascii_lowercase();
            }
            let letters = self.bytes.as_deref();
            let found = letters.and_then(|it| scratch.table.align(it, text.as_bytes(), &bytes));
            scratch.bytes = bytes;
            found?
        } else {
            let [mut written, mut plain] = std::mem::take(&mut scratch.characters);
            written.clear();
            written.extend(text.chars());
            plain.clear();
            plain.extend(written.iter().map(|it| if self.heeds_case { *it } else { folded(*it) }));
            let found = scratch.table.align(&self.letters, &written, &plain);
            scratch.characters = [written, plain];
            found?
        };
        Some((score, Some(end)))
    }

    /// Where the letters stand when each is taken at its first chance.
    fn first_way(&self, text: &str) -> Option<Vec<usize>> {
        let mut characters = text.char_indices();
        let next = |letter: &char| {
            characters.find(|(_, character)| self.fits(*letter, *character)).map(|(at, _)| at)
        };
        self.letters.iter().map(next).collect()
    }

    fn fits(&self, letter: char, character: char) -> bool {
        if self.heeds_case { letter == character } else { letter == folded(character) }
    }
}

/// Which letters a text holds, roughly: what a pattern's letters must be among.
pub fn mask(text: &str) -> u64 {
    text.chars().fold(0, |mask, letter| mask | bit(folded(letter)))
}

/// One bit for each letter and digit, one for the rest of ASCII by its code, one for all else.
fn bit(letter: char) -> u64 {
    let letter = folded(letter);
    match letter {
        'a'..='z' => 1 << (u32::from(letter) - u32::from('a')),
        '0'..='9' => 1 << (26 + u32::from(letter) - u32::from('0')),
        _ if letter.is_ascii() => 1 << (36 + u32::from(letter) % 27),
        _ => 1 << 63,
    }
}

fn folded(letter: char) -> char {
    if letter.is_ascii() {
        return letter.to_ascii_lowercase();
    }
    letter.to_lowercase().next().unwrap_or(letter)
}

#[cfg(test)]
mod tests;
