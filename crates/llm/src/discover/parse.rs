//! Reading lists of models. Each server has words of its own; what a list does not tell stays unknown.

use serde_json::Value;
use settings::provider::Model;

/// Words in ids of models that do not chat. Lists that tell a model's type are believed first.
const NOT_CHAT: [&str; 12] = [
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "moderation",
    "rerank",
    "transcribe",
    "-ocr",
    "image-gen",
    "stable-diffusion",
    "guard",
    "realtime",
];

/// The list most servers have: `data` or `models` of an object, or an array alone.
pub(super) fn general(answer: &Value) -> Option<Vec<Model>> {
    let mut entries =
        [answer.get("data"), answer.get("models"), Some(answer)].into_iter().flatten();
    let entries = entries.find_map(Value::as_array)?;
    Some(entries.iter().filter_map(general_model).collect())
}

fn general_model(entry: &Value) -> Option<Model> {
    let id = text(entry, "/id").or_else(|| text(entry, "/name"))?;
    let id = id.strip_prefix("models/").unwrap_or(id);
    if !chats(entry, id) {
        return None;
    }
    let windows = [
        "/context_length",
        "/context_window",
        "/max_context_length",
        "/max_model_len",
        "/max_input_tokens",
        "/inputTokenLimit",
        "/meta/n_ctx",
        "/meta/n_ctx_train",
    ];
    let outputs =
        ["/top_provider/max_completion_tokens", "/max_completion_tokens", "/outputTokenLimit"];
    let is_named = |list: &str, word: &str| words(entry, list).any(|known| known == word);
    Some(Model {
        id: id.to_owned(),
        name: name(entry, id),
        context_window: first(entry, &windows),
        default_max_tokens: first(entry, &outputs),
        cost_per_1m_in: price(entry, &["/pricing/prompt", "/pricing/input"]),
        cost_per_1m_out: price(entry, &["/pricing/completion", "/pricing/output"]),
        cost_per_1m_in_cached: price(entry, &["/pricing/input_cache_write"]),
        cost_per_1m_out_cached: price(entry, &["/pricing/input_cache_read"]),
        can_reason: is_named("/supported_parameters", "reasoning")
            || is_named("/tags", "reasoning")
            || flag(entry, "/thinking")
            || flag(entry, "/capabilities/reasoning"),
        supports_attachments: is_named("/architecture/input_modalities", "image")
            || is_named("/tags", "vision")
            || flag(entry, "/capabilities/vision"),
        ..Model::default()
    })
}

/// Names of an Ollama's models.
pub(super) fn ollama_names(tags: &Value) -> Vec<String> {
    let models =
        tags.get("models").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    models.iter().filter_map(|model| text(model, "/name")).map(str::to_owned).collect()
}

/// What an Ollama shows of one model; none if it does not chat.
pub(super) fn ollama_model(id: String, shown: &Value) -> Option<Model> {
    let can = |word: &str| words(shown, "/capabilities").any(|known| known == word);
    let tells = shown.get("capabilities").is_some();
    if tells && !can("completion") {
        return None;
    }
    // The key carries the architecture's name: `qwen3.context_length`.
    let facts = shown.get("model_info").and_then(Value::as_object);
    let window = facts.and_then(|facts| {
        let found = facts.iter().find(|(key, _)| key.ends_with(".context_length"));
        found.and_then(|(_, value)| value.as_u64())
    });
    Some(Model {
        id,
        context_window: window.unwrap_or(0),
        can_reason: can("thinking"),
        supports_attachments: can("vision"),
        ..Model::default()
    })
}

/// What llama.cpp tells of the one model it has loaded: the window it was started with counts, not
/// the one the model was trained for.
pub(super) fn llama_cpp_props(model: &mut Model, props: &Value) {
    let window = first(props, &["/default_generation_settings/n_ctx", "/n_ctx"]);
    if window > 0 {
        model.context_window = window;
    }
    model.supports_attachments |= flag(props, "/modalities/vision");
}

