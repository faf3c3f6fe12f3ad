//! Sub-agents that a face has not seen at work: what their sessions tell of them.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use base::protocol::{ChildProgress, ChildState, ClientError, Reply};
use base::transcript::{CallResult, Piece, Shown, is_unfinished};
use base::{CallId, Entry, EntryKind, Part, PartBody, SessionId, Usage};
use serde_json::Value;
use store::{By, UsageKey, UsageQuery};

use super::aside;
use crate::coordinator::{Hub, refused};

/// Most sub-agents that are told of at a time.
const MOST: usize = 64;
/// Entries of a sub-agent that are looked at, the newest.
const ENTRIES: usize = 200;
/// Calls of a sub-agent that are told, the newest.
const CALLS: usize = 60;
/// Characters of an argument or a result that are told.
const CHARS: usize = 200;

impl Hub {
    /// The sub-agents of some calls of a session, and those below them.
    pub(crate) async fn children(
        &self,
        session: SessionId,
        calls: Vec<CallId>,
    ) -> Result<Reply, ClientError> {
        let store = &self.mind.store;
        let mut wanted: VecDeque<(SessionId, CallId)> =
            calls.into_iter().map(|call| (session, call)).collect();
        let mut children = Vec::new();
        while let Some((above, call)) = wanted.pop_front() {
            let found = store.children(above, call.clone()).await;
            for row in found.map_err(|error| refused(&error))? {
                if children.len() == MOST {
                    return Ok(Reply::Children { children });
                }
                let child = self.child(above, call.clone(), row).await?;
                let below = child.calls.iter().filter_map(Part::as_call);
                wanted.extend(below.map(|call| (child.session, call.id.clone())));
                children.push(child);
            }
        }
        Ok(Reply::Children { children })
    }

    async fn child(
        &self,
        above: SessionId,
        call: CallId,
        row: store::Session,
    ) -> Result<ChildState, ClientError> {
        let (store, session) = (&self.mind.store, row.summary.id);
        let window = store.window(session, None, ENTRIES).await.map_err(|error| refused(&error))?;
        let query = UsageQuery { by: By::Session, since: None, session: Some(session) };
        let sums = store.usage(query).await.map_err(|error| refused(&error))?;
        let own = |(key, _): &&(UsageKey, _)| *key == UsageKey::Session(Some(session));
        let usage = sums.iter().find(own).map_or_else(Usage::default, |(_, sum)| sum.usage);
        let is_running = self.open_lane(session).is_some_and(|lane| lane.running_since().is_some());
        let agent = row.agent.unwrap_or_default();
        let color = self.color(row.project, agent.clone()).await?;
        let made: Vec<&Part> = window.iter().flat_map(|entry| entry.kind.parts()).collect();
        let is_call = |part: &&&Part| part.as_call().is_some();
        let earlier = made.iter().filter(is_call).count().saturating_sub(CALLS);
        Ok(ChildState {
            above,
            call,
            session,
            agent,
            color,
            progress: if is_running { ChildProgress::AtWork } else { progress(&window) },
            took_ms: took_ms(&window),
            usage,
            calls: newest_calls(&made, earlier),
            earlier: (window.len() < ENTRIES).then_some(earlier as u64),
        })
    }

    async fn color(&self, folder: String, agent: String) -> Result<Option<String>, ClientError> {
        let mind = self.mind.clone();
        aside(move || {
            let definitions = mind.shelf.look(Path::new(&folder));
            let known = definitions.agents.iter().find(|known| known.name == agent);
            known.and_then(|known| known.color.clone())
        })
        .await
    }
}

/// How far a sub-agent is that does not work.
fn progress(window: &[Entry]) -> ChildProgress {
    let newest = window.last().map(|entry| &entry.kind);
    if let Some(EntryKind::Notice { class: Some(_), .. }) = newest {
        ChildProgress::Failed
    } else if is_unfinished(window) {
        ChildProgress::Stopped
    } else {
        ChildProgress::Done
    }
}

/// How long was worked: the time before a prompt is not counted.
fn took_ms(window: &[Entry]) -> u64 {
    let steps = window.windows(2).filter(|pair| !matches!(pair[1].kind, EntryKind::User { .. }));
    steps.filter_map(|pair| u64::try_from(pair[1].at.since(pair[0].at).as_millis()).ok()).sum()
}

/// Calls and their results, without the first of them and without all they hold.
fn newest_calls(parts: &[&Part], without: usize) -> Vec<Part> {
    let mut results: HashMap<&CallId, &CallResult> =
        parts.iter().filter_map(|part| part.as_result()).map(|it| (&it.call, it)).collect();
    let calls = parts.iter().filter_map(|part| Some((*part, part.as_call()?))).skip(without);
    let mut told = Vec::new();
    for (part, call) in calls {
        let mut short = call.clone();
        short.input.mended = None;
        short.input.value.retain(|_, value| value.is_string());
        for value in short.input.value.values_mut() {
            if let Value::String(text) = value {
                *text = beginning(text);
            }
        }
        told.push(Part::new(PartBody::Call(short), part.origin.clone()));
        if let Some(result) = results.remove(&call.id) {
            told.push(Part::new(PartBody::Result(shortened(result)), part.origin.clone()));
        }
    }
    told
}

fn shortened(result: &CallResult) -> CallResult {
    let text = result.pieces.iter().find_map(|piece| match piece {
        Piece::Text { text } => Some(Piece::Text { text: beginning(text) }),
        Piece::File(_) => None,
    });
    let shown = result.shown.as_ref().map(|shown| {
        Box::new(Shown { title: shown.title.clone(), body: None, took_ms: shown.took_ms })
    });
    let (call, name) = (result.call.clone(), result.name.clone());
    CallResult { call, name, outcome: result.outcome, pieces: text.into_iter().collect(), shown }
}

fn beginning(text: &str) -> String {
    text.chars().take(CHARS).collect()
}
