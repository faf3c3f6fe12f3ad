//! How thinking is asked for, and what it forbids.

use base::model::Effort;
use base::transcript::Role;
use serde_json::{Map, Value, json};
use settings::provider::{Model, ReasoningRequest};

use crate::projection::{Body, Message};
use crate::request::{Reasoning, Request, ToolChoice};
use crate::target::Target;
use crate::thinking::rounded;

/// The least budget Anthropic takes.
const LEAST_BUDGET: u64 = 1024;
/// What is left for the answer itself when the budget meets the model's output limit.
const ANSWER_ROOM: u64 = 4096;

/// How one request thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::wire) enum Thinking {
    /// Nothing is said about it.
    Unasked,
    /// It is forbidden.
    Forbidden,
    /// Only the effort of the whole answer is set.
    Effort(Effort),
    /// The model decides how much, guided by an effort.
    Adaptive(Effort),
    /// At most so many tokens.
    Budget(u64),
    /// It is switched on, and that is all that can be said.
    Switch,
}

impl Thinking {
    /// Whether the model thinks because we asked.
    pub(in crate::wire) fn is_on(self) -> bool {
        match self {
            Self::Adaptive(_) | Self::Budget(_) | Self::Switch => true,
            Self::Unasked | Self::Forbidden | Self::Effort(_) => false,
        }
    }

    /// The output limit: a budget is part of it, so it must be larger.
    pub(in crate::wire) fn room(self, max_tokens: u64, target: &Target) -> u64 {
        match self {
            Self::Budget(_) => self.split(max_tokens, target).0,
            Self::Unasked
            | Self::Forbidden
            | Self::Effort(_)
            | Self::Adaptive(_)
            | Self::Switch => max_tokens,
        }
    }

    /// Adds the fields that ask for it.
    pub(in crate::wire) fn write(
        self,
        max_tokens: u64,
        target: &Target,
        body: &mut Map<String, Value>,
    ) {
        let thinking = match self {
            Self::Unasked | Self::Effort(_) => None,
            Self::Forbidden => Some(json!({ "type": "disabled" })),
            // Newer models keep their thoughts to themselves unless asked for a summary.
            Self::Adaptive(_) => Some(json!({ "type": "adaptive", "display": "summarized" })),
            Self::Budget(_) => {
                let budget = self.split(max_tokens, target).1;
                Some(json!({ "type": "enabled", "budget_tokens": budget }))
            }
            Self::Switch => Some(json!({ "type": "enabled" })),
        };
        if let Some(thinking) = thinking {
            body.insert("thinking".into(), thinking);
        }
        if let Self::Effort(effort) | Self::Adaptive(effort) = self {
            body.insert("output_config".into(), json!({ "effort": effort.as_str() }));
        }
    }

    /// Output limit and budget, the first the larger, neither above what the model can do.
    fn split(self, max_tokens: u64, target: &Target) -> (u64, u64) {
        let Self::Budget(budget) = self else { return (max_tokens, 0) };
        let budget = budget.max(LEAST_BUDGET);
        if budget < max_tokens {
            return (max_tokens, budget);
        }
        let ceiling = match target.model.default_max_tokens {
            0 => u64::MAX,
            most => most.max(max_tokens),
        };
        let limit = budget.saturating_add(max_tokens).min(ceiling).max(LEAST_BUDGET + 1);
        let room = ANSWER_ROOM.min(limit / 2);
        (limit, budget.min(limit - room).max(LEAST_BUDGET))
    }
}

