//! The scripted server, seen byte by byte.

use std::time::{Duration, Instant};

use base::StopReason;
use serde_json::{Value, json};
use settings::provider::Wire;
use testkit::script::When;
use testkit::{Script, Server};

use crate::client::{Client, End};

const CHAT: &str = "/v1/chat/completions";

fn chat() -> Value {
    json!({ "model": "m", "stream": true, "messages": [{ "role": "user", "content": "hi" }] })
}

async fn start(script: Script) -> (Server, Client) {
    let server = Server::start(script).await.unwrap();
    let client = Client::connect(&server.url()).await;
    (server, client)
}

#[tokio::test]
async fn several_requests_share_a_connection_and_the_last_step_repeats() {
    let script = Script::new().text("one").then().text("two");
    let (server, mut client) = start(script).await;
    for word in ["one", "two", "two"] {
        let answer = client.post(CHAT, &chat()).await;
        assert_eq!((answer.status, answer.end), (200, End::Whole));
        assert!(answer.text().contains(&format!("\"content\":\"{word}\"")), "{}", answer.text());
        assert!(answer.text().ends_with("data: [DONE]\n\n"));
    }
    assert_eq!(server.requests().len(), 3);
    assert_eq!(server.violations(), Vec::new());
    assert_eq!(server.requests()[0].header("host"), Some("x"));
    server.close().await;
}

#[tokio::test]
async fn an_exhausted_script_answers_500() {
    let (_server, mut client) = start(Script::new().text("one").exhausts()).await;
    assert_eq!(client.post(CHAT, &chat()).await.status, 200);
    let answer = client.post(CHAT, &chat()).await;
    assert_eq!(answer.status, 500);
    assert_eq!(answer.json()["error"]["message"], "script exhausted");
}

#[tokio::test]
async fn a_step_with_a_condition_is_kept_for_the_request_that_meets_it() {
    let script = Script::new().text("main").then().when_contains("title").always().text("A title");
    let (_server, mut client) = start(script).await;
    let mut titled = chat();
    titled["messages"][0]["content"] = json!("make a title");
    for _ in 0..2 {
        assert!(client.post(CHAT, &titled).await.text().contains("A title"));
    }
    assert!(client.post(CHAT, &chat()).await.text().contains("main"));
    let other = When { model: Some("other".into()), ..When::default() };
    let (_server, mut client) = start(Script::new().when(other).text("x").exhausts()).await;
    assert_eq!(client.post(CHAT, &chat()).await.status, 500);
}

#[tokio::test]
async fn an_error_status_has_the_wires_own_words_and_the_scripts_headers() {
    let script = Script::new().header("retry-after", "7").fail(429, "slow down");
    let (_server, mut client) = start(script).await;
    let answer = client.post("/v1/messages", &chat()).await;
    assert_eq!(answer.status, 429);
    assert!(answer.head.contains("retry-after: 7"), "{}", answer.head);
    assert_eq!(answer.json()["error"]["type"], "rate_limit_error");
    let answer = client.post("/v1beta/models/g:generateContent", &json!({})).await;
    assert_eq!(answer.json()["error"]["status"], "RESOURCE_EXHAUSTED");
}

#[tokio::test]
async fn a_connection_dropped_at_a_byte_ends_there() {
    let (_server, mut client) = start(Script::new().text("hello").drop_at(40)).await;
    let answer = client.post(CHAT, &chat()).await;
    assert_eq!((answer.status, answer.end, answer.body.len()), (200, End::Cut, 40));
    let mut whole = chat();
    whole["stream"] = json!(false);
    let (_server, mut client) = start(Script::new().text("hello").drop_at(40)).await;
    let answer = client.post(CHAT, &whole).await;
    assert_eq!((answer.end, answer.body.len()), (End::Cut, 40));
}

#[tokio::test]
async fn a_drop_before_anything_is_said_sends_nothing_at_all() {
    let (_server, mut client) = start(Script::new().drop_connection()).await;
    let answer = client.post(CHAT, &chat()).await;
    assert_eq!((answer.status, answer.end), (0, End::Cut));
}

#[tokio::test]
async fn a_stall_keeps_the_connection_and_says_no_more() {
    let (server, mut client) = start(Script::new().text("begun").stall()).await;
    client.patience = Duration::from_millis(1500);
    let answer = client.post(CHAT, &chat()).await;
    assert_eq!((answer.status, answer.end), (200, End::Silent));
    assert!(answer.text().contains("begun") && !answer.text().contains("[DONE]"));
    server.close().await;
}

#[tokio::test]
async fn a_delay_holds_back_what_follows_it() {
    let (_server, mut client) = start(Script::new().delay_ms(120).text("late")).await;
    let asked = Instant::now();
    let answer = client.post(CHAT, &chat()).await;
    assert!(asked.elapsed() >= Duration::from_millis(120));
    assert_eq!(answer.end, End::Whole);
}

#[tokio::test]
async fn an_early_end_is_a_whole_body_without_the_last_event() {
    let (_server, mut client) = start(Script::new().text("hello").end_early()).await;
    let answer = client.post(CHAT, &chat()).await;
    assert_eq!(answer.end, End::Whole);
    assert!(!answer.text().contains("[DONE]") && !answer.text().contains("\"stop\""));
}

#[tokio::test]
async fn raw_bytes_are_sent_as_they_are() {
    let (_server, mut client) = start(Script::new().raw("data: {broken\n\n")).await;
    assert_eq!(client.post(CHAT, &chat()).await.text(), "data: {broken\n\n");
}

