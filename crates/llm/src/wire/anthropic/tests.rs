use base::CallId;
use base::model::Effort;
use base::transcript::{
    Call, CallInput, CallResult, File, FileSource, Mended, Native, Origin, Outcome, Part, PartBody,
    Piece, Turn,
};
use settings::provider::{ReasoningRequest, Wire};

use super::*;
use crate::request::Reasoning;

/// A model that can do everything, at a provider without a habit of its own.
pub(in crate::wire) fn target(wire: Wire) -> Target {
    let mut target = Target::sample(wire);
    target.model.id = "claude-x".into();
    target.model.default_max_tokens = 32_000;
    target
}

pub(in crate::wire) fn user(parts: Vec<Part>) -> Turn {
    Turn { role: Role::User, parts }
}

pub(in crate::wire) fn assistant(parts: Vec<Part>) -> Turn {
    Turn { role: Role::Assistant, parts }
}

pub(in crate::wire) fn call(id: &str, input: CallInput) -> Part {
    let call = Call { id: CallId::new(id), name: "look".into(), input };
    Part::new(PartBody::Call(call), Origin::Assistant)
}

pub(in crate::wire) fn result(id: &str, outcome: Outcome, pieces: Vec<Piece>) -> Part {
    let result =
        CallResult { call: CallId::new(id), name: "look".into(), outcome, pieces, shown: None };
    Part::new(PartBody::Result(result), Origin::Shell)
}

pub(in crate::wire) fn file(media_type: &str, base64: &str) -> File {
    let source = FileSource::Base64(base64.into());
    File { media_type: media_type.into(), name: Some("a.b".into()), source }
}

pub(in crate::wire) fn tool() -> ToolSpec {
    ToolSpec {
        name: "look".into(),
        description: "Looks.".into(),
        schema: json!({ "type": "object", "properties": {} }),
    }
}

fn native(target: &Target, data: Value) -> Native {
    Native { maker: target.maker(), data }
}

fn thought(target: &Target, data: Value) -> Part {
    let body = PartBody::Reasoning { text: "hm".into() };
    Part::new(body, Origin::Assistant).with_native(native(target, data))
}

fn body(request: &Request, target: &Target) -> Value {
    encode(request, target).body.into()
}

fn request(turns: Vec<Turn>) -> Request {
    Request { turns, ..Request::default() }
}

fn hello() -> Request {
    request(vec![user(vec![Part::user_text("hello")])])
}

#[test]
fn a_small_request_holds_what_it_must_and_no_more() {
    let encoded = encode(
        &Request { cache: Cache::Never, system: vec!["be kind".into(), " ".into()], ..hello() },
        &target(Wire::AnthropicMessages),
    );
    assert_eq!(encoded.path, "/messages");
    assert_eq!(encoded.headers, [("anthropic-version", "2023-06-01".to_owned())]);
    let expected = json!({
        "model": "claude-x",
        "max_tokens": 32_000,
        "stream": true,
        "system": [{ "type": "text", "text": "be kind" }],
        "messages": [{ "role": "user", "content": [{ "type": "text", "text": "hello" }] }],
    });
    assert_eq!(Value::from(encoded.body), expected);
}

#[test]
fn four_marks_at_most_and_only_where_the_cache_may_be_used() {
    let turns = (0..3)
        .flat_map(|_| {
            [user(vec![Part::user_text("q")]), assistant(vec![Part::assistant_text("a")])]
        })
        .chain([user(vec![Part::user_text("last")])])
        .collect();
    let system = vec!["one".into(), "two".into()];
    let asked = Request { system, tools: vec![tool(), tool()], ..request(turns) };
    let target = target(Wire::AnthropicMessages);
    let marked = body(&asked, &target);
    assert_eq!(marked.to_string().matches("cache_control").count(), 4);
    for place in ["/tools/1", "/system/1", "/messages/4/content/0", "/messages/6/content/0"] {
        let block = marked.pointer(place).unwrap();
        assert_eq!(block["cache_control"], json!({ "type": "ephemeral" }), "{place}");
    }
    let plain = body(&Request { cache: Cache::Never, ..asked }, &target);
    assert!(!plain.to_string().contains("cache_control"));
}