/// Decides how a request thinks.
pub(in crate::wire) fn plan(
    request: &Request,
    target: &Target,
    dialogue: &[Message<'_>],
) -> Thinking {
    let model = &target.model;
    let style = match target.quirks.reasoning_request {
        Some(style) => style,
        None if !model.can_reason => return Thinking::Unasked,
        // Every model that knows `max` thinks adaptively; older ones with efforts do not.
        None if model.reasoning_levels.contains(&Effort::Max) => ReasoningRequest::Adaptive,
        None => ReasoningRequest::Budget,
    };
    // A call cannot be forced on a model that thinks first; the caller's need is the harder one.
    let forced = match request.tool_choice {
        ToolChoice::Required | ToolChoice::Named(_) => !request.tools.is_empty(),
        ToolChoice::Auto | ToolChoice::Never => false,
    };
    let Some(wish) = Wish::of(request.reasoning, model) else { return Thinking::Unasked };
    match style {
        ReasoningRequest::Never => Thinking::Unasked,
        ReasoningRequest::Effort => Thinking::Effort(nearest(wish.effort(), model)),
        ReasoningRequest::Adaptive if wish.is_none() => forbid(model),
        ReasoningRequest::Adaptive if forced => Thinking::Effort(nearest(wish.effort(), model)),
        ReasoningRequest::Adaptive => Thinking::Adaptive(nearest(wish.effort(), model)),
        ReasoningRequest::Budget | ReasoningRequest::Object => {
            if wish.is_none() || forced || is_thoughtless_loop(dialogue) {
                return Thinking::Unasked;
            }
            Thinking::Budget(wish.budget())
        }
        ReasoningRequest::ThinkingSwitch
        | ReasoningRequest::EnableThinking
        | ReasoningRequest::TemplateSwitch => {
            if wish.is_none() || forced {
                Thinking::Forbidden
            } else {
                Thinking::Switch
            }
        }
    }
}

/// Some models cannot be forbidden to think; the least effort is as near as one gets.
fn forbid(model: &Model) -> Thinking {
    if model.reasoning_levels.contains(&Effort::None) {
        return Thinking::Forbidden;
    }
    let least = model.reasoning_levels.iter().min().copied();
    least.map_or(Thinking::Unasked, Thinking::Effort)
}

/// What was asked for, in whichever unit.
#[derive(Clone, Copy)]
enum Wish {
    Effort(Effort),
    Tokens(u64),
}

impl Wish {
    fn of(reasoning: Reasoning, model: &Model) -> Option<Self> {
        match reasoning {
            Reasoning::ModelDefault => model.default_reasoning_effort.map(Self::Effort),
            Reasoning::Effort(effort) => Some(Self::Effort(effort)),
            Reasoning::Budget(0) => Some(Self::Effort(Effort::None)),
            Reasoning::Budget(tokens) => Some(Self::Tokens(tokens)),
        }
    }

    fn is_none(self) -> bool {
        matches!(self, Self::Effort(Effort::None))
    }

    fn effort(self) -> Effort {
        match self {
            Self::Effort(effort) => effort,
            Self::Tokens(..=4_096) => Effort::Low,
            Self::Tokens(..=12_288) => Effort::Medium,
            Self::Tokens(..=32_768) => Effort::High,
            Self::Tokens(_) => Effort::Max,
        }
    }

    fn budget(self) -> u64 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Effort(Effort::None | Effort::Minimal) => LEAST_BUDGET,
            Self::Effort(Effort::Low) => 4_096,
            Self::Effort(Effort::Medium) => 10_240,
            Self::Effort(Effort::High) => 24_576,
            Self::Effort(Effort::Xhigh) => 32_768,
            Self::Effort(Effort::Max) => 63_999,
        }
    }
}

/// The level the model has that is nearest to `effort`, other than not to think.
fn nearest(effort: Effort, model: &Model) -> Effort {
    const USUAL: [Effort; 3] = [Effort::Low, Effort::Medium, Effort::High];
    let known: &[Effort] =
        if model.reasoning_levels.is_empty() { &USUAL } else { &model.reasoning_levels };
    let words: Vec<Effort> = known.iter().copied().filter(|level| *level != Effort::None).collect();
    rounded(effort, &words)
}

/// Whether calls wait for an answer that were made without a thought of this model's own (another
/// model made them): with a budget, Anthropic refuses to go on thinking then.
fn is_thoughtless_loop(dialogue: &[Message<'_>]) -> bool {
    fn first<'m>(message: &'m Message<'_>) -> Option<&'m Body<'m>> {
        message.blocks.first().map(|block| &block.body)
    }
    let answered = dialogue.last().is_some_and(|last| matches!(first(last), Some(Body::Result(_))));
    let before = dialogue.iter().rev().find(|message| message.role == Role::Assistant);
    answered && before.is_some_and(|message| !matches!(first(message), Some(Body::Thought(_))))
}
