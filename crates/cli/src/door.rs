//! What a face is given: the mind behind it, and what comes before there is one.
//!
//! The mind needs settings, a store and a model, so it is opened at the first operation that needs it: trust
//! or a key given before then count. Until it is there, its events are waited for.
//!
//! | module | does |
//! |---|---|
//! | [`place`] | how things stand in a folder, without any network |
//! | [`providers`] | whose keys are there, which servers run on this machine |
//! | [`key`] | a key tried with one request, then kept |
//! | [`servers`] | MCP and language servers of the settings |
//! | [`stream`] | events, from before the mind is open on |

mod key;
mod place;
mod providers;
mod servers;
mod stream;

use std::path::Path;
use std::sync::{Arc, PoisonError};

use agent::{Coordinator, Presence};
use base::protocol::{Client, ClientError, EventFilter, EventStream, Op, Query, Reply};
use futures::future::BoxFuture;
use links::Mcp;
use links::acp::Editor;
use llm::catalog::{Catalog, Size};
use llm::{Target, Transport};
use settings::{Config, Loaded, McpServer, Severity, Sources};
use store::Store;
use tokio::sync::Mutex;
use tui::welcome::NO_INIT;

use self::stream::Generations;
use crate::app::App;
use crate::catalog::{self, Current};
use crate::commands::run::{self, Asked, Limits, Lock, Turns, Voice};
use crate::failure::Failure;
use crate::wiring;

/// The model that stands in where none can be used.
const STAND_IN: &str = "demo/tour";

/// What a face is given. Clones share it.
#[derive(Clone)]
pub(crate) struct Door {
    shared: Arc<Shared>,
}

/// How sessions are run, as the command line says.
#[derive(Debug, Default)]
pub(crate) struct Flags {
    /// Which model, and what it is told.
    pub(crate) voice: Voice,
    /// Which session, and what it finds there.
    pub(crate) place: run::Place,
    /// What may be done.
    pub(crate) lock: Lock,
    /// How much may be spent.
    pub(crate) limits: Limits,
    /// Who is on the other side.
    pub(crate) guest: Guest,
}

/// Who speaks through a door.
#[derive(Debug, Clone, Default)]
pub(crate) enum Guest {
    /// A person, at the interface.
    #[default]
    Person,
    /// A program, for its own user; one that is an editor may have files open.
    Program(Option<Arc<dyn Editor>>),
}

struct Shared {
    app: App,
    flags: Flags,
    catalog: Current,
    mind: Mutex<Mind>,
    lent: std::sync::Mutex<Lent>,
    generations: Generations,
}

/// MCP servers that no settings name.
#[derive(Default)]
struct Lent {
    servers: Vec<(String, McpServer)>,
    /// The servers of the mind, once it is open.
    open: Option<Mcp>,
}

/// The mind, and whether it may still be opened anew.
#[derive(Default)]
struct Mind {
    open: Option<Coordinator>,
    /// Whether it has done anything that another one would not know of.
    is_used: bool,
    /// Whether the demo answers where nobody has chosen a model.
    is_demo: bool,
}

impl Door {
    /// A door behind which nothing is open yet. Reads the settings for the catalogue; touches no store.
    pub(crate) fn new(app: App, flags: Flags) -> Self {
        let loaded = settings::load(&app.sources());
        // What is wrong with the settings is told once the mind is open.
        let (catalog, _) = catalog::made(&app, &loaded.config);
        Self {
            shared: Arc::new(Shared {
                app,
                flags,
                catalog: Current::new(catalog),
                mind: Mutex::default(),
                lent: std::sync::Mutex::default(),
                generations: Generations::new(),
            }),
        }
    }

    /// Makes an MCP server known that no settings name; sessions that begin from here on may use it.
    pub(crate) fn lend(&self, name: &str, server: &McpServer) {
        let mut lent = self.shared.lent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = &lent.open {
            open.add(name, server);
        }
        lent.servers.retain(|(known, _)| known != name);
        lent.servers.push((name.to_owned(), server.clone()));
    }

    /// Stops every turn, lets each settle, ends every process.
    pub(crate) async fn close(&self) {
        let open = self.shared.mind.lock().await.open.take();
        if let Some(mind) = open {
            mind.close().await;
        }
    }
}

