//! One session as a turn works on it: branch, prefix, hands, and what may change while a turn runs.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::protocol::{Mode, Scope};
use base::transcript::{self, Call, ToolSpec, is_unfinished, last_said, open_calls, turns};
use base::{
    Entry, EntryId, EntryKind, Env, Event, ModelRef, Money, Origin, Part, PartBody, SessionId,
    Timestamp,
};
use futures::future::BoxFuture;
use guard::cage::Bounds;
use guard::policy::{CageState, Depth};
use guard::process::child_env;
use guard::{Cage, Fence, Policy, Reach, Rule, Runner, Taint};
use llm::{Reasoning, Request, Target};
use store::{By, Queued, StoreError, UsageQuery};
use tools::jobs::Jobs;
use tools::web::Web;
use tools::{Desk, DeskError, Question, Workspace};

use crate::approvals::Waiting;
use crate::budget::Tally;
use crate::events::Events;
use crate::instructions::{self, Loaded};
use crate::mind::{Mind, Options, Presence, Tools};
use crate::prompt::{self, Audience, Hints};
use crate::{commands, surroundings, toolset};

/// What is said for the user who wants an interrupted answer to go on.
const GO_ON: &str = "Go on from where you stopped.";

/// Why a session cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// It could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its folder is gone or cannot be entered.
    #[error("cannot work in {folder}: {source}")]
    Folder {
        /// The folder.
        folder: String,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A session. One owner at a time: its lane, or the turn that runs.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) mind: Arc<Mind>,
    pub(crate) events: Events,
    pub(crate) waiting: Waiting,
    pub(crate) options: Options,
    pub(crate) live: Arc<Live>,
    pub(crate) workspace: Arc<Workspace>,
    project: String,
    /// The current branch, oldest first.
    pub(crate) branch: Vec<Entry>,
    /// Whether content nobody vouches for is in the context.
    pub(crate) taint: Taint,
    /// What the session has used up, side calls and earlier processes included.
    pub(crate) tally: Tally,
    /// What all sessions cost today, when this one was opened.
    pub(crate) day_cost: Money,
    /// The instruction files the system prompt was made with; loaded when they are first asked for.
    instructions: Option<Loaded>,
}

/// What may change while a turn runs.
pub(crate) struct Live {
    policy: Mutex<Arc<Policy>>,
    /// The cages children have run in: making one anew for each costs.
    cages: Mutex<HashMap<Reach, Option<Arc<Cage>>>>,
    /// Where caged children put temporary files.
    pub(crate) temp: PathBuf,
    /// Our own keys, which no child reads.
    credentials: PathBuf,
    wishes: Mutex<Wishes>,
    steered: Mutex<VecDeque<Queued>>,
}

#[derive(Default)]
struct Wishes {
    target: Option<Target>,
    reasoning: Option<Reasoning>,
}