#[test]
fn a_budget_fits_below_the_output_limit() {
    let mut target = target(Wire::AnthropicMessages);
    let ask = |reasoning, max_tokens, target: &Target| {
        let body = body(&Request { max_tokens, reasoning, ..hello() }, target);
        (body["thinking"]["budget_tokens"].as_u64(), body["max_tokens"].as_u64().unwrap())
    };
    let budget = Reasoning::Budget;
    assert_eq!(ask(budget(2000), None, &target), (Some(2000), 32_000));
    assert_eq!(ask(budget(10), Some(500), &target), (Some(1024), 1524));
    assert_eq!(ask(budget(90_000), None, &target), (Some(27_904), 32_000));
    assert_eq!(ask(budget(0), None, &target), (None, 32_000));
    assert_eq!(ask(Reasoning::ModelDefault, None, &target), (None, 32_000));
    assert_eq!(ask(Reasoning::Effort(Effort::Low), None, &target), (Some(4096), 32_000));
    target.model.can_reason = false;
    assert_eq!(ask(budget(2000), None, &target), (None, 32_000));
    target.quirks.reasoning_request = Some(ReasoningRequest::Budget);
    target.model.default_max_tokens = 0;
    assert_eq!(ask(budget(8192), None, &target), (Some(8192), 16_384));
}

#[test]
fn an_adaptive_model_gets_the_nearest_effort_it_has() {
    let mut target = target(Wire::AnthropicMessages);
    target.model.reasoning_levels = vec![Effort::Low, Effort::Medium, Effort::High, Effort::Max];
    let ask = |effort: Effort| {
        let reasoning = Reasoning::Effort(effort);
        let body = body(&Request { reasoning, ..hello() }, &target);
        (body["thinking"]["type"].clone(), body["output_config"]["effort"].clone())
    };
    assert_eq!(ask(Effort::Minimal), (json!("adaptive"), json!("low")));
    assert_eq!(ask(Effort::Xhigh), (json!("adaptive"), json!("high")));
    assert_eq!(ask(Effort::Max), (json!("adaptive"), json!("max")));
    assert_eq!(ask(Effort::None), (Value::Null, json!("low")));
}

#[test]
fn thinking_and_what_it_forbids_do_not_meet() {
    let mut target = target(Wire::AnthropicMessages);
    target.model.options.temperature = Some(0.3);
    target.model.options.top_k = Some(40);
    target.model.options.top_p = Some(0.5);
    let cool = body(&hello(), &target);
    assert_eq!((&cool["temperature"], &cool["top_k"]), (&json!(0.3), &json!(40)));
    assert!(cool.get("top_p").is_none());
    let reasoning = Reasoning::Budget(2000);
    let thoughtful = body(&Request { reasoning, ..hello() }, &target);
    for field in ["temperature", "top_k", "top_p"] {
        assert!(thoughtful.get(field).is_none(), "{field}");
    }
    let forced = Request {
        reasoning,
        tools: vec![tool()],
        tool_choice: ToolChoice::Named("look".into()),
        ..hello()
    };
    let forced = body(&forced, &target);
    assert_eq!(forced["tool_choice"], json!({ "type": "tool", "name": "look" }));
    assert!(forced.get("thinking").is_none());
    target.quirks.fixed_sampling = Some(true);
    assert!(body(&hello(), &target).get("temperature").is_none());
}

#[test]
fn a_budget_is_dropped_in_the_middle_of_another_models_calls() {
    let target = target(Wire::AnthropicMessages);
    let done = || user(vec![result("c", Outcome::Done, vec![])]);
    let ask = |parts: Vec<Part>| {
        let turns = vec![user(vec![Part::user_text("go")]), assistant(parts), done()];
        body(&Request { reasoning: Reasoning::Budget(2000), ..request(turns) }, &target)
    };
    let foreign = ask(vec![call("c", CallInput::default())]);
    assert!(foreign.get("thinking").is_none());
    let own = thought(&target, json!({ "signature": "s" }));
    let own = ask(vec![own, call("c", CallInput::default())]);
    assert_eq!(own["thinking"]["type"], "enabled");
}

