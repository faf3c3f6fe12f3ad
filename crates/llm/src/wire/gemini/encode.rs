//! Writes requests.

use base::model::Effort;
use serde_json::{Map, Value, json};
use settings::provider::{ReasoningRequest, Sampling};

use super::super::Encoded;
use super::{contents, schema};
use crate::request::{Request, ToolChoice, ToolSpec};
use crate::target::Target;
use crate::thinking::{Thinking, rounded};

/// The most thinking every model with a budget accepts.
const MOST_BUDGET: u64 = 24_576;
/// The levels Gemini has, for models of which nothing is known.
const LEVELS: [Effort; 4] = [Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];

/// Writes `request` for `target`.
pub(in crate::wire) fn encode(request: &Request, target: &Target) -> Encoded {
    let mut body = Map::new();
    let segments = target.system_prompt_prefix.iter().chain(&request.system);
    let system: Vec<Value> = segments
        .filter(|segment| !segment.is_empty())
        .map(|segment| json!({ "text": segment }))
        .collect();
    if !system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({ "parts": system }));
    }
    tools(request, &mut body);
    let config = generation_config(request, target);
    if !config.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(config));
    }
    // Last, so that a longer conversation's bytes begin with the shorter one's.
    body.insert("contents".to_owned(), Value::Array(contents::write(request, target)));
    let id = target.model.id.strip_prefix("models/").unwrap_or(&target.model.id);
    let path = if target.quirks.stream == Some(false) {
        format!("/models/{id}:generateContent")
    } else {
        format!("/models/{id}:streamGenerateContent?alt=sse")
    };
    Encoded { path, headers: Vec::new(), body }
}

/// How this model takes a wish for thinking: by level where it has levels, else by budget.
pub(super) fn reasoning_request(target: &Target) -> ReasoningRequest {
    let by_level = !target.model.reasoning_levels.is_empty();
    let default = if by_level { ReasoningRequest::Effort } else { ReasoningRequest::Budget };
    target.quirks.reasoning_request.unwrap_or(default)
}

fn tools(request: &Request, body: &mut Map<String, Value>) {
    if request.tools.is_empty() {
        return;
    }
    let declarations: Vec<Value> = request.tools.iter().map(declaration).collect();
    body.insert("tools".to_owned(), json!([{ "functionDeclarations": declarations }]));
    let config = match &request.tool_choice {
        ToolChoice::Auto => return,
        ToolChoice::Never => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Named(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    };
    body.insert("toolConfig".to_owned(), json!({ "functionCallingConfig": config }));
}

fn declaration(tool: &ToolSpec) -> Value {
    let mut declaration = json!({"name": tool.name, "description": tool.description});
    let takes_nothing = tool.schema.get("properties").is_none_or(|all| all == &json!({}))
        && tool.schema.get("$ref").is_none();
    if takes_nothing {
        return declaration;
    }
    if let Some(schema) = schema::restrict(&tool.schema) {
        declaration["parameters"] = schema;
    } else {
        let mut schema = tool.schema.clone();
        if let Some(fields) = schema.as_object_mut() {
            fields.shift_remove("$schema");
        }
        declaration["parametersJsonSchema"] = schema;
    }
    declaration
}

fn generation_config(request: &Request, target: &Target) -> Map<String, Value> {
    let mut config = Map::new();
    let default = Some(target.model.default_max_tokens).filter(|tokens| *tokens > 0);
    if let Some(tokens) = request.max_tokens.or(default) {
        config.insert("maxOutputTokens".to_owned(), json!(tokens));
    }
    if !request.stop_sequences.is_empty() {
        config.insert("stopSequences".to_owned(), json!(request.stop_sequences));
    }
    if target.quirks.fixed_sampling != Some(true) {
        sampling(&target.model.options, &request.sampling, &mut config);
    }
    if target.model.can_reason
        && let Some(thinking) = thinking_config(Thinking::of(request, target), target)
    {
        config.insert("thinkingConfig".to_owned(), thinking);
    }
    config
}

fn sampling(model: &Sampling, request: &Sampling, config: &mut Map<String, Value>) {
    let mut set = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            config.insert(field.to_owned(), value);
        }
    };
    let number = |ours: Option<f64>, theirs: Option<f64>| ours.or(theirs).map(|n| json!(n));
    set("temperature", number(request.temperature, model.temperature));
    set("topP", number(request.top_p, model.top_p));
    set("topK", request.top_k.or(model.top_k).map(|n| json!(n)));
    set("frequencyPenalty", number(request.frequency_penalty, model.frequency_penalty));
    set("presencePenalty", number(request.presence_penalty, model.presence_penalty));
}

fn thinking_config(thinking: Thinking, target: &Target) -> Option<Value> {
    match (reasoning_request(target), thinking) {
        (ReasoningRequest::Never, _) => None,
        (_, Thinking::Unasked) => Some(json!({ "includeThoughts": true })),
        (ReasoningRequest::Effort | ReasoningRequest::Adaptive, thinking) => {
            let known = &target.model.reasoning_levels;
            let levels = if known.is_empty() { LEVELS.as_slice() } else { known };
            let level = rounded(thinking.effort(levels)?, levels).as_str().to_ascii_uppercase();
            Some(json!({"includeThoughts": true, "thinkingLevel": level}))
        }
        (
            ReasoningRequest::Budget
            | ReasoningRequest::Object
            | ReasoningRequest::ThinkingSwitch
            | ReasoningRequest::EnableThinking
            | ReasoningRequest::TemplateSwitch,
            thinking,
        ) => {
            let shown = thinking != Thinking::Off;
            let budget = match thinking {
                Thinking::Budget(tokens) => tokens,
                Thinking::Unasked | Thinking::Off | Thinking::Effort(_) => {
                    thinking.budget()?.min(MOST_BUDGET)
                }
            };
            Some(json!({"includeThoughts": shown, "thinkingBudget": budget}))
        }
    }
}
