//! A mind with a scripted model, a workspace and a store of its own.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::budget::Budget;
use agent::{Coordinator, Meant, Mind, Options, Presence, Tools};
use base::protocol::{Client, Delivery, EventStream, Mode, ModelChoice, Op};
use base::transcript::{CallResult, Piece};
use base::{Clock, Entry, EntryKind, Env, Event, Part, PartBody, Paths, SessionId, TaskScope};
use futures::StreamExt;
use guard::{Redactor, Rules, Runner};
use links::mcp::{Outside, Vault};
use links::{Lsp, Mcp};
use llm::{Auth, Caller, Http, Reasoning, Signer, Target, Transport};
use settings::definition::shelf::Trust;
use settings::definition::{Definitions, Places, Shelf, Standing};
use settings::provider::{Model, Network, Quirks, Sampling, Wire};
use settings::trust::{Fingerprint, TrustedFolder, TrustedFolders};
use settings::{Bans, Config};
use store::{By, NewSession, Store, UsageQuery, UsageSum};
use tempfile::TempDir;
use testkit::{Script, Server};
use tools::{AnyTool, Registry};

/// A mind, the server it calls, a workspace and a session.
pub(crate) struct Room {
    pub(crate) coordinator: Coordinator,
    pub(crate) store: Store,
    pub(crate) server: Server,
    pub(crate) session: SessionId,
    pub(crate) folder: PathBuf,
    pub(crate) dir: TempDir,
}

/// What a room is made with.
pub(crate) struct Plan {
    pub(crate) script: Script,
    pub(crate) wire: Wire,
    pub(crate) mode: Mode,
    pub(crate) presence: Presence,
    /// The agent new sessions run as.
    pub(crate) agent: Option<String>,
    pub(crate) rules: Rules,
    pub(crate) budget: Budget,
    pub(crate) tools: Tools,
    pub(crate) config: Config,
    pub(crate) window: u64,
    /// For which sessions its model is meant.
    pub(crate) meant: Meant,
    /// Whether there is a small model, the same server's.
    pub(crate) small: bool,
    /// Whether the model takes files.
    pub(crate) sees: bool,
    /// The models the catalogue lists.
    pub(crate) models: Vec<ModelChoice>,
    /// A tool besides the built-in ones.
    pub(crate) tool: Option<Arc<dyn AnyTool>>,
    /// More variables of the environment.
    pub(crate) env: Vec<(String, String)>,
    /// Skills, commands and styles.
    pub(crate) definitions: Definitions,
}

impl From<Script> for Plan {
    /// A model that only talks.
    fn from(script: Script) -> Self {
        Self {
            script,
            wire: Wire::OpenaiChat,
            mode: Mode::Default,
            presence: Presence::Alone,
            agent: None,
            rules: Rules::default(),
            budget: Budget::default(),
            tools: Tools::None,
            config: Config::default(),
            window: 0,
            meant: Meant::New,
            small: false,
            sees: false,
            models: Vec::new(),
            tool: None,
            env: Vec::new(),
            definitions: Definitions::default(),
        }
    }
}

impl Plan {
    /// A model with tools that may do anything.
    pub(crate) fn with_tools(script: Script) -> Self {
        Self { mode: Mode::Bypass, tools: Tools::All, ..Self::from(script) }
    }
}

impl Room {
    pub(crate) async fn new(plan: impl Into<Plan>) -> Self {
        let plan = plan.into();
        let dir = tempfile::tempdir().unwrap();
        let folder = std::fs::canonicalize(dir.path()).unwrap().join("project");
        std::fs::create_dir_all(&folder).unwrap();
        trust(dir.path(), &folder);
        let store = Store::open(&dir.path().join("caiman.db")).unwrap().store;
        let session = SessionId::new();
        let name = folder.display().to_string();
        let at = Clock::system().now();
        let new = NewSession {
            id: session,
            folder: name.clone(),
            project: name,
            agent: None,
            child_of: None,
            at,
        };
        store.create_session(new).await.unwrap();
        let server = Server::start(plan.script.clone()).await.unwrap();
        let coordinator = coordinator(&plan, store.clone(), &server, dir.path());
        Self { coordinator, store, server, session, folder, dir }
    }

