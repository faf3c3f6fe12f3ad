//! `models` and `agents`: which model does which work.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::model::Effort;

/// The models in use. What is left out is chosen from the providers that have a key.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Models {
    /// The model for the main work.
    pub large: Option<SelectedModel>,
    /// The model for titles, summaries and other small work.
    pub small: Option<SelectedModel>,
    /// Models to go on with when the large one's provider fails, best first, as `provider/model`.
    #[schemars(extend("x-merge" = "replace"))]
    pub fallbacks: Vec<String>,
}

/// A chosen model and how it is asked.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct SelectedModel {
    /// The model's id at its provider.
    pub model: String,
    /// The provider's id.
    pub provider: String,
    /// How hard it thinks.
    #[serde(default)]
    pub reasoning_effort: Option<Effort>,
    /// Whether it thinks at all, for models that only know yes and no.
    #[serde(default)]
    pub think: Option<bool>,
    /// Most tokens of one answer.
    #[serde(default)]
    pub max_tokens: Option<u64>,
    /// Randomness.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    #[serde(default)]
    pub top_p: Option<f64>,
    /// Sample from the best so many.
    #[serde(default)]
    pub top_k: Option<u64>,
    /// Penalty for tokens that occurred often.
    #[serde(default)]
    pub frequency_penalty: Option<f64>,
    /// Penalty for tokens that occurred at all.
    #[serde(default)]
    pub presence_penalty: Option<f64>,
    /// Fields to add to the request body.
    #[serde(default)]
    #[schemars(extend("x-trust" = "ignored"))]
    pub provider_options: Map<String, Value>,
}

/// Settings of one agent, by its name.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AgentSettings {
    /// Its model: `large`, `small` or `provider/model`.
    pub model: Option<String>,
    /// How hard it thinks.
    pub reasoning_effort: Option<Effort>,
    /// Leave this agent out.
    pub disabled: bool,
}
