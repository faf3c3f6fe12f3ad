//! Settings, definition files and folder trust: everything Caiman reads that people write.
//!
//! | module | holds |
//! |---|---|
//! | `config` | typed settings, their layers, schema and reference docs |
//! | [`definition`] | definition files: agents, skills, commands, styles, plugins |
//! | [`trust`] | which projects may run what their files say |
//! | [`front_matter`] | YAML between two `---` lines, and the body below |
//! | [`jsonc`] | JSON with comments |
//!
//! Nothing here uses the network or starts a program; a `$(command)` in a setting runs through
//! [`base::RunCommand`], which the caller provides.

mod config;
pub mod definition;
pub mod front_matter;
pub mod jsonc;
pub mod trust;

pub use config::{
    AgentSettings, Agents, Attribution, Bans, Budgets, Config, ExpandError, Expander, Fetch,
    FileState, Format, Glob, Grep, HOOK_EVENTS, Hook, HookFailure, HookShell, Leaf, Loaded, Ls,
    LspServer, McpServer, McpTransport, Models, Network, Options, Origin, Origins, Permissions,
    Problem, Provider, ReadFile, Search, SearchEngine, SelectedModel, Severity, Sources, Template,
    Tools, TrailerStyle, TrustSource, Withheld, adopted_server, load, nearest, parse_text,
    printable, project_folders, reference, schema,
};
pub use config::{expand, mask, provider};
