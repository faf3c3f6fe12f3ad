//! A session is an append-only tree of entries; a message is an ordered list of parts.
//!
//! Nothing is rewritten or deleted: fork, rewind and "edit and resend" move the pointer that says
//! which entry is the newest of the current branch.

mod branch;
mod part;
mod seen;
mod tree;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Timestamp;
use crate::id::{CallId, EntryId};
use crate::model::{FailureClass, ModelRef, StopReason, Usage};

pub use branch::{is_unfinished, last_said, open_calls, prefix};
pub use part::{
    Call, CallInput, CallResult, File, FileSource, Maker, Mended, Native, Origin, Outcome, Part,
    PartBody, Piece, Shown, own_command,
};
pub use seen::{SHORT_BYTES, Seen, turns};
pub use tree::{Tree, TreeError};

/// One node of a session's tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// Its id; ids of one process sort by time.
    pub id: EntryId,
    /// The entry it follows; none for the first of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<EntryId>,
    /// When it was made.
    pub at: Timestamp,
    /// What it is.
    #[serde(flatten)]
    pub kind: EntryKind,
}

impl Entry {
    /// The entry without what faces show of its results: what was said, and no more.
    #[must_use]
    pub fn bare(mut self) -> Self {
        if let EntryKind::ToolResults { parts } = &mut self.kind {
            for part in parts {
                if let PartBody::Result(result) = &mut part.body {
                    result.shown = None;
                }
            }
        }
        self
    }
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EntryKind {
    /// The user spoke.
    User {
        /// What was said.
        parts: Vec<Part>,
    },
    /// A model answered.
    Assistant {
        /// What it said, thought and called, in its own order.
        parts: Vec<Part>,
        /// Which model.
        model: ModelRef,
        /// Why it stopped.
        stop: StopReason,
        /// What it used.
        #[serde(default)]
        usage: Usage,
    },
    /// The results of the calls in the entry above.
    ToolResults {
        /// One result a call, in the order of the calls.
        parts: Vec<Part>,
    },
    /// Something the user should see and the model should not.
    Notice {
        /// The text.
        text: String,
        /// The class of the failure that ended a turn; none where none did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        class: Option<FailureClass>,
    },
    /// What came before is replaced, for the model, by a summary.
    Compaction {
        /// The summary, as the model reads it.
        summary: String,
        /// The first entry that stays verbatim; none if nothing does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep_from: Option<EntryId>,
    },
    /// Old results are shown to the model shortened; the whole text stays in the tree.
    Pruned {
        /// The calls whose results are shortened.
        calls: Vec<CallId>,
    },
    /// A compaction or pruning counts no longer.
    Undone {
        /// The entry that made it.
        entry: EntryId,
    },
    /// What requests begin with from here on. It is kept so that a resumed session sends the same bytes.
    Prefix {
        /// The system prompt's segments.
        system: Vec<String>,
        /// The tools.
        tools: Vec<ToolSpec>,
        /// Why it is not what it was before.
        reason: String,
    },
    /// Another model takes over.
    ModelChange {
        /// The new model.
        to: ModelRef,
    },
    /// The workspace can be brought back to this moment.
    Checkpoint {
        /// What the checkpoint was made for.
        label: String,
    },
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSpec {
    /// The name to call.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of its arguments: an object.
    pub schema: Value,
}

/// Who speaks in a [`Turn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, and the results of tool calls.
    User,
    /// A model.
    Assistant,
}

/// What a wire sees of an entry: a speaker and what was said, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// Who speaks.
    pub role: Role,
    /// What was said.
    pub parts: Vec<Part>,
}
