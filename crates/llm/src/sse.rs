//! Bytes to events, however they are split: the WHATWG event stream format.
//!
//! Bytes are copied once, into one buffer; events borrow from it. An event whose data stands in one
//! line, which is every event of every provider so far, is found by two searches for a line end and
//! is never copied again.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use crate::error::{Class, Error};

/// The most bytes one event may have. Images arrive inside events, so it is generous.
pub const LIMIT_BYTES: usize = 16 * 1024 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its name; empty where the stream gives none.
    pub name: &'a str,
    /// Its data; lines joined by `\n`. See [`text`] for reading it.
    pub data: &'a [u8],
}

/// Takes bytes as they come and gives the events they hold.
///
/// ```
/// let mut decoder = llm::sse::Decoder::new();
/// decoder.push(b"data: {\"a\"");
/// assert_eq!(decoder.next()?, None);
/// decoder.push(b":1}\n\n");
/// assert_eq!(decoder.next()?.map(|event| event.data), Some(b"{\"a\":1}".as_slice()));
/// # Ok::<(), llm::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Where the event being read begins. All other positions count from here, so that dropping
    /// what lies before it moves none of them.
    base: usize,
    /// Where the line being read begins.
    line: usize,
    /// How far that line has been searched for its end.
    searched: usize,
    name: Option<Range<usize>>,
    data: Data,
    joined: Vec<u8>,
    /// The name of the last event that had one. Names repeat, so most need no check for UTF-8.
    last_name: String,
    phase: Phase,
    /// The last byte read was a carriage return: a line feed that follows belongs to it.
    after_cr: bool,
    finished: bool,
}

/// The data of the event being read.
#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    /// One line, still in the buffer.
    Line(Range<usize>),
    /// Several lines, copied to `joined`.
    Joined,
}

/// Whether a byte order mark may still come.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    #[default]
    Start,
    Running,
}

