//! An independent reader of recorded answers: what a decoder must make of the same bytes.
//!
//! It reads in the plainest way, with `serde_json::Value`, its own line splitter and its own frame
//! reader, and shares no code with the product. It follows the product's conventions:
//!
//! - **Text** is all text parts in order, refusals included. Of several choices or candidates the
//!   first counts.
//! - **Reasoning** is all thought text in order. Parts of one Responses item are joined by a blank
//!   line. Compare with white space left out ([`squeezed`]).
//! - **Calls** are those the client must answer; searches a provider runs itself are none. Arguments
//!   that are no JSON object stay text. Gemini's calls may have no id.
//! - **Usage**: `input` leaves out cached and cache-written tokens; `output` includes reasoning.
//!   The last report of a stream that is not all zeros counts; Anthropic's fields replace earlier ones one by one.
//!   - Chat servers that report thinking beside the output are told by their own sum: total =
//!     prompt + completion + reasoning. Vercel's sum does not tell, its prices do: there thinking
//!     stands beside the output when it is larger. Elsewhere reasoning is at most the output.
//!   - Gemini's `toolUsePromptTokenCount` is prompt, so it is `input`.
//! - **Stop** is `ToolCalls` whenever there are calls and the provider says it stopped by itself;
//!   a refusal text, a filter's stop and a blocked prompt are `Refusal`.
//!   `OpenRouter`'s `native_finish_reason` is not asked, though it alone tells of a call cut in two:
//!   such a call's arguments are no JSON, and that is enough not to run it.
//! - **Cost** is what the provider says in dollars (`cost`, `cost.total_cost`, `cost.usd`, xAI's
//!   ticks of 1e-10 dollars); none where it does not.
//! - **Error**: a status of 400 or more, an error inside a 200, or a stream without its last event.

mod anthropic;
mod chat;
mod converse;
mod gemini;
mod responses;
mod sse;

use base::{Money, StopReason, Usage};
use serde_json::{Map, Value};
use settings::provider::Wire;

use crate::cassette::Exchange;
use crate::event_stream;

/// What a decoder must make of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    /// All text.
    pub text: String,
    /// All thought text.
    pub reasoning: String,
    /// Calls the client must answer.
    pub calls: Vec<ExpectedCall>,
    /// Tokens.
    pub usage: Usage,
    /// Why it stopped; none if it says nothing of it.
    pub stop: Option<StopReason>,
    /// What the provider says it cost.
    pub cost: Option<Money>,
    /// Whether a signature, encrypted thought or the like is in it.
    pub has_seal: bool,
    /// How it failed.
    pub error: Option<Failure>,
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedCall {
    /// Its id; Gemini may give none.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// An object; the text itself where it is not the JSON of one.
    pub args: Value,
}

/// How an answer failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The HTTP status; 200 for an error inside a body that began well.
    pub status: u16,
    /// Which kind of failure.
    pub kind: FailureKind,
    /// The provider's code or type.
    pub code: Option<String>,
    /// What the provider says; the whole body where it has no such field.
    pub message: String,
}

/// Which kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// An error status.
    Status,
    /// An error inside a 200.
    Inside,
    /// No last event.
    CutOff,
}

/// Reads a recorded answer. Wires we do not have yield an empty expectation.
pub fn expect(exchange: &Exchange) -> Expected {
    let bytes = exchange.response.bytes();
    let status = exchange.response.status;
    if status >= 400 {
        let failure = failure(status, FailureKind::Status, &bytes);
        return Expected { error: Some(failure), ..Expected::default() };
    }
    let Some(wire) = exchange.wire() else { return Expected::default() };
    let events = events(exchange, &bytes);
    let whole: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    match (wire, events) {
        (Wire::AnthropicMessages, Some(events)) => anthropic::stream(&events),
        (Wire::AnthropicMessages, None) => anthropic::whole(&whole),
        (Wire::OpenaiChat, Some(events)) => chat::stream(&events, &exchange.provider),
        (Wire::OpenaiChat, None) => chat::whole(&whole, &exchange.provider),
        (Wire::OpenaiResponses, Some(events)) => responses::stream(&events),
        (Wire::OpenaiResponses, None) => responses::whole(&whole),
        (Wire::Gemini, Some(events)) => gemini::read(&events, gemini::Form::Stream),
        (Wire::Gemini, None) => gemini::read(&[Event::unnamed(whole)], gemini::Form::Whole),
        (Wire::BedrockConverse, Some(events)) => converse::stream(&events),
        (Wire::BedrockConverse, None) => converse::whole(&whole),
    }
}