    /// The same session in another process: nothing but what is on disk.
    pub(crate) fn reopened(&self, plan: &Plan) -> Coordinator {
        coordinator(plan, self.other_process(), &self.server, self.dir.path())
    }

    /// The same session with a mind and a model of its own.
    pub(crate) async fn rescripted(mut self, plan: Plan) -> Self {
        self.coordinator.close().await;
        self.server = Server::start(plan.script.clone()).await.unwrap();
        self.coordinator = coordinator(&plan, self.store.clone(), &self.server, self.dir.path());
        self
    }

    /// Another process's view of the same database.
    pub(crate) fn other_process(&self) -> Store {
        Store::open(&self.dir.path().join("caiman.db")).unwrap().store
    }

    /// Makes a file in the workspace.
    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The events from now on.
    pub(crate) fn watch(&self) -> EventStream {
        self.coordinator
            .subscribe(base::protocol::EventFilter::All, self.coordinator.newest_event())
    }

    /// Asks for an operation.
    pub(crate) async fn submit(&self, op: Op) {
        self.coordinator.submit(op).await.unwrap();
    }

    /// A prompt for the session.
    pub(crate) fn saying(&self, text: &str, delivery: Delivery) -> Op {
        Op::say(self.session, vec![Part::user_text(text)], delivery)
    }

    /// Says `text` and gives all events up to the end of the turn.
    pub(crate) async fn say(&self, text: &str) -> Vec<Event> {
        let mut events = self.watch();
        self.submit(self.saying(text, Delivery::Queue)).await;
        to_the_end(&mut events).await
    }

    /// Says `text` and gives the events, one line each.
    pub(crate) async fn told(&self, text: &str) -> Vec<String> {
        self.say(text).await.iter().filter_map(line).collect()
    }

    /// The session's current branch, one line an entry; prefixes are left out.
    pub(crate) async fn transcript(&self) -> Vec<String> {
        let branch = self.store.branch(self.session).await.unwrap();
        branch.iter().filter(|e| !matches!(e.kind, EntryKind::Prefix { .. })).map(entry).collect()
    }

    /// The sum over the ledger.
    pub(crate) async fn spent(&self) -> UsageSum {
        let query = UsageQuery { by: By::All, since: None, session: Some(self.session) };
        let sums = self.store.usage(query).await.unwrap();
        sums.first().map(|(_, sum)| *sum).unwrap_or_default()
    }

    /// Fails if a request broke its wire's rules.
    pub(crate) fn assert_valid(&self) {
        assert!(self.server.violations().is_empty(), "{:?}", self.server.violations());
    }
}

