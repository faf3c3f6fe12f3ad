//! The short cut around the JSON parser gives what the long way gives.

use llm::Answer;
use proptest::prelude::*;
use serde_json::{Value, json};
use settings::provider::Quirks;

use super::decode::decode_with;
/// The same events, each with a byte of white space at its end by turns: no short cut ever fits.
fn long_way(events: &[String]) -> Answer {
    let padded: Vec<String> = events
        .iter()
        .enumerate()
        .map(|(at, data)| if at % 2 == 0 { format!("{data} ") } else { data.clone() })
        .collect();
    let padded: Vec<&str> = padded.iter().map(String::as_str).collect();
    decode_with(Quirks::default(), &padded).unwrap()
}

fn chunk(delta: &Value, padding: Option<&str>) -> String {
    let mut chunk = json!({"id": "1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    if let Some(padding) = padding {
        chunk["obfuscation"] = json!(padding);
    }
    chunk.to_string()
}

fn delta() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z ]{0,6}".boxed(),
        prop::sample::select(vec!["\"", "\\", "\n", "é", "😀", "\u{1}", "\"}]}"])
            .prop_map(str::to_owned)
            .boxed(),
    ];
    (0..5, text).prop_map(|(kind, text)| match kind {
        0 | 1 => json!({ "content": text }),
        2 => json!({ "reasoning_content": text }),
        3 => json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "x", "arguments": ""}}]}),
        _ => json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}),
    })
}

proptest! {
    #[test]
    fn any_stream_reads_the_same_both_ways(
        deltas in prop::collection::vec(delta(), 1..40),
        padding in prop::option::of(prop::sample::select(vec!["", "ab", "x\"y"])),
    ) {
        let mut events: Vec<String> = deltas.iter().map(|delta| chunk(delta, padding)).collect();
        events.push(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#.to_owned());
        let short: Vec<&str> = events.iter().map(String::as_str).collect();
        let mut short = decode_with(Quirks::default(), &short).unwrap();
        let mut long = long_way(&events);
        // A call without an id gets a new one each time.
        for answer in [&mut short, &mut long] {
            answer.parts.retain(|part| !matches!(&part.body, base::PartBody::Call(call) if call.name.is_empty()));
        }
        prop_assert_eq!(short, long);
    }
}
