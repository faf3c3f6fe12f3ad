//! `hooks`: what runs at an event, as settings and definition files write it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The events a hook may wait for, by the names Claude Code gives them.
pub const HOOK_EVENTS: [&str; 12] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "Notification",
    "PreCompact",
];

/// A program that runs, or an address that is told, at an event. It needs `command` or `url`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in the settings")]
pub struct Hook {
    /// The shell command. The shell expands its variables, not Caiman.
    pub command: String,
    /// Arguments of the program `command` names, which is then started without a shell.
    #[schemars(extend("x-merge" = "replace"))]
    pub args: Option<Vec<String>>,
    /// The address that the event is posted to, as JSON, in place of a command.
    pub url: Option<String>,
    /// HTTP headers to send. `$NAME` and `${NAME}` stand for the variables in `allowed_env_vars`.
    pub headers: BTreeMap<String, String>,
    /// Variables that headers may hold.
    #[serde(alias = "allowedEnvVars")]
    pub allowed_env_vars: Vec<String>,
    /// Name to show.
    pub name: Option<String>,
    /// What it applies to: names (`Edit|Write`), a regular expression (`mcp__.*`), or `*`; everything if
    /// left out.
    pub matcher: Option<String>,
    /// A permission rule, such as `Bash(git push:*)`: of tool calls, it runs only for those the rule is about.
    #[serde(rename = "if")]
    pub condition: Option<String>,
    /// Seconds it may take, also parts of one; default 600, for a prompt 30.
    #[serde(rename = "timeout")]
    pub timeout_s: Option<f64>,
    /// The shell that runs `command`; `bash` where there is one and else `sh`, if left out.
    pub shell: Option<HookShell>,
    /// Run it in the background: nobody waits for it, and it decides nothing.
    #[serde(rename = "async")]
    pub background: bool,
    /// The same; and should it say no, the model hears why with the next prompt.
    #[serde(alias = "asyncRewake")]
    pub async_rewake: bool,
    /// What to show while it runs.
    #[serde(alias = "statusMessage")]
    pub status_message: Option<String>,
    /// Run it once a session at the most.
    pub once: bool,
    /// Start the command in the sandbox: it writes the workspace and temporary folders only, sees no secrets and has no
    /// network.
    pub sandbox: bool,
    /// What its failure means.
    pub fail: HookFailure,
}

impl Hook {
    /// Whether nobody waits for it.
    pub fn is_background(&self) -> bool {
        self.background || self.async_rewake
    }
}

/// A shell for the command of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HookShell {
    /// Bash.
    Bash,
    /// `PowerShell`, as `pwsh`.
    Powershell,
}

/// What it means when a hook fails: it cannot be run, takes too long, or says nothing that makes sense.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HookFailure {
    /// No decision: things go on as if there were no hook.
    #[default]
    Open,
    /// A no: what the hook would have judged does not happen.
    Closed,
}