impl Live {
    /// What decides about calls, now.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        lock(&self.policy).clone()
    }

    /// Finds out whether this machine can cage a command; tried once a process, when one is to run.
    pub(crate) async fn look_for_cage(&self) {
        // Starts a child and waits for it.
        let probed = tokio::task::spawn_blocking(|| Cage::probe().state()).await;
        Arc::make_mut(&mut lock(&self.policy)).cage = probed.unwrap_or(CageState::Missing);
    }

    /// The cage of a reach; none where anything is allowed.
    pub(crate) fn cage(&self, reach: Reach) -> Option<Arc<Cage>> {
        let make = || {
            let policy = self.policy();
            let mut bounds = Bounds::for_reach(reach, &policy.fence, &self.temp)?;
            bounds.hidden.push(self.credentials.clone());
            // What a rule keeps from tools is kept from commands, too.
            for root in policy.fence.roots() {
                bounds.hidden.extend(policy.closed_below(root, Depth::Everything).places);
            }
            Some(Arc::new(Cage::new(bounds)))
        };
        lock(&self.cages).entry(reach).or_insert_with(make).clone()
    }

    /// Changes how questions are answered.
    pub(crate) fn set_mode(&self, mode: Mode) {
        Arc::make_mut(&mut lock(&self.policy)).mode = mode;
    }

    /// Adds rules that allow.
    pub(crate) fn allow(&self, rules: Vec<Rule>) {
        Arc::make_mut(&mut lock(&self.policy)).rules.allow.extend(rules);
    }

    /// Another model, from the next call on.
    pub(crate) fn set_target(&self, target: Target) {
        lock(&self.wishes).target = Some(target);
    }

    /// Thinks harder or less, from the next call on.
    pub(crate) fn set_reasoning(&self, reasoning: Reasoning) {
        lock(&self.wishes).reasoning = Some(reasoning);
    }

    /// Lets a prompt join the running turn.
    pub(crate) fn steer(&self, prompt: Queued) {
        lock(&self.steered).push_back(prompt);
    }

    /// The prompts that wait to join.
    pub(crate) fn take_steered(&self) -> Vec<Queued> {
        lock(&self.steered).drain(..).collect()
    }

    /// Whether a prompt waits to join.
    pub(crate) fn has_steered(&self) -> bool {
        !lock(&self.steered).is_empty()
    }

    /// Takes back a prompt that waits to join.
    pub(crate) fn unsteer(&self, entry: EntryId) {
        lock(&self.steered).retain(|prompt| prompt.entry != entry);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Opens a stored session.
    pub(crate) async fn open(
        mind: Arc<Mind>,
        events: Events,
        waiting: Waiting,
        id: SessionId,
        options: Options,
    ) -> Result<Self, SessionError> {
        let row = mind.store.session(id).await?;
        let folder = row.summary.folder.clone();
        let fence = Fence::new(folder.as_ref(), &options.more_folders, mind.paths.home())
            .map_err(|source| SessionError::Folder { folder, source })?;
        let branch = mind.store.branch(id).await?;
        let mut rules = options.rules.clone();
        for grant in mind.store.grants(Some(id), row.project.clone()).await? {
            // A rule this version no longer understands allows nothing.
            rules.allow.extend(Rule::parse(&grant.rule));
        }
        let policy =
            Policy { rules, mode: options.mode, fence: fence.clone(), cage: CageState::Missing };
        let live = Live {
            policy: Mutex::new(Arc::new(policy)),
            cages: Mutex::default(),
            temp: temporary(&mind.env, id),
            credentials: mind.paths.credentials(),
            wishes: Mutex::default(),
            steered: Mutex::default(),
        };
        let desk: Arc<dyn Desk> = match mind.presence {
            Presence::Alone => Arc::new(Nobody),
            Presence::Attended => {
                Arc::new(Faces { session: id, events: events.clone(), waiting: waiting.clone() })
            }
        };
        let allowed = &mind.config.tools.fetch.allow_private;
        let (web, warnings) = Web::from_settings(allowed, &mind.config.network, &mind.env);
        for text in warnings {
            events.publish(Event::Notice { session: Some(id), text });
        }
        // What the settings name for commands is meant for them, secret or not.
        let named = mind
            .config
            .env
            .keys()
            .filter_map(|name| Some((name.clone(), mind.env.get(name)?.to_owned())));
        let workspace = Workspace {
            session: id,
            fence,
            env: child_env(&mind.env).with(named),
            store: mind.store.clone(),
            clock: mind.clock.clone(),
            jobs: Jobs::default(),
            limits: mind.config.tools.clone(),
            spill: mind.paths.data().join("output").join(id.to_string()),
            cache: mind.paths.cache().to_owned(),
            sees_images: options.target.model.supports_attachments,
            web,
            desk,
            redactor: mind.redactor.clone(),
        };
        let taint = branch.iter().map(taint_of).fold(Taint::Clean, stain);
        let (tally, day_cost) = (spent_before(&mind, id).await?, spent_today(&mind).await?);
        Ok(Self {
            id,
            events,
            waiting,
            options,
            live: Arc::new(live),
            workspace: Arc::new(workspace),
            project: row.project,
            branch,
            taint,
            tally,
            day_cost,
            instructions: None,
            mind,
        })
    }

    /// The newest entry of the branch.
    pub(crate) fn head(&self) -> Option<EntryId> {
        self.branch.last().map(|entry| entry.id)
    }

    /// An entry that follows the newest one.
    pub(crate) fn entry(&self, kind: EntryKind) -> Entry {
        Entry { id: EntryId::new(), parent: self.head(), at: self.mind.clock.now(), kind }
    }

    /// Makes entries durable, each below the one before, and tells the faces.
    pub(crate) async fn append(&mut self, entries: Vec<Entry>) -> Result<(), StoreError> {
        self.mind.store.append(self.id, entries.clone()).await?;
        self.took(entries);
        Ok(())
    }

    /// The same for a step inside a turn.
    pub(crate) async fn append_step(&mut self, entry: Entry) -> Result<(), StoreError> {
        self.mind.store.append_step(self.id, vec![entry.clone()]).await?;
        self.took(vec![entry]);
        Ok(())
    }

    fn took(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            let event = Event::Appended { session: self.id, entry: entry.clone() };
            self.events.publish(event);
            self.adopt(entry);
        }
    }

    /// Takes an entry that is durable already into the branch.
    pub(crate) fn adopt(&mut self, entry: Entry) {
        self.taint = stain(std::mem::take(&mut self.taint), taint_of(&entry));
        self.branch.push(entry);
    }

    /// Makes prompts entries of the branch, with what must stand before the first of them.
    pub(crate) async fn take_prompts(&mut self, prompts: Vec<Queued>) -> Result<(), StoreError> {
        let mut entries = self.standing_before().await;
        for prompt in prompts {
            let kind = EntryKind::User { parts: prompt.parts };
            entries.push(Entry { id: prompt.entry, parent: None, at: prompt.at, kind });
        }
        let mut parent = self.head();
        for entry in &mut entries {
            entry.parent = parent;
            parent = Some(entry.id);
        }
        self.append(entries).await
    }

    /// Prepares an interrupted turn to go on; false if there is nothing to go on with.
    pub(crate) async fn take_up(&mut self) -> Result<bool, StoreError> {
        let before = self.standing_before().await;
        if !before.is_empty() {
            self.append(before).await?;
        }
        if !is_unfinished(&self.branch) {
            return Ok(false);
        }
        if let Some(EntryKind::Assistant { .. }) = last_said(&self.branch) {
            let text = PartBody::Text { text: GO_ON.to_owned() };
            let parts = vec![Part::new(text, Origin::System)];
            let entry = self.entry(EntryKind::User { parts });
            self.append(vec![entry]).await?;
        }
        Ok(true)
    }

    /// What must stand before the next prompt: results of calls a dead process left open, and the prefix
    /// where it is new.
    async fn standing_before(&mut self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let open = open_calls(&self.branch);
        if !open.is_empty() {
            let parts = open.into_iter().map(Call::lost).collect();
            entries.push(self.entry(EntryKind::ToolResults { parts }));
        }
        if let Some(prefix) = self.new_prefix().await {
            let mut entry = self.entry(prefix);
            entry.parent = entries.last().map(|entry| entry.id).or(entry.parent);
            entries.push(entry);
        }
        entries
    }

    /// The prefix requests must begin with from now on; none while it is what it was.
    async fn new_prefix(&mut self) -> Option<EntryKind> {
        let tools = match &self.options.tools {
            Tools::None => Vec::new(),
            wanted @ (Tools::All | Tools::Only(_)) => {
                toolset::specs(&self.mind, wanted, &self.options.target, &self.branch)
            }
        };
        match self.prefix() {
            Some((_, known)) if known == tools => None,
            Some((system, _)) => Some(EntryKind::Prefix {
                system: system.to_vec(),
                tools,
                reason: "the tools changed".to_owned(),
            }),
            None => {
                let reason = "the session begins".to_owned();
                Some(EntryKind::Prefix { system: self.system_prompt().await, tools, reason })
            }
        }
    }

    async fn system_prompt(&mut self) -> Vec<String> {
        let whole = match (&self.options.system_prompt, &self.options.tools) {
            (Some(own), _) => Some(own.clone()),
            (None, Tools::None) => Some(prompt::TALK.to_owned()),
            (None, Tools::All | Tools::Only(_)) => None,
        };
        if let Some(whole) = whole {
            return std::iter::once(whole).chain(self.options.append_prompt.clone()).collect();
        }
        let folder = self.workspace.fence.folder().to_owned();
        let (mind, at) = (self.mind.clone(), folder.clone());
        // Git may take its time; the files are read beside it.
        let look = move || surroundings::look(&at, &mind.env, &mind.clock, &Runner);
        let looking = tokio::task::spawn_blocking(look);
        let loaded = self.instructions().clone();
        let hints = Hints {
            audience: match self.mind.presence {
                Presence::Attended => Audience::Person,
                Presence::Alone => Audience::Nobody,
            },
            attribution: prompt::attribution(
                &self.mind.config.options.attribution,
                &self.options.target.model.id,
            ),
            ..Hints::default()
        };
        for warning in &loaded.warnings {
            self.say_notice(warning);
        }
        let surroundings = match looking.await {
            Ok(surroundings) => surroundings,
            Err(_) => surroundings::look(&folder, &self.mind.env, &self.mind.clock, &Runner),
        };
        let mut segments = prompt::system(&surroundings, &loaded.files, &hints);
        segments.extend(self.options.append_prompt.clone());
        segments
    }

    /// The instruction files of the session's folder.
    pub(crate) fn instructions(&mut self) -> &Loaded {
        let (mind, folder) = (&self.mind, self.workspace.fence.folder());
        self.instructions.get_or_insert_with(|| {
            instructions::load(folder, &mind.paths, &mind.env, &mind.config.options)
        })
    }

    /// Records the prefix anew if the tools have changed.
    pub(crate) async fn renew_prefix(&mut self) -> Result<(), StoreError> {
        if let Some(prefix) = self.new_prefix().await {
            let entry = self.entry(prefix);
            self.append(vec![entry]).await?;
        }
        Ok(())
    }

    /// What requests begin with.
    pub(crate) fn prefix(&self) -> Option<(&[String], &[ToolSpec])> {
        transcript::prefix(&self.branch)
    }

    /// The next request.
    pub(crate) fn request(&self) -> Request {
        let (system, tools) = self.prefix().unwrap_or_default();
        Request {
            system: system.to_vec(),
            turns: turns(&self.branch),
            tools: tools.to_vec(),
            reasoning: self.options.reasoning,
            max_tokens: self.options.max_tokens,
            sampling: self.options.sampling.clone(),
            session_key: Some(self.id.to_string()),
            ..Request::default()
        }
    }

    /// Adopts another model or effort a face has asked for.
    pub(crate) async fn heed_wishes(&mut self) -> Result<(), StoreError> {
        let Wishes { target, reasoning } = std::mem::take(&mut *lock(&self.live.wishes));
        if let Some(reasoning) = reasoning {
            self.options.reasoning = reasoning;
        }
        let Some(target) = target else { return Ok(()) };
        if target.model_ref() != self.options.target.model_ref() {
            let change = self.entry(EntryKind::ModelChange { to: target.model_ref() });
            self.append(vec![change]).await?;
        }
        self.options.target = target;
        self.renew_prefix().await
    }

    /// Runs a slash command.
    pub(crate) async fn command(
        &mut self,
        line: &str,
        models: &[ModelRef],
    ) -> Result<commands::Reply, StoreError> {
        let query = UsageQuery { by: By::All, since: None, session: Some(self.id) };
        let sums = self.mind.store.usage(query).await?;
        let instructions = self.instructions().clone();
        let folder = self.workspace.fence.folder().display().to_string();
        let (system, tools) = self.prefix().unwrap_or_default();
        let ctx = commands::Ctx {
            session: self.id,
            folder: &folder,
            branch: &self.branch,
            system,
            tools,
            instructions: &instructions,
            model: &self.options.target.model_ref(),
            window: self.options.target.model.context_window,
            models,
            mode: self.live.policy().mode,
            spent: sums.first().map(|(_, sum)| *sum).unwrap_or_default(),
            initialize_as: &self.mind.config.options.initialize_as,
        };
        Ok(commands::run(line, &ctx))
    }

    /// Keeps what a yes beyond one call allows.
    pub(crate) async fn grant(&self, scope: Scope, rules: Vec<Rule>) -> Result<(), StoreError> {
        let reach = match scope {
            Scope::Once => return Ok(()),
            Scope::Session => store::Reach::Session(self.id),
            Scope::Project => store::Reach::Project(self.project.clone()),
            Scope::Always => store::Reach::Everywhere,
        };
        for rule in &rules {
            let at = self.mind.clock.now();
            self.mind.store.add_grant(reach.clone(), rule.to_string(), at).await?;
        }
        self.live.allow(rules);
        Ok(())
    }
}