#[tokio::test]
async fn a_request_that_breaks_a_rule_is_recorded_and_can_be_refused() {
    let bad = json!({ "model": "m", "messages": [] });
    let (server, mut client) = start(Script::new().text("hi")).await;
    assert_eq!(client.post(CHAT, &bad).await.status, 200);
    let found = server.violations();
    assert_eq!(found[0].1.path, "messages", "{found:?}");
    let (_server, mut client) = start(Script::new().text("hi").refuse_violations()).await;
    let answer = client.post(CHAT, &bad).await;
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("must not be empty"), "{}", answer.text());
}

#[tokio::test]
async fn a_signature_may_come_back_only_if_this_server_made_it() {
    let script = Script::new().reasoning("hm").text("hi").then().text("again");
    let (server, mut client) = start(script).await;
    let ask = |messages: Value| json!({ "model": "m", "max_tokens": 9, "messages": messages });
    let question = json!({ "role": "user", "content": "hi" });
    let first = client.post("/v1/messages", &ask(json!([question]))).await.json();
    let mut messages =
        json!([question, { "role": "assistant", "content": first["content"] }, question]);
    client.post("/v1/messages", &ask(messages.clone())).await;
    assert_eq!(server.violations(), Vec::new());
    messages[1]["content"][0]["signature"] = json!("foreign");
    client.post("/v1/messages", &ask(messages)).await;
    assert_eq!(server.violations().len(), 1, "{:?}", server.violations());
}

#[tokio::test]
async fn models_are_listed_and_unknown_paths_are_404() {
    let (server, mut client) = start(Script::new().model("m1").model("m2")).await;
    assert_eq!(client.get("/v1/models").await.json()["data"][1]["id"], "m2");
    let gemini = client.get("/v1beta/models?pageSize=9").await.json();
    assert_eq!(gemini["models"][0]["name"], "models/m1");
    assert_eq!(client.get("/api/tags").await.json()["models"][0]["name"], "m1");
    assert_eq!(client.get("/nowhere").await.status, 404);
    assert_eq!(server.requests().len(), 4);
    assert_eq!(server.base_url(Wire::Gemini), format!("{}/v1beta", server.url()));
}

#[tokio::test]
async fn a_chunked_request_body_is_read() {
    let (server, mut client) = start(Script::new().text("hi")).await;
    let body = chat().to_string();
    let (a, b) = body.split_at(10);
    let request = format!(
        "POST {CHAT} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{a}\r\n{:x}\r\n{b}\r\n0\r\n\r\n",
        a.len(),
        b.len()
    );
    assert_eq!(client.ask(&request).await.status, 200);
    assert_eq!(server.bodies(), vec![chat()]);
}

#[tokio::test]
async fn closing_the_server_ends_its_connections() {
    let (server, mut client) = start(Script::new().stop(StopReason::Length).text("x")).await;
    client.post(CHAT, &chat()).await;
    server.close().await;
    let answer = client.ask("GET /v1/models HTTP/1.1\r\n\r\n").await;
    assert_eq!(answer.end, End::Cut);
}

#[tokio::test]
async fn headers_a_provider_insists_on_are_missed() {
    let (server, mut client) = start(Script::new().text("hi")).await;
    let body =
        json!({ "model": "m", "max_tokens": 1, "messages": [{ "role": "user", "content": "hi" }] });
    let body = body.to_string();
    let length = body.len();
    client
        .ask(&format!("POST /v1/messages HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}"))
        .await;
    let missed: Vec<String> =
        server.violations().into_iter().map(|(_, found)| found.path).collect();
    assert_eq!(missed, ["content-type", "anthropic-version"]);
}

#[tokio::test]
async fn a_compatible_server_takes_fields_of_its_own() {
    let mut body = chat();
    body["thinking"] = json!({ "type": "enabled" });
    for (script, found) in [(Script::new(), 1), (Script::new().compatible(), 0)] {
        let (server, mut client) = start(script.text("hi")).await;
        client.post(CHAT, &body).await;
        assert_eq!(server.violations().len(), found, "{:?}", server.violations());
    }
}

#[tokio::test]
async fn twenty_thousand_deltas_arrive_whole() {
    let script = Script::new().bulk(20_000, 4);
    let (_server, mut client) = start(script).await;
    let ask = json!({ "model": "m", "stream": true, "input": "hi" });
    let answer = client.post("/v1/responses", &ask).await;
    assert_eq!(answer.end, End::Whole);
    assert_eq!(answer.text().matches("response.output_text.delta\n").count(), 20_000);
}

#[tokio::test]
async fn a_seal_of_one_wire_is_foreign_on_another() {
    let (server, mut client) = start(Script::new().reasoning("hm").text("hi")).await;
    let ask =
        json!({ "model": "m", "max_tokens": 9, "messages": [{ "role": "user", "content": "hi" }] });
    let answer = client.post("/v1/messages", &ask).await.json();
    let seal = answer["content"][0]["signature"].as_str().unwrap();
    let turn = |role: &str, part: Value| json!({ "role": role, "parts": [part] });
    let replay = json!({ "contents": [turn("user", json!({ "text": "hi" })),
        turn("model", json!({ "text": "x", "thoughtSignature": seal })),
        turn("user", json!({ "text": "go on" }))] });
    client.post("/v1beta/models/g:generateContent", &replay).await;
    assert_eq!(server.violations().len(), 1, "{:?}", server.violations());
    server.issue(Wire::Gemini, seal);
    client.post("/v1beta/models/g:generateContent", &replay).await;
    assert_eq!(server.violations().len(), 1, "{:?}", server.violations());
}
