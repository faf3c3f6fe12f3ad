//! Which wire a request speaks, told by its path alone.

use serde_json::Value;
use settings::provider::Wire;

use crate::http::Incoming;
use crate::speak::Frames;
use crate::validate::Violation;

/// A request to a model.
#[derive(Debug, Clone)]
pub(super) struct Route {
    pub(super) wire: Wire,
    pub(super) model: String,
    /// How events are framed; none when the answer is one body.
    pub(super) stream: Option<Frames>,
    /// What is wrong with path, query or headers.
    pub(super) complaints: Vec<Violation>,
}

impl Route {
    /// Reads the path; none when it leads to no model.
    pub(super) fn of(request: &Incoming, body: &Value) -> Option<Self> {
        if request.method != "POST" {
            return None;
        }
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let path = decoded(path);
        let asked = body.get("stream").and_then(Value::as_bool).unwrap_or(false);
        let by_body = asked.then_some(Frames::Sse);
        let (wire, stream) = if path.ends_with("/messages") {
            (Wire::AnthropicMessages, by_body)
        } else if path.ends_with("/chat/completions") {
            (Wire::OpenaiChat, by_body)
        } else if path.ends_with("/responses") {
            (Wire::OpenaiResponses, by_body)
        } else {
            by_verb(&path)?
        };
        let in_path = path
            .rsplit_once("/models/")
            .and_then(|(_, rest)| rest.rsplit_once(':'))
            .or_else(|| path.rsplit_once("/model/").and_then(|(_, rest)| rest.split_once('/')));
        let model = body
            .get("model")
            .and_then(Value::as_str)
            .or(in_path.map(|(model, _)| model))
            .unwrap_or_default()
            .to_owned();
        let mut complaints = headers_missed(request, &path);
        if wire == Wire::Gemini && stream.is_some() && !query.contains("alt=sse") {
            complaints.push(Violation::new("?alt", "events are sent for alt=sse only"));
        }
        Some(Self { wire, model, stream, complaints })
    }
}

/// Headers without which the provider would not look at the body.
fn headers_missed(request: &Incoming, path: &str) -> Vec<Violation> {
    let header = |name: &str| request.headers.iter().find(|(key, _)| key == name);
    let mut missed = Vec::new();
    if !header("content-type").is_some_and(|(_, kind)| kind.starts_with("application/json")) {
        missed.push(Violation::new("content-type", "must be application/json"));
    }
    if path.ends_with("/messages") && header("anthropic-version").is_none() {
        missed.push(Violation::new("anthropic-version", "the header must be there"));
    }
    missed
}

/// The wires whose path ends with what to do with a model.
fn by_verb(path: &str) -> Option<(Wire, Option<Frames>)> {
    let (_, verb) = path.rsplit_once([':', '/'])?;
    Some(match verb {
        "streamGenerateContent" => (Wire::Gemini, Some(Frames::Sse)),
        "generateContent" => (Wire::Gemini, None),
        "streamRawPredict" => (Wire::AnthropicMessages, Some(Frames::Sse)),
        "converse-stream" => (Wire::BedrockConverse, Some(Frames::Aws)),
        "converse" => (Wire::BedrockConverse, None),
        "invoke-with-response-stream" => (Wire::AnthropicMessages, Some(Frames::AwsChunks)),
        "invoke" | "rawPredict" => (Wire::AnthropicMessages, None),
        _ => return None,
    })
}

/// Undoes percent-encoding; model ids of Bedrock hold colons.
fn decoded(path: &str) -> String {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let value = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        match value {
            Some(value) if first == b'%' => {
                out.push(value);
                rest = &after[2..];
            }
            Some(_) | None => {
                out.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_path_names_its_wire_and_model() {
        let body = serde_json::json!({ "model": "m", "stream": true });
        let none = serde_json::json!({});
        let cases = [
            ("/v1/messages?beta=true", &body, Wire::AnthropicMessages, "m", Some(Frames::Sse)),
            ("/openai/v1/chat/completions", &body, Wire::OpenaiChat, "m", Some(Frames::Sse)),
            ("/backend-api/codex/responses", &body, Wire::OpenaiResponses, "m", Some(Frames::Sse)),
            ("/v1beta/models/g:generateContent", &none, Wire::Gemini, "g", None),
            (
                "/model/us.x-v1%3A0/converse-stream",
                &none,
                Wire::BedrockConverse,
                "us.x-v1:0",
                Some(Frames::Aws),
            ),
            (
                "/model/us.x-v1%3A0/invoke-with-response-stream",
                &none,
                Wire::AnthropicMessages,
                "us.x-v1:0",
                Some(Frames::AwsChunks),
            ),
        ];
        for (target, body, wire, model, stream) in cases {
            let request = Incoming {
                method: "POST".into(),
                target: target.into(),
                headers: Vec::new(),
                body: Vec::new(),
            };
            let route = Route::of(&request, body).unwrap();
            assert_eq!((route.wire, route.model.as_str()), (wire, model), "{target}");
            assert_eq!(route.stream, stream, "{target}");
        }
    }
}
