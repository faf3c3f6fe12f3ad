//! `options`: everything about how Caiman behaves that is not about models, servers or permissions.

use base::interface::{Notifications, Tui};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How Caiman behaves.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in the file")]
pub struct Options {
    /// Instruction files and folders to read besides the usual ones. `~` is the home folder.
    #[schemars(extend("x-trust" = "inside", "x-expand" = true))]
    pub context_paths: Vec<String>,
    /// Instruction files for every project, read before the project's own.
    #[schemars(extend("x-trust" = "inside", "x-expand" = true))]
    pub global_context_paths: Vec<String>,
    /// Folders with skills besides the usual ones. `~` is the home folder.
    #[schemars(extend("x-trust" = "inside", "x-expand" = true))]
    pub skills_paths: Vec<String>,
    /// Skills to leave out, by name.
    #[schemars(extend("x-trust" = "allowed"))]
    pub disabled_skills: Vec<String>,
    /// Plugin folders besides the usual ones. `~` is the home folder.
    #[schemars(extend("x-trust" = "ignored", "x-expand" = true))]
    pub plugin_paths: Vec<String>,
    /// How answers are given: the name of an output style. It holds for new sessions.
    #[schemars(extend("x-trust" = "allowed"))]
    pub output_style: Option<String>,
    /// Tools to leave out, by name.
    #[schemars(extend("x-trust" = "allowed"))]
    pub disabled_tools: Vec<String>,
    /// Tokens that the schemas of MCP tools may take in every request; tools of servers beyond that are listed
    /// by name and called through `use_tool`.
    #[schemars(extend("x-trust" = "allowed"))]
    pub mcp_schema_tokens: u64,
    /// The terminal interface.
    #[schemars(extend("x-trust" = "allowed"))]
    pub tui: Tui,
    /// Write details to the log, each HTTP exchange with models and web pages among them; `caiman doctor` says where
    /// the log is.
    #[schemars(extend("x-trust" = "allowed"))]
    pub debug: bool,
    /// Write to the log what language servers say.
    #[schemars(extend("x-trust" = "allowed"))]
    pub debug_lsp: bool,
    /// Do not summarise a session when its context window is nearly full.
    #[schemars(extend("x-trust" = "allowed"))]
    pub disable_auto_summarize: bool,
    /// Run no hooks, whoever's they are.
    #[schemars(extend("x-trust" = "ignored"))]
    pub disable_hooks: bool,
    /// Use only the providers named in settings, none of the catalogue.
    #[schemars(extend("x-trust" = "narrowing"))]
    pub disable_default_providers: bool,
    /// How commits and pull requests name Caiman.
    #[schemars(extend("x-trust" = "allowed"))]
    pub attribution: Attribution,
    /// The file that project initialisation writes.
    #[schemars(extend("x-trust" = "inside"))]
    pub initialize_as: String,
    /// Start language servers that fit the project without being asked.
    #[schemars(extend("x-trust" = "ignored"))]
    pub auto_lsp: bool,
    /// Show progress in the terminal's title or task bar.
    #[schemars(extend("x-trust" = "allowed"))]
    pub progress: bool,
    /// How to tell that a turn has ended or an answer is needed.
    #[schemars(extend("x-trust" = "allowed"))]
    pub notifications: Notifications,
    /// Seconds after a turn until hooks are told that you are waited for, by `Notification` with `idle_prompt`.
    pub idle_prompt_s: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            context_paths: Vec::new(),
            global_context_paths: Vec::new(),
            skills_paths: Vec::new(),
            disabled_skills: Vec::new(),
            plugin_paths: Vec::new(),
            output_style: None,
            disabled_tools: Vec::new(),
            mcp_schema_tokens: 2_000,
            tui: Tui::default(),
            debug: false,
            debug_lsp: false,
            disable_auto_summarize: false,
            disable_hooks: false,
            disable_default_providers: false,
            attribution: Attribution::default(),
            initialize_as: "AGENTS.md".to_owned(),
            auto_lsp: true,
            progress: true,
            notifications: Notifications::default(),
            idle_prompt_s: 60,
        }
    }
}

/// How commits and pull requests name Caiman.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Attribution {
    /// The trailer of a commit message.
    pub trailer_style: TrailerStyle,
    /// Add a line that names Caiman to commits and pull requests.
    pub generated_with: bool,
}

impl Default for Attribution {
    fn default() -> Self {
        Self { trailer_style: TrailerStyle::default(), generated_with: true }
    }
}

/// The trailer of a commit message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrailerStyle {
    /// `Assisted-by:` with the model's name.
    #[default]
    AssistedBy,
    /// `Co-authored-by:` with Caiman's name.
    CoAuthoredBy,
    /// No trailer.
    None,
}
