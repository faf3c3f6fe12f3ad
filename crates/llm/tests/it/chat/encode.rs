//! Requests, field by field, and any transcript against the rules of the wire.

use std::collections::HashSet;

use base::model::Effort;
use base::transcript::{Maker, Part, Piece, Turn};
use llm::wire;
use llm::{Reasoning, Request, Target, ToolChoice, ToolSpec};
use proptest::prelude::*;
use serde_json::{Value, json};
use settings::provider::{
    CacheMarks, CallIdForm, MaxTokensField, Quirks, ReasoningReplay, ReasoningRequest, Sampling,
    SystemRole, Wire,
};

use crate::targets::target;
use crate::transcripts::{self, assistant, call, file, image, result, signed, text, thought, user};

fn with(quirks: Quirks) -> Target {
    let mut target = target(Wire::OpenaiChat);
    target.quirks = quirks;
    target
}

fn body(request: &Request, target: &Target) -> Value {
    Value::Object(wire::encode(request, target).body)
}

fn messages(turns: Vec<Turn>, quirks: Quirks) -> Vec<Value> {
    let body = body(&Request { turns, ..Request::default() }, &with(quirks));
    body["messages"].as_array().unwrap().clone()
}

fn ls() -> ToolSpec {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    ToolSpec { name: "ls".into(), description: "Lists a folder.".into(), schema }
}

#[test]
fn a_whole_request_has_every_field_in_its_place() {
    let request = Request {
        system: vec!["Be brief.".into(), "Be right.".into()],
        turns: vec![
            user(vec![Part::user_text("What is here?"), file(image())]),
            assistant(vec![thought("Hm."), call("c1", "ls", json!({"path": "."}))]),
            user(vec![result("c1", "ls", vec![text("a.png")]), Part::user_text("Go on.")]),
        ],
        tools: vec![ls()],
        tool_choice: ToolChoice::Named("ls".into()),
        max_tokens: Some(99),
        sampling: Sampling { temperature: Some(0.5), ..Sampling::default() },
        stop_sequences: vec!["END".into()],
        ..Request::default()
    };
    let encoded = wire::encode(&request, &with(Quirks::default()));
    assert_eq!(encoded.path, "/chat/completions");
    assert_eq!(
        Value::Object(encoded.body),
        json!({
            "model": "model-1",
            "messages": [
                {"role": "system", "content": "Be brief.\n\nBe right."},
                {"role": "user", "content": [
                    {"type": "text", "text": "What is here?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                ]},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{\"path\":\".\"}"}},
                ]},
                {"role": "tool", "tool_call_id": "c1", "content": "a.png"},
                {"role": "user", "content": "Go on."},
            ],
            "tools": [{"type": "function", "function": {
                "name": "ls", "description": "Lists a folder.", "parameters": ls().schema}}],
            "tool_choice": {"type": "function", "function": {"name": "ls"}},
            "max_tokens": 99,
            "stop": ["END"],
            "temperature": 0.5,
            "stream": true,
            "stream_options": {"include_usage": true},
        })
    );
}

#[test]
fn quirks_move_fields_to_where_a_server_wants_them() {
    let request = Request {
        system: vec!["Be brief.".into()],
        max_tokens: Some(9),
        sampling: Sampling { temperature: Some(0.5), ..Sampling::default() },
        ..Request::default()
    };
    let target = with(Quirks {
        max_tokens_field: Some(MaxTokensField::MaxCompletionTokens),
        system_role: Some(SystemRole::Developer),
        stream_usage: Some(false),
        fixed_sampling: Some(true),
        ..Quirks::default()
    });
    let expected = json!({
        "model": "model-1",
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "Continue."},
        ],
        "max_completion_tokens": 9,
        "stream": true,
    });
    assert_eq!(body(&request, &target), expected);
    let silent = with(Quirks { stream: Some(false), ..Quirks::default() });
    assert_eq!(
        body(&Request::default(), &silent),
        json!({
            "model": "model-1", "messages": [{"role": "user", "content": "Continue."}],
        })
    );
}

