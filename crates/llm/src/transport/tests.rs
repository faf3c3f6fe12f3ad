use std::collections::BTreeMap;

use serde_json::json;

use super::*;

fn target(wire: Wire, transport: Transport, base_url: &str) -> Target {
    let mut target = Target::sample(wire);
    target.model.id = "claude@1:0".into();
    Target { transport, base_url: base_url.into(), ..target }
}

fn encoded(path: &str) -> Encoded {
    let Value::Object(body) = json!({ "model": "m", "stream": true, "messages": [] }) else {
        unreachable!("it is an object")
    };
    let headers =
        vec![("anthropic-version", "v".to_owned()), ("anthropic-beta", "a, b".to_owned())];
    Encoded { path: path.into(), headers, body }
}

fn sent(target: &Target, path: &str, streaming: bool) -> (String, Value, String) {
    let prepared = prepare(encoded(path), target, streaming).unwrap();
    let body = serde_json::from_slice(&prepared.body).unwrap();
    let accept = prepared.headers[ACCEPT].to_str().unwrap().to_owned();
    (prepared.url.into(), body, accept)
}

fn bedrock() -> Transport {
    Transport::Bedrock { region: "us-east-1".into(), profile: None, refresh: None }
}

fn vertex(location: &str) -> Transport {
    Transport::Vertex { project: "proj".into(), location: location.into() }
}

#[test]
fn direct_adds_the_path_and_the_stream_switch() {
    let target = target(Wire::AnthropicMessages, Transport::Direct, "https://h/v1/");
    let (url, body, accept) = sent(&target, "/messages", true);
    assert_eq!((url.as_str(), accept.as_str()), ("https://h/v1/messages", framing::SSE));
    assert_eq!(body["stream"], true);
    let (_, body, accept) = sent(&target, "/messages", false);
    assert_eq!((body.get("stream"), accept.as_str()), (None, framing::JSON));
}

#[test]
fn gemini_and_converse_tell_by_the_path_whether_they_stream() {
    let gemini = target(Wire::Gemini, Transport::Direct, "https://h/v1beta");
    let path = "/models/m:streamGenerateContent?alt=sse";
    assert_eq!(sent(&gemini, path, true).0, format!("https://h/v1beta{path}"));
    assert_eq!(sent(&gemini, path, false).0, "https://h/v1beta/models/m:generateContent");
    let converse = target(Wire::BedrockConverse, Transport::Direct, "https://h");
    let (url, _, accept) = sent(&converse, "/model/m/converse-stream", true);
    assert_eq!(
        (url.as_str(), accept.as_str()),
        ("https://h/model/m/converse-stream", framing::EVENT_STREAM)
    );
    assert_eq!(sent(&converse, "/model/m/converse-stream", false).0, "https://h/model/m/converse");
}

#[test]
fn bedrock_invokes_claude_and_has_the_version_in_the_body() {
    let mut target = target(Wire::AnthropicMessages, bedrock(), "");
    let (url, body, accept) = sent(&target, "/messages", true);
    let host = "https://bedrock-runtime.us-east-1.amazonaws.com/model/claude%401%3A0";
    assert_eq!(url, format!("{host}/invoke-with-response-stream"));
    assert_eq!(accept, framing::EVENT_STREAM);
    let expected = json!({
        "anthropic_version": "bedrock-2023-05-31", "anthropic_beta": ["a", "b"], "messages": [],
    });
    assert_eq!(body, expected);
    assert_eq!(sent(&target, "/messages", false).0, format!("{host}/invoke"));
    let prepared = prepare(encoded("/messages"), &target, true).unwrap();
    assert!(!prepared.headers.contains_key("anthropic-version"));
    target.headers.insert("Anthropic-Beta".into(), "c".into());
    assert_eq!(sent(&target, "/messages", true).1["anthropic_beta"], json!(["a", "b", "c"]));
    assert_eq!(prepared.headers[ACCEPT], "application/vnd.amazon.eventstream");
}

