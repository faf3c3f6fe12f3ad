//! The mind behind the door: sessions, their lanes, and the events faces see.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Weak};

use base::protocol::{
    Client, ClientError, Delivery, EventFilter, EventStream, Mode, Op, Principal, Query, Reply,
    ServerKind, ServerState,
};
use base::{Effort, EntryId, Event, ModelRef, SessionId, TaskScope};
use futures::future::BoxFuture;
use llm::Reasoning;
use store::{NewSession, Place, SessionFilter, StoreError};
use tokio::sync::{Mutex, Semaphore, oneshot};

use crate::approvals::Waiting;
use crate::commands;
use crate::crew::{self, Kin};
use crate::events::Events;
use crate::hooks::End;
use crate::lane::{Answered, Lane, Note};
use crate::live::lock;
use crate::lookup::{self, Files, Sight};
use crate::mind::{Mind, Options, Presence};
use crate::session::{Session, SessionError};
use crate::shell;

/// Runs sessions. Clones share it; [`Coordinator::close`] ends every turn and process.
#[derive(Clone)]
pub struct Coordinator {
    pub(crate) hub: Arc<Hub>,
}

/// Where all sessions of a process meet.
pub(crate) struct Hub {
    pub(crate) mind: Arc<Mind>,
    pub(crate) options: Options,
    pub(crate) events: Events,
    pub(crate) waiting: Waiting,
    pub(crate) scope: TaskScope,
    /// How many sub-agents may still be started.
    pub(crate) places: Arc<Semaphore>,
    /// For whoever must not keep the hub alive.
    pub(crate) me: Weak<Hub>,
    lanes: std::sync::Mutex<HashMap<SessionId, Lane>>,
    /// Sessions that are being opened: each is opened once, and none waits for another.
    opening: std::sync::Mutex<HashMap<SessionId, Weak<Mutex<()>>>>,
    /// The session in which the person at the interface has said something last.
    focus: Mutex<Option<SessionId>>,
    /// Sessions that were forked and have not begun.
    pub(crate) forks: std::sync::Mutex<HashSet<SessionId>>,
    /// Paths of folders, for faces that complete them.
    pub(crate) files: Files,
    /// The output style a face has chosen for new sessions.
    style: Mutex<Option<String>>,
}

impl Coordinator {
    /// A mind without sessions; `options` is what each is run with.
    pub fn new(mind: Mind, options: Options) -> Self {
        let places = Arc::new(Semaphore::new(crew::most_running(&mind.config)));
        let hub = Arc::new_cyclic(|me| Hub {
            mind: Arc::new(mind),
            options,
            events: Events::new(),
            waiting: Waiting::default(),
            scope: TaskScope::new(),
            places,
            me: me.clone(),
            lanes: std::sync::Mutex::default(),
            opening: std::sync::Mutex::default(),
            focus: Mutex::default(),
            forks: std::sync::Mutex::default(),
            files: Files::default(),
            style: Mutex::default(),
        });
        Self { hub }
    }

    /// Stops every turn, lets each settle, ends every process.
    pub async fn close(&self) {
        self.hub.scope.close().await;
        futures::join!(self.hub.mind.lsp.close(), self.hub.mind.mcp.close());
    }

    /// How the servers beside us are that sessions have needed, and those the settings name.
    pub fn servers(&self) -> Vec<ServerState> {
        let Mind { lsp, mcp, .. } = &*self.hub.mind;
        lsp.states().into_iter().chain(mcp.states()).collect()
    }

    /// Waits until an MCP server is no longer how it was.
    pub async fn servers_changed(&self) {
        self.hub.mind.mcp.stirred().await;
    }

    /// Tells every face something that concerns all sessions.
    pub fn tell(&self, text: String) {
        self.hub.events.publish(Event::Notice { session: None, text });
    }

    /// The number of the newest event: where a new face begins.
    pub fn newest_event(&self) -> u64 {
        self.hub.events.newest()
    }
}

