//! The JSON forms of a run, line by line as Claude Code prints them, so that its wrappers work here.

use std::time::Duration;

use base::model::{ModelRef, Money, StopReason, Usage};
use base::transcript::{Part, PartBody};
use base::{Entry, EntryId, EntryKind, Event};
use serde_json::{Value, json};

use super::output::{Outcome, Setting};

/// Writes lines; keeps what the partial messages need.
pub(crate) struct StreamJson {
    setting: Setting,
    partial: bool,
    block: Option<Block>,
    blocks: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Thinking,
}

impl StreamJson {
    /// Lines of one run; with `partial`, pieces of the answer as they arrive.
    pub(crate) fn new(setting: Setting, partial: bool) -> Self {
        Self { setting, partial, block: None, blocks: 0 }
    }

    /// The lines an event makes; none for most.
    pub(crate) fn event(&mut self, event: &Event) -> String {
        match event {
            Event::TurnStarted { model, .. } => self.init(model),
            Event::Text { delta, entry, .. } => self.piece(Block::Text, delta, *entry),
            Event::Reasoning { delta, entry, .. } => self.piece(Block::Thinking, delta, *entry),
            Event::Appended { entry, .. } => self.appended(entry),
            Event::Retrying { attempt, wait_ms, reason, .. } => self.line(json!({
                "type": "system",
                "subtype": "api_retry",
                "attempt": attempt,
                "retry_delay_ms": wait_ms,
                "error": reason,
            })),
            Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDone { .. }
            | Event::ApprovalNeeded { .. }
            | Event::QuestionAsked { .. }
            | Event::Settled { .. }
            | Event::Spent { .. }
            | Event::SessionChanged { .. }
            | Event::Notice { .. }
            | Event::TurnDone { .. }
            | Event::TurnFailed { .. } => String::new(),
        }
    }

    /// The last line: the result.
    pub(crate) fn result(&self, outcome: &Outcome) -> String {
        let text: Vec<&str> = outcome.parts.iter().filter_map(Part::as_text).collect();
        let usage = usage(outcome.usage);
        let dollars = outcome.cost.map(Money::as_dollars);
        let mut result = json!({
            "type": "result",
            "subtype": if outcome.error.is_some() { "error_during_execution" } else { "success" },
            "is_error": outcome.error.is_some(),
            "duration_ms": millis(self.setting.began.elapsed()),
            "duration_api_ms": millis(outcome.waited),
            "num_turns": 1,
            "result": text.concat(),
            "stop_reason": outcome.stop.and_then(stop_word),
            "total_cost_usd": dollars,
            "usage": usage,
            "modelUsage": { self.setting.model.to_string(): {
                "inputTokens": outcome.usage.input,
                "outputTokens": outcome.usage.output,
                "cacheReadInputTokens": outcome.usage.cache_read,
                "cacheCreationInputTokens": outcome.usage.cache_write,
                "webSearchRequests": 0,
                "costUSD": dollars,
                "contextWindow": self.setting.limits.0,
                "maxOutputTokens": self.setting.limits.1,
            }},
            "permission_denials": [],
        });
        if let (Some((class, message)), Value::Object(fields)) = (&outcome.error, &mut result) {
            fields.insert("error".into(), json!({ "class": class, "message": message }));
        }
        self.line(result)
    }

    fn init(&self, model: &ModelRef) -> String {
        self.line(json!({
            "type": "system",
            "subtype": "init",
            "cwd": self.setting.folder,
            "tools": [],
            "mcp_servers": [],
            "model": model.to_string(),
            "permissionMode": "default",
            "slash_commands": [],
            "output_style": "default",
            "agents": [],
            "skills": [],
            "plugins": [],
            "caiman_version": env!("CARGO_PKG_VERSION"),
        }))
    }