#[test]
fn vertex_knows_its_places_and_publishers() {
    let claude = target(Wire::AnthropicMessages, vertex("us-east5"), "");
    let (url, body, _) = sent(&claude, "/messages", true);
    let home = "https://us-east5-aiplatform.googleapis.com/v1/projects/proj/locations/us-east5";
    assert_eq!(url, format!("{home}/publishers/anthropic/models/claude@1%3A0:streamRawPredict"));
    let expected =
        json!({ "anthropic_version": "vertex-2023-10-16", "stream": true, "messages": [] });
    assert_eq!(body, expected);
    let mut dated = claude.clone();
    dated.model.id = "claude-haiku-4-5-20251001".into();
    let url_of_dated = sent(&dated, "/messages", true).0;
    assert!(
        url_of_dated.ends_with("/claude-haiku-4-5@20251001:streamRawPredict"),
        "{url_of_dated}"
    );
    let gemini = target(Wire::Gemini, vertex("global"), "");
    let url = sent(&gemini, "/x", false).0;
    let home = "https://aiplatform.googleapis.com/v1/projects/proj/locations/global";
    assert_eq!(url, format!("{home}/publishers/google/models/claude@1%3A0:generateContent"));
    let llama = target(Wire::OpenaiChat, vertex("eu"), "");
    let url = sent(&llama, "/chat/completions", true).0;
    assert!(url.starts_with("https://aiplatform.eu.rep.googleapis.com/v1/projects/"), "{url}");
    assert!(url.ends_with("/locations/eu/endpoints/openapi/chat/completions"), "{url}");
}

#[test]
fn azure_takes_a_base_url_however_much_of_it_was_copied() {
    for base in ["https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1/"] {
        let plain = target(Wire::OpenaiResponses, Transport::Azure { api_version: None }, base);
        let url = sent(&plain, "/responses", true).0;
        assert_eq!(url, "https://r.openai.azure.com/openai/v1/responses");
        let api_version = Some("2024-10-21".to_owned());
        let mut dated = target(Wire::OpenaiChat, Transport::Azure { api_version }, base);
        let url = sent(&dated, "/chat/completions", true).0;
        let tail = "deployments/claude%401%3A0/chat/completions?api-version=2024-10-21";
        assert_eq!(url, format!("https://r.openai.azure.com/openai/{tail}"));
        dated.wire = Wire::OpenaiResponses;
        let url = sent(&dated, "/responses", true).0;
        assert_eq!(url, "https://r.openai.azure.com/openai/responses?api-version=2024-10-21");
        dated.wire = Wire::AnthropicMessages;
        let url = sent(&dated, "/messages", true).0;
        assert_eq!(url, "https://r.openai.azure.com/anthropic/v1/messages");
    }
}

#[test]
fn keys_are_sent_but_not_shown_and_an_empty_header_removes_one() {
    let mut target = target(Wire::AnthropicMessages, Transport::Direct, "https://h");
    target.auth = Auth::Header { name: "x-api-key".into(), value: Secret::new("s3cret") };
    target.headers = BTreeMap::from([
        ("Anthropic-Beta".to_owned(), String::new()),
        ("x-team".to_owned(), "blue".to_owned()),
    ]);
    let prepared = prepare(encoded("/messages"), &target, true).unwrap();
    assert_eq!(prepared.headers["x-api-key"], "s3cret");
    assert_eq!(prepared.headers["x-team"], "blue");
    assert!(!prepared.headers.contains_key("anthropic-beta"));
    assert!(!format!("{prepared:?}").contains("s3cret"));
    target.headers.insert("Anthropic-Beta".into(), "c".into());
    let prepared = prepare(encoded("/messages"), &target, true).unwrap();
    assert_eq!(prepared.headers["anthropic-beta"], "a, b,c");
}

#[test]
fn a_base_url_that_is_none_is_an_error_that_names_the_provider() {
    let target = target(Wire::AnthropicMessages, Transport::Direct, "not a url");
    let error = prepare(encoded("/messages"), &target, true).unwrap_err();
    assert_eq!(error.class, Class::BadRequest);
    assert!(error.message.contains("provider p"), "{error}");
}
