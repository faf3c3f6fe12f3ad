//! The oracle on bodies written by hand: each of its conventions once.

use base::{Money, StopReason, Usage};
use serde_json::{Value, json};
use testkit::cassette::Exchange;
use testkit::oracle::{Expected, FailureKind, expect};

fn answered(provider: &str, protocol: &str, status: u16, body: &str) -> Expected {
    let exchange: Exchange = serde_json::from_value(json!({
        "provider": provider, "protocol": protocol, "request": { "url": "anthropic" },
        "response": { "status": status, "headers": {}, "body": body },
    }))
    .unwrap();
    expect(&exchange)
}

fn whole(protocol: &str, body: &Value) -> Expected {
    answered("p", protocol, 200, &body.to_string())
}

fn chat_usage(provider: &str, usage: &Value) -> Expected {
    let body = json!({ "choices": [{ "index": 0, "message": { "content": "x" }, "finish_reason": "stop" }],
        "usage": usage });
    answered(provider, "openai-chat", 200, &body.to_string())
}

#[test]
fn anthropic_usage_grows_field_by_field_and_a_stray_done_does_no_harm() {
    let body = "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":2,\"output_tokens\":1}}}\r\n\r\n\
        event: content_block_start\r\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{}}}\r\n\r\n\
        event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\"\"}}\r\n\r\n\
        event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\":1}\"}}\r\n\r\n\
        : keep-alive\r\n\r\n\
        event: message_delta\r\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":9}}\r\n\r\n\
        event: message_stop\r\ndata: {\"type\":\"message_stop\"}\r\n\r\ndata: [DONE]\r\n\r\n";
    let read = answered("p", "anthropic-messages", 200, body);
    assert_eq!(read.error, None);
    assert_eq!(read.calls[0].args, json!({ "a": 1 }));
    assert_eq!(read.usage, Usage { input: 5, cache_read: 2, output: 9, ..Usage::default() });
    assert_eq!(read.stop, Some(StopReason::ToolCalls));
}

#[test]
fn anthropic_stops_have_their_meanings() {
    for (word, stop) in [
        ("end_turn", StopReason::Done),
        ("stop_sequence", StopReason::Done),
        ("max_tokens", StopReason::Length),
        ("refusal", StopReason::Refusal),
        ("pause_turn", StopReason::Paused),
        ("model_context_window_exceeded", StopReason::ContextFull),
        ("new_word", StopReason::Other),
    ] {
        let body = json!({ "type": "message", "content": [], "stop_reason": word });
        assert_eq!(whole("anthropic-messages", &body).stop, Some(stop), "{word}");
    }
}

#[test]
fn redacted_thoughts_seal_and_searches_of_the_provider_are_no_calls() {
    let body = json!({ "type": "message", "stop_reason": "end_turn", "content": [
        { "type": "redacted_thinking", "data": "x" },
        { "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} },
        { "type": "text", "text": "a" }, { "type": "text", "text": "b" }] });
    let read = whole("anthropic-messages", &body);
    assert!(read.has_seal && read.calls.is_empty());
    assert_eq!((read.text.as_str(), read.stop), ("ab", Some(StopReason::Done)));
}

#[test]
fn chat_keeps_cached_tokens_out_of_input_and_thinking_inside_output() {
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
        "prompt_tokens_details": { "cached_tokens": 60, "cache_write_tokens": 30 },
        "completion_tokens_details": { "reasoning_tokens": 15 }, "cost": 0.5 });
    let read = chat_usage("openrouter", &usage);
    let tokens = Usage { input: 10, cache_read: 60, cache_write: 30, output: 20, reasoning: 15 };
    assert_eq!((read.usage, read.cost), (tokens, Some(Money::from_dollars(0.5))));
}

#[test]
fn thinking_beside_the_output_is_told_by_the_sum_or_by_the_provider() {
    let usage = |total: u64| {
        json!({ "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": total,
        "completion_tokens_details": { "reasoning_tokens": 25 } })
    };
    let output = |provider: &str, total| chat_usage(provider, &usage(total)).usage;
    assert_eq!((output("xai", 37).output, output("xai", 37).reasoning), (27, 25));
    assert_eq!(output("vercel", 12).output, 27);
    assert_eq!((output("doubleword", 12).output, output("doubleword", 12).reasoning), (2, 2));
}

#[test]
fn costs_are_read_wherever_providers_put_them() {
    let cost = |usage: Value| chat_usage("p", &usage).cost;
    assert_eq!(cost(json!({ "cost": { "total_cost": 0.25 } })), Some(Money::from_dollars(0.25)));
    assert_eq!(cost(json!({ "cost_in_usd_ticks": 731_000 })), Some(Money::from_pico(73_100_000)));
    assert_eq!(cost(json!({})), None);
    let venice = json!({ "cost": { "usd": 0.125 }, "choices": [] });
    assert_eq!(whole("openai-chat", &venice).cost, Some(Money::from_dollars(0.125)));
}

