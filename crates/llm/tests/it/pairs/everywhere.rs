//! Any transcript, with the sidecars of every wire in it, encoded for every wire.

use std::sync::LazyLock;

use base::model::Effort;
use base::transcript::{Native, PartBody, Role, Turn};
use base::{CallId, Env, Part};
use llm::request::Cache;
use llm::{Reasoning, Request, Target, ToolChoice, ToolSpec, wire};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use settings::provider::{
    CacheMarks, CallIdForm, MaxTokensField, Quirks, ReasoningReplay, ReasoningRequest, Sampling,
    SystemRole, Wire,
};
use testkit::validate::{self, Issued, Rules, Server as Strictness};
use testkit::{Action, Script, Server, arbitrary};

use crate::speaking::{ask, model_at};
use crate::targets::target;
use crate::transcripts::user;

/// What each wire handed out in a real answer.
struct Made {
    natives: Vec<Native>,
    seals: Vec<(Wire, String)>,
}

static MADE: LazyLock<Made> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut made = Made { natives: Vec::new(), seals: Vec::new() };
        for wire in Wire::ALL {
            let seals = ["shown", "hidden"].map(|what| seal(wire, what));
            let natives = answered(wire, &seals).await;
            assert!(!natives.is_empty(), "{wire:?} made no sidecar");
            made.natives.extend(natives);
            made.seals.extend(seals.map(|seal| (wire, seal)));
        }
        made
    })
});

fn seal(wire: Wire, what: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(format!("{what} {}", wire.as_str()))
}

/// The sidecars of an answer with a thought, a hidden thought, text and a call.
async fn answered(wire: Wire, seals: &[String; 2]) -> Vec<Native> {
    let thought = |text: &str, seal: &String| Action::Reasoning {
        text: text.to_owned(),
        deltas: 2,
        seal: Some(seal.clone()),
    };
    let script = Script::new()
        .chat_thoughts(testkit::script::ChatThoughts::ReasoningDetails)
        .act(thought("Let me see.", &seals[0]))
        .text("I look.")
        .act(thought("", &seals[1]))
        .call("view", json!({ "path": "a" }));
    let server = Server::start(script).await.unwrap();
    let request = Request { turns: vec![user(vec![Part::user_text("Hi")])], ..Request::default() };
    let answer = ask(&model_at(&server, wire), &request).await.unwrap();
    answer.parts.into_iter().filter_map(|part| part.native).collect()
}

fn issued(wire: Wire) -> Issued {
    MADE.seals.iter().filter(|(made, _)| *made == wire).map(|(_, seal)| seal.clone()).collect()
}

/// A way of speaking a wire, and how strict its server is.
struct Variant {
    wire: Wire,
    quirks: Quirks,
    server: Strictness,
}

fn variants() -> Vec<Variant> {
    let plain = Quirks::default;
    let asks = |reasoning| Quirks { reasoning_request: Some(reasoning), ..plain() };
    let mut all = Vec::new();
    let mut add = |wire, server, quirks| all.push(Variant { wire, quirks, server });
    for wire in
        [Wire::AnthropicMessages, Wire::OpenaiResponses, Wire::Gemini, Wire::BedrockConverse]
    {
        add(wire, Strictness::Original, plain());
        for inside in [true, false] {
            let quirks = Quirks { tool_result_images: Some(inside), ..plain() };
            add(wire, Strictness::Original, quirks);
        }
        add(wire, Strictness::Original, asks(ReasoningRequest::Never));
        add(wire, Strictness::Original, Quirks { fixed_sampling: Some(true), ..plain() });
    }
    for way in [ReasoningRequest::Budget, ReasoningRequest::Adaptive] {
        add(Wire::AnthropicMessages, Strictness::Original, asks(way));
        add(Wire::BedrockConverse, Strictness::Original, asks(way));
    }
    for way in [ReasoningRequest::Budget, ReasoningRequest::Effort] {
        add(Wire::Gemini, Strictness::Original, asks(way));
    }
    add(Wire::OpenaiResponses, Strictness::Original, asks(ReasoningRequest::Effort));
    let developer = Quirks { system_role: Some(SystemRole::Developer), ..plain() };
    add(Wire::OpenaiResponses, Strictness::Original, developer);
    for (server, quirks) in chat_variants() {
        add(Wire::OpenaiChat, server, quirks);
    }
    all
}

