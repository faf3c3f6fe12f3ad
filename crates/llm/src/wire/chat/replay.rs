//! The model's own thoughts, sent back to the model that had them.

use serde_json::{Map, Value, json};
use settings::provider::ReasoningReplay;

use super::thoughts::{DETAILS, OPAQUE};
use crate::projection::{Block, Body};
use crate::target::Target;

/// Adds the thoughts among `blocks`, in the field the server reads.
pub(super) fn thoughts(
    blocks: &[Block<'_>],
    target: &Target,
    message: &mut Map<String, Value>,
    calls: bool,
) {
    let own: Vec<(&str, &Value)> = blocks.iter().filter_map(thought).collect();
    let text: String = own.iter().map(|(text, _)| *text).collect();
    let sidecar = |key: &str| own.iter().find_map(|(_, data)| data.get(key));
    if let Some(opaque) = sidecar(OPAQUE) {
        message.insert("reasoning_text".to_owned(), json!(text));
        message.insert(OPAQUE.to_owned(), opaque.clone());
    }
    match target.quirks.reasoning_replay {
        Some(ReasoningReplay::Never) => {}
        // What is sealed is meant to come back; plain text comes back only where a quirk says so.
        None => {
            if let Some(details) = sidecar(DETAILS).filter(|details| is_sealed(details)) {
                message.insert(DETAILS.to_owned(), details.clone());
            }
        }
        Some(ReasoningReplay::ReasoningContent) => {
            // Servers that want the thought behind a call back refuse a call without one, also a
            // call that another model made.
            let text = if text.is_empty() && calls { " ".to_owned() } else { text };
            if !text.is_empty() {
                message.insert("reasoning_content".to_owned(), json!(text));
            }
        }
        Some(ReasoningReplay::Reasoning) => {
            if !text.is_empty() {
                message.insert("reasoning".to_owned(), json!(text));
            }
        }
        Some(ReasoningReplay::ReasoningDetails) => {
            if let Some(details) = sidecar(DETAILS) {
                message.insert(DETAILS.to_owned(), details.clone());
            } else if !text.is_empty() {
                message.insert("reasoning".to_owned(), json!(text));
            }
        }
        Some(ReasoningReplay::ThinkingPart) => {
            if !text.is_empty() {
                let said = message.get("content").and_then(Value::as_str);
                message.insert("content".to_owned(), thinking_content(&text, said));
            }
        }
    }
}

fn thought<'a>(block: &Block<'a>) -> Option<(&'a str, &'a Value)> {
    match block.body {
        Body::Thought(text) => block.own.map(|own| (text, own)),
        Body::Content(_) | Body::Call(_) | Body::Result(_) | Body::Opaque => None,
    }
}

/// Whether details hold something only the maker can read or check.
fn is_sealed(details: &Value) -> bool {
    let sealed = |detail: &Value| {
        ["data", "signature"].iter().any(|key| detail.get(*key).is_some_and(Value::is_string))
    };
    details.as_array().is_some_and(|details| details.iter().any(sealed))
}

/// Mistral's content: the thought as a part, then what was said.
fn thinking_content(thought: &str, said: Option<&str>) -> Value {
    let thinking = json!({"type": "thinking", "thinking": [{"type": "text", "text": thought}]});
    let said = said.map(|text| json!({"type": "text", "text": text}));
    std::iter::once(thinking).chain(said).collect()
}
