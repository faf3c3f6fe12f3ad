//! Bedrock Converse: one shape for every model on AWS Bedrock.

mod decode;

use base::transcript::{File, FileSource, PartBody, Role};
use serde_json::{Map, Value, json};
use settings::provider::ReasoningRequest;

use super::Encoded;
use super::anthropic::thinking::{self, Thinking};
use super::anthropic::{is_sealed, schema, seal, stop_sequences};
use crate::projection::{self, Block, Body, Content, Message, Rules, files};
use crate::request::{Cache, Request, ToolChoice};
use crate::target::Target;
use crate::transport::escape;

pub(super) use self::decode::Decoder;

/// How many user messages, counted from the end, are followed by a cache point.
const MARKED_MESSAGES: usize = 2;

/// What this wire takes as image or document.
const TAKEN: [&str; 11] = [
    "image/jpeg",
    "image/png",
    "image/gif",
    "image/webp",
    "application/pdf",
    "application/msword",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.ms-excel",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/json",
    "text/",
];

pub(super) fn encode(request: &Request, target: &Target) -> Encoded {
    let dialogue = projection::project(&request.turns, &rules(target));
    let cached = request.cache == Cache::Prefix && takes_cache_points(target);
    let thinking = thinking::plan(request, target, &dialogue);
    let mut body = Map::new();
    let inference = inference(request, target, thinking);
    if !inference.is_empty() {
        body.insert("inferenceConfig".into(), inference.into());
    }
    if let Some(fields) = model_fields(request, target, thinking) {
        body.insert("additionalModelRequestFields".into(), fields);
    }
    if let Some(tools) = tools(request, &dialogue, cached) {
        body.insert("toolConfig".into(), tools);
    }
    let mut system = system(request, target);
    if !system.is_empty() {
        if cached {
            system.push(cache_point());
        }
        body.insert("system".into(), system.into());
    }
    body.insert("messages".into(), messages(&dialogue, cached).into());
    let path = format!("/model/{}/converse-stream", escape(&target.model.id));
    Encoded { path, headers: Vec::new(), body }
}

fn rules(target: &Target) -> Rules {
    Rules {
        file_types: &TAKEN,
        returns: |body, own| matches!(body, PartBody::Reasoning { .. }) && is_sealed(own),
        ..Rules::strict(target)
    }
}

/// A model that cannot cache refuses requests with cache points. The catalogue knows a price for
/// cached tokens where they exist.
fn takes_cache_points(target: &Target) -> bool {
    target.quirks.cache_marks.is_some() || target.model.cost_per_1m_out_cached > 0.0
}

fn inference(request: &Request, target: &Target, thinking: Thinking) -> Map<String, Value> {
    let mut config = Map::new();
    let usual = Some(target.model.default_max_tokens).filter(|&limit| limit > 0);
    if let Some(limit) = request.max_tokens.or(usual) {
        config.insert("maxTokens".into(), thinking.room(limit, target).into());
    }
    if target.quirks.fixed_sampling != Some(true) && !thinking.is_on() {
        let (asked, usual) = (&request.sampling, &target.model.options);
        if let Some(temperature) = asked.temperature.or(usual.temperature) {
            config.insert("temperature".into(), temperature.clamp(0.0, 1.0).into());
        } else if let Some(top_p) = asked.top_p.or(usual.top_p) {
            config.insert("topP".into(), top_p.into());
        }
    }
    let stops: Vec<&str> = stop_sequences(request).collect();
    if !stops.is_empty() {
        config.insert("stopSequences".into(), stops.into());
    }
    config
}

/// What Converse itself has no words for: thinking, and `top_k`.
fn model_fields(request: &Request, target: &Target, thinking: Thinking) -> Option<Value> {
    let mut fields = Map::new();
    let limit = request.max_tokens.unwrap_or(target.model.default_max_tokens);
    match (thinking, target.quirks.reasoning_request) {
        (Thinking::Effort(effort), Some(ReasoningRequest::Effort)) => {
            fields.insert("reasoning_effort".into(), effort.as_str().into());
        }
        (thinking, _) => thinking.write(limit, target, &mut fields),
    }
    if let Some(top_k) = request.sampling.top_k.or(target.model.options.top_k)
        && target.quirks.fixed_sampling != Some(true)
        && !thinking.is_on()
    {
        fields.insert("top_k".into(), top_k.into());
    }
    (!fields.is_empty()).then(|| fields.into())
}

fn tools(request: &Request, dialogue: &[Message<'_>], cached: bool) -> Option<Value> {
    let spec = |name: &str, description: &str, schema: &Value| {
        let mut spec = json!({
            "name": name,
            "inputSchema": { "json": schema::plain_object(schema) },
        });
        // An empty description is refused; a missing one is not.
        if !description.is_empty() {
            spec["description"] = description.into();
        }
        json!({ "toolSpec": spec })
    };
    let called = called(dialogue);
    // There is no word to forbid calls. Leaving the tools out does it, but a dialogue with calls in
    // it is refused unless some tool is defined.
    if called.is_empty() && request.tool_choice == ToolChoice::Never {
        return None;
    }
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| spec(&tool.name, &tool.description, &tool.schema))
        .collect();
    if tools.is_empty() {
        tools = called.into_iter().map(|name| spec(name, "", &Value::Null)).collect();
    }
    if tools.is_empty() {
        return None;
    }
    if cached {
        tools.push(cache_point());
    }
    let mut config = json!({ "tools": tools });
    let known = |name: &String| request.tools.iter().any(|tool| tool.name == *name);
    match &request.tool_choice {
        ToolChoice::Auto | ToolChoice::Never => {}
        // What stands in for tools of the past cannot be called.
        ToolChoice::Required if request.tools.is_empty() => {}
        ToolChoice::Named(name) if !known(name) => {}
        ToolChoice::Required => config["toolChoice"] = json!({ "any": {} }),
        ToolChoice::Named(name) => config["toolChoice"] = json!({ "tool": { "name": name } }),
    }
    Some(config)
}

