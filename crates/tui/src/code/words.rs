//! Languages made of words, strings, numbers and comments.

use super::{State, Tokens};
use crate::theme::Role;

/// How a string is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quote {
    /// What opens it.
    pub(crate) open: &'static str,
    /// What closes it.
    pub(crate) close: &'static str,
    /// Whether a backslash takes the meaning of what follows.
    pub(crate) escapes: bool,
    /// Whether it may go on in the next line.
    pub(crate) spans_lines: bool,
}

/// Peculiarities, as a set.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traits(pub(crate) u16);

impl Traits {
    /// A word that begins with a capital letter is a type.
    pub(crate) const CAPITAL_TYPES: u16 = 1;
    /// A word before an opening parenthesis is a function.
    pub(crate) const CALLS: u16 = 1 << 1;
    /// `$name` and `${…}` are variables.
    pub(crate) const DOLLAR: u16 = 1 << 2;
    /// `@name` is a decorator.
    pub(crate) const AT: u16 = 1 << 3;
    /// `#[…]` is an attribute.
    pub(crate) const ATTRIBUTES: u16 = 1 << 4;
    /// `#word` at the beginning of a line is for the preprocessor.
    pub(crate) const PREPROCESSOR: u16 = 1 << 5;
    /// What stands before a colon or an equals sign is a key.
    pub(crate) const KEYS: u16 = 1 << 6;
    /// Words mean the same in capital letters.
    pub(crate) const ANY_CASE: u16 = 1 << 7;
    /// Words may hold hyphens.
    pub(crate) const HYPHENS: u16 = 1 << 8;
    /// `'a` may be a lifetime, `r#"…"#` a raw string.
    pub(crate) const RUST: u16 = 1 << 9;
    /// `name!` is a macro.
    pub(crate) const BANG: u16 = 1 << 10;

    fn has(self, one: u16) -> bool {
        self.0 & one != 0
    }
}

/// A language's words, strings and comments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    /// What begins a comment to the end of the line.
    pub(crate) comments: &'static [&'static str],
    /// What begins and ends a comment.
    pub(crate) block: Option<(&'static str, &'static str)>,
    /// Whether these can be nested.
    pub(crate) nests: bool,
    /// Strings; longer openings first.
    pub(crate) quotes: &'static [Quote],
    /// Keywords, with a blank between them.
    pub(crate) keywords: &'static str,
    /// Types that begin with a small letter.
    pub(crate) types: &'static str,
    /// Peculiarities.
    pub(crate) traits: Traits,
}

/// Words that are values in one language or another.
const CONSTANTS: &str = "true false null nil None True False undefined NaN NULL nullptr self this super Self yes no on off";

/// Words after which a function's name stands.
const INTRODUCE: &str = "fn def func function fun sub proc defp defun";

/// Reads one line and returns what the next begins in.
pub(super) fn line(words: &Words, line: &str, state: State, out: &mut Tokens) -> State {
    let mut reader = Reader { words, line, at: 0, out };
    match state {
        State::Comment(depth) => reader.comment(depth),
        State::Quote(number) => reader.quoted(number, 0),
        State::Raw(hashes) => reader.raw(hashes, 0),
        State::Plain | State::Tag => reader.plain(),
    }
}

