//! Custom agents: Markdown with a YAML header, as Claude Code reads them.

mod color;
mod read;

use serde_json::{Map, Value};

pub use read::{read, read_json};

use super::{Home, Hooks};
use base::model::Effort;
use base::protocol::Mode;

/// A custom agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Its name: what the model and the user call it by; `plugin:name` for a plugin's.
    pub name: String,
    /// When to delegate to it.
    pub description: String,
    /// Its system prompt: the file's body.
    pub prompt: String,
    /// Its tools, as written (`Read`, `Bash(git:*)`, `mcp__server__*`, `Agent(a,b)`); none for all its parent has.
    pub tools: Option<Vec<String>>,
    /// Tools taken from it, as written.
    pub disallowed_tools: Vec<String>,
    /// Its model, as written: `inherit`, `small`, `sonnet`, `provider/model`; none for its parent's.
    pub model: Option<String>,
    /// How its questions are answered; never wider than its parent's.
    pub mode: Option<Mode>,
    /// Most model calls of one task.
    pub max_turns: Option<u64>,
    /// Skills whose text its prompt begins with.
    pub skills: Vec<String>,
    /// MCP servers, by name or defined inline.
    pub mcp_servers: Vec<Value>,
    /// Hooks that hold while it runs.
    pub hooks: Hooks,
    /// Where it keeps notes between tasks.
    pub memory: Option<Memory>,
    /// Whether it runs in the background unless told otherwise.
    pub background: bool,
    /// How hard it thinks.
    pub effort: Option<Effort>,
    /// Whether it works in a copy of the repository.
    pub isolation: Isolation,
    /// Its colour in a face: a name, or `#rrggbb`.
    pub color: Option<String>,
    /// What is said for the user when it is the main agent and nothing else is said.
    pub initial_prompt: Option<String>,
    /// Fields we know nothing of, as written.
    pub more: Map<String, Value>,
    /// Where it comes from.
    pub home: Home,
}

/// Where an agent keeps notes between tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// In the user's folder, for all projects.
    User,
    /// In the project, for everybody.
    Project,
    /// In the project, for this user only.
    Local,
}

/// Whether an agent works in a copy of the repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Isolation {
    /// It works where its parent does.
    #[default]
    None,
    /// It works in a git worktree of its own.
    Worktree,
}

#[cfg(test)]
mod tests;