fn called<'a>(dialogue: &'a [Message<'_>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for block in dialogue.iter().flat_map(|message| &message.blocks) {
        if let Body::Call(call) = &block.body
            && !names.contains(&call.name.as_ref())
        {
            names.push(&call.name);
        }
    }
    names
}

fn system(request: &Request, target: &Target) -> Vec<Value> {
    let said = target.system_prompt_prefix.iter().chain(&request.system);
    said.filter(|text| !text.trim().is_empty()).map(|text| json!({ "text": text })).collect()
}

fn messages(dialogue: &[Message<'_>], cached: bool) -> Vec<Value> {
    let mut encoder = Encoder::default();
    let mut messages: Vec<Value> =
        dialogue.iter().map(|message| encoder.message(message)).collect();
    if cached {
        let user = messages.iter_mut().rev().filter(|message| message["role"] == "user");
        for message in user.take(MARKED_MESSAGES) {
            if let Some(blocks) = message["content"].as_array_mut() {
                blocks.push(cache_point());
            }
        }
    }
    messages
}

#[derive(Default)]
struct Encoder {
    /// Documents so far: each needs a name of its own.
    documents: usize,
}

impl Encoder {
    fn message(&mut self, message: &Message<'_>) -> Value {
        let mut content: Vec<Value> = Vec::with_capacity(message.blocks.len());
        for block in &message.blocks {
            content.extend(self.block(block));
        }
        let has = |kind: &str| content.iter().any(|block| block.get(kind).is_some());
        if has("document") && !has("text") {
            // A document is refused unless some text goes with it.
            content.push(json!({ "text": "See the document." }));
        }
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({ "role": role, "content": content })
    }

    fn block(&mut self, block: &Block<'_>) -> Option<Value> {
        match &block.body {
            Body::Content(content) => Some(self.content(content)),
            Body::Thought(text) => block.own.and_then(|own| thought(text, own)),
            Body::Call(call) => {
                let input = call.input();
                let call = json!({ "toolUseId": call.id, "name": call.name, "input": input });
                Some(json!({ "toolUse": call }))
            }
            Body::Result(answer) => {
                let content = answer.content.iter().map(|said| self.content(said));
                let content: Vec<Value> = content.collect();
                let status = if answer.failed() { "error" } else { "success" };
                let result =
                    json!({ "toolUseId": answer.id, "content": content, "status": status });
                Some(json!({ "toolResult": result }))
            }
            // No answer of this wire has such a step.
            Body::Opaque => None,
        }
    }

    fn content(&mut self, content: &Content<'_>) -> Value {
        match content {
            Content::Text(text) => json!({ "text": text }),
            Content::File(file) => {
                self.file(file).unwrap_or_else(|| json!({ "text": files::left_out(file) }))
            }
        }
    }

    fn file(&mut self, file: &File) -> Option<Value> {
        // Converse fetches nothing but its own cloud's objects.
        let FileSource::Base64(bytes) = &file.source else { return None };
        let kind = files::media_type(file);
        let source = json!({ "bytes": bytes });
        if let Some(format @ ("jpeg" | "png" | "gif" | "webp")) = kind.strip_prefix("image/") {
            return Some(json!({ "image": { "format": format, "source": source } }));
        }
        let format = document_format(kind)?;
        self.documents += 1;
        let name = document_name(file, self.documents);
        Some(json!({ "document": { "format": format, "name": name, "source": source } }))
    }
}

fn document_format(media_type: &str) -> Option<&'static str> {
    Some(match media_type {
        "application/pdf" => "pdf",
        "text/csv" => "csv",
        "text/html" => "html",
        "text/markdown" => "md",
        "application/msword" => "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.ms-excel" => "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "application/json" => "txt",
        text if text.starts_with("text/") => "txt",
        _ => return None,
    })
}

/// Letters, digits, single spaces, hyphens, brackets; and never the same name twice.
fn document_name(file: &File, number: usize) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { ' ' };
    let plain: String = file.name.as_deref().unwrap_or("document").chars().map(letter).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let stem: String = words.join(" ").chars().take(150).collect();
    format!("{} {number}", stem.trim()).trim_start().to_owned()
}

fn thought(text: &str, sidecar: &Value) -> Option<Value> {
    let content = match (seal(sidecar, "redacted"), seal(sidecar, "signature")) {
        (Some(data), _) => json!({ "redactedContent": data }),
        (None, Some(signature)) => {
            json!({ "reasoningText": { "text": text, "signature": signature } })
        }
        (None, None) => return None,
    };
    Some(json!({ "reasoningContent": content }))
}

fn cache_point() -> Value {
    json!({ "cachePoint": { "type": "default" } })
}

#[cfg(test)]
mod tests;
