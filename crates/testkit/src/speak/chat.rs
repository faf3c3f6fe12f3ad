//! `OpenAI` Chat Completions.

use base::{StopReason, Usage};
use serde_json::{Value, json};

use super::{Ending, Event, Said, Speak, Speaker, each_piece};
use crate::script::ChatThoughts;

pub(super) struct Voice {
    speaker: Speaker,
    calls: usize,
}

impl Voice {
    pub(super) fn new(speaker: Speaker) -> Self {
        Self { speaker, calls: 0 }
    }

    fn chunk(&self, choices: &Value) -> Value {
        json!({
            "id": format!("chatcmpl-scripted-{}", self.speaker.serial),
            "object": "chat.completion.chunk", "created": 0, "model": self.speaker.model,
            "choices": choices,
        })
    }

    fn delta(&self, delta: &Value) -> Event {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
        Event::new("", &self.chunk(&choices))
    }

    fn thought(&self, text: &str) -> Value {
        match self.speaker.thoughts {
            ChatThoughts::ReasoningContent => json!({ "reasoning_content": text }),
            ChatThoughts::Reasoning => json!({ "reasoning": text }),
            ChatThoughts::ReasoningDetails => {
                json!({ "reasoning": text, "reasoning_details": [detail(Some(text), None)] })
            }
        }
    }
}

impl Speak for Voice {
    fn start(&mut self, out: &mut Vec<Event>) {
        out.push(self.delta(&json!({ "role": "assistant", "content": "" })));
    }

    fn say(&mut self, said: &Said<'_>, out: &mut Vec<Event>) {
        match said {
            Said::Text(pieces) => {
                each_piece(pieces, out, |text| self.delta(&json!({ "content": text })));
            }
            Said::Refusal(text) => out.push(self.delta(&json!({ "refusal": text }))),
            Said::Thought { pieces, seal } => {
                each_piece(pieces, out, |text| self.delta(&self.thought(text)));
                if let (ChatThoughts::ReasoningDetails, Some(seal)) = (self.speaker.thoughts, seal)
                {
                    out.push(
                        self.delta(&json!({ "reasoning_details": [detail(None, Some(seal))] })),
                    );
                }
            }
            Said::Call { id, name, pieces } => {
                let index = self.calls;
                self.calls += 1;
                let call = json!({ "index": index, "id": id, "type": "function",
                    "function": { "name": name, "arguments": "" } });
                out.push(self.delta(&json!({ "tool_calls": [call] })));
                each_piece(pieces, out, |text| {
                    let more = json!({ "index": index, "function": { "arguments": text } });
                    self.delta(&json!({ "tool_calls": [more] }))
                });
            }
        }
    }

    fn finish(&mut self, ending: &Ending, out: &mut Vec<Event>) {
        let choices = json!([{ "index": 0, "delta": {}, "finish_reason": stop_word(ending.stop) }]);
        out.push(Event::new("", &self.chunk(&choices)));
        let mut last = self.chunk(&json!([]));
        last["usage"] = usage(ending);
        out.push(Event::new("", &last));
        out.push(Event::text("", "[DONE]".to_owned()));
    }

    fn fail(&mut self, code: &str, message: &str, out: &mut Vec<Event>) {
        let error = json!({ "message": message, "type": code, "code": code, "param": null });
        out.push(Event::new("", &json!({ "error": error })));
    }

    fn whole(&self, said: &[Said<'_>], ending: &Ending) -> Value {
        let mut message = json!({ "role": "assistant", "content": null, "refusal": null });
        let mut calls = Vec::new();
        for part in said {
            match part {
                Said::Text(_) => append(&mut message, "content", &part.whole()),
                Said::Refusal(text) => append(&mut message, "refusal", text),
                Said::Thought { seal, .. } => match self.speaker.thoughts {
                    ChatThoughts::ReasoningContent => {
                        append(&mut message, "reasoning_content", &part.whole());
                    }
                    ChatThoughts::Reasoning => append(&mut message, "reasoning", &part.whole()),
                    ChatThoughts::ReasoningDetails => {
                        append(&mut message, "reasoning", &part.whole());
                        message["reasoning_details"] =
                            json!([detail(Some(&part.whole()), seal.as_deref())]);
                    }
                },
                Said::Call { id, name, .. } => calls.push(json!({ "id": id, "type": "function",
                    "function": { "name": name, "arguments": part.whole() } })),
            }
        }
        if !calls.is_empty() {
            message["tool_calls"] = Value::Array(calls);
        }
        json!({
            "id": format!("chatcmpl-scripted-{}", self.speaker.serial),
            "object": "chat.completion", "created": 0, "model": self.speaker.model,
            "choices": [{ "index": 0, "message": message, "finish_reason": stop_word(ending.stop) }],
            "usage": usage(ending),
        })
    }
}

fn append(message: &mut Value, field: &str, text: &str) {
    let before = message[field].as_str().unwrap_or_default();
    message[field] = Value::String(format!("{before}{text}"));
}

fn detail(text: Option<&str>, signature: Option<&str>) -> Value {
    let mut detail =
        json!({ "type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0 });
    if let Some(text) = text {
        detail["text"] = json!(text);
    }
    if let Some(signature) = signature {
        detail["signature"] = json!(signature);
    }
    detail
}

fn usage(ending: &Ending) -> Value {
    let Usage { cache_read, cache_write, output, reasoning, .. } = ending.usage;
    let prompt = ending.usage.prompt();
    let mut usage = json!({
        "prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output,
        "prompt_tokens_details": { "cached_tokens": cache_read, "cache_write_tokens": cache_write },
        "completion_tokens_details": { "reasoning_tokens": reasoning },
    });
    if let Some(cost) = ending.cost {
        usage["cost"] = json!(cost);
    }
    usage
}

fn stop_word(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Done
        | StopReason::Cancelled
        | StopReason::Other
        | StopReason::Paused
        // OpenAI says `stop` beside a refusal text; `content_filter` is the filter's doing.
        | StopReason::Refusal => "stop",
        StopReason::ToolCalls => "tool_calls",
        StopReason::Length | StopReason::ContextFull => "length",
    }
}
