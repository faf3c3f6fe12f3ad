//! A mind with a scripted model and a store of its own.

use std::sync::Arc;

use agent::{Mind, Say, TurnError, TurnReport};
use base::config::provider::{Model, Network, Quirks, Sampling, Wire};
use base::{Clock, Entry, EntryKind, Env, Event, Part, Paths, SessionId};
use guard::Runner;
use llm::{Auth, Caller, Http, Reasoning, Signer, Target, Transport};
use store::{By, NewSession, Store, UsageQuery, UsageSum};
use tempfile::TempDir;
use testkit::{Script, Server};
use tokio_util::sync::CancellationToken;

/// A mind, the server it calls, and a session.
pub(crate) struct Room {
    pub(crate) mind: Mind,
    pub(crate) server: Server,
    pub(crate) session: SessionId,
    folder: TempDir,
}

impl Room {
    pub(crate) async fn new(script: Script) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("caiman.db")).unwrap().store;
        let session = SessionId::new();
        let clock = Clock::system();
        let new = NewSession {
            id: session,
            folder: "/work".to_owned(),
            project: "/work".to_owned(),
            parent: None,
            at: clock.now(),
        };
        store.create_session(new).await.unwrap();
        let home = folder.path().to_str().unwrap().to_owned();
        let env: Env = [("HOME".to_owned(), home)].into_iter().collect();
        let paths = Paths::of(&env).unwrap();
        let signer = Signer::new(env, paths, clock.clone(), Arc::new(Runner));
        let mind = Mind { store, caller: Caller::new(Http::new(), signer), clock };
        Self { mind, server: Server::start(script).await.unwrap(), session, folder }
    }

    /// Another process's view of the same database.
    pub(crate) fn other_process(&self) -> Store {
        Store::open(&self.folder.path().join("caiman.db")).unwrap().store
    }

    pub(crate) fn target(&self) -> Target {
        Target {
            provider: "lab".to_owned(),
            model: Model {
                id: "m".to_owned(),
                cost_per_1m_in: 2.0,
                cost_per_1m_out: 10.0,
                ..Model::default()
            },
            wire: Wire::OpenaiChat,
            transport: Transport::Direct,
            base_url: self.server.base_url(Wire::OpenaiChat),
            auth: Auth::Anonymous,
            headers: std::collections::BTreeMap::new(),
            extra_body: serde_json::Map::new(),
            quirks: Quirks::default(),
            system_prompt_prefix: None,
            flat_rate: false,
            network: Network::default(),
        }
    }

    /// Says `text`; `watch` sees every event.
    pub(crate) async fn say(
        &self,
        text: &str,
        cancel: &CancellationToken,
        watch: &mut (dyn FnMut(Event) + Send),
    ) -> Result<TurnReport, TurnError> {
        let say = Say {
            session: self.session,
            target: self.target(),
            parts: vec![Part::user_text(text)],
            reasoning: Reasoning::ModelDefault,
            max_tokens: None,
            sampling: Sampling::default(),
        };
        self.mind.say(say, cancel, watch).await
    }

    /// Says `text` and gives the events, one line each.
    pub(crate) async fn told(&self, text: &str) -> (Result<TurnReport, TurnError>, Vec<String>) {
        let mut told = Vec::new();
        let mut watch = |event: Event| told.push(line(&event));
        let outcome = self.say(text, &CancellationToken::new(), &mut watch).await;
        (outcome, told)
    }

    /// The session's current branch, one line an entry.
    pub(crate) async fn transcript(&self) -> Vec<String> {
        self.mind.store.branch(self.session).await.unwrap().iter().map(entry).collect()
    }

    /// The sum over the ledger.
    pub(crate) async fn spent(&self) -> UsageSum {
        let query = UsageQuery { by: By::All, since: None, session: Some(self.session) };
        let sums = self.mind.store.usage(query).await.unwrap();
        sums.first().map(|(_, sum)| *sum).unwrap_or_default()
    }
}

/// An event as one line, without ids and times.
fn line(event: &Event) -> String {
    match event {
        Event::TurnStarted { model, .. } => format!("turn started with {model}"),
        Event::Appended { entry: appended, .. } => format!("appended {}", entry(appended)),
        Event::Text { delta, .. } => format!("text {delta:?}"),
        Event::Reasoning { delta, .. } => format!("reasoning {delta:?}"),
        Event::Retrying { attempt, reason, .. } => format!("retrying, try {attempt}: {reason}"),
        Event::Spent { usage, cost, .. } => {
            let cost = cost.map_or("unknown".to_owned(), |cost| cost.to_string());
            format!("spent {} in, {} out, {cost}", usage.input, usage.output)
        }
        Event::TurnDone { stop, .. } => format!("turn done: {stop:?}"),
        Event::TurnFailed { reason, .. } => format!("turn failed: {reason}"),
        Event::ToolStarted { .. }
        | Event::ToolProgress { .. }
        | Event::ToolDone { .. }
        | Event::ApprovalNeeded { .. }
        | Event::QuestionAsked { .. }
        | Event::Settled { .. }
        | Event::SessionChanged { .. }
        | Event::Notice { .. } => format!("{event:?}"),
    }
}

/// An entry as one line.
pub(crate) fn entry(entry: &Entry) -> String {
    let text = |parts: &[Part]| parts.iter().filter_map(Part::as_text).collect::<String>();
    match &entry.kind {
        EntryKind::User { parts } => format!("user {:?}", text(parts)),
        EntryKind::Assistant { parts, stop, .. } => format!("assistant {:?} {stop:?}", text(parts)),
        EntryKind::ToolResults { .. }
        | EntryKind::Notice { .. }
        | EntryKind::Compaction { .. }
        | EntryKind::ModelChange { .. }
        | EntryKind::Checkpoint { .. } => format!("{:?}", entry.kind),
    }
}
