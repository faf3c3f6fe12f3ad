//! Anthropic Messages, direct and inside Bedrock's `invoke` frames.

use base::{StopReason, Usage};
use serde_json::{Map, Value, json};

use super::{
    Event, Expected, ExpectedCall, arguments, cut_off, done_or_calls, failed_inside, list, number,
    reported_cost, text,
};

/// Puts the stream together to the body it would have been, then reads that.
pub(super) fn stream(events: &[Event]) -> Expected {
    let mut blocks: Vec<(u64, Value, String)> = Vec::new();
    let mut usage = Map::new();
    let mut stop = Value::Null;
    let mut ended = false;
    let mut error = None;
    for Event { name, data } in events {
        if name.starts_with("exception:") {
            error = Some(failed_inside(data));
        }
        match text(data, "type") {
            "message_start" => merge(&mut usage, data["message"].get("usage")),
            "content_block_start" => {
                blocks.push((number(data, "index"), data["content_block"].clone(), String::new()));
            }
            "content_block_delta" => {
                let index = number(data, "index");
                if let Some((_, block, json)) =
                    blocks.iter_mut().rev().find(|(at, ..)| *at == index)
                {
                    add(block, json, &data["delta"]);
                }
            }
            "message_delta" => {
                merge(&mut usage, data.get("usage"));
                stop = data["delta"]["stop_reason"].clone();
            }
            "message_stop" => ended = true,
            "error" => error = Some(failed_inside(data)),
            _ => {}
        }
    }
    let content: Vec<Value> = blocks
        .into_iter()
        .map(|(_, mut block, json)| {
            if !json.is_empty() {
                block["input"] = arguments(&json);
            }
            block
        })
        .collect();
    let body =
        json!({ "type": "message", "content": content, "usage": usage, "stop_reason": stop });
    let read = whole(&body);
    let error = error.or_else(|| (!ended).then(cut_off));
    Expected { error, ..read }
}

fn merge(usage: &mut Map<String, Value>, more: Option<&Value>) {
    for (key, value) in more.and_then(Value::as_object).into_iter().flatten() {
        if !value.is_null() {
            usage.insert(key.clone(), value.clone());
        }
    }
}

fn add(block: &mut Value, json: &mut String, delta: &Value) {
    let mut append = |field: &str| {
        let before = text(block, field).to_owned();
        block[field] = Value::String(before + text(delta, field));
    };
    match text(delta, "type") {
        "text_delta" => append("text"),
        "thinking_delta" => append("thinking"),
        "signature_delta" => append("signature"),
        "input_json_delta" => json.push_str(text(delta, "partial_json")),
        _ => {}
    }
}

pub(super) fn whole(body: &Value) -> Expected {
    let mut out = Expected::default();
    if text(body, "type") == "error" {
        out.error = Some(failed_inside(body));
        return out;
    }
    for block in list(body, "content") {
        match text(block, "type") {
            "text" => out.text.push_str(text(block, "text")),
            "thinking" => {
                out.reasoning.push_str(text(block, "thinking"));
                out.has_seal |= !text(block, "signature").is_empty();
            }
            "redacted_thinking" => out.has_seal = true,
            "tool_use" => out.calls.push(ExpectedCall {
                id: Some(text(block, "id").to_owned()),
                name: text(block, "name").to_owned(),
                args: block["input"].clone(),
            }),
            _ => {}
        }
    }
    let usage = &body["usage"];
    out.cost = reported_cost(usage);
    out.usage = Usage {
        input: number(usage, "input_tokens"),
        cache_read: number(usage, "cache_read_input_tokens"),
        cache_write: number(usage, "cache_creation_input_tokens"),
        output: number(usage, "output_tokens"),
        reasoning: number(&usage["output_tokens_details"], "thinking_tokens"),
    };
    out.stop = body["stop_reason"].as_str().map(|word| match word {
        "end_turn" | "stop_sequence" => done_or_calls(&out.calls),
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" => StopReason::Length,
        "refusal" => StopReason::Refusal,
        "model_context_window_exceeded" => StopReason::ContextFull,
        "pause_turn" => StopReason::Paused,
        _ => StopReason::Other,
    });
    out
}
