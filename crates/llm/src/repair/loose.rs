//! A JSON reader that forgives. One pass, an explicit stack, bounded look-ahead.

use serde_json::{Map, Number, Value};

/// Deeper nesting than this is not repaired; `serde_json` stops at the same depth.
const DEPTH: usize = 128;
/// How far a closing quote's surroundings are examined.
const LOOK_AHEAD: usize = 128;

/// Reads the value `text` begins with; what follows it is ignored, what is missing at its end is
/// closed. None if there is no telling what was meant.
pub(super) fn read(text: &str) -> Option<Value> {
    Reader::new(text).run()
}

/// Reads the inside of an object that lacks its braces.
pub(super) fn read_fields(text: &str) -> Option<Value> {
    let mut reader = Reader::new(text);
    reader.stack.push(Frame::Object { fields: Map::new(), key: None });
    reader.run()
}

/// Reads a value that is closed by itself and is all of `text`.
pub(super) fn read_closed(text: &str) -> Option<Value> {
    let mut reader = Reader::new(text);
    let value = reader.run()?;
    (!reader.cut && reader.rest().trim().is_empty()).then_some(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    stack: Vec<Frame>,
    /// The text ended before the value did.
    cut: bool,
}

enum Frame {
    Object { fields: Map<String, Value>, key: Option<String> },
    Array(Vec<Value>),
}

/// What one step found.
enum Found {
    /// A whole value.
    Value(Value),
    /// The start of an object or a list, now on the stack.
    Opened,
    /// The end of the object or list on top of the stack.
    Closed,
    /// Something that needs no action.
    Nothing,
    /// The end of the text, or a value that it cuts off.
    End,
    /// No telling what was meant.
    Unclear,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, stack: Vec::new(), cut: false }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn run(&mut self) -> Option<Value> {
        loop {
            self.skip_space();
            let found = match self.stack.last() {
                Some(Frame::Object { key: None, .. }) => self.key(),
                Some(Frame::Object { .. } | Frame::Array(_)) | None => self.value(),
            };
            let done = match found {
                Found::Value(value) => self.place(value),
                Found::Closed => self.close(),
                Found::Opened if self.stack.len() > DEPTH => return None,
                Found::Opened | Found::Nothing => None,
                Found::End => return self.close_all(),
                Found::Unclear => return None,
            };
            if done.is_some() {
                return done;
            }
        }
    }

    /// Puts a whole value where it belongs; returns it if it is the outermost.
    fn place(&mut self, value: Value) -> Option<Value> {
        match self.stack.last_mut() {
            None => return Some(value),
            Some(Frame::Array(items)) => items.push(value),
            Some(Frame::Object { fields, key }) => {
                if let Some(key) = key.take() {
                    fields.insert(key, value);
                }
            }
        }
        None
    }

    fn close(&mut self) -> Option<Value> {
        let value = match self.stack.pop()? {
            Frame::Object { fields, .. } => Value::Object(fields),
            Frame::Array(items) => Value::Array(items),
        };
        self.place(value)
    }

    fn close_all(&mut self) -> Option<Value> {
        self.cut = true;
        loop {
            if self.stack.is_empty() {
                return None;
            }
            if let Some(value) = self.close() {
                return Some(value);
            }
        }
    }

    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.at += rest.len() - trimmed.len();
            let length = if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                return;
            };
            self.at += length;
        }
    }

    /// Reads what may stand where a key is due.
    fn key(&mut self) -> Found {
        match self.peek() {
            None => return Found::End,
            Some('}') => return self.bump(Found::Closed),
            // A bracket that closes a list further out closes this object too.
            Some(']') if self.within_array() => return Found::Closed,
            Some(',' | ';' | ']' | ')') => return self.bump(Found::Nothing),
            Some(_) => {}
        }
        let name = match self.peek().and_then(closing_quote) {
            Some(quote) => self.string(quote, Place::Key),
            None => self.bare_key(),
        };
        let Some(name) = name else { return Found::Unclear };
        self.skip_space();
        match self.peek() {
            // A key that the text cuts off says nothing.
            None => return Found::End,
            Some(':' | '=') => {
                self.at += 1;
                self.at += usize::from(self.rest().starts_with('>'));
            }
            // A forgotten colon: only where what follows can be nothing but a value.
            Some(c)
                if c.is_ascii_digit() || closing_quote(c).is_some() || matches!(c, '{' | '[') => {}
            Some(_) => return Found::Unclear,
        }
        if let Some(Frame::Object { key, .. }) = self.stack.last_mut() {
            *key = Some(name);
        }
        Found::Nothing
    }

    /// Reads what may stand where a value is due.
    fn value(&mut self) -> Found {
        let Some(next) = self.peek() else { return Found::End };
        let in_array = matches!(self.stack.last(), Some(Frame::Array(_)));
        match next {
            '{' => self.open(Frame::Object { fields: Map::new(), key: None }),
            '[' => self.open(Frame::Array(Vec::new())),
            ']' if in_array => self.bump(Found::Closed),
            // A brace that closes an object further out closes this list too.
            '}' if in_array && self.stack.len() > 1 => Found::Closed,
            ',' if in_array => self.bump(Found::Nothing),
            '}' | ']' | ',' | ':' => Found::Unclear,
            _ => match closing_quote(next) {
                Some(quote) => {
                    let place = if in_array { Place::Item } else { Place::Field };
                    self.string(quote, place)
                        .map_or(Found::Unclear, |text| Found::Value(Value::String(text)))
                }
                None => self.word(),
            },
        }
    }

    fn open(&mut self, frame: Frame) -> Found {
        self.at += 1;
        self.stack.push(frame);
        Found::Opened
    }

    fn bump(&mut self, found: Found) -> Found {
        self.at += self.peek().map_or(0, char::len_utf8);
        found
    }

    fn within_array(&self) -> bool {
        self.stack.iter().any(|frame| matches!(frame, Frame::Array(_)))
    }

    fn bare_key(&mut self) -> Option<String> {
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.');
        let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| rest[..length].to_owned())
    }

    /// Reads a literal, a number, or a bare word that can only be meant as text.
    fn word(&mut self) -> Found {
        let rest = self.rest();
        let ends = |c: char| matches!(c, ',' | '}' | ']' | '\n' | '"' | '{' | '[' | ':');
        let length = rest.find(ends).unwrap_or(rest.len());
        let word = rest[..length].trim_end();
        // A forgotten comma may stand behind the first of several words.
        let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '/' | '#');
        let first = word.split(ends).next().unwrap_or_default();
        if let Some(value) = literal(first) {
            self.at += first.len();
            return Found::Value(value);
        }
        self.at += length;
        match rest[length..].chars().next() {
            // The text may have cut off a literal or number.
            None => Found::End,
            Some(',' | '}' | ']' | '\n') if is_text(word) => {
                Found::Value(Value::String(word.to_owned()))
            }
            Some(_) => Found::Unclear,
        }
    }

    /// Reads a string up to the quote that must be meant to close it.
    fn string(&mut self, quote: char, place: Place) -> Option<String> {
        if quote == '"' && self.rest().starts_with("\"\"\"") {
            return Some(self.triple_quoted());
        }
        self.at += self.peek()?.len_utf8();
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let Some(length) = rest.find([quote, '\\']) else {
                text.push_str(rest);
                self.at = self.text.len();
                self.cut = true;
                return Some(text);
            };
            text.push_str(&rest[..length]);
            self.at += length;
            if rest[length..].starts_with('\\') {
                self.escape(quote, &mut text);
                continue;
            }
            let after = &rest[length + quote.len_utf8()..];
            self.at += quote.len_utf8();
            if closes(after, place) {
                return Some(text);
            }
            text.push(quote);
        }
    }

    fn triple_quoted(&mut self) -> String {
        let inner = &self.rest()[3..];
        let length = inner.find("\"\"\"").unwrap_or(inner.len());
        self.at = (self.at + 3 + length + 3).min(self.text.len());
        inner[..length].to_owned()
    }

    /// Reads an escape. One that JSON does not know stays as it is: it is a pattern or a path.
    fn escape(&mut self, quote: char, text: &mut String) {
        let rest = &self.rest()[1..];
        let Some(next) = rest.chars().next() else {
            self.at = self.text.len();
            return;
        };
        self.at += 1 + next.len_utf8();
        match next {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            '"' | '\\' | '/' | '\'' | '\n' => text.push(next),
            'u' => self.unicode(text),
            other if other == quote => text.push(other),
            other => {
                text.push('\\');
                text.push(other);
            }
        }
    }

    /// Reads the digits of `\u`, and of the second half of a pair. Half a pair is replaced.
    fn unicode(&mut self, text: &mut String) {
        let Some(first) = hex4(self.rest()) else {
            // Digits that the text cuts off say nothing; others were never an escape.
            let digits = self.rest();
            if digits.len() < 4 && digits.chars().all(|c| c.is_ascii_hexdigit()) {
                self.at = self.text.len();
            } else {
                text.push_str("\\u");
            }
            return;
        };
        self.at += 4;
        let second = self.rest().strip_prefix("\\u").and_then(hex4);
        if let (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) = (first, second) {
            self.at += 6;
            let code = 0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00);
            text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            return;
        }
        // Half a pair at the very end: its other half was cut off.
        let tail = self.rest();
        if (0xD800..=0xDBFF).contains(&first)
            && tail.len() < 6
            && (tail.starts_with("\\u") || "\\u".starts_with(tail))
        {
            self.at = self.text.len();
            return;
        }
        text.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
}

