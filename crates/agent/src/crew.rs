//! Sub-agents: sessions that work for a call of another session.
//!
//! A sub-agent is an ordinary session with a lane of its own, so faces can watch, steer and stop it. What
//! ties it to its parent is its [`Kin`]: it may do nothing its parent may not, what it spends its parent
//! spends, and it ends with its parent's call.
//!
//! | module | does |
//! |---|---|
//! | `role` | what an agent's definition makes of a session: tools, model, limits |
//! | `builtin` | the agents that are always there |
//! | `memory` | notes an agent keeps between tasks |
//! | `model` | the model a word of its definition stands for |
//! | `mention` | agents in a prompt: those the user names, those that are new |
//! | `outcome` | what came of a sub-agent, in words for its parent |
//! | `progress` | a sub-agent's calls as a tree, while it works |
//! | `review` | what a definition asks for that is not here |
//! | `word` | a word of its list of tools |
//! | `worktree` | a copy of the repository to work in |

mod builtin;
mod memory;
mod mention;
mod model;
mod outcome;
mod progress;
mod review;
mod role;
mod word;
mod worktree;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use base::protocol::Delivery;
use base::{Entry, EntryId, Event, Origin, Part, PartBody, SessionId};
use futures::future::BoxFuture;
use guard::Fence;
use llm::Reasoning;
use settings::definition::agent::Isolation;
use settings::definition::{Agent, Skill};
use store::{ChildOf, NewSession, Queued, StoreError};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;
use tools::{Order, Report, Spawner, ToolCtx, ToolError, Web, Who};

use crate::coordinator::Hub;
use crate::hooks::Actor;
use crate::lane::{Lane, Note, Wake};
use crate::live::{Live, lock};
use crate::mind::{Mind, Options, Presence};
use crate::purse::Purse;
use worktree::Worktree;

pub use builtin::all as built_in;
pub(crate) use model::Choice;
pub(crate) use outcome::settle_debts;
pub use review::{Around, review};
pub(crate) use role::{most_running, on_its_own};

/// Most paths that are named of those a sub-agent was refused.
const REFUSED: usize = 5;

/// What a session is in its family.
#[derive(Clone, Default)]
pub(crate) struct Kin {
    /// The session it works for; none for one that a face began.
    pub(crate) above: Option<Above>,
    /// The agent it runs as; none for ours.
    pub(crate) agent: Option<Arc<Agent>>,
    /// What it is locked into; none for one that works in its folder.
    pub(crate) lock: Option<Lock>,
    /// The skill it works on; none for a task in somebody's own words.
    pub(crate) skill: Option<Arc<Skill>>,
}

/// What a session is locked into.
#[derive(Clone)]
pub(crate) struct Lock {
    /// The fence around it.
    pub(crate) fence: Fence,
    /// The real folder.
    pub(crate) room: PathBuf,
    /// How it reaches the web.
    pub(crate) web: Web,
}

/// The session that another one works for.
#[derive(Clone)]
pub(crate) struct Above {
    /// The session at the top of the family.
    pub(crate) root: SessionId,
    /// The folder of that one.
    pub(crate) folder: PathBuf,
    /// How many sessions are above the one that works.
    pub(crate) depth: u32,
    /// What it may do.
    pub(crate) live: Arc<Live>,
    /// What it may spend.
    pub(crate) purse: Arc<Purse>,
    /// How faces are told that the one that works has begun.
    pub(crate) begun: Arc<Event>,
}

impl Kin {
    /// The agent's name; none for ours.
    pub(crate) fn agent_name(&self) -> Option<String> {
        self.agent.as_ref().map(|agent| agent.name.clone())
    }

    /// What the agent is told first; none for our own words.
    pub(crate) fn prompt(&self) -> Option<String> {
        let agent = self.agent.as_ref()?;
        (!agent.prompt.trim().is_empty()).then(|| agent.prompt.clone())
    }

    /// The sub-agent, as hooks are told of it; none for the main one.
    pub(crate) fn seated(&self, own: SessionId) -> Option<Actor> {
        let Above { root, folder, .. } = self.above.as_ref()?;
        let (kind, project) = (self.agent_name()?, folder.clone());
        Some(Actor { id: own.to_string(), kind, root: *root, project })
    }

