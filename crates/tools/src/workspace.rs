//! What all tools of a session share, and what one call is given.

use std::path::PathBuf;
use std::sync::Arc;

pub use base::protocol::Question;
use base::{Block, CallId, Clock, Env, SessionId};
use futures::future::BoxFuture;
use guard::{Cage, Fence, Redactor};
use store::Store;
use tokio_util::sync::CancellationToken;

use crate::jobs::Jobs;
use crate::web::Web;

/// What all tools of a session share.
pub struct Workspace {
    /// The session.
    pub session: SessionId,
    /// Its folders; every path goes through it.
    pub fence: Fence,
    /// The environment of its processes.
    pub env: Env,
    /// Where it is remembered what was read of a file.
    pub store: Store,
    /// The time.
    pub clock: Clock,
    /// Processes the session has started.
    pub jobs: Jobs,
    /// Limits from the settings.
    pub limits: base::config::Tools,
    /// Where output goes that is too long for the model. Made when first needed.
    pub spill: PathBuf,
    /// The user's cache folder.
    pub cache: PathBuf,
    /// How its tools reach the web.
    pub web: Web,
    /// Whether the model can look at pictures.
    pub sees_images: bool,
    /// Whom a tool can ask something.
    pub desk: Arc<dyn Desk>,
    /// Masks secrets.
    pub redactor: Redactor,
}

/// What one call is given.
pub struct ToolCtx {
    /// What all tools of the session share.
    pub workspace: Arc<Workspace>,
    /// The call.
    pub call: CallId,
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
