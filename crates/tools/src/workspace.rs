//! What all tools of a session share, and what one call is given.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

pub use base::protocol::Question;
use base::{Block, CallId, Clock, Effort, Env, Origin, SessionId};
use futures::future::BoxFuture;
use guard::{Cage, Fence, Policy, Redactor, Rule};
use links::acp::Editor;
use settings::definition::Skill;
use settings::definition::agent::Isolation;
use store::Store;
use tokio_util::sync::CancellationToken;

use crate::code::Code;
use crate::jobs::Jobs;
use crate::mcp::Lending;
use crate::tool::{Output, ToolError};
use crate::web::Web;

/// What all tools of a session share.
pub struct Workspace {
    /// The session.
    pub session: SessionId,
    /// Its folders; every path goes through it.
    pub fence: Fence,
    /// The environment of its processes.
    pub env: Env,
    /// What was added to it for commands since the session began.
    pub exported: Exported,
    /// Where it is remembered what was read of a file.
    pub store: Store,
    /// The time.
    pub clock: Clock,
    /// Processes the session has started.
    pub jobs: Jobs,
    /// Limits from the settings.
    pub limits: settings::Tools,
    /// Where output goes that is too long for the model. Made when first needed.
    pub spill: PathBuf,
    /// The user's cache folder.
    pub cache: PathBuf,
    /// How its tools reach the web.
    pub web: Web,
    /// Whether the model can look at pictures.
    pub sees_images: bool,
    /// Whether the model can listen.
    pub hears_sound: bool,
    /// Whom a tool can ask something.
    pub desk: Arc<dyn Desk>,
    /// Who works on a task apart.
    pub spawner: Arc<dyn Spawner>,
    /// The skills there are.
    pub skills: Arc<dyn Skills>,
    /// What language servers know of it.
    pub code: Code,
    /// The editor we work in, if we do.
    pub editor: Option<Arc<dyn Editor>>,
    /// What MCP servers lend it.
    pub mcp: Lending,
    /// Masks secrets.
    pub redactor: Redactor,
}

impl Workspace {
    /// The environment of a command that starts now.
    pub fn command_env(&self) -> Env {
        self.env.with(self.exported.all())
    }
}

/// Variables that commands of a session get from now on. Clones share them: a session and its sub-agents.
#[derive(Clone, Default)]
pub struct Exported(Arc<RwLock<BTreeMap<String, String>>>);

impl Exported {
    /// Adds variables; one that is there already is replaced.
    pub fn add(&self, more: impl IntoIterator<Item = (String, String)>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).extend(more);
    }

    /// All of them.
    pub fn all(&self) -> BTreeMap<String, String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What one call is given.
pub struct ToolCtx {
    /// What all tools of the session share.
    pub workspace: Arc<Workspace>,
    /// The call.
    pub call: CallId,
    /// What judged it: a tool that comes upon other files than it named shows only what this lets it read.
    pub policy: Arc<Policy>,
    /// What processes of this call may do; none for anything.
    pub cage: Option<Arc<Cage>>,
    /// Ends the call: at its next await, and within 100 ms.
    pub cancel: CancellationToken,
    /// Where the call shows how far it is.
    pub progress: Progress,
}

/// Shows a block in place of what the call showed before. Cheap; a face that lags loses the older one.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(Block) + Send + Sync>);

impl Progress {
    /// Hands each block to `show`.
    pub fn new(show: impl Fn(Block) + Send + Sync + 'static) -> Self {
        Self(Arc::new(show))
    }

    /// Shows nothing.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    /// Shows a block.
    pub fn show(&self, block: Block) {
        (self.0)(block);
    }
}

/// Whom a tool can ask something: the person at a face, if there is one.
pub trait Desk: Send + Sync {
    /// Asks, and waits for the answers: one text a question.
    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'_, Result<Vec<String>, DeskError>>;
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DeskError {
    /// Nobody is there to answer.
    #[error("nobody is here to answer; decide yourself and say what you assumed")]
    Nobody,
    /// The user declined to answer.
    #[error("the user did not want to answer")]
    Declined,
}

/// Starts sub-agents. The mind implements it: a tool cannot know that minds exist.
pub trait Spawner: Send + Sync {
    /// Where an agent works by its own definition. May read files.
    fn isolation(&self, _who: &Who) -> Isolation {
        Isolation::None
    }

    /// Has a task worked on in a context of its own, and waits for what comes of it; for one that runs in
    /// the background, only until it has begun.
    fn spawn<'a>(
        &'a self,
        order: Order,
        ctx: &'a ToolCtx,
    ) -> BoxFuture<'a, Result<Report, ToolError>>;
}

/// A task for a sub-agent.
#[derive(Debug, Clone)]
pub struct Order {
    /// Who works on it.
    pub who: Who,
    /// What to do: all the sub-agent knows of it.
    pub prompt: String,
    /// What to do, in a few words, for the user.
    pub title: String,
    /// Another model than the agent's own.
    pub model: Option<String>,
    /// Whether the caller goes on meanwhile; none leaves it to the agent's definition.
    pub background: Option<bool>,
    /// Whether it works in a copy of the repository, whatever its definition says.
    pub isolation: Isolation,
    /// A finished sub-agent that takes the prompt as its next, instead of a new one.
    pub resume: Option<String>,
    /// What the skill that the task is for adds to it.
    pub terms: Terms,
}

/// What a skill adds to the task of the sub-agent that works on it.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// What the sub-agent may not do, besides what its caller may not.
    pub deny: Vec<Rule>,
    /// How hard it thinks, instead of what its definition says.
    pub effort: Option<Effort>,
    /// The skill, whose hooks run while it works.
    pub skill: Option<Arc<Skill>>,
}

/// Who works on a task.
#[derive(Debug, Clone)]
pub enum Who {
    /// The built-in agent that looks around and changes nothing.
    Explorer,
    /// An agent by name.
    Named(String),
    /// The built-in agent that reads the web, locked into this folder.
    Researcher {
        /// The real folder behind its `/home/agent`.
        room: PathBuf,
        /// How it reaches the web; remembers the pages of this errand.
        web: Web,
    },
}

/// What came of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The sub-agent's session.
    pub session: SessionId,
    /// The agent's name.
    pub agent: String,
    /// Its last words; empty for one that runs in the background.
    pub text: String,
    /// Where its words may come from, besides the model: feeds the taint rule.
    pub origin: Origin,
}

/// The skills of a session, for the tool that reads one. The mind implements it.
pub trait Skills: Send + Sync {
    /// A skill's text with its arguments put in; of a forked one, what came of it.
    fn read<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
        ctx: &'a ToolCtx,
    ) -> BoxFuture<'a, Result<Output, ToolError>>;
}

/// No sub-agents and no skills, for a session that has neither.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Spawner for Nothing {
    fn spawn<'a>(&'a self, _: Order, _: &'a ToolCtx) -> BoxFuture<'a, Result<Report, ToolError>> {
        let text = "There are no sub-agents here; do it yourself.";
        Box::pin(async move { Err(ToolError::Refused(text.to_owned())) })
    }
}

impl Skills for Nothing {
    fn read<'a>(
        &'a self,
        name: &'a str,
        _: &'a str,
        _: &'a ToolCtx,
    ) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async move { Err(ToolError::Refused(format!("There is no skill `{name}`."))) })
    }
}
