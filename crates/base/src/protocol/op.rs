//! All that a face may ask.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{EntryId, RequestId, SessionId};
use crate::model::{Effort, ModelRef};
use crate::transcript::Part;

/// An operation a face asks for. It is acknowledged once it is durable, not once it is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// Begin a session in a folder.
    NewSession {
        /// The id it will have; chosen by the face so that a repeated request is harmless.
        session: SessionId,
        /// The workspace folder.
        folder: String,
    },
    /// Say something to the model.
    Say {
        /// To which session.
        session: SessionId,
        /// What.
        parts: Vec<Part>,
        /// What happens when a turn is already running.
        delivery: Delivery,
    },
    /// Take back a prompt that still waits in the queue.
    Unsay {
        /// Of which session.
        session: SessionId,
        /// The waiting entry.
        entry: EntryId,
    },
    /// Go on with a turn that broke off: its process died, its provider failed, or it was stopped.
    GoOn {
        /// Of which session.
        session: SessionId,
    },
    /// Stop the running turn.
    Stop {
        /// Of which session.
        session: SessionId,
    },
    /// Answer a question about permission.
    Approve {
        /// The question.
        request: RequestId,
        /// The answer.
        approval: Approval,
    },
    /// Answer a question the model asked.
    Answer {
        /// The question.
        request: RequestId,
        /// The answer, one text a question.
        answers: Vec<String>,
    },
    /// Use another model from the next request on.
    SetModel {
        /// Of which session.
        session: SessionId,
        /// The model.
        model: ModelRef,
    },
    /// Think harder or less.
    SetEffort {
        /// Of which session.
        session: SessionId,
        /// How hard.
        effort: Effort,
    },
    /// Change what may be done without asking.
    SetMode {
        /// Of which session.
        session: SessionId,
        /// The mode.
        mode: Mode,
    },
    /// Make `entry` the newest of the current branch.
    Rewind {
        /// Of which session.
        session: SessionId,
        /// The entry.
        entry: EntryId,
    },
    /// Begin a new session that shares the branch up to `entry`.
    Fork {
        /// Of which session.
        session: SessionId,
        /// The last shared entry.
        entry: EntryId,
        /// The new session's id.
        into: SessionId,
    },
    /// Replace the older part of the context by a summary.
    Compact {
        /// Of which session.
        session: SessionId,
        /// What the summary should dwell on.
        focus: Option<String>,
    },
    /// Name a session.
    Rename {
        /// Which session.
        session: SessionId,
        /// Its new title.
        title: String,
    },
    /// Delete a session for good.
    Delete {
        /// Which session.
        session: SessionId,
    },
    /// Run a slash command.
    Command {
        /// In which session.
        session: SessionId,
        /// The line, slash included.
        line: String,
    },
}

/// What happens to a prompt when a turn is already running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// It joins the running turn at the next model call.
    Steer,
    /// It runs afterwards.
    Queue,
}

/// The answer to a question about permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Approval {
    /// Yes.
    Allow {
        /// For how long.
        scope: Scope,
    },
    /// No.
    Deny {
        /// What the model should do instead.
        instead: Option<String>,
    },
}

/// How long a yes lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This one call.
    Once,
    /// This session.
    Session,
    /// This project.
    Project,
    /// Every project of this user.
    Always,
}

/// What may be done without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Rules decide; what no rule covers is asked.
    #[default]
    Default,
    /// Edits inside the workspace need no question.
    AcceptEdits,
    /// Nothing may change: a read-only sandbox.
    Plan,
    /// What would be asked is denied.
    DontAsk,
    /// Nothing is asked.
    Bypass,
}

impl Mode {
    /// What holds where two modes do: nothing that either of them would not let pass.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        // Ordered by what passes without a question.
        let rank = |mode| match mode {
            Self::Plan => 0,
            Self::DontAsk => 1,
            Self::Default => 2,
            Self::AcceptEdits => 3,
            Self::Bypass => 4,
        };
        if rank(other) < rank(self) { other } else { self }
    }
}
