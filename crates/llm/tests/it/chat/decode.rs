//! Streams as servers with an accent send them.

use base::model::StopReason;
use base::transcript::{FileSource, PartBody};
use llm::wire;
use llm::{Answer, Class, Error};
use serde_json::{Value, json};
use settings::provider::{Quirks, Wire};

use crate::targets::{self, target};

/// Decodes the data of events.
pub(super) fn decode_with(quirks: Quirks, events: &[&str]) -> Result<Answer, Error> {
    let mut target = target(Wire::OpenaiChat);
    target.quirks = quirks;
    targets::decode(&target, events.iter().map(|data| ("", data.as_bytes())))
}

fn decode(deltas: &[Value], finish: &str) -> Answer {
    let chunk = |delta: &Value| json!({"id": "1", "choices": [{"index": 0, "delta": delta}]});
    let mut events: Vec<String> = deltas.iter().map(|delta| chunk(delta).to_string()).collect();
    events.push(json!({"choices": [{"delta": {}, "finish_reason": finish}]}).to_string());
    events.push("[DONE]".to_owned());
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    decode_with(Quirks::default(), &events).unwrap()
}

fn calls(answer: &Answer) -> Vec<(String, Value)> {
    let calls = answer.parts.iter().filter_map(|part| match &part.body {
        PartBody::Call(call) => Some((call.name.clone(), json!(call.input.value))),
        _ => None,
    });
    calls.collect()
}

fn tool_call(index: Option<u8>, id: Option<&str>, name: Option<&str>, arguments: Value) -> Value {
    let mut call = json!({"function": {"name": name, "arguments": arguments}, "id": id});
    if let Some(index) = index {
        call["index"] = json!(index);
    }
    json!({ "tool_calls": [call] })
}

#[test]
fn calls_are_told_apart_however_a_server_numbers_them() {
    let (a, b) = (json!({"a": 1}), json!({"b": 2}));
    let expected = vec![("x".to_owned(), a.clone()), ("y".to_owned(), b.clone())];
    let whole = |value: &Value| json!(value.to_string());
    let streams = [
        // By the book.
        vec![
            tool_call(Some(0), Some("1"), Some("x"), json!("")),
            tool_call(Some(0), None, None, json!("{\"a\"")),
            tool_call(Some(1), Some("2"), Some("y"), whole(&b)),
            tool_call(Some(0), None, None, json!(":1}")),
        ],
        // Every call is number 0, told apart by id.
        vec![
            tool_call(Some(0), Some("1"), Some("x"), whole(&a)),
            tool_call(Some(0), Some("2"), Some("y"), whole(&b)),
        ],
        // No numbers, ids on every piece.
        vec![
            tool_call(None, Some("1"), Some("x"), json!("{\"a\"")),
            tool_call(None, Some("1"), None, json!(":1}")),
            tool_call(None, Some("2"), Some("y"), whole(&b)),
        ],
        // Neither numbers nor ids, whole calls.
        vec![
            tool_call(None, None, Some("x"), whole(&a)),
            tool_call(None, None, Some("y"), whole(&b)),
        ],
        // Neither, in pieces.
        vec![
            tool_call(None, None, Some("x"), json!("{\"a\"")),
            tool_call(None, None, None, json!(":1}")),
            tool_call(None, None, Some("y"), whole(&b)),
        ],
        // The name after the first arguments, and repeated.
        vec![
            tool_call(Some(0), Some("1"), None, json!("{\"a\"")),
            tool_call(Some(0), Some("1"), Some("x"), json!(":1")),
            tool_call(Some(0), Some("1"), Some("x"), json!("}")),
            tool_call(Some(1), Some("2"), Some("y"), whole(&b)),
        ],
        // Another id with every piece.
        vec![
            tool_call(Some(0), Some("1"), Some("x"), json!("{\"a\"")),
            tool_call(Some(0), Some("7"), Some(""), json!(":1}")),
            tool_call(Some(1), Some("2"), Some("y"), whole(&b)),
        ],
        // Arguments as objects, two calls in a chunk.
        vec![json!({"tool_calls": [
            {"index": 0, "id": "1", "function": {"name": "x", "arguments": a}},
            {"index": 1, "id": "2", "function": {"name": "y", "arguments": b}},
        ]})],
    ];
    for stream in streams {
        let answer = decode(&stream, "stop");
        assert_eq!(calls(&answer), expected, "{stream:?}");
        assert_eq!(answer.stop, Some(StopReason::ToolCalls));
    }
}

