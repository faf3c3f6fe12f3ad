//! Model Context Protocol: servers that lend us tools, prompts and resources.
//!
//! One [`Mcp`] serves all sessions of a process. Nobody who asks for a [`Menu`] waits: it is what the server told,
//! in this process or an earlier one. A server is connected to when it is first needed, again with a growing
//! pause when it breaks, and put to sleep when nobody has used it for long.
//!
//! | module | does |
//! |---|---|
//! | [`connection`] | one connection to one server, which `server` opens, keeps, and opens again |
//! | `reach`, `open`, `wire` | its settings filled in, the first words, messages over pipes and events |
//! | `ask`, `task`, `desk`, `form`, `content` | what is asked of it, what takes longer, what it asks back, forms, what it says |
//! | `auth` | tokens for servers that want a sign-in |
//! | `menu`, `lists`, `kept` | what it lends: asked for page by page, and kept on disk |
//! | [`serve`] | the other way round: what we lend to others |

mod ask;
mod auth;
pub mod connection;
mod content;
mod desk;
mod form;
mod kept;
mod lists;
mod menu;
mod open;
mod reach;
pub mod serve;
mod server;
mod talk;
mod task;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::protocol::{ServerKind, ServerState};
use base::{Clock, Env, Paths, TaskScope};
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use settings::{Bans, McpServer};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use url::Url;

use connection::{Connection, Failure, Job};
use menu::is_let_through;
use server::Server;

pub use auth::{Account, Callback, SignInError, Visitor};
pub use menu::{Argument, Menu, Prompt, Resource, Tool};
pub use talk::{
    Answer, Borrower, Choice, Content, Elicitation, Elicited, Field, Kind, Message, Progress,
    Sampled, Sampling,
};

/// A server nobody has used for so long is put to sleep.
const IDLE: Duration = Duration::from_mins(20);

/// The code of an error about arguments, as JSON-RPC counts them.
pub const INVALID_PARAMS: i32 = -32602;

/// Makes the HTTP client for an address; the text of a failure is for the user.
pub type Dial = Arc<dyn Fn(&Url) -> Result<reqwest::Client, String> + Send + Sync>;

/// Keeps what must not be read by others, such as tokens.
pub trait Vault: Send + Sync {
    /// What is kept under a name.
    fn get(&self, name: &str) -> Option<base::Secret>;
    /// Keeps something; the text of a failure is for the user.
    fn put(&self, name: &str, secret: &base::Secret) -> Result<(), String>;
    /// Forgets something.
    fn remove(&self, name: &str) -> Result<(), String>;
}

/// What the rooms above lend.
#[derive(Clone)]
pub struct Outside {
    /// The environment that settings are filled in from.
    pub env: Env,
    /// The environment of programs we start.
    pub child_env: Env,
    /// The project; servers are told of it as their root. Programs run there once it is trusted.
    pub folder: PathBuf,
    /// The user's folders: who is trusted, and where programs run until then.
    pub paths: Paths,
    /// Where menus are kept.
    pub cache: PathBuf,
    /// How addresses are reached.
    pub dial: Dial,
    /// Where tokens are kept.
    pub vault: Arc<dyn Vault>,
    /// Servers that must not be used, whoever names them.
    pub bans: Bans,
    /// The time.
    pub clock: Clock,
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// Why a server could not help. Read by a model or a user: it says what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// Nobody has named it.
    #[error("there is no MCP server {0}")]
    Unknown(String),
    /// It cannot be reached, or breaks off.
    #[error("the MCP server {server} does not work: {why}")]
    Broken {
        /// Its name.
        server: String,
        /// What happened.
        why: String,
    },
    /// It wants somebody to sign in.
    #[error("the MCP server {0} wants a sign-in: caiman mcp login {0}")]
    SignIn(String),
    /// It took longer than its settings allow.
    #[error("the MCP server {server} gave no answer within {after_s} s (mcp.{server}.timeout)")]
    TimedOut {
        /// Its name.
        server: String,
        /// How long was waited.
        after_s: u64,
    },
    /// It answered with an error.
    #[error("the MCP server {server} refused: {why}")]
    Refused {
        /// Its name.
        server: String,
        /// What it said.
        why: String,
        /// What kind of error, as JSON-RPC counts them; none where we refuse in its place.
        code: Option<i32>,
    },
    /// Whoever asked wants it no longer.
    #[error("cancelled")]
    Cancelled,
}

impl McpError {
    /// The same for whoever knows which server it is about.
    fn short(&self) -> String {
        match self {
            Self::Broken { why, .. } | Self::Refused { why, .. } => why.clone(),
            Self::SignIn(name) => format!("it wants a sign-in: caiman mcp login {name}"),
            Self::Unknown(_) | Self::TimedOut { .. } | Self::Cancelled => self.to_string(),
        }
    }
}

