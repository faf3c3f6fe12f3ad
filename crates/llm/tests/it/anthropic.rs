//! Anthropic Messages: answers in every state of repair.

use llm::Class;
use proptest::prelude::*;
use serde_json::{Value, json};
use settings::provider::Wire;

use crate::targets::{check_order, decode, shown, target};

fn direct() -> llm::Target {
    target(Wire::AnthropicMessages)
}

const START: &str = r#"{"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":3,"output_tokens":1}}}"#;
const TEXT: &str =
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const HELLO: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}"#;
const CLOSED: &str = r#"{"type":"content_block_stop","index":0}"#;
const DONE: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn decoded(events: &[&str]) -> Result<Value, llm::Error> {
    let events = events.iter().map(|data| ("", data.as_bytes()));
    decode(&direct(), events).map(|answer| shown(&answer))
}

#[test]
fn an_answer_that_breaks_off_is_never_a_short_answer() {
    let whole = [START, TEXT, HELLO, CLOSED, DONE, STOP];
    assert!(decoded(&whole).is_ok());
    for end in 0..whole.len() {
        assert_eq!(decoded(&whole[..end]).unwrap_err().class, Class::Network, "after {end} events");
    }
    assert!(decoded(&[START, TEXT, HELLO, CLOSED, "[DONE]"]).is_err());
    assert!(decoded(&[START, TEXT, HELLO, CLOSED, DONE, "[DONE]"]).is_ok());
}

#[test]
fn what_is_not_known_is_passed_over() {
    let odd = [
        START,
        r#"{"type":"ping"}"#,
        r#"{"type":"brand_new","index":"seven","message":[1,2]}"#,
        TEXT,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","text":{}}}"#,
        HELLO,
        CLOSED,
        DONE,
        STOP,
        "[DONE]",
    ];
    let plain = [START, TEXT, HELLO, CLOSED, DONE, STOP];
    assert_eq!(decoded(&odd).unwrap(), decoded(&plain).unwrap());
}

#[test]
fn an_error_in_the_stream_has_its_class() {
    for (kind, message, class) in [
        ("overloaded_error", "Overloaded", Class::Overloaded),
        ("rate_limit_error", "slow down", Class::RateLimit),
        ("api_error", "Internal server error", Class::Server),
        (
            "invalid_request_error",
            "prompt is too long: 9 tokens > 8 maximum",
            Class::ContextOverflow,
        ),
        ("invalid_request_error", "bad", Class::BadRequest),
    ] {
        let event = json!({ "type": "error", "error": { "type": kind, "message": message } });
        let error = decoded(&[START, TEXT, HELLO, &event.to_string()]).unwrap_err();
        assert_eq!((error.class, error.code.as_deref()), (class, Some(kind)));
        assert_eq!(error.message, message);
    }
}

#[test]
fn a_thought_cut_off_before_its_signature_is_whole_carries_none() {
    let events = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ab"}}"#,
    ];
    let target = direct();
    let mut decoder = llm::wire::decoder(&target);
    let (mut deltas, mut fold) = (Vec::new(), llm::Fold::new(target.maker()));
    let mut feed = |data: &str| {
        let event = llm::wire::StreamEvent { name: "", data: data.as_bytes() };
        decoder.event(event, &mut deltas).unwrap();
        for delta in deltas.drain(..) {
            fold.push(delta);
        }
        fold.answer().parts
    };
    let cut = events.map(&mut feed);
    assert!(cut[2][0].native.is_none());
    let whole = feed(CLOSED);
    assert_eq!(whole[0].native.as_ref().unwrap().data, json!({ "signature": "ab" }));
}

#[test]
fn a_gateway_may_count_late_and_name_its_price() {
    let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":0,"cache_read_input_tokens":null}}}"#;
    let late = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":32,"cache_read_input_tokens":8,"output_tokens":16,"cost":0.000112}}"#;
    let events = [start, TEXT, HELLO, CLOSED, late, STOP].map(|data| ("", data.as_bytes()));
    let answer = decode(&direct(), events).unwrap();
    let counted = (answer.usage.input, answer.usage.cache_read, answer.usage.output);
    assert_eq!(counted, (32, 8, 16));
    assert_eq!(answer.cost, Some(base::Money::from_dollars(0.000_112)));
}

#[test]
fn a_server_side_search_is_kept_whole_with_its_streamed_input() {
    let events = [
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"rust\"}"}}"#,
        CLOSED,
        r#"{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":5}}"#,
        STOP,
    ];
    let answer = decoded(&events).unwrap();
    let block = json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": { "query": "rust" } });
    assert_eq!(answer["parts"], json!([{ "step": "server_tool_use", "native": block }]));
    assert_eq!(answer["stop"], "paused");
}

#[test]
fn arguments_that_come_with_the_beginning_of_a_call_are_not_lost() {
    let call = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"look","input":{"path":"a"}}}"#;
    let answer = decoded(&[START, call, CLOSED, STOP]).unwrap();
    assert_eq!(answer["parts"][0]["input"], json!({ "path": "a" }));
    assert_eq!(answer["stop"], "tool_calls");
}

#[test]
fn bytes_that_are_not_utf8_spoil_a_letter_and_not_the_answer() {
    let mut broken = HELLO.as_bytes().to_vec();
    let at = broken.windows(2).position(|pair| pair == b"ll").unwrap();
    broken[at] = 0xFF;
    let start = [START, TEXT].map(str::as_bytes);
    let end = [CLOSED, DONE, STOP].map(str::as_bytes);
    let events = start.into_iter().chain([broken.as_slice()]).chain(end);
    let answer = decode(&direct(), events.map(|data| ("", data))).unwrap();
    assert_eq!(shown(&answer)["parts"][0]["text"], "he\u{FFFD}lo");
}

proptest! {
    #[test]
    fn events_in_any_order_give_deltas_in_order(
        order in prop::collection::vec(0_usize..9, 0..20),
    ) {
        let pool = [
            START, TEXT, HELLO, CLOSED, DONE, STOP, "[DONE]",
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"","name":"x","input":{"a":1}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        ];
        let events: Vec<_> = order.iter().map(|&at| ("", pool[at])).collect();
        prop_assert_eq!(check_order(&direct(), &events), Ok(()));
    }
}
