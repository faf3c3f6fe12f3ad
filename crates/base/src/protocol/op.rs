//! All that a face may ask.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ServerKind;
use crate::id::{EntryId, RequestId, SessionId};
use crate::model::{Effort, ModelRef};
use crate::secret::Secret;
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
        /// The id its entry will have. The client chooses it, so that a repeated request is harmless and
        /// the turn that answers it can be told from others.
        entry: EntryId,
        /// What. The engine stamps their origins: a client cannot choose one.
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
    /// Go back to the moment before a prompt, or to any entry. It is refused while a turn runs. What is left
    /// is kept below a checkpoint: going back to that, [`super::Query::Checkpoints`] lists it first, takes
    /// the rewind back.
    Rewind {
        /// Of which session.
        session: SessionId,
        /// The entry that becomes the newest of the current branch; files become what they were when it was
        /// made, as far as tools have changed them after a later prompt, or after this one. A prompt that
        /// nothing comes before stands for the beginning: the conversation is empty then.
        entry: EntryId,
        /// What goes back.
        what: Rewound,
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
    /// Run a command of the user's own; the model sees it and its output with the next request.
    Shell {
        /// In which session.
        session: SessionId,
        /// The command line, without the exclamation mark.
        line: String,
    },
    /// Keep something for faces: a draft, a favourite, that an offer was made.
    Remember {
        /// What it is called.
        key: String,
        /// What to keep; none forgets it.
        value: Option<String>,
    },
    /// Start a server beside us anew, whatever it does now.
    Restart {
        /// Its name.
        server: String,
        /// What it speaks.
        kind: ServerKind,
    },
    /// Say whether what a folder's files say may run.
    Trust {
        /// The folder.
        folder: String,
        /// The answer.
        trust: Trust,
    },
    /// Try a provider's key with one request, and keep it if the provider takes it.
    #[serde(skip_serializing)]
    Login {
        /// The provider's id.
        provider: String,
        /// The key. It stays in this process: the operation cannot be serialised.
        key: Secret,
    },
}

impl Op {
    /// A prompt with an id of its own.
    pub fn say(session: SessionId, parts: Vec<Part>, delivery: Delivery) -> Self {
        Self::Say { session, entry: EntryId::new(), parts, delivery }
    }
}

/// What goes back to an earlier moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rewound {
    /// The conversation.
    Talk,
    /// The files that tools have changed since.
    Files,
    /// Both.
    Both,
}

/// Whether what a folder's files say may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// It may, as the files are now.
    Given,
    /// It may not; the question is not asked again until the files change.
    Refused,
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
        /// The rule to keep, as the user has edited it; none for the ones that were proposed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
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