impl Shared {
    async fn submit(self: &Arc<Self>, op: Op) -> Result<(), ClientError> {
        match op {
            Op::Trust { folder, trust } => {
                let shared = self.clone();
                let answer = move || place::trust(&shared.app, Path::new(&folder), trust);
                aside(answer).await?.map_err(refused)?;
                if let Some(open) = self.settings_changed().await {
                    open.tell("Settings of this folder count from the next start on.".to_owned());
                }
                Ok(())
            }
            Op::Login { provider, key } => self.log_in(provider, key).await,
            Op::NewSession { session, folder } => {
                let open = self.mind(Use::Sessions).await?;
                let folder = self.demo_folder(&open).await?.unwrap_or(folder);
                open.submit(Op::NewSession { session, folder }).await
            }
            op @ (Op::Say { .. }
            | Op::Unsay { .. }
            | Op::GoOn { .. }
            | Op::Stop { .. }
            | Op::Approve { .. }
            | Op::Answer { .. }
            | Op::SetModel { .. }
            | Op::SetEffort { .. }
            | Op::SetMode { .. }
            | Op::Rewind { .. }
            | Op::Fork { .. }
            | Op::Compact { .. }
            | Op::Rename { .. }
            | Op::Delete { .. }
            | Op::Command { .. }
            | Op::Shell { .. }) => self.mind(Use::Sessions).await?.submit(op).await,
            Op::Remember { key, .. } if key.starts_with(NO_INIT) => {
                let shared = self.clone();
                let decline = move || {
                    let folder = Path::new(&key[NO_INIT.len()..]);
                    agent::init::decline(folder, &shared.app.paths)
                };
                let declined = aside(decline).await?;
                declined.map_err(|error| ClientError::Refused(error.to_string()))
            }
            op @ (Op::Remember { .. } | Op::Restart { .. }) => {
                self.mind(Use::Look).await?.submit(op).await
            }
        }
    }

    async fn ask(self: &Arc<Self>, query: Query) -> Result<Reply, ClientError> {
        let shared = self.clone();
        match query {
            Query::Place { folder } => {
                let place = aside(move || place::of(&shared, Path::new(&folder))).await?;
                place.map(|place| Reply::Place(Box::new(place))).map_err(refused)
            }
            Query::Providers => {
                let providers = providers::of(self.catalog.get(), self.app.clock.now()).await;
                Ok(Reply::Providers { providers })
            }
            Query::Servers { folder } => self.servers(folder).await,
            Query::ServersChanged { folder } => {
                let open = self.mind.lock().await.open.clone();
                match open {
                    Some(open) => open.servers_changed().await,
                    // Where nothing runs, nothing changes.
                    None => std::future::pending().await,
                }
                self.servers(folder).await
            }
            Query::Models { search } => {
                let listed = move || catalog::choices(&shared.catalog.get(), search.as_deref());
                Ok(Reply::Models { models: aside(listed).await? })
            }
            query @ Query::Context { .. } => self.mind(Use::Sessions).await?.ask(query).await,
            query @ (Query::Sessions { .. }
            | Query::Session { .. }
            | Query::Entries { .. }
            | Query::Children { .. }
            | Query::State { .. }
            | Query::Find { .. }
            | Query::Offers { .. }
            | Query::Files { .. }
            | Query::History { .. }
            | Query::Changes { .. }
            | Query::Checkpoints { .. }
            | Query::Recall { .. }) => self.mind(Use::Look).await?.ask(query).await,
        }
    }

    /// The servers of a folder. Nobody opens a mind for this: without one nothing runs.
    async fn servers(self: &Arc<Self>, folder: String) -> Result<Reply, ClientError> {
        let open = self.mind.lock().await.open.clone();
        let running = open.map(|open| open.servers()).unwrap_or_default();
        let shared = self.clone();
        let listed = move || servers::of(&shared.settings_of(Path::new(&folder)), running);
        Ok(Reply::Servers { servers: aside(listed).await? })
    }

    /// Where the demo works, if it is what answers: a project of its own, so that trying Caiman touches
    /// nothing of the user's.
    async fn demo_folder(
        self: &Arc<Self>,
        open: &Coordinator,
    ) -> Result<Option<String>, ClientError> {
        if !self.mind.lock().await.is_demo {
            return Ok(None);
        }
        let shared = self.clone();
        let made = aside(move || run::demo_folder(&shared.app)).await?;
        let (folder, note) = made.map_err(refused)?;
        open.tell(note);
        Ok(Some(folder.display().to_string()))
    }

    /// The settings that hold in a folder.
    fn settings_of(&self, folder: &Path) -> Config {
        let sources = Sources { cwd: folder.to_owned(), ..self.app.sources() };
        settings::load(&sources).config
    }

    /// The mind, opened if need be.
    async fn mind(self: &Arc<Self>, wanted_for: Use) -> Result<Coordinator, ClientError> {
        let mut mind = self.mind.lock().await;
        mind.is_used |= wanted_for == Use::Sessions;
        if let Some(open) = &mind.open {
            return Ok(open.clone());
        }
        let (open, is_demo) = self.open().await.map_err(refused)?;
        mind.is_demo = is_demo;
        self.generations.begin(&open);
        mind.open = Some(open.clone());
        Ok(open)
    }