    /// The taint its calls are judged by. A confined session has nothing to give away but its prompt, so only the
    /// content its caller had read counts, and not the pages it reads itself.
    pub(crate) fn taint(&self, own: &guard::Taint) -> guard::Taint {
        match &self.above {
            Some(above) if self.is_confined() => above.live.taint(),
            Some(_) | None => own.clone(),
        }
    }

    /// Whether it is locked into a place where nothing of the user's is.
    pub(crate) fn is_confined(&self) -> bool {
        self.lock.is_some()
    }

    /// The session at the top of the family of `own`.
    pub(crate) fn root(&self, own: SessionId) -> SessionId {
        self.above.as_ref().map_or(own, |above| above.root)
    }
}

/// The sub-agents of one session.
pub(crate) struct Crew {
    hub: Weak<Hub>,
    session: SessionId,
    project: String,
    folder: PathBuf,
    kin: Kin,
    options: Options,
    live: Arc<Live>,
    purse: Arc<Purse>,
    /// How many work in the background.
    background: watch::Sender<usize>,
    stopping: Mutex<Stopping>,
}

/// What stops those in the background.
#[derive(Default)]
struct Stopping {
    /// The end of the session's lane.
    lane: CancellationToken,
    /// The next stop: a new one after each.
    next: CancellationToken,
}

/// A sub-agent at work.
struct Child {
    session: SessionId,
    agent: Arc<Agent>,
    lane: Lane,
    /// How many entries it had before its task.
    entries: usize,
    /// Turns that had ended before its task.
    turns: u64,
    worktree: Option<Worktree>,
    /// The fence it is locked into, which remembers what it refused.
    fence: Option<Fence>,
    _place: OwnedSemaphorePermit,
    /// Whatever becomes of the one who waits, the lane does not stay.
    _closing: tokio_util::sync::DropGuard,
}

impl Crew {
    /// The crew of a session that is being opened.
    pub(crate) fn new(
        hub: &Hub,
        row: &store::Session,
        kin: &Kin,
        options: &Options,
        (live, purse): (&Arc<Live>, &Arc<Purse>),
    ) -> Self {
        Self {
            hub: hub.me.clone(),
            session: row.summary.id,
            project: row.project.clone(),
            folder: PathBuf::from(&row.summary.folder),
            kin: kin.clone(),
            options: options.clone(),
            live: live.clone(),
            purse: purse.clone(),
            background: watch::Sender::new(0),
            stopping: Mutex::default(),
        }
    }

    /// Whether the session may start sub-agents.
    pub(crate) fn may_delegate(&self) -> bool {
        let Some(hub) = self.hub.upgrade() else { return false };
        !self.kin.is_confined() && self.depth() < hub.mind.config.agents.depth()
    }

    /// The agents tasks can be given to, with their descriptions.
    pub(crate) fn offered(&self) -> Vec<(String, String)> {
        let Some(hub) = self.hub.upgrade().filter(|_| self.may_delegate()) else {
            return Vec::new();
        };
        let policy = self.live.policy();
        let named = |agent: &&Agent| {
            let action = guard::Action::Named(agent.name.clone());
            let verdict = policy.decide("agent", &[action], &guard::Taint::Clean);
            verdict.decision != guard::Decision::Deny
        };
        let definitions = hub.mind.shelf.look(&self.folder);
        let agents = definitions.agents.iter().filter(named);
        agents.map(|agent| (agent.name.clone(), agent.description.clone())).collect()
    }

    /// What is added to a prompt about agents.
    pub(crate) fn asides(&self, prompt: &[Part], branch: &[Entry]) -> Vec<Part> {
        let offered = self.offered();
        if self.may_delegate() { mention::asides(prompt, branch, &offered) } else { Vec::new() }
    }

    /// What the session's agent is told besides its own prompt: skills it begins with, notes it keeps.
    pub(crate) fn briefing(&self) -> Vec<String> {
        let (Some(hub), Some(agent)) = (self.hub.upgrade(), &self.kin.agent) else {
            return Vec::new();
        };
        let mut texts = Vec::new();
        if !agent.skills.is_empty() {
            texts = mention::preloaded(&agent.skills, &hub.mind.shelf.look(&self.folder));
        }
        let notes = memory::folder(agent, &hub.mind, &self.folder);
        texts.extend(notes.map(|folder| memory::told(&folder)));
        texts
    }

