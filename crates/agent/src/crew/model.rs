//! The model a word of an agent's or a skill's file stands for. Files come from other products, whose models are seldom here:
//! a word never becomes the name of a model that nobody lists.

use base::ModelRef;
use base::protocol::{KeyState, ModelChoice};
use llm::Target;
use settings::Agents;

use crate::mind::{Mind, Options};

/// Families whose members are named all over: `claude-sonnet-4-20250514`, `Claude Sonnet 4.5 (copilot)`.
const FAMILIES: [&str; 3] = ["haiku", "sonnet", "opus"];

/// Those a word can stand for.
pub(crate) struct Choice<'a> {
    pub(crate) mind: &'a Mind,
    /// What sessions at the top are run with.
    pub(crate) top: &'a Options,
    /// The one who asks.
    pub(crate) caller: &'a Target,
}

impl Choice<'_> {
    /// The model of a word: a word of the settings, one that is listed, or its family's.
    pub(crate) fn of(&self, word: &str) -> Result<Target, String> {
        let agents = &self.mind.config.agents;
        let named = self.named(agents.model_word(word.trim()));
        named.or_else(|why| {
            let family = family(word).ok_or(why.clone())?;
            self.named(agents.model_word(family)).map_err(|_| why)
        })
    }

    fn named(&self, word: &str) -> Result<Target, String> {
        match word.to_ascii_lowercase().as_str() {
            "" | "inherit" => return Ok(self.caller.clone()),
            "small" | "haiku" => {
                return Ok(self.top.small.clone().unwrap_or_else(|| self.caller.clone()));
            }
            "large" | "sonnet" | "opus" | "fable" => return Ok(self.top.target.clone()),
            _ => {}
        }
        let mut why = format!("there is no model `{word}` here");
        if let Some((provider, model)) = word.split_once('/') {
            match (self.mind.resolve)(&ModelRef::new(provider, model)) {
                Ok(target) => return Ok(target),
                Err(error) => why = error,
            }
        }
        // The ids of some providers' models hold slashes, too.
        let model = listed(word, &(self.mind.models)(Some(word)), &self.caller.provider);
        model.ok_or(why).and_then(|model| (self.mind.resolve)(&model))
    }
}

/// Whether a word stands for a model, by the settings and the models that are listed.
pub(super) fn is_known(word: &str, agents: &Agents, models: &[ModelChoice]) -> bool {
    let word = agents.model_word(word.trim());
    let usual = ["", "inherit", "small", "large", "fable"];
    let of_provider = || {
        let provider = word.split_once('/').map(|(provider, _)| provider);
        provider.is_some_and(|provider| models.iter().any(|it| it.model.provider == provider))
    };
    usual.iter().any(|usual| usual.eq_ignore_ascii_case(word))
        || family(word).is_some()
        || listed(word, models, "").is_some()
        || of_provider()
}

/// The listed model with this id whose provider's key is there; the caller's provider first.
fn listed(id: &str, models: &[ModelChoice], provider: &str) -> Option<ModelRef> {
    let is_it = |choice: &&ModelChoice| {
        choice.key != KeyState::Missing && choice.model.model.eq_ignore_ascii_case(id)
    };
    let mut found = models.iter().filter(is_it).map(|choice| &choice.model);
    let own = found.clone().find(|model| model.provider == provider);
    own.or_else(|| found.next()).cloned()
}

fn family(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    FAMILIES.into_iter().find(|family| word.contains(family))
}