/// Where a string stands; decides what may follow it.
#[derive(Clone, Copy)]
enum Place {
    Key,
    Field,
    Item,
}

/// The quote that closes what `open` opens.
fn closing_quote(open: char) -> Option<char> {
    match open {
        '"' | '\'' | '`' => Some(open),
        '\u{201c}' | '\u{201d}' => Some('\u{201d}'),
        '\u{2018}' | '\u{2019}' => Some('\u{2019}'),
        _ => None,
    }
}

/// Whether a quote followed by `after` is meant to close its string. When in doubt, it is.
fn closes(after: &str, place: Place) -> bool {
    let window = &after[..after.floor_char_boundary(LOOK_AHEAD)];
    let next = window.trim_start();
    let Some(first) = next.chars().next() else { return true };
    match (place, first) {
        (_, '/' | '#' | '}')
        | (Place::Key, ':' | '=' | ',')
        | (Place::Field | Place::Item, ']')
        | (Place::Item, ',') => true,
        (Place::Key, _) => closing_quote(first).is_some() || first.is_ascii_digit(),
        (Place::Field, ',') => begins_field(next[1..].trim_start(), after.len() > LOOK_AHEAD),
        // A forgotten comma.
        (Place::Field, _) => next.len() < window.len() && first != ',' && begins_quoted_field(next),
        (Place::Item, _) => next.len() < window.len() && closing_quote(first).is_some(),
    }
}

