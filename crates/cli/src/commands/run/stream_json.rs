//! The JSON forms of a run, line by line as Claude Code prints them, so that its wrappers work here.

use std::collections::HashMap;
use std::time::Duration;

use base::model::{ModelRef, Money, StopReason, Usage};
use base::protocol::{HookState, Mode};
use base::transcript::{CallResult, Part};
use base::{Block, CallId, Entry, EntryId, EntryKind, Event, Timestamp};
use guard::rule::names;
use serde_json::{Map, Value, json};
use tools::claude;

use super::outcome::{Outcome, Share};
use super::output::Setting;
use super::pieces::Pieces;
use super::servers;

/// The release of Claude Code whose line format this is; wrappers look at it before they rely on a field.
const FORMAT_OF: &str = "2.1.197";

/// Writes lines.
pub(crate) struct StreamJson {
    setting: Setting,
    /// Pieces of the answer as they arrive, if they are wanted.
    pieces: Option<Pieces>,
    /// Whether the line that begins an exchange is still to come.
    is_new: bool,
    /// Whether hooks that run are told.
    shows_hooks: bool,
    /// What faces show of calls whose results are still to come.
    shown: HashMap<CallId, Block>,
    /// The call that the sub-agent whose lines are written works for.
    parent: Option<CallId>,
}

impl StreamJson {
    /// Lines of one run.
    pub(crate) fn new(setting: Setting) -> Self {
        Self {
            setting,
            pieces: None,
            is_new: true,
            shows_hooks: false,
            shown: HashMap::new(),
            parent: None,
        }
    }

    /// The same with pieces of the answer as they arrive.
    pub(crate) fn in_pieces(mut self) -> Self {
        self.pieces = Some(Pieces::default());
        self
    }

    /// The same with lines about hooks that run.
    pub(crate) fn with_hooks(mut self) -> Self {
        self.shows_hooks = true;
        self
    }

    /// A new exchange begins.
    pub(crate) fn begin(&mut self) {
        self.is_new = true;
        self.shown.clear();
    }

    /// What is allowed without asking changed.
    pub(crate) fn set_mode(&mut self, mode: Mode) {
        self.setting.mode = mode;
    }

