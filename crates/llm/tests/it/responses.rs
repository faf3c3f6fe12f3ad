//! Responses: what is streamed, repeated, damaged and sent back.

use base::model::{Money, StopReason, Usage};
use base::transcript::{PartBody, Role, Turn};
use llm::sse;
use llm::wire::{self, StreamEvent};
use llm::{Answer, Error, Fold, Request, Target};
use proptest::prelude::*;
use serde_json::Value;
use settings::provider::Wire;
use testkit::cassette::{self, Exchange};

use crate::targets::target;

/// What a recording says, read in the plainest way.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    text: String,
    thoughts: String,
    /// Id, name and arguments.
    calls: Vec<(String, String, Value)>,
    steps: Vec<String>,
    encrypted: Vec<String>,
    usage: Usage,
    cost: Option<Money>,
    stop: Option<StopReason>,
    id: Option<String>,
}

fn is_stream(body: &[u8]) -> bool {
    !body.trim_ascii_start().starts_with(b"{")
}

/// Decodes a body as the caller of a wire does, in pieces of `size` bytes.
fn decode(body: &[u8], size: usize) -> Result<Answer, Error> {
    let target = target(Wire::OpenaiResponses);
    let mut decoder = wire::decoder(&target);
    let mut deltas = Vec::new();
    if is_stream(body) {
        let mut events = sse::Decoder::new();
        for piece in body.chunks(size) {
            events.push(piece);
            while let Some(event) = events.next()? {
                decoder.event(StreamEvent { name: event.name, data: event.data }, &mut deltas)?;
            }
        }
        events.finish();
        while let Some(event) = events.next()? {
            decoder.event(StreamEvent { name: event.name, data: event.data }, &mut deltas)?;
        }
        decoder.end(&mut deltas)?;
    } else {
        decoder.whole(body, &mut deltas)?;
    }
    let mut fold = Fold::new(target.maker());
    for delta in deltas {
        fold.push(delta);
    }
    Ok(fold.answer())
}

fn of_answer(answer: &Answer) -> Reading {
    let mut reading = Reading {
        usage: answer.usage,
        cost: answer.cost,
        stop: answer.stop,
        id: answer.response_id.clone(),
        ..Reading::default()
    };
    for part in &answer.parts {
        let native = part.native.as_ref().map(|native| &native.data);
        match &part.body {
            PartBody::Text { text } => reading.text += text,
            PartBody::Reasoning { text } => {
                reading.thoughts += text;
                let encrypted = native.and_then(|native| native["encrypted_content"].as_str());
                reading.encrypted.extend(encrypted.map(str::to_owned));
            }
            PartBody::Call(call) => {
                let input = Value::Object(call.input.value.clone());
                reading.calls.push((call.id.to_string(), call.name.clone(), input));
            }
            PartBody::Opaque { label } => reading.steps.push(label.clone()),
            PartBody::File(_) | PartBody::Result(_) => {}
        }
    }
    reading
}

/// The events of a stream, by cutting at blank lines.
fn events(body: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(body).replace("\r\n", "\n");
    let data = |block: &str| {
        let lines = block.lines().filter_map(|line| line.strip_prefix("data:"));
        lines.collect::<Vec<_>>().join("\n")
    };
    text.split("\n\n").filter_map(|block| serde_json::from_str(data(block).trim()).ok()).collect()
}

/// The answer's last word, with items taken from closing events where it repeats none.
fn finished(body: &[u8]) -> Value {
    if !is_stream(body) {
        return serde_json::from_slice(body).unwrap();
    }
    let events = events(body);
    let ends = ["response.completed", "response.incomplete"];
    let end = events.iter().find(|event| ends.iter().any(|end| event["type"] == *end)).unwrap();
    let mut response = end["response"].clone();
    let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
    let items: Vec<Value> = done.map(|event| event["item"].clone()).collect();
    if !items.is_empty() {
        response["output"] = Value::Array(items);
    }
    response
}

fn of_recording(body: &[u8]) -> Reading {
    let response = finished(body);
    let mut reading =
        Reading { id: response["id"].as_str().map(str::to_owned), ..Reading::default() };
    let mut refused = false;
    for item in response["output"].as_array().unwrap() {
        let list = |key: &str| item[key].as_array().cloned().unwrap_or_default();
        match item["type"].as_str().unwrap() {
            "message" => {
                for content in list("content") {
                    refused |= content["type"] == "refusal";
                    let text = content["text"].as_str().or(content["refusal"].as_str());
                    reading.text += text.unwrap();
                }
            }
            "reasoning" => {
                let shown =
                    if list("summary").is_empty() { list("content") } else { list("summary") };
                let texts: Vec<_> =
                    shown.iter().map(|part| part["text"].as_str().unwrap()).collect();
                reading.thoughts += &texts.join("\n\n");
                let encrypted = item["encrypted_content"].as_str();
                reading.encrypted.extend(encrypted.map(str::to_owned));
            }
            "function_call" => {
                let text = |key: &str| item[key].as_str().unwrap().to_owned();
                let arguments = serde_json::from_str(&text("arguments")).unwrap();
                reading.calls.push((text("call_id"), text("name"), arguments));
            }
            other => reading.steps.push(other.to_owned()),
        }
    }
    let tokens = &response["usage"];
    let count = |pointer: &str| tokens.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    reading.usage = Usage {
        input: count("/input_tokens") - count("/input_tokens_details/cached_tokens"),
        cache_read: count("/input_tokens_details/cached_tokens"),
        cache_write: count("/input_tokens_details/cache_write_tokens"),
        output: count("/output_tokens"),
        reasoning: count("/output_tokens_details/reasoning_tokens"),
    };
    reading.usage.input -= reading.usage.cache_write;
    reading.cost = match (tokens["cost_in_usd_ticks"].as_f64(), tokens["cost"].as_f64()) {
        (Some(ticks), _) => Some(Money::from_dollars(ticks / 1e10)),
        (None, dollars) => dollars.map(Money::from_dollars),
    };
    reading.stop =
        Some(match response.pointer("/incomplete_details/reason").and_then(Value::as_str) {
            Some("max_output_tokens") => StopReason::Length,
            Some(_) => StopReason::Refusal,
            None if !reading.calls.is_empty() => StopReason::ToolCalls,
            None if refused => StopReason::Refusal,
            None => StopReason::Done,
        });
    reading
}