/// Whether `text`, after a comma, goes on as an object does. `more` says that text was left out.
fn begins_field(text: &str, more: bool) -> bool {
    let Some(first) = text.chars().next() else { return true };
    if matches!(first, '}' | ']' | ',' | '/' | '#') {
        return true;
    }
    let (name, quote) = match closing_quote(first) {
        Some(quote) => (&text[first.len_utf8()..], Some(quote)),
        None => (text, None),
    };
    let end = match quote {
        Some(quote) => unescaped(name, quote).map(|at| at + quote.len_utf8()),
        None => name.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.'))),
    };
    let Some(end) = end else { return more || quote.is_some() || !name.contains(' ') };
    let after = name[end..].trim_start();
    after.is_empty() || after.starts_with([':', '='])
}

/// Where `quote` first stands without a backslash before it.
fn unescaped(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let closes = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        closes.then_some(at)
    })
}

fn begins_quoted_field(text: &str) -> bool {
    text.chars().next().and_then(closing_quote).is_some() && begins_field(text, false)
}

/// Whether a bare word can only be text: it has a letter and nothing that JSON would use.
fn is_text(word: &str) -> bool {
    word.chars().any(char::is_alphabetic) && !word.contains(['\'', '\\', '(', ')', ';'])
}

/// A number, or a constant as JSON and its neighbours write it.
fn literal(word: &str) -> Option<Value> {
    Some(match word {
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        "null" | "None" | "NULL" | "nil" | "undefined" | "NaN" | "nan" | "Infinity"
        | "-Infinity" | "inf" | "-inf" => Value::Null,
        _ => {
            let word = word.strip_prefix('+').unwrap_or(word);
            Value::Number(serde_json::from_str::<Number>(word).ok()?)
        }
    })
}

fn hex4(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}
