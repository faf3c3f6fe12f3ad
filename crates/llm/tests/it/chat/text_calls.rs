//! Tool calls as text, over the wire.

use base::model::StopReason;
use base::transcript::{Part, PartBody};
use llm::wire;
use llm::{Request, ToolSpec};
use serde_json::{Value, json};
use settings::provider::{Quirks, Wire};

use super::decode::decode_with;
use crate::targets::target;
use crate::transcripts::{assistant, call, result, text, user};

fn quirks() -> Quirks {
    Quirks { text_calls: Some(true), ..Quirks::default() }
}

#[test]
fn calls_in_the_text_become_calls_and_their_tags_never_show() {
    let said = "<think>\nHm.</think>\n\nI look.\n<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \"src\"}}\n</tool_call>";
    for size in [1, 3, 7, said.len()] {
        let bytes: Vec<char> = said.chars().collect();
        let mut events: Vec<String> = bytes
            .chunks(size)
            .map(|piece| {
                let piece: String = piece.iter().collect();
                json!({"choices": [{"delta": {"content": piece}}]}).to_string()
            })
            .collect();
        events.push(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#.to_owned());
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let answer = decode_with(quirks(), &events).unwrap();
        assert_eq!(answer.stop, Some(StopReason::ToolCalls));
        assert_eq!(answer.parts[0].body, PartBody::Reasoning { text: "Hm.".into() });
        assert_eq!(answer.parts[1].as_text().map(str::trim), Some("I look."));
        assert!(matches!(&answer.parts[2].body, PartBody::Call(call)
            if call.name == "ls" && json!(call.input.value) == json!({"path": "src"})));
        assert_eq!(answer.parts.len(), 3);
    }
}

#[test]
fn a_request_tells_the_tools_and_the_past_in_words() {
    let mut target = target(Wire::OpenaiChat);
    target.quirks = quirks();
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let request = Request {
        system: vec!["Be brief.".into()],
        tools: vec![ToolSpec { name: "ls".into(), description: "Lists.".into(), schema }],
        turns: vec![
            user(vec![Part::user_text("What is here?")]),
            assistant(vec![Part::assistant_text("I look."), call("1", "ls", json!({"path": "."}))]),
            user(vec![result("1", "ls", vec![text("a.txt")]), Part::user_text("And?")]),
        ],
        ..Request::default()
    };
    let body = Value::Object(wire::encode(&request, &target).body);
    assert_eq!(body.get("tools"), None);
    let messages = body["messages"].as_array().unwrap();
    let system = messages[0]["content"].as_str().unwrap();
    assert!(system.starts_with("Be brief.\n\n# Tools"), "{system}");
    assert_eq!(
        messages[1..],
        [
            json!({"role": "user", "content": "What is here?"}),
            json!({"role": "assistant", "content":
                "I look.\n\n<tool_call>{\"name\":\"ls\",\"arguments\":{\"path\":\".\"}}</tool_call>"}),
            json!({"role": "user", "content":
                "<tool_result name=\"ls\">\na.txt\n</tool_result>\n\nAnd?"}),
        ]
    );
}