impl Hub {
    pub(crate) async fn submit(&self, op: Op) -> Result<(), ClientError> {
        match op {
            Op::NewSession { session, folder } => self.new_session(session, folder).await,
            Op::Say { session, entry, parts, delivery } => {
                self.attend(session).await?;
                self.tell(session, Note::Say { entry, parts, delivery }).await
            }
            Op::Unsay { session, entry } => self.tell(session, Note::Unsay(entry)).await,
            Op::GoOn { session } => {
                self.attend(session).await?;
                self.tell(session, Note::GoOn).await
            }
            Op::Stop { session } => self.tell(session, Note::Stop).await,
            Op::Approve { request, approval } => self.waiting.approve(request, approval),
            Op::Answer { request, answers } => self.waiting.answer(request, answers),
            Op::SetModel { session, model } => {
                let target = (self.mind.resolve)(&model).map_err(ClientError::Refused)?;
                let model = Some(target.model_ref());
                self.tell(session, Note::SetModel(Box::new(target))).await?;
                self.changed(Set { model, ..Set::of(session) });
                Ok(())
            }
            Op::SetEffort { session, effort } => {
                self.tell(session, Note::SetReasoning(Reasoning::Effort(effort))).await?;
                self.changed(Set { effort: Some(effort), ..Set::of(session) });
                Ok(())
            }
            Op::SetMode { session, mode } => {
                self.tell(session, Note::SetMode(mode)).await?;
                self.changed(Set { mode: Some(mode), ..Set::of(session) });
                Ok(())
            }
            Op::Rewind { session, entry, what } => {
                self.tell(session, Note::Rewind { entry, what }).await
            }
            Op::Fork { session, entry, into } => self.fork(session, entry, into).await,
            Op::Compact { session, focus } => self.tell(session, Note::Compact { focus }).await,
            Op::Rename { session, title } => {
                let renamed = self.mind.store.rename(session, title.clone()).await;
                renamed.map_err(|error| refused(&error))?;
                self.events.publish(Event::renamed(session, title));
                Ok(())
            }
            Op::Delete { session } => {
                self.forget(session).await;
                let deleted = self.mind.store.delete(session).await;
                self.events.forget(session);
                deleted.map_err(|error| refused(&error))
            }
            Op::Command { session, line } => self.command(session, line).await,
            Op::Shell { session, line } => shell::run(self, session, line).await,
            Op::Remember { key, value } => {
                self.mind.store.remember(key, value).await.map_err(|error| refused(&error))
            }
            Op::Restart { server, kind } => self.restart(&server, kind).await,
            Op::Trust { .. } | Op::Login { .. } => Err(not_here()),
        }
    }

    /// Starts a server anew.
    async fn restart(&self, server: &str, kind: ServerKind) -> Result<(), ClientError> {
        match kind {
            ServerKind::Mcp => {
                let restarted = self.mind.mcp.restart(server);
                restarted.map_err(|error| ClientError::Refused(error.to_string()))
            }
            ServerKind::Lsp if self.mind.lsp.restart(Some(server)).await.is_empty() => {
                Err(ClientError::NotFound(format!("language server {server} that was started")))
            }
            ServerKind::Lsp => Ok(()),
        }
    }

    /// Tells faces how a session is set from now on.
    fn changed(&self, set: Set) {
        let Set { session, model, effort, mode } = set;
        self.events.publish(Event::SessionChanged { session, title: None, model, effort, mode });
    }

    /// Why a session is closed now.
    pub(crate) fn farewell(&self) -> End {
        let is_left = self.scope.token().is_cancelled();
        match self.mind.presence {
            Presence::Attended if is_left => End::Exit,
            Presence::Attended | Presence::Reachable | Presence::Alone => End::Other,
        }
    }

    /// Notices that the person at the interface works in another session than before: that one is over, for
    /// now.
    async fn attend(&self, session: SessionId) -> Result<(), ClientError> {
        if self.mind.presence != Presence::Attended {
            return Ok(());
        }
        let entered = self.lane(session).await?;
        if entered.sight().begun.is_some() {
            return Ok(());
        }
        let left = self.focus.lock().await.replace(session).filter(|left| *left != session);
        let Some(left) = left else { return Ok(()) };
        let row = self.mind.store.session(session).await.map_err(|error| refused(&error))?;
        let is_new = row.summary.entries == 0;
        if is_new {
            entered.tell(Note::Enter).await?;
        }
        if let Some(left) = self.open_lane(left) {
            // One that is closed meanwhile has told its end.
            drop(left.tell(Note::Part(if is_new { End::Clear } else { End::Resume })).await);
        }
        Ok(())
    }

