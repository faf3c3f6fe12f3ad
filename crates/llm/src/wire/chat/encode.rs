//! Writes requests.

use serde_json::{Map, Value, json};
use settings::provider::{CacheMarks, MaxTokensField, Sampling};

use super::super::{Encoded, object};
use super::messages::{self, cache_mark};
use super::reasoning;
use crate::request::{Cache, Request, ToolChoice, ToolSpec};
use crate::target::Target;
use crate::thinking::Thinking;

/// Writes `request` for `target`.
pub(in crate::wire) fn encode(request: &Request, target: &Target) -> Encoded {
    let quirks = &target.quirks;
    let marked =
        quirks.cache_marks == Some(CacheMarks::Anthropic) && request.cache == Cache::Prefix;
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(target.model.id));
    if quirks.text_calls != Some(true) {
        tools(request, marked, &mut body);
    }
    limits(request, target, &mut body);
    reasoning::ask(Thinking::of(request, target), target, &mut body);
    if quirks.fixed_sampling != Some(true) {
        sampling(&target.model.options, &request.sampling, &mut body);
    }
    if quirks.stream != Some(false) {
        body.insert("stream".to_owned(), json!(true));
        if quirks.stream_usage != Some(false) {
            body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
        }
    }
    // Last, so that a longer conversation's bytes begin with the shorter one's.
    body.insert("messages".to_owned(), Value::Array(messages::write(request, target, marked)));
    Encoded { path: "/chat/completions".to_owned(), headers: Vec::new(), body }
}

fn tools(request: &Request, marked: bool, body: &mut Map<String, Value>) {
    if request.tools.is_empty() {
        return;
    }
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    if marked && let Some(last) = tools.last_mut() {
        last["cache_control"] = cache_mark();
    }
    body.insert("tools".to_owned(), Value::Array(tools));
    let choice = match &request.tool_choice {
        // The default everywhere; some servers refuse to hear it said.
        ToolChoice::Auto => return,
        ToolChoice::Never => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({"type": "function", "function": {"name": name}}),
    };
    body.insert("tool_choice".to_owned(), choice);
}

fn tool(tool: &ToolSpec) -> Value {
    let nothing = || json!({"type": "object", "properties": {}});
    let schema = if tool.schema.is_object() { tool.schema.clone() } else { nothing() };
    let function = object([
        ("name", json!(tool.name)),
        ("description", json!(tool.description)),
        ("parameters", schema),
    ]);
    object([("type", json!("function")), ("function", function)])
}

fn limits(request: &Request, target: &Target, body: &mut Map<String, Value>) {
    let default = Some(target.model.default_max_tokens).filter(|tokens| *tokens > 0);
    if let Some(tokens) = request.max_tokens.or(default) {
        let field = match target.quirks.max_tokens_field {
            None | Some(MaxTokensField::MaxTokens) => "max_tokens",
            Some(MaxTokensField::MaxCompletionTokens) => "max_completion_tokens",
        };
        body.insert(field.to_owned(), json!(tokens));
    }
    if !request.stop_sequences.is_empty() {
        body.insert("stop".to_owned(), json!(request.stop_sequences));
    }
}

fn sampling(model: &Sampling, request: &Sampling, body: &mut Map<String, Value>) {
    let mut set = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(field.to_owned(), value);
        }
    };
    let number = |ours: Option<f64>, theirs: Option<f64>| ours.or(theirs).map(|n| json!(n));
    set("temperature", number(request.temperature, model.temperature));
    set("top_p", number(request.top_p, model.top_p));
    set("top_k", request.top_k.or(model.top_k).map(|n| json!(n)));
    set("frequency_penalty", number(request.frequency_penalty, model.frequency_penalty));
    set("presence_penalty", number(request.presence_penalty, model.presence_penalty));
}