#[test]
fn thinking_is_asked_for_in_every_way() {
    let ask = |way, reasoning| {
        let mut target = with(Quirks { reasoning_request: way, ..Quirks::default() });
        target.model.reasoning_levels = vec![Effort::Low, Effort::High];
        let mut body = body(&Request { reasoning, ..Request::default() }, &target);
        for known in ["model", "messages", "stream", "stream_options"] {
            body.as_object_mut().unwrap().remove(known);
        }
        body
    };
    let (high, off) = (Reasoning::Effort(Effort::Max), Reasoning::Effort(Effort::None));
    let budget = Reasoning::Budget(2_000);
    assert_eq!(ask(None, high), json!({"reasoning_effort": "high"}));
    assert_eq!(ask(None, Reasoning::ModelDefault), json!({}));
    assert_eq!(ask(Some(ReasoningRequest::Never), high), json!({}));
    assert_eq!(ask(Some(ReasoningRequest::Effort), budget), json!({"reasoning_effort": "low"}));
    let enabled = json!({"thinking": {"type": "enabled", "budget_tokens": 2_000}});
    assert_eq!(ask(Some(ReasoningRequest::Budget), budget), enabled);
    let adaptive = json!({"thinking": {"type": "adaptive"}, "reasoning_effort": "high"});
    assert_eq!(ask(Some(ReasoningRequest::Adaptive), high), adaptive);
    assert_eq!(ask(Some(ReasoningRequest::Object), high), json!({"reasoning": {"effort": "high"}}));
    let object = json!({"reasoning": {"max_tokens": 2_000}});
    assert_eq!(ask(Some(ReasoningRequest::Object), budget), object);
    // A model whose least is `low` cannot be told to stop thinking.
    assert_eq!(ask(Some(ReasoningRequest::Object), off), json!({"reasoning": {"effort": "low"}}));
    let zero = Reasoning::Budget(0);
    assert_eq!(ask(Some(ReasoningRequest::Object), zero), json!({"reasoning": {"enabled": false}}));
    let switch = json!({"thinking": {"type": "disabled"}});
    assert_eq!(ask(Some(ReasoningRequest::ThinkingSwitch), zero), switch);
    let qwen = json!({"enable_thinking": true, "thinking_budget": 2_000});
    assert_eq!(ask(Some(ReasoningRequest::EnableThinking), budget), qwen);
    let template = json!({"chat_template_kwargs": {"enable_thinking": false}});
    assert_eq!(ask(Some(ReasoningRequest::TemplateSwitch), zero), template);
}

#[test]
fn images_in_results_stand_inside_or_follow() {
    let turns = || {
        vec![
            user(vec![Part::user_text("Look.")]),
            assistant(vec![call("c1", "view", json!({}))]),
            user(vec![result("c1", "view", vec![text("seen"), Piece::File(image())])]),
        ]
    };
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}});
    let inside = messages(turns(), Quirks { tool_result_images: Some(true), ..Quirks::default() });
    let both = json!([{"type": "text", "text": "seen"}, picture]);
    assert_eq!(inside[2], json!({"role": "tool", "tool_call_id": "c1", "content": both}));
    let after = messages(turns(), Quirks::default());
    assert_eq!(after[2]["content"], "seen");
    let note = json!({"type": "text", "text": "Files in the result of `view`:"});
    assert_eq!(after[3], json!({"role": "user", "content": [note, picture]}));
    let apart = messages(turns(), Quirks { user_after_tool: Some(false), ..Quirks::default() });
    let roles: Vec<&str> = apart.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
}

#[test]
fn cache_marks_stand_on_system_last_tool_and_last_two_messages() {
    let request = Request {
        system: vec!["Be brief.".into(), "Be right.".into()],
        turns: vec![
            user(vec![Part::user_text("one")]),
            assistant(vec![call("c1", "ls", json!({})), call("c2", "ls", json!({}))]),
            user(vec![result("c1", "ls", vec![text("a")]), result("c2", "ls", vec![text("b")])]),
        ],
        tools: vec![ls(), ls()],
        ..Request::default()
    };
    let marks = Quirks { cache_marks: Some(CacheMarks::Anthropic), ..Quirks::default() };
    let marked = body(&request, &with(marks.clone()));
    let mark = json!({"type": "ephemeral"});
    assert_eq!(marked["messages"][0]["content"][1]["cache_control"], mark);
    assert_eq!(marked["messages"][0]["content"][0].get("cache_control"), None);
    assert_eq!(marked["messages"][1]["content"][0].get("cache_control"), None);
    assert_eq!(marked["messages"][3]["content"][0]["cache_control"], mark);
    assert_eq!(marked["messages"][4]["content"][0]["cache_control"], mark);
    assert_eq!(marked["tools"][1]["cache_control"], mark);
    assert_eq!(marked.to_string().matches("cache_control").count(), 4);
    let once = Request { cache: llm::request::Cache::Never, ..request };
    assert!(!body(&once, &with(marks)).to_string().contains("cache_control"));
}