#[test]
fn thoughts_steps_and_calls_go_back_as_they_came() {
    let target = target(Wire::AnthropicMessages);
    let step = |label: &str, data: Value| {
        let body = PartBody::Opaque { label: label.into() };
        Part::new(body, Origin::Assistant).with_native(native(&target, data))
    };
    let search =
        json!({ "type": "server_tool_use", "id": "s1", "name": "web_search", "input": {} });
    let found = json!({ "type": "web_search_tool_result", "tool_use_id": "s1", "content": [] });
    let lost = json!({ "type": "server_tool_use", "id": "s2", "name": "web_search", "input": {} });
    let broken = CallInput { value: Map::new(), mended: Some(Mended::Broken("{".into())) };
    let turns = vec![
        user(vec![Part::user_text("go")]),
        assistant(vec![
            thought(&target, json!({ "signature": "sig" })),
            thought(&target, json!({ "redacted": "blob" })),
            step("server_tool_use", search.clone()),
            step("web_search_tool_result", found.clone()),
            step("server_tool_use", lost),
            call("toolu_1", broken),
        ]),
        user(vec![]),
    ];
    let body = body(&request(turns), &target);
    let expected = json!([
        { "type": "thinking", "thinking": "hm", "signature": "sig" },
        { "type": "redacted_thinking", "data": "blob" },
        search,
        found,
        { "type": "tool_use", "id": "toolu_1", "name": "look", "input": {} },
    ]);
    assert_eq!(body["messages"][1]["content"], expected);
    assert_eq!(body["messages"][2]["content"][0]["is_error"], true);
}

#[test]
fn files_become_images_documents_or_a_mention() {
    let mut target = target(Wire::AnthropicMessages);
    let parts = [
        file("image/jpg", "AAAA"),
        file("application/pdf", "JVBE"),
        file("text/markdown; charset=utf-8", "aGVsbG8="),
        file("video/mp4", "AAAA"),
    ]
    .map(|file| Part::new(PartBody::File(file), Origin::User));
    let asked = Request { cache: Cache::Never, ..request(vec![user(parts.to_vec())]) };
    let content = body(&asked, &target)["messages"][0]["content"].clone();
    assert_eq!(content[0]["source"]["media_type"], "image/jpeg");
    assert_eq!((&content[1]["type"], &content[1]["title"]), (&json!("document"), &json!("a.b")));
    assert_eq!(content[2]["source"]["data"], "hello");
    assert!(content[3]["text"].as_str().unwrap().contains("video/mp4"));
    target.model.supports_attachments = false;
    let content = body(&asked, &target)["messages"][0]["content"].clone();
    assert!(content[0]["text"].as_str().unwrap().contains("left out"), "{content}");
    assert!(content[2]["text"].as_str().unwrap().ends_with("hello"), "{content}");
}

#[test]
fn a_failed_result_holds_only_text_and_its_picture_follows() {
    let target = target(Wire::AnthropicMessages);
    let pieces = || {
        let text = Piece::Text { text: "see".into() };
        vec![text, Piece::File(file("image/png", "AAAA"))]
    };
    let turns = vec![
        user(vec![Part::user_text("go")]),
        assistant(vec![call("a", CallInput::default()), call("b", CallInput::default())]),
        user(vec![result("a", Outcome::Failed, pieces()), result("b", Outcome::Done, pieces())]),
    ];
    let content = body(&request(turns), &target)["messages"][2]["content"].clone();
    assert_eq!(content[0]["content"].as_array().unwrap().len(), 1);
    assert_eq!(content[1]["content"][1]["type"], "image");
    assert_eq!(content[3]["type"], "image");
    assert!(content[1].get("is_error").is_none());
}
