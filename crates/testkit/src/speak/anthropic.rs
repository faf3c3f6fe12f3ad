//! Anthropic Messages.

use base::{StopReason, Usage};
use serde_json::{Value, json};

use super::{Ending, Event, Kind, Said, Speak, Speaker, each_piece};

pub(super) struct Voice {
    speaker: Speaker,
    block: usize,
}

impl Voice {
    pub(super) fn new(speaker: Speaker) -> Self {
        Self { speaker, block: 0 }
    }

    fn id(&self) -> String {
        format!("msg_scripted_{}", self.speaker.serial)
    }
}

impl Speak for Voice {
    fn start(&mut self, out: &mut Vec<Event>) {
        let message = json!({
            "id": self.id(), "type": "message", "role": "assistant", "model": self.speaker.model,
            "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": { "input_tokens": 0, "output_tokens": 1 },
        });
        out.push(Event::new(
            "message_start",
            &json!({ "type": "message_start", "message": message }),
        ));
        out.push(Event::new("ping", &json!({ "type": "ping" })));
    }

    fn say(&mut self, said: &Said<'_>, out: &mut Vec<Event>) {
        let index = self.block;
        self.block += 1;
        let delta = |delta: Value| {
            let data = json!({ "type": "content_block_delta", "index": index, "delta": delta });
            Event::new("content_block_delta", &data)
        };
        let opening = match said {
            Said::Text(_) | Said::Refusal(_) => json!({ "type": "text", "text": "" }),
            Said::Thought { pieces, seal: Some(seal) } if pieces.concat().is_empty() => {
                json!({ "type": "redacted_thinking", "data": seal })
            }
            Said::Thought { .. } => json!({ "type": "thinking", "thinking": "", "signature": "" }),
            Said::Call { id, name, .. } => {
                json!({ "type": "tool_use", "id": id, "name": name, "input": {} })
            }
        };
        let redacted = opening["type"] == "redacted_thinking";
        let start =
            json!({ "type": "content_block_start", "index": index, "content_block": opening });
        out.push(Event::new("content_block_start", &start));
        match said {
            Said::Text(pieces) => {
                each_piece(pieces, out, |text| {
                    delta(json!({ "type": "text_delta", "text": text }))
                });
            }
            Said::Refusal(text) => out.push(delta(json!({ "type": "text_delta", "text": text }))),
            Said::Thought { pieces, seal } if !redacted => {
                each_piece(pieces, out, |text| {
                    delta(json!({ "type": "thinking_delta", "thinking": text }))
                });
                if let Some(seal) = seal {
                    out.push(delta(json!({ "type": "signature_delta", "signature": seal })));
                }
            }
            Said::Thought { .. } => {}
            Said::Call { pieces, .. } => {
                each_piece(pieces, out, |text| {
                    delta(json!({ "type": "input_json_delta", "partial_json": text }))
                });
            }
        }
        let stop = json!({ "type": "content_block_stop", "index": index });
        out.push(Event::new("content_block_stop", &stop));
    }

    fn finish(&mut self, ending: &Ending, out: &mut Vec<Event>) {
        let delta = json!({
            "type": "message_delta",
            "delta": { "stop_reason": stop_word(ending.stop), "stop_sequence": null },
            "usage": usage(ending),
        });
        out.push(Event::new("message_delta", &delta));
        out.push(Event::new("message_stop", &json!({ "type": "message_stop" })));
    }

    fn fail(&mut self, code: &str, message: &str, out: &mut Vec<Event>) {
        let data = json!({ "type": "error", "error": { "type": code, "message": message } });
        out.push(Event { kind: Kind::Exception, ..Event::new("error", &data) });
    }

    fn whole(&self, said: &[Said<'_>], ending: &Ending) -> Value {
        let block = |said: &Said<'_>| match said {
            Said::Text(_) | Said::Refusal(_) => json!({ "type": "text", "text": said.whole() }),
            Said::Thought { seal: Some(seal), .. } if said.whole().is_empty() => {
                json!({ "type": "redacted_thinking", "data": seal })
            }
            Said::Thought { seal, .. } => json!({
                "type": "thinking", "thinking": said.whole(),
                "signature": seal.clone().unwrap_or_default(),
            }),
            Said::Call { id, name, .. } => {
                json!({ "type": "tool_use", "id": id, "name": name, "input": said.args() })
            }
        };
        json!({
            "id": self.id(), "type": "message", "role": "assistant", "model": self.speaker.model,
            "content": said.iter().map(block).collect::<Vec<_>>(),
            "stop_reason": stop_word(ending.stop), "stop_sequence": null, "usage": usage(ending),
        })
    }
}

fn usage(ending: &Ending) -> Value {
    let Usage { input, cache_read, cache_write, output, reasoning } = ending.usage;
    let mut usage = json!({
        "input_tokens": input, "cache_read_input_tokens": cache_read,
        "cache_creation_input_tokens": cache_write, "output_tokens": output,
    });
    if reasoning > 0 {
        usage["output_tokens_details"] = json!({ "thinking_tokens": reasoning });
    }
    if let Some(cost) = ending.cost {
        usage["cost"] = json!(cost);
    }
    usage
}

fn stop_word(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Done | StopReason::Cancelled | StopReason::Other => "end_turn",
        StopReason::ToolCalls => "tool_use",
        StopReason::Length => "max_tokens",
        StopReason::Refusal => "refusal",
        StopReason::ContextFull => "model_context_window_exceeded",
        StopReason::Paused => "pause_turn",
    }
}

pub(super) fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}