#[test]
fn thoughts_go_back_to_their_maker_only() {
    let own = with(Quirks::default()).maker();
    let foreign = Maker { model: "other".into(), ..own.clone() };
    let replay = |maker: &Maker, way| {
        let details = json!([{"type": "reasoning.encrypted", "data": "x"}]);
        let sidecar = json!({"field": "reasoning", "reasoning_details": details});
        let turns = vec![
            user(vec![Part::user_text("Hi")]),
            assistant(vec![signed(thought("Hm."), maker, sidecar), call("c1", "ls", json!({}))]),
            user(vec![result("c1", "ls", vec![text("a")])]),
        ];
        messages(turns, Quirks { reasoning_replay: way, ..Quirks::default() })[1].clone()
    };
    let details = json!([{"type": "reasoning.encrypted", "data": "x"}]);
    let way = Some(ReasoningReplay::ReasoningContent);
    assert_eq!(replay(&own, way)["reasoning_content"], "Hm.");
    assert_eq!(replay(&foreign, way)["reasoning_content"], " ", "a call needs some thought");
    let way = Some(ReasoningReplay::Reasoning);
    assert_eq!(replay(&own, way)["reasoning"], "Hm.");
    assert_eq!(replay(&foreign, way).get("reasoning"), None);
    for way in [None, Some(ReasoningReplay::ReasoningDetails)] {
        assert_eq!(replay(&own, way)["reasoning_details"], details);
        assert_eq!(replay(&foreign, way).get("reasoning_details"), None);
    }
    let way = Some(ReasoningReplay::ThinkingPart);
    let part = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]);
    assert_eq!(replay(&own, way)["content"], part);
    assert_eq!(replay(&own, Some(ReasoningReplay::Never)).as_object().unwrap().len(), 3);
}

#[test]
fn a_longer_conversation_begins_with_the_bytes_of_the_shorter() {
    let mut turns = vec![
        user(vec![Part::user_text("one")]),
        assistant(vec![Part::assistant_text("two"), call("odd id", "ls", json!({}))]),
        user(vec![result("odd id", "ls", vec![text("three")])]),
    ];
    let bytes = |turns: &[Turn]| {
        let request = Request { turns: turns.to_vec(), tools: vec![ls()], ..Request::default() };
        body(&request, &with(Quirks::default())).to_string()
    };
    let shorter = bytes(&turns);
    turns.push(assistant(vec![call("odd id", "ls", json!({}))]));
    turns.push(user(vec![result("odd id", "ls", vec![text("four")])]));
    let longer = bytes(&turns);
    assert!(longer.starts_with(shorter.strip_suffix("]}").unwrap()), "{shorter}\n{longer}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_transcript_keeps_the_rules_of_the_wire(
        turns in transcripts::arbitrary(vec![target(Wire::OpenaiChat).maker(), Maker {
            provider: "other".into(), model: "m".into(), wire: "gemini".into(),
        }]),
        nine in any::<bool>(),
        user_after_tool in any::<bool>(),
    ) {
        let form = if nine { CallIdForm::Nine } else { CallIdForm::Plain };
        let quirks = Quirks {
            call_id: Some(form), user_after_tool: Some(user_after_tool), ..Quirks::default()
        };
        let messages = messages(turns.clone(), quirks.clone());
        let mut given = HashSet::new();
        let mut owed: Vec<String> = Vec::new();
        let mut before = "";
        for message in &messages {
            let role = message["role"].as_str().unwrap();
            let content = &message["content"];
            let empty = content.is_null() || content == "" || content == &json!([]);
            if role == "tool" {
                prop_assert_eq!(message["tool_call_id"].as_str().unwrap(), owed.remove(0));
                prop_assert!(!empty);
            } else {
                prop_assert!(owed.is_empty(), "{role} before all results");
            }
            match role {
                "user" => prop_assert!(before != "user" && !empty && (user_after_tool || before != "tool")),
                "assistant" => {
                    prop_assert!(before != "assistant" && !before.is_empty());
                    let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
                    prop_assert!(!empty || !calls.is_empty());
                    for call in calls {
                        let id = call["id"].as_str().unwrap().to_owned();
                        let length = if nine { 9..10 } else { 1..65 };
                        prop_assert!(length.contains(&id.len()));
                        prop_assert!(given.insert(id.clone()), "{id} twice");
                        prop_assert!(!call["function"]["name"].as_str().unwrap().is_empty());
                        owed.push(id);
                    }
                }
                _ => {}
            }
            before = role;
        }
        prop_assert!(owed.is_empty() && before != "assistant");
        prop_assert_eq!(&super::encode::messages(turns, quirks), &messages, "the same every time");
    }
}
