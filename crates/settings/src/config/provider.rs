//! Providers and models: `providers.<id>` in settings, and the catalogue's own files.
//!
//! The catalogue is nothing but more of the same data with lower priority, so whatever a catalogue
//! file says about a provider, a model or a quirk, a user can say otherwise.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use base::model::Effort;
use base::secret::Secret;

/// One provider of models.
#[derive(Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Provider {
    /// Name to show.
    #[schemars(extend("x-trust" = "allowed"))]
    pub name: Option<String>,
    /// How to reach it and which wire format it speaks; `openai-compat` if left out.
    #[serde(rename = "type")]
    pub kind: Option<ProviderKind>,
    /// Wire format, where it is not the usual one of the type.
    pub wire: Option<Wire>,
    /// Base URL.
    #[schemars(extend("x-expand" = true))]
    pub base_url: Option<String>,
    /// API key.
    pub api_key: Option<Secret>,
    /// Environment variables that may hold the key, best first.
    pub key_variables: Vec<String>,
    /// Environment variable that may hold another base URL.
    pub base_url_variable: Option<String>,
    /// Leave this provider out.
    #[schemars(extend("x-trust" = "narrowing"))]
    pub disable: bool,
    /// Text put before the system prompt.
    pub system_prompt_prefix: Option<String>,
    /// HTTP headers to add; an empty value removes one.
    #[schemars(extend("x-expand" = true))]
    pub extra_headers: BTreeMap<String, String>,
    /// Fields to add to every request body. Nothing is expanded in them.
    pub extra_body: Map<String, Value>,
    /// More such fields, under the name Crush uses.
    pub provider_options: Map<String, Value>,
    /// Ask the server for its models; by default only when none are listed.
    pub discover_models: Option<bool>,
    /// Paid by subscription: tokens cost nothing.
    pub flat_rate: bool,
    /// Cloud region (Bedrock) or location (Vertex).
    pub region: Option<String>,
    /// Cloud project (Vertex).
    pub project: Option<String>,
    /// API version (Azure).
    pub api_version: Option<String>,
    /// Named profile of the cloud's own configuration files (Bedrock).
    pub profile: Option<String>,
    /// Command that renews cloud credentials when they have expired.
    #[schemars(extend("x-expand" = true))]
    pub aws_auth_refresh: Option<String>,
    /// Model for the main work when the user names none.
    pub default_large_model_id: Option<String>,
    /// Model for titles and summaries when the user names none.
    pub default_small_model_id: Option<String>,
    /// Where this provider differs from its wire format's usual ways.
    pub quirks: Quirks,
    /// Timeouts, proxy and certificates.
    pub network: Network,
    /// Its models. A model of the same id in a later file is laid over an earlier one.
    #[schemars(extend("x-trust" = "allowed", "x-key" = "id"))]
    pub models: Vec<Model>,
}

/// Headers, addresses and bodies may hold secrets, so only what cannot is printed.
impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("wire", &self.wire)
            .field("disable", &self.disable)
            .field("models", &self.models.len())
            .finish_non_exhaustive()
    }
}

/// How a provider is reached. The names are the ones Crush uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-aliases" = ["gemini"]))]
pub enum ProviderKind {
    /// `OpenAI` itself: Responses, bearer key.
    Openai,
    /// Anything that speaks Chat Completions.
    #[default]
    OpenaiCompat,
    /// Anthropic Messages, `x-api-key`.
    Anthropic,
    /// Gemini with an API key.
    #[serde(alias = "gemini")]
    Google,
    /// Gemini and Claude on Google Cloud.
    GoogleVertex,
    /// `OpenAI` models on Azure.
    Azure,
    /// Models on AWS Bedrock.
    Bedrock,
    /// `OpenRouter`.
    Openrouter,
    /// Vercel's AI gateway.
    Vercel,
    /// A local llama.cpp server.
    Llamacpp,
    /// A local `oMLX` server.
    Omlx,
    /// A local LM Studio.
    Lmstudio,
    /// A `LiteLLM` proxy.
    Litellm,
    /// A local Ollama.
    Ollama,
    /// The scripted model inside this binary.
    Demo,
}

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// Anthropic Messages.
    AnthropicMessages,
    /// `OpenAI` Chat Completions.
    OpenaiChat,
    /// `OpenAI` Responses.
    OpenaiResponses,
    /// Gemini `generateContent`.
    Gemini,
    /// Bedrock Converse.
    BedrockConverse,
}

