//! The short cut around the JSON parser gives what the long way gives, on every wire that has it.

use llm::{Answer, Error};
use proptest::prelude::*;
use serde_json::json;
use settings::provider::Wire;

use crate::recordings;
use crate::targets::{decode, target};

/// Decodes events, every `odd` one with white space in front that no short cut expects.
fn read(wire: Wire, events: &[String], odd: usize) -> Result<Answer, Error> {
    let spaced = |(at, data): (usize, &String)| {
        if at % odd == 1 { data.replacen('{', "{ ", 1) } else { data.clone() }
    };
    let events: Vec<String> = events.iter().enumerate().map(spaced).collect();
    let mut answer = decode(&target(wire), events.iter().map(|data| ("", data.trim().as_bytes())))?;
    recordings::forget_made_up_ids(&mut answer);
    Ok(answer)
}

fn same_both_ways(wire: Wire, events: &[String]) -> Result<Option<Answer>, String> {
    let Ok(short) = read(wire, events, usize::MAX) else { return Ok(None) };
    let long = read(wire, events, 2).map_err(|error| error.to_string())?;
    if short == long { Ok(Some(short)) } else { Err(format!("{short:?} is not {long:?}")) }
}

#[test]
fn recorded_streams_read_the_same_both_ways() {
    recordings::over_all(|exchange, wire| {
        if wire == Wire::BedrockConverse || !exchange.is_stream() {
            return Ok(());
        }
        let body = String::from_utf8_lossy(&exchange.response.bytes()).into_owned();
        let events: Vec<String> =
            body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::to_owned).collect();
        same_both_ways(wire, &events).map(|_| ())
    });
}

fn messages(said: &[(usize, String)]) -> Vec<String> {
    let kinds = [
        ("text", "text_delta", "text"),
        ("thinking", "thinking_delta", "thinking"),
        ("tool_use", "input_json_delta", "partial_json"),
    ];
    let mut events = vec![json!({"type": "message_start", "message": {"id": "m"}})];
    for (index, (block, _, _)) in kinds.iter().enumerate() {
        let block = json!({"type": block, "id": "c", "name": "ls", "input": {}});
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
    }
    for (index, text) in said {
        let (_, kind, field) = kinds[*index];
        let delta = json!({"type": kind, field: text});
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(ToString::to_string).collect()
}

fn responses(said: &[(usize, String)]) -> Vec<String> {
    let kinds = ["output_text", "reasoning_summary_text", "function_call_arguments"];
    let item = json!({"type": "function_call", "id": "i2", "call_id": "c", "name": "ls"});
    let mut events =
        vec![json!({"type": "response.output_item.added", "output_index": 2, "item": item})];
    for (number, (index, text)) in said.iter().enumerate() {
        events.push(json!({
            "type": format!("response.{}.delta", kinds[*index]), "item_id": format!("i{index}"),
            "output_index": index, "delta": text, "sequence_number": number,
            "obfuscation": "x".repeat(number % 5),
        }));
    }
    events.push(json!({"type": "response.completed", "response": {"status": "completed"}}));
    events.iter().map(ToString::to_string).collect()
}

fn said() -> impl Strategy<Value = Vec<(usize, String)>> {
    let odd = prop::sample::select(vec!["\"", "\\", "\n", "é", "😀", "\u{1}", "\"}}", ""]);
    let text = prop_oneof![3 => "[a-z ]{1,6}", 1 => odd.prop_map(str::to_owned)];
    // Runs of one kind, so that the short cut is often taken.
    let run = (0_usize..3, prop::collection::vec(text, 1..8));
    let runs = prop::collection::vec(run, 1..6);
    runs.prop_map(|runs| {
        let pieces = runs
            .into_iter()
            .flat_map(|(kind, texts)| texts.into_iter().map(move |text| (kind, text)));
        pieces.collect()
    })
}

proptest! {
    #[test]
    fn any_stream_reads_the_same_both_ways(said in said()) {
        for (wire, events) in [
            (Wire::AnthropicMessages, messages(&said)),
            (Wire::OpenaiResponses, responses(&said)),
        ] {
            let answer = same_both_ways(wire, &events).map_err(TestCaseError::fail)?;
            let answer = answer.expect("a sound stream");
            let text: String = answer.parts.iter().filter_map(|part| part.as_text()).collect();
            let expected = said.iter().filter(|(kind, _)| *kind == 0).map(|(_, text)| text.as_str());
            prop_assert_eq!(text, expected.collect::<String>());
        }
    }
}
