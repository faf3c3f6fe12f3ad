//! Settings: typed sections, layered files, one definition for parser, schema, defaults and docs.
//!
//! [`Config`] and the sections below it are that definition: their doc comments are the manual
//! ([`reference`]), their derived schema ([`schema`]) checks each file before serde reads it.
//!
//! A file walks through these modules, in this order:
//!
//! | module | does |
//! |---|---|
//! | `layers` | knows which files there are and whose they are |
//! | `claude_state` | the little of Claude Code's state that is a setting |
//! | `tree` | text to a tree in which each value knows its line |
//! | `compat` | puts other programs' words and earlier names into ours |
//! | `check` | drops what does not fit or may not be set, and says so |
//! | `merge` | lays a file over the files before it |
//! | `bans` | switches off servers that Claude Code's settings forbid |
//! | `complete` | drops merged entries that lack what they cannot do without |
//! | `load` | runs all of that and makes a [`Config`]; nothing in a file can make it fail |
//! | [`expand`] | `$VAR` and `$(command)`, when a value is used |
//! | [`mask`] | what may be shown of a value |

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

mod bans;
mod check;
mod claude_state;
mod compat;
mod complete;
pub mod expand;
mod hooks;
mod layers;
mod load;
pub mod mask;
mod merge;
mod models;
mod options;
mod origins;
mod problem;
pub mod provider;
mod reference;
mod rules;
mod servers;
mod shape;
mod suggest;
mod template;
mod tree;

pub use bans::Bans;
pub use expand::{ExpandError, Expander};
pub use hooks::{HOOK_EVENTS, Hook, HookFailure, HookShell};
pub(crate) use layers::PROJECT_FILES;
pub use layers::project_folders;
pub use load::{
    FileState, Loaded, ReadFile, Sources, TrustSource, Withheld, adopted_server, load, parse_text,
};
pub use models::{AgentSettings, Agents, Models, SelectedModel};
pub use options::{Attribution, Options, TrailerStyle};
pub use origins::{Leaf, Origin, Origins};
pub use problem::{Problem, Severity, printable};
pub use provider::{Network, Provider};
pub use reference::reference;
pub use rules::{Budgets, Fetch, Format, Glob, Grep, Ls, Permissions, Search, SearchEngine, Tools};
pub use servers::{LspServer, McpServer, McpTransport};
pub use shape::schema;
pub use suggest::nearest;
pub use template::Template;

/// Settings of Caiman.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// The JSON Schema of this file, for editors.
    #[serde(rename = "$schema")]
    #[schemars(extend("x-trust" = "allowed"))]
    pub schema: Option<String>,
    /// The models in use.
    #[schemars(extend("x-trust" = "allowed"))]
    pub models: Models,
    /// Providers of models, by id: your own, or changes to those of the catalogue.
    #[schemars(extend("x-trust" = "partly"))]
    pub providers: BTreeMap<String, Provider>,
    /// Timeouts, proxy and certificates for all providers.
    #[schemars(extend("x-trust" = "partly"))]
    pub network: Network,
    /// MCP servers, by name.
    pub mcp: BTreeMap<String, McpServer>,
    /// Language servers, by name.
    pub lsp: BTreeMap<String, LspServer>,
    /// How Caiman behaves.
    #[schemars(extend("x-trust" = "partly"))]
    pub options: Options,
    /// What may be done without asking, and what not at all.
    #[schemars(extend("x-trust" = "partly"))]
    pub permissions: Permissions,
    /// Limits of built-in tools.
    #[schemars(extend("x-trust" = "partly"))]
    pub tools: Tools,
    /// What runs at an event, by the event's name.
    #[schemars(extend("propertyNames" = serde_json::json!({ "enum": HOOK_EVENTS })))]
    pub hooks: BTreeMap<String, Vec<Hook>>,
    /// Environment variables for tools, hooks and servers, and for the look-up of keys.
    pub env: BTreeMap<String, Template>,
    /// Custom agents and sub-agents: their models and limits, and each agent by its name.
    #[schemars(extend("x-trust" = "allowed"))]
    pub agents: Agents,
    /// How much may be spent.
    pub budgets: Budgets,
    /// Servers that must not be used, wherever they are named.
    #[serde(skip)]
    #[schemars(skip)]
    pub bans: Bans,
}
