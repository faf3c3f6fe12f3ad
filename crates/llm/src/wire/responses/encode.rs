//! A request to a body. The conversation comes last, so that a longer one extends the bytes of the
//! shorter; what stays the same for a session comes before it.

use base::model::Effort;
use serde_json::{Map, Value, json};
use settings::provider::{ReasoningRequest, SystemRole};

use super::project;
use crate::request::{Cache, Request, ToolChoice, ToolSpec};
use crate::target::Target;
use crate::thinking::Thinking;
use crate::wire::Encoded;

/// The provider refuses smaller output limits.
const LEAST_OUTPUT_TOKENS: u64 = 16;

/// The longest cache key the provider takes.
const CACHE_KEY_CHARS: usize = 64;

/// The efforts assumed where the catalogue lists none.
const USUAL_EFFORTS: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High];

/// Encodes a request.
pub(in crate::wire) fn encode(request: &Request, target: &Target) -> Encoded {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| {
        body.insert(key.to_owned(), value);
    };
    put("model", json!(target.model.id));
    put("store", json!(false));
    if target.quirks.stream != Some(false) {
        put("stream", json!(true));
    }
    if let Some(limit) = max_output_tokens(request, target) {
        put("max_output_tokens", json!(limit));
    }
    if thinks(target) {
        put("reasoning", reasoning(request, target));
        // Without storage at the provider, thoughts only survive if we carry them.
        put("include", json!(["reasoning.encrypted_content"]));
    }
    if samples(target) {
        let (ours, model) = (&request.sampling, &target.model.options);
        for (key, value) in [
            ("temperature", ours.temperature.or(model.temperature)),
            ("top_p", ours.top_p.or(model.top_p)),
        ] {
            if let Some(value) = value {
                put(key, json!(value));
            }
        }
    }
    if let (Cache::Prefix, Some(key)) = (request.cache, &request.session_key) {
        put("prompt_cache_key", json!(key.chars().take(CACHE_KEY_CHARS).collect::<String>()));
    }
    if !request.tools.is_empty() {
        put("tools", request.tools.iter().map(tool).collect());
        put("tool_choice", tool_choice(&request.tool_choice));
        put("parallel_tool_calls", json!(true));
    }
    let system = system(request, target);
    let mut input = Vec::new();
    let role = match target.quirks.system_role {
        None => None,
        Some(SystemRole::System) => Some("system"),
        Some(SystemRole::Developer) => Some("developer"),
    };
    match role {
        _ if system.is_empty() => {}
        None => put("instructions", json!(system)),
        Some(role) => input.push(json!({ "type": "message", "role": role, "content": system })),
    }
    input.extend(project::items(&request.turns, target));
    put("input", Value::Array(input));
    Encoded { path: "/responses".to_owned(), headers: Vec::new(), body }
}

fn system(request: &Request, target: &Target) -> String {
    let segments = target.system_prompt_prefix.iter().chain(&request.system);
    let spoken: Vec<_> =
        segments.map(String::as_str).filter(|segment| !segment.is_empty()).collect();
    spoken.join("\n\n")
}

fn max_output_tokens(request: &Request, target: &Target) -> Option<u64> {
    let default = Some(target.model.default_max_tokens).filter(|limit| *limit > 0);
    request.max_tokens.or(default).map(|limit| limit.max(LEAST_OUTPUT_TOKENS))
}

fn thinks(target: &Target) -> bool {
    target.model.can_reason && target.quirks.reasoning_request != Some(ReasoningRequest::Never)
}

/// Thinking models refuse sampling settings unless the catalogue says otherwise.
fn samples(target: &Target) -> bool {
    !target.quirks.fixed_sampling.unwrap_or(target.model.can_reason)
}

fn reasoning(request: &Request, target: &Target) -> Value {
    let levels = match &target.model.reasoning_levels[..] {
        [] => USUAL_EFFORTS,
        listed => listed,
    };
    match Thinking::of(request, target).effort(levels) {
        Some(effort) => json!({ "effort": effort.as_str(), "summary": "auto" }),
        None => json!({ "summary": "auto" }),
    }
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        // Left out, it means true, and most schemas do not fit the strict subset.
        "strict": false,
    })
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Never => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({ "type": "function", "name": name }),
    }
}