fn coordinator(plan: &Plan, store: Store, server: &Server, home: &Path) -> Coordinator {
    let env = Env::of_process().with([("HOME".to_owned(), home.display().to_string())]);
    let env = env.with(plan.env.clone());
    let paths = Paths::of(&env).unwrap();
    let clock = Clock::system();
    let signer = Signer::new(env.clone(), paths.clone(), clock.clone(), Arc::new(Runner));
    let target = target(plan, server);
    let (resolved, listed) = (target.clone(), plan.models.clone());
    let places = Places {
        disabled_agents: plan.config.agents.disabled(),
        trust: Trust::Settled(Standing::Trusted),
        ..Places::new(paths.clone(), env.clone())
    };
    // Those of the plan, or those on disk.
    let planned = Some(&plan.definitions).filter(|planned| **planned != Definitions::default());
    let shelf = planned.map_or_else(|| Shelf::new(places), |planned| Shelf::of(planned.clone()));
    // What is installed on this machine is nobody's business; what the plan names is.
    let lsp = if plan.config.lsp.is_empty() {
        Lsp::none()
    } else {
        Lsp::new(Arc::new(plan.config.clone()), env.clone(), &TaskScope::new())
    };
    let mcp = Mcp::new(outside(&env, &paths, &clock, plan.config.bans.clone()), &TaskScope::new());
    for (name, server) in &plan.config.mcp {
        mcp.add(name, server);
    }
    let mut registry = Registry::builtin();
    if let Some(tool) = &plan.tool {
        registry.add(tool.clone());
    }
    let mind = Mind {
        store,
        caller: Caller::new(Http::new(), signer),
        clock,
        env,
        paths,
        config: Arc::new(plan.config.clone()),
        registry,
        shelf,
        lsp,
        mcp,
        editor: None,
        redactor: Redactor::default(),
        resolve: Arc::new(move |model| {
            let mut target = resolved.clone();
            target.model.id.clone_from(&model.model);
            Ok(target)
        }),
        models: Arc::new(move |_| listed.clone()),
        presence: plan.presence,
    };
    let options = Options {
        agent: plan.agent.clone(),
        bounds: Vec::new(),
        servers: None,
        small: plan.small.then(|| {
            let model = Model { id: "small".to_owned(), ..target.model.clone() };
            Target { model, ..target.clone() }
        }),
        target,
        meant: plan.meant,
        reasoning: Reasoning::ModelDefault,
        max_tokens: None,
        sampling: Sampling::default(),
        mode: plan.mode,
        rules: plan.rules.clone(),
        budget: plan.budget,
        more_folders: Vec::new(),
        tools: plan.tools.clone(),
        system_prompt: None,
        append_prompt: None,
        output_style: None,
    };
    Coordinator::new(mind, options)
}

/// Trusts a folder as long as it holds no settings or definitions.
fn trust(home: &Path, folder: &Path) {
    let trusted = TrustedFolder { hash: Fingerprint::nothing().hash, since: Clock::system().now() };
    let mut list = TrustedFolders::default();
    list.folders.insert(folder.to_owned(), trusted);
    let env = Env::from_iter([("HOME", home.display().to_string())]);
    let file = Paths::of(&env).unwrap().trust();
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, serde_json::to_string(&list).unwrap()).unwrap();
}

/// What MCP servers are lent: plain HTTP, no tokens, the home's cache.
fn outside(env: &Env, paths: &Paths, clock: &Clock, bans: Bans) -> Outside {
    let http = Http::new();
    Outside {
        bans,
        env: env.clone(),
        child_env: env.clone(),
        folder: paths.home().to_owned(),
        paths: paths.clone(),
        cache: paths.cache().join("mcp"),
        dial: Arc::new(move |url| {
            http.client(url, &Network::default()).map_err(|error| error.message)
        }),
        vault: Arc::new(NoTokens),
        clock: clock.clone(),
    }
}

struct NoTokens;

impl Vault for NoTokens {
    fn get(&self, _: &str) -> Option<base::Secret> {
        None
    }

    fn put(&self, _: &str, _: &base::Secret) -> Result<(), String> {
        Err("nothing is kept here".to_owned())
    }