    /// Runs a slash command, and does what it asks for. One that only looks need not wait for a turn.
    async fn command(&self, session: SessionId, line: String) -> Result<(), ClientError> {
        let models = lookup::choices(&self.mind, None).await?;
        let reply = if commands::only_looks(&line) {
            let sight = self.lane(session).await?.sight().clone();
            sight.command(&line, &models).await?
        } else {
            self.attend(session).await?;
            let (answer, answered) = oneshot::channel();
            let models = models.into_iter().map(|choice| choice.model).collect();
            self.tell(session, Note::Command { line, models, answer }).await?;
            match answered.await.map_err(|_| ClientError::Closed)? {
                Answered::Reply(reply) => reply,
                Answered::Begun => return Ok(()),
                Answered::Refused(why) => return Err(ClientError::Refused(why)),
            }
        };
        let text = match reply {
            commands::Reply::Text(text) => text,
            commands::Reply::Unknown(text) => return Err(ClientError::Refused(text)),
            commands::Reply::Op(op) => {
                let goes_on = matches!(op, Op::Compact { .. });
                Box::pin(self.submit(op)).await?;
                if !goes_on {
                    self.events.publish(Event::CommandDone { session });
                }
                return Ok(());
            }
            commands::Reply::Changes => self.changes_told(session).await?,
            commands::Reply::Style { name, text } => {
                *self.style.lock().await = Some(name);
                text
            }
            commands::Reply::Say(parts) => {
                let (entry, delivery) = (EntryId::new(), Delivery::Queue);
                return self.tell(session, Note::Say { entry, parts, delivery }).await;
            }
            commands::Reply::Record { kind, text } => {
                self.tell(session, Note::Record(Box::new(kind))).await?;
                text
            }
        };
        self.events.publish(Event::Notice { session: Some(session), text });
        self.events.publish(Event::CommandDone { session });
        Ok(())
    }

    async fn new_session(&self, id: SessionId, folder: String) -> Result<(), ClientError> {
        let project = store::project_of(Path::new(&folder)).display().to_string();
        let at = self.mind.clock.now();
        let agent = self.options.agent.clone();
        let new = NewSession { id, folder, project, agent, child_of: None, at };
        self.mind.store.create_session(new).await.map_err(|error| refused(&error))
    }

    async fn fork(
        &self,
        from: SessionId,
        entry: EntryId,
        into: SessionId,
    ) -> Result<(), ClientError> {
        let row = self.mind.store.session(from).await.map_err(|error| refused(&error))?;
        let new = NewSession {
            id: into,
            folder: row.summary.folder,
            project: row.project,
            agent: row.agent,
            child_of: None,
            at: self.mind.clock.now(),
        };
        self.mind.store.fork(from, entry, new).await.map_err(|error| refused(&error))?;
        lock(&self.forks).insert(into);
        Ok(())
    }

    /// Tells a session's lane; opens it first if need be.
    async fn tell(&self, session: SessionId, note: Note) -> Result<(), ClientError> {
        let lane = self.lane(session).await?;
        lane.tell(note).await
    }

    /// The lane of a session that is open and stays so.
    fn usable_lane(&self, id: SessionId) -> Option<Lane> {
        // A lane that is closing may still stand here when whoever waited for it is gone.
        lock(&self.lanes).get(&id).filter(|lane| !lane.closing().is_cancelled()).cloned()
    }

    /// What must be locked while a session is opened.
    fn opening(&self, id: SessionId) -> Arc<Mutex<()>> {
        let mut opening = lock(&self.opening);
        opening.retain(|_, held| held.strong_count() > 0);
        if let Some(held) = opening.get(&id).and_then(Weak::upgrade) {
            return held;
        }
        let held = Arc::new(Mutex::new(()));
        opening.insert(id, Arc::downgrade(&held));
        held
    }

    pub(crate) async fn lane(&self, id: SessionId) -> Result<Lane, ClientError> {
        if let Some(lane) = self.usable_lane(id) {
            return Ok(lane);
        }
        let opening = self.opening(id);
        let _opening = opening.lock().await;
        if let Some(lane) = self.usable_lane(id) {
            return Ok(lane);
        }
        let row = self.mind.store.session(id).await.map_err(|error| refused(&error))?;
        let at_work = |child: &SessionId| lock(&self.lanes).contains_key(child);
        crew::settle_debts(&self.mind, id, at_work).await.map_err(|error| refused(&error))?;
        let own = crew::on_its_own(self, &row).map_err(ClientError::Refused)?;
        for text in own.notes {
            self.events.publish(Event::Notice { session: Some(id), text });
        }
        let mut options = own.options;
        let chosen = self.style.lock().await.clone();
        options.output_style = chosen.or(options.output_style);
        let lane = self.open(row, own.kin, options).await.map_err(|error| match error {
            SessionError::Store(error) => refused(&error),
            error @ SessionError::Folder { .. } => ClientError::Refused(error.to_string()),
        })?;
        lock(&self.lanes).insert(id, lane.clone());
        Ok(lane)
    }

    async fn open(
        &self,
        row: store::Session,
        kin: Kin,
        options: Options,
    ) -> Result<Lane, SessionError> {
        let held = self.mind.store.queued(row.summary.id).await?;
        let session = Session::open(self, row, kin, options).await?;
        Ok(Lane::open(session, held, self))
    }

