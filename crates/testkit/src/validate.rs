//! Strict checks of a request body against its wire's documented rules.
//!
//! A validator answers one question: would the real provider take this? What a provider documents
//! but evidently does not enforce (recorded requests it answered with 200 break it) is no rule
//! here; what only some providers of a wire enforce is switched on in [`Rules`].

pub mod anthropic;
pub mod chat;
pub mod converse;
pub mod gemini;
pub mod responses;
mod shape;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use settings::provider::{CallIdForm, Wire};

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where, such as `messages[2].content[0].id`; empty for the whole body.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl Violation {
    /// Names a broken rule.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Signatures, encrypted thoughts and the like that a provider has handed out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Issued {
    seals: BTreeSet<String>,
}

impl Issued {
    /// Takes a seal as handed out.
    pub fn insert(&mut self, seal: &str) {
        self.seals.insert(seal.to_owned());
    }

    /// Whether it was handed out.
    pub fn holds(&self, seal: &str) -> bool {
        self.seals.contains(seal)
    }
}

impl<S: Into<String>> FromIterator<S> for Issued {
    fn from_iter<I: IntoIterator<Item = S>>(seals: I) -> Self {
        Self { seals: seals.into_iter().map(Into::into).collect() }
    }
}

/// What a request is held against beside its wire's own rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Seals that may be replayed; none takes any well-formed one.
    pub issued: Option<Issued>,
    /// The model asked for, where the body does not tell; some rules are of certain models.
    pub model: Option<String>,
    /// The form of call ids the provider insists on; none takes the wire's own rule.
    pub call_id: Option<CallIdForm>,
    /// How strict the server behind the wire is.
    pub server: Server,
    /// Whether turns must take turns.
    pub turns: Turns,
}

/// Whether turns must take turns. Anthropic, Gemini and Bedrock document it, but recordings show
/// that they join neighbours of one role and take a conversation that the model begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Turns {
    /// As documented: the user begins, then model and user alternate.
    #[default]
    Alternate,
    /// As enforced.
    Any,
}

/// Who stands behind a wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Server {
    /// The wire's own provider, with all its rules.
    #[default]
    Original,
    /// Somebody who speaks the same wire with fields and values of their own.
    Compatible,
}

/// Checks a body against the rules of its wire.
pub fn request(wire: Wire, body: &Value, rules: &Rules) -> Vec<Violation> {
    match wire {
        Wire::AnthropicMessages => anthropic::check(body, rules),
        Wire::OpenaiChat => chat::check(body, rules),
        Wire::OpenaiResponses => responses::check(body, rules),
        Wire::Gemini => gemini::check(body, rules),
        Wire::BedrockConverse => converse::check(body, rules),
    }
}
