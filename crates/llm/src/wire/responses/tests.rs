use base::CallId;
use base::model::{Effort, Money, StopReason, Usage};
use base::transcript::{
    Call, CallInput, CallResult, File, FileSource, Native, Origin, Outcome, Part, PartBody, Piece,
    Role, Turn,
};
use serde_json::{Value, json};
use settings::provider::{SystemRole, Wire};

use super::{Decoder, encode};
use crate::error::{Class, Error};
use crate::fold::{Answer, Fold};
use crate::request::{Reasoning, Request, ToolChoice, ToolSpec};
use crate::target::Target;
use crate::wire::{Decode, StreamEvent};

fn target() -> Target {
    let mut target = Target::sample(Wire::OpenaiResponses);
    target.model.id = "gpt-5".to_owned();
    target
}

fn stream(events: &[Value]) -> Result<Answer, Error> {
    let (mut decoder, mut deltas) = (Decoder::new(&target()), Vec::new());
    for event in events {
        let name = event["type"].as_str().unwrap_or_default();
        let data = event.to_string();
        decoder.event(StreamEvent { name, data: data.as_bytes() }, &mut deltas)?;
    }
    decoder.end(&mut deltas)?;
    let mut fold = Fold::new(target().maker());
    for delta in deltas {
        fold.push(delta);
    }
    Ok(fold.answer())
}

fn shown(answer: &Answer) -> Vec<String> {
    let one = |part: &Part| match &part.body {
        PartBody::Text { text } => format!("says {text}"),
        PartBody::Reasoning { text } => format!("thinks {text}"),
        PartBody::Call(call) => {
            format!("calls {} {} {}", call.id, call.name, Value::Object(call.input.value.clone()))
        }
        PartBody::Opaque { label } => format!("does {label}"),
        PartBody::File(file) => format!("makes {}", file.media_type),
        PartBody::Result(_) => "answers".to_owned(),
    };
    answer.parts.iter().map(one).collect()
}

fn end(output: &Value) -> Value {
    json!({ "type": "response.completed", "response": { "id": "resp_1", "status": "completed", "output": output } })
}

fn added(item: &Value, at: u64) -> Value {
    json!({ "type": "response.output_item.added", "output_index": at, "item": item })
}

fn done(item: &Value, at: u64) -> Value {
    json!({ "type": "response.output_item.done", "output_index": at, "item": item })
}

fn call(id: &str, arguments: &str) -> Value {
    json!({ "type": "function_call", "id": id, "call_id": format!("call_{id}"), "name": "ls", "arguments": arguments })
}

fn arguments(id: &str, at: u64, delta: &str) -> Value {
    json!({ "type": "response.function_call_arguments.delta", "item_id": id, "output_index": at, "delta": delta })
}

fn says(delta: &str) -> Value {
    json!({ "type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": delta })
}

#[test]
fn ids_that_change_with_every_event_do_not_confuse() {
    let answer = stream(&[
        added(&json!({ "type": "reasoning", "id": "a1", "summary": [] }), 0),
        json!({ "type": "response.reasoning_summary_text.delta", "item_id": "a2", "output_index": 0, "summary_index": 0, "delta": "one" }),
        json!({ "type": "response.reasoning_summary_text.delta", "item_id": "a3", "output_index": 0, "summary_index": 1, "delta": "two" }),
        done(
            &json!({ "type": "reasoning", "id": "a4", "encrypted_content": "E", "summary": [{ "text": "one" }, { "text": "two" }] }),
            0,
        ),
        added(&call("b1", ""), 1),
        arguments("b2", 1, "{\"a\""),
        arguments("b3", 1, ":1}"),
        done(
            &json!({ "type": "function_call", "id": "b4", "call_id": "call_b1", "name": "ls", "arguments": "{\"a\":1}" }),
            1,
        ),
        end(&json!([
            { "type": "reasoning", "id": "a5", "summary": [{ "text": "one" }, { "text": "two" }] },
            { "type": "function_call", "id": "b5", "call_id": "call_b9", "name": "ls", "arguments": "{\"a\":1}" },
        ])),
    ]);
    let answer = answer.unwrap();
    assert_eq!(shown(&answer), ["thinks one\n\ntwo", "calls call_b1 ls {\"a\":1}"]);
    assert_eq!(answer.stop, Some(StopReason::ToolCalls));
}

