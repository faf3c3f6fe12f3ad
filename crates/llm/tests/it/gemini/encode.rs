//! Requests, field by field, and any transcript against the rules of the wire.

use base::model::Effort;
use base::transcript::{Maker, Piece};
use llm::wire;
use llm::{Reasoning, Request, Target, ToolChoice, ToolSpec};
use proptest::prelude::*;
use serde_json::{Value, json};
use settings::provider::{Quirks, ReasoningRequest, Sampling, Wire};

use crate::targets::target;
use crate::transcripts::{self, assistant, call, file, image, result, signed, text, thought, user};

fn gemini_3() -> Target {
    let mut target = target(Wire::Gemini);
    target.model.id = "gemini-3-pro".into();
    target.model.reasoning_levels = vec![Effort::Low, Effort::High];
    target
}

fn body(request: &Request, target: &Target) -> Value {
    Value::Object(wire::encode(request, target).body)
}

#[test]
fn a_whole_request_has_every_field_in_its_place() {
    let own = gemini_3().maker();
    let request = Request {
        system: vec!["Be brief.".into(), "Be right.".into()],
        turns: vec![
            user(vec![base::Part::user_text("What is here?"), file(image())]),
            assistant(vec![
                signed(thought("Let me look."), &own, json!({"thoughtSignature": "s0"})),
                signed(
                    call("x1", "ls", json!({"path": "."})),
                    &own,
                    json!({"thoughtSignature": "s1", "id": "x1"}),
                ),
                call("call_2", "cat", json!({"path": "a.png"})),
            ]),
            user(vec![
                result("call_2", "cat", vec![text("a picture"), Piece::File(image())]),
                result("x1", "ls", vec![text("a.png")]),
                base::Part::user_text("Go on."),
            ]),
        ],
        tools: vec![
            ToolSpec {
                name: "ls".into(),
                description: "Lists a folder.".into(),
                schema: json!({"type": "object", "properties": {"path": {"type": "string"}},
                               "required": ["path"], "additionalProperties": false}),
            },
            ToolSpec {
                name: "now".into(),
                description: "Tells the time.".into(),
                schema: json!({"type": "object", "properties": {}}),
            },
        ],
        tool_choice: ToolChoice::Named("ls".into()),
        max_tokens: Some(99),
        reasoning: Reasoning::Effort(Effort::Max),
        sampling: Sampling { temperature: Some(0.5), top_k: Some(3), ..Sampling::default() },
        stop_sequences: vec!["END".into()],
        ..Request::default()
    };
    let encoded = wire::encode(&request, &gemini_3());
    assert_eq!(encoded.path, "/models/gemini-3-pro:streamGenerateContent?alt=sse");
    let picture = json!({"inlineData": {"mimeType": "image/png", "data": "aGk="}});
    assert_eq!(
        Value::Object(encoded.body),
        json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}, {"text": "Be right."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "What is here?"}, picture]},
                {"role": "model", "parts": [
                    {"text": "Let me look.", "thought": true, "thoughtSignature": "s0"},
                    {"functionCall": {"name": "ls", "args": {"path": "."}, "id": "x1"}, "thoughtSignature": "s1"},
                    {"functionCall": {"name": "cat", "args": {"path": "a.png"}}},
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "ls", "response": {"output": "a.png"}, "id": "x1"}},
                    {"functionResponse": {"name": "cat", "response": {"output": "a picture"}}},
                    {"text": "Files in the result of `cat`:"},
                    picture,
                    {"text": "Go on."},
                ]},
            ],
            "tools": [{"functionDeclarations": [
                {"name": "ls", "description": "Lists a folder.", "parameters":
                    {"type": "OBJECT", "properties": {"path": {"type": "STRING"}}, "required": ["path"]}},
                {"name": "now", "description": "Tells the time."},
            ]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["ls"]}},
            "generationConfig": {
                "maxOutputTokens": 99, "stopSequences": ["END"], "temperature": 0.5, "topK": 3,
                "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "HIGH"},
            },
        })
    );
}

#[test]
fn a_call_that_another_model_made_carries_the_documented_placeholder_where_signatures_are_checked()
{
    let turns = vec![
        user(vec![base::Part::user_text("Hi")]),
        assistant(vec![call("1", "ls", json!({})), call("2", "ls", json!({}))]),
        user(vec![result("1", "ls", vec![text("a")]), result("2", "ls", vec![text("b")])]),
    ];
    let request = Request { turns, ..Request::default() };
    let checked = body(&request, &gemini_3());
    let parts = &checked["contents"][1]["parts"];
    assert_eq!(parts[0]["thoughtSignature"], "skip_thought_signature_validator");
    assert_eq!(parts[1].get("thoughtSignature"), None);
    let unchecked = body(&request, &target(Wire::Gemini));
    assert_eq!(unchecked["contents"][1]["parts"][0].get("thoughtSignature"), None);
}

#[test]
fn thinking_is_asked_for_by_budget_where_there_are_no_levels() {
    let ask = |reasoning| {
        let request = Request { reasoning, ..Request::default() };
        body(&request, &target(Wire::Gemini))["generationConfig"]["thinkingConfig"].clone()
    };
    assert_eq!(ask(Reasoning::ModelDefault), json!({"includeThoughts": true}));
    assert_eq!(ask(Reasoning::Budget(77)), json!({"includeThoughts": true, "thinkingBudget": 77}));
    let off = json!({"includeThoughts": false, "thinkingBudget": 0});
    assert_eq!(ask(Reasoning::Effort(Effort::None)), off);
    let most = json!({"includeThoughts": true, "thinkingBudget": 24_576});
    assert_eq!(ask(Reasoning::Effort(Effort::Max)), most);
    let mut never = target(Wire::Gemini);
    never.quirks = Quirks { reasoning_request: Some(ReasoningRequest::Never), ..Quirks::default() };
    assert_eq!(body(&Request::default(), &never).get("generationConfig"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_transcript_keeps_the_rules_of_the_wire(
        turns in transcripts::arbitrary(vec![gemini_3().maker(), Maker {
            provider: "other".into(), model: "m".into(), wire: "openai-chat".into(),
        }]),
    ) {
        let request = Request { turns, ..Request::default() };
        let body = body(&request, &gemini_3());
        let contents = body["contents"].as_array().unwrap();
        let mut owed: Vec<&Value> = Vec::new();
        for (at, content) in contents.iter().enumerate() {
            prop_assert_eq!(&content["role"], if at % 2 == 0 { "user" } else { "model" });
            let parts = content["parts"].as_array().unwrap();
            prop_assert!(!parts.is_empty());
            let names = |key: &str| -> Vec<&Value> {
                parts.iter().filter_map(|part| part.get(key)).map(|call| &call["name"]).collect()
            };
            prop_assert_eq!(names("functionResponse"), owed);
            owed = names("functionCall");
            let signed = |part: &&Value| part["thoughtSignature"].is_string();
            let first = parts.iter().find(|part| part.get("functionCall").is_some());
            prop_assert!(first.is_none_or(|first| signed(&first)));
        }
        prop_assert!(owed.is_empty());
        prop_assert!(contents.len() % 2 == usize::from(!contents.is_empty()));
    }
}