struct Reader<'a> {
    words: &'a Words,
    line: &'a str,
    at: usize,
    out: &'a mut Tokens,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.line[self.at..]
    }

    fn take(&mut self, length: usize, role: Role) {
        self.out.push(length, role);
        self.at += length;
    }

    fn take_rest(&mut self, role: Role) {
        self.take(self.line.len() - self.at, role);
    }

    fn plain(&mut self) -> State {
        while let Some(first) = self.rest().chars().next() {
            if let Some(state) = self.comment_or_string() {
                if state != State::Plain {
                    return state;
                }
                continue;
            }
            if first.is_ascii_digit() {
                self.number();
            } else if is_word(first) {
                self.word();
            } else if !self.sign(first) {
                self.take(first.len_utf8(), Role::Text);
            }
        }
        State::Plain
    }

    /// A comment or a string, if one begins here.
    fn comment_or_string(&mut self) -> Option<State> {
        let words = self.words;
        let is_after_blank =
            self.line[..self.at].chars().next_back().is_none_or(char::is_whitespace);
        if self.is_attribute() {
            return None;
        }
        let begins = |mark: &str| self.rest().starts_with(mark) && (mark != "#" || is_after_blank);
        if words.comments.iter().any(|mark| begins(mark)) {
            self.take_rest(Role::Comment);
            return Some(State::Plain);
        }
        if let Some((open, _)) = words.block
            && self.rest().starts_with(open)
        {
            self.take(open.len(), Role::Comment);
            return Some(self.comment(1));
        }
        if words.traits.has(Traits::RUST)
            && let Some(found) = self.rust_string()
        {
            return Some(found);
        }
        let number = words.quotes.iter().position(|quote| self.rest().starts_with(quote.open))?;
        let opening = words.quotes[number].open.len();
        Some(self.quoted(u8::try_from(number).unwrap_or(0), opening))
    }

    fn is_attribute(&self) -> bool {
        let rest = self.rest();
        let traits = self.words.traits;
        (traits.has(Traits::ATTRIBUTES) && (rest.starts_with("#[") || rest.starts_with("#![")))
            || (traits.has(Traits::PREPROCESSOR)
                && rest.starts_with('#')
                && self.line[..self.at].trim().is_empty())
    }

    /// Raw strings, characters and lifetimes of Rust.
    fn rust_string(&mut self) -> Option<State> {
        let rest = self.rest();
        if let Some(raw) = rest.strip_prefix('r').or_else(|| rest.strip_prefix("br")) {
            let hashes = raw.bytes().take_while(|byte| *byte == b'#').count();
            let is_after_word = self.line[..self.at].chars().next_back().is_some_and(is_word);
            if raw[hashes..].starts_with('"') && !is_after_word {
                let opening = rest.len() - raw.len() + hashes + 1;
                return Some(self.raw(u8::try_from(hashes).unwrap_or(u8::MAX), opening));
            }
        }
        let after = rest.strip_prefix('\'')?;
        let mut chars = after.chars();
        let (first, second) = (chars.next()?, chars.next());
        if first == '\\' {
            let end = after[1..].find('\'').map_or(rest.len(), |end| end + 3);
            self.take(end.min(rest.len()), Role::String);
        } else if second == Some('\'') {
            self.take(first.len_utf8() + 2, Role::String);
        } else {
            let length =
                after.chars().take_while(|c| is_word(*c)).map(char::len_utf8).sum::<usize>();
            self.take(length + 1, Role::Text);
        }
        Some(State::Plain)
    }

    /// Goes on in a comment; `depth` are open.
    fn comment(&mut self, mut depth: u8) -> State {
        let Some((open, close)) = self.words.block else { return self.plain() };
        loop {
            let rest = self.rest();
            let end = rest.find(close);
            let nested = if self.words.nests { rest.find(open) } else { None };
            match (nested, end) {
                (Some(inner), Some(end)) if inner < end => {
                    self.take(inner + open.len(), Role::Comment);
                    depth = depth.saturating_add(1);
                }
                (Some(inner), None) => {
                    self.take(inner + open.len(), Role::Comment);
                    depth = depth.saturating_add(1);
                }
                (Some(_) | None, Some(end)) => {
                    self.take(end + close.len(), Role::Comment);
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return self.plain();
                    }
                }
                (None, None) => {
                    self.take_rest(Role::Comment);
                    return State::Comment(depth);
                }
            }
        }
    }

    /// Goes on in a string, whose opening takes `opening` bytes.
    fn quoted(&mut self, number: u8, opening: usize) -> State {
        let Some(quote) = self.words.quotes.get(usize::from(number)) else { return self.plain() };
        let rest = self.rest();
        let mut at = opening;
        let mut has_end = false;
        while let Some(c) = rest[at..].chars().next() {
            if rest[at..].starts_with(quote.close) {
                at += quote.close.len();
                has_end = true;
                break;
            }
            at += c.len_utf8();
            if c == '\\' && quote.escapes {
                at += rest[at..].chars().next().map_or(0, char::len_utf8);
            }
        }
        let is_key = has_end
            && self.words.traits.has(Traits::KEYS)
            && rest[at..].trim_start().starts_with([':', '='])
            && !rest[at..].trim_start().starts_with("==");
        self.take(at, if is_key { Role::Type } else { Role::String });
        if has_end || !quote.spans_lines { self.plain() } else { State::Quote(number) }
    }

    fn raw(&mut self, hashes: u8, opening: usize) -> State {
        let close = format!("\"{}", "#".repeat(usize::from(hashes)));
        if let Some(end) = self.rest()[opening..].find(&close) {
            self.take(opening + end + close.len(), Role::String);
            return self.plain();
        }
        self.take_rest(Role::String);
        State::Raw(hashes)
    }

    fn number(&mut self) {
        let rest = self.rest();
        let mut end = 0;
        for (at, byte) in rest.bytes().enumerate() {
            let is_range = byte == b'.' && rest[at + 1..].starts_with('.');
            let is_part =
                byte.is_ascii_alphanumeric() || byte == b'_' || (byte == b'.' && !is_range);
            if !is_part {
                break;
            }
            end = at + 1;
        }
        self.take(end, Role::Number);
    }

    fn word(&mut self) {
        let traits = self.words.traits;
        let hyphens = traits.has(Traits::HYPHENS);
        let is_part = |c: &char| is_word(*c) || c.is_ascii_digit() || (hyphens && *c == '-');
        let length = self.rest().chars().take_while(is_part).map(char::len_utf8).sum::<usize>();
        let role = self.role(&self.rest()[..length], &self.rest()[length..]);
        self.take(length, role);
    }

    fn role(&self, word: &str, after: &str) -> Role {
        let traits = self.words.traits;
        let lower =
            if traits.has(Traits::ANY_CASE) { word.to_ascii_lowercase() } else { String::new() };
        let word = if traits.has(Traits::ANY_CASE) { lower.as_str() } else { word };
        let is_first =
            self.line[..self.at].trim_start_matches([' ', '\t', '-', '{', ',']).is_empty();
        let next = after.trim_start().chars().next();
        if traits.has(Traits::KEYS) && is_first && matches!(next, Some(':' | '=')) {
            return Role::Type;
        }
        if is_in(self.words.keywords, word) {
            return Role::Keyword;
        }
        if is_in(self.words.types, word) {
            return Role::Type;
        }
        if is_in(CONSTANTS, word) {
            return Role::Number;
        }
        let before = self.line[..self.at].trim_end();
        let introduced = before.rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
        if traits.has(Traits::CALLS) && is_in(INTRODUCE, introduced) {
            return Role::Function;
        }
        let is_macro =
            traits.has(Traits::BANG) && after.starts_with('!') && !after.starts_with("!=");
        if is_macro || (traits.has(Traits::CALLS) && after.starts_with('(')) {
            return Role::Function;
        }
        if traits.has(Traits::CAPITAL_TYPES) && word.starts_with(char::is_uppercase) {
            let is_constant = word.len() > 1 && !word.contains(char::is_lowercase);
            return if is_constant { Role::Number } else { Role::Type };
        }
        Role::Text
    }

    /// Variables, decorators and attributes; tells whether it was one.
    fn sign(&mut self, first: char) -> bool {
        let traits = self.words.traits;
        let rest = self.rest();
        let (length, role) = if self.is_attribute() {
            let is_rust = traits.has(Traits::ATTRIBUTES);
            let end = if is_rust { rest.find(']').map(|at| at + 1) } else { rest.find([' ', '(']) };
            let role = if is_rust { Role::Comment } else { Role::Keyword };
            (end.unwrap_or(rest.len()), role)
        } else if first == '$' && traits.has(Traits::DOLLAR) {
            (variable(rest), Role::Number)
        } else if first == '@' && traits.has(Traits::AT) {
            let name = rest[1..].chars().take_while(|c| is_word(*c) || matches!(c, '.' | '-'));
            (1 + name.map(char::len_utf8).sum::<usize>(), Role::Comment)
        } else {
            return false;
        };
        self.take(length, role);
        true
    }
}

/// Bytes of a variable that begins with a dollar sign.
fn variable(rest: &str) -> usize {
    for (open, close) in [("${", '}'), ("$(", ')')] {
        if rest.starts_with(open) {
            return rest.find(close).map_or(rest.len(), |end| end + 1);
        }
    }
    let is_part = |c: &char| is_word(*c) || c.is_ascii_digit();
    let name: usize = rest[1..].chars().take_while(is_part).map(char::len_utf8).sum();
    let is_special =
        name == 0 && rest[1..].starts_with(['?', '@', '#', '!', '*', '$', '-', '<', '^']);
    1 + if is_special { 1 } else { name }
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn is_in(list: &str, word: &str) -> bool {
    // Most words are in no list at all, and a search for bytes finds that out sooner.
    list.contains(word) && list.split(' ').any(|one| one == word)
}
