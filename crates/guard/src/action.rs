//! What a call would do to the world, in the words the lock judges.

use url::Url;

use crate::cage::Reach;
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
    /// Starts the web researcher, which opens pages of its own choice on any host. The address is the first one.
    Browse(Url),
    /// Types into a process that is already running.
    Type(JobText),
    /// Uses something by its name: an agent, a skill.
    Named(String),
    /// Touches nothing but the session itself: a todo list, a question, a running job's output.
    Inner,
}

/// Text for a running job, with what is needed to judge it as a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobText {
    /// The command line that started the job.
    pub command: String,
    /// Where the job was started.
    pub folder: Spot,
    /// The reach the job was started with. Typed text runs with it, whatever the rules say by now.
    pub reach: Reach,
    /// Whether the job reads from a terminal, where control characters edit the line.
    pub terminal: bool,
    /// Everything typed into the job before: a command may be typed in several pieces.
    pub before: String,
    /// The text that is typed now, with the Enter key as a newline.
    pub text: String,
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