/// A folder of the session's own where temporary files go.
fn temporary(env: &Env, session: SessionId) -> PathBuf {
    let place = env.get("TMPDIR").filter(|place| place.starts_with('/')).unwrap_or("/tmp");
    PathBuf::from(place).join(format!("caiman-{session}"))
}

/// What the ledger says of a session.
async fn spent_before(mind: &Mind, session: SessionId) -> Result<Tally, StoreError> {
    let query = UsageQuery { by: By::All, since: None, session: Some(session) };
    let sums = mind.store.usage(query).await?;
    let sum = sums.first().map(|(_, sum)| *sum).unwrap_or_default();
    Ok(Tally {
        steps: sum.calls,
        tokens: sum.usage.total(),
        cost: sum.cost,
        time: Duration::ZERO,
        unpriced: sum.unpriced,
    })
}

/// What all sessions cost today; nothing is looked up where no limit asks for it.
async fn spent_today(mind: &Mind) -> Result<Money, StoreError> {
    if mind.config.budgets.day_usd.is_none() {
        return Ok(Money::default());
    }
    let now = jiff::Timestamp::from_millisecond(mind.clock.now().as_millis()).unwrap_or_default();
    let midnight = now.to_zoned(jiff::tz::TimeZone::system()).start_of_day();
    let since = midnight.map_or(0, |midnight| midnight.timestamp().as_millisecond());
    let since = Some(Timestamp::from_millis(since));
    let query = UsageQuery { by: By::All, since, session: None };
    let sums = mind.store.usage(query).await?;
    Ok(sums.first().map(|(_, sum)| sum.cost).unwrap_or_default())
}