/// Every recorded answer of this wire; none, loudly, where there are no recordings.
fn good() -> Vec<Exchange> {
    let Some(mut all) = cassette::supported().unwrap() else {
        testkit::parts::skipped("no cassettes; set CAIMAN_CASSETTES to their folder");
        return Vec::new();
    };
    all.retain(|one| one.wire() == Some(Wire::OpenaiResponses) && one.response.status == 200);
    all
}

#[test]
fn what_only_the_last_event_repeats_is_given_and_what_was_streamed_is_not_given_twice() {
    for cassette in good() {
        let body = cassette.response.bytes();
        if !is_stream(&body) {
            continue;
        }
        let whole = of_recording(&body);
        let without = |left_out: &[&str]| {
            let kept = events(&body).into_iter().filter(|event| {
                let kind = event["type"].as_str().unwrap();
                !left_out.iter().any(|end| kind.ends_with(end))
            });
            kept.map(|event| format!("data: {event}\n\n")).collect::<Vec<_>>().concat()
        };
        for left_out in [&[".delta"][..], &[".done"], &[".delta", "_item.added", "text.done"]] {
            let answer = decode(without(left_out).as_bytes(), 4096).unwrap();
            let reading = of_answer(&answer);
            assert_eq!(reading.text, whole.text, "{} without {left_out:?}", cassette.file);
            assert_eq!(reading.calls, whole.calls, "{} without {left_out:?}", cassette.file);
            assert_eq!(reading.thoughts, whole.thoughts, "{} without {left_out:?}", cassette.file);
        }
    }
}

#[test]
fn what_a_model_said_goes_back_to_it_in_order_and_to_others_without_its_secrets() {
    let target = target(Wire::OpenaiResponses);
    let stranger = Target { provider: "other".to_owned(), ..target.clone() };
    for cassette in good() {
        let body = cassette.response.bytes();
        let recorded = finished(&body);
        let answer = decode(&body, 4096).unwrap();
        let request = Request {
            turns: vec![Turn { role: Role::Assistant, parts: answer.parts }],
            ..Request::default()
        };
        let sent = |target: &Target| wire::encode(&request, target).body["input"].clone();
        let own = sent(&target);
        let own: Vec<_> = own.as_array().unwrap().iter().collect();
        let sealed = |item: &&Value| item["type"] == "reasoning";
        let kept: Vec<_> = own.iter().copied().filter(sealed).collect();
        for item in &kept {
            let twin =
                recorded["output"].as_array().unwrap().iter().find(|o| o["id"] == item["id"]);
            assert_eq!(twin.unwrap()["encrypted_content"], item["encrypted_content"]);
        }
        assert!(own.last().is_none_or(|item| item["type"] != "reasoning"), "{}", cassette.file);
        let of = |kind: &str| -> Vec<&Value> {
            own.iter().filter(|item| item["type"] == kind).map(|item| &item["call_id"]).collect()
        };
        assert_eq!(of("function_call"), of("function_call_output"), "{}", cassette.file);
        let foreign = sent(&stranger).to_string();
        for secret in ["encrypted_content", "\"reasoning\"", "\"id\""] {
            assert!(!foreign.contains(secret), "{}: {foreign}", cassette.file);
        }
    }
}

/// A stream that uses most kinds of events, small enough to be damaged everywhere.
const SMALL: &str = r#"data: {"type":"response.created","response":{"id":"resp_1","model":"m","output":[]}}

data: {"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}

data: {"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"item_id":"rs_1","delta":"hm"}

data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[{"text":"hm"}]}}

data: {"type":"response.output_text.delta","output_index":1,"content_index":0,"item_id":"msg_1","delta":"He","sequence_number":1}

data: {"type":"response.output_text.delta","output_index":1,"content_index":0,"item_id":"msg_1","delta":"llo","sequence_number":2}

data: {"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"c","name":"ls"}}

data: {"type":"response.function_call_arguments.delta","output_index":2,"item_id":"fc_1","delta":"{}"}

data: {"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":2}}}

"#;

proptest! {
    #[test]
    fn a_damaged_stream_gives_an_answer_or_an_error_and_never_a_panic(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        size in 1_usize..64,
    ) {
        let mut bytes = SMALL.as_bytes().to_vec();
        for (at, byte) in &damage {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        let whole = decode(&bytes, bytes.len()).map(|answer| of_answer(&answer));
        let pieces = decode(&bytes, size).map(|answer| of_answer(&answer));
        prop_assert_eq!(&whole, &pieces);
        if damage.is_empty() {
            let reading = whole.unwrap();
            prop_assert_eq!((&reading.text[..], &reading.thoughts[..]), ("Hello", "hm"));
            prop_assert_eq!(reading.calls.len(), 1);
        }
    }
}
