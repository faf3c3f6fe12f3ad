//! What the interface knows already and panes show: plain data, filled when a pane opens.

use base::block::Todo;
use base::protocol::{Offer, Query, Spent, WaitingPrompt};
use base::{ModelRef, SessionId, Timestamp};

use crate::keymap::KeyMap;
use crate::message::{Asker, Effect};
use crate::theme::Custom;

/// What the interface knows already.
#[derive(Debug, Clone, Default)]
pub struct Shared {
    /// The number of the pane that opens: its look-ups carry it.
    pub pane: u64,
    /// The session that is shown; none before the first prompt.
    pub session: Option<SessionId>,
    /// The folder we are in.
    pub folder: String,
    /// The user's home folder; empty where it is not known.
    pub home: String,
    /// The time of day, for ages.
    pub now: Timestamp,
    /// Which key does what.
    pub keys: KeyMap,
    /// Commands, skills, agents.
    pub offers: Vec<Offer>,
    /// What is to be done.
    pub todos: Vec<Todo>,
    /// Prompts that wait.
    pub waiting: Vec<WaitingPrompt>,
    /// The model that answers; none before one is chosen.
    pub model: Option<ModelRef>,
    /// Its window in tokens; 0 when unknown.
    pub window: u64,
    /// Tokens in its context, about.
    pub used: u64,
    /// What the session cost by model, the dearest first.
    pub spent: Vec<Spent>,
    /// The name of the theme.
    pub theme: String,
    /// Themes of the user's own.
    pub themes: Custom,
}

/// A look-up of a pane.
pub(crate) fn ask(pane: u64, what: u8, query: Query) -> Effect {
    Effect::Ask { query, asker: Asker::Pane { pane, what } }
}
