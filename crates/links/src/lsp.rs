//! Language servers: which fits a file, when it is started, and what it knows.
//!
//! | module | does |
//! |---|---|
//! | [`catalog`] | which servers there are, and which root a file has for each |
//! | `server` | one server for one root: started when needed, again when it breaks, put to sleep when idle |
//! | `client` | a server that has begun: files, complaints, what it works out, goodbye |
//! | `desk` | what a server asks of us |
//! | `documents`, `board`, `text` | the files it has open, what it complains of, places in a text |
//! | `watched` | files that change without us |
//! | `ask`, `after` | what tools ask; what an edit has brought |
//!
//! One [`Lsp`] serves all sessions of a process: two that work in one folder share one server. Nothing is
//! started before a tool touches a file of its type, nothing wakes up while nobody asks.

mod after;
mod ask;
mod board;
pub mod catalog;
mod client;
mod desk;
mod documents;
mod program;
mod protocol;
mod server;
mod text;
mod watched;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use std::{fmt, io, iter};

use base::protocol::{ServerKind, ServerState};
use base::{Env, TaskScope};
use futures::future::join_all;
use guard::start::{ProgramStart, Sandboxed};
use settings::Config;
use tokio::time::Instant;

use crate::rpc::RpcError;
use catalog::{Catalog, Role, Spec};
use client::Client;
use program::Programs;
use server::{Begin, Server};

pub use after::Edited;
pub use ask::{Action, At, Call, Complaints, Direction, Place, Rewrite, Rewritten, Symbol};
pub use text::EditError;

/// How long all servers together may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(1);
/// Folders below a workspace that are looked into for projects.
const LOOKED_INTO: usize = 64;

/// Why a server could not help. Read by a model: it says what to do next.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LspError {
    /// No server is for such a file, or none is installed.
    #[error("no language server is installed for {}; use grep and view instead", .0.display())]
    None(PathBuf),
    /// None runs in a folder, and nobody knows which should.
    #[error("no language server runs here yet; name a file of the project, or use grep")]
    NoneYet,
    /// It would run code of a project that nobody trusts.
    #[error(
        "the language server {0} runs code of this project, and nobody has trusted it (caiman trust); use grep and \
         view instead"
    )]
    Untrusted(String),
    /// It did not start.
    #[error("the language server {server} does not start: {why}")]
    Start {
        /// Its name.
        server: String,
        /// What happened.
        why: String,
    },
    /// It started and broke.
    #[error(
        "the language server {server} is broken ({why}); use grep and view instead, or lsp_restart"
    )]
    Broken {
        /// Its name.
        server: String,
        /// What happened.
        why: String,
    },
    /// It is not ready yet.
    #[error("the language server {server} is not ready yet; go on, and try again later")]
    Slow {
        /// Its name.
        server: String,
    },
    /// It cannot do what was asked.
    #[error("the language server {server} offers no {what}")]
    Lacks {
        /// Its name.
        server: String,
        /// What was asked for.
        what: &'static str,
    },
    /// It gave no answer.
    #[error("the language server {server} failed: {source}")]
    Rpc {
        /// Its name.
        server: String,
        /// What happened.
        source: RpcError,
    },
    /// What it wants to change cannot be changed this way.
    #[error("the language server {server} wants to {what}; do that with other tools")]
    Beyond {
        /// Its name.
        server: String,
        /// What it wants.
        what: &'static str,
    },
}

/// Something a server complains of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// How bad it is.
    pub severity: Severity,
    /// Who says so.
    pub source: String,
    /// What is wrong.
    pub message: String,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It will not work.
    Error,
    /// It may not work.
    Warning,
    /// Good to know.
    Information,
    /// Could be better.
    Hint,
}

/// How a program with this environment starts for the project in a folder; it may look at the disk. The server itself
/// works in `root`, which is the folder or below it.
pub type StartProgram =
    Arc<dyn Fn(ProjectRoot<'_>, &Env, Sandboxed) -> io::Result<ProgramStart> + Send + Sync>;

/// Where a server works.
#[derive(Debug, Clone, Copy)]
pub struct ProjectRoot<'a> {
    /// The workspace, which is trusted or not.
    pub workspace: &'a Path,
    /// The folder of the server's project in it.
    pub root: &'a Path,
}

/// How servers are kept.
#[derive(Clone)]
pub struct Keeping {
    /// Whether the user lets code of a folder's project run. It may look at the disk.
    pub vouched: Arc<dyn Fn(&Path) -> bool + Send + Sync>,
    /// How a program starts for a project, which is not trusted unless the user said so.
    pub start: StartProgram,
    /// A server nobody has used for so long is put to sleep.
    pub idle: Duration,
    /// Servers that run at once; the one used longest ago gives way.
    pub running: usize,
    /// The longest an edit waits for complaints.
    pub longest: Duration,
}