#[test]
fn ids_are_unique_in_an_answer_and_made_where_there_are_none() {
    let same = tool_call(Some(0), Some("1"), Some("x"), json!("{}"));
    let also = tool_call(Some(1), Some("1"), Some("y"), json!("{}"));
    let none = tool_call(Some(2), None, Some("z"), json!("{}"));
    let answer = decode(&[same, also, none], "tool_calls");
    let ids: std::collections::HashSet<_> = answer
        .parts
        .iter()
        .map(|part| match &part.body {
            PartBody::Call(call) => call.id.as_str().to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(ids.len() == 3 && !ids.contains(""), "{ids:?}");
}

#[test]
fn the_old_function_call_is_a_call() {
    let answer = decode(
        &[
            json!({"function_call": {"name": "x", "arguments": "{\"a\""}}),
            json!({"function_call": {"arguments": ":1}"}}),
        ],
        "function_call",
    );
    assert_eq!(calls(&answer), [("x".to_owned(), json!({"a": 1}))]);
    assert_eq!(answer.stop, Some(StopReason::ToolCalls));
}

#[test]
fn thoughts_are_read_from_every_field_and_kept_for_their_maker() {
    for field in ["reasoning_content", "reasoning", "reasoning_text"] {
        let answer =
            decode(&[json!({field: "Hm"}), json!({field: "m."}), json!({"content": "4"})], "stop");
        assert_eq!(answer.parts[0].body, PartBody::Reasoning { text: "Hmm.".into() });
        assert_eq!(answer.parts[0].native.as_ref().unwrap().data, json!({ "field": field }));
        assert_eq!(answer.parts[1].as_text(), Some("4"));
    }
    let parts = json!({"content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]},
        {"type": "text", "text": "4"},
    ]});
    let answer = decode(&[parts], "stop");
    assert_eq!(answer.parts[0].body, PartBody::Reasoning { text: "Hm".into() });
    assert_eq!(answer.parts[1].as_text(), Some("4"));
}

#[test]
fn sealed_thoughts_come_back_word_for_word() {
    let answer = decode(
        &[
            json!({"reasoning": "Hm", "reasoning_details": [{"type": "reasoning.text", "text": "Hm", "index": 0}]}),
            json!({"reasoning_details": [{"type": "reasoning.text", "signature": "s", "index": 0}]}),
            json!({"content": "4"}),
            json!({"content": "", "reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "index": 1}]}),
        ],
        "stop",
    );
    let details = json!([
        {"type": "reasoning.text", "text": "Hm", "index": 0, "signature": "s"},
        {"type": "reasoning.encrypted", "data": "x", "index": 1},
    ]);
    assert_eq!(answer.parts[0].native.as_ref().unwrap().data["reasoning_details"], details);
    let sealed_only = json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]});
    let answer = decode(&[sealed_only, json!({"content": "4"})], "stop");
    assert_eq!(answer.parts[0].body, PartBody::Reasoning { text: String::new() });
    assert_eq!(answer.parts.len(), 2);
}

#[test]
fn what_goes_with_a_call_is_kept_for_its_maker() {
    let extra = json!({"google": {"thought_signature": "s"}});
    let mut call = tool_call(Some(0), Some("1"), Some("x"), json!("{}"));
    call["tool_calls"][0]["extra_content"] = extra.clone();
    let answer = decode(&[call], "tool_calls");
    assert_eq!(answer.parts[0].native.as_ref().unwrap().data, json!({ "extra_content": extra }));
}