#[test]
fn chat_streams_pair_pieces_of_calls_by_place_and_by_id() {
    let chunk = |delta: Value| {
        format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": delta }] }))
    };
    let call = |index: u64, id: Value, name: Value, args: &str| json!({ "tool_calls": [{ "index": index, "id": id, "function": { "name": name, "arguments": args } }] });
    let body = [
        chunk(call(0, json!("a"), json!("f"), "{\"x\"")),
        chunk(call(0, Value::Null, Value::Null, ":1}")),
        chunk(call(0, json!("b"), json!("g"), "{}")),
        "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"other choice\"}}]}\n\n"
            .to_owned(),
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
            .to_owned(),
    ];
    let read = answered("p", "openai-chat", 200, &body.concat());
    let calls: Vec<_> =
        read.calls.iter().map(|call| (call.name.as_str(), call.args.to_string())).collect();
    assert_eq!(calls, [("f", "{\"x\":1}".to_owned()), ("g", "{}".to_owned())]);
    assert_eq!((read.text.as_str(), read.stop), ("", Some(StopReason::ToolCalls)));
}

#[test]
fn refusals_are_text_with_their_own_stop_and_cut_arguments_stay_text() {
    let body = json!({ "choices": [{ "index": 0, "finish_reason": "stop",
        "message": { "content": null, "refusal": "No." } }] });
    let read = whole("openai-chat", &body);
    assert_eq!((read.text.as_str(), read.stop), ("No.", Some(StopReason::Refusal)));
    let body = json!({ "choices": [{ "index": 0, "finish_reason": "length", "message": {
        "tool_calls": [{ "id": "a", "function": { "name": "f", "arguments": "{\"x" } }] } }] });
    let read = whole("openai-chat", &body);
    assert_eq!((&read.calls[0].args, read.stop), (&json!("{\"x"), Some(StopReason::Length)));
}

#[test]
fn mistral_thinks_in_parts() {
    let body = json!({ "choices": [{ "index": 0, "finish_reason": "stop", "message": { "content": [
        { "type": "thinking", "thinking": [{ "type": "text", "text": "hm" }] },
        { "type": "text", "text": "yes" }] } }] });
    let read = whole("openai-chat", &body);
    assert_eq!((read.reasoning.as_str(), read.text.as_str()), ("hm", "yes"));
}

#[test]
fn responses_items_come_from_their_own_events() {
    let item = json!({ "type": "reasoning", "encrypted_content": "x",
        "summary": [{ "text": "one" }, { "text": "two" }] });
    let events = [
        json!({ "type": "response.output_item.done", "output_index": 1,
            "item": { "type": "message", "content": [{ "type": "output_text", "text": "hi" }] } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": { "status": "completed", "output": [],
            "usage": { "input_tokens": 9, "input_tokens_details": { "cached_tokens": 4 }, "output_tokens": 2 } } }),
    ];
    let body = events.map(|event| format!("data: {event}\n\n")).concat();
    let read = answered("p", "openai-responses", 200, &body);
    assert_eq!((read.text.as_str(), read.reasoning.as_str()), ("hi", "one\n\ntwo"));
    assert_eq!(read.usage, Usage { input: 5, cache_read: 4, output: 2, ..Usage::default() });
    assert!(read.has_seal && read.error.is_none());
}

#[test]
fn a_failed_response_and_a_missing_end_are_errors() {
    let failed = "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"oops\"}}}\n\n";
    let error = answered("p", "openai-responses", 200, failed).error.unwrap();
    assert_eq!((error.kind, error.code.as_deref()), (FailureKind::Inside, Some("server_error")));
    let cut = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hal\"}}]}\n\n";
    let read = answered("p", "openai-chat", 200, cut);
    assert_eq!(read.error.unwrap().kind, FailureKind::CutOff);
    assert_eq!(read.text, "hal");
}

#[test]
fn gemini_counts_tool_prompts_as_input_and_a_blocked_prompt_as_refusal() {
    let body = json!({ "candidates": [{ "finishReason": "STOP", "content": { "parts": [
        { "text": "hm", "thought": true },
        { "functionCall": { "name": "f" }, "thoughtSignature": "x" }] } }],
        "usageMetadata": { "promptTokenCount": 10, "cachedContentTokenCount": 4,
            "toolUsePromptTokenCount": 3, "candidatesTokenCount": 2, "thoughtsTokenCount": 5 } });
    let read = whole("gemini", &body);
    let tokens = Usage { input: 9, cache_read: 4, cache_write: 0, output: 7, reasoning: 5 };
    assert_eq!((read.usage, read.stop), (tokens, Some(StopReason::ToolCalls)));
    assert_eq!((read.calls[0].id.as_ref(), &read.calls[0].args), (None, &json!({})));
    let body = json!({ "promptFeedback": { "blockReason": "SAFETY" } });
    assert_eq!(whole("gemini", &body).stop, Some(StopReason::Refusal));
}

#[test]
fn error_statuses_keep_the_providers_code_and_words() {
    for (body, code, message) in [
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
            Some("overloaded_error"),
            "m",
        ),
        (r#"{"error":{"code":429,"message":"m","type":"t"}}"#, Some("429"), "m"),
        (r#"{"error":"plain words"}"#, None, "plain words"),
        (r#"{"detail":"Invalid API Key"}"#, None, "Invalid API Key"),
        ("<html>", None, "<html>"),
    ] {
        let error = answered("p", "openai-chat", 429, body).error.unwrap();
        assert_eq!((error.status, error.code.as_deref()), (429, code), "{body}");
        assert_eq!(error.message, message);
    }
}