    /// What an agent that is the main one says first, for the user.
    pub(crate) fn first_words(&self) -> Option<Part> {
        let agent = self.kin.agent.as_ref().filter(|_| self.kin.above.is_none())?;
        agent.initial_prompt.as_deref().map(Part::user_text)
    }

    /// Has those that work in the background end with the session's lane.
    pub(crate) fn end_with(&self, lane: &CancellationToken) {
        *lock(&self.stopping) = Stopping { lane: lane.clone(), next: lane.child_token() };
    }

    /// Stops those that work in the background.
    pub(crate) fn stop(&self) {
        let mut stopping = lock(&self.stopping);
        let fresh = stopping.lane.child_token();
        std::mem::replace(&mut stopping.next, fresh).cancel();
    }

    /// Whether some work in the background.
    pub(crate) fn is_at_work(&self) -> bool {
        *self.background.borrow() > 0
    }

    /// Where nobody would say another word, as to a sub-agent, waits for those in the background; tells whether
    /// one has reported.
    pub(crate) async fn awaits_report(&self, cancel: &CancellationToken) -> bool {
        let nobody = |hub: Arc<Hub>| hub.mind.presence == Presence::Alone;
        let is_alone = self.kin.above.is_some() || self.hub.upgrade().is_some_and(nobody);
        let mut running = self.background.subscribe();
        while is_alone && !self.live.queue.has_joining() && *running.borrow_and_update() > 0 {
            let changed = cancel.run_until_cancelled(running.changed()).await;
            if !matches!(changed, Some(Ok(()))) {
                return false;
            }
        }
        self.live.queue.has_joining()
    }

    fn depth(&self) -> u32 {
        self.kin.above.as_ref().map_or(0, |above| above.depth + 1)
    }

    async fn start(
        &self,
        hub: &Arc<Hub>,
        order: &Order,
        ctx: &ToolCtx,
    ) -> Result<Child, ToolError> {
        let place = self.place(hub, ctx).await?;
        let known = match &order.resume {
            Some(id) => Some(self.known(hub, id).await?),
            None => None,
        };
        let name = known.as_ref().map(|row| Who::Named(row.agent.clone().unwrap_or_default()));
        let definitions = hub.mind.shelf.look(&self.folder);
        let who = name.as_ref().unwrap_or(&order.who);
        let agent = role::find(who, &definitions, &hub.mind.config.agents);
        let agent = agent.map_err(ToolError::Refused)?;
        self.check_name(&order.who, &agent)?;
        // Whatever is refused is refused before anything of it is there.
        let options = self.options_for(hub, &agent, order)?;
        let (row, worktree) = match known {
            Some(row) => self.again(hub, row, ctx).await?,
            None => self.fresh(hub, order, &agent, ctx).await?,
        };
        let (session, entries) = (row.summary.id, row.summary.entries);
        let begun = Arc::new(Event::ChildStarted {
            session: self.session,
            call: ctx.call.clone(),
            child: session,
            agent: agent.name.clone(),
            color: agent.color.clone(),
        });
        let above = Above {
            root: self.kin.root(self.session),
            folder: self.kin.above.as_ref().map_or(&self.folder, |above| &above.folder).clone(),
            depth: self.depth(),
            live: self.live.clone(),
            purse: self.purse.clone(),
            begun: begun.clone(),
        };
        let lock = match &order.who {
            Who::Researcher { room, web } => {
                Some(Lock { fence: role::confined(room)?, room: room.clone(), web: web.clone() })
            }
            Who::Explorer | Who::Named(_) => None,
        };
        let fence = lock.as_ref().map(|lock| lock.fence.clone());
        let skill = order.terms.skill.clone();
        let kin = Kin { above: Some(above), agent: Some(agent.clone()), lock, skill };
        let lane = hub.open_child(row, kin, options).await.map_err(ToolError::Refused)?;
        hub.events.publish(Event::clone(&begun));
        let closing = lane.closing().clone().drop_guard();
        let turns = lane.turns_ended();
        let parts = vec![Part::user_text(&order.prompt)];
        let said =
            lane.tell(Note::Say { entry: EntryId::new(), parts, delivery: Delivery::Steer }).await;
        said.map_err(|error| ToolError::Refused(error.to_string()))?;
        let entries = usize::try_from(entries).unwrap_or(usize::MAX);
        Ok(Child {
            session,
            agent,
            lane,
            entries,
            turns,
            worktree,
            fence,
            _place: place,
            _closing: closing,
        })
    }

