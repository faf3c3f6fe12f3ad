//! How messages go to a server and come back: lines of a program, events of an older HTTP server.
//!
//! Streamable HTTP is rmcp's own, over a client of ours. Whatever a server sends, a message costs at most [`LONGEST`] bytes: of a
//! longer one only the ends are kept, which tell whose answer it was, so that whoever asked is told at once.

mod events;
mod follow;
mod http;
mod lines;
mod older;
mod parser;
mod probe;

use std::error::Error;
use std::sync::{Arc, OnceLock};

use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::Value;

use older::put_right;

pub(super) use events::{Events, EventsError};
pub(super) use follow::{Astray, follow};
pub(super) use http::Http;
pub(super) use lines::Lines;
pub(super) use older::EXECUTION;
pub(super) use probe::Probe;

/// The longest message that is taken; rmcp takes as much over HTTP.
pub(super) const LONGEST: usize = 16 << 20;
/// What is kept of either end of a longer one.
const EDGE: usize = 1 << 10;

/// Why a connection has ended; the first reason is the one that matters. A clone is the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Ending(Arc<OnceLock<String>>);

impl Ending {
    pub(super) fn because(&self, why: impl Into<String>) {
        self.0.set(why.into()).ok();
    }

    pub(super) fn why(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

/// What is at the bottom of an error, without addresses: they may hold a key.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    loop {
        // rmcp does not name what is inside as the source, and has words of its own around ours.
        let client = match innermost.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::Client(error)) => Some(error as &(dyn Error + 'static)),
            Some(StreamableHttpError::UnexpectedServerResponse(said)) => return said.to_string(),
            Some(StreamableHttpError::UnexpectedContentType(kind)) => {
                let kind = kind.as_deref().unwrap_or("of no type");
                return format!("its answer is {kind} and no message");
            }
            Some(_) | None => None,
        };
        let Some(source) = client.or_else(|| innermost.source()) else { break };
        innermost = source;
    }
    let Some(error) = innermost.downcast_ref::<reqwest::Error>() else {
        return innermost.to_string();
    };
    match error.status() {
        Some(status) => format!("HTTP {status}"),
        None if error.is_timeout() => "it gave no answer in time".to_owned(),
        None => "the request failed".to_owned(),
    }
}

/// Bytes of a message as they come.
#[derive(Debug, Default)]
struct Gather {
    bytes: Vec<u8>,
    tail: Vec<u8>,
    length: usize,
}

/// The bytes of a message.
#[derive(Debug, PartialEq, Eq)]
enum Gathered {
    Whole(Vec<u8>),
    /// Both ends of one that is too long.
    Overlong {
        head: Vec<u8>,
        tail: Vec<u8>,
    },
}

impl Gather {
    fn push(&mut self, bytes: &[u8]) {
        let was_whole = self.length <= LONGEST;
        self.length += bytes.len();
        if self.length <= LONGEST {
            self.bytes.extend_from_slice(bytes);
            return;
        }
        if was_whole {
            self.tail = self.bytes[self.bytes.len().saturating_sub(EDGE)..].to_vec();
            if self.bytes.len() < EDGE {
                let missing = (EDGE - self.bytes.len()).min(bytes.len());
                self.bytes.extend_from_slice(&bytes[..missing]);
            }
            self.bytes.truncate(EDGE);
            self.bytes.shrink_to_fit();
        }
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(EDGE)..]);
        self.tail.drain(..self.tail.len().saturating_sub(EDGE));
    }

    fn take(&mut self) -> Gathered {
        let Self { bytes, tail, length } = std::mem::take(self);
        if length <= LONGEST {
            Gathered::Whole(bytes)
        } else {
            Gathered::Overlong { head: bytes, tail }
        }
    }
}

/// What came over the wire.
#[derive(Debug)]
enum Heard {
    Messages(Vec<ServerJsonRpcMessage>),
    /// It is no message, and nobody waits for it.
    Noise,
}