fn chat_variants() -> Vec<(Strictness, Quirks)> {
    let plain = Quirks::default;
    let openai = Quirks {
        reasoning_replay: Some(ReasoningReplay::Never),
        reasoning_request: Some(ReasoningRequest::Effort),
        max_tokens_field: Some(MaxTokensField::MaxCompletionTokens),
        system_role: Some(SystemRole::Developer),
        ..plain()
    };
    let mistral = Quirks {
        call_id: Some(CallIdForm::Nine),
        user_after_tool: Some(false),
        reasoning_replay: Some(ReasoningReplay::ThinkingPart),
        ..plain()
    };
    let openrouter = Quirks {
        reasoning_request: Some(ReasoningRequest::Object),
        reasoning_replay: Some(ReasoningReplay::ReasoningDetails),
        cache_marks: Some(CacheMarks::Anthropic),
        ..plain()
    };
    let written = Quirks { text_calls: Some(true), think_tags: Some(true), ..plain() };
    let images = |inside| Quirks { tool_result_images: Some(inside), ..plain() };
    let mut all = vec![
        (Strictness::Original, openai),
        (Strictness::Compatible, plain()),
        (Strictness::Compatible, mistral),
        (Strictness::Compatible, openrouter),
        (Strictness::Compatible, written),
        (Strictness::Compatible, images(true)),
        (Strictness::Compatible, images(false)),
    ];
    for way in [
        ReasoningRequest::ThinkingSwitch,
        ReasoningRequest::EnableThinking,
        ReasoningRequest::TemplateSwitch,
    ] {
        all.push((Strictness::Compatible, Quirks { reasoning_request: Some(way), ..plain() }));
    }
    for way in [ReasoningReplay::ReasoningContent, ReasoningReplay::Reasoning] {
        all.push((Strictness::Compatible, Quirks { reasoning_replay: Some(way), ..plain() }));
    }
    all
}

impl Variant {
    fn target(&self) -> Target {
        Target { quirks: self.quirks.clone(), ..target(self.wire) }
    }

    fn rules(&self, target: &Target) -> Rules {
        Rules {
            issued: Some(issued(self.wire)),
            model: Some(target.model.id.clone()),
            call_id: self.quirks.call_id,
            server: self.server,
            ..Rules::default()
        }
    }
}

fn tool(name: &str) -> ToolSpec {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}},
        "required": ["path"], "additionalProperties": false});
    ToolSpec { name: name.to_owned(), description: format!("Runs {name}."), schema }
}

/// Requests around turns: tools, choices, thinking and sampling of every kind.
fn request(turns: Vec<Turn>) -> impl Strategy<Value = Request> {
    let tools = select(vec![vec![], vec![tool("view"), tool("bash")]]);
    let choice = select(vec![
        ToolChoice::Auto,
        ToolChoice::Auto,
        ToolChoice::Never,
        ToolChoice::Required,
        ToolChoice::Named("view".to_owned()),
    ]);
    let reasoning = prop_oneof![
        Just(Reasoning::ModelDefault),
        select(Effort::ALL.to_vec()).prop_map(Reasoning::Effort),
        select(vec![0, 1, 1024, 50_000]).prop_map(Reasoning::Budget),
    ];
    let limit = select(vec![None, Some(1), Some(4096), Some(64_000)]);
    let system = select(vec![
        vec![],
        vec!["Be brief.".to_owned()],
        vec![String::new(), "Be brief.".to_owned(), "Be right.".to_owned()],
    ]);
    let temperature = select(vec![None, Some(0.0), Some(0.7)]);
    let cache = select(vec![Cache::Prefix, Cache::Never]);
    (system, tools, choice, limit, reasoning, temperature, cache).prop_map(
        move |(system, tools, tool_choice, max_tokens, reasoning, temperature, cache)| Request {
            system,
            turns: turns.clone(),
            tools,
            tool_choice,
            max_tokens,
            reasoning,
            sampling: Sampling { temperature, ..Sampling::default() },
            cache,
            ..Request::default()
        },
    )
}

fn any_turns() -> impl Strategy<Value = Vec<Turn>> {
    let makers: Vec<_> = Wire::ALL.map(|wire| target(wire).maker()).to_vec();
    let mut natives = MADE.natives.clone();
    natives.extend(arbitrary::strange_natives(&makers));
    arbitrary::turns(natives)
}