/// LM Studio's own list.
pub(super) fn lm_studio(answer: &Value) -> Vec<Model> {
    let entries =
        answer.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let model = |entry: &Value| {
        let kind = text(entry, "/type").unwrap_or("llm");
        let id = text(entry, "/id").filter(|_| kind == "llm" || kind == "vlm")?;
        Some(Model {
            id: id.to_owned(),
            context_window: first(entry, &["/loaded_context_length", "/max_context_length"]),
            supports_attachments: kind == "vlm",
            ..Model::default()
        })
    };
    // Loaded ones first: they answer at once.
    let (loaded, others): (Vec<&Value>, Vec<&Value>) =
        entries.iter().partition(|entry| text(entry, "/state") == Some("loaded"));
    loaded.into_iter().chain(others).filter_map(model).collect()
}

/// `LiteLLM`'s own list, which has prices.
pub(super) fn litellm(answer: &Value) -> Vec<Model> {
    let entries =
        answer.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let model = |entry: &Value| {
        let id = text(entry, "/model_name")?;
        let mode = text(entry, "/model_info/mode").unwrap_or("chat");
        if mode != "chat" && mode != "responses" {
            return None;
        }
        Some(Model {
            id: id.to_owned(),
            context_window: first(
                entry,
                &["/model_info/max_input_tokens", "/model_info/max_tokens"],
            ),
            default_max_tokens: first(entry, &["/model_info/max_output_tokens"]),
            cost_per_1m_in: token_price(entry, "/model_info/input_cost_per_token"),
            cost_per_1m_out: token_price(entry, "/model_info/output_cost_per_token"),
            cost_per_1m_in_cached: token_price(
                entry,
                "/model_info/cache_creation_input_token_cost",
            ),
            cost_per_1m_out_cached: token_price(entry, "/model_info/cache_read_input_token_cost"),
            can_reason: flag(entry, "/model_info/supports_reasoning"),
            supports_attachments: flag(entry, "/model_info/supports_vision"),
            ..Model::default()
        })
    };
    let mut models: Vec<Model> = entries.iter().filter_map(model).collect();
    // One name may stand for several deployments.
    let mut names = std::collections::BTreeSet::new();
    models.retain(|model| names.insert(model.id.clone()));
    models
}

fn chats(entry: &Value, id: &str) -> bool {
    if let Some(kind) = text(entry, "/type") {
        let is_other = ["embedding", "image", "audio", "rerank", "moderation", "video", "speech"];
        if is_other.iter().any(|other| kind.contains(other)) {
            return false;
        }
    }
    if entry.pointer("/capabilities/completion_chat") == Some(&Value::Bool(false)) {
        return false;
    }
    let methods: Vec<&str> = words(entry, "/supportedGenerationMethods").collect();
    if !methods.is_empty() && !methods.contains(&"generateContent") {
        return false;
    }
    let id = id.to_lowercase();
    !NOT_CHAT.iter().any(|word| id.contains(word))
}

fn name(entry: &Value, id: &str) -> Option<String> {
    let names = ["/display_name", "/displayName", "/name"];
    let name = names.iter().find_map(|at| text(entry, at))?;
    (name != id && !name.starts_with("models/")).then(|| name.to_owned())
}

fn text<'a>(value: &'a Value, at: &str) -> Option<&'a str> {
    value.pointer(at).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn words<'a>(value: &'a Value, at: &str) -> impl Iterator<Item = &'a str> {
    value.pointer(at).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn flag(value: &Value, at: &str) -> bool {
    value.pointer(at).and_then(Value::as_bool).unwrap_or(false)
}

fn first(value: &Value, places: &[&str]) -> u64 {
    let found = places.iter().find_map(|at| value.pointer(at)?.as_u64().filter(|&n| n > 0));
    found.unwrap_or(0)
}

/// Dollars for a million tokens from a `pricing` object: text is for one token (`OpenRouter`, Vercel), a
/// number for a million (Together).
fn price(value: &Value, places: &[&str]) -> f64 {
    match places.iter().find_map(|at| value.pointer(at)) {
        Some(Value::String(text)) => per_million(text.parse().unwrap_or(0.0)),
        Some(other) => other.as_f64().filter(|price| *price > 0.0).unwrap_or(0.0),
        None => 0.0,
    }
}

/// Dollars for a million tokens from a number for one.
fn token_price(value: &Value, at: &str) -> f64 {
    per_million(value.pointer(at).and_then(Value::as_f64).unwrap_or(0.0))
}

/// `OpenRouter` writes -1 where the price depends on where a request goes: not known.
fn per_million(dollars_per_token: f64) -> f64 {
    if dollars_per_token > 0.0 { (dollars_per_token * 1e12).round() / 1e6 } else { 0.0 }
}