impl Wire {
    /// Every wire format.
    pub const ALL: [Self; 5] = [
        Self::AnthropicMessages,
        Self::OpenaiChat,
        Self::OpenaiResponses,
        Self::Gemini,
        Self::BedrockConverse,
    ];

    /// The format's name, as config and sidecars write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic-messages",
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Gemini => "gemini",
            Self::BedrockConverse => "bedrock-converse",
        }
    }
}

/// One model of a provider.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Model {
    /// Its id at the provider.
    pub id: String,
    /// Name to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Tokens that fit in its context window; 0 when unknown.
    pub context_window: u64,
    /// Most tokens asked for in one answer; 0 leaves it to the provider.
    pub default_max_tokens: u64,
    /// Dollars for a million prompt tokens.
    #[schemars(extend("x-trust" = "ignored"))]
    pub cost_per_1m_in: f64,
    /// Dollars for a million output tokens.
    #[schemars(extend("x-trust" = "ignored"))]
    pub cost_per_1m_out: f64,
    /// Dollars for a million prompt tokens written to the cache.
    #[schemars(extend("x-trust" = "ignored"))]
    pub cost_per_1m_in_cached: f64,
    /// Dollars for a million prompt tokens read from the cache.
    #[schemars(extend("x-trust" = "ignored"))]
    pub cost_per_1m_out_cached: f64,
    /// Whether it can think before it answers.
    pub can_reason: bool,
    /// The efforts it knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-merge" = "replace"))]
    pub reasoning_levels: Vec<Effort>,
    /// The effort used when the user sets none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_reasoning_effort: Option<Effort>,
    /// Whether it sees images.
    pub supports_attachments: bool,
    /// Wire format, where it differs from the provider's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-trust" = "ignored"))]
    pub wire: Option<Wire>,
    /// Sampling defaults.
    #[serde(skip_serializing_if = "Sampling::is_unset")]
    pub options: Sampling,
    /// Where this model differs from its provider's usual ways.
    #[serde(skip_serializing_if = "Quirks::is_unset")]
    pub quirks: Quirks,
}

/// Sampling settings; what is left out is left to the provider.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Sampling {
    /// Randomness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Sample from the best so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u64>,
    /// Penalty for tokens that occurred often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// Penalty for tokens that occurred at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// Fields to add to the request body for this model.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(extend("x-trust" = "ignored"))]
    pub provider_options: Map<String, Value>,
}

impl Sampling {
    fn is_unset(&self) -> bool {
        *self == Self::default()
    }
}

/// Where a provider or model differs from its wire format's usual ways. A wire's file reads these;
/// it never asks which provider it talks to.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Quirks {
    /// The field that limits output (Chat).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens_field: Option<MaxTokensField>,
    /// How thinking is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_request: Option<ReasoningRequest>,
    /// The field in which the model's own thoughts are sent back (Chat).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_replay: Option<ReasoningReplay>,
    /// The role of the system prompt (Chat, Responses).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_role: Option<SystemRole>,
    /// Whether `stream_options.include_usage` may be sent (Chat); default yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_usage: Option<bool>,
    /// Whether tool results may hold images; otherwise they follow in a user message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result_images: Option<bool>,
    /// The form a call id must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallIdForm>,
    /// Whether a user message may follow tool results directly (Chat); default yes. Where it may
    /// not, a short assistant message is put between.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_after_tool: Option<bool>,
    /// Cache marks the provider understands on a wire that has none of its own (Chat).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_marks: Option<CacheMarks>,
    /// Tool calls are asked for and read as `<tool_call>` text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_calls: Option<bool>,
    /// Thoughts come as `<think>` text and are taken out of it (Chat).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_tags: Option<bool>,
    /// Sampling settings are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_sampling: Option<bool>,
    /// Reported output tokens may leave thinking out without the total telling (Chat): thinking that
    /// exceeds the output is added to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_beside_output: Option<bool>,
    /// Whether answers may be streamed; default yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
}

impl Quirks {
    fn is_unset(&self) -> bool {
        *self == Self::default()
    }

