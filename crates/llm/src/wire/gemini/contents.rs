//! The conversation as contents Gemini accepts.

use std::borrow::Cow;

use base::transcript::{File, FileSource, PartBody, Role};
use serde_json::{Value, json};
use settings::provider::ReasoningRequest;

use super::encode::reasoning_request;
use super::{CALL_ID, SIGNATURE};
use crate::projection::{
    self, Answer, Asked, Block, Body, Content, FilePlace, Message, Rules, files,
};
use crate::request::Request;
use crate::target::Target;

/// What Google documents for calls that another model made: it stands where a signature is checked.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";
/// What Gemini takes; a slash at the end names a family.
const TAKEN: [&str; 9] = [
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/heic",
    "image/heif",
    "image/gif",
    "application/pdf",
    "audio/",
    "video/",
];

/// Writes the contents of `request`: user and model by turns, the user first and last.
pub(super) fn write(request: &Request, target: &Target) -> Vec<Value> {
    let conversation = projection::project(&request.turns, &rules(target));
    let content = |message: &Message<'_>| match message.role {
        Role::User => json!({ "role": "user", "parts": parts(message) }),
        Role::Assistant => {
            let mut parts = parts(message);
            if signatures_are_checked(target) {
                sign_first_call(&mut parts);
            }
            json!({ "role": "model", "parts": parts })
        }
    };
    conversation.iter().map(content).collect()
}

fn rules(target: &Target) -> Rules {
    Rules {
        file_types: &TAKEN,
        result_files: FilePlace::inside_if(target.quirks.tool_result_images == Some(true)),
        model_files: FilePlace::Inside,
        name: function_name,
        returns: |body, own| match body {
            // A thought goes back only with the proof that it is the model's own, and a proof may
            // come with no text at all.
            PartBody::Reasoning { .. } | PartBody::Text { .. } => own.get(SIGNATURE).is_some(),
            PartBody::Opaque { .. } => is_step(own),
            PartBody::Call(_) | PartBody::Result(_) | PartBody::File(_) => false,
        },
        // A signature proves what came before it.
        calls_last: false,
        closing_thoughts: true,
        ..Rules::strict(target)
    }
}

/// Whether it is a step this wire has.
fn is_step(own: &Value) -> bool {
    ["executableCode", "codeExecutionResult"].iter().any(|step| own.get(step).is_some())
}

/// Models that think by level, which are Gemini 3 and later, refuse an unsigned call.
fn signatures_are_checked(target: &Target) -> bool {
    target.model.can_reason && reasoning_request(target) == ReasoningRequest::Effort
}

fn sign_first_call(parts: &mut [Value]) {
    if let Some(call) = parts.iter_mut().find(|part| part.get("functionCall").is_some())
        && call.get(SIGNATURE).is_none()
    {
        call[SIGNATURE] = json!(FOREIGN_SIGNATURE);
    }
}

fn parts(message: &Message<'_>) -> Vec<Value> {
    message.blocks.iter().filter_map(|block| part(block)).collect()
}

fn part(block: &Block<'_>) -> Option<Value> {
    let mut written = match &block.body {
        Body::Content(Content::Text(text)) => json!({ "text": text }),
        Body::Content(Content::File(file)) => inline(file),
        Body::Thought(text) => json!({"text": text, "thought": true}),
        Body::Call(call) => json!({ "functionCall": function_call(call, block.own) }),
        Body::Result(answer) => return Some(function_response(answer, block.own)),
        Body::Opaque => block.own?.clone(),
    };
    if let Some(signature) = block.own.and_then(|own| own.get(SIGNATURE)) {
        written[SIGNATURE] = signature.clone();
    }
    Some(written)
}

fn function_call(call: &Asked<'_>, own: Option<&Value>) -> Value {
    let mut written = json!({"name": call.name, "args": call.input()});
    if let Some(id) = own.and_then(|own| own.get(CALL_ID)) {
        written[CALL_ID] = id.clone();
    }
    written
}

fn function_response(answer: &Answer<'_>, own: Option<&Value>) -> Value {
    let key = if answer.failed() { "error" } else { "output" };
    let mut response = json!({"name": answer.name, "response": {key: answer.text()}});
    if let Some(id) = own.and_then(|own| own.get(CALL_ID)).filter(|id| id.is_string()) {
        response[CALL_ID] = id.clone();
    }
    let files: Vec<Value> = answer.files().map(inline).collect();
    if !files.is_empty() {
        response["parts"] = Value::Array(files);
    }
    json!({ "functionResponse": response })
}

fn inline(file: &File) -> Value {
    let media_type = files::media_type(file);
    match &file.source {
        FileSource::Base64(data) => json!({"inlineData": {"mimeType": media_type, "data": data}}),
        FileSource::Url(url) => json!({"fileData": {"mimeType": media_type, "fileUri": url}}),
    }
}

/// A name in the letters Gemini accepts; only a model that made one up has another.
fn function_name(name: &str) -> Cow<'_, str> {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':') { c } else { '_' }
    };
    let name: String = name.chars().map(plain).take(63).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        Cow::Owned(name)
    } else {
        Cow::Owned(format!("_{name}"))
    }
}
