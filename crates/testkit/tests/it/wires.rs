//! One script, every wire: the oracle reads the same answer from each.

use base::{StopReason, Usage};
use serde_json::{Value, json};
use settings::provider::Wire;
use testkit::cassette::Exchange;
use testkit::oracle::{self, Expected, FailureKind};
use testkit::script::ChatThoughts;
use testkit::{Script, Server};

use crate::client::Client;

struct Way {
    wire: Wire,
    protocol: &'static str,
    path: &'static str,
    body: Value,
}

/// Every path of every wire, streamed and whole.
fn ways() -> Vec<Way> {
    let message = json!([{ "role": "user", "content": "hi" }]);
    let block = json!([{ "role": "user", "content": [{ "text": "hi" }] }]);
    let gemini = json!({ "contents": [{ "role": "user", "parts": [{ "text": "hi" }] }] });
    let claude = |stream: bool| json!({ "model": "m", "max_tokens": 9, "stream": stream, "messages": message });
    let bedrock = json!({ "anthropic_version": "x", "max_tokens": 9, "messages": message });
    let chat = |stream: bool| json!({ "model": "m", "stream": stream, "messages": message });
    let responses = |stream: bool| json!({ "model": "m", "stream": stream, "input": "hi" });
    let way = |wire, protocol, path, body| Way { wire, protocol, path, body };
    vec![
        way(Wire::AnthropicMessages, "anthropic-messages", "/v1/messages", claude(true)),
        way(Wire::AnthropicMessages, "anthropic-messages", "/v1/messages", claude(false)),
        way(
            Wire::AnthropicMessages,
            "bedrock-invoke",
            "/model/anthropic.m/invoke-with-response-stream",
            bedrock.clone(),
        ),
        way(Wire::AnthropicMessages, "bedrock-invoke", "/model/anthropic.m/invoke", bedrock),
        way(Wire::OpenaiChat, "openai-chat", "/v1/chat/completions", chat(true)),
        way(Wire::OpenaiChat, "openai-chat", "/v1/chat/completions", chat(false)),
        way(Wire::OpenaiResponses, "openai-responses", "/v1/responses", responses(true)),
        way(Wire::OpenaiResponses, "openai-responses", "/v1/responses", responses(false)),
        way(
            Wire::Gemini,
            "gemini",
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            gemini.clone(),
        ),
        way(Wire::Gemini, "gemini", "/v1beta/models/m:generateContent", gemini),
        way(
            Wire::BedrockConverse,
            "bedrock-converse",
            "/model/m/converse-stream",
            json!({ "messages": block }),
        ),
        way(
            Wire::BedrockConverse,
            "bedrock-converse",
            "/model/m/converse",
            json!({ "messages": block }),
        ),
    ]
}

/// Asks in one way and lets the oracle read the answer, as if it had been recorded.
async fn read(script: &Script, way: &Way) -> Expected {
    let server = Server::start(script.clone()).await.unwrap();
    let answer = Client::connect(&server.url()).await.post(way.path, &way.body).await;
    assert_eq!(server.violations(), Vec::new(), "{}", way.path);
    let kind = answer.head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap();
    let encoded = base64(&answer.body);
    let exchange: Exchange = serde_json::from_value(json!({
        "provider": "scripted", "protocol": way.protocol,
        "request": { "url": way.path },
        "response": { "status": answer.status, "headers": { "content-type": kind }, "body_base64": encoded },
    }))
    .unwrap();
    assert_eq!(exchange.wire(), Some(way.wire));
    oracle::expect(&exchange)
}

fn base64(bytes: &[u8]) -> String {
    use ::base64::Engine;
    ::base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[tokio::test]
async fn every_wire_says_thinks_calls_and_counts_the_same() {
    let usage = Usage { input: 10, cache_read: 4, cache_write: 0, output: 7, reasoning: 3 };
    let script = Script::new()
        .reasoning("I should look.")
        .text_in("Let me see, 漢字.", 5)
        .call_as("call_1", "view", json!({ "path": "a\n\"b\"" }))
        .call_as("call_2", "bash", json!({ "n": [1, 2.5, null] }))
        .act(testkit::Action::Usage(usage));
    for way in ways() {
        let read = read(&script, &way).await;
        assert_eq!(read.error, None, "{}", way.path);
        assert_eq!(read.text, "Let me see, 漢字.", "{}", way.path);
        assert_eq!(read.reasoning, "I should look.", "{}", way.path);
        assert_eq!(read.stop, Some(StopReason::ToolCalls), "{}", way.path);
        let calls: Vec<_> =
            read.calls.iter().map(|call| (call.id.as_deref(), call.name.as_str())).collect();
        assert_eq!(calls, [(Some("call_1"), "view"), (Some("call_2"), "bash")], "{}", way.path);
        assert_eq!(read.calls[0].args, json!({ "path": "a\n\"b\"" }), "{}", way.path);
        assert_eq!(read.calls[1].args, json!({ "n": [1, 2.5, null] }), "{}", way.path);
        let reasoning = if way.wire == Wire::BedrockConverse { 0 } else { 3 };
        assert_eq!(read.usage, Usage { reasoning, ..usage }, "{}", way.path);
        assert_eq!(read.has_seal, way.wire != Wire::OpenaiChat, "{}", way.path);
    }
}

#[tokio::test]
async fn every_wire_stops_at_its_limit_and_refuses() {
    for way in ways() {
        let script = Script::new().text("half a").stop(StopReason::Length);
        assert_eq!(read(&script, &way).await.stop, Some(StopReason::Length), "{}", way.path);
        let script = Script::new().refusal("I will not.");
        let read = read(&script, &way).await;
        assert_eq!(read.stop, Some(StopReason::Refusal), "{}", way.path);
        assert_eq!(read.text, "I will not.", "{}", way.path);
    }
}

#[tokio::test]
async fn every_wire_can_fail_inside_a_200_and_end_early() {
    for way in ways() {
        let script = Script::new().text("half a").fail_inside("overloaded_error", "too much");
        // A whole Converse body has no place for an error.
        if way.path != "/model/m/converse" {
            let error = read(&script, &way).await.error;
            let error = error.unwrap_or_else(|| panic!("{}", way.path));
            assert_eq!((error.status, error.kind), (200, FailureKind::Inside), "{}", way.path);
            assert_eq!(error.message, "too much", "{}", way.path);
        }
        if way.path.contains("stream") || way.body["stream"] == true {
            let script = Script::new().text("half a").end_early();
            let error = read(&script, &way).await.error;
            let error = error.unwrap_or_else(|| panic!("{}", way.path));
            assert_eq!(error.kind, FailureKind::CutOff, "{}", way.path);
        }
    }
}

#[tokio::test]
async fn chat_thoughts_travel_in_the_field_the_script_names() {
    for field in
        [ChatThoughts::ReasoningContent, ChatThoughts::Reasoning, ChatThoughts::ReasoningDetails]
    {
        let script = Script::new().chat_thoughts(field).reasoning("hm").text("yes");
        for way in ways().into_iter().filter(|way| way.wire == Wire::OpenaiChat) {
            let read = read(&script, &way).await;
            assert_eq!((read.reasoning.as_str(), read.text.as_str()), ("hm", "yes"), "{field:?}");
            assert_eq!(read.has_seal, field == ChatThoughts::ReasoningDetails, "{field:?}");
        }
    }
}