impl Default for Keeping {
    /// Nobody is vouched for.
    fn default() -> Self {
        Self {
            vouched: Arc::new(|_| false),
            start: Arc::new(|project, env, sandboxed| match sandboxed {
                Sandboxed::No => Ok(ProgramStart::within(project.root, env)),
                Sandboxed::Yes => Err(io::ErrorKind::Unsupported.into()),
            }),
            idle: Duration::from_mins(20),
            running: 12,
            longest: Duration::from_secs(5),
        }
    }
}

impl fmt::Debug for Keeping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { idle, running, longest, .. } = self;
        write!(f, "Keeping({idle:?}, {running}, {longest:?})")
    }
}

/// Whether a server fits a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// None does, or none is installed.
    None,
    /// This one does, but it runs code of the project, which nobody trusts.
    Untrusted(String),
    /// One does.
    Yes,
}

/// All language servers of a process. A clone is the same.
#[derive(Debug, Clone, Default)]
pub struct Lsp(Option<Arc<Hub>>);

#[derive(Debug)]
struct Hub {
    config: Arc<Config>,
    /// Read when it is first needed: a session without code never does.
    catalog: OnceLock<Catalog>,
    env: Env,
    scope: TaskScope,
    programs: Programs,
    keeping: Keeping,
    servers: Mutex<BTreeMap<(String, PathBuf), Arc<Server>>>,
    /// Servers that were needed where nobody trusts the project.
    waiting: Mutex<BTreeSet<String>>,
    /// How many commands have run: they change files without a word.
    commands: AtomicU64,
}

impl Lsp {
    /// None, ever.
    pub fn none() -> Self {
        Self(None)
    }

    /// The servers of the settings, and unless these say otherwise those that are known. `env` is what they
    /// run with; they end when `scope` closes.
    pub fn new(config: Arc<Config>, env: Env, scope: &TaskScope) -> Self {
        Self::kept(config, env, scope, Keeping::default())
    }

    /// The same, kept in a way of one's own.
    pub fn kept(config: Arc<Config>, env: Env, scope: &TaskScope, keeping: Keeping) -> Self {
        let programs = Programs::new(&env);
        Self(Some(Arc::new(Hub {
            config,
            catalog: OnceLock::new(),
            env,
            scope: scope.child(),
            programs,
            keeping,
            servers: Mutex::default(),
            waiting: Mutex::default(),
            commands: AtomicU64::new(0),
        })))
    }

    /// Whether a server that knows a programming language fits a folder or one right below it, and is
    /// installed. Looks at the disk; starts nothing.
    pub fn fit(&self, folder: &Path) -> Fit {
        let Some(hub) = self.0.as_ref().filter(|hub| !hub.catalog().is_empty()) else {
            return Fit::None;
        };
        let (names, below) = names_in(folder);
        let below = below.iter().take(LOOKED_INTO);
        let below = below.map(|name| names_in(&folder.join(name)).0);
        let vouched = OnceCell::new();
        let is_vouched = || *vouched.get_or_init(|| (hub.keeping.vouched)(folder));
        let mut untrusted = None;
        for names in iter::once(names).chain(below) {
            for spec in hub.marked_by(&names) {
                if !spec.needs_trust() || is_vouched() {
                    return Fit::Yes;
                }
                untrusted.get_or_insert_with(|| spec.name.clone());
            }
        }
        untrusted.map_or(Fit::None, Fit::Untrusted)
    }

    /// Wakes the servers for a file that a tool looks at, and shows it to them, in the background.
    pub fn touch(&self, path: &Path, within: &Path) {
        let Some(hub) = self.0.clone() else { return };
        if hub.catalog().for_file(path).next().is_none() {
            return;
        }
        let (path, within) = (path.to_owned(), within.to_owned());
        let scope = hub.scope.clone();
        scope.spawn(async move {
            let servers = hub.servers_for(&path, &within);
            // Whoever only reads data needs nobody to check it.
            for server in servers.iter().filter(|server| server.spec.role != Role::Data) {
                let deadline = Instant::now() + server.spec.start;
                if let Ok(client) = server.client(deadline, server.spec.start).await {
                    // A server that is lost by now is no news here.
                    client.sync_from_disk(&path).await.ok();
                }
            }
        });
    }

