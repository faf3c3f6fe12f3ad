//! `models` and `agents`: which model does which work.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use base::model::Effort;

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

impl SelectedModel {
    /// How hard it is to think: what was set, or what yes and no stand for.
    pub fn effort(&self) -> Option<Effort> {
        let from_switch = self.think.map(|think| if think { Effort::Medium } else { Effort::None });
        self.reasoning_effort.or(from_switch)
    }
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

/// Deepest that agents may start agents, whatever the settings say.
const DEPTH_LIMIT: u32 = 3;

/// Custom agents and sub-agents: their models and limits, and each agent by its name.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Agents {
    /// What the models' short names in agent files stand for, such as `sonnet`: `large`, `small` or
    /// `provider/model`. Names that are not here are looked up among the models.
    pub models: BTreeMap<String, String>,
    /// How deep agents may start agents: 1 for the main agent only, up to 3; 0 turns sub-agents off.
    #[schemars(extend("x-trust" = "ignored"))]
    pub max_depth: u32,
    /// How many agents run at the same time; more wait.
    #[schemars(extend("x-trust" = "ignored"))]
    pub max_running: u32,
    /// Most model calls of one task, unless the agent's file says fewer.
    #[schemars(extend("x-trust" = "ignored"))]
    pub max_steps: u32,
    /// US dollars one task may cost; no limit if left out.
    #[schemars(extend("x-trust" = "ignored"))]
    pub max_usd: Option<f64>,
    /// Seconds one task may take; no limit if left out.
    #[schemars(extend("x-trust" = "ignored"))]
    pub max_seconds: Option<u64>,
    /// Settings of single agents. An agent named as one of the keys above has none.
    #[serde(flatten)]
    pub by_name: BTreeMap<String, AgentSettings>,
}

impl Default for Agents {
    fn default() -> Self {
        Self {
            models: BTreeMap::new(),
            max_depth: 1,
            max_running: 8,
            max_steps: 50,
            max_usd: None,
            max_seconds: None,
            by_name: BTreeMap::new(),
        }
    }
}

impl Agents {
    /// How deep agents may start agents.
    pub fn depth(&self) -> u32 {
        self.max_depth.min(DEPTH_LIMIT)
    }

    /// The settings of an agent, whatever the case of its name.
    pub fn of(&self, name: &str) -> Option<&AgentSettings> {
        let exact = self.by_name.get(name);
        let alike = |known: &&String| known.eq_ignore_ascii_case(name);
        exact.or_else(|| self.by_name.keys().find(alike).and_then(|known| self.by_name.get(known)))
    }

    /// What a word for a model stands for: itself, unless the settings say so in any case of letters.
    pub fn model_word<'a>(&'a self, word: &'a str) -> &'a str {
        let mut known = self.models.iter();
        let meant = known.find(|(name, _)| name.eq_ignore_ascii_case(word));
        meant.map_or(word, |(_, meant)| meant)
    }

    /// The agents that are left out, by name.
    pub fn disabled(&self) -> Vec<String> {
        let disabled = self.by_name.iter().filter(|(_, agent)| agent.disabled);
        disabled.map(|(name, _)| name.clone()).collect()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_for_thinking_counts_where_no_effort_is_set() {
        let effort = |text: &str| {
            let text = format!(r#"{{"model": "m", "provider": "p" {text}}}"#);
            serde_json::from_str::<SelectedModel>(&text).unwrap().effort()
        };
        assert_eq!(effort(""), None);
        assert_eq!(effort(r#", "think": true"#), Some(Effort::Medium));
        assert_eq!(effort(r#", "think": false"#), Some(Effort::None));
        assert_eq!(effort(r#", "think": false, "reasoning_effort": "high""#), Some(Effort::High));
    }
}
