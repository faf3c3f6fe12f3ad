//! `OpenAI` Responses.

use base::{StopReason, Usage};
use serde_json::Value;

use super::{
    Event, Expected, ExpectedCall, arguments, cut_off, done_or_calls, failed_inside, list, number,
    reported_cost, text,
};

/// Items come from their own `done` events: some servers leave the last response's output empty.
pub(super) fn stream(events: &[Event]) -> Expected {
    let mut items: Vec<(u64, Value)> = Vec::new();
    let mut response = Value::Null;
    let mut error = None;
    for Event { data, .. } in events {
        match text(data, "type") {
            "response.output_item.done" => {
                items.push((number(data, "output_index"), data["item"].clone()));
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                response = data["response"].clone();
            }
            "error" => error = Some(failed_inside(data)),
            _ => {}
        }
    }
    let ended = !response.is_null();
    items.sort_by_key(|(at, _)| *at);
    if !items.is_empty() {
        response["output"] = items.into_iter().map(|(_, item)| item).collect();
    }
    let read = whole(&response);
    let error = error.or(read.error.clone()).or_else(|| (!ended).then(cut_off));
    Expected { error, ..read }
}

pub(super) fn whole(body: &Value) -> Expected {
    let mut out = Expected::default();
    let mut refused = false;
    if body.get("error").is_some_and(|error| !error.is_null()) {
        out.error = Some(failed_inside(body));
    }
    for item in list(body, "output") {
        match text(item, "type") {
            "message" => {
                for part in list(item, "content") {
                    out.text.push_str(text(part, "text"));
                    out.text.push_str(text(part, "refusal"));
                    refused |= text(part, "type") == "refusal";
                }
            }
            "reasoning" => {
                let parts = list(item, "summary").iter().chain(list(item, "content"));
                let thoughts: Vec<&str> = parts.map(|part| text(part, "text")).collect();
                out.reasoning.push_str(&thoughts.join("\n\n"));
                out.has_seal |= !text(item, "encrypted_content").is_empty();
            }
            "function_call" => out.calls.push(ExpectedCall {
                id: Some(text(item, "call_id").to_owned()),
                name: text(item, "name").to_owned(),
                args: arguments(text(item, "arguments")),
            }),
            _ => {}
        }
    }
    let usage = &body["usage"];
    let cache_read = number(&usage["input_tokens_details"], "cached_tokens");
    let cache_write = number(&usage["input_tokens_details"], "cache_write_tokens");
    out.usage = Usage {
        input: number(usage, "input_tokens").saturating_sub(cache_read + cache_write),
        cache_read,
        cache_write,
        output: number(usage, "output_tokens"),
        reasoning: number(&usage["output_tokens_details"], "reasoning_tokens"),
    };
    out.cost = reported_cost(usage);
    out.stop = match (text(body, "status"), text(&body["incomplete_details"], "reason")) {
        ("completed", _) if refused => Some(StopReason::Refusal),
        ("completed", _) => Some(done_or_calls(&out.calls)),
        ("incomplete", "max_output_tokens") => Some(StopReason::Length),
        ("incomplete", "content_filter") => Some(StopReason::Refusal),
        ("incomplete", _) => Some(StopReason::Other),
        _ => None,
    };
    out
}