    /// These quirks with `over`'s laid on top: a model's over its provider's.
    #[must_use]
    pub fn overlaid(&self, over: &Self) -> Self {
        Self {
            max_tokens_field: over.max_tokens_field.or(self.max_tokens_field),
            reasoning_request: over.reasoning_request.or(self.reasoning_request),
            reasoning_replay: over.reasoning_replay.or(self.reasoning_replay),
            system_role: over.system_role.or(self.system_role),
            stream_usage: over.stream_usage.or(self.stream_usage),
            tool_result_images: over.tool_result_images.or(self.tool_result_images),
            call_id: over.call_id.or(self.call_id),
            user_after_tool: over.user_after_tool.or(self.user_after_tool),
            cache_marks: over.cache_marks.or(self.cache_marks),
            text_calls: over.text_calls.or(self.text_calls),
            think_tags: over.think_tags.or(self.think_tags),
            fixed_sampling: over.fixed_sampling.or(self.fixed_sampling),
            reasoning_beside_output: over.reasoning_beside_output.or(self.reasoning_beside_output),
            stream: over.stream.or(self.stream),
        }
    }
}

/// The field that limits output on the Chat wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_tokens`, what most servers know.
    MaxTokens,
    /// `max_completion_tokens`, what `OpenAI`'s reasoning models demand.
    MaxCompletionTokens,
}

/// How thinking is asked for. Each wire has its own default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningRequest {
    /// It cannot be asked for.
    Never,
    /// An effort word: `reasoning_effort`, `reasoning.effort`, `thinkingLevel`.
    Effort,
    /// A token budget: `thinking.budget_tokens`, `thinkingBudget`.
    Budget,
    /// The model decides, guided by an effort word (`thinking.type = adaptive`).
    Adaptive,
    /// An object `reasoning` with effort or budget (`OpenRouter`).
    Object,
    /// `thinking.type = enabled | disabled`.
    ThinkingSwitch,
    /// `enable_thinking` and `thinking_budget` (Qwen).
    EnableThinking,
    /// `chat_template_kwargs.enable_thinking` (llama.cpp, vLLM).
    TemplateSwitch,
}

/// The field in which the model's own thoughts are sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningReplay {
    /// They are not.
    Never,
    /// `reasoning_content`.
    ReasoningContent,
    /// `reasoning`.
    Reasoning,
    /// `reasoning_details`, as received.
    ReasoningDetails,
    /// A content part of type `thinking` (Mistral).
    ThinkingPart,
}

/// The role of the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    /// `system`.
    System,
    /// `developer`.
    Developer,
}

/// The form a call id must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallIdForm {
    /// Letters, digits, `_` and `-`, at most 64.
    Plain,
    /// Exactly nine letters or digits (Mistral).
    Nine,
}

/// Cache marks on a wire that has none of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheMarks {
    /// `cache_control` on content parts, as Anthropic has it.
    Anthropic,
}

/// Timeouts, proxy and certificates of one provider; they lie over the global ones.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Network {
    /// Seconds to wait for a connection; default 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-trust" = "allowed"))]
    pub connect_timeout_s: Option<u64>,
    /// Seconds to wait for the answer to begin; default 300 (thinking models are slow to start).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-trust" = "allowed"))]
    pub response_timeout_s: Option<u64>,
    /// Seconds a stream may be silent; default 120.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-trust" = "allowed"))]
    pub idle_timeout_s: Option<u64>,
    /// Tries for errors that may pass; default 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-trust" = "allowed"))]
    pub tries: Option<u32>,
    /// Proxy URL; by default the system's. `none` goes direct.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-trust" = "ignored", "x-expand" = true))]
    pub proxy: Option<String>,
    /// PEM file with more certificate authorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-trust" = "ignored"))]
    pub ca_file: Option<String>,
}

impl Network {
    /// These settings with `over`'s laid on top.
    #[must_use]
    pub fn overlaid(&self, over: &Self) -> Self {
        Self {
            connect_timeout_s: over.connect_timeout_s.or(self.connect_timeout_s),
            response_timeout_s: over.response_timeout_s.or(self.response_timeout_s),
            idle_timeout_s: over.idle_timeout_s.or(self.idle_timeout_s),
            tries: over.tries.or(self.tries),
            proxy: over.proxy.clone().or_else(|| self.proxy.clone()),
            ca_file: over.ca_file.clone().or_else(|| self.ca_file.clone()),
        }
    }
}
