//! How a scripted model sounds on each wire: the same words, five ways to write them.

mod anthropic;
mod chat;
mod converse;
mod gemini;
mod responses;

use base::{StopReason, Usage};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use settings::provider::Wire;

use crate::event_stream;
use crate::script::ChatThoughts;

/// One thing said, ready to be streamed in pieces.
#[derive(Debug, Clone)]
pub(crate) enum Said<'a> {
    Text(Vec<&'a str>),
    Refusal(&'a str),
    Thought { pieces: Vec<&'a str>, seal: Option<String> },
    Call { id: String, name: &'a str, pieces: Vec<&'a str> },
}

impl Said<'_> {
    /// Everything of it in one text.
    fn whole(&self) -> String {
        match self {
            Self::Text(pieces) | Self::Thought { pieces, .. } | Self::Call { pieces, .. } => {
                pieces.concat()
            }
            Self::Refusal(text) => (*text).to_owned(),
        }
    }

    /// A call's arguments; text that is no JSON stays text.
    fn args(&self) -> Value {
        let text = self.whole();
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }
}

/// How an answer ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) usage: Usage,
    pub(crate) cost: Option<f64>,
    pub(crate) stop: StopReason,
}

/// One event of a stream.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    /// Its name where the wire has names.
    name: &'static str,
    data: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Event,
    Exception,
}

impl Event {
    fn new(name: &'static str, data: &Value) -> Self {
        Self::text(name, data.to_string())
    }

    fn text(name: &'static str, data: String) -> Self {
        Self { name, data, kind: Kind::Event }
    }
}

/// How events become bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Server-sent events.
    Sse,
    /// AWS frames, named by event.
    Aws,
    /// AWS frames named `chunk` with another provider's events inside.
    AwsChunks,
}

impl Frames {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Sse => "text/event-stream; charset=utf-8",
            Self::Aws | Self::AwsChunks => "application/vnd.amazon.eventstream",
        }
    }

    pub(crate) fn write(self, event: &Event, out: &mut Vec<u8>) {
        match (self, event.kind) {
            (Self::Sse, Kind::Event | Kind::Exception) => {
                if !event.name.is_empty() {
                    out.extend_from_slice(format!("event: {}\n", event.name).as_bytes());
                }
                out.extend_from_slice(b"data: ");
                out.extend_from_slice(event.data.as_bytes());
                out.extend_from_slice(b"\n\n");
            }
            (Self::Aws, Kind::Event) => {
                out.extend(event_stream::event(event.name, event.data.as_bytes()));
            }
            (Self::Aws, Kind::Exception) => {
                out.extend(event_stream::exception(event.name, event.data.as_bytes()));
            }
            (Self::AwsChunks, Kind::Event | Kind::Exception) => {
                let inside = json!({ "bytes": STANDARD.encode(&event.data) });
                out.extend(event_stream::event("chunk", inside.to_string().as_bytes()));
            }
        }
    }
}

/// Who answers: the facts every wire repeats in its answers.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    pub(crate) model: String,
    /// Unique in this server: the number of the request.
    pub(crate) serial: usize,
    pub(crate) thoughts: ChatThoughts,
}

/// Says things on one wire. Made anew for each answer.
pub(crate) trait Speak: Send {
    fn start(&mut self, out: &mut Vec<Event>);
    fn say(&mut self, said: &Said<'_>, out: &mut Vec<Event>);
    fn finish(&mut self, ending: &Ending, out: &mut Vec<Event>);
    /// An error inside the stream.
    fn fail(&mut self, code: &str, message: &str, out: &mut Vec<Event>);
    /// An error as the whole body of a 200.
    fn fail_whole(&mut self, code: &str, message: &str) -> String {
        let mut events = Vec::new();
        self.fail(code, message, &mut events);
        events.pop().map(|event| event.data).unwrap_or_default()
    }
    /// The same answer as one body.
    fn whole(&self, said: &[Said<'_>], ending: &Ending) -> Value;
}

/// The voice of a wire.
pub(crate) fn voice(wire: Wire, speaker: Speaker) -> Box<dyn Speak> {
    match wire {
        Wire::AnthropicMessages => Box::new(anthropic::Voice::new(speaker)),
        Wire::OpenaiChat => Box::new(chat::Voice::new(speaker)),
        Wire::OpenaiResponses => Box::new(responses::Voice::new(speaker)),
        Wire::Gemini => Box::new(gemini::Voice::new(speaker)),
        Wire::BedrockConverse => Box::new(converse::Voice::new()),
    }
}

/// The body of an error status, in the wire's own words.
pub(crate) fn error_body(wire: Wire, status: u16, code: Option<&str>, message: &str) -> Value {
    match wire {
        Wire::AnthropicMessages => {
            let kind = code.unwrap_or(anthropic::error_type(status));
            json!({ "type": "error", "error": { "type": kind, "message": message },
                "request_id": "req_scripted" })
        }
        Wire::OpenaiChat | Wire::OpenaiResponses => {
            let kind = openai_error_type(status);
            json!({ "error": { "message": message, "type": kind, "param": null, "code": code } })
        }
        Wire::Gemini => {
            let word = code.unwrap_or(gemini::error_status(status));
            json!({ "error": { "code": status, "message": message, "status": word } })
        }
        Wire::BedrockConverse => json!({ "message": message }),
    }
}

fn openai_error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

/// Makes one event a piece. Equal neighbours, as in bulk text, are encoded once.
fn each_piece(pieces: &[&str], out: &mut Vec<Event>, mut make: impl FnMut(&str) -> Event) {
    let mut last: Option<(&str, Event)> = None;
    for piece in pieces {
        let event = match &last {
            Some((before, event)) if std::ptr::eq(*before, *piece) => event.clone(),
            Some(_) | None => make(piece),
        };
        last = Some((piece, event.clone()));
        out.push(event);
    }
}

/// Splits `text` into `count` pieces of about equal length, never inside a character.
pub(crate) fn pieces(text: &str, count: usize) -> Vec<&str> {
    let count = count.max(1);
    let mut cuts: Vec<usize> = (1..count)
        .map(|n| text.len() * n / count)
        .map(|at| (at..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len()))
        .collect();
    cuts.push(text.len());
    let mut start = 0;
    let mut out = Vec::with_capacity(count);
    for end in cuts {
        out.push(&text[start..end]);
        start = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_never_cut_a_character_and_lose_nothing() {
        for count in 1..12 {
            let cut = pieces("aé漢🦎z", count);
            assert_eq!(cut.len(), count);
            assert_eq!(cut.concat(), "aé漢🦎z");
        }
    }
}
