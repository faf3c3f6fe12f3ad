//! A tool as its author writes it.

use std::path::PathBuf;
use std::sync::Arc;

use base::transcript::File;
use base::{Block, Origin};
use guard::{Action, FenceError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::workspace::{ToolCtx, Workspace};

/// A tool: typed input, native `async`. The doc comment of [`Tool::Input`] is what the model is told of the
/// tool, the doc comments of its fields are what it is told of the arguments: both are read on every
/// request, so they are short.
pub trait Tool: Send + Sync + 'static {
    /// Name the model calls; unique in the registry.
    const NAME: &'static str;
    /// Whether calls may run beside each other.
    const EFFECT: Effect;
    /// Typed arguments.
    type Input: DeserializeOwned + JsonSchema + Send + Sync;

    /// One line for a face: what this call does, without the tool's name.
    fn title(&self, input: &Self::Input) -> String;

    /// What the call reads to foresee what it would do: judged before it does.
    fn looks_at(&self, _: &Self::Input, _: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(Vec::new())
    }

    /// Finds out what the call would do, where its arguments alone do not tell. Changes nothing; runs
    /// before [`Tool::actions`], and once [`Tool::looks_at`] is allowed.
    fn foresee(
        &self,
        _input: &Self::Input,
        _workspace: &Arc<Workspace>,
    ) -> impl Future<Output = Result<(), ToolError>> + Send {
        async { Ok(()) }
    }

    /// What the lock must judge before the call runs: everything the call does to the world.
    fn actions(&self, input: &Self::Input, workspace: &Workspace)
    -> Result<Vec<Action>, ToolError>;

    /// What the call would change, for the one who is asked. Changes nothing.
    fn preview(
        &self,
        _input: &Self::Input,
        _ctx: &ToolCtx,
    ) -> impl Future<Output = Option<Block>> + Send {
        async { None }
    }

    /// Runs once.
    fn run(
        &self,
        input: Self::Input,
        ctx: &ToolCtx,
    ) -> impl Future<Output = Result<Output, ToolError>> + Send;
}

/// Whether calls of a tool may run beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing: calls run concurrently, and may start while the model still talks.
    Read,
    /// It works in a context of its own: neighbouring calls run beside each other, once the answer is whole.
    Apart,
    /// It may change something: calls run one after the other, in the model's order.
    Write,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// What the model reads. Tools bound it ([`crate::bound`]); dispatch masks secrets in it.
    pub text: String,
    /// Pictures or documents the model sees.
    pub files: Vec<File>,
    /// One line for a face: what the call did; none keeps the call's title.
    pub title: Option<String>,
    /// What a face shows; none shows the text.
    pub body: Option<Block>,
    /// Where the text came from; feeds the taint rule.
    pub origin: Origin,
}

impl Output {
    /// Text about the workspace.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            files: Vec::new(),
            title: None,
            body: None,
            origin: Origin::Workspace,
        }
    }

    /// The same output from somewhere else.
    #[must_use]
    pub fn from(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// The same output with something for a face.
    #[must_use]
    pub fn with_body(mut self, body: Block) -> Self {
        self.body = Some(body);
        self
    }

    /// The same output under another title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

/// Why a call did not produce a result. The model reads `Display`: it says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The arguments do not fit the tool.
    #[error("bad arguments: {0}")]
    Arguments(String),
    /// A path cannot be used.
    #[error(transparent)]
    Path(#[from] FenceError),
    /// The system refused.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried: `read`, `write`, `list`.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The call cannot do what was asked; the text says why and what to do instead.
    #[error("{0}")]
    Refused(String),
    /// It failed, and what is told of it holds words from elsewhere: they feed the taint rule all the same.
    #[error("{text}")]
    Told {
        /// What the model reads.
        text: String,
        /// Where the words may come from.
        origin: Origin,
        /// What the model sees beside them.
        files: Vec<File>,
    },
    /// The user stopped it, or the turn was replaced.
    #[error("cancelled")]
    Cancelled,
}