    /// How the servers are: those that were ever needed, and those the settings name.
    pub fn states(&self) -> Vec<ServerState> {
        let Some(hub) = &self.0 else { return Vec::new() };
        let mut states: Vec<ServerState> =
            hub.servers().values().map(|server| server.state()).collect();
        let plain = |name: &str, state: String| ServerState {
            name: name.to_owned(),
            kind: ServerKind::Lsp,
            state,
            log: Vec::new(),
        };
        for spec in hub.catalog().servers().iter().filter(|spec| spec.configured) {
            if !states.iter().any(|state| state.name == spec.name) {
                states.push(plain(&spec.name, "not started".to_owned()));
            }
        }
        states
            .extend(hub.catalog().off().iter().map(|name| plain(name, "switched off".to_owned())));
        let waiting = hub.waiting();
        let waiting = waiting.iter().filter(|name| !states.iter().any(|it| it.name == **name));
        let waiting: Vec<ServerState> =
            waiting.map(|name| plain(name, "waits for trust: caiman trust".to_owned())).collect();
        states.extend(waiting);
        let problems = hub.catalog().problems().iter();
        states.extend(problems.map(|(name, why)| plain(name, format!("not usable: {why}"))));
        states.sort_by(|one, other| one.name.cmp(&other.name));
        states
    }

    /// Starts servers anew: those of a name, or all that were ever started. Gives their names.
    pub async fn restart(&self, name: Option<&str>) -> Vec<String> {
        let Some(hub) = &self.0 else { return Vec::new() };
        let servers: Vec<Arc<Server>> = hub.servers().values().cloned().collect();
        let mut done = Vec::new();
        for server in servers {
            if name.is_none_or(|name| name == server.spec.name) {
                server.restart().await;
                done.push(format!("{} in {}", server.spec.name, server.root.display()));
            }
        }
        done
    }