impl Failure {
    /// The same with the server's name.
    fn of(self, server: &str) -> McpError {
        let server = server.to_owned();
        match self {
            Self::SignIn { .. } => McpError::SignIn(server),
            Self::TimedOut { after } => McpError::TimedOut { server, after_s: after.as_secs() },
            Self::Broken(why) => McpError::Broken { server, why },
            Self::Refused { message, code, .. } => {
                McpError::Refused { server, why: message, code: Some(code) }
            }
            Self::Cancelled => McpError::Cancelled,
        }
    }
}

/// One thing asked of a server.
pub struct Errand<'a> {
    /// The server's name.
    pub server: &'a str,
    /// The tool's own name.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// Whom the server may ask meanwhile.
    pub borrower: Arc<dyn Borrower>,
    /// Takes it back.
    pub cancel: CancellationToken,
}

/// All MCP servers of a process. A clone is the same.
#[derive(Debug, Clone)]
pub struct Mcp(Arc<Hub>);

#[derive(Debug)]
struct Hub {
    outside: Outside,
    scope: TaskScope,
    idle: Duration,
    servers: Mutex<BTreeMap<String, Arc<Server>>>,
    /// Those that are not there for everybody.
    aside: Mutex<BTreeSet<String>>,
    news: watch::Sender<u64>,
}

impl Mcp {
    /// Knows no server yet; whoever closes `scope` ends all.
    pub fn new(outside: Outside, scope: &TaskScope) -> Self {
        Self::resting_after(IDLE, outside, scope)
    }

    /// The same with servers that go to sleep when nobody has used them for so long.
    pub fn resting_after(idle: Duration, outside: Outside, scope: &TaskScope) -> Self {
        let (news, _) = watch::channel(0);
        let servers = Mutex::default();
        let aside = Mutex::default();
        Self(Arc::new(Hub { outside, scope: scope.child(), idle, servers, aside, news }))
    }

    /// Makes a server known. The same name with the same settings is the same server; with others it takes the
    /// place of the old one. One that is forbidden is switched off. Connects to nobody.
    pub fn add(&self, name: &str, server: &McpServer) {
        let Hub { outside, scope, idle, news, .. } = &*self.0;
        let disabled = server.disabled || outside.bans.forbid(name, server);
        let server = McpServer { disabled, ..server.clone() };
        let mut servers = self.0.servers();
        if servers.get(name).is_some_and(|known| known.settings == server) {
            return;
        }
        let new = Server::new((name, &server), outside.clone(), *idle, news.clone(), scope);
        if let Some(old) = servers.insert(name.to_owned(), Arc::new(new)) {
            old.cancel();
        }
    }

    /// The same for a server that is not there for everybody: only who knows its name uses it. It takes the
    /// place of no server that is.
    pub fn add_aside(&self, name: &str, server: &McpServer) {
        // One lock at a time: others take them in another order.
        let is_new = !self.0.servers().contains_key(name);
        let is_aside = {
            let mut aside = self.0.aside.lock().unwrap_or_else(PoisonError::into_inner);
            is_new && aside.insert(name.to_owned()) || aside.contains(name)
        };
        if is_aside {
            self.add(name, server);
        }
    }

    /// The servers that are there for everybody and not switched off, by name.
    pub fn names(&self) -> Vec<String> {
        let aside = self.0.aside.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let servers = self.0.servers();
        let on = servers.values().filter(|server| !server.settings.disabled);
        let on = on.filter(|server| !aside.contains(&server.name));
        on.map(|server| server.name.clone()).collect()
    }

    /// Whether a server is known and not switched off.
    pub fn is_on(&self, server: &str) -> bool {
        self.0.server(server).is_ok()
    }

    /// What a server lends, as far as its settings let it: as it told us, or as it told last time. None where it
    /// never told. Does not wait.
    pub fn menu(&self, server: &str) -> Option<Arc<Menu>> {
        self.0.server(server).ok()?.menu()
    }

    /// Whether its settings want all of a server's schemas in every request.
    pub fn loads_always(&self, server: &str) -> bool {
        self.0.server(server).is_ok_and(|server| server.settings.always_load)
    }

    /// Those servers of which nobody knows what they lend, or only what they lent a day ago.
    pub fn stale(&self, servers: &[String]) -> Vec<String> {
        let is_stale = |name: &&String| self.0.server(name).is_ok_and(|it| it.is_stale());
        servers.iter().filter(is_stale).cloned().collect()
    }

