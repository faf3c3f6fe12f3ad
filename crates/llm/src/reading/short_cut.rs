//! A short cut for the bulk of a stream: events that equal an earlier one but for their text.
//!
//! A long answer is thousands of events that differ in a word, a counter and padding. Parsing each
//! as JSON to learn three letters costs more than everything else a decoder does. Once one of them
//! has been parsed, the next are compared with it instead: a few `memcmp`s in place of a parser.
//! Anything unexpected does not match and takes the long way.

use std::borrow::Cow;
use std::ops::Range;

/// Fields nobody reads that change with every event, and what their values are made of.
const CHANGING: &[(&[u8], Hole)] = &[
    (b"\"sequence_number\":", Hole::Number),
    (b"\"obfuscation\":\"", Hole::Padding),
    (b"\"p\":\"", Hole::Padding),
];

/// What to do with events of one shape.
#[derive(Debug)]
pub(crate) struct ShortCut<G> {
    shape: Shape,
    goal: G,
}

impl<G: Copy> ShortCut<G> {
    /// Learns from `event`, a JSON object in which nothing but the string `text`, a slice of the
    /// event itself, matters; such texts go to `goal`. None if `text` is no such slice, which is so
    /// when it held escapes and had to be copied.
    pub(crate) fn learn(event: &[u8], text: &str, goal: G) -> Option<Self> {
        Some(Self { shape: Shape::learn(event, span(event, address(text))?)?, goal })
    }

    /// The text of `event` and where it goes, if it has the shape.
    pub(crate) fn take<'a>(&self, event: &'a [u8]) -> Option<(Cow<'a, str>, G)> {
        self.shape.text(event).map(|text| (text, self.goal))
    }
}

/// The strings of one event that mattered, by address: whether there is a short cut for its like.
#[derive(Debug)]
pub(crate) struct Strings<G> {
    count: usize,
    last: Option<(Range<usize>, G)>,
}

impl<G> Default for Strings<G> {
    fn default() -> Self {
        Self { count: 0, last: None }
    }
}

impl<G: Copy> Strings<G> {
    /// Notes a string that is read from the event.
    pub(crate) fn note(&mut self, text: &str, goal: G) {
        self.count += 1;
        self.last = Some((address(text), goal));
    }

    /// Notes that the event holds something no short cut can read.
    pub(crate) fn spoil(&mut self) {
        self.count += 2;
    }

    /// A short cut, if one string was all that mattered in `event`.
    pub(crate) fn short_cut(&self, event: &[u8]) -> Option<ShortCut<G>> {
        let (text, goal) = self.last.clone().filter(|_| self.count == 1)?;
        Some(ShortCut { shape: Shape::learn(event, span(event, text)?)?, goal })
    }
}

fn address(text: &str) -> Range<usize> {
    let start = text.as_ptr().addr();
    start..start + text.len()
}

/// Where in `event` the string at this address is, if it is a whole one inside its quotes.
fn span(event: &[u8], address: Range<usize>) -> Option<Range<usize>> {
    let base = event.as_ptr().addr();
    let span = address.start.checked_sub(base)?..address.end.checked_sub(base)?;
    let quote = |at: usize| event.get(at) == Some(&b'"');
    (quote(span.start.checked_sub(1)?) && quote(span.end)).then_some(span)
}

/// An event with holes.
#[derive(Debug)]
struct Shape {
    /// The event's bytes without what is in the holes.
    literal: Vec<u8>,
    /// Where in `literal` the holes are, in order.
    holes: Vec<(usize, Hole)>,
}

/// What may stand in a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hole {
    /// The inside of a JSON string: the text that is wanted.
    Text,
    /// The inside of a JSON string that nobody wants; plain letters.
    Padding,
    /// A whole number.
    Number,
}

impl Shape {
    fn learn(event: &[u8], inside: Range<usize>) -> Option<Self> {
        let mut holes = vec![(inside.clone(), Hole::Text)];
        for (key, hole) in CHANGING {
            // A key cannot be found inside a string: there its quotes would be escaped.
            let found = memchr::memmem::find(event, key).filter(|at| !inside.contains(at));
            holes.extend(found.and_then(|at| {
                let start = at + key.len();
                let end = start + hole.end(&event[start..])?;
                Some((start..end, *hole))
            }));
        }
        holes.sort_by_key(|(range, _)| range.start);
        let mut shape = Self { literal: Vec::with_capacity(event.len()), holes: Vec::new() };
        let mut from = 0;
        for (range, hole) in holes {
            shape.literal.extend_from_slice(event.get(from..range.start)?);
            shape.holes.push((shape.literal.len(), hole));
            from = range.end;
        }
        shape.literal.extend_from_slice(event.get(from..)?);
        Some(shape)
    }

    fn text<'a>(&self, event: &'a [u8]) -> Option<Cow<'a, str>> {
        let (mut rest, mut from, mut text) = (event, 0, None);
        for (at, hole) in &self.holes {
            rest = rest.strip_prefix(&self.literal[from..*at])?;
            from = *at;
            let end = hole.end(rest)?;
            if *hole == Hole::Text {
                text = Some(&rest[..end]);
            }
            rest = &rest[end..];
        }
        if rest == &self.literal[from..] { unescape(text?) } else { None }
    }
}

impl Hole {
    /// Where what stands in the hole ends, if `bytes` begin in it.
    fn end(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Number => {
                let end = bytes.iter().position(|byte| !byte.is_ascii_digit())?;
                (end == 1 || (end > 1 && bytes[0] != b'0')).then_some(end)
            }
            Self::Padding => {
                let end = string_end(bytes)?;
                let plain = bytes[..end].iter().all(|byte| byte.is_ascii() && *byte != b'\\');
                plain.then_some(end)
            }
            Self::Text => string_end(bytes),
        }
    }
}

/// Where the JSON string ends in whose inside `bytes` begin; none if it holds what JSON forbids.
fn string_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        // Words are short: a plain loop finds their end sooner than `memchr` starts.
        let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        let found = at + bytes[at..].iter().position(ends)?;
        match bytes[found] {
            b'"' => return Some(found),
            b'\\' if found + 2 <= bytes.len() => at = found + 2,
            _ => return None,
        }
    }
}

/// The text of a JSON string's inside. Rare escapes are left to the JSON parser.
fn unescape(inside: &[u8]) -> Option<Cow<'_, str>> {
    let inside = std::str::from_utf8(inside).ok()?;
    let Some(first) = inside.find('\\') else { return Some(Cow::Borrowed(inside)) };
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside;
    let mut next = Some(first);
    while let Some(at) = next {
        let plain = match rest.as_bytes().get(at + 1)? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            _ => return serde_json::from_str(&format!("\"{inside}\"")).ok().map(Cow::Owned),
        };
        text.push_str(&rest[..at]);
        text.push(plain);
        rest = &rest[at + 2..];
        next = rest.find('\\');
    }
    text.push_str(rest);
    Some(Cow::Owned(text))
}

#[cfg(test)]
mod tests;
