//! Bedrock Converse.

use base::{StopReason, Usage};
use serde_json::{Value, json};

use super::{Ending, Event, Kind, Said, Speak, each_piece};

pub(super) struct Voice {
    block: usize,
}

impl Voice {
    pub(super) fn new() -> Self {
        Self { block: 0 }
    }
}

impl Speak for Voice {
    fn start(&mut self, out: &mut Vec<Event>) {
        out.push(Event::new("messageStart", &json!({ "role": "assistant" })));
    }

    fn say(&mut self, said: &Said<'_>, out: &mut Vec<Event>) {
        let index = self.block;
        self.block += 1;
        let delta = |delta: Value| {
            Event::new("contentBlockDelta", &json!({ "contentBlockIndex": index, "delta": delta }))
        };
        match said {
            Said::Text(pieces) => {
                each_piece(pieces, out, |text| delta(json!({ "text": text })));
            }
            Said::Refusal(text) => out.push(delta(json!({ "text": text }))),
            Said::Thought { pieces, seal } => {
                let shown = !said.whole().is_empty();
                if shown {
                    each_piece(pieces, out, |text| {
                        delta(json!({ "reasoningContent": { "text": text } }))
                    });
                }
                if let Some(seal) = seal {
                    let field = if shown { "signature" } else { "redactedContent" };
                    out.push(delta(json!({ "reasoningContent": { field: seal } })));
                }
            }
            Said::Call { id, name, pieces } => {
                let start = json!({ "contentBlockIndex": index,
                    "start": { "toolUse": { "toolUseId": id, "name": name } } });
                out.push(Event::new("contentBlockStart", &start));
                each_piece(pieces, out, |text| delta(json!({ "toolUse": { "input": text } })));
            }
        }
        out.push(Event::new("contentBlockStop", &json!({ "contentBlockIndex": index })));
    }

    fn finish(&mut self, ending: &Ending, out: &mut Vec<Event>) {
        let stop = json!({ "stopReason": stop_word(ending.stop) });
        out.push(Event::new("messageStop", &stop));
        let metadata = json!({ "usage": usage(ending), "metrics": { "latencyMs": 1 } });
        out.push(Event::new("metadata", &metadata));
    }

    fn fail(&mut self, code: &str, message: &str, out: &mut Vec<Event>) {
        // The name of an exception frame is the error's type; scripts use Bedrock's own names.
        let name = match code {
            "throttlingException" => "throttlingException",
            "serviceUnavailableException" => "serviceUnavailableException",
            "modelStreamErrorException" => "modelStreamErrorException",
            "validationException" => "validationException",
            _ => "internalServerException",
        };
        let event = Event::new(name, &json!({ "message": message }));
        out.push(Event { kind: Kind::Exception, ..event });
    }

    fn whole(&self, said: &[Said<'_>], ending: &Ending) -> Value {
        let block = |said: &Said<'_>| match said {
            Said::Text(_) | Said::Refusal(_) => json!({ "text": said.whole() }),
            Said::Thought { seal: Some(seal), .. } if said.whole().is_empty() => {
                json!({ "reasoningContent": { "redactedContent": seal } })
            }
            Said::Thought { seal, .. } => json!({ "reasoningContent": { "reasoningText": {
                "text": said.whole(), "signature": seal } } }),
            Said::Call { id, name, .. } => {
                json!({ "toolUse": { "toolUseId": id, "name": name, "input": said.args() } })
            }
        };
        let content: Vec<Value> = said.iter().map(block).collect();
        json!({
            "output": { "message": { "role": "assistant", "content": content } },
            "stopReason": stop_word(ending.stop), "usage": usage(ending),
            "metrics": { "latencyMs": 1 },
        })
    }
}

fn usage(ending: &Ending) -> Value {
    let Usage { input, cache_read, cache_write, output, .. } = ending.usage;
    json!({
        "inputTokens": input, "outputTokens": output, "totalTokens": ending.usage.total(),
        "cacheReadInputTokens": cache_read, "cacheWriteInputTokens": cache_write,
    })
}

fn stop_word(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Done | StopReason::Cancelled | StopReason::Other | StopReason::Paused => {
            "end_turn"
        }
        StopReason::ToolCalls => "tool_use",
        StopReason::Length => "max_tokens",
        StopReason::Refusal => "content_filtered",
        StopReason::ContextFull => "model_context_window_exceeded",
    }
}
