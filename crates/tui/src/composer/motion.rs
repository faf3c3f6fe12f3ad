//! Where words and lines begin and end, for the caret and for what is deleted.

use super::buffer::{next, previous};
use super::marks::is_mark;

/// What a grapheme is to those who move by words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// White space.
    Blank,
    /// A letter, a digit, an underscore.
    Word,
    /// Anything else that is written.
    Sign,
    /// A mark: a word of its own.
    Mark,
}

/// What ends a word, for vi's two kinds of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// Letters end at signs.
    Small,
    /// Only blanks end a word.
    Big,
}

impl Words {
    /// What a grapheme is to this kind of words.
    pub(super) fn class(self, text: &str, at: usize) -> Option<Class> {
        let class = class(text, at)?;
        let is_merged = self == Self::Big && class != Class::Blank;
        Some(if is_merged { Class::Word } else { class })
    }
}

/// What the grapheme at `at` is; none at the end.
pub(super) fn class(text: &str, at: usize) -> Option<Class> {
    let c = text[at..].chars().next()?;
    Some(match c {
        c if c.is_whitespace() => Class::Blank,
        c if is_mark(c) => Class::Mark,
        c if c.is_alphanumeric() || c == '_' => Class::Word,
        _ => Class::Sign,
    })
}

fn class_before(text: &str, at: usize) -> Option<Class> {
    if at == 0 { None } else { class(text, previous(text, at)) }
}

/// The first place at or behind `at` whose grapheme is none of these.
pub(super) fn skip(text: &str, mut at: usize, over: impl Fn(Class) -> bool) -> usize {
    while class(text, at).is_some_and(&over) {
        at = next(text, at);
    }
    at
}

/// The last place at or before `at` with a grapheme before it that is none of these.
pub(super) fn skip_back(text: &str, mut at: usize, over: impl Fn(Class) -> bool) -> usize {
    while class_before(text, at).is_some_and(&over) {
        at = previous(text, at);
    }
    at
}

/// The end of the word at or behind `at`.
pub(super) fn word_end(text: &str, at: usize) -> usize {
    let at = skip(text, at, |class| matches!(class, Class::Blank | Class::Sign));
    match class(text, at) {
        Some(Class::Mark) => next(text, at),
        Some(Class::Blank | Class::Word | Class::Sign) | None => {
            skip(text, at, |class| class == Class::Word)
        }
    }
}

/// The beginning of the word before `at`.
pub(super) fn word_start(text: &str, at: usize) -> usize {
    let at = skip_back(text, at, |class| matches!(class, Class::Blank | Class::Sign));
    match class_before(text, at) {
        Some(Class::Mark) => previous(text, at),
        Some(Class::Blank | Class::Word | Class::Sign) | None => {
            skip_back(text, at, |class| class == Class::Word)
        }
    }
}

/// The beginning of what stands between blanks before `at`.
pub(super) fn chunk_start(text: &str, at: usize) -> usize {
    let at = skip_back(text, at, |class| class == Class::Blank);
    match class_before(text, at) {
        Some(Class::Mark) => previous(text, at),
        Some(Class::Blank | Class::Word | Class::Sign) | None => {
            skip_back(text, at, |class| matches!(class, Class::Word | Class::Sign))
        }
    }
}

/// The beginning of the line.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |before| before + 1)
}

/// The end of the line, before its new line.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |behind| at + behind)
}

/// The first grapheme of the line that is no blank.
pub(super) fn line_text(text: &str, at: usize) -> usize {
    let (start, end) = (line_start(text, at), line_end(text, at));
    end.min(skip(text, start, |class| class == Class::Blank))
}