#[test]
fn parallel_calls_at_one_position_are_told_apart_by_their_ids() {
    let answer = stream(&[
        added(&call("x", ""), 0),
        added(&call("y", ""), 0),
        arguments("x", 0, "{\"a\":"),
        arguments("y", 0, "{\"b\":"),
        arguments("x", 0, "1}"),
        arguments("y", 0, "2}"),
        done(&call("x", "{\"a\":1}"), 0),
        done(&call("y", "{\"b\":2}"), 0),
        end(&json!([])),
    ]);
    assert_eq!(shown(&answer.unwrap()), ["calls call_x ls {\"a\":1}", "calls call_y ls {\"b\":2}"]);
}

#[test]
fn a_server_without_positions_and_announcements_is_understood() {
    let answer = stream(&[
        json!({ "type": "response.output_text.delta", "item_id": "m", "delta": "Hel" }),
        json!({ "type": "response.output_text.delta", "item_id": "m", "delta": "lo" }),
        json!({ "type": "response.output_item.done", "item": { "type": "message", "id": "m", "content": [{ "type": "output_text", "text": "Hello!" }] } }),
        json!({ "type": "response.output_item.done", "item": call("c", "{}") }),
        end(&json!([])),
    ]);
    assert_eq!(shown(&answer.unwrap()), ["says Hello!", "calls call_c ls {}"]);
}