/// A text without its white space, for comparing thoughts.
pub fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// One event of a recorded stream.
#[derive(Debug, Clone)]
struct Event {
    name: String,
    data: Value,
}

impl Event {
    fn unnamed(data: Value) -> Self {
        Self { name: String::new(), data }
    }
}

/// The events of a stream; none for a whole body.
fn events(exchange: &Exchange, bytes: &[u8]) -> Option<Vec<Event>> {
    let kind = exchange.response.header("content-type").unwrap_or_default();
    if kind.starts_with("application/vnd.amazon.eventstream") {
        return Some(frames(bytes));
    }
    let text = String::from_utf8_lossy(bytes);
    let begins = text.trim_start();
    let looks_like_events = ["data:", "event:", ":"].iter().any(|word| begins.starts_with(word));
    looks_like_events.then(|| sse::events(&text))
}

fn frames(bytes: &[u8]) -> Vec<Event> {
    let Ok(frames) = event_stream::read(bytes) else { return Vec::new() };
    let event = |frame: &event_stream::Frame| {
        let payload: Value = serde_json::from_slice(&frame.payload).unwrap_or_default();
        if let Some(kind) = frame.header(":exception-type") {
            return Event { name: format!("exception:{kind}"), data: payload };
        }
        let name = frame.header(":event-type").unwrap_or_default();
        match payload.get("bytes").and_then(Value::as_str) {
            Some(inside) if name == "chunk" => Event::unnamed(sse::unpack(inside)),
            Some(_) | None => Event { name: name.to_owned(), data: payload },
        }
    };
    frames.iter().map(event).collect()
}

fn failure(status: u16, kind: FailureKind, bytes: &[u8]) -> Failure {
    let body: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let error = body.get("error").filter(|error| error.is_object()).unwrap_or(&body);
    let field = |name: &str| match error.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let message = field("message")
        .or_else(|| field("error"))
        .or_else(|| field("detail"))
        .unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned());
    Failure { status, kind, code: field("code").or_else(|| field("type")), message }
}

fn failed_inside(error: &Value) -> Failure {
    let bytes = error.to_string().into_bytes();
    failure(200, FailureKind::Inside, &bytes)
}

fn cut_off() -> Failure {
    let message = "the stream has no last event".to_owned();
    Failure { status: 200, kind: FailureKind::CutOff, code: None, message }
}

fn number(value: &Value, field: &str) -> u64 {
    value.get(field).and_then(Value::as_u64).unwrap_or(0)
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A call's arguments from their text. No text at all means no arguments.
fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(object) => Value::Object(object),
        Err(_) => Value::String(text.to_owned()),
    }
}

/// Dollars a provider reports in a usage object.
fn reported_cost(usage: &Value) -> Option<Money> {
    let ticks = usage.get("cost_in_usd_ticks").and_then(Value::as_f64).map(|ticks| ticks / 1e10);
    let cost = usage.get("cost");
    let plain = cost.and_then(Value::as_f64);
    let total = cost.and_then(|cost| cost.get("total_cost")).and_then(Value::as_f64);
    plain.or(total).or(ticks).map(Money::from_dollars)
}

/// A model that stopped by itself and called tools waits for their results.
fn done_or_calls(calls: &[ExpectedCall]) -> StopReason {
    if calls.is_empty() { StopReason::Done } else { StopReason::ToolCalls }
}
