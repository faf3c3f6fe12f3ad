//! What a face may look up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::{EntryId, SessionId};
use crate::model::{ModelRef, Money, Usage};
use crate::transcript::Entry;

/// A look-up. It changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "query", rename_all = "snake_case")]
pub enum Query {
    /// The newest sessions.
    Sessions {
        /// Only of this folder's project.
        folder: Option<String>,
        /// At most this many.
        limit: usize,
    },
    /// One session.
    Session {
        /// Which.
        session: SessionId,
    },
    /// A window of a session's current branch, oldest first.
    Entries {
        /// Which session.
        session: SessionId,
        /// Only entries before this one; none for the newest.
        before: Option<EntryId>,
        /// At most this many.
        limit: usize,
    },
    /// Models that can be chosen.
    Models {
        /// Words that must occur in id or name.
        search: Option<String>,
    },
}

/// The answer to a [`Query`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// To [`Query::Sessions`] and [`Query::Session`].
    Sessions {
        /// Newest first.
        sessions: Vec<SessionSummary>,
    },
    /// To [`Query::Entries`].
    Entries {
        /// Oldest first.
        entries: Vec<Entry>,
    },
    /// To [`Query::Models`].
    Models {
        /// In catalogue order.
        models: Vec<ModelRef>,
    },
}

/// A session as a list shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// Its title; none before the first prompt.
    pub title: Option<String>,
    /// The folder it works in.
    pub folder: String,
    /// When it began.
    pub created: Timestamp,
    /// When its newest entry was made.
    pub updated: Timestamp,
    /// How many entries it has, over all branches.
    pub entries: u64,
    /// The model that answered last.
    pub model: Option<ModelRef>,
    /// Tokens of all its calls.
    pub usage: Usage,
    /// Money of all its calls with a known price.
    pub cost: Money,
}