    /// Refuses an agent by another name than its own where rules are about that one: what was judged is who
    /// works. A session that is resumed has an agent already, whoever was named.
    fn check_name(&self, asked: &Who, agent: &Agent) -> Result<(), ToolError> {
        let judged = match asked {
            Who::Explorer => builtin::EXPLORER,
            Who::Named(name) => name.as_str(),
            Who::Researcher { .. } => return Ok(()),
        };
        let action = guard::Action::Named(agent.name.clone());
        let verdict = || self.live.policy().decide("agent", &[action], &guard::Taint::Clean);
        if judged == agent.name || verdict().decision == guard::Decision::Allow {
            return Ok(());
        }
        let name = &agent.name;
        let text =
            format!("The agent is called `{name}`: name it so, for only then can it be allowed.");
        Err(ToolError::Refused(text))
    }

    /// Refuses to make a worktree where that would need a question, which only a call with `isolation` asks.
    fn check_worktree(&self, ctx: &ToolCtx) -> Result<(), ToolError> {
        let change = guard::git::worktree_change(&ctx.workspace.fence);
        let change = change.map_err(|error| ToolError::Refused(error.to_string()))?;
        let verdict = self.live.policy().decide("agent", &[change], &self.live.taint());
        if verdict.decision == guard::Decision::Allow {
            return Ok(());
        }
        let text = format!(
            "A git worktree would have to be made, and nobody allowed that: {}. Call `agent` with \
             `isolation: \"worktree\"` and without `resume` to have it asked.",
            verdict.reason
        );
        Err(ToolError::Refused(text))
    }

    /// Waits for a place; below the top nobody waits, since those who hold the places may wait for us.
    async fn place(&self, hub: &Hub, ctx: &ToolCtx) -> Result<OwnedSemaphorePermit, ToolError> {
        if self.depth() > 0 {
            return hub.places.clone().try_acquire_owned().map_err(|_| {
                let text = "As many sub-agents as may are running already; do it yourself.";
                ToolError::Refused(text.to_owned())
            });
        }
        let waiting = hub.places.clone().acquire_owned();
        match ctx.cancel.run_until_cancelled(waiting).await {
            Some(Ok(place)) => Ok(place),
            Some(Err(_)) | None => Err(ToolError::Cancelled),
        }
    }

    /// A new session for a task.
    async fn fresh(
        &self,
        hub: &Hub,
        order: &Order,
        agent: &Agent,
        ctx: &ToolCtx,
    ) -> Result<(store::Session, Option<Worktree>), ToolError> {
        let session = SessionId::new();
        let worktree = if [order.isolation, agent.isolation].contains(&Isolation::Worktree) {
            // Whoever asked for it was judged for it; a skill that names such an agent was not.
            if order.isolation != Isolation::Worktree {
                self.check_worktree(ctx)?;
            }
            Some(Worktree::open(&hub.mind, &self.folder, session).await?)
        } else {
            None
        };
        let folder = match (&order.who, &worktree) {
            (Who::Researcher { .. }, _) => guard::room::SHOWN.to_owned(),
            (Who::Explorer | Who::Named(_), Some(worktree)) => worktree.folder(),
            (Who::Explorer | Who::Named(_), None) => self.folder.display().to_string(),
        };
        let report =
            if is_background(order, agent) { store::Report::Owed } else { store::Report::Told };
        let child_of = ChildOf { parent: self.session, call: ctx.call.clone(), report };
        let new = NewSession {
            id: session,
            folder,
            project: self.project.clone(),
            agent: Some(agent.name.clone()),
            child_of: Some(child_of),
            at: hub.mind.clock.now(),
        };
        let store = &hub.mind.store;
        store.create_session(new).await.map_err(|error| broken(&error))?;
        if !order.title.trim().is_empty() {
            store.rename(session, order.title.clone()).await.map_err(|error| broken(&error))?;
        }
        let row = store.session(session).await.map_err(|error| broken(&error))?;
        Ok((row, worktree))
    }

