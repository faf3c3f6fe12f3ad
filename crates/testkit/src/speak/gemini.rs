//! Gemini `generateContent`.

use base::{StopReason, Usage};
use serde_json::{Value, json};

use super::{Ending, Event, Said, Speak, Speaker, each_piece};

pub(super) struct Voice {
    speaker: Speaker,
    /// A thought's seal travels on the first part after it.
    seal: Option<String>,
}

impl Voice {
    pub(super) fn new(speaker: Speaker) -> Self {
        Self { speaker, seal: None }
    }

    fn response(&self, parts: &Value) -> Value {
        json!({
            "candidates": [{ "content": { "role": "model", "parts": parts }, "index": 0 }],
            "modelVersion": self.speaker.model,
            "responseId": format!("scripted-{}", self.speaker.serial),
        })
    }
}

impl Speak for Voice {
    /// Gemini's first event is already the first part.
    fn start(&mut self, _out: &mut Vec<Event>) {}

    fn say(&mut self, said: &Said<'_>, out: &mut Vec<Event>) {
        match said {
            Said::Text(pieces) if self.seal.is_none() => each_piece(pieces, out, |text| {
                Event::new("", &self.response(&json!([{ "text": text }])))
            }),
            Said::Thought { pieces, seal } => {
                each_piece(pieces, out, |text| {
                    Event::new("", &self.response(&json!([{ "text": text, "thought": true }])))
                });
                self.seal.clone_from(seal);
            }
            Said::Text(_) | Said::Refusal(_) | Said::Call { .. } => {
                let part = part(said, self.seal.take());
                out.push(Event::new("", &self.response(&json!([part]))));
            }
        }
    }

    fn finish(&mut self, ending: &Ending, out: &mut Vec<Event>) {
        let last = match self.seal.take() {
            Some(seal) => json!({ "text": "", "thoughtSignature": seal }),
            None => json!({ "text": "" }),
        };
        let mut response = self.response(&json!([last]));
        end(&mut response, ending);
        out.push(Event::new("", &response));
    }

    fn fail(&mut self, code: &str, message: &str, out: &mut Vec<Event>) {
        let error = json!({ "code": 500, "message": message, "status": code });
        out.push(Event::new("", &json!({ "error": error })));
    }

    fn whole(&self, said: &[Said<'_>], ending: &Ending) -> Value {
        let mut parts = Vec::new();
        let mut carried = None;
        for said in said {
            match said {
                Said::Thought { seal, .. } => {
                    parts.push(json!({ "text": said.whole(), "thought": true }));
                    carried.clone_from(seal);
                }
                Said::Text(_) | Said::Refusal(_) | Said::Call { .. } => {
                    parts.push(part(said, carried.take()));
                }
            }
        }
        if let Some(seal) = carried {
            parts.push(json!({ "text": "", "thoughtSignature": seal }));
        }
        let mut response = self.response(&Value::Array(parts));
        end(&mut response, ending);
        response
    }
}

fn part(said: &Said<'_>, seal: Option<String>) -> Value {
    let mut part = match said {
        Said::Text(_) | Said::Refusal(_) | Said::Thought { .. } => json!({ "text": said.whole() }),
        Said::Call { id, name, .. } => {
            json!({ "functionCall": { "id": id, "name": name, "args": said.args() } })
        }
    };
    if let Some(seal) = seal {
        part["thoughtSignature"] = json!(seal);
    }
    part
}

fn end(response: &mut Value, ending: &Ending) {
    response["candidates"][0]["finishReason"] = json!(stop_word(ending.stop));
    let Usage { cache_read, output, reasoning, .. } = ending.usage;
    let prompt = ending.usage.prompt();
    response["usageMetadata"] = json!({
        "promptTokenCount": prompt, "cachedContentTokenCount": cache_read,
        "candidatesTokenCount": output - reasoning.min(output), "thoughtsTokenCount": reasoning,
        "totalTokenCount": prompt + output,
    });
}

fn stop_word(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Done | StopReason::ToolCalls | StopReason::Cancelled | StopReason::Paused => {
            "STOP"
        }
        StopReason::Length | StopReason::ContextFull => "MAX_TOKENS",
        StopReason::Refusal => "SAFETY",
        StopReason::Other => "OTHER",
    }
}

pub(super) fn error_status(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}
