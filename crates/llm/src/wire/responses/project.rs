//! The neutral transcript as items: every call directly followed by its output, thoughts only for
//! the model that had them and only before what they led to.

use std::collections::HashSet;

use base::transcript::{File, FileSource, PartBody, Role, Turn};
use serde_json::{Map, Value, json};

use crate::projection::{self, Answer, Asked, Body, Content, Edges, Message, Rules, files};
use crate::target::Target;

/// What a call that gives free text instead of arguments is called.
const CUSTOM: &str = "custom_tool_call";

/// Steps a client must answer; we never offer such tools, so they are not sent back.
const NEED_AN_ANSWER: &[&str] = &[
    "computer_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "mcp_approval_request",
];

/// Items that are parts of their own in the transcript.
const PARTS: &[&str] = &["message", "reasoning", "function_call", CUSTOM];

/// What the provider takes as a picture, and what as a picture or a document.
const PICTURES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const TAKEN: [&str; 5] = ["image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf"];

/// Turns the conversation into input items.
pub(super) fn items(turns: &[Turn], target: &Target) -> Vec<Value> {
    let mut items = Vec::new();
    for message in &projection::project(turns, &rules(target)) {
        match message.role {
            Role::User => told(message, &mut items),
            Role::Assistant => said(message, &mut items),
        }
    }
    drop_repeated_ids(&mut items);
    items
}

/// The provider refuses an item it is given twice.
fn drop_repeated_ids(items: &mut Vec<Value>) {
    let mut seen = HashSet::new();
    items.retain_mut(|item| {
        let Some(id) = item.get("id").and_then(Value::as_str) else { return true };
        if seen.insert(id.to_owned()) {
            return true;
        }
        if let Some(fields) = item.as_object_mut() {
            fields.shift_remove("id");
        }
        item["type"] != "reasoning"
    });
}