    /// A sub-agent of this session that has finished and takes another prompt.
    async fn known(&self, hub: &Hub, id: &str) -> Result<store::Session, ToolError> {
        let wrong = |why: &str| ToolError::Refused(format!("Cannot resume `{id}`: {why}."));
        let session: SessionId =
            id.trim().parse().map_err(|_| wrong("it is not the id of a sub-agent's session"))?;
        let row = hub.mind.store.session(session).await.map_err(|_| wrong("there is none"))?;
        if row.child_of.as_ref().is_none_or(|child| child.parent != self.session) {
            return Err(wrong("it is not a sub-agent of this session"));
        }
        Ok(row)
    }

    /// The place a sub-agent has worked in, for its next prompt.
    async fn again(
        &self,
        hub: &Hub,
        row: store::Session,
        ctx: &ToolCtx,
    ) -> Result<(store::Session, Option<Worktree>), ToolError> {
        let worktree = if worktree::is_of(&hub.mind, &row) {
            if !worktree::exists(&hub.mind, row.summary.id) {
                self.check_worktree(ctx)?;
            }
            Some(Worktree::open(&hub.mind, &self.folder, row.summary.id).await?)
        } else {
            None
        };
        Ok((row, worktree))
    }

    fn options_for(&self, hub: &Hub, agent: &Agent, order: &Order) -> Result<Options, ToolError> {
        let policy = self.live.policy();
        // What the user has set since the session was opened holds for its sub-agents too.
        let own = Options { reasoning: self.live.reasoning(), ..self.options.clone() };
        let parent = role::Parent {
            mind: &hub.mind,
            top: &hub.options,
            options: &own,
            target: self.live.target(),
            rules: &policy.rules,
            mode: policy.mode,
            taint: self.live.taint(),
            folder: &self.folder,
        };
        let cast = parent.cast(agent, &order.who, order.model.as_deref());
        let (mut options, notes) = cast.map_err(ToolError::Refused)?;
        options.rules.deny.extend(order.terms.deny.iter().cloned());
        if let Some(effort) = order.terms.effort {
            options.reasoning = Reasoning::Effort(effort);
        }
        for text in notes {
            hub.events.publish(Event::Notice { session: Some(self.session), text });
        }
        Ok(options)
    }

    /// Waits for a sub-agent's end, and puts what came of it into words.
    async fn wait(&self, hub: &Arc<Hub>, child: &mut Child) -> Result<Report, ToolError> {
        let close = child.lane.rested(child.turns).await;
        child.lane.close().await;
        hub.forget(child.session).await;
        self.tell_refused(hub, child);
        let branch = hub.mind.store.branch(child.session).await.map_err(|error| broken(&error))?;
        let task = branch.get(child.entries..).unwrap_or_default();
        let mut came = outcome::of(task, close.as_ref());
        if let Some(worktree) = child.worktree.take() {
            came.text.push_str(&worktree.finish().await);
        }
        let agent = child.agent.name.clone();
        let report = Report {
            session: child.session,
            text: came.text,
            origin: outcome::origin(&branch),
            agent,
        };
        match came.failure {
            None => Ok(report),
            Some(why) => {
                let text = outcome::failed(&report, &why);
                Err(ToolError::Told { text, origin: report.origin, files: Vec::new() })
            }
        }
    }

    /// Sees to the copy that a stopped sub-agent worked in, once it has settled: the user is told if something
    /// changed there.
    fn tidy(&self, hub: &Arc<Hub>, child: &mut Child) {
        let Some(worktree) = child.worktree.take() else { return };
        let (agent, session, hub) = (child.agent.name.clone(), self.session, hub.clone());
        let lane = child.lane.clone();
        hub.clone().scope.spawn_settling(async move {
            lane.close().await;
            if let Some(text) = worktree.kept().await {
                let text = format!("The agent {agent} was stopped. {text}");
                hub.events.publish(Event::Notice { session: Some(session), text });
            }
        });
    }

    /// Tells the user what a sub-agent has tried to reach outside the place it is locked into.
    fn tell_refused(&self, hub: &Hub, child: &Child) {
        let refused = child.fence.as_ref().map(Fence::refused).unwrap_or_default();
        if refused.is_empty() {
            return;
        }
        let named: Vec<&str> = refused.iter().take(REFUSED).map(String::as_str).collect();
        let text = format!(
            "The agent {} asked for what is not its own, and was refused ({} times): {}",
            child.agent.name,
            refused.len(),
            named.join(", ")
        );
        hub.events.publish(Event::Notice { session: Some(self.session), text });
    }

