//! Anthropic Messages: Claude itself, Claude on Bedrock and Vertex, and whoever speaks the same.

mod decode;
mod files;
pub(super) mod schema;
mod shapes;
pub(super) mod thinking;

use std::collections::HashSet;

use base::transcript::{PartBody, Role};
use serde_json::{Map, Value, json};

use self::thinking::Thinking;
use super::{Encoded, object};
use crate::projection::{self, Answer, Asked, Body, Content, Edges, Message, Rules};
use crate::request::{Cache, Request, ToolChoice, ToolSpec};
use crate::target::Target;

pub(super) use self::decode::Decoder;

/// Anthropic's own limit is higher, but every model of this wire takes so much.
const FALLBACK_MAX_TOKENS: u64 = 8192;
/// How many user messages, counted from the end, carry a cache mark: the newest writes the cache,
/// the one before finds what the last request wrote.
const MARKED_MESSAGES: usize = 2;

pub(super) fn encode(request: &Request, target: &Target) -> Encoded {
    let dialogue = projection::project(&request.turns, &rules(target));
    let limit = max_tokens(request, target);
    let thinking = thinking::plan(request, target, &dialogue);
    let mut body = Map::new();
    body.insert("model".into(), target.model.id.clone().into());
    body.insert("max_tokens".into(), thinking.room(limit, target).into());
    if target.quirks.stream != Some(false) {
        body.insert("stream".into(), true.into());
    }
    thinking.write(limit, target, &mut body);
    sampling(request, target, thinking, &mut body);
    let stops: Vec<&str> = stop_sequences(request).collect();
    if !stops.is_empty() {
        body.insert("stop_sequences".into(), stops.into());
    }
    tools(request, &mut body);
    let system = system(request, target);
    if !system.is_empty() {
        body.insert("system".into(), system.into());
    }
    body.insert("messages".into(), messages(&dialogue, request, thinking).into());
    let mut headers = vec![("anthropic-version", "2023-06-01".to_owned())];
    if matches!(thinking, Thinking::Budget(_)) && !request.tools.is_empty() {
        headers.push(("anthropic-beta", "interleaved-thinking-2025-05-14".to_owned()));
    }
    Encoded { path: "/messages".into(), headers, body }
}

fn rules(target: &Target) -> Rules {
    let returns = |body: &PartBody, own: &Value| match body {
        PartBody::Reasoning { .. } => is_sealed(own),
        PartBody::Opaque { .. } => {
            own.get("type").and_then(Value::as_str).is_some_and(|kind| !kind.is_empty())
        }
        PartBody::Text { .. } | PartBody::Call(_) | PartBody::Result(_) | PartBody::File(_) => {
            false
        }
    };
    let edges = Edges::UserOrPaused;
    Rules { file_types: &files::TAKEN, returns, edges, ..Rules::strict(target) }
}

/// Whether a thought carries the proof that it is the model's own.
pub(super) fn is_sealed(own: &Value) -> bool {
    seal(own, "redacted").or_else(|| seal(own, "signature")).is_some()
}

/// A proof that a thought is the model's own.
pub(super) fn seal<'a>(own: &'a Value, field: &str) -> Option<&'a str> {
    own.get(field)?.as_str().filter(|seal| !seal.is_empty())
}

/// The stop sequences that have something to see in them; others are refused.
pub(super) fn stop_sequences(request: &Request) -> impl Iterator<Item = &str> {
    request.stop_sequences.iter().map(String::as_str).filter(|stop| !stop.trim().is_empty())
}

fn max_tokens(request: &Request, target: &Target) -> u64 {
    let usual = Some(target.model.default_max_tokens).filter(|&limit| limit > 0);
    request.max_tokens.or(usual).unwrap_or(FALLBACK_MAX_TOKENS).max(1)
}

/// Sampling settings, as far as they go together with each other and with thinking.
fn sampling(request: &Request, target: &Target, thinking: Thinking, body: &mut Map<String, Value>) {
    if target.quirks.fixed_sampling == Some(true) {
        return;
    }
    let (asked, usual) = (&request.sampling, &target.model.options);
    let temperature = asked.temperature.or(usual.temperature);
    let top_p = asked.top_p.or(usual.top_p);
    let top_k = asked.top_k.or(usual.top_k);
    if thinking.is_on() {
        if let Some(top_p) = top_p.filter(|p| (0.95..=1.0).contains(p)) {
            body.insert("top_p".into(), top_p.into());
        }
        return;
    }
    // Newer models refuse temperature and top_p together.
    if let Some(temperature) = temperature {
        body.insert("temperature".into(), temperature.clamp(0.0, 1.0).into());
    } else if let Some(top_p) = top_p {
        body.insert("top_p".into(), top_p.into());
    }
    if let Some(top_k) = top_k {
        body.insert("top_k".into(), top_k.into());
    }
}

