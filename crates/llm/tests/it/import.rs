//! Recorded requests back to neutral ones, so that what `llm` builds for the same conversation can be
//! judged by the validators. Features we never send (audio, server tools, JSON mode) are left out.

mod anthropic;
mod chat;
mod converse;
mod gemini;
mod responses;

use base::CallId;
use base::transcript::{
    Call, CallInput, CallResult, File, FileSource, Maker, Native, Origin, Outcome, Part, PartBody,
    Piece, Role, Turn,
};
use llm::{Request, ToolSpec};
use serde_json::{Map, Value};
use settings::provider::Wire;

/// Reads a recorded request body of one wire.
pub(crate) fn request(wire: Wire, body: &Value, maker: &Maker) -> Request {
    match wire {
        Wire::AnthropicMessages => anthropic::request(body, maker),
        Wire::OpenaiChat => chat::request(body),
        Wire::OpenaiResponses => responses::request(body, maker),
        Wire::Gemini => gemini::request(body, maker),
        Wire::BedrockConverse => converse::request(body, maker),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn turn(role: Role, parts: Vec<Part>) -> Turn {
    Turn { role, parts }
}

fn said(role: Role, text: &str) -> Part {
    match role {
        Role::User => Part::user_text(text),
        Role::Assistant => Part::assistant_text(text),
    }
}

fn call(id: &str, name: &str, input: &Value) -> Part {
    let value = input.as_object().cloned().unwrap_or_default();
    let input = CallInput::sound(value);
    let call = Call { id: CallId::new(id), name: name.to_owned(), input };
    Part::new(PartBody::Call(call), Origin::Assistant)
}

fn call_with_text(id: &str, name: &str, arguments: &str) -> Part {
    call(id, name, &serde_json::from_str(arguments).unwrap_or(Value::Null))
}

fn result(id: &str, name: &str, outcome: Outcome, pieces: Vec<Piece>) -> Part {
    let result =
        CallResult { call: CallId::new(id), name: name.to_owned(), outcome, pieces, shown: None };
    Part::new(PartBody::Result(result), Origin::Shell)
}

fn text_piece(text: &str) -> Piece {
    Piece::Text { text: text.to_owned() }
}

fn inline(media_type: &str, data: &str) -> File {
    File {
        media_type: media_type.to_owned(),
        name: None,
        source: FileSource::Base64(data.to_owned()),
    }
}

/// A file by address, or by a data URL, which is no address at all.
fn located(url: &str, usual_type: &str) -> File {
    match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((media_type, data)) => inline(media_type, data),
        None => File {
            media_type: usual_type.to_owned(),
            name: None,
            source: FileSource::Url(url.to_owned()),
        },
    }
}

fn file(file: File, role: Role) -> Part {
    let origin = if role == Role::User { Origin::User } else { Origin::Assistant };
    Part::new(PartBody::File(file), origin)
}

fn thought(text: &str, maker: &Maker, data: Option<Value>) -> Part {
    let part = Part::new(PartBody::Reasoning { text: text.to_owned() }, Origin::Assistant);
    match data {
        Some(data) => part.with_native(Native { maker: maker.clone(), data }),
        None => part,
    }
}

fn tool(name: &str, description: &str, schema: Option<&Value>) -> ToolSpec {
    let empty = || serde_json::json!({ "type": "object", "properties": Map::new() });
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: schema.filter(|schema| schema.is_object()).cloned().unwrap_or_else(empty),
    }
}
