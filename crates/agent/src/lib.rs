//! The mind: one turn from a prompt to a recorded answer.
//!
//! | module | does |
//! |---|---|
//! | [`turn`] | the walk of a turn: record the prompt, call the model, journal, record the answer |
//! | [`prompt`] | the system prompt, in our own words |
//!
//! Lanes, tools, context and sub-agents grow around [`turn`]; its caller sees only [`base::Event`]s.

pub mod prompt;
pub mod turn;

pub use turn::{Mind, Say, TurnError, TurnReport};
