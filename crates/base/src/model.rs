//! Words about models that every room uses: references, usage, money, stop reasons, effort.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A model at a provider, written `provider/model`; the model's own id may hold slashes.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct ModelRef {
    /// The provider's id in catalogue or config.
    pub provider: String,
    /// The model's id at that provider.
    pub model: String,
}

impl ModelRef {
    /// Names a model at a provider.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self { provider: provider.into(), model: model.into() }
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// The text is not of the form `provider/model`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a model: write provider/model, for example anthropic/claude-sonnet-4-6")]
pub struct BadModelRef(pub String);

impl FromStr for ModelRef {
    type Err = BadModelRef;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                Ok(Self::new(provider, model))
            }
            Some(_) | None => Err(BadModelRef(text.to_owned())),
        }
    }
}

/// The kind of failure that ended a turn or a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Too many requests or tokens for now.
    RateLimit,
    /// The provider has no capacity for now.
    Overloaded,
    /// The account cannot pay.
    Billing,
    /// The key is missing, wrong or lacks the right.
    Auth,
    /// The prompt is longer than the model's context window.
    ContextOverflow,
    /// The provider refuses the request as it is.
    BadRequest,
    /// The model does not exist, or not for this key.
    ModelNotFound,
    /// The request took too long.
    Timeout,
    /// The provider broke, or broke its own protocol.
    Server,
    /// The connection failed or ended early.
    Network,
    /// The request was stopped by us.
    Cancelled,
    /// The session could not be written or read.
    Store,
    /// A hook rejected the prompt.
    Hook,
    /// A class written by a newer version.
    #[serde(other)]
    Other,
}

impl FailureClass {
    /// The name that JSON and the ledger use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Billing => "billing",
            Self::Auth => "auth",
            Self::ContextOverflow => "context_overflow",
            Self::BadRequest => "bad_request",
            Self::ModelNotFound => "model_not_found",
            Self::Timeout => "timeout",
            Self::Server => "server",
            Self::Network => "network",
            Self::Cancelled => "cancelled",
            Self::Store => "store",
            Self::Hook => "hook",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How hard a model should think. Levels a model lacks are rounded to the nearest it has.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// No thinking at all.
    None,
    /// As little as the model can.
    Minimal,
    /// Little.
    Low,
    /// The middle.
    Medium,
    /// Much.
    High,
    /// More than high.
    Xhigh,
    /// All it can.
    Max,
}

impl Effort {
    /// Every level, least first.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The level's name, as users and providers write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text names no effort level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no effort level: use none, minimal, low, medium, high, xhigh or max")]
pub struct BadEffort(pub String);

impl FromStr for Effort {
    type Err = BadEffort;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|level| level.as_str().eq_ignore_ascii_case(text));
        found.ok_or_else(|| BadEffort(text.to_owned()))
    }
}

/// Why a model stopped talking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had said all it wanted, or met a stop sequence.
    Done,
    /// It waits for the results of its tool calls.
    ToolCalls,
    /// It reached the output limit.
    Length,
    /// It, or a filter, declined to answer.
    Refusal,
    /// The prompt and answer together filled the context window.
    ContextFull,
    /// The provider paused a long turn; sending the answer back continues it.
    Paused,
    /// We stopped it.
    Cancelled,
    /// A reason this version does not know.
    Other,
}

/// Tokens of one model call. The four buckets are disjoint except that reasoning is part of output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Prompt tokens neither read from nor written to a cache.
    pub input: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: u64,
    /// Tokens the model produced, thinking included.
    pub output: u64,
    /// Of `output`, how many were thinking; zero where the provider does not tell.
    pub reasoning: u64,
}

impl Usage {
    /// All tokens of the prompt, cached or not.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    /// Prompt and output together: what occupies the context window.
    pub fn total(&self) -> u64 {
        self.prompt() + self.output
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
            output: self.output + other.output,
            reasoning: self.reasoning + other.reasoning,
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// An amount of US dollars in whole picodollars, so that sums are exact.
///
/// One token at $0.0375 per million costs 37,500 picodollars; an `i64` holds over nine million dollars.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Money(i64);

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Takes picodollars.
    pub fn from_pico(pico: i64) -> Self {
        Self(pico)
    }

    /// Rounds dollars to the nearest picodollar.
    #[expect(clippy::cast_possible_truncation, reason = "`as` saturates, which is what we want")]
    pub fn from_dollars(dollars: f64) -> Self {
        Self((dollars * 1e12).round() as i64)
    }

    /// Whole picodollars.
    pub fn as_pico(self) -> i64 {
        self.0
    }

    /// Dollars, for display and JSON.
    #[expect(clippy::cast_precision_loss, reason = "display only; sums are made in picodollars")]
    pub fn as_dollars(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.as_dollars();
        if dollars == 0.0 || dollars.abs() >= 0.01 {
            write!(f, "${dollars:.2}")
        } else {
            write!(f, "${dollars:.6}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reference_splits_at_the_first_slash_only() {
        let model: ModelRef = "openrouter/anthropic/claude-sonnet-4.6".parse().unwrap();
        assert_eq!(model, ModelRef::new("openrouter", "anthropic/claude-sonnet-4.6"));
        assert_eq!(model.to_string(), "openrouter/anthropic/claude-sonnet-4.6");
        for bad in ["", "gpt-5", "/x", "x/"] {
            assert!(bad.parse::<ModelRef>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_million_small_prices_add_up_exactly() {
        let token = Money::from_dollars(0.0375 / 1e6);
        let total: Money = (0..1_000_000).map(|_| token).sum();
        assert_eq!(total, Money::from_dollars(0.0375));
    }
}
