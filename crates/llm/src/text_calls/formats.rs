//! What stands between the tags: the forms in which models write calls.

use serde_json::{Deserializer, Map, Value};

use crate::repair;

/// A call as found in text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) name: String,
    /// JSON, or what the model thinks is JSON.
    pub(super) arguments: String,
}

/// Reads the calls in `body`, and the text that follows the last of them. None if there are none.
pub(super) fn read(body: &str) -> Option<(Vec<Written>, &str)> {
    let body = body.trim();
    None.or_else(|| sectioned(body).map(|calls| (calls, "")))
        .or_else(|| tagged(body).map(|calls| (calls, "")))
        .or_else(|| keyed_pairs(body).map(|call| (vec![call], "")))
        .or_else(|| named_arguments(body).map(|calls| (calls, "")))
        .or_else(|| json(body))
        .or_else(|| loose(body).map(|call| (vec![call], "")))
}

/// `{"name": …, "arguments": …}`, several in a row, or a list of them.
pub(super) fn json(body: &str) -> Option<(Vec<Written>, &str)> {
    let body = body.trim_start();
    let mut calls = Vec::new();
    let mut end = 0;
    let mut values = Deserializer::from_str(body).into_iter::<Value>();
    while let Some(Ok(value)) = values.next() {
        let found = match value {
            Value::Array(items) => items.into_iter().map(from_object).collect(),
            other @ (Value::Object(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)) => from_object(other).map(|call| vec![call]),
        };
        let Some(found) = found.filter(|found: &Vec<_>| !found.is_empty()) else { break };
        calls.extend(found);
        end = values.byte_offset();
        // Llama parts several calls with a semicolon; Qwen forgets to close one before the next.
        let rest = body[end..].trim_start();
        let apart = [";", "</tool_call>", "<tool_call>"];
        if let Some(rest) = apart.iter().find_map(|between| rest.strip_prefix(*between)) {
            let (more, rest) = json(rest).unwrap_or((Vec::new(), rest));
            calls.extend(more);
            return Some((calls, rest));
        }
    }
    (!calls.is_empty()).then(|| (calls, body[end..].trim_start()))
}

/// An object that is almost JSON. Its arguments stay as they were written, to be repaired in sight.
fn loose(body: &str) -> Option<Written> {
    if !body.starts_with('{') {
        return None;
    }
    let Some(Value::Object(outer)) = repair::partial(body) else { return None };
    let name = ["name", "tool", "tool_name"].iter().find_map(|key| outer.get(*key)?.as_str())?;
    let key = ["arguments", "parameters", "input", "args"]
        .into_iter()
        .filter(|key| outer.contains_key(*key))
        .find_map(|key| body.find(key).map(|at| at + key.len()))?;
    let raw = body[key..].trim_start_matches(['"', '\'', ':', ' ', '\n', '\t']);
    // The outer object's own brace is not part of the arguments.
    let raw = raw.strip_suffix('}').filter(|raw| raw.trim_end().ends_with('}')).unwrap_or(raw);
    Some(Written { name: name.to_owned(), arguments: raw.to_owned() })
}

/// Kimi and `DeepSeek`: a name, a separator token, JSON, an end token; many of them.
fn sectioned(body: &str) -> Option<Vec<Written>> {
    const FORMS: [(&str, &str, &str); 2] = [
        ("<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"),
        ("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"),
    ];
    let (begin, separator, end) =
        FORMS.into_iter().find(|(_, separator, _)| body.contains(separator))?;
    let calls: Vec<Written> = body
        .split(begin)
        .filter_map(|piece| {
            let piece = piece.split(end).next().unwrap_or(piece);
            let (head, tail) = piece.split_once(separator)?;
            // DeepSeek's older form: the word `function`, then the name and a fenced object.
            let (name, arguments) = match head.trim() {
                "function" => tail.split_once('\n')?,
                head => (head, tail),
            };
            Some(Written { name: tool_name(name), arguments: unfenced(arguments).to_owned() })
        })
        .collect();
    (!calls.is_empty()).then_some(calls)
}

/// `functions.ls:0` is the call 0 of `ls`.
fn tool_name(head: &str) -> String {
    let head = head.trim();
    let name = head.strip_prefix("functions.").unwrap_or(head);
    let name = match name.rsplit_once(':') {
        Some((name, ordinal)) if ordinal.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => name,
    };
    name.to_owned()
}

fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```") else { return text };
    let inside = inside.split_once('\n').map_or(inside, |(_, inside)| inside);
    inside.strip_suffix("```").unwrap_or(inside).trim()
}

/// `<function=ls><parameter=path>src</parameter></function>` and
/// `<invoke name="ls"><parameter name="path">src</parameter></invoke>`.
fn tagged(body: &str) -> Option<Vec<Written>> {
    let begin = ["<function=", "<invoke name="].into_iter().find(|begin| body.contains(begin))?;
    let calls: Vec<Written> = body
        .split(begin)
        .skip(1)
        .filter_map(|piece| {
            let (name, rest) = piece.split_once('>')?;
            let rest = rest.split("</function>").next().unwrap_or(rest);
            let rest = rest.split("</invoke>").next().unwrap_or(rest);
            let arguments = if rest.trim_start().starts_with('{') {
                rest.trim().to_owned()
            } else {
                Value::Object(parameters(rest)).to_string()
            };
            Some(Written { name: unquoted(name).to_owned(), arguments })
        })
        .collect();
    (!calls.is_empty()).then_some(calls)
}

fn parameters(text: &str) -> Map<String, Value> {
    let normal = text.replace("<parameter name=", "<parameter=");
    normal
        .split("<parameter=")
        .skip(1)
        .filter_map(|piece| {
            let (name, value) = piece.split_once('>')?;
            let value = value.rsplit_once("</parameter>").map_or(value, |(value, _)| value);
            Some((unquoted(name).to_owned(), typed(value)))
        })
        .collect()
}

/// GLM: the name, then `<arg_key>` and `<arg_value>` in pairs.
fn keyed_pairs(body: &str) -> Option<Written> {
    let (name, pairs) = body.split_once("<arg_key>")?;
    let arguments: Map<String, Value> = pairs
        .split("<arg_key>")
        .filter_map(|pair| {
            let (key, value) = pair.split_once("</arg_key>")?;
            let value = value.split_once("<arg_value>")?.1;
            let value = value.split("</arg_value>").next().unwrap_or(value);
            Some((key.trim().to_owned(), typed(value)))
        })
        .collect();
    let arguments = Value::Object(arguments).to_string();
    Some(Written { name: name.trim().to_owned(), arguments })
}

/// Mistral's newer form: `ls[ARGS]{…}`, several in a row with `[TOOL_CALLS]` between.
fn named_arguments(body: &str) -> Option<Vec<Written>> {
    body.contains("[ARGS]").then_some(())?;
    let calls: Vec<Written> = body
        .split("[TOOL_CALLS]")
        .filter_map(|piece| {
            let (name, arguments) = piece.split_once("[ARGS]")?;
            let name = name.split("[CALL_ID]").next().unwrap_or(name);
            Some(Written { name: name.trim().to_owned(), arguments: arguments.trim().to_owned() })
        })
        .collect();
    (!calls.is_empty()).then_some(calls)
}

/// A call in the usual object: a name and arguments, flat or under `function`.
fn from_object(value: Value) -> Option<Written> {
    let Value::Object(mut object) = value else { return None };
    if let Some(Value::Object(inner)) = object.get_mut("function") {
        object = std::mem::take(inner);
    }
    let name = ["name", "tool", "tool_name", "function"]
        .iter()
        .find_map(|key| object.get(*key)?.as_str())?
        .to_owned();
    let arguments = ["arguments", "parameters", "input", "args"]
        .iter()
        .find_map(|key| object.shift_remove(*key))?;
    let arguments = match arguments {
        Value::String(text) => text,
        Value::Object(_) => arguments.to_string(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    Some(Written { name, arguments })
}

fn unquoted(name: &str) -> &str {
    name.trim().trim_matches(['"', '\''])
}

/// A parameter's value. Tags carry no types: what reads as JSON that is not text is taken as such.
fn typed(value: &str) -> Value {
    let value = value.strip_prefix('\n').unwrap_or(value);
    let value = value.strip_suffix('\n').unwrap_or(value);
    match serde_json::from_str(value) {
        Ok(Value::String(_)) | Err(_) => Value::String(value.to_owned()),
        Ok(other) => other,
    }
}