    fn remove(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
}

fn target(plan: &Plan, server: &Server) -> Target {
    Target {
        provider: "lab".to_owned(),
        model: Model {
            id: "m".to_owned(),
            cost_per_1m_in: 2.0,
            cost_per_1m_out: 10.0,
            context_window: plan.window,
            supports_attachments: plan.sees,
            ..Model::default()
        },
        wire: plan.wire,
        transport: Transport::Direct,
        base_url: server.base_url(plan.wire),
        auth: Auth::Anonymous,
        headers: std::collections::BTreeMap::new(),
        extra_body: serde_json::Map::new(),
        quirks: Quirks::default(),
        system_prompt_prefix: None,
        flat_rate: false,
        network: Network::default(),
    }
}

/// All events up to the end of a turn; those of sub-agents end nothing.
pub(crate) async fn to_the_end(events: &mut EventStream) -> Vec<Event> {
    let mut seen = Vec::new();
    let mut children = HashSet::new();
    while let Some(numbered) = events.next().await {
        if let Event::ChildStarted { child, .. } = &numbered.event {
            children.insert(*child);
        }
        let is_own = numbered.event.session().is_none_or(|session| !children.contains(&session));
        let ends = matches!(numbered.event, Event::TurnDone { .. } | Event::TurnFailed { .. });
        let ends = ends && is_own;
        seen.push(numbered.event);
        if ends {
            return seen;
        }
    }
    panic!("the events ended before the turn: {seen:?}");
}

/// Waits for an event.
pub(crate) async fn until(events: &mut EventStream, wanted: impl Fn(&Event) -> bool) -> Event {
    loop {
        let event = events.next().await.unwrap().event;
        if wanted(&event) {
            return event;
        }
    }
}

/// An event as one line, without ids and times; none for a prefix.
pub(crate) fn line(event: &Event) -> Option<String> {
    Some(match event {
        Event::TurnStarted { model, .. } => format!("turn started with {model}"),
        Event::Appended { entry, .. } if matches!(entry.kind, EntryKind::Prefix { .. }) => {
            return None;
        }
        Event::Appended { entry: appended, .. } => format!("appended {}", entry(appended)),
        Event::Text { delta, .. } => format!("text {delta:?}"),
        Event::Reasoning { delta, .. } => format!("reasoning {delta:?}"),
        Event::Retrying { attempt, reason, .. } => format!("retrying, try {attempt}: {reason}"),
        Event::Spent { usage, cost, .. } => {
            let cost = cost.map_or("unknown".to_owned(), |cost| cost.to_string());
            format!("spent {} in, {} out, {cost}", usage.input, usage.output)
        }
        Event::ToolStarted { title, .. } => format!("started {title:?}"),
        Event::ToolDone { title, outcome, .. } => format!("done {title:?} {outcome:?}"),
        Event::ChildStarted { agent, .. } => format!("child {agent}"),
        Event::Denied { tool, reason, .. } => format!("denied {tool}: {reason}"),
        Event::ApprovalNeeded { title, .. } => format!("asks {title:?}"),
        Event::TurnDone { stop, ending, .. } => format!("turn done: {stop:?} {ending:?}"),
        Event::TurnFailed { reason, class, .. } => format!("turn failed: {reason} ({class})"),
        Event::ToolProgress { .. }
        | Event::QuestionAsked { .. }
        | Event::Settled { .. }
        | Event::SessionChanged { .. }
        | Event::Waiting { .. }
        | Event::CommandDone { .. }
        | Event::Hook { .. }
        | Event::Notice { .. } => format!("{event:?}"),
    })
}

/// An entry as one line.
pub(crate) fn entry(entry: &Entry) -> String {
    let words = |parts: &[Part]| parts.iter().map(part).collect::<Vec<_>>().join(" ");
    match &entry.kind {
        EntryKind::User { parts } => format!("user {}", words(parts)),
        EntryKind::Assistant { parts, stop, .. } => format!("assistant {} {stop:?}", words(parts)),
        EntryKind::ToolResults { parts } => format!("results {}", words(parts)),
        EntryKind::Notice { text, class: Some(class) } => format!("failure {text:?} ({class})"),
        EntryKind::Notice { .. }
        | EntryKind::Compaction { .. }
        | EntryKind::Pruned { .. }
        | EntryKind::Undone { .. }
        | EntryKind::Prefix { .. }
        | EntryKind::ModelChange { .. }
        | EntryKind::Checkpoint { .. } => format!("{:?}", entry.kind),
    }
}

fn part(part: &Part) -> String {
    match &part.body {
        PartBody::Text { text } => format!("{text:?}"),
        PartBody::Reasoning { text } => format!("({text})"),
        PartBody::Call(call) => format!("{}{}", call.name, serde_json::json!(call.input.value)),
        PartBody::Result(result) => {
            format!("{}:{:?} {}", result.name, result.outcome, text(result))
        }
        PartBody::File(file) => file.media_type.clone(),
        PartBody::Opaque { label } => label.clone(),
    }
}

/// The text of a result.
pub(crate) fn text(result: &CallResult) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text { text } => format!("{text:?}"),
        Piece::File(file) => file.media_type.clone(),
    };
    result.pieces.iter().map(piece).collect::<Vec<_>>().join(" ")
}
