//! How hard the model shall think, once the request and the model's facts are laid together.

use base::model::Effort;

use crate::request::{Reasoning, Request};
use crate::target::Target;

/// What to ask of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// Leave it to the provider.
    Unasked,
    /// No thinking.
    Off,
    /// This hard, in a word the model knows.
    Effort(Effort),
    /// At most so many tokens.
    Budget(u64),
}

impl Thinking {
    /// What `request` asks of `target`'s model.
    pub(crate) fn of(request: &Request, target: &Target) -> Self {
        let model = &target.model;
        if !model.can_reason {
            return Self::Unasked;
        }
        let asked = match request.reasoning {
            Reasoning::ModelDefault => model.default_reasoning_effort,
            Reasoning::Effort(effort) => Some(effort),
            Reasoning::Budget(0) => return Self::Off,
            Reasoning::Budget(tokens) => return Self::Budget(tokens),
        };
        match asked.map(|effort| rounded(effort, &model.reasoning_levels)) {
            None => Self::Unasked,
            Some(Effort::None) => Self::Off,
            Some(effort) => Self::Effort(effort),
        }
    }

    /// The effort word for it; a budget becomes the word that usually stands for so much.
    pub(crate) fn effort(self, levels: &[Effort]) -> Option<Effort> {
        let effort = match self {
            Self::Unasked => return None,
            Self::Off => Effort::None,
            Self::Effort(effort) => effort,
            Self::Budget(tokens) => Effort::ALL
                .into_iter()
                .rev()
                .find(|effort| budget_for(*effort) <= tokens)
                .unwrap_or(Effort::Minimal),
        };
        Some(rounded(effort, levels))
    }

    /// The token budget for it; none where nothing is asked.
    pub(crate) fn budget(self) -> Option<u64> {
        match self {
            Self::Unasked => None,
            Self::Off => Some(0),
            Self::Effort(effort) => Some(budget_for(effort)),
            Self::Budget(tokens) => Some(tokens),
        }
    }
}

/// The nearest level the model has; of two equally near, the lesser. All are had if none are listed.
pub(crate) fn rounded(effort: Effort, levels: &[Effort]) -> Effort {
    let place = |level: Effort| Effort::ALL.iter().position(|other| *other == level).unwrap_or(0);
    let mut levels = levels.to_vec();
    levels.sort_unstable();
    levels.into_iter().min_by_key(|level| place(*level).abs_diff(place(effort))).unwrap_or(effort)
}

/// The tokens an effort word usually stands for.
fn budget_for(effort: Effort) -> u64 {
    match effort {
        Effort::None => 0,
        Effort::Minimal => 1_024,
        Effort::Low => 4_096,
        Effort::Medium => 8_192,
        Effort::High => 16_384,
        Effort::Xhigh => 24_576,
        Effort::Max => 32_768,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_a_model_lacks_are_rounded_to_the_nearest_it_has() {
        let levels = [Effort::High, Effort::Low];
        assert_eq!(rounded(Effort::Minimal, &levels), Effort::Low);
        assert_eq!(rounded(Effort::Medium, &levels), Effort::Low);
        assert_eq!(rounded(Effort::Max, &levels), Effort::High);
        assert_eq!(rounded(Effort::None, &levels), Effort::Low);
        assert_eq!(rounded(Effort::Xhigh, &[]), Effort::Xhigh);
    }

    #[test]
    fn a_budget_finds_its_word() {
        let word = |tokens| Thinking::Budget(tokens).effort(&[]);
        assert_eq!(word(100), Some(Effort::None));
        assert_eq!(word(5_000), Some(Effort::Low));
        assert_eq!(word(1_000_000), Some(Effort::Max));
    }
}
