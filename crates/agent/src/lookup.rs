//! What faces look up. None of it waits for a turn: it comes from what is durable, from what may change
//! while a turn runs ([`crate::live`]), and from the disk, off the task that asks.
//!
//! | module | answers |
//! |---|---|
//! | [`sight`] | an open session, whoever has it: its state, look-up commands |
//! | [`children`] | sub-agents, those that have ended too |
//! | [`bill`] | what fills a context window |
//! | [`offers`] | what may follow a slash or an at sign |
//! | [`files`] | files of a folder by some letters of their path |

pub mod bill;
mod children;
mod files;
mod offers;
mod sight;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::block::Todo;
use base::protocol::{ClientError, Mode, ModelChoice, Reply, SessionState, Spent, WaitingPrompt};
use base::transcript::{Outcome, Part, is_unfinished, prefix};
use base::{Effort, Entry, EntryId, Event, SessionId, Timestamp};
use llm::Target;
use store::{By, StoreError, UsageKey, UsageQuery};

use crate::coordinator::{Hub, refused};
use crate::live::{effort_of, lock};
use crate::mind::Mind;
use crate::{crew, queue, tokens};

pub(crate) use files::Files;
pub(crate) use sight::Sight;

/// The tool that keeps the list of things to do.
const TODOS: &str = "todos";

/// How a session is set, whether it is open or not.
struct Settings {
    target: Target,
    effort: Option<Effort>,
    mode: Mode,
    waiting: Vec<WaitingPrompt>,
    running_since: Option<Timestamp>,
}

impl Hub {
    /// What a face that opens a session must know of it.
    pub(crate) async fn state(&self, id: SessionId) -> Result<Reply, ClientError> {
        let store = &self.mind.store;
        let row = store.session(id).await.map_err(|error| refused(&error))?;
        let settings = self.settings(&row).await?;
        let branch = store.branch(id).await.map_err(|error| refused(&error))?;
        // A turn that began, or ended, while we looked has not broken off.
        let lane = self.open_lane(id);
        let running_since = settings.running_since.or(lane.and_then(|lane| lane.running_since()));
        let (system, tools) = prefix(&branch).unwrap_or_default();
        Ok(Reply::State(Box::new(SessionState {
            summary: row.summary,
            model: settings.target.model_ref(),
            window: settings.target.model.context_window,
            used: tokens::used(&branch, || tokens::of_prefix(system, tools)),
            effort: settings.effort,
            mode: settings.mode,
            running_since,
            is_unfinished: running_since.is_none() && is_unfinished(&branch),
            waiting: settings.waiting,
            todos: todos(&branch),
            going_on: self.going_on(id),
            spent: self.spent(id).await?,
        })))
    }

    /// A window of a session's current branch, and what was paid meanwhile.
    pub(crate) async fn entries(
        &self,
        session: SessionId,
        before: Option<EntryId>,
        limit: usize,
    ) -> Result<Reply, ClientError> {
        let store = &self.mind.store;
        let entries =
            store.window(session, before, limit).await.map_err(|error| refused(&error))?;
        let paid = match (entries.first(), entries.last()) {
            (Some(first), Some(last)) => {
                store.paid(session, first.at, last.at).await.map_err(|error| refused(&error))?
            }
            (None, _) | (_, None) => Vec::new(),
        };
        Ok(Reply::Entries { entries, paid })
    }

    /// What goes on in a session and its sub-agents, as faces that came before were told.
    fn going_on(&self, id: SessionId) -> Vec<Event> {
        let mut open = self.open_lanes();
        // A sub-agent is younger than the session it works for.
        open.sort_by_key(|sight| sight.id);
        let (mut family, mut events) = (HashSet::from([id]), Vec::new());
        for sight in open {
            if let Some(begun) = &sight.begun
                && begun.session().is_some_and(|above| family.contains(&above))
            {
                family.insert(sight.id);
                events.push(Event::clone(begun));
            }
            if family.contains(&sight.id) {
                events.extend(lock(&sight.live.shells).running.values().cloned());
            }
        }
        events.extend(self.waiting.of(&family));
        events
    }

