//! Questions that wait for a person: may this run, and what do you think.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::protocol::{Approval, ClientError};
use base::{RequestId, SessionId};
use guard::Rule;
use tokio::sync::oneshot;

/// The questions of a process that wait for an answer. The first answer counts, from whichever face.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    open: Arc<Mutex<HashMap<RequestId, (SessionId, Slot)>>>,
}

#[derive(Debug)]
enum Slot {
    Approval(oneshot::Sender<Approval>),
    Answers(oneshot::Sender<Vec<String>>),
}

impl Waiting {
    /// Opens a question about permission.
    pub(crate) fn approval(&self, session: SessionId) -> (RequestId, oneshot::Receiver<Approval>) {
        let (answer, receiver) = oneshot::channel();
        (self.open(session, Slot::Approval(answer)), receiver)
    }

    /// Opens a question the model asks.
    pub(crate) fn question(
        &self,
        session: SessionId,
    ) -> (RequestId, oneshot::Receiver<Vec<String>>) {
        let (answer, receiver) = oneshot::channel();
        (self.open(session, Slot::Answers(answer)), receiver)
    }

    /// Answers a question about permission; tells whose it was.
    pub(crate) fn approve(
        &self,
        request: RequestId,
        approval: Approval,
    ) -> Result<SessionId, ClientError> {
        check_rule(&approval)?;
        match self.take(request) {
            Some((session, Slot::Approval(answer))) => {
                // Whoever asked may have been cancelled meanwhile.
                drop(answer.send(approval));
                Ok(session)
            }
            Some((session, slot @ Slot::Answers(_))) => {
                self.lock().insert(request, (session, slot));
                Err(ClientError::Refused("this question wants words, not a yes or no".to_owned()))
            }
            None => Err(gone(request)),
        }
    }

    /// Answers a question the model asked; tells whose it was.
    pub(crate) fn answer(
        &self,
        request: RequestId,
        answers: Vec<String>,
    ) -> Result<SessionId, ClientError> {
        match self.take(request) {
            Some((session, Slot::Answers(answer))) => {
                drop(answer.send(answers));
                Ok(session)
            }
            Some((session, slot @ Slot::Approval(_))) => {
                self.lock().insert(request, (session, slot));
                Err(ClientError::Refused("this question wants a yes or no".to_owned()))
            }
            None => Err(gone(request)),
        }
    }

    /// Forgets a question nobody waits for any more.
    pub(crate) fn forget(&self, request: RequestId) {
        self.lock().remove(&request);
    }

    fn open(&self, session: SessionId, slot: Slot) -> RequestId {
        let request = RequestId::new();
        self.lock().insert(request, (session, slot));
        request
    }

    fn take(&self, request: RequestId) -> Option<(SessionId, Slot)> {
        self.lock().remove(&request)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, (SessionId, Slot)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
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