    /// Opens a sub-agent's lane, if it has none: two would write one session. Faces reach it like any other
    /// while it is open.
    pub(crate) async fn open_child(
        &self,
        row: store::Session,
        kin: Kin,
        options: Options,
    ) -> Result<Lane, String> {
        let id = row.summary.id;
        self.events.adopt(id, kin.root(id));
        let opening = self.opening(id);
        let _opening = opening.lock().await;
        if lock(&self.lanes).get(&id).is_some_and(|lane| !lane.has_ended()) {
            return Err(format!("Cannot resume `{id}`: it is still at work."));
        }
        let lane = self.open(row, kin, options).await.map_err(|error| error.to_string())?;
        lock(&self.lanes).insert(id, lane.clone());
        Ok(lane)
    }

    /// Tells a session that is open; nobody opens one for this.
    pub(crate) async fn tell_open(
        &self,
        session: SessionId,
        note: Note,
    ) -> Result<(), ClientError> {
        let lane = self.open_lane(session);
        lane.ok_or(ClientError::Closed)?.tell(note).await
    }

    /// The lane of a session that is open.
    pub(crate) fn open_lane(&self, session: SessionId) -> Option<Lane> {
        lock(&self.lanes).get(&session).cloned()
    }

    /// All sessions that are open.
    pub(crate) fn open_lanes(&self) -> Vec<Arc<Sight>> {
        lock(&self.lanes).values().map(|lane| lane.sight().clone()).collect()
    }

    /// Closes a session's lane: what it knows is no longer true.
    pub(crate) async fn forget(&self, session: SessionId) {
        let Some(lane) = self.open_lane(session) else { return };
        lane.close().await;
        let mut lanes = lock(&self.lanes);
        if lanes.get(&session).is_some_and(Lane::has_ended) {
            lanes.remove(&session);
        }
    }

    pub(crate) async fn ask(&self, query: Query) -> Result<Reply, ClientError> {
        let store = &self.mind.store;
        let reply = match query {
            Query::Sessions { folder, limit } => {
                let place = folder.map_or(Place::Anywhere, Place::Folder);
                let filter =
                    SessionFilter { place, limit: Some(limit), ..SessionFilter::default() };
                let sessions = store.sessions(filter).await;
                sessions.map(|sessions| Reply::Sessions { sessions })
            }
            Query::Session { session } => {
                let row = store.session(session).await;
                row.map(|row| Reply::Sessions { sessions: vec![row.summary] })
            }
            Query::Entries { session, before, limit } => {
                return self.entries(session, before, limit).await;
            }
            Query::Children { session, calls } => return self.children(session, calls).await,
            Query::State { session } => return self.state(session).await,
            Query::Models { search } => return self.models(search).await,
            Query::Offers { folder } => return self.offers(folder).await,
            Query::Files { folder, search, limit } => {
                return self.files(folder, search, limit).await;
            }
            Query::Context { session } => return self.bill(session).await,
            Query::Find { words, limit } => self.find(&words, limit).await,
            Query::History { folder, limit } => self.history(&folder, limit).await,
            Query::Changes { session } => return self.changes(session).await,
            Query::Checkpoints { session } => return self.checkpoints(session).await,
            Query::Recall { key } => store.recall(key).await.map(|value| Reply::Recalled { value }),
            Query::Place { .. }
            | Query::Providers
            | Query::Servers { .. }
            | Query::ServersChanged { .. } => return Err(not_here()),
        };
        reply.map_err(|error| refused(&error))
    }
}

impl Client for Coordinator {
    fn submit(&self, op: Op) -> BoxFuture<'_, Result<(), ClientError>> {
        let owner = self.connect(Principal::owner());
        Box::pin(async move { owner.submit(op).await })
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Reply, ClientError>> {
        Box::pin(self.hub.ask(query))
    }

    fn subscribe(&self, filter: EventFilter, since: u64) -> EventStream {
        self.hub.events.since(filter, since)
    }
}

/// How a session is set; what is none stays as it was.
struct Set {
    session: SessionId,
    model: Option<ModelRef>,
    effort: Option<Effort>,
    mode: Option<Mode>,
}

impl Set {
    fn of(session: SessionId) -> Self {
        Self { session, model: None, effort: None, mode: None }
    }
}

/// What only the entrance knows: keys, trust, the folder before a session.
fn not_here() -> ClientError {
    ClientError::Refused(
        "the agent cannot do this; it is asked of the program around it".to_owned(),
    )
}

/// Why the memory could not do what was asked, for a face.
pub(crate) fn refused(error: &StoreError) -> ClientError {
    if let StoreError::NoSession(id) = error {
        ClientError::NotFound(format!("session {id}"))
    } else if let StoreError::NoEntry { entry, .. } = error {
        ClientError::NotFound(format!("entry {entry}"))
    } else {
        ClientError::Refused(error.to_string())
    }
}
