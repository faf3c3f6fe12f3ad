//! `permissions`, `budgets` and `tools`: what may be done, and how much.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use base::protocol::Mode;
use base::secret::Secret;

/// What may be done without asking, and what may not be done at all.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Permissions {
    /// Tools that need no question: `tool` or `tool:action`, as Crush writes them.
    #[schemars(extend("x-trust" = "ignored"))]
    pub allowed_tools: Vec<String>,
    /// Rules for what needs no question, such as `Bash(git log:*)`.
    #[schemars(extend("x-trust" = "ignored"))]
    pub allow: Vec<String>,
    /// Rules for what is always asked.
    #[schemars(extend("x-trust" = "allowed"))]
    pub ask: Vec<String>,
    /// Rules for what is never done.
    #[schemars(extend("x-trust" = "allowed"))]
    pub deny: Vec<String>,
    /// The mode a session starts in. A project may choose `plan`, and others only once trusted;
    /// `bypass` it may never choose. Claude Code's names (`bypassPermissions`, `manual`, `auto`) are read
    /// too.
    #[schemars(extend("x-trust" = "narrowing"))]
    pub default_mode: Mode,
    /// Folders outside the project that count as inside.
    #[schemars(extend("x-trust" = "ignored", "x-expand" = true))]
    pub additional_directories: Vec<String>,
}

/// How much may be spent. What is left out has no limit.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Budgets {
    /// Model calls in one turn.
    pub turn_calls: Option<u32>,
    /// Tokens in one turn, prompts and answers together.
    pub turn_tokens: Option<u64>,
    /// US dollars for one turn.
    pub turn_usd: Option<f64>,
    /// Seconds one turn may take.
    pub turn_seconds: Option<u64>,
    /// Model calls in one session.
    pub session_calls: Option<u32>,
    /// Tokens in one session.
    pub session_tokens: Option<u64>,
    /// US dollars for one session.
    pub session_usd: Option<f64>,
    /// US dollars for one day, all sessions together.
    pub day_usd: Option<f64>,
}

/// Limits of built-in tools.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tools {
    /// The `ls` tool.
    #[schemars(extend("x-trust" = "allowed"))]
    pub ls: Ls,
    /// The `grep` tool.
    #[schemars(extend("x-trust" = "allowed"))]
    pub grep: Grep,
    /// The `glob` tool.
    #[schemars(extend("x-trust" = "allowed"))]
    pub glob: Glob,
    /// The tools that reach the web.
    #[schemars(extend("x-trust" = "ignored"))]
    pub fetch: Fetch,
    /// How `web_search` searches.
    #[schemars(extend("x-trust" = "ignored"))]
    pub search: Search,
    /// Formatters that run over what tools write.
    #[schemars(extend("x-trust" = "ignored"))]
    pub format: Format,
}

/// Formatters that run over what tools write.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Format {
    /// Format each file that a tool has written, where its formatter is installed.
    pub on_save: bool,
    /// Formatters by the end of a file's name: program and arguments. They read the file on their input and
    /// print it formatted; `{file}` is its path. An empty list means none.
    #[schemars(extend("x-merge" = "replace"))]
    pub commands: BTreeMap<String, Vec<String>>,
}

/// Which engine `web_search` asks, and how.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Search {
    /// The engine.
    pub engine: SearchEngine,
    /// The engine's address, where it is not the usual one; a SearXNG has no usual one. Its host is
    /// reached even if it is private.
    #[schemars(extend("x-expand" = true))]
    pub url: Option<String>,
    /// The engine's key; left out, the engine's variable in the environment has it.
    pub api_key: Option<Secret>,
    /// Milliseconds between two searches, at least; up to half as many more by chance.
    pub pause_ms: u64,
}

impl Default for Search {
    fn default() -> Self {
        Self { engine: SearchEngine::Auto, url: None, api_key: None, pause_ms: 1_000 }
    }
}

/// A search engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchEngine {
    /// The first that the environment has a key or address for, else DuckDuckGo.
    #[default]
    Auto,
    /// DuckDuckGo's pages; needs no key.
    DuckDuckGo,
    /// Brave's API; `BRAVE_API_KEY`.
    Brave,
    /// A SearXNG of your own; `SEARXNG_URL`.
    Searxng,
    /// Tavily's API; `TAVILY_API_KEY`.
    Tavily,
    /// Exa's API; `EXA_API_KEY`.
    Exa,
}

/// What `fetch`, `download` and `sourcegraph` may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Fetch {
    /// Hosts besides those on the public internet: `host`, `host:port`, `*.domain`, `10.0.0.0/8`, or
    /// `private` for all private networks and this machine.
    pub allow_private: Vec<String>,
}

/// Limits of `ls`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Ls {
    /// How many folders deep it lists; left out, the tool decides.
    pub max_depth: Option<u32>,
    /// How many names it lists; left out, the tool decides.
    pub max_items: Option<u32>,
}

/// Limits of `grep`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Grep {
    /// Milliseconds one search may take.
    pub timeout_ms: u64,
}

impl Default for Grep {
    fn default() -> Self {
        Self { timeout_ms: 5_000 }
    }
}

/// Limits of `glob`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Glob {
    /// Milliseconds one search may take.
    pub timeout_ms: u64,
}

impl Default for Glob {
    fn default() -> Self {
        Self { timeout_ms: 30_000 }
    }
}