/// Reads what may be a message. An answer that cannot be read becomes an error for whoever asked.
fn hear(gathered: Gathered) -> Heard {
    let (id, why) = match gathered {
        Gathered::Whole(bytes) => {
            // Some begin with a mark of the order of their bytes.
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii();
            match bytes.first() {
                Some(b'{') => match serde_json::from_slice(&put_right(bytes)) {
                    Ok(message) => return Heard::Messages(vec![message]),
                    Err(error) => (answered(bytes), format!("its answer cannot be read: {error}")),
                },
                Some(b'[') => return batch(bytes),
                Some(_) | None => return Heard::Noise,
            }
        }
        Gathered::Overlong { head, tail } => {
            let why = format!("its answer is longer than {} MB", LONGEST >> 20);
            (answered_between(&head, &tail), why)
        }
    };
    let Some(id) = id else { return Heard::Noise };
    let error = ErrorData::internal_error(why, None);
    Heard::Messages(vec![ServerJsonRpcMessage::error(error, Some(id))])
}

fn batch(bytes: &[u8]) -> Heard {
    let Ok(values) = serde_json::from_slice::<Vec<Value>>(bytes) else { return Heard::Noise };
    let messages = values.into_iter().filter_map(|value| serde_json::from_value(value).ok());
    Heard::Messages(messages.collect())
}

/// The id of the request that a message answers, if it answers one.
fn answered(message: &[u8]) -> Option<RequestId> {
    let message: Value = serde_json::from_slice(message).ok()?;
    if message.get("method").is_some() {
        return None;
    }
    serde_json::from_value(message.get("id")?.clone()).ok()
}

/// The same of a message whose middle is missing. Servers write the id before the result or after it.
fn answered_between(head: &[u8], tail: &[u8]) -> Option<RequestId> {
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let (before, _) = head.split_once("\"result\"")?;
    if let Some(fields) = before.trim_end().strip_suffix(',') {
        return answered(format!("{fields}}}").as_bytes());
    }
    let at = tail.rfind("\"id\"")?;
    answered(format!("{{{}", &tail[at..]).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_for(heard: Heard) -> (RequestId, String) {
        let Heard::Messages(messages) = heard else { panic!("{heard:?}") };
        let [ServerJsonRpcMessage::Error(error)] = messages.as_slice() else {
            panic!("{messages:?}")
        };
        (error.id.clone().unwrap(), error.error.message.to_string())
    }

    #[test]
    fn an_answer_that_is_too_long_becomes_an_error_for_whoever_asked() {
        let long = "x".repeat(LONGEST);
        let first = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":"{long}"}}}}"#);
        let last = format!(r#"{{"result":{{"content":"{long}"}},"jsonrpc":"2.0","id":"a"}}"#);
        let other = format!(r#"{{"result":{{"content":"{long}"}},"id":9,"jsonrpc":"2.0"}}"#);
        let ids = [RequestId::Number(7), RequestId::String("a".into()), RequestId::Number(9)];
        for (text, id) in [first, last, other].iter().zip(ids) {
            let mut gather = Gather::default();
            for chunk in text.as_bytes().chunks(65_537) {
                gather.push(chunk);
            }
            assert!(gather.bytes.capacity() <= EDGE && gather.tail.len() <= EDGE);
            let (found, why) = error_for(hear(gather.take()));
            assert_eq!(found, id);
            assert!(why.contains("longer than 16 MB"), "{why}");
        }
    }

    #[test]
    fn an_answer_of_the_wrong_shape_becomes_an_error_and_garbage_is_noise() {
        let heard = |text: &str| hear(Gathered::Whole(text.as_bytes().to_vec()));
        let (id, _) = error_for(heard(r#"{"jsonrpc":"1.0","id":3,"result":{}}"#));
        assert_eq!(id, RequestId::Number(3));
        let marked = heard("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
        assert!(matches!(marked, Heard::Messages(messages) if messages.len() == 1));
        for garbage in ["", "hello", "{", "{\"id\":", "[1", "Listening on 8080", "\u{1b}[31m"] {
            assert!(matches!(heard(garbage), Heard::Noise), "{garbage}");
        }
        let heard = heard(
            r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}},5]"#,
        );
        assert!(matches!(heard, Heard::Messages(messages) if messages.len() == 2));
    }
}