    /// The lines an event makes; none for most.
    pub(crate) fn event(&mut self, event: &Event, outcome: &Outcome) -> String {
        match event {
            Event::TurnStarted { model, .. } => self.turn_started(model),
            Event::Text { delta, entry, .. } => {
                self.streamed(*entry, |pieces, message| pieces.text(delta, message))
            }
            Event::Reasoning { delta, entry, .. } => {
                self.streamed(*entry, |pieces, message| pieces.thought(delta, message))
            }
            Event::Appended { entry, .. } => self.appended(entry, outcome),
            Event::Retrying { attempt, wait_ms, reason, .. } => self.line(json!({
                "type": "system",
                "subtype": "api_retry",
                "attempt": attempt,
                "retry_delay_ms": wait_ms,
                "error": reason,
            })),
            Event::ToolDone { call, body: Some(body), .. } => {
                self.shown.insert(call.clone(), body.clone());
                String::new()
            }
            Event::Notice { text, .. } if outcome.is_reply() => {
                let begin = self.init();
                let output = json!({
                    "type": "system", "subtype": "local_command_output", "content": text,
                });
                begin + &self.line(output)
            }
            Event::Notice { text, .. } => self.line(json!({
                "type": "system", "subtype": "informational", "content": text, "level": "info",
            })),
            Event::Hook { run, name, occasion, state, .. } if self.shows_hooks => {
                self.hook((run.to_string(), name, occasion), state)
            }
            Event::Hook { .. }
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDone { .. }
            | Event::ChildStarted { .. }
            | Event::ApprovalNeeded { .. }
            | Event::Denied { .. }
            | Event::QuestionAsked { .. }
            | Event::Settled { .. }
            | Event::Spent { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::CommandDone { .. }
            | Event::TurnDone { .. }
            | Event::TurnFailed { .. } => String::new(),
        }
    }

    /// The lines a sub-agent's event makes: what it said and was told, under the call it works for.
    pub(crate) fn crew_event(&mut self, event: &Event, call: &CallId, outcome: &Outcome) -> String {
        if let Event::ToolDone { call, body: Some(body), .. } = event {
            self.shown.insert(call.clone(), body.clone());
        }
        let Event::Appended { entry, .. } = event else { return String::new() };
        if !matches!(entry.kind, EntryKind::Assistant { .. } | EntryKind::ToolResults { .. }) {
            return String::new();
        }
        let pieces = self.pieces.take();
        self.parent = Some(call.clone());
        let lines = self.appended(entry, outcome);
        self.parent = None;
        self.pieces = pieces;
        lines
    }

    /// The last line of an exchange: the result.
    pub(crate) fn result(&self, outcome: &Outcome) -> String {
        let is_error = outcome.error.is_some();
        let mut result = json!({
            "type": "result",
            "subtype": outcome.verdict.subtype(),
            "is_error": is_error,
            "duration_ms": millis(self.setting.began.elapsed()),
            "duration_api_ms": millis(outcome.waited),
            "num_turns": outcome.steps,
            "result": outcome.text(),
            "stop_reason": outcome.stop.and_then(stop_word),
            "total_cost_usd": outcome.cost().map(Money::as_dollars),
            "usage": usage(outcome.usage),
            "modelUsage": self.model_usage(&outcome.bill),
            "permission_denials": denials(outcome),
        });
        if let Value::Object(fields) = &mut result {
            if let Some(value) = &outcome.structured {
                fields.insert("structured_output".into(), value.clone());
            }
            if let Some((class, message)) = &outcome.error {
                fields.insert("errors".into(), json!([message]));
                fields.insert("error".into(), json!({ "class": class, "message": message }));
            }
        }
        self.line(result)
    }

    /// A message taken from standard input, printed back.
    pub(crate) fn replayed(&self, message: &Value) -> String {
        self.line(json!({
            "type": "user", "message": message, "parent_tool_use_id": null, "isReplay": true,
        }))
    }

    fn turn_started(&mut self, model: &ModelRef) -> String {
        self.setting.model.clone_from(model);
        self.init()
    }

    /// The line that begins an exchange, once.
    fn init(&mut self) -> String {
        if !std::mem::take(&mut self.is_new) {
            return String::new();
        }
        let tools: Vec<String> = self
            .setting
            .tools
            .iter()
            .map(|tool| servers::claude(tool, &self.setting.mcp))
            .collect();
        let found = &self.setting.found;
        self.line(json!({
            "type": "system",
            "subtype": "init",
            "cwd": self.setting.folder,
            "tools": tools,
            "mcp_servers": servers::told(&self.setting.mcp),
            "model": self.setting.model.to_string(),
            "permissionMode": claude::mode(self.setting.mode),
            "slash_commands": found.commands.iter().map(|(name, ..)| name).collect::<Vec<_>>(),
            "apiKeySource": self.setting.key_source,
            "claude_code_version": FORMAT_OF,
            "output_style": found.style,
            "agents": found.agents.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "skills": found.skills,
            "plugins": found.plugins,
            "caiman_version": env!("CARGO_PKG_VERSION"),
        }))
    }

    fn hook(&self, (id, name, event): (String, &str, &str), state: &HookState) -> String {
        let mut line = json!({
            "type": "system", "subtype": "hook_started",
            "hook_id": id, "hook_name": name, "hook_event": event,
        });
        if let (HookState::Ended { code, stdout, stderr }, Value::Object(fields)) =
            (state, &mut line)
        {
            let outcome = match code {
                Some(0 | 200..=299) => "success",
                Some(_) => "error",
                None => "cancelled",
            };
            let more = [
                ("subtype", json!("hook_response")),
                ("output", json!(if stdout.is_empty() { stderr } else { stdout })),
                ("stdout", json!(stdout)),
                ("stderr", json!(stderr)),
                ("exit_code", json!(code)),
                ("outcome", json!(outcome)),
            ];
            fields.extend(more.map(|(name, value)| (name.to_owned(), value)));
        }
        self.line(line)
    }

    /// Pieces of an answer, as the Messages API streams them.
    fn streamed(
        &mut self,
        entry: EntryId,
        add: impl FnOnce(&mut Pieces, &Value) -> Vec<Value>,
    ) -> String {
        let message = self.message(entry, &json!([]), Usage::default());
        let events = self.pieces.as_mut().map(|pieces| add(pieces, &message)).unwrap_or_default();
        self.stream_events(&events)
    }

    fn appended(&mut self, entry: &Entry, outcome: &Outcome) -> String {
        match &entry.kind {
            EntryKind::Assistant { parts, stop, usage: used, .. } => {
                let blocks: Vec<Value> = parts.iter().filter_map(claude::block).collect();
                let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
                let end = json!({
                    "type": "message_delta",
                    "delta": { "stop_reason": stop_word(*stop), "stop_sequence": null },
                    "usage": usage(*used),
                });
                let mut lines =
                    self.streamed(entry.id, |pieces, message| pieces.finish(calls, end, message));
                for block in &blocks {
                    let message = self.message(entry.id, &json!([block]), *used);
                    lines += &self.line(
                        json!({ "type": "assistant", "message": message, "parent_tool_use_id": self.parent }),
                    );
                }
                lines
            }
            EntryKind::ToolResults { parts } => {
                let at = moment(entry.at);
                let results = parts.iter().filter_map(Part::as_result);
                results.map(|result| self.tool_result(result, &at, outcome)).collect()
            }
            EntryKind::Prefix { tools, .. } => {
                self.setting.tools = tools.iter().map(|tool| tool.name.clone()).collect();
                String::new()
            }
            EntryKind::Compaction { .. } => self.line(json!({
                "type": "system",
                "subtype": "compact_boundary",
                "compact_metadata": { "trigger": "auto" },
            })),
            EntryKind::User { .. }
            | EntryKind::Notice { .. }
            | EntryKind::Pruned { .. }
            | EntryKind::Undone { .. }
            | EntryKind::ModelChange { .. }
            | EntryKind::Checkpoint { .. } => String::new(),
        }
    }

    fn tool_result(&self, result: &CallResult, at: &str, outcome: &Outcome) -> String {
        let empty = Map::new();
        let input = outcome.call(&result.call).map_or(&empty, |call| &call.input.value);
        let mut block = json!({
            "tool_use_id": result.call, "type": "tool_result", "content": claude::content(&result.pieces),
        });
        if result.outcome == base::transcript::Outcome::Failed {
            block["is_error"] = json!(true);
        }
        self.line(json!({
            "type": "user",
            "message": { "role": "user", "content": [block] },
            "parent_tool_use_id": self.parent,
            "timestamp": at,
            "tool_use_result": claude::result(result, input, self.shown.get(&result.call)),
        }))
    }

    fn message(&self, id: EntryId, content: &Value, used: Usage) -> Value {
        json!({
            "id": format!("msg_{id}"),
            "type": "message",
            "role": "assistant",
            "model": self.setting.model.to_string(),
            "content": content,
            "stop_reason": null,
            "stop_sequence": null,
            "usage": usage(used),
        })
    }

    fn stream_events(&self, events: &[Value]) -> String {
        let line = |event: &Value| {
            self.line(json!({ "type": "stream_event", "event": event, "parent_tool_use_id": null }))
        };
        events.iter().map(line).collect()
    }

    fn model_usage(&self, bill: &[Share]) -> Value {
        let share = |share: &Share| {
            let (window, output) =
                if share.model == self.setting.model { self.setting.limits } else { (0, 0) };
            let usage = json!({
                "inputTokens": share.usage.input,
                "outputTokens": share.usage.output,
                "cacheReadInputTokens": share.usage.cache_read,
                "cacheCreationInputTokens": share.usage.cache_write,
                "webSearchRequests": 0,
                "costUSD": share.cost.map(Money::as_dollars),
                "contextWindow": window,
                "maxOutputTokens": output,
            });
            (share.model.to_string(), usage)
        };
        Value::Object(bill.iter().map(share).collect())
    }

    fn line(&self, mut line: Value) -> String {
        if let Value::Object(fields) = &mut line {
            fields.insert("session_id".into(), json!(self.setting.session));
            fields.insert("uuid".into(), json!(EntryId::new()));
        }
        format!("{line}\n")
    }
}

fn denials(outcome: &Outcome) -> Value {
    let denial = |denial: &super::outcome::Denial| {
        let empty = Map::new();
        let input = outcome.call(&denial.call).map_or(&empty, |call| &call.input.value);
        json!({
            "tool_name": names::claude(&denial.tool),
            "tool_use_id": denial.call,
            "tool_input": claude::input(&denial.tool, input),
        })
    };
    outcome.denials.iter().map(denial).collect()
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

/// A moment as JSON has it: RFC 3339, in UTC.
fn moment(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.as_millis()).map(|at| at.to_string()).unwrap_or_default()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
