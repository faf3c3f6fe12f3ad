//! What a face may look up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{CallId, EntryId, SessionId};

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
    /// The sub-agents that work, or have worked, for calls of a session, and those below them.
    Children {
        /// Which session.
        session: SessionId,
        /// Which of its calls.
        calls: Vec<CallId>,
    },
    /// What a face that opens a session must know of it beside its entries.
    State {
        /// Which session.
        session: SessionId,
    },
    /// Sessions in which something was said, best matches first.
    Find {
        /// What to look for.
        words: String,
        /// At most this many.
        limit: usize,
    },
    /// Models that can be chosen.
    Models {
        /// Words that must occur in id or name.
        search: Option<String>,
    },
    /// What may follow a slash or an at sign in a folder: commands, skills, agents.
    Offers {
        /// The folder.
        folder: String,
    },
    /// Files of a folder whose path fits some letters, best first; what `.gitignore` hides is left out.
    Files {
        /// The folder.
        folder: String,
        /// Letters of the path, in order.
        search: String,
        /// At most this many.
        limit: usize,
    },
    /// What the user has said in a folder's project, newest first.
    History {
        /// The folder.
        folder: String,
        /// At most this many.
        limit: usize,
    },
    /// Files that tools have changed in a session, as they are now against as they were before it.
    Changes {
        /// Which session.
        session: SessionId,
    },
    /// The moments of a session's current branch that one can go back to, newest first.
    Checkpoints {
        /// Which session.
        session: SessionId,
    },
    /// What fills the context window, item by item.
    Context {
        /// Of which session.
        session: SessionId,
    },
    /// What was kept by [`super::Op::Remember`].
    Recall {
        /// What it is called.
        key: String,
    },
    /// How things stand in a folder before anything is said. It is quick: no network.
    Place {
        /// The folder.
        folder: String,
    },
    /// Providers, where their keys come from, and model servers found on this machine.
    Providers,
    /// MCP and language servers of a folder, and how they are.
    Servers {
        /// The folder.
        folder: String,
    },
    /// The same, once an MCP server is no longer how it is now.
    ServersChanged {
        /// The folder.
        folder: String,
    },
}
