//! AWS's binary event stream: bytes to frames, frames to events, however the bytes are split.
//!
//! A frame is `total length, headers length, CRC of both, headers, payload, CRC of everything`, all
//! numbers big-endian.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::error::Error;
use crate::wire::StreamEvent;

/// Two lengths and their checksum.
const PRELUDE: usize = 12;
/// The checksum at the end.
const TRAILER: usize = 4;
/// AWS's own limit is 16 MB for a message; a longer one is a broken stream.
const FRAME_LIMIT: usize = 16 * 1024 * 1024;

/// Cuts a stream of bytes into frames.
#[derive(Debug, Default)]
pub struct Frames {
    buffer: Vec<u8>,
    /// How much of the buffer has been handed out.
    taken: usize,
}

impl Frames {
    /// Starts with nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and hands each event that became whole to `sink`.
    ///
    /// Exceptions end the stream with their error.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        mut sink: impl FnMut(StreamEvent<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.push(bytes);
        while let Some(frame) = self.next_frame()? {
            if let Some(event) = frame.event()? {
                sink(StreamEvent { name: event.name, data: &event.data })?;
            }
        }
        Ok(())
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame, if it has come.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        let rest = &self.buffer[self.taken..];
        let (Some(total), Some(headers), Some(prelude_crc)) =
            (number(rest, 0), number(rest, 4), number(rest, 8))
        else {
            return Ok(None);
        };
        if crc32(&rest[..PRELUDE - 4]) != prelude_crc {
            return Err(Error::protocol("a frame whose first checksum is wrong"));
        }
        let (total, headers) = (total as usize, headers as usize);
        if total > FRAME_LIMIT || total < PRELUDE + headers + TRAILER {
            return Err(Error::protocol(format_args!("a frame of {total} bytes")));
        }
        if rest.len() < total {
            return Ok(None);
        }
        let end = total - TRAILER;
        if number(rest, end) != Some(crc32(&rest[..end])) {
            return Err(Error::protocol("a frame whose last checksum is wrong"));
        }
        let start = self.taken;
        self.taken += total;
        let frame = &self.buffer[start..start + end];
        let headers_end = PRELUDE + headers;
        let headers = read_headers(&frame[PRELUDE..headers_end])
            .ok_or_else(|| Error::protocol("a frame with unreadable headers"))?;
        Ok(Some(Frame { headers, payload: &frame[headers_end..] }))
    }

    /// Says that no more bytes come: an error in the middle of a frame.
    pub fn end(&self) -> Result<(), Error> {
        if self.buffer.len() == self.taken { Ok(()) } else { Err(Error::truncated()) }
    }
}

/// One frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame<'a> {
    /// Its headers, in order.
    pub headers: Vec<(&'a str, Header<'a>)>,
    /// Its payload.
    pub payload: &'a [u8],
}

/// What a frame carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its name; empty where the data says it itself.
    pub name: &'a str,
    /// Its data.
    pub data: Cow<'a, [u8]>,
}

/// A header's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header<'a> {
    /// A truth value.
    Bool(bool),
    /// Any of the four integer types.
    Integer(i64),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Text.
    Text(&'a str),
    /// Milliseconds since 1970.
    Timestamp(i64),
    /// A UUID's bytes.
    Uuid([u8; 16]),
}

impl<'a> Frame<'a> {
    /// A text header.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find_map(|(known, value)| match value {
            Header::Text(text) if *known == name => Some(*text),
            Header::Text(_)
            | Header::Bool(_)
            | Header::Integer(_)
            | Header::Bytes(_)
            | Header::Timestamp(_)
            | Header::Uuid(_) => None,
        })
    }

    /// The event the frame carries. The `chunk` of an invocation is unwrapped: what the model's own
    /// protocol says is inside.
    pub fn event(&self) -> Result<Option<Event<'a>>, Error> {
        match self.text(":message-type") {
            Some("event") | None => {}
            Some("exception") => {
                let name = self.text(":exception-type").unwrap_or("exception");
                return Err(Error::from_code(name, self.payload));
            }
            Some("error") => {
                let code = self.text(":error-code").unwrap_or("error");
                let message = self.text(":error-message").unwrap_or(code);
                return Err(Error::from_code(code, message.as_bytes()));
            }
            Some(_) => return Ok(None),
        }
        let name = self.text(":event-type").unwrap_or_default();
        if name != "chunk" {
            return Ok(Some(Event { name, data: Cow::Borrowed(self.payload) }));
        }
        let chunk: Chunk<'_> = serde_json::from_slice(self.payload).map_err(Error::protocol)?;
        let inner = STANDARD.decode(chunk.bytes.as_bytes()).map_err(Error::protocol)?;
        Ok(Some(Event { name: "", data: Cow::Owned(inner) }))
    }
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    bytes: Cow<'a, str>,
}

fn read_headers(mut bytes: &[u8]) -> Option<Vec<(&str, Header<'_>)>> {
    let mut headers = Vec::new();
    while let Some((&length, rest)) = bytes.split_first() {
        let (name, rest) = rest.split_at_checked(usize::from(length))?;
        let (&kind, rest) = rest.split_first()?;
        let (value, rest) = read_value(kind, rest)?;
        headers.push((std::str::from_utf8(name).ok()?, value));
        bytes = rest;
    }
    Some(headers)
}

fn read_value(kind: u8, bytes: &[u8]) -> Option<(Header<'_>, &[u8])> {
    Some(match kind {
        0 => (Header::Bool(true), bytes),
        1 => (Header::Bool(false), bytes),
        2 => {
            let (value, rest) = fixed(bytes)?;
            (Header::Integer(i8::from_be_bytes(value).into()), rest)
        }
        3 => {
            let (value, rest) = fixed(bytes)?;
            (Header::Integer(i16::from_be_bytes(value).into()), rest)
        }
        4 => {
            let (value, rest) = fixed(bytes)?;
            (Header::Integer(i32::from_be_bytes(value).into()), rest)
        }
        5 => {
            let (value, rest) = fixed(bytes)?;
            (Header::Integer(i64::from_be_bytes(value)), rest)
        }
        6 => {
            let (value, rest) = sized(bytes)?;
            (Header::Bytes(value), rest)
        }
        7 => {
            let (value, rest) = sized(bytes)?;
            (Header::Text(std::str::from_utf8(value).ok()?), rest)
        }
        8 => {
            let (value, rest) = fixed(bytes)?;
            (Header::Timestamp(i64::from_be_bytes(value)), rest)
        }
        9 => {
            let (value, rest) = fixed(bytes)?;
            (Header::Uuid(value), rest)
        }
        _ => return None,
    })
}

fn fixed<const N: usize>(bytes: &[u8]) -> Option<([u8; N], &[u8])> {
    bytes.split_first_chunk::<N>().map(|(value, rest)| (*value, rest))
}

fn sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = fixed(bytes)?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(length)))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    four.try_into().ok().map(u32::from_be_bytes)
}

/// CRC-32 as gzip and PNG use it.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = crc_table();
    let step = |crc: u32, &byte: &u8| TABLE[((crc ^ u32::from(byte)) & 0xFF) as usize] ^ (crc >> 8);
    !bytes.iter().fold(u32::MAX, step)
}

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut at = 0_u32;
    while at < 256 {
        let mut value = at;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { 0xEDB8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        table[at as usize] = value;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests;
