//! Wire formats, one file each: encode a request, decode what comes back.

mod anthropic;
mod chat;
mod converse;
mod gemini;
mod responses;

use serde_json::{Map, Value};
use settings::provider::Wire;

use crate::delta::Delta;
use crate::error::Error;
use crate::request::Request;
use crate::target::Target;

/// A request in one provider's words.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// What follows the base URL, query included, such as `/chat/completions`.
    pub path: String,
    /// Headers the format demands, such as `anthropic-version`.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Map<String, Value>,
}

/// One event of a stream: of SSE, or of a binary framing that carries the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamEvent<'a> {
    /// The event's name; empty where the stream gives none.
    pub name: &'a str,
    /// Its data.
    pub data: &'a [u8],
}

/// Reads one answer. Made anew for each.
pub trait Decode: Send {
    /// Takes one event of a stream and adds the deltas it brings.
    fn event(&mut self, event: StreamEvent<'_>, out: &mut Vec<Delta>) -> Result<(), Error>;

    /// Takes the whole body of an answer that was not streamed.
    fn whole(&mut self, body: &[u8], out: &mut Vec<Delta>) -> Result<(), Error>;

    /// Says that no more bytes come: an error unless the answer is complete.
    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), Error>;
}

/// Encodes `request` for `target`. Extra body fields of settings are laid over the result.
pub fn encode(request: &Request, target: &Target) -> Encoded {
    let mut encoded = match target.wire {
        Wire::AnthropicMessages => anthropic::encode(request, target),
        Wire::OpenaiChat => chat::encode(request, target),
        Wire::OpenaiResponses => responses::encode(request, target),
        Wire::Gemini => gemini::encode(request, target),
        Wire::BedrockConverse => converse::encode(request, target),
    };
    overlay(&mut encoded.body, &target.model.options.provider_options);
    overlay(&mut encoded.body, &request.sampling.provider_options);
    overlay(&mut encoded.body, &target.extra_body);
    encoded
}

/// Lays `over` on `body`: objects merge, everything else is replaced, `null` removes.
fn overlay(body: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (body.get_mut(key), value) {
            (_, Value::Null) => {
                body.shift_remove(key);
            }
            (Some(Value::Object(below)), Value::Object(above)) => overlay(below, above),
            _ => {
                body.insert(key.clone(), value.clone());
            }
        }
    }
}

/// An object of these fields. `json!` would copy every value it is given, and a request has many.
fn object<const COUNT: usize>(fields: [(&str, Value); COUNT]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Makes a decoder for an answer of `target`.
pub fn decoder(target: &Target) -> Box<dyn Decode> {
    match target.wire {
        Wire::AnthropicMessages => Box::new(anthropic::Decoder::new(target)),
        Wire::OpenaiChat => Box::new(chat::Decoder::new(target)),
        Wire::OpenaiResponses => Box::new(responses::Decoder::new(target)),
        Wire::Gemini => Box::new(gemini::Decoder::new(target)),
        Wire::BedrockConverse => Box::new(converse::Decoder::new(target)),
    }
}
