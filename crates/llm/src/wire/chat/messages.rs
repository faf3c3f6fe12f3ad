//! The conversation as messages this server accepts.

use std::borrow::Cow;

use base::transcript::{PartBody, Role};
use serde_json::{Map, Value, json};
use settings::provider::{CallIdForm, SystemRole};

use super::content::{Content, TAKEN};
use super::replay;
use crate::projection::{self, Answer, Asked, Block, Body, Content as Said, FilePlace, Rules};
use crate::request::Request;
use crate::target::Target;
use crate::text_calls;
use crate::wire::object;

/// A cache mark, as Anthropic has it.
pub(super) fn cache_mark() -> Value {
    json!({"type": "ephemeral"})
}

/// How many messages at the end carry a cache mark; with system and tools the four that are allowed.
const MARKED_MESSAGES: usize = 2;

/// What the model says between tool results and the user, for servers that want it to say something.
const INTERJECTION: &str = "I have read the results.";

/// `OpenAI` itself takes ids of no more than 40, others of up to 64.
const LONGEST_ID: usize = 40;

/// Writes the messages of `request`; `marked` says whether with cache marks.
pub(super) fn write(request: &Request, target: &Target, marked: bool) -> Vec<Value> {
    let spoken_calls = target.quirks.text_calls == Some(true);
    let mut writer = Writer { target, spoken_calls, messages: Vec::new() };
    for message in projection::project(&request.turns, &rules(target)) {
        match message.role {
            Role::User => writer.told(&message.blocks),
            Role::Assistant => writer.assistant(&message.blocks),
        }
    }
    let mut messages: Vec<Value> = system(request, target, marked).into_iter().collect();
    messages.extend(writer.messages.into_iter().map(|message| message.value(marked)));
    if marked {
        mark(&mut messages);
    }
    messages
}

fn rules(target: &Target) -> Rules {
    let quirks = &target.quirks;
    Rules {
        file_types: &TAKEN,
        result_files: FilePlace::inside_if(quirks.tool_result_images == Some(true)),
        id_form: quirks.call_id.unwrap_or(CallIdForm::Plain),
        longest_id: LONGEST_ID,
        returns: |body, _| matches!(body, PartBody::Reasoning { .. }),
        // Their place is a field of its own.
        closing_thoughts: true,
        ..Rules::strict(target)
    }
}

/// One message, before it becomes JSON.
enum Message {
    User(Vec<Content>),
    Assistant(Map<String, Value>),
    Tool { id: String, content: Vec<Content> },
}

impl Message {
    fn value(self, marked: bool) -> Value {
        match self {
            Self::User(content) => {
                object([("role", json!("user")), ("content", Content::write(content, marked))])
            }
            Self::Assistant(fields) => Value::Object(fields),
            Self::Tool { id, content } => {
                let content = Content::write(content, marked);
                object([
                    ("role", json!("tool")),
                    ("tool_call_id", Value::String(id)),
                    ("content", content),
                ])
            }
        }
    }
}

struct Writer<'a> {
    target: &'a Target,
    /// Calls and results are written as text.
    spoken_calls: bool,
    messages: Vec<Message>,
}