    /// Opens a mind; tells whether the demo answers in it.
    async fn open(self: &Arc<Self>) -> Result<(Coordinator, bool), Failure> {
        let shared = self.clone();
        let first = move || {
            let loaded = settings::load(&shared.app.sources());
            let (catalog, warnings) = catalog::made(&shared.app, &loaded.config);
            (loaded, catalog, warnings)
        };
        let (loaded, catalog, mut warnings) = aside(first).await.map_err(lost)?;
        let problems = loaded.problems.iter().filter(|it| it.severity > Severity::Note);
        warnings.extend(problems.map(ToString::to_string));
        warnings.extend(run::home::warning(&self.app, &self.flags.place));
        self.catalog.replace(catalog.clone());
        let (target, note) = self.target(&catalog).await?;
        warnings.extend(note);
        let is_demo = target.transport == Transport::Demo;
        let shared = self.clone();
        let rooms = move || shared.put_together(loaded, &catalog, target);
        let (open, others) = aside(rooms).await.map_err(lost)??;
        for warning in warnings.into_iter().chain(others) {
            open.tell(warning);
        }
        Ok((open, is_demo))
    }

    /// The model that answers where nobody has chosen one; a stand-in where there is none, with a word on why
    /// the chosen one cannot be used.
    async fn target(&self, catalog: &Catalog) -> Result<(Target, Option<String>), Failure> {
        let failure = match wiring::target(catalog, self.flags.voice.model.as_deref()).await {
            Ok(target) => return Ok((target, None)),
            Err(failure) if self.flags.voice.model.is_some() => return Err(failure),
            Err(failure) => failure,
        };
        let stand_in = catalog.find(STAND_IN).and_then(|model| catalog.resolve(&model));
        let is_chosen = catalog.default_model(Size::Large).is_ok();
        Ok((stand_in?, is_chosen.then(|| format!("{}; the demo answers", failure.message))))
    }

    /// Puts the rooms together. Opens the store, so it blocks.
    fn put_together(
        &self,
        mut loaded: Loaded,
        catalog: &Catalog,
        target: Target,
    ) -> Result<(Coordinator, Vec<String>), Failure> {
        let (app, Flags { voice, place, lock, limits, guest }) = (&self.app, &self.flags);
        let servers = run::servers_of_flags(app, place, &mut loaded.config)?;
        let small = wiring::small(catalog, &loaded.config, &target);
        let flags = Asked { voice, place, lock, limits, turns: Turns::Many };
        let (mut options, mut warnings) = run::options(app, flags, &loaded, (target, small))?;
        options.servers = servers;
        let store = if place.ephemeral {
            Store::in_memory().map_err(crate::database::explain)?
        } else {
            let (store, notes) = crate::database::opened(app)?;
            warnings.extend(notes);
            store
        };
        let denied = run::denied_tools(lock, &loaded.config);
        let settings = Arc::new(loaded.config);
        let definitions = wiring::shelf(app, &settings, place);
        let (presence, editor) = match guest {
            Guest::Person => (Presence::Attended, None),
            Guest::Program(editor) => (Presence::Reachable, editor.clone()),
        };
        let mut mind = wiring::mind(app, settings, store, self.catalog.clone(), presence);
        mind.shelf = definitions;
        mind.editor = editor;
        self.take_lent(&mind.mcp);
        mind.registry = mind.registry.without(&denied);
        let targets = std::iter::once(&options.target).chain(&options.small);
        mind.redactor = wiring::redactor(&mind.env, targets);
        Ok((Coordinator::new(mind, options), warnings))
    }

    /// Makes the servers that were lent known to a new mind, and that to who lends more.
    fn take_lent(&self, mcp: &Mcp) {
        let mut lent = self.lent.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, server) in &lent.servers {
            mcp.add(name, server);
        }
        lent.open = Some(mcp.clone());
    }

    /// Has the next operation find settings and keys as they are now. A mind that has worked stays as it is,
    /// but for the keys.
    async fn settings_changed(self: &Arc<Self>) -> Option<Coordinator> {
        let shared = self.clone();
        let made =
            move || catalog::made(&shared.app, &settings::load(&shared.app.sources()).config);
        if let Ok((catalog, _)) = aside(made).await {
            self.catalog.replace(catalog);
        }
        let mut mind = self.mind.lock().await;
        if mind.is_used {
            return mind.open.clone();
        }
        let open = mind.open.take()?;
        self.generations.end(&open);
        open.close().await;
        None
    }
}

/// What the mind is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// To look something up that another mind would tell as well.
    Look,
    /// To work in sessions.
    Sessions,
}

impl Client for Door {
    fn submit(&self, op: Op) -> BoxFuture<'_, Result<(), ClientError>> {
        Box::pin(self.shared.submit(op))
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Reply, ClientError>> {
        Box::pin(self.shared.ask(query))
    }

    fn subscribe(&self, filter: EventFilter, since: u64) -> EventStream {
        self.shared.generations.subscribe(filter, since)
    }
}

/// Does blocking work off the task that asks.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ClientError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| ClientError::Closed)
}

/// A failure, as a face is told: what went wrong and what to do.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn refused(failure: Failure) -> ClientError {
    let hints = failure.hints.iter().map(|hint| format!("\n{hint}"));
    ClientError::Refused(failure.message.clone() + &hints.collect::<String>())
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn lost(error: ClientError) -> Failure {
    Failure::new(crate::failure::Kind::Internal, error.to_string())
}

#[cfg(test)]
mod tests;