    /// Lets a sub-agent work on while the session does, and has it report at its end.
    fn leave(self: &Arc<Self>, hub: &Arc<Hub>, mut child: Child) {
        let stopping = lock(&self.stopping).next.clone();
        self.background.send_modify(|running| *running += 1);
        let (crew, hub) = (self.clone(), hub.clone());
        hub.clone().scope.spawn_settling(async move {
            let closing = child.lane.closing().clone();
            let stop = async {
                stopping.cancelled().await;
                closing.cancel();
                std::future::pending::<()>().await;
            };
            let came = tokio::select! {
                came = crew.wait(&hub, &mut child) => came,
                () = stop => return,
            };
            // At the end of the process nobody is told: the next one does it.
            if !hub.scope.token().is_cancelled() {
                let wake = if stopping.is_cancelled() { Wake::Not } else { Wake::Up };
                crew.tell(&hub, child.session, &came, wake).await;
            }
            crew.background.send_modify(|running| *running -= 1);
        });
    }

    /// Tells the session of a sub-agent's end, once.
    async fn tell(
        &self,
        hub: &Hub,
        child: SessionId,
        came: &Result<Report, ToolError>,
        wake: Wake,
    ) {
        let (text, origin) = match came {
            Ok(report) => (outcome::told(report), report.origin.clone()),
            Err(ToolError::Told { text, origin, .. }) => (text.clone(), origin.clone()),
            Err(error) => (error.to_string(), Origin::System),
        };
        let prompt = report_prompt(&hub.mind, text, origin);
        let owed = hub.mind.store.report(child, prompt.clone()).await;
        if matches!(owed, Ok(true)) {
            // A session that is closed meanwhile finds the report in its queue.
            drop(hub.tell_open(self.session, Note::Heard(Box::new(prompt), wake)).await);
        }
    }
}

/// The spawner of a session: its crew, which must outlive a call to run in the background.
pub(crate) struct Spawning(pub(crate) Arc<Crew>);

impl Spawner for Spawning {
    fn isolation(&self, who: &Who) -> Isolation {
        let crew = &self.0;
        let Some(hub) = crew.hub.upgrade() else { return Isolation::None };
        let definitions = hub.mind.shelf.look(&crew.folder);
        let agent = role::find(who, &definitions, &hub.mind.config.agents);
        agent.map_or(Isolation::None, |agent| agent.isolation)
    }

    fn spawn<'a>(
        &'a self,
        order: Order,
        ctx: &'a ToolCtx,
    ) -> BoxFuture<'a, Result<Report, ToolError>> {
        Box::pin(async move {
            let crew = &self.0;
            let hub = crew.hub.upgrade().ok_or(ToolError::Cancelled)?;
            if !crew.may_delegate() {
                let text = "Sub-agents cannot start sub-agents here; do it yourself.";
                return Err(ToolError::Refused(text.to_owned()));
            }
            let mut child = crew.start(&hub, &order, ctx).await?;
            if is_background(&order, &child.agent) {
                if order.resume.is_some() {
                    let owing = hub.mind.store.owe_report(child.session).await;
                    owing.map_err(|error| broken(&error))?;
                }
                let report = outcome::begun(child.session, &child.agent.name);
                crew.leave(&hub, child);
                return Ok(report);
            }
            let watching = progress::show(&hub.events, child.session, &ctx.progress);
            tokio::select! {
                came = crew.wait(&hub, &mut child) => came,
                () = watching => Err(ToolError::Cancelled),
                () = ctx.cancel.cancelled() => {
                    child.lane.closing().cancel();
                    // Whoever cancelled may not wait for it to settle: first what must be done then.
                    crew.tidy(&hub, &mut child);
                    drop(child.lane.rested(child.turns).await);
                    hub.forget(child.session).await;
                    Err(ToolError::Cancelled)
                }
            }
        })
    }
}

/// Whether the caller goes on meanwhile.
fn is_background(order: &Order, agent: &Agent) -> bool {
    order.background.unwrap_or(agent.background)
}

/// A report as the parent's next prompt.
fn report_prompt(mind: &Mind, text: String, origin: Origin) -> Queued {
    Queued {
        entry: EntryId::new(),
        at: mind.clock.now(),
        delivery: Delivery::Steer,
        parts: vec![Part::new(PartBody::Text { text }, origin)],
    }
}

fn broken(error: &StoreError) -> ToolError {
    ToolError::Refused(format!("The sub-agent could not be kept: {error}"))
}
