//! How thinking is asked for, in the field each server has for it.

use serde_json::{Map, Value, json};
use settings::provider::ReasoningRequest;

use crate::target::Target;
use crate::thinking::Thinking;

/// Adds the fields that ask for `thinking`.
pub(super) fn ask(thinking: Thinking, target: &Target, body: &mut Map<String, Value>) {
    if thinking == Thinking::Unasked {
        return;
    }
    let levels = &target.model.reasoning_levels;
    let effort = thinking.effort(levels).map(|effort| json!(effort.as_str()));
    let on = thinking != Thinking::Off;
    let mut set = |field: &str, value: Value| body.insert(field.to_owned(), value);
    match target.quirks.reasoning_request {
        Some(ReasoningRequest::Never) => {}
        // Without levels to choose from there is no word that is sure to be understood.
        None if levels.is_empty() => {}
        None | Some(ReasoningRequest::Effort) => {
            set("reasoning_effort", json!(effort));
        }
        Some(ReasoningRequest::Budget) => {
            let budget = thinking.budget();
            let enabled = json!({"type": "enabled", "budget_tokens": budget});
            set("thinking", if on { enabled } else { json!({"type": "disabled"}) });
        }
        Some(ReasoningRequest::Adaptive) => {
            set("thinking", json!({"type": if on { "adaptive" } else { "disabled" }}));
            if on {
                set("reasoning_effort", json!(effort));
            }
        }
        Some(ReasoningRequest::Object) => {
            let object = match thinking {
                Thinking::Budget(tokens) => json!({ "max_tokens": tokens }),
                Thinking::Off => json!({ "enabled": false }),
                Thinking::Effort(_) | Thinking::Unasked => json!({ "effort": effort }),
            };
            set("reasoning", object);
        }
        Some(ReasoningRequest::ThinkingSwitch) => {
            set("thinking", json!({"type": if on { "enabled" } else { "disabled" }}));
            if on && !levels.is_empty() {
                set("reasoning_effort", json!(effort));
            }
        }
        Some(ReasoningRequest::EnableThinking) => {
            set("enable_thinking", json!(on));
            if let Thinking::Budget(tokens) = thinking {
                set("thinking_budget", json!(tokens));
            }
        }
        Some(ReasoningRequest::TemplateSwitch) => {
            set("chat_template_kwargs", json!({ "enable_thinking": on }));
        }
    }
}
