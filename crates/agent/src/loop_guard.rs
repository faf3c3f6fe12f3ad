//! Notices a model that goes round in circles: the same calls with the same outcome, or words that repeat.
//!
//! | module | watches |
//! |---|---|
//! | `calls` | calls and their outcomes, over a window, so that cycles of several calls are caught too |
//! | `likeness` | when two calls or two outcomes count as the same |
//! | `words` | what the model says or thinks while it streams |
//!
//! First a nudge goes into the result the model reads; if that does not help, the turn ends with a reason
//! the user sees. Work that moves on (a file changes, an outcome differs) never counts.

mod calls;
mod likeness;
mod words;

use base::transcript::Outcome;
use serde_json::{Map, Value};

/// Watches one turn.
#[derive(Debug, Clone, Default)]
pub struct LoopGuard {
    calls: calls::Calls,
    words: words::Words,
}

/// What to do about a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alarm {
    /// Add this to the result, for the model.
    Nudge(String),
    /// End the turn; this says why, for the user.
    End(String),
}

/// A call that has come to something.
#[derive(Debug, Clone, Copy)]
pub struct SeenCall<'a> {
    /// The tool.
    pub name: &'a str,
    /// Its arguments.
    pub input: &'a Map<String, Value>,
    /// Whether it worked.
    pub outcome: Outcome,
    /// What the model reads of it.
    pub text: &'a str,
}

impl LoopGuard {
    /// Takes note of a call and what came of it.
    pub fn see_call(&mut self, call: SeenCall<'_>) -> Option<Alarm> {
        self.calls.see(call)
    }

    /// Takes note of more of what the model says or thinks in this answer. It answers with a reason to break
    /// the answer off.
    pub fn see_text(&mut self, delta: &str) -> Option<Alarm> {
        self.words.see(delta).map(Alarm::End)
    }

    /// A new answer begins.
    pub fn new_answer(&mut self) {
        self.words = words::Words::default();
    }

    /// The user said something: whatever was repeated may now be wanted.
    pub fn user_spoke(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests;
