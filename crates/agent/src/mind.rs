//! What all sessions of a process share, and what a session is run with.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::protocol::{Mode, ModelChoice};
use base::{Clock, Env, ModelRef, Paths};
use guard::Cage;
use guard::git::Git;
use guard::policy::Bound;
use guard::{Redactor, Rules};
use links::acp::Editor;
use links::{Lsp, Mcp};
use llm::{Caller, Reasoning, Target};
use settings::Config;
use settings::definition::Shelf;
use settings::provider::Sampling;
use settings::trust::FolderTrust;
use store::Store;
use tools::Registry;

use crate::budget::Budget;

/// Finds out how to reach a model; the text of a failure is for the user.
pub type Resolve = Arc<dyn Fn(&ModelRef) -> Result<Target, String> + Send + Sync>;

/// Lists models whose id or name holds some words. May read files.
pub type Models = Arc<dyn Fn(Option<&str>) -> Vec<ModelChoice> + Send + Sync>;

/// What all sessions of a process share: memory, voice, hands, clock.
#[derive(Clone)]
pub struct Mind {
    /// Where sessions are kept.
    pub store: Store,
    /// How models are called.
    pub caller: Caller,
    /// The time.
    pub clock: Clock,
    /// The environment child processes are given.
    pub env: Env,
    /// The user's folders.
    pub paths: Paths,
    /// The settings.
    pub config: Arc<Config>,
    /// The tools there are.
    pub registry: Registry,
    /// Agents, skills and commands of definition files.
    pub shelf: Shelf,
    /// Language servers; all sessions share them.
    pub lsp: Lsp,
    /// MCP servers; all sessions share them.
    pub mcp: Mcp,
    /// The editor we work in, if we do.
    pub editor: Option<Arc<dyn Editor>>,
    /// Masks secrets.
    pub redactor: Redactor,
    /// How to reach another model.
    pub resolve: Resolve,
    /// The models there are.
    pub models: Models,
    /// Whether somebody can be asked.
    pub presence: Presence,
}

impl Mind {
    /// Whether the user trusts the project of a folder. Reads files.
    pub(crate) fn trust_of(&self, folder: &Path) -> FolderTrust {
        FolderTrust::of(&self.paths.trust(), folder)
    }

    /// What runs git for the project of a folder. Reads files, and the first time starts a process to try the sandbox.
    pub(crate) fn git(&self, folder: &Path) -> Git {
        Git {
            env: self.env.clone(),
            home: self.paths.home().to_owned(),
            temp: self.env.temporary(),
            sandbox: Cage::probe().state(),
            trust: self.trust_of(folder),
        }
    }
}

impl fmt::Debug for Mind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mind").field("store", &self.store).finish_non_exhaustive()
    }
}

/// Whether somebody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// A person sits at the interface, in one session at a time.
    Attended,
    /// Somebody can be asked by way of another program (an editor, a client, a host), which may have many sessions.
    Reachable,
    /// Nobody does: what would be asked is denied.
    Alone,
}

/// What a session is run with, until a face says otherwise.
#[derive(Debug, Clone)]
pub struct Options {
    /// The agent new sessions run as; none for ours.
    pub agent: Option<String>,
    /// The model.
    pub target: Target,
    /// For which sessions it is meant.
    pub meant: Meant,
    /// The model for titles; none leaves the prompt's first words as the title.
    pub small: Option<Target>,
    /// How hard it should think.
    pub reasoning: Reasoning,
    /// Most tokens of one answer; none for the model's own limit.
    pub max_tokens: Option<u64>,
    /// Sampling settings; they lie over the model's.
    pub sampling: Sampling,
    /// How questions are answered when no rule decides.
    pub mode: Mode,
    /// What may be done; the user's stored answers are added.
    pub rules: Rules,
    /// How much may be spent.
    pub budget: Budget,
    /// Folders outside the workspace that count as inside.
    pub more_folders: Vec<PathBuf>,
    /// Whether the model gets tools.
    pub tools: Tools,
    /// The MCP servers, by name; none for those of settings and plugins.
    pub servers: Option<Vec<String>>,
    /// What an agent may use tools for.
    pub bounds: Vec<Bound>,
    /// What replaces the system prompt; none keeps ours.
    pub system_prompt: Option<String>,
    /// What is added to the system prompt.
    pub append_prompt: Option<String>,
    /// The output style; none for the settings' own.
    pub output_style: Option<String>,
}

/// For which sessions a model is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// For new ones: one that is reopened goes on with the model that answered last, an agent has its own.
    New,
    /// For all: the user named it for this process.
    All,
}

/// Which tools a model gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tools {
    /// All that suit the model.
    All,
    /// Only these, by name; in a name `*` stands for anything.
    Only(Vec<String>),
    /// Those of another choice but these, by name.
    But(Box<Tools>, Vec<String>),
    /// None: it can only talk.
    None,
}