#[test]
fn steps_of_the_provider_pictures_and_free_text_calls_are_kept() {
    let answer = stream(&[
        done(&json!({ "type": "web_search_call", "id": "ws_1", "action": { "query": "q" } }), 0),
        json!({ "type": "response.web_search_call.completed", "output_index": 0 }),
        done(
            &json!({ "type": "image_generation_call", "id": "ig", "result": "AAAA", "output_format": "webp" }),
            1,
        ),
        json!({ "type": "response.custom_tool_call_input.delta", "output_index": 2, "delta": "ra" }),
        done(
            &json!({ "type": "custom_tool_call", "id": "ctc", "call_id": "k", "name": "patch", "input": "raw \"text\"" }),
            2,
        ),
        end(&json!([])),
    ]);
    let answer = answer.unwrap();
    assert_eq!(
        shown(&answer),
        ["does web_search_call", "makes image/webp", r#"calls k patch {"input":"raw \"text\""}"#]
    );
    assert_eq!(answer.parts[0].native.as_ref().unwrap().data["id"], "ws_1");
}

#[test]
fn every_way_to_end_has_its_meaning() {
    let ended = |response: Value| {
        stream(&[says("x"), json!({ "type": "response.incomplete", "response": response })])
    };
    let reason = |reason: &str| json!({ "status": "incomplete", "incomplete_details": { "reason": reason } });
    assert_eq!(ended(reason("max_output_tokens")).unwrap().stop, Some(StopReason::Length));
    assert_eq!(ended(reason("content_filter")).unwrap().stop, Some(StopReason::Refusal));
    assert_eq!(ended(reason("boredom")).unwrap().stop, Some(StopReason::Other));
    assert_eq!(stream(&[says("x")]).unwrap_err(), Error::truncated());
    let refused = json!({ "type": "response.refusal.delta", "output_index": 0, "delta": "no" });
    assert_eq!(stream(&[refused, end(&json!([]))]).unwrap().stop, Some(StopReason::Refusal));
    let errors = [
        (
            json!({ "type": "error", "code": "rate_limit_exceeded", "message": "slow" }),
            Class::RateLimit,
        ),
        (
            json!({ "type": "error", "error": { "type": "insufficient_quota", "message": "pay" } }),
            Class::Billing,
        ),
        (json!({ "error": { "code": 502, "message": "gone" } }), Class::Server),
        (
            json!({ "type": "response.failed", "response": { "status": "failed", "error": { "code": "context_length_exceeded", "message": "long" } } }),
            Class::ContextOverflow,
        ),
        (
            json!({ "type": "response.completed", "response": { "status": "failed", "error": { "code": "server_error", "message": "broke" } } }),
            Class::Server,
        ),
        (json!({ "type": "response.output_text.delta", "delta": 7 }), Class::Server),
    ];
    for (event, class) in errors {
        assert_eq!(stream(&[says("x"), event.clone()]).unwrap_err().class, class, "{event}");
    }
    let odd = json!({ "type": "response.audio.delta", "delta": { "x": 1 } });
    assert_eq!(shown(&stream(&[odd, says("x"), end(&json!([]))]).unwrap()), ["says x"]);
}

#[test]
fn usage_is_split_into_buckets_and_both_kinds_of_cost_are_read() {
    let answer = |usage: Value| {
        let body =
            json!({ "object": "response", "status": "completed", "output": [], "usage": usage });
        let (mut decoder, mut deltas) = (Decoder::new(&target()), Vec::new());
        decoder.whole(body.to_string().as_bytes(), &mut deltas).unwrap();
        let mut fold = Fold::new(target().maker());
        for delta in deltas {
            fold.push(delta);
        }
        fold.answer()
    };
    let ticks = answer(json!({
        "input_tokens": 100, "input_tokens_details": { "cached_tokens": 60, "cache_write_tokens": 10 },
        "output_tokens": 20, "output_tokens_details": { "reasoning_tokens": 5 }, "cost_in_usd_ticks": 37_500,
    }));
    let usage = Usage { input: 30, cache_read: 60, cache_write: 10, output: 20, reasoning: 5 };
    assert_eq!((ticks.usage, ticks.cost), (usage, Some(Money::from_pico(3_750_000))));
    assert_eq!(
        answer(json!({ "input_tokens": 1, "cost": 0.5 })).cost,
        Some(Money::from_dollars(0.5))
    );
}

fn user(parts: Vec<Part>) -> Turn {
    Turn { role: Role::User, parts }
}

fn assistant(parts: Vec<Part>) -> Turn {
    Turn { role: Role::Assistant, parts }
}

fn part(body: PartBody, native: Option<Value>) -> Part {
    let native = native.map(|data| Native { maker: target().maker(), data });
    Part { native, ..Part::new(body, Origin::Assistant) }
}

fn calls(id: &str, native: Option<Value>) -> Part {
    let call = Call { id: CallId::new(id), name: "ls".to_owned(), input: CallInput::default() };
    part(PartBody::Call(call), native)
}

fn result(id: &str, pieces: Vec<Piece>) -> Part {
    let result = CallResult {
        call: CallId::new(id),
        name: "ls".to_owned(),
        outcome: Outcome::Done,
        pieces,
        shown: None,
    };
    Part::new(PartBody::Result(result), Origin::Shell)
}

fn text(text: &str) -> Piece {
    Piece::Text { text: text.to_owned() }
}

fn image() -> File {
    let source = FileSource::Base64("AAAA".to_owned());
    File { media_type: "image/png".to_owned(), name: None, source }
}

fn input(turns: Vec<Turn>, target: &Target) -> Value {
    let request = Request { turns, ..Request::default() };
    encode(&request, target).body["input"].clone()
}

#[test]
fn a_conversation_with_everything_becomes_the_right_items() {
    let thought = PartBody::Reasoning { text: "hm".to_owned() };
    let turns = vec![
        user(vec![Part::user_text("look"), Part::new(PartBody::File(image()), Origin::User)]),
        assistant(vec![
            part(
                thought,
                Some(
                    json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E" }),
                ),
            ),
            calls("call_1", Some(json!({ "type": "function_call", "id": "fc_1" }))),
            calls("call_2", None),
        ]),
        user(vec![
            result("call_2", vec![text("two"), Piece::File(image())]),
            result("call_1", vec![]),
            Part::user_text("and now?"),
        ]),
        assistant(vec![part(
            PartBody::Text { text: "done".to_owned() },
            Some(json!({ "type": "message", "id": "msg_1", "phase": "final_answer" })),
        )]),
    ];
    let picture = json!({ "type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto" });
    assert_eq!(
        input(turns, &target()),
        json!([
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "look" }, picture] },
            { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E" },
            { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "ls", "arguments": "{}" },
            { "type": "function_call", "call_id": "call_2", "name": "ls", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "call_1", "output": "(no output)" },
            { "type": "function_call_output", "call_id": "call_2", "output": [{ "type": "input_text", "text": "two" }, picture] },
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "and now?" }] },
            { "type": "message", "id": "msg_1", "phase": "final_answer", "role": "assistant", "status": "completed",
              "content": [{ "type": "output_text", "text": "done" }] },
        ])
    );
}