    /// What a session and its sub-agents have cost, by model.
    async fn spent(&self, id: SessionId) -> Result<Vec<Spent>, ClientError> {
        let query = UsageQuery { by: By::Model, since: None, session: Some(id) };
        let sums = self.mind.store.usage(query).await.map_err(|error| refused(&error))?;
        let spent = sums.into_iter().filter_map(|(key, sum)| match key {
            UsageKey::Model(model) => {
                let cost = (sum.unpriced < sum.calls).then_some(sum.cost);
                Some(Spent { model, calls: sum.calls, usage: sum.usage, cost })
            }
            UsageKey::All | UsageKey::Session(_) | UsageKey::Provider(_) | UsageKey::Day(_) => None,
        });
        Ok(spent.collect())
    }

    /// How a session is set: as its lane has it, or as it would be opened.
    async fn settings(&self, row: &store::Session) -> Result<Settings, ClientError> {
        if let Some(lane) = self.open_lane(row.summary.id) {
            let live = &lane.sight().live;
            return Ok(Settings {
                target: live.next_target(),
                effort: live.effort(),
                mode: live.policy().mode,
                waiting: live.queue.prompts(),
                running_since: lane.running_since(),
            });
        }
        let held = self.mind.store.queued(row.summary.id).await.map_err(|error| refused(&error))?;
        let options = crew::on_its_own(self, row).map_err(ClientError::Refused)?.options;
        Ok(Settings {
            effort: effort_of(options.reasoning),
            mode: options.mode,
            target: options.target,
            waiting: held.iter().map(|prompt| queue::shown(prompt, prompt.delivery)).collect(),
            running_since: None,
        })
    }

    /// What fills a session's context window.
    pub(crate) async fn bill(&self, id: SessionId) -> Result<Reply, ClientError> {
        let sight = self.lane(id).await?.sight().clone();
        let branch = sight.branch().await.map_err(|error| refused(&error))?;
        let (system, tools) = prefix(&branch).unwrap_or_default();
        let window = sight.live.next_target().model.context_window;
        Ok(Reply::Context(bill::of(&branch, (system, tools), window)))
    }

    /// What may follow a slash or an at sign in a folder.
    pub(crate) async fn offers(&self, folder: String) -> Result<Reply, ClientError> {
        let mind = self.mind.clone();
        aside(move || offers::of(&mind, &mind.shelf.look(Path::new(&folder))))
            .await
            .map(|offers| Reply::Offers { offers })
    }

    /// Files of a folder whose path fits some letters.
    pub(crate) async fn files(
        &self,
        folder: String,
        search: String,
        limit: usize,
    ) -> Result<Reply, ClientError> {
        let place =
            files::Place { folder: PathBuf::from(folder), home: self.mind.paths.home().to_owned() };
        let found = self.files.search(&self.scope, place, search, limit).await;
        found.map(|paths| Reply::Files { paths })
    }

    /// Models that can be chosen.
    pub(crate) async fn models(&self, search: Option<String>) -> Result<Reply, ClientError> {
        let models = choices(&self.mind, search).await?;
        Ok(Reply::Models { models })
    }
}

/// The models there are. The catalogue is read from disk, so not on the task that asks.
pub(crate) async fn choices(
    mind: &Arc<Mind>,
    search: Option<String>,
) -> Result<Vec<ModelChoice>, ClientError> {
    let mind = mind.clone();
    aside(move || (mind.models)(search.as_deref())).await
}

/// Does blocking work off the task that asks.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ClientError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| ClientError::Closed)
}

/// What is to be done, as the model has last written it down.
fn todos(branch: &[Entry]) -> Vec<Todo> {
    let parts = || branch.iter().rev().flat_map(|entry| entry.kind.parts().iter().rev());
    let results = parts().filter_map(Part::as_result);
    let Some(newest) =
        results.into_iter().find(|result| result.name == TODOS && result.outcome == Outcome::Done)
    else {
        return Vec::new();
    };
    let mut calls = parts().filter_map(Part::as_call);
    let call = calls.find(|call| call.id == newest.call);
    call.map(|call| tools::builtin::todo_list(&call.input.value)).unwrap_or_default()
}

/// A failure of the memory, as a face is told.
pub(crate) type Stored<T> = Result<T, StoreError>;