/// Cases of a property here; each is encoded for every variant.
fn cases() -> u32 {
    if Env::of_process().get("CAIMAN_SOAK").is_some() { 3000 } else { 64 }
}

fn body(request: &Request, target: &Target) -> Value {
    Value::Object(wire::encode(request, target).body)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn any_transcript_of_any_wires_passes_the_validator_of_every_other(
        request in any_turns().prop_flat_map(request),
    ) {
        for variant in variants() {
            let target = variant.target();
            let body = body(&request, &target);
            let found = validate::request(variant.wire, &body, &variant.rules(&target));
            prop_assert!(
                found.is_empty(),
                "{:?} {:?}: {}\n{}",
                variant.wire,
                variant.quirks,
                found[0],
                shortened(&body)
            );
        }
    }

    #[test]
    fn a_longer_conversation_begins_with_the_shorter_ones_messages(
        turns in any_turns(),
        more in any_turns(),
    ) {
        let shorter = asking(turns);
        let longer = [shorter.clone(), answered_later(more)].concat();
        for variant in variants() {
            let target = variant.target();
            let messages = |turns: &Vec<Turn>| {
                let request = Request { turns: turns.clone(), ..Request::default() };
                unmarked(said(&body(&request, &target)))
            };
            let (before, after) = (messages(&shorter), messages(&longer));
            prop_assert!(before.len() < after.len(), "{:?}", variant.wire);
            for (at, message) in before.iter().enumerate() {
                prop_assert_eq!(
                    message, &after[at],
                    "message {} on {:?} with {:?}", at, variant.wire, variant.quirks
                );
            }
        }
    }
}

fn shortened(body: &Value) -> String {
    let text = body.to_string();
    text.chars().take(6000).collect()
}

/// The turns as they stand when a model is asked: the user spoke last.
fn asking(mut turns: Vec<Turn>) -> Vec<Turn> {
    let speaks = |part: &Part| match &part.body {
        PartBody::Result(_) | PartBody::File(_) => true,
        PartBody::Text { text } => !text.trim().is_empty(),
        PartBody::Reasoning { .. } | PartBody::Call(_) | PartBody::Opaque { .. } => false,
    };
    let asks = |turn: &Turn| turn.role == Role::User && turn.parts.iter().any(speaks);
    if !turns.last().is_some_and(asks) {
        turns.push(user(vec![Part::user_text("Go on.")]));
    }
    turns
}

/// One answer and what the user said to it. Its calls are new: a result for a call of long ago would
/// rightly change what was sent then.
fn answered_later(turns: Vec<Turn>) -> Vec<Turn> {
    let at = turns.windows(2).position(|pair| pair[0].role == Role::Assistant);
    let mut pair = at.map_or_else(Vec::new, |at| turns[at..at + 2].to_vec());
    if pair.is_empty() || pair[1].role == Role::Assistant {
        let said = Part { origin: base::transcript::Origin::Assistant, ..Part::user_text("Done.") };
        pair = vec![Turn { role: Role::Assistant, parts: vec![said] }, user(Vec::new())];
    }
    let said = Part { origin: base::transcript::Origin::Assistant, ..Part::user_text("I see.") };
    pair[0].parts.insert(0, said);
    pair[1].parts.push(Part::user_text("And now?"));
    for part in pair.iter_mut().flat_map(|turn| &mut turn.parts) {
        let id = match &mut part.body {
            PartBody::Call(call) => &mut call.id,
            PartBody::Result(result) => &mut result.call,
            PartBody::Text { .. }
            | PartBody::Reasoning { .. }
            | PartBody::File(_)
            | PartBody::Opaque { .. } => continue,
        };
        *id = CallId::new(format!("later_{}", id.as_str()));
    }
    pair
}

/// The conversation inside a body.
fn said(body: &Value) -> Vec<Value> {
    let list = ["messages", "contents", "input"].iter().find_map(|field| body.get(field));
    list.and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Messages without the marks that move with the end of the conversation.
fn unmarked(mut messages: Vec<Value>) -> Vec<Value> {
    messages.iter_mut().for_each(unmark);
    messages
}

fn unmark(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            fields.values_mut().for_each(unmark);
        }
        Value::Array(items) => {
            items.retain(|item| item.get("cachePoint").is_none());
            items.iter_mut().for_each(unmark);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
