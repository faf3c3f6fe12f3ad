//! Gemini `generateContent`: a stream is a row of whole bodies.

use base::{StopReason, Usage};
use serde_json::{Map, Value};

use super::{
    Event, Expected, ExpectedCall, cut_off, done_or_calls, failed_inside, list, number, text,
};

/// Whether the answer came in one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Whole,
    Stream,
}

pub(super) fn read(events: &[Event], form: Form) -> Expected {
    let mut out = Expected::default();
    let mut finish = None;
    let mut blocked = false;
    for Event { data, .. } in events {
        if data.get("error").is_some() {
            out.error = Some(failed_inside(data));
        }
        blocked |= data["promptFeedback"].get("blockReason").is_some();
        let first = list(data, "candidates").iter().find(|one| number(one, "index") == 0);
        if let Some(candidate) = first {
            take(&mut out, list(&candidate["content"], "parts"));
            finish = candidate["finishReason"].as_str().map(str::to_owned).or(finish);
        }
        if let Some(usage) = data.get("usageMetadata") {
            out.usage = tokens(usage);
        }
    }
    out.stop = match finish.as_deref() {
        Some("STOP") => Some(done_or_calls(&out.calls)),
        Some("MAX_TOKENS") => Some(StopReason::Length),
        Some(
            "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION",
        ) => Some(StopReason::Refusal),
        Some(_) => Some(StopReason::Other),
        None if blocked => Some(StopReason::Refusal),
        None => None,
    };
    if out.error.is_none() && out.stop.is_none() && form == Form::Stream {
        out.error = Some(cut_off());
    }
    out
}

fn take(out: &mut Expected, parts: &[Value]) {
    for part in parts {
        out.has_seal |= !text(part, "thoughtSignature").is_empty();
        if part["thought"] == true {
            out.reasoning.push_str(text(part, "text"));
        } else {
            out.text.push_str(text(part, "text"));
        }
        if let Some(call) = part.get("functionCall") {
            let args = call.get("args").filter(|args| args.is_object()).cloned();
            out.calls.push(ExpectedCall {
                id: Some(text(call, "id").to_owned()).filter(|id| !id.is_empty()),
                name: text(call, "name").to_owned(),
                args: args.unwrap_or_else(|| Value::Object(Map::new())),
            });
        }
    }
}

fn tokens(usage: &Value) -> Usage {
    let cache_read = number(usage, "cachedContentTokenCount");
    let reasoning = number(usage, "thoughtsTokenCount");
    let prompt = number(usage, "promptTokenCount") + number(usage, "toolUsePromptTokenCount");
    Usage {
        input: prompt.saturating_sub(cache_read),
        cache_read,
        cache_write: 0,
        output: number(usage, "candidatesTokenCount") + reasoning,
        reasoning,
    }
}