    /// A piece of the answer, as the Messages API streams it.
    fn piece(&mut self, block: Block, text: &str, entry: EntryId) -> String {
        if !self.partial {
            return String::new();
        }
        let mut lines = String::new();
        if self.block != Some(block) {
            if self.blocks == 0 {
                let message = self.message(entry, &json!([]), None, Usage::default());
                lines +=
                    &self.stream_event(&json!({ "type": "message_start", "message": message }));
            }
            lines += &self.close_block();
            let content = match block {
                Block::Text => json!({ "type": "text", "text": "" }),
                Block::Thinking => json!({ "type": "thinking", "thinking": "", "signature": "" }),
            };
            let start = json!({
                "type": "content_block_start", "index": self.blocks, "content_block": content,
            });
            lines += &self.stream_event(&start);
            self.block = Some(block);
            self.blocks += 1;
        }
        let delta = match block {
            Block::Text => json!({ "type": "text_delta", "text": text }),
            Block::Thinking => json!({ "type": "thinking_delta", "thinking": text }),
        };
        let index = self.blocks - 1;
        lines += &self.stream_event(
            &json!({ "type": "content_block_delta", "index": index, "delta": delta }),
        );
        lines
    }

    fn close_block(&mut self) -> String {
        match self.block.take() {
            Some(_) => {
                let index = self.blocks - 1;
                self.stream_event(&json!({ "type": "content_block_stop", "index": index }))
            }
            None => String::new(),
        }
    }

    /// The finished answer, one line a content block.
    fn appended(&mut self, entry: &Entry) -> String {
        let EntryKind::Assistant { parts, stop, usage: used, .. } = &entry.kind else {
            return String::new();
        };
        let mut lines = String::new();
        if self.blocks > 0 {
            lines += &self.close_block();
            let delta = json!({ "stop_reason": stop_word(*stop), "stop_sequence": null });
            lines += &self.stream_event(
                &json!({ "type": "message_delta", "delta": delta, "usage": usage(*used) }),
            );
            lines += &self.stream_event(&json!({ "type": "message_stop" }));
            self.blocks = 0;
        }
        for block in parts.iter().filter_map(content_block) {
            let message = self.message(entry.id, &json!([block]), None, *used);
            lines += &self.line(
                json!({ "type": "assistant", "message": message, "parent_tool_use_id": null }),
            );
        }
        lines
    }

    fn message(&self, id: EntryId, content: &Value, stop: Option<&str>, used: Usage) -> Value {
        json!({
            "id": format!("msg_{id}"),
            "type": "message",
            "role": "assistant",
            "model": self.setting.model.to_string(),
            "content": content,
            "stop_reason": stop,
            "stop_sequence": null,
            "usage": usage(used),
        })
    }

    fn stream_event(&self, event: &Value) -> String {
        self.line(json!({ "type": "stream_event", "event": event, "parent_tool_use_id": null }))
    }

    fn line(&self, mut line: Value) -> String {
        if let Value::Object(fields) = &mut line {
            fields.insert("session_id".into(), json!(self.setting.session));
            fields.insert("uuid".into(), json!(EntryId::new()));
        }
        format!("{line}\n")
    }
}

fn content_block(part: &Part) -> Option<Value> {
    match &part.body {
        PartBody::Text { text } => Some(json!({ "type": "text", "text": text })),
        PartBody::Reasoning { text } => {
            Some(json!({ "type": "thinking", "thinking": text, "signature": "" }))
        }
        PartBody::Call(call) => Some(json!({
            "type": "tool_use", "id": call.id, "name": call.name, "input": call.input.value,
        })),
        PartBody::Result(_) | PartBody::File(_) | PartBody::Opaque { .. } => None,
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    })
}

/// The Messages API's word for a stop reason.
fn stop_word(stop: StopReason) -> Option<&'static str> {
    match stop {
        StopReason::Done => Some("end_turn"),
        StopReason::ToolCalls => Some("tool_use"),
        StopReason::Length => Some("max_tokens"),
        StopReason::Refusal => Some("refusal"),
        StopReason::ContextFull => Some("model_context_window_exceeded"),
        StopReason::Paused => Some("pause_turn"),
        StopReason::Cancelled => Some("cancelled"),
        StopReason::Other => None,
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