fn tools(request: &Request, body: &mut Map<String, Value>) {
    if request.tools.is_empty() {
        return;
    }
    let spec = |tool: &ToolSpec| {
        object([
            ("name", json!(tool.name)),
            ("description", json!(tool.description)),
            ("input_schema", schema::plain_object(&tool.schema)),
        ])
    };
    let mut tools: Vec<Value> = request.tools.iter().map(spec).collect();
    if request.cache == Cache::Prefix {
        mark(tools.last_mut());
    }
    body.insert("tools".into(), tools.into());
    let choice = match &request.tool_choice {
        ToolChoice::Auto => return,
        ToolChoice::Never => json!({ "type": "none" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Named(name) => json!({ "type": "tool", "name": name }),
    };
    body.insert("tool_choice".into(), choice);
}

fn system(request: &Request, target: &Target) -> Vec<Value> {
    let said = target.system_prompt_prefix.iter().chain(&request.system);
    let mut blocks: Vec<Value> =
        said.filter(|text| !text.trim().is_empty()).map(|text| text_block(text)).collect();
    if request.cache == Cache::Prefix {
        mark(blocks.last_mut());
    }
    blocks
}

fn messages(dialogue: &[Message<'_>], request: &Request, thinking: Thinking) -> Vec<Value> {
    let last = dialogue.len().saturating_sub(1);
    let mut messages: Vec<Value> = Vec::with_capacity(dialogue.len());
    for (at, message) in dialogue.iter().enumerate() {
        let paused = at == last && message.role == Role::Assistant;
        messages.push(encode_message(message, Ending { paused, thinking }));
    }
    if request.cache == Cache::Prefix {
        let user = messages.iter_mut().rev().filter(|message| message["role"] == "user");
        for message in user.take(MARKED_MESSAGES) {
            mark(message["content"].as_array_mut().and_then(|blocks| blocks.last_mut()));
        }
    }
    messages
}

/// What decides how an assistant message may end.
#[derive(Clone, Copy)]
struct Ending {
    /// The message is the last one and will be continued.
    paused: bool,
    thinking: Thinking,
}

fn encode_message(message: &Message<'_>, ending: Ending) -> Value {
    let pairs = StepPairs::of(message);
    let mut content = Vec::with_capacity(message.blocks.len());
    for block in &message.blocks {
        content.extend(match &block.body {
            Body::Content(said) => Some(encode_content(said)),
            // Without thinking, the message to be continued may hold no thoughts.
            Body::Thought(_) if ending.paused && !ending.thinking.is_on() => None,
            Body::Thought(text) => block.own.and_then(|own| encode_thought(text, own)),
            Body::Call(call) => Some(encode_call(call)),
            Body::Result(answer) => Some(encode_result(answer)),
            Body::Opaque => block.own.filter(|step| pairs.allow(step, ending.paused)).cloned(),
        });
    }
    if content.is_empty() {
        content.push(text_block("(interrupted)"));
    }
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    json!({ "role": role, "content": content })
}

fn encode_content(content: &Content<'_>) -> Value {
    match content {
        Content::Text(text) => text_block(text),
        Content::File(file) => files::block(file),
    }
}

fn encode_thought(text: &str, sidecar: &Value) -> Option<Value> {
    if let Some(data) = seal(sidecar, "redacted") {
        return Some(json!({ "type": "redacted_thinking", "data": data }));
    }
    let signature = seal(sidecar, "signature")?;
    Some(json!({ "type": "thinking", "thinking": text, "signature": signature }))
}

fn encode_call(call: &Asked<'_>) -> Value {
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.input() })
}

fn encode_result(answer: &Answer<'_>) -> Value {
    let content = answer.content.iter().map(|said| encode_content(said));
    let content: Vec<Value> = content.collect();
    let mut result = json!({ "type": "tool_result", "tool_use_id": answer.id, "content": content });
    if answer.failed() {
        result["is_error"] = true.into();
    }
    result
}

/// The steps of one message that Anthropic's own servers took: each must have its result beside it.
struct StepPairs<'a> {
    begun: HashSet<&'a str>,
    ended: HashSet<&'a str>,
}

impl<'a> StepPairs<'a> {
    fn of(message: &Message<'a>) -> Self {
        let field = |name: &'static str| {
            let steps = message.blocks.iter().filter(|block| block.body == Body::Opaque);
            steps.filter_map(move |step| step.own?.get(name)?.as_str()).collect()
        };
        Self { begun: field("id"), ended: field("tool_use_id") }
    }

    fn allow(&self, step: &Value, paused: bool) -> bool {
        let field = |name: &str| step.get(name).and_then(Value::as_str);
        match (field("tool_use_id"), field("id")) {
            (Some(answers), _) => self.begun.contains(answers),
            (None, Some(id)) => paused || self.ended.contains(id),
            (None, None) => true,
        }
    }
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn mark(block: Option<&mut Value>) {
    if let Some(block) = block {
        block["cache_control"] = json!({ "type": "ephemeral" });
    }
}

#[cfg(test)]
pub(super) mod tests;
