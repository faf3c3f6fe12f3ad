//! Streams as they may come, beyond what was recorded.

use base::model::StopReason;
use base::transcript::{FileSource, PartBody};
use llm::{Answer, Error};
use serde_json::{Value, json};
use settings::provider::Wire;

use crate::targets::{self, target};

fn decode(events: &[Value]) -> Result<Answer, Error> {
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    targets::decode(&target(Wire::Gemini), events.iter().map(|data| ("", data.as_bytes())))
}

fn whole(body: &Value) -> Result<Answer, Error> {
    targets::decode_whole(&target(Wire::Gemini), body.to_string().as_bytes())
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}}]})
}

fn finish(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason}]})
}

#[test]
fn a_stream_without_a_finish_reason_is_broken_off() {
    let error = decode(&[parts(json!([{"text": "Hel"}]))]).unwrap_err();
    assert_eq!(error, Error::truncated());
}

#[test]
fn every_finish_reason_has_its_meaning() {
    let stop = |reason| decode(&[finish(reason)]).unwrap().stop.unwrap();
    assert_eq!(stop("STOP"), StopReason::Done);
    assert_eq!(stop("MAX_TOKENS"), StopReason::Length);
    for reason in ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"] {
        assert_eq!(stop(reason), StopReason::Refusal, "{reason}");
    }
    for reason in ["MALFORMED_FUNCTION_CALL", "OTHER", "SOMETHING_NEW"] {
        assert_eq!(stop(reason), StopReason::Other, "{reason}");
    }
}

#[test]
fn a_blocked_prompt_is_a_refusal() {
    let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}});
    assert_eq!(decode(std::slice::from_ref(&blocked)).unwrap().stop, Some(StopReason::Refusal));
    assert_eq!(whole(&blocked).unwrap().stop, Some(StopReason::Refusal));
}

#[test]
fn an_error_inside_a_good_response_is_an_error() {
    let failure = json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}});
    let error = decode(&[parts(json!([{"text": "Hel"}])), failure.clone()]).unwrap_err();
    assert_eq!((error.status, error.message.as_str()), (Some(503), "overloaded"));
    let error = whole(&json!([failure])).unwrap_err();
    assert_eq!(error.message, "overloaded");
}

#[test]
fn a_list_of_chunks_in_one_body_is_a_stream() {
    let body =
        json!([parts(json!([{"text": "Hel"}])), parts(json!([{"text": "lo"}])), finish("STOP")]);
    let answer = whole(&body).unwrap();
    assert_eq!(answer.parts[0].as_text(), Some("Hello"));
    let cut = json!([parts(json!([{"text": "Hel"}]))]);
    assert_eq!(whole(&cut).unwrap_err(), Error::truncated());
}

#[test]
fn calls_without_an_id_get_one_and_pieces_of_arguments_are_joined() {
    let answer = decode(&[
        parts(json!([{"functionCall": {"name": "ls", "args": {"path": "a"}}, "thoughtSignature": "s"},
                     {"functionCall": {"name": "pwd"}}])),
        parts(json!([{"functionCall": {"name": "cat", "willContinue": true,
                                       "partialArgs": [{"jsonPath": "$.path", "stringValue": "sr"}]}}])),
        parts(json!([{"functionCall": {"willContinue": true,
                                       "partialArgs": [{"jsonPath": "$.path", "stringValue": "c"}]}}])),
        parts(json!([{"functionCall": {}}])),
        finish("STOP"),
    ])
    .unwrap();
    let calls: Vec<_> = answer
        .parts
        .iter()
        .map(|part| match &part.body {
            PartBody::Call(call) => (call.name.as_str(), json!(call.input.value)),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected =
        [("ls", json!({"path": "a"})), ("pwd", json!({})), ("cat", json!({"path": "src"}))];
    assert_eq!(calls, expected);
    assert_eq!(answer.stop, Some(StopReason::ToolCalls));
    let signature = &answer.parts[0].native.as_ref().unwrap().data["thoughtSignature"];
    assert_eq!(signature, "s");
}

#[test]
fn files_and_hidden_steps_keep_their_place() {
    let answer = decode(&[
        parts(json!([{"text": "Look:"}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                     {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "s"},
                     {"text": "", "thoughtSignature": "t"}])),
        finish("STOP"),
    ])
    .unwrap();
    assert!(matches!(&answer.parts[1].body, PartBody::File(file)
        if file.source == FileSource::Base64("aGk=".into())));
    assert!(
        matches!(&answer.parts[2].body, PartBody::Opaque { label } if label == "executableCode")
    );
    let hidden = &answer.parts[2].native.as_ref().unwrap().data;
    let verbatim =
        json!({"thoughtSignature": "s", "executableCode": {"language": "PYTHON", "code": "1"}});
    assert_eq!(*hidden, verbatim);
    assert_eq!(answer.parts[3].as_text(), Some(""));
}

#[test]
fn broken_letters_are_replaced_and_broken_json_is_an_error() {
    let mut data = br#"{"candidates":[{"content":{"parts":[{"text":"a\ud83d b"#.to_vec();
    data.push(0xff);
    data.extend_from_slice(br#""}]},"finishReason":"STOP"}]}"#);
    let target = target(Wire::Gemini);
    let answer = targets::decode_whole(&target, &data).unwrap();
    assert_eq!(answer.parts[0].as_text(), Some("a\u{fffd} b\u{fffd}"));
    let error = targets::decode_whole(&target, b"<html>").unwrap_err();
    assert_eq!(error.class, llm::Class::Server);
}