/// What an entry brings into the context that nobody vouches for.
fn taint_of(entry: &Entry) -> Taint {
    let foreign = entry.kind.parts().iter().find_map(|part| match &part.origin {
        Origin::Web => Some("a web page".to_owned()),
        Origin::Mcp(server) => Some(format!("the MCP server {server}")),
        Origin::Channel(sender) => Some(format!("a message of {sender}")),
        Origin::User
        | Origin::Assistant
        | Origin::System
        | Origin::Workspace
        | Origin::Shell
        | Origin::Skill(_)
        | Origin::Memory => None,
    });
    foreign.map_or(Taint::Clean, Taint::From)
}

/// Once tainted, always tainted.
fn stain(before: Taint, more: Taint) -> Taint {
    match before {
        Taint::Clean => more,
        Taint::From(_) => before,
    }
}

/// The desk where nobody sits.
struct Nobody;

impl Desk for Nobody {
    fn ask(&self, _: Vec<Question>) -> BoxFuture<'_, Result<Vec<String>, DeskError>> {
        Box::pin(async { Err(DeskError::Nobody) })
    }
}

/// The desk at which the faces' users sit.
struct Faces {
    session: SessionId,
    events: Events,
    waiting: Waiting,
}

impl Desk for Faces {
    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'_, Result<Vec<String>, DeskError>> {
        Box::pin(async move {
            let session = self.session;
            let (request, answers) = self.waiting.question(session);
            self.events.publish(Event::QuestionAsked { session, request, questions });
            let answers = answers.await;
            self.events.publish(Event::Settled { session, request });
            answers.map_err(|_| DeskError::Declined)
        })
    }
}
