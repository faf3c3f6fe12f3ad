//! A response's bytes to its decoder: as a stream of events, binary frames, or one whole body.

use crate::delta::Delta;
use crate::error::{Class, Error};
use crate::eventstream;
use crate::sse;
use crate::wire::{Decode, StreamEvent};

/// The content type of server-sent events.
pub(crate) const SSE: &str = "text/event-stream";
/// The content type of AWS's binary event stream.
pub(crate) const EVENT_STREAM: &str = "application/vnd.amazon.eventstream";
/// The content type of one JSON body.
pub(crate) const JSON: &str = "application/json";

/// Most that is taken of an answer that is not streamed.
const WHOLE_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// How a response's bytes are cut into what a decoder reads.
#[derive(Debug)]
pub enum Framing {
    /// Server-sent events.
    Sse(sse::Decoder),
    /// AWS's binary event stream.
    EventStream(eventstream::Frames),
    /// One JSON body, collected.
    Whole(Vec<u8>),
    /// The content type says nothing useful: the first byte decides.
    Unknown,
}

impl Framing {
    /// Chooses by content type; servers that send none, or `text/plain`, are judged by their bytes.
    pub fn of(content_type: &str) -> Result<Self, Error> {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            SSE => Ok(Self::Sse(sse::Decoder::new())),
            EVENT_STREAM => Ok(Self::EventStream(eventstream::Frames::new())),
            JSON => Ok(Self::Whole(Vec::new())),
            "text/html" => Err(Error::new(
                Class::BadRequest,
                "the address answers with a web page, not with a model: check the base_url",
            )),
            _ => Ok(Self::Unknown),
        }
    }

    /// Takes bytes and hands whole events on.
    pub fn push(
        &mut self,
        bytes: &[u8],
        decoder: &mut dyn Decode,
        out: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        match self {
            Self::Sse(events) => {
                events.push(bytes);
                drain(events, decoder, out)
            }
            Self::EventStream(frames) => frames.feed(bytes, |event| decoder.event(event, out)),
            Self::Whole(body) if body.len() + bytes.len() > WHOLE_LIMIT_BYTES => {
                Err(Error::protocol(format!("an answer of over {WHOLE_LIMIT_BYTES} bytes")))
            }
            Self::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            Self::Unknown => {
                let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
                *self = match first {
                    None => return Ok(()),
                    Some(b'{' | b'[') => Self::Whole(Vec::new()),
                    Some(_) => Self::Sse(sse::Decoder::new()),
                };
                self.push(bytes, decoder, out)
            }
        }
    }

    /// Says that no more bytes come: an error unless the answer is complete.
    pub fn finish(&mut self, decoder: &mut dyn Decode, out: &mut Vec<Delta>) -> Result<(), Error> {
        match self {
            Self::Sse(events) => {
                events.finish();
                drain(events, decoder, out)?;
            }
            Self::EventStream(frames) => frames.end()?,
            Self::Whole(body) => decoder.whole(body, out)?,
            Self::Unknown => {}
        }
        decoder.end(out)
    }
}

fn drain(
    events: &mut sse::Decoder,
    decoder: &mut dyn Decode,
    out: &mut Vec<Delta>,
) -> Result<(), Error> {
    while let Some(event) = events.next()? {
        decoder.event(StreamEvent { name: event.name, data: event.data }, out)?;
    }
    Ok(())
}