#[test]
fn a_refusal_is_text_and_a_reason() {
    let answer = decode(&[json!({"refusal": "I can"}), json!({"refusal": "not."})], "stop");
    assert_eq!(answer.parts[0].as_text(), Some("I cannot."));
    assert_eq!(answer.stop, Some(StopReason::Refusal));
    assert_eq!(
        decode(&[json!({"content": "…"})], "content_filter").stop,
        Some(StopReason::Refusal)
    );
}

#[test]
fn images_are_files() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}});
    let answer = decode(&[json!({"content": "", "images": [image]})], "stop");
    assert!(matches!(&answer.parts[0].body, PartBody::File(file)
        if file.media_type == "image/png" && file.source == FileSource::Base64("aGk=".into())));
}

#[test]
fn usage_is_found_in_every_place_and_the_last_counts() {
    let usage = |prompt: u64| json!({"prompt_tokens": prompt, "completion_tokens": 1});
    let finish = json!({"choices": [{"delta": {"content": "4"}, "finish_reason": "stop"}], "usage": usage(1)});
    for last in [
        json!({"choices": [], "usage": usage(9)}),
        json!({"choices": [], "usage": null, "x_groq": {"usage": usage(9)}}),
        json!({"usage": usage(9)}),
    ] {
        let events = [finish.to_string(), last.to_string(), "[DONE]".to_owned()];
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        assert_eq!(decode_with(Quirks::default(), &events).unwrap().usage.input, 9);
    }
}

#[test]
fn only_an_answer_with_an_end_is_an_answer() {
    let text = r#"{"choices":[{"index":0,"delta":{"content":"4"}}]}"#;
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let decode = |events: &[&str]| decode_with(Quirks::default(), events).map(|answer| answer.stop);
    assert_eq!(decode(&[text]), Err(Error::truncated()));
    assert_eq!(decode(&[]), Err(Error::truncated()));
    assert_eq!(decode(&["[DONE]"]), Err(Error::truncated()));
    assert_eq!(decode(&[text, end]), Ok(Some(StopReason::Done)));
    assert_eq!(decode(&[text, "[DONE]"]), Ok(Some(StopReason::Done)));
    assert_eq!(decode(&[text, end, "[DONE]", text]), Ok(Some(StopReason::Done)));
}

#[test]
fn an_error_inside_a_stream_is_an_error() {
    let text = r#"{"choices":[{"index":0,"delta":{"content":"4"}}]}"#;
    for failure in [
        r#"{"error":{"message":"busy","code":502}}"#,
        r#"{"error":"busy"}"#,
        r#"{"object":"error","message":"busy"}"#,
        r#"{"id":"1","error":{"message":"busy"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
    ] {
        let error = decode_with(Quirks::default(), &[text, failure]).unwrap_err();
        assert_eq!(error.message, "busy", "{failure}");
    }
    let broke = r#"{"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}"#;
    assert_eq!(decode_with(Quirks::default(), &[broke]).unwrap_err().class, Class::Overloaded);
    let nothing = r#"{"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}],"error":null}"#;
    assert!(decode_with(Quirks::default(), &[nothing]).is_ok());
}

#[test]
fn a_whole_answer_needs_a_choice() {
    let whole = |body: &str| {
        let target = target(Wire::OpenaiChat);
        let mut deltas = Vec::new();
        wire::decoder(&target).whole(body.as_bytes(), &mut deltas).map(|()| deltas.len())
    };
    assert!(whole(r#"{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}]}"#).is_ok());
    assert_eq!(whole(r#"{"error":{"message":"busy"}}"#).unwrap_err().message, "busy");
    assert!(whole(r#"{"choices":[]}"#).is_err());
    assert!(whole("<html>").is_err());
}

#[test]
fn broken_letters_are_replaced_and_broken_json_is_an_error() {
    let half = r#"{"choices":[{"delta":{"content":"a\ud83d"},"finish_reason":"stop"}]}"#;
    let answer = decode_with(Quirks::default(), &[half]).unwrap();
    assert_eq!(answer.parts[0].as_text(), Some("a\u{fffd}"));
    let cut = r#"{"choices":[{"delta":{"content":"a"#;
    assert_eq!(decode_with(Quirks::default(), &[cut]).unwrap_err().class, Class::Server);
}