    /// Begins to connect to servers, in the background.
    pub fn wake(&self, servers: &[String]) {
        for server in servers.iter().filter_map(|name| self.0.server(name).ok()) {
            server.used();
            server.wake();
        }
    }

    /// Counts up whenever a menu has changed.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.0.news.subscribe()
    }

    /// Waits until a server is no longer how it was, or lends something else.
    pub async fn stirred(&self) {
        let mut news = self.news();
        news.mark_unchanged();
        let servers: Vec<Arc<Server>> = self.0.servers().values().cloned().collect();
        let lives = servers.iter().map(|server| Box::pin(server.stirred()));
        let any = futures::future::select_all(lives.map(|life| life as BoxFuture<'_, ()>).chain([
            Box::pin(async move {
                if news.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }) as BoxFuture<'_, ()>,
        ]));
        any.await;
    }

    /// Has a tool called.
    pub fn call<'a>(&'a self, errand: Errand<'a>) -> BoxFuture<'a, Result<Answer, McpError>> {
        Box::pin(async move {
            let Errand { server, tool, arguments, borrower, cancel } = errand;
            // Whoever calls may know the tool from elsewhere than our menu.
            if !is_let_through(tool, &self.0.server(server)?.settings) {
                let why = format!("the settings do not offer its tool {tool}");
                return Err(McpError::Refused { server: server.to_owned(), why, code: None });
            }
            let opening = self.0.connection(server);
            let connection = cancel.run_until_cancelled(opening).await;
            let (server, connection) = connection.unwrap_or(Err(McpError::Cancelled))?;
            let menu = server.menu();
            let listed =
                menu.as_ref().and_then(|menu| menu.tools.iter().find(|it| it.name == tool));
            let is_task = listed.is_some_and(|tool| tool.is_task);
            let job = Job { tool, is_task, arguments, borrower };
            let answer = connection.call(job, &cancel).await;
            server.used();
            answer.map_err(|failure| failure.of(&server.name))
        })
    }

    /// Fetches a prompt, its arguments put in. Dropping the future takes it back.
    pub fn prompt<'a>(
        &'a self,
        server: &'a str,
        name: &'a str,
        arguments: Map<String, Value>,
        borrower: Arc<dyn Borrower>,
    ) -> BoxFuture<'a, Result<Vec<Message>, McpError>> {
        Box::pin(async move {
            let (server, connection) = self.0.connection(server).await?;
            let messages = connection.prompt(name, arguments, borrower).await;
            messages.map_err(|failure| failure.of(&server.name))
        })
    }

    /// Reads a resource. Dropping the future takes it back.
    pub fn read<'a>(
        &'a self,
        server: &'a str,
        uri: &'a str,
        borrower: Arc<dyn Borrower>,
    ) -> BoxFuture<'a, Result<Vec<Content>, McpError>> {
        Box::pin(async move {
            let (server, connection) = self.0.connection(server).await?;
            let contents = connection.read(uri, borrower).await;
            contents.map_err(|failure| failure.of(&server.name))
        })
    }

    /// How the servers are, and what they said.
    pub fn states(&self) -> Vec<ServerState> {
        let servers: Vec<Arc<Server>> = self.0.servers().values().cloned().collect();
        let off = |server: &Server| ServerState {
            name: server.name.clone(),
            kind: ServerKind::Mcp,
            state: "switched off".to_owned(),
            log: Vec::new(),
        };
        let state = |server: &Arc<Server>| {
            if server.settings.disabled { off(server) } else { server.state() }
        };
        servers.iter().map(state).collect()
    }

    /// Connects anew to a server, whatever it has done before; in the background.
    pub fn restart(&self, server: &str) -> Result<(), McpError> {
        self.0.server(server)?.restart();
        Ok(())
    }

    /// The process ids of servers that run as programs.
    pub fn processes(&self) -> Vec<u32> {
        let servers = self.0.servers();
        servers.values().filter_map(|server| server.running()?.process()).collect()
    }

    /// Ends all, at once.
    pub async fn close(&self) {
        self.0.scope.close().await;
    }
}

impl Hub {
    fn server(&self, name: &str) -> Result<Arc<Server>, McpError> {
        let server = self.servers().get(name).cloned();
        let server = server.filter(|server| !server.settings.disabled);
        server.ok_or_else(|| McpError::Unknown(name.to_owned()))
    }

    async fn connection(&self, name: &str) -> Result<(Arc<Server>, Arc<Connection>), McpError> {
        let server = self.server(name)?;
        server.used();
        let connection = server.connection().await?;
        Ok((server, connection))
    }

    fn servers(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Server>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