impl Writer<'_> {
    /// Adds what the user says, to the user's message before where there is one.
    fn user(&mut self, content: Vec<Content>) {
        if content.is_empty() {
            return;
        }
        let after_tool = matches!(self.messages.last(), Some(Message::Tool { .. }));
        if after_tool && self.target.quirks.user_after_tool == Some(false) {
            let mut fields = Map::new();
            fields.insert("role".to_owned(), json!("assistant"));
            fields.insert("content".to_owned(), json!(INTERJECTION));
            self.messages.push(Message::Assistant(fields));
        }
        match self.messages.last_mut() {
            Some(Message::User(so_far)) => so_far.extend(content),
            Some(Message::Assistant(_) | Message::Tool { .. }) | None => {
                self.messages.push(Message::User(content));
            }
        }
    }

    /// Adds results, each a message of its own unless calls are spoken, and what the user says.
    fn told(&mut self, blocks: &[Block<'_>]) {
        let mut said = Vec::new();
        for block in blocks {
            match &block.body {
                Body::Content(content) => said.push(content.into()),
                Body::Result(answer) if self.spoken_calls => said.extend(spoken_result(answer)),
                Body::Result(answer) => {
                    let mut content = vec![Content::Text(answer.text())];
                    content.extend(answer.files().map(Content::file));
                    self.messages.push(Message::Tool { id: answer.id.clone(), content });
                }
                // A user's message has no others.
                Body::Thought(_) | Body::Call(_) | Body::Opaque => {}
            }
        }
        self.user(said);
    }

    /// Adds what the model said; spoken calls are texts.
    fn assistant(&mut self, blocks: &[Block<'_>]) {
        let (mut texts, mut calls) = (Vec::new(), Vec::new());
        for block in blocks {
            match &block.body {
                Body::Content(Said::Text(text)) => texts.push(Cow::Borrowed(&**text)),
                Body::Call(call) if self.spoken_calls => {
                    texts.push(Cow::Owned(text_calls::call_text(call.call)));
                }
                Body::Call(call) => calls.push(tool_call(call, block.own)),
                // Thoughts have their own place, and no others are here.
                Body::Content(Said::File(_))
                | Body::Thought(_)
                | Body::Result(_)
                | Body::Opaque => {}
            }
        }
        let mut fields = Map::new();
        fields.insert("role".to_owned(), json!("assistant"));
        let text = (!texts.is_empty()).then(|| texts.join("\n\n"));
        fields.insert("content".to_owned(), text.map_or(Value::Null, Value::String));
        replay::thoughts(blocks, self.target, &mut fields, !calls.is_empty());
        if !calls.is_empty() {
            fields.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        self.messages.push(Message::Assistant(fields));
    }
}

fn spoken_result(answer: &Answer<'_>) -> Vec<Content> {
    let text = text_calls::result_text(&answer.name, &answer.text(), answer.failed());
    let files = answer.files().map(Content::file);
    std::iter::once(Content::Text(text)).chain(files).collect()
}

fn system(request: &Request, target: &Target, marked: bool) -> Option<Value> {
    let tools = (target.quirks.text_calls == Some(true))
        .then(|| text_calls::prompt(&request.tools, &request.tool_choice))
        .flatten();
    let segments = target.system_prompt_prefix.iter().chain(&request.system).chain(&tools);
    let content: Vec<Content> = segments
        .filter(|segment| !segment.is_empty())
        .map(|segment| Content::Text(segment.clone()))
        .collect();
    if content.is_empty() {
        return None;
    }
    let role = match target.quirks.system_role {
        None | Some(SystemRole::System) => "system",
        Some(SystemRole::Developer) => "developer",
    };
    let content = Content::write(content, marked);
    let mut message = object([("role", json!(role)), ("content", content)]);
    if marked {
        mark_last_part(&mut message);
    }
    Some(message)
}

/// Marks the last messages that can carry a mark.
fn mark(messages: &mut [Value]) {
    let speaking = messages.iter_mut().rev().filter(|message| {
        matches!(message["role"].as_str(), Some("user" | "tool")) && message["content"].is_array()
    });
    for message in speaking.take(MARKED_MESSAGES) {
        mark_last_part(message);
    }
}

fn mark_last_part(message: &mut Value) {
    let parts = message["content"].as_array_mut();
    if let Some(part) = parts.and_then(|parts| parts.last_mut()) {
        part["cache_control"] = cache_mark();
    }
}

fn tool_call(call: &Asked<'_>, own: Option<&Value>) -> Value {
    let arguments = serde_json::to_string(call.input()).unwrap_or_default();
    let function = object([("name", json!(call.name)), ("arguments", Value::String(arguments))]);
    let mut value =
        object([("id", json!(call.id)), ("type", json!("function")), ("function", function)]);
    if let Some(extra) = own.and_then(|own| own.get("extra_content")) {
        value["extra_content"] = extra.clone();
    }
    value
}
