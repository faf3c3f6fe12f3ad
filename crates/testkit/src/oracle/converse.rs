//! Bedrock Converse.

use base::{StopReason, Usage};
use serde_json::{Value, json};

use super::{
    Event, Expected, ExpectedCall, arguments, cut_off, done_or_calls, failed_inside, list, number,
    text,
};

/// Puts the stream together to the body it would have been, then reads that.
pub(super) fn stream(events: &[Event]) -> Expected {
    let mut blocks: Vec<(u64, Value, String)> = Vec::new();
    let mut body = json!({});
    let mut error = None;
    for Event { name, data } in events {
        let index = number(data, "contentBlockIndex");
        match name.as_str() {
            "contentBlockStart" => blocks.push((index, data["start"].clone(), String::new())),
            "contentBlockDelta" => {
                let delta = &data["delta"];
                let place = blocks.iter().rposition(|(at, ..)| *at == index).unwrap_or_else(|| {
                    blocks.push((index, json!({}), String::new()));
                    blocks.len() - 1
                });
                let (_, block, json) = &mut blocks[place];
                json.push_str(text(&delta["toolUse"], "input"));
                grow(block, delta);
            }
            "messageStop" => body["stopReason"] = data["stopReason"].clone(),
            "metadata" => body["usage"] = data["usage"].clone(),
            name if name.starts_with("exception:") => error = Some(failed_inside(data)),
            _ => {}
        }
    }
    let content: Vec<Value> = blocks
        .into_iter()
        .map(|(_, mut block, json)| {
            if block.get("toolUse").is_some() {
                block["toolUse"]["input"] = arguments(&json);
            }
            block
        })
        .collect();
    body["output"] = json!({ "message": { "content": content } });
    let ended = body.get("stopReason").is_some();
    let error = error.or_else(|| (!ended).then(cut_off));
    Expected { error, ..whole(&body) }
}

fn grow(block: &mut Value, delta: &Value) {
    if let Some(more) = delta["text"].as_str() {
        let before = text(block, "text").to_owned();
        block["text"] = Value::String(before + more);
    }
    let thought = &delta["reasoningContent"];
    for field in ["text", "signature"] {
        if let Some(more) = thought[field].as_str() {
            let before = text(&block["reasoningContent"]["reasoningText"], field).to_owned();
            block["reasoningContent"]["reasoningText"][field] = Value::String(before + more);
        }
    }
    if let Some(data) = thought.get("redactedContent") {
        block["reasoningContent"]["redactedContent"] = data.clone();
    }
}

pub(super) fn whole(body: &Value) -> Expected {
    let mut out = Expected::default();
    for block in list(&body["output"]["message"], "content") {
        out.text.push_str(text(block, "text"));
        let thought = &block["reasoningContent"];
        out.reasoning.push_str(text(&thought["reasoningText"], "text"));
        out.has_seal |= !text(&thought["reasoningText"], "signature").is_empty()
            || thought.get("redactedContent").is_some();
        if let Some(call) = block.get("toolUse") {
            out.calls.push(ExpectedCall {
                id: Some(text(call, "toolUseId").to_owned()),
                name: text(call, "name").to_owned(),
                args: call["input"].clone(),
            });
        }
    }
    let usage = &body["usage"];
    out.usage = Usage {
        input: number(usage, "inputTokens"),
        cache_read: number(usage, "cacheReadInputTokens"),
        cache_write: number(usage, "cacheWriteInputTokens"),
        output: number(usage, "outputTokens"),
        reasoning: 0,
    };
    out.stop = body["stopReason"].as_str().map(|word| match word {
        "end_turn" | "stop_sequence" => done_or_calls(&out.calls),
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" => StopReason::Length,
        "guardrail_intervened" | "content_filtered" => StopReason::Refusal,
        "model_context_window_exceeded" => StopReason::ContextFull,
        _ => StopReason::Other,
    });
    out
}