#[test]
fn foreign_and_stranded_thoughts_are_left_out_and_ids_with_them() {
    let thought = |own| part(PartBody::Reasoning { text: "hm".to_owned() }, Some(own));
    let sealed =
        json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E" });
    let unsealed = json!({ "type": "reasoning", "id": "rs_2", "summary": [] });
    let with_id = Some(json!({ "type": "function_call", "id": "fc_1" }));
    let other = Target { provider: "azure".to_owned(), ..target() };
    let turn = assistant(vec![thought(sealed.clone()), calls("c", with_id.clone())]);
    let items = input(vec![turn], &other);
    assert_eq!(
        items[0],
        json!({ "type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}" })
    );
    let items = input(vec![assistant(vec![thought(unsealed), calls("c", with_id)])], &target());
    assert_eq!(items[0].get("id"), None, "{items}");
    let items = input(vec![assistant(vec![Part::assistant_text("x"), thought(sealed)])], &target());
    assert_eq!(items.as_array().unwrap().len(), 1, "{items}");
}

#[test]
fn every_call_has_one_output_and_every_output_a_call() {
    let long = "x".repeat(90);
    let turns = vec![
        user(vec![result("stray", vec![text("late")])]),
        assistant(vec![calls("same", None), calls(&long, None), calls("päth/1", None)]),
        user(vec![result(&long, vec![text("ok")]), result(&long, vec![text("twice")])]),
        assistant(vec![calls("same", None)]),
    ];
    let items = input(turns, &target());
    let ids = |kind: &str| -> Vec<String> {
        let items = items.as_array().unwrap().iter().filter(|item| item["type"] == kind);
        items.map(|item| item["call_id"].as_str().unwrap().to_owned()).collect()
    };
    let (calls, outputs) = (ids("function_call"), ids("function_call_output"));
    assert_eq!(calls, outputs);
    assert_eq!(calls.len(), 4);
    assert!(calls.iter().all(|id| id.len() <= 64 && id.is_ascii()), "{calls:?}");
    let unique: std::collections::HashSet<_> = calls.iter().collect();
    assert_eq!(unique.len(), 4, "{calls:?}");
    assert!(items[0]["content"][0]["text"].as_str().unwrap().contains("late"));
    assert!(items[4]["output"].as_str().unwrap().contains("interrupted"), "{items}");
}

#[test]
fn settings_reach_the_body() {
    let mut target = target();
    target.model.reasoning_levels = vec![Effort::Low, Effort::High];
    target.model.default_max_tokens = 4_000;
    target.system_prompt_prefix = Some("Prefix".to_owned());
    let mut request = Request {
        system: vec!["One".to_owned(), String::new(), "Two".to_owned()],
        tools: vec![ToolSpec {
            name: "ls".to_owned(),
            description: "lists".to_owned(),
            schema: json!({ "type": "object" }),
        }],
        tool_choice: ToolChoice::Named("ls".to_owned()),
        reasoning: Reasoning::Effort(Effort::Max),
        session_key: Some("s".repeat(80)),
        turns: vec![user(vec![Part::user_text("Hi")])],
        ..Request::default()
    };
    request.sampling.temperature = Some(0.5);
    let body = Value::Object(encode(&request, &target).body);
    assert_eq!(
        body,
        json!({
            "model": "gpt-5", "store": false, "stream": true, "max_output_tokens": 4000,
            "reasoning": { "effort": "high", "summary": "auto" },
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": "s".repeat(64),
            "tools": [{ "type": "function", "name": "ls", "description": "lists", "parameters": { "type": "object" }, "strict": false }],
            "tool_choice": { "type": "function", "name": "ls" }, "parallel_tool_calls": true,
            "instructions": "Prefix\n\nOne\n\nTwo",
            "input": [{ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Hi" }] }],
        })
    );
    target.model.can_reason = false;
    target.quirks.system_role = Some(SystemRole::Developer);
    request.max_tokens = Some(1);
    let body = Value::Object(encode(&request, &target).body);
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(body["max_output_tokens"], 16);
    assert_eq!(
        (body.get("reasoning"), body.get("include"), body.get("instructions")),
        (None, None, None)
    );
    assert_eq!(body["input"][0]["role"], "developer");
}
