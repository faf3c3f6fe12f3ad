//! What handlers are told of each event: the fields of the JSON they read. Sessions and `caiman hooks test`
//! fill them here, so that both tell the same.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base::model::Effort;
use base::protocol::Mode;
use base::transcript::{Call, CallResult, Outcome};
use base::{Block, EntryId, SessionId};
use guard::rule::names;
use guard::{Fence, Rule};
use serde_json::{Map, Value, json};
use tools::claude;

use super::occasion::Occasion;

/// What every handler is told.
#[derive(Debug, Clone)]
pub struct Setting<'a> {
    /// The session; the one at the top for a sub-agent's.
    pub session: SessionId,
    /// The prompt that is worked on.
    pub prompt: Option<EntryId>,
    /// The transcript, as a file.
    pub transcript: PathBuf,
    /// Where the handler runs.
    pub folder: &'a Path,
    /// How questions are answered.
    pub mode: Mode,
    /// How hard the model thinks, where somebody has said so.
    pub effort: Option<Effort>,
}

impl Setting<'_> {
    /// What every handler is told of an event.
    pub fn fields(&self, occasion: Occasion) -> Map<String, Value> {
        let mut told = json!({
            "session_id": self.session,
            "prompt_id": self.prompt,
            "transcript_path": self.transcript,
            "cwd": self.folder,
            "permission_mode": claude::mode(self.mode),
            "hook_event_name": occasion.name(),
        });
        if let Some(effort) = self.effort {
            told["effort"] = json!({ "level": effort });
        }
        object(told)
    }
}

/// How a session begins, with which model, and, where there are any, as which agent and under which title.
pub fn begin(
    source: &str,
    model: &str,
    agent: Option<&str>,
    title: Option<&str>,
) -> Map<String, Value> {
    let mut told = object(json!({ "source": source, "model": model }));
    for (name, text) in [("agent_type", agent), ("session_title", title)] {
        told.extend(text.map(|text| (name.to_owned(), json!(text))));
    }
    told
}

/// What the user said.
pub fn prompt(text: &str) -> Map<String, Value> {
    object(json!({ "prompt": text }))
}

/// A call that is about to be judged.
pub fn call(call: &Call, fence: &Fence) -> Map<String, Value> {
    object(json!({
        "tool_name": names::claude(&call.name),
        "tool_input": input(call, fence),
        "tool_use_id": call.id,
    }))
}

/// A call somebody would be asked about; `grants` are the rules a lasting yes would make.
pub fn permission(asked: &Call, fence: &Fence, grants: &[Rule]) -> Map<String, Value> {
    let rules: Vec<Value> = grants.iter().map(suggestion).collect();
    let all = json!({
        "type": "addRules", "rules": rules, "behavior": "allow", "destination": "session",
    });
    let suggestions = if rules.is_empty() { json!([]) } else { json!([all]) };
    let mut told = call(asked, fence);
    told.insert("permission_suggestions".to_owned(), suggestions);
    told
}

/// What came of a call; `shown` is what faces show of it.
pub fn result(
    done: &Call,
    fence: &Fence,
    (result, shown): (&CallResult, Option<&Block>),
    took: Duration,
    is_interrupt: bool,
) -> Map<String, Value> {
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let more = match result.outcome {
        Outcome::Done => {
            let response = claude::result(result, &input(done, fence), shown);
            json!({ "duration_ms": took_ms, "tool_response": response })
        }
        Outcome::Failed => {
            let error = claude::text_of(result);
            json!({ "duration_ms": took_ms, "error": error, "is_interrupt": is_interrupt })
        }
    };
    let mut told = call(done, fence);
    told.extend(object(more));
    told
}

/// The end of a turn; `held` is how often it was made to go on already.
pub fn stop(answer: &str, held: u32) -> Map<String, Value> {
    object(json!({ "stop_hook_active": held > 0, "last_assistant_message": answer }))
}

/// A context that is about to be summarised.
pub fn compact(trigger: &str, focus: Option<&str>) -> Map<String, Value> {
    object(json!({ "trigger": trigger, "custom_instructions": focus.unwrap_or_default() }))
}

/// Something that waits for the user.
pub fn notification(kind: &str, message: &str) -> Map<String, Value> {
    object(json!({ "message": message, "title": "Caiman", "notification_type": kind }))
}

/// The end of a session.
pub fn end(reason: &str) -> Map<String, Value> {
    object(json!({ "reason": reason }))
}

/// A call's input as handlers know it: Claude Code's fields, and whole paths.
pub(super) fn input(call: &Call, fence: &Fence) -> Map<String, Value> {
    let mut input = object(claude::input(&call.name, &call.input.value));
    if let Some(Value::String(path)) = input.get_mut("file_path") {
        *path = fence.shown(fence.folder()).join(&*path).display().to_string();
    }
    input
}

/// A rule as Claude Code suggests it.
fn suggestion(rule: &Rule) -> Value {
    let text = rule.to_string();
    match text.split_once('(').and_then(|(tool, rest)| Some((tool, rest.strip_suffix(')')?))) {
        Some((tool, content)) => json!({ "toolName": tool, "ruleContent": content }),
        None => json!({ "toolName": text }),
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}
