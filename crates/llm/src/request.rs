//! What a caller asks of a model, in neutral words.

use base::model::Effort;
pub use base::transcript::ToolSpec;
use base::transcript::Turn;
use settings::provider::Sampling;

/// One request. A wire's file turns it into that provider's bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The system prompt's segments, in order. They only ever grow at their end.
    pub system: Vec<String>,
    /// The conversation so far.
    pub turns: Vec<Turn>,
    /// Tools the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether it must call one.
    pub tool_choice: ToolChoice,
    /// Most tokens to produce; none takes the model's own default.
    pub max_tokens: Option<u64>,
    /// How to think.
    pub reasoning: Reasoning,
    /// Sampling settings; they lie over the model's.
    pub sampling: Sampling,
    /// Texts at which the model stops.
    pub stop_sequences: Vec<String>,
    /// Whether the provider may cache the prefix (marks are set where the wire has them).
    pub cache: Cache,
    /// An id that routes requests of one session to one cache, where the provider has such a thing.
    pub session_key: Option<String>,
}

/// Whether the model must call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It must not.
    Never,
    /// It must call at least one.
    Required,
    /// It must call this one.
    Named(String),
}

/// How the model should think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reasoning {
    /// As the catalogue says of the model.
    #[default]
    ModelDefault,
    /// This hard.
    Effort(Effort),
    /// At most so many tokens.
    Budget(u64),
}

/// Whether the provider may cache the prefix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cache {
    /// Yes: the default of every session.
    #[default]
    Prefix,
    /// No: a one-off call.
    Never,
}