fn kind(own: &Value) -> &str {
    own.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn rules(target: &Target) -> Rules {
    Rules {
        returns: |body, own| match body {
            PartBody::Reasoning { .. } => kind(own) == "reasoning" && can_return(own),
            PartBody::Opaque { .. } => {
                let kind = kind(own);
                !kind.is_empty() && !PARTS.contains(&kind) && !NEED_AN_ANSWER.contains(&kind)
            }
            PartBody::Text { .. } | PartBody::Call(_) | PartBody::Result(_) | PartBody::File(_) => {
                false
            }
        },
        // Items keep the order in which the model made them: a thought stands before its item.
        calls_last: false,
        edges: Edges::Free,
        file_types: &TAKEN,
        ..Rules::strict(target)
    }
}

/// Adds the outputs of calls, and what the user says as one message.
fn told(message: &Message<'_>, items: &mut Vec<Value>) {
    let mut content = Vec::new();
    for block in &message.blocks {
        match &block.body {
            Body::Content(said) => content.push(input(said)),
            Body::Result(answer) => items.push(output_item(answer, block.own)),
            // A user's message has no others.
            Body::Thought(_) | Body::Call(_) | Body::Opaque => {}
        }
    }
    if !content.is_empty() {
        items.push(json!({ "type": "message", "role": "user", "content": content }));
    }
}

/// Adds what the model said, thought and called, each an item.
fn said(message: &Message<'_>, items: &mut Vec<Value>) {
    for block in &message.blocks {
        let own = block.own.filter(|own| is_of_kind(own, &block.body));
        let mut own = own.and_then(Value::as_object).cloned().unwrap_or_default();
        // An id that was made together with a thought is refused without that thought.
        if message.lost_thoughts {
            own.shift_remove("id");
        }
        match &block.body {
            Body::Content(Content::Text(text)) => say(items, text, own),
            Body::Thought(_) => items.push(reasoning_item(own)),
            Body::Call(call) => items.push(call_item(call, own)),
            Body::Opaque => items.push(Value::Object(own)),
            // Files stand in the user's messages, and so do results.
            Body::Content(Content::File(_)) | Body::Result(_) => {}
        }
    }
}

/// Whether a sidecar is of its block's own kind.
fn is_of_kind(own: &Value, body: &Body<'_>) -> bool {
    match body {
        Body::Content(_) => kind(own) == "message",
        Body::Call(_) => matches!(kind(own), "function_call" | CUSTOM),
        // Those have no other.
        Body::Thought(_) | Body::Opaque | Body::Result(_) => true,
    }
}

/// Adds assistant text: to the message before it if both were one message when they were made.
fn say(said: &mut Vec<Value>, text: &str, mut item: Map<String, Value>) {
    let refusal = item.shift_remove("refusal").is_some();
    let content = if refusal {
        json!({ "type": "refusal", "refusal": text })
    } else {
        json!({ "type": "output_text", "text": text })
    };
    let id = item.get("id");
    if let (Some(id), Some(last)) = (id, said.last_mut())
        && last["type"] == "message"
        && last.get("id") == Some(id)
        && let Some(Value::Array(contents)) = last.get_mut("content")
    {
        contents.push(content);
        return;
    }
    let has_id = id.is_some();
    item.insert("type".to_owned(), json!("message"));
    item.insert("role".to_owned(), json!("assistant"));
    if has_id {
        item.insert("status".to_owned(), json!("completed"));
    }
    item.insert("content".to_owned(), json!([content]));
    said.push(Value::Object(item));
}

fn call_item(call: &Asked<'_>, mut item: Map<String, Value>) -> Value {
    let custom = item.get("type").is_some_and(|kind| kind == CUSTOM);
    let kind = if custom { CUSTOM } else { "function_call" };
    item.insert("type".to_owned(), json!(kind));
    item.insert("call_id".to_owned(), json!(call.id));
    item.insert("name".to_owned(), json!(call.name));
    if custom {
        let input = call.input().get("input").and_then(Value::as_str).unwrap_or_default();
        item.insert("input".to_owned(), json!(input));
    } else {
        let arguments = Value::Object(call.input().clone()).to_string();
        item.insert("arguments".to_owned(), json!(arguments));
    }
    Value::Object(item)
}

fn output_item(answer: &Answer<'_>, own: Option<&Value>) -> Value {
    let custom = own.is_some_and(|own| kind(own) == CUSTOM);
    let kind = if custom { "custom_tool_call_output" } else { "function_call_output" };
    let output = if answer.files().next().is_some() {
        answer.content.iter().map(input).collect()
    } else {
        json!(answer.text())
    };
    json!({ "type": kind, "call_id": answer.id, "output": output })
}

/// Whether a thought can be sent back: stored nowhere, it must hold itself.
fn can_return(own: &Value) -> bool {
    is_filled(own, "encrypted_content") || is_filled(own, "content")
}

fn is_filled(own: &Value, key: &str) -> bool {
    match own.get(key) {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(_) | None => false,
    }
}

fn reasoning_item(mut item: Map<String, Value>) -> Value {
    item.insert("type".to_owned(), json!("reasoning"));
    item.entry("summary").or_insert_with(|| json!([]));
    let mut item = Value::Object(item);
    // An empty list of raw thoughts is refused where there are only encrypted ones.
    if !is_filled(&item, "content")
        && let Value::Object(item) = &mut item
    {
        item.shift_remove("content");
    }
    item
}

fn input(content: &Content<'_>) -> Value {
    match content {
        Content::Text(text) => json!({ "type": "input_text", "text": text }),
        Content::File(file) => input_file(file),
    }
}

fn input_file(file: &File) -> Value {
    let media_type = files::media_type(file);
    let address = match &file.source {
        FileSource::Base64(bytes) => format!("data:{media_type};base64,{bytes}"),
        FileSource::Url(url) => url.clone(),
    };
    if PICTURES.contains(&media_type) {
        return json!({ "type": "input_image", "image_url": address, "detail": "auto" });
    }
    match &file.source {
        FileSource::Base64(_) => {
            let name = file.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("file.pdf");
            json!({ "type": "input_file", "filename": name, "file_data": address })
        }
        FileSource::Url(_) => json!({ "type": "input_file", "file_url": address }),
    }
}
