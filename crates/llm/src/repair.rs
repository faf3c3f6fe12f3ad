//! Almost-JSON arguments to JSON.
//!
//! Models write quotes of the wrong kind, forget commas and brackets, wrap objects in prose, encode
//! twice. What they meant is mostly beyond doubt; where it is not, nothing is made up: the call is
//! marked broken and must not run. Every reader here is linear in its input, bounded in depth, and
//! never panics.

mod loose;
#[cfg(test)]
mod tests;

use base::transcript::{CallInput, Mended};
use serde_json::{Map, Value};

/// How many places in prose are tried as the start of an object.
const STARTS: usize = 4;

/// Reads a call's arguments. No text at all means no arguments.
pub fn call_input(text: &str) -> CallInput {
    if text.trim().is_empty() {
        return CallInput::default();
    }
    let repaired = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(value)) => return CallInput::sound(value),
        Ok(value) => unwrap(value),
        Err(_) => object_in(text),
    };
    let original = text.to_owned();
    match repaired {
        Some(value) => CallInput { value, mended: Some(Mended::Repaired(original)) },
        None => CallInput { value: Map::new(), mended: Some(Mended::Broken(original)) },
    }
}

/// Reads arguments that are still being written, for a preview. None until an object has begun.
pub fn partial(text: &str) -> Option<Value> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(value)) => Some(Value::Object(value)),
        Ok(_) => None,
        Err(_) => loose::read(text.trim_start()).filter(Value::is_object),
    }
}

/// Reads JSON whose text is damaged, not its structure: broken UTF-8 and halves of surrogate pairs
/// become replacement characters, raw control characters stay. None if there is more wrong.
pub(crate) fn lossy_json(data: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(data);
    serde_json::from_str(&text).ok().or_else(|| loose::read_closed(text.trim()))
}

/// The object inside a value that is not one: encoded twice, or alone in a list. `null` is how some
/// models write that there are no arguments.
fn unwrap(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(object) => Some(object),
        Value::Null => Some(Map::new()),
        Value::String(inner) => match serde_json::from_str::<Value>(&inner) {
            Ok(Value::Object(object)) => Some(object),
            Ok(_) => None,
            Err(_) => object_in(&inner),
        },
        Value::Array(mut items) if items.len() == 1 => match items.pop() {
            Some(Value::Object(object)) => Some(object),
            Some(_) | None => None,
        },
        Value::Array(_) | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The first object in `text`, whatever stands around it.
fn object_in(text: &str) -> Option<Map<String, Value>> {
    let text = text.trim();
    if text.starts_with(['"', '[']) && !names_a_field(text) {
        return loose::read(text).and_then(unwrap);
    }
    if names_a_field(text) {
        return loose::read_fields(text).and_then(unwrap);
    }
    let starts = text.match_indices('{').map(|(at, _)| at).take(STARTS);
    starts.into_iter().find_map(|at| loose::read(&text[at..]).and_then(unwrap))
}

/// Whether `text` is an object's inside without its braces: it begins with `"name":`.
fn names_a_field(text: &str) -> bool {
    let name = text.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    name.is_some_and(|(name, rest)| {
        !name.is_empty() && !name.contains(['\\', '\n', '{']) && rest.trim_start().starts_with(':')
    })
}