    /// A command has run that may have changed files.
    pub fn command_has_run(&self) {
        if let Some(hub) = &self.0 {
            hub.commands.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends all servers, politely as far as they are quick, and waits until they are gone.
    pub async fn close(&self) {
        let Some(hub) = &self.0 else { return };
        let servers: Vec<Arc<Server>> = hub.servers().values().cloned().collect();
        let goodbyes = join_all(servers.iter().map(|server| server.stop()));
        drop(tokio::time::timeout(GOODBYE, goodbyes).await);
        hub.scope.close().await;
    }

    /// The process ids of servers that run.
    pub fn processes(&self) -> Vec<u32> {
        let Some(hub) = &self.0 else { return Vec::new() };
        let servers = hub.servers();
        servers.values().filter_map(|server| server.running()).map(|it| it.child.id()).collect()
    }

    /// The running servers for a file that know its language, the best first. Waits for them until
    /// `deadline`.
    async fn clients(
        &self,
        path: &Path,
        within: &Path,
        deadline: Instant,
    ) -> Result<Vec<Arc<Client>>, LspError> {
        let hub = self.0.as_ref().ok_or_else(|| LspError::None(path.to_owned()))?;
        let (mut clients, mut failed) = (Vec::new(), None);
        for server in hub.servers_for(path, within) {
            match server.client(deadline, server.spec.start).await {
                Ok(client) => clients.push(client),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if clients.is_empty() {
            return Err(failed.unwrap_or_else(|| hub.lacking(path, within)));
        }
        clients.sort_by_key(|client| client.spec.role != Role::Code);
        Ok(clients)
    }
}

impl Lsp {
    /// The servers of the projects in a folder: those that run, else those that fit it.
    async fn clients_in(
        &self,
        folder: &Path,
        deadline: Instant,
    ) -> Result<Vec<Arc<Client>>, LspError> {
        let hub = self.0.as_ref().ok_or_else(|| LspError::None(folder.to_owned()))?;
        let is_near = |server: &Arc<Server>| {
            server.root.starts_with(folder) || folder.starts_with(&server.root)
        };
        let running: Vec<Arc<Server>> =
            hub.servers().values().filter(|server| is_near(server)).cloned().collect();
        let code = |server: &Arc<Server>| server.spec.role == Role::Code;
        let mut servers: Vec<Arc<Server>> = running.into_iter().filter(code).collect();
        if servers.is_empty() {
            let (names, _) = names_in(folder);
            let fitting = hub.catalog().servers().iter().filter(|spec| spec.role == Role::Code);
            let mut fitting = fitting.filter(|it| it.marks(&names) && hub.programs.has(it));
            let spec = fitting.find(|spec| hub.lets_run(spec, folder));
            servers.extend(spec.map(|spec| hub.server(spec, folder.to_owned(), folder)));
        }
        let (mut clients, mut failed) = (Vec::new(), LspError::NoneYet);
        for server in servers {
            match server.client(deadline, server.spec.start).await {
                Ok(client) => clients.push(client),
                Err(error) => failed = error,
            }
        }
        if clients.is_empty() { Err(failed) } else { Ok(clients) }
    }
}

impl Hub {
    fn catalog(&self) -> &Catalog {
        self.catalog.get_or_init(|| Catalog::new(&self.config, &self.env))
    }

    /// The servers for a file: all that the settings name, else the first that is installed, and those that
    /// complain beside it.
    fn servers_for(&self, path: &Path, within: &Path) -> Vec<Arc<Server>> {
        let mut chosen: Vec<Arc<Server>> = Vec::new();
        let mut has_code = false;
        for spec in self.catalog().for_file(path) {
            let is_spare = spec.role == Role::Code && has_code && !spec.configured;
            if is_spare || !(spec.alone || self.programs.has(spec)) {
                continue;
            }
            let Some(root) = spec.root(path, within) else { continue };
            has_code |= spec.alone;
            if !self.programs.has(spec) || !self.lets_run(spec, within) {
                continue;
            }
            has_code |= spec.role == Role::Code;
            chosen.push(self.server(spec, root, within));
        }
        self.make_room(&chosen);
        chosen
    }

    /// Whether a server may run in a project; remembers one that may not. Asked each time, so that trust counts as
    /// soon as it is given, and no longer when it is taken back.
    fn lets_run(&self, spec: &Spec, within: &Path) -> bool {
        if !spec.needs_trust() {
            return true;
        }
        let is_vouched = (self.keeping.vouched)(within);
        let mut waiting = self.waiting();
        if is_vouched {
            waiting.remove(&spec.name);
        } else {
            waiting.insert(spec.name.clone());
        }
        is_vouched
    }

    /// Why there is no server for a file.
    fn lacking(&self, path: &Path, within: &Path) -> LspError {
        let mut waiting = self.catalog().for_file(path).filter(|spec| {
            spec.needs_trust() && self.programs.has(spec) && spec.root(path, within).is_some()
        });
        let name = waiting.next().map(|spec| spec.name.clone());
        name.map_or_else(|| LspError::None(path.to_owned()), LspError::Untrusted)
    }

    fn server(&self, spec: &Arc<Spec>, root: PathBuf, workspace: &Path) -> Arc<Server> {
        let mut servers = self.servers();
        let new = |(_, root): &(String, PathBuf)| {
            let kept = (&self.scope, self.keeping.idle);
            let begin = self.begin(spec, root.clone(), workspace.to_owned());
            Arc::new(Server::new(spec.clone(), root.clone(), begin, kept))
        };
        servers.entry((spec.name.clone(), root)).or_insert_with_key(new).clone()
    }

    fn begin(&self, spec: &Spec, root: PathBuf, workspace: PathBuf) -> Begin {
        let (start, env) = (self.keeping.start.clone(), self.env.with(spec.env.clone()));
        let sandboxed = spec.sandbox.into();
        Begin(Arc::new(move || {
            start(ProjectRoot { workspace: &workspace, root: &root }, &env, sandboxed)
        }))
    }

    /// Puts to sleep those beyond what may run at once, the one used longest ago first.
    fn make_room(&self, needed: &[Arc<Server>]) {
        let mut running: Vec<Arc<Server>> = {
            let servers = self.servers();
            servers.values().filter(|server| server.running().is_some()).cloned().collect()
        };
        running.retain(|server| !needed.iter().any(|needed| Arc::ptr_eq(needed, server)));
        running.sort_by_key(|server| server.used());
        let surplus = (running.len() + needed.len()).saturating_sub(self.keeping.running);
        for server in running.iter().take(surplus) {
            server.sleep();
        }
    }

    /// Servers that know a language, are installed, and for which a folder with these names is a root.
    fn marked_by<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = &'a Arc<Spec>> {
        let code = self.catalog().servers().iter().filter(|spec| spec.role == Role::Code);
        code.filter(|spec| spec.marks(names) && self.programs.has(spec))
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn servers(&self) -> MutexGuard<'_, BTreeMap<(String, PathBuf), Arc<Server>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a folder holds: all names, and those of its folders that are not hidden.
fn names_in(folder: &Path) -> (Vec<String>, Vec<String>) {
    /// Whoever has more in one folder has its marks among the first.
    const MOST: usize = 2_000;
    let Ok(entries) = std::fs::read_dir(folder) else { return Default::default() };
    let (mut names, mut folders) = (Vec::new(), Vec::new());
    for entry in entries.flatten().take(MOST) {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && !name.starts_with('.') && name != "node_modules" && name != "target" {
            folders.push(name.clone());
        }
        names.push(name);
    }
    folders.sort_unstable();
    (names, folders)
}
