//! What an editor is still to be told, in order. The mind never waits for an editor that does not read: words that
//! wait are joined, and of what a call shows only the newest is kept.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, ContentBlock, ContentChunk, SessionId, SessionNotification, SessionUpdate,
};
use serde_json::Value;
use tokio::sync::{Notify, oneshot};

use super::turns::Due;
use crate::rpc::Peer;

/// Longest text that words are joined to.
const JOINED: usize = 64 << 10;

/// What an editor is still to be told.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    items: Mutex<VecDeque<Item>>,
    news: Notify,
}

#[derive(Debug)]
enum Item {
    Update(SessionId, Box<SessionUpdate>),
    /// A prompt is over: everything before it was told.
    Due(Due),
    /// Somebody waits until everything before it was told.
    Mark(oneshot::Sender<()>),
}

impl Outbox {
    /// Puts updates of a session at the end.
    pub(super) fn tell(&self, session: &SessionId, updates: Vec<SessionUpdate>) {
        if updates.is_empty() {
            return;
        }
        let mut items = self.lock();
        for update in updates {
            if let Some(Item::Update(whose, last)) = items.back_mut()
                && whose == session
                && join(last, &update)
            {
                continue;
            }
            items.push_back(Item::Update(session.clone(), Box::new(update)));
        }
        drop(items);
        self.news.notify_one();
    }

    /// Has prompts answered once everything before was told.
    pub(super) fn answer(&self, due: Vec<Due>) {
        self.lock().extend(due.into_iter().map(Item::Due));
        self.news.notify_one();
    }

    /// Waits until everything put in so far was handed over.
    pub(super) async fn flushed(&self) {
        let (mark, reached) = oneshot::channel();
        self.lock().push_back(Item::Mark(mark));
        self.news.notify_one();
        // Whoever empties the box is gone only with the connection.
        reached.await.ok();
    }

    /// Hands everything over, as fast as the editor takes it; ends with the connection.
    pub(super) async fn empty(&self, peer: &Peer) {
        loop {
            let next = self.lock().pop_front();
            match next {
                Some(Item::Update(session, update)) => {
                    let told = SessionNotification::new(session, *update);
                    // What holds texts and numbers only always becomes JSON.
                    let params = serde_json::to_value(told).unwrap_or(Value::Null);
                    if peer.notify(CLIENT_METHOD_NAMES.session_update, params).await.is_err() {
                        return;
                    }
                }
                // Whoever waited may be gone.
                Some(Item::Due((answer, ended))) => drop(answer.send(ended)),
                Some(Item::Mark(mark)) => drop(mark.send(())),
                None => self.news.notified().await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Item>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Joins an update to the one that waits before it, if the editor sees the same of both as of one.
fn join(last: &mut SessionUpdate, next: &SessionUpdate) -> bool {
    match (last, next) {
        (SessionUpdate::AgentMessageChunk(last), SessionUpdate::AgentMessageChunk(next))
        | (SessionUpdate::AgentThoughtChunk(last), SessionUpdate::AgentThoughtChunk(next)) => {
            join_words(last, next)
        }
        (SessionUpdate::ToolCallUpdate(last), SessionUpdate::ToolCallUpdate(next)) => {
            let is_only_shown = next.fields.content.is_some() && next.fields.status.is_none();
            let is_same = last.tool_call_id == next.tool_call_id;
            if is_same && is_only_shown {
                last.fields.content.clone_from(&next.fields.content);
            }
            is_same && is_only_shown
        }
        _ => false,
    }
}

fn join_words(last: &mut ContentChunk, next: &ContentChunk) -> bool {
    if last.message_id != next.message_id {
        return false;
    }
    match (&mut last.content, &next.content) {
        (ContentBlock::Text(last), ContentBlock::Text(next)) if last.text.len() < JOINED => {
            last.text.push_str(&next.text);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol_schema::v1::{ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields};
    use base::EntryId;

    use super::super::tell::{Speaker, chunk};
    use super::*;

    fn waiting(outbox: &Outbox) -> Vec<Value> {
        let items = outbox.lock();
        let updates = items.iter().filter_map(|item| match item {
            Item::Update(_, update) => serde_json::to_value(update).ok(),
            Item::Due(_) | Item::Mark(_) => None,
        });
        updates.collect()
    }

    #[test]
    fn words_that_wait_are_joined_and_keep_their_order() {
        let (outbox, session, entry) = (Outbox::default(), SessionId::new("s"), EntryId::new());
        for word in ["a", "b", "c"] {
            outbox.tell(&session, vec![chunk(Speaker::Agent, word, entry)]);
        }
        outbox.tell(&session, vec![chunk(Speaker::Thought, "hm", entry)]);
        outbox.tell(&session, vec![chunk(Speaker::Agent, "d", EntryId::new())]);
        outbox.tell(&SessionId::new("other"), vec![chunk(Speaker::Agent, "e", entry)]);
        let told = waiting(&outbox);
        let texts: Vec<_> = told.iter().map(|it| it["content"]["text"].as_str().unwrap()).collect();
        assert_eq!(texts, ["abc", "hm", "d", "e"]);
    }

    #[test]
    fn of_what_a_call_shows_the_newest_is_kept() {
        let (outbox, session) = (Outbox::default(), SessionId::new("s"));
        let shows = |call: &'static str, count: usize| {
            let content = (0..count).map(|_| "x".to_owned().into()).collect::<Vec<_>>();
            let fields = ToolCallUpdateFields::new().content(content);
            SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(call, fields))
        };
        let begins = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
        let begins = SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("1", begins));
        outbox.tell(&session, vec![begins, shows("1", 1), shows("1", 3), shows("2", 1)]);
        let told = waiting(&outbox);
        assert_eq!(told.len(), 2);
        assert_eq!(told[0]["status"], "in_progress");
        assert_eq!(told[0]["content"].as_array().unwrap().len(), 3);
    }
}
