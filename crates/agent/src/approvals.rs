//! Questions that wait for a person: may this run, and what do you think.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

use base::protocol::{Approval, ClientError};
use base::{Event, RequestId, SessionId};
use guard::Rule;
use tokio::sync::oneshot;

use crate::events::Events;
use crate::live::lock;

/// The questions of a process that wait for an answer. The first answer counts, from whichever face.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    /// In the order they were asked.
    open: Arc<Mutex<BTreeMap<RequestId, Open>>>,
}

#[derive(Debug)]
struct Open {
    /// As faces were told of it: one that comes later is told the same.
    asked: Event,
    slot: Slot,
}

#[derive(Debug)]
enum Slot {
    Approval(oneshot::Sender<Approval>),
    Answers(oneshot::Sender<Vec<String>>),
}

/// A question that is open for as long as somebody waits for its answer.
pub(crate) struct Pending<T> {
    session: SessionId,
    request: RequestId,
    answer: oneshot::Receiver<T>,
    waiting: Waiting,
    events: Events,
}

impl<T> Pending<T> {
    /// The answer; none if there will never be one.
    pub(crate) async fn answer(mut self) -> Option<T> {
        (&mut self.answer).await.ok()
    }
}

impl<T> Drop for Pending<T> {
    /// Answered or given up: faces need not show it any more.
    fn drop(&mut self) {
        lock(&self.waiting.open).remove(&self.request);
        self.events.publish(Event::Settled { session: self.session, request: self.request });
    }
}

impl Waiting {
    /// Asks whether something may run; `asked` is what faces are told.
    pub(crate) fn approval(
        &self,
        events: &Events,
        session: SessionId,
        asked: impl FnOnce(RequestId) -> Event,
    ) -> Pending<Approval> {
        self.open(events, session, asked, Slot::Approval)
    }

    /// Asks what the model wants to know; `asked` is what faces are told.
    pub(crate) fn question(
        &self,
        events: &Events,
        session: SessionId,
        asked: impl FnOnce(RequestId) -> Event,
    ) -> Pending<Vec<String>> {
        self.open(events, session, asked, Slot::Answers)
    }

    /// Answers a question about permission.
    pub(crate) fn approve(
        &self,
        request: RequestId,
        approval: Approval,
    ) -> Result<(), ClientError> {
        check_rule(&approval)?;
        let mut open = lock(&self.open);
        match open.remove(&request) {
            Some(Open { slot: Slot::Approval(answer), .. }) => {
                // Whoever asked may have been cancelled meanwhile.
                drop(answer.send(approval));
                Ok(())
            }
            Some(other @ Open { slot: Slot::Answers(_), .. }) => {
                open.insert(request, other);
                Err(ClientError::Refused("this question wants words, not a yes or no".to_owned()))
            }
            None => Err(gone(request)),
        }
    }

    /// Answers a question the model asked.
    pub(crate) fn answer(
        &self,
        request: RequestId,
        answers: Vec<String>,
    ) -> Result<(), ClientError> {
        let mut open = lock(&self.open);
        match open.remove(&request) {
            Some(Open { slot: Slot::Answers(answer), .. }) => {
                drop(answer.send(answers));
                Ok(())
            }
            Some(other @ Open { slot: Slot::Approval(_), .. }) => {
                open.insert(request, other);
                Err(ClientError::Refused("this question wants a yes or no".to_owned()))
            }
            None => Err(gone(request)),
        }
    }

    /// The session that asks.
    pub(crate) fn session_of(&self, request: RequestId) -> Option<SessionId> {
        lock(&self.open).get(&request).and_then(|open| open.asked.session())
    }

    /// What faces were told of the questions of some sessions, in order.
    pub(crate) fn of(&self, sessions: &HashSet<SessionId>) -> Vec<Event> {
        let is_theirs = |event: &Event| event.session().is_some_and(|it| sessions.contains(&it));
        let open = lock(&self.open);
        open.values().map(|open| &open.asked).filter(|asked| is_theirs(asked)).cloned().collect()
    }

    fn open<T>(
        &self,
        events: &Events,
        session: SessionId,
        asked: impl FnOnce(RequestId) -> Event,
        slot: fn(oneshot::Sender<T>) -> Slot,
    ) -> Pending<T> {
        let (sender, answer) = oneshot::channel();
        let request = RequestId::new();
        let asked = asked(request);
        lock(&self.open).insert(request, Open { asked: asked.clone(), slot: slot(sender) });
        events.publish(asked);
        Pending { session, request, answer, waiting: self.clone(), events: events.clone() }
    }
}

/// Refuses a rule the user has edited that would not do what it says; the question stays open.
fn check_rule(approval: &Approval) -> Result<(), ClientError> {
    let Approval::Allow { rule: Some(text), .. } = approval else { return Ok(()) };
    let rule = Rule::parse(text).map_err(|error| ClientError::Refused(error.to_string()))?;
    let trouble = match (rule.unused(), rule.is_unanchored()) {
        (Some(why), _) => format!("`{rule}` would allow nothing: {why}"),
        (None, true) => format!("`{rule}` would allow everything; name a tool"),
        (None, false) => return Ok(()),
    };
    Err(ClientError::Refused(trouble))
}

fn gone(request: RequestId) -> ClientError {
    ClientError::NotFound(format!("open question {request}"))
}
