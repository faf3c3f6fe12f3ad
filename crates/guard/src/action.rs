//! What a call would do to the world, in the words the lock judges.

use url::Url;

use crate::fence::Spot;

/// One thing a call would do. A call may do several; all must be allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Looks at a file or folder.
    Read(Spot),
    /// Makes, changes or deletes a file.
    Edit(Spot),
    /// Runs a shell command.
    Run {
        /// The command line, as the shell will see it.
        command: String,
        /// Where it runs.
        folder: Spot,
        /// Whether it asks to run outside the cage (with the network, anywhere on disk).
        uncaged: bool,
    },
    /// Reaches an address on the network.
    Fetch(Url),
    /// Uses something by its name: an agent, a skill.
    Named(String),
    /// Touches nothing but the session itself: a todo list, a question, a running job's output.
    Inner,
}

/// Whether content that nobody vouches for (a page, an MCP server, a stranger's message) is in the context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Taint {
    /// Nothing of the kind.
    #[default]
    Clean,
    /// There is, and this is where it came from.
    From(String),
}
