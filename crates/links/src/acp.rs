//! Agent Client Protocol: an editor talks to us over a pair of byte streams.
//!
//! Like every face this one speaks through [`base::Client`] alone. Each folder an editor works in has a mind of its
//! own, so that its settings, its trust and its servers hold there.
//!
//! Of the protocol's crates only the schema is used: all its types and names are from there. Talking is done by
//! [`crate::rpc`], as with language servers: the connection of the protocol's own crate reads lines and keeps what waits
//! to be written without a bound, and does not tell when an answer is on its way, which is when a new session may be told of.
//!
//! | module | does |
//! |---|---|
//! | [`methods`] | what an editor may ask, one function a method |
//! | [`sessions`], [`list`] | sessions that are open in the editor; those that could be |
//! | [`prompt`], [`said`], [`turns`] | a prompt: its parts, its turn, its answer |
//! | [`hear`], [`tell`], [`call`], [`past`] | events and entries as updates |
//! | [`ask`], [`form`] | permission, and questions of the model |
//! | [`session_options`], [`servers`] | modes, models, effort; MCP servers of the editor |
//! | [`outbox`] | what is still to be told, in order |
//! | [`editor`], [`terminal`] | files as the editor has them; commands in its terminals |

mod ask;
mod call;
mod editor;
mod form;
mod hear;
mod list;
mod methods;
mod outbox;
mod past;
mod prompt;
mod said;
mod servers;
mod session_options;
mod sessions;
mod tell;
mod terminal;
mod turns;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use agent_client_protocol_schema::v1::ClientCapabilities;
use base::{Client, SessionId, TaskScope};
use serde_json::json;
use settings::McpServer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::SetOnce;

use crate::rpc::{Dialect, Fault, Framing, Peer};
use outbox::Outbox;
use sessions::Seat;

pub use editor::{Editor, Written};
pub use terminal::{End, Errand, Ran};

/// How editors use JSON-RPC. A prompt is a request that lasts as long as its turn: so many sessions may work at once.
const DIALECT: Dialect = Dialect {
    framing: Framing::OnlyLines,
    cancel: |id| ("$/cancel_request", json!({ "requestId": id })),
    at_work: 1024,
};
/// How long a person may think about a question.
const PERSON: Duration = Duration::from_hours(7 * 24);

/// Where a mind works.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ground {
    /// The folder whose settings and trust hold.
    pub folder: PathBuf,
    /// Other folders of the workspace.
    pub others: Vec<PathBuf>,
}

impl From<&Path> for Ground {
    fn from(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), others: Vec::new() }
    }
}

/// Opens the mind that works somewhere; the text of a failure is for the user.
pub type Open = Arc<dyn Fn(&Ground) -> Result<Arc<dyn Client>, String> + Send + Sync>;

/// Makes an MCP server of the editor's known to the mind that works somewhere.
pub type Lend = Arc<dyn Fn(&Ground, &str, &McpServer) + Send + Sync>;

/// What the rooms above lend.
#[derive(Clone)]
pub struct Outside {
    /// Opens minds.
    pub open: Open,
    /// Takes MCP servers of the editor.
    pub lend: Lend,
    /// The folder we were started in.
    pub folder: PathBuf,
    /// Our version.
    pub version: &'static str,
}

/// The agent, as an editor sees it. A clone is the same.
#[derive(Clone)]
pub struct Agent(Arc<Shared>);

struct Shared {
    outside: Outside,
    scope: TaskScope,
    peer: SetOnce<Peer>,
    /// What the editor can do, once it has told.
    editor: OnceLock<ClientCapabilities>,
    files: editor::Files,
    outbox: Outbox,
    rooms: Mutex<Rooms>,
}

/// Minds and sessions.
#[derive(Default)]
struct Rooms {
    doors: HashMap<Ground, Arc<dyn Client>>,
    seats: HashMap<SessionId, Seat>,
    /// Sub-agents, by their sessions.
    kin: HashMap<SessionId, Kin>,
    /// What was told before there was a session to tell it in.
    notices: Vec<String>,
}

/// Whose sub-agent a session is.
#[derive(Debug, Clone)]
struct Kin {
    root: SessionId,
    agent: String,
}

impl Agent {
    /// Talks to nobody yet; all that is begun ends with `scope`.
    pub fn new(outside: Outside, scope: &TaskScope) -> Self {
        Self(Arc::new(Shared {
            outside,
            scope: scope.clone(),
            peer: SetOnce::new(),
            editor: OnceLock::new(),
            files: editor::Files::default(),
            outbox: Outbox::default(),
            rooms: Mutex::default(),
        }))
    }

    /// Serves an editor until it closes its end; tells why that is over. Turns still run then: whoever has opened
    /// their minds closes them.
    pub async fn serve(
        &self,
        output: impl AsyncWrite + Unpin + Send + 'static,
        input: impl AsyncRead + Unpin + Send + 'static,
    ) -> String {
        let handler = Arc::new(methods::Methods(self.0.clone()));
        let peer = Peer::start(DIALECT, (output, input), handler, &self.0.scope);
        // Served once: a second editor would be told of the first one's sessions.
        self.0.peer.set(peer.clone()).ok();
        tokio::select! {
            () = self.0.outbox.empty(&peer) => {}
            () = peer.closed() => {}
        }
        peer.why()
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("folder", &self.0.outside.folder).finish_non_exhaustive()
    }
}

impl Shared {
    fn rooms(&self) -> MutexGuard<'_, Rooms> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mind that works somewhere, opened if need be.
    fn door(self: &Arc<Self>, ground: &Ground) -> Result<Arc<dyn Client>, Fault> {
        if let Some(door) = self.rooms().doors.get(ground) {
            return Ok(door.clone());
        }
        let door = (self.outside.open)(ground).map_err(failed)?;
        let mut rooms = self.rooms();
        if let Some(first) = rooms.doors.get(ground) {
            return Ok(first.clone());
        }
        rooms.doors.insert(ground.clone(), door.clone());
        drop(rooms);
        self.scope.spawn(hear::follow(self.clone(), door.clone()));
        Ok(door)
    }
}

/// Something went wrong that the editor could not know.
fn failed(message: impl Into<String>) -> Fault {
    Fault { code: -32603, message: message.into() }
}

/// The editor sent what cannot be used.
fn invalid(message: impl Into<String>) -> Fault {
    Fault { code: -32602, message: message.into() }
}

/// There is no key for any model.
fn no_model() -> Fault {
    let message = "there is no model to use yet: run `caiman login` in a terminal, or set a provider's \
                   key in the environment of your editor (ANTHROPIC_API_KEY, OPENAI_API_KEY, …)";
    Fault { code: -32000, message: message.to_owned() }
}

#[cfg(test)]
mod tests;