impl Decoder {
    /// A decoder at the beginning of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes. Ask for [`Decoder::next`] until there is none before pushing more.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.base == self.buffer.len() {
            self.buffer.clear();
            self.base = 0;
        } else if self.base > self.buffer.len() / 2 {
            // Moves fewer bytes than were read since the last move, so the cost stays linear.
            self.buffer.drain(..self.base);
            self.base = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Says that no more bytes come. An event that lacks only its final blank line, which some
    /// servers leave out, is still given by [`Decoder::next`] if its data is whole.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// The next event; none until more bytes come.
    #[expect(clippy::should_implement_trait, reason = "events borrow from the decoder")]
    pub fn next(&mut self) -> Result<Option<Event<'_>>, Error> {
        if self.phase == Phase::Start && !self.skip_bom() {
            return Ok(None);
        }
        while let Some(line) = self.next_line() {
            if !line.is_empty() {
                self.field(line);
            } else if self.has_data() {
                return self.dispatch().map(Some);
            } else {
                self.name = None;
            }
            if self.name.is_none() && !self.has_data() {
                self.forget_read();
            }
        }
        if self.buffer.len() - self.base > LIMIT_BYTES {
            return Err(too_big());
        }
        if self.finished { self.last_event() } else { Ok(None) }
    }

    /// Whether the stream's first bytes are settled; a byte order mark may come in pieces.
    fn skip_bom(&mut self) -> bool {
        let start = &self.buffer[self.base..];
        if start.starts_with(BOM) {
            self.base += BOM.len();
        } else if start.len() < BOM.len() && BOM.starts_with(start) && !self.finished {
            return false;
        }
        self.phase = Phase::Running;
        true
    }

    /// The next whole line without its end. A lone `\r`, `\n` and `\r\n` all end lines.
    fn next_line(&mut self) -> Option<Range<usize>> {
        let bytes = &self.buffer[self.base..];
        if self.after_cr
            && let Some(byte) = bytes.get(self.line)
        {
            self.after_cr = false;
            if *byte == b'\n' {
                self.line += 1;
                self.searched = self.line;
            }
        }
        let unsearched = bytes.get(self.searched..)?;
        // Every other line or so is blank: no need to set up a search for those.
        let found = if unsearched.first() == Some(&b'\n') {
            Some(0)
        } else {
            memchr::memchr2(b'\n', b'\r', unsearched)
        };
        let Some(found) = found else {
            self.searched = bytes.len();
            return None;
        };
        let end = self.searched + found;
        let line = self.line..end;
        self.after_cr = bytes[end] == b'\r';
        self.line = end + 1;
        self.searched = self.line;
        Some(line)
    }

    /// Takes one line. Comments, `id`, `retry` and fields nobody knows are skipped.
    fn field(&mut self, line: Range<usize>) {
        let bytes = &self.buffer[self.base..][line.clone()];
        let (field, value) = match bytes {
            [b'd', b'a', b't', b'a', b':', ..] => (Field::Data, 5),
            [b'e', b'v', b'e', b'n', b't', b':', ..] => (Field::Event, 6),
            b"data" => (Field::Data, 4),
            b"event" => (Field::Event, 5),
            _ => return,
        };
        let space = usize::from(bytes.get(value) == Some(&b' '));
        let value = line.start + value + space..line.end;
        match field {
            Field::Event => self.name = Some(value),
            Field::Data => self.add_data(value),
        }
    }

    fn add_data(&mut self, value: Range<usize>) {
        match &self.data {
            Data::None => {
                self.data = Data::Line(value);
                return;
            }
            Data::Line(first) => {
                self.joined.clear();
                self.joined.extend_from_slice(&self.buffer[self.base..][first.clone()]);
            }
            Data::Joined => {}
        }
        self.joined.push(b'\n');
        self.joined.extend_from_slice(&self.buffer[self.base..][value]);
        self.data = Data::Joined;
    }

    fn has_data(&self) -> bool {
        !matches!(self.data, Data::None)
    }

    /// Gives the event that has been read and begins the next.
    fn dispatch(&mut self) -> Result<Event<'_>, Error> {
        let base = self.base;
        let (name, data) = (self.name.take(), std::mem::take(&mut self.data));
        self.forget_read();
        let bytes = &self.buffer[base..];
        let data = match data {
            Data::None => &[],
            Data::Line(line) => &bytes[line],
            Data::Joined => &self.joined[..],
        };
        if data.len() > LIMIT_BYTES {
            return Err(too_big());
        }
        let Some(name) = name.map(|name| &bytes[name]) else { return Ok(Event { name: "", data }) };
        if name != self.last_name.as_bytes() {
            self.last_name.clear();
            self.last_name.push_str(std::str::from_utf8(name).unwrap_or_default());
        }
        Ok(Event { name: &self.last_name, data })
    }

    /// Drops what was read up to the current line.
    fn forget_read(&mut self) {
        self.base += self.line;
        self.searched -= self.line;
        self.line = 0;
    }

    /// The event the stream ended in. A cut may leave half a line: that is not an event.
    fn last_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        let rest = self.line..self.buffer.len() - self.base;
        if !rest.is_empty() {
            self.line = rest.end;
            self.searched = rest.end;
            self.field(rest);
        }
        if !self.has_data() {
            return Ok(None);
        }
        let event = self.dispatch()?;
        let whole = event.data.trim_ascii() == b"[DONE]"
            || serde_json::from_str::<IgnoredAny>(&text(event.data)).is_ok();
        Ok(whole.then_some(event))
    }
}

/// The fields that matter here.
enum Field {
    Data,
    Event,
}

fn too_big() -> Error {
    let limit = LIMIT_BYTES / (1024 * 1024);
    Error::new(Class::Server, format!("the provider sent an event larger than {limit} MB"))
}

/// An event's data as text; bytes that are no UTF-8 become `U+FFFD` instead of an error.
pub fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// Decodes `bytes` whole and byte by byte; for fuzzing.
///
/// # Panics
///
/// When the two give different events.
pub fn check_any_split(bytes: &[u8]) {
    let mut whole = Decoder::new();
    whole.push(bytes);
    whole.finish();
    let mut split = Decoder::new();
    let mut left = bytes.iter();
    loop {
        let expected = whole.next().ok().flatten();
        let found = loop {
            // Asking after an event without pushing would be the same question.
            if let Some(event) = split.next().ok().flatten() {
                break Some((event.name.to_owned(), event.data.to_vec()));
            }
            match left.next() {
                Some(byte) => split.push(std::slice::from_ref(byte)),
                None if split.finished => break None,
                None => split.finish(),
            }
        };
        let same = match (&expected, &found) {
            (Some(event), Some((name, data))) => event.name == name && event.data == data,
            (None, None) => return,
            (Some(_), None) | (None, Some(_)) => false,
        };
        assert!(same, "whole: {expected:?}, byte by byte: {found:?}");
    }
}
