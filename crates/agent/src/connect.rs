//! A connection to the engine: what its principal may see and do, checked at each call.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use base::protocol::{
    Client, ClientError, EventFilter, EventStream, Numbered, Op, Principal, Query, QuerySubject,
    Reply, Right, SessionScope,
};
use base::{PartBody, SessionId};
use futures::StreamExt;
use futures::future::BoxFuture;
use store::StoreError;

use crate::coordinator::{Coordinator, Hub, refused};
use crate::live::lock;

/// Longest chain of sub-agents that is followed upwards: more than any settings allow.
const GENERATIONS: usize = 64;

/// A client of the engine with the rights of its principal. Clones share the sessions it started.
#[derive(Clone)]
pub struct Connection {
    hub: Arc<Hub>,
    principal: Arc<Principal>,
    /// Top sessions it may see; `None` if it may see all.
    visible: Option<Arc<Mutex<HashSet<SessionId>>>>,
}

impl Coordinator {
    /// A client that acts for `principal`.
    pub fn connect(&self, principal: Principal) -> Connection {
        let visible = match &principal.sessions {
            SessionScope::All => None,
            SessionScope::Only(sessions) => {
                Some(Arc::new(Mutex::new(sessions.iter().copied().collect())))
            }
        };
        Connection { hub: self.hub.clone(), principal: Arc::new(principal), visible }
    }
}

impl Connection {
    async fn submit_checked(&self, op: Op) -> Result<(), ClientError> {
        self.require(op.right())?;
        if let Some(session) = op.session() {
            self.require_visible(session).await?;
        }
        if let Op::Approve { request, .. } | Op::Answer { request, .. } = &op {
            let not_found = || ClientError::NotFound(format!("open question {request}"));
            let session = self.hub.waiting.session_of(*request).ok_or_else(not_found)?;
            // A request of another session does not exist for this client.
            self.require_visible(session).await.map_err(|_| not_found())?;
        }
        let mut started = None;
        if let Op::NewSession { session, .. } | Op::Fork { into: session, .. } = &op {
            self.require_unknown_or_visible(*session).await?;
            started = Some(*session);
        }
        self.hub.submit(self.stamped(op)?).await?;
        if let (Some(session), Some(visible)) = (started, &self.visible) {
            lock(visible).insert(session);
        }
        Ok(())
    }

    async fn ask_checked(&self, query: Query) -> Result<Reply, ClientError> {
        match query.subject() {
            QuerySubject::Session(session) => self.require_visible(session).await?,
            QuerySubject::Installation => self.require(Right::Manage)?,
            QuerySubject::SessionList | QuerySubject::Models => {}
        }
        let mut reply = self.hub.ask(query).await?;
        if let (Reply::Sessions { sessions }, Some(visible)) = (&mut reply, &self.visible) {
            let visible = lock(visible);
            sessions.retain(|summary| visible.contains(&summary.id));
        }
        Ok(reply)
    }

    /// The operation with the origins its principal may give.
    fn stamped(&self, op: Op) -> Result<Op, ClientError> {
        let Op::Say { session, entry, parts, delivery } = op else { return Ok(op) };
        for part in &parts {
            match &part.body {
                PartBody::Text { .. } | PartBody::File(_) => {}
                PartBody::Reasoning { .. }
                | PartBody::Call(_)
                | PartBody::Result(_)
                | PartBody::Opaque { .. } => {
                    let text = "a prompt holds text and files, nothing else";
                    return Err(ClientError::Refused(text.to_owned()));
                }
            }
        }
        Ok(Op::Say { session, entry, parts: self.principal.stamp_parts(parts), delivery })
    }

    fn require(&self, right: Right) -> Result<(), ClientError> {
        if self.principal.has(right) {
            return Ok(());
        }
        let what = match right {
            Right::Prompt => "sending prompts",
            Right::Approve => "approving what the agent does",
            Right::Manage => "changing or reading what belongs to the whole installation",
        };
        Err(ClientError::Forbidden(format!("this client lacks the right for {what}")))
    }

    /// Refuses a session the principal does not see, in the words of one that does not exist.
    async fn require_visible(&self, session: SessionId) -> Result<(), ClientError> {
        let Some(visible) = &self.visible else { return Ok(()) };
        let not_found = || ClientError::NotFound(format!("session {session}"));
        let root = self.root_of(session).await?.ok_or_else(not_found)?;
        if lock(visible).contains(&root) { Ok(()) } else { Err(not_found()) }
    }

    /// Refuses to take over a session that exists and is not this client's.
    async fn require_unknown_or_visible(&self, session: SessionId) -> Result<(), ClientError> {
        let Some(visible) = &self.visible else { return Ok(()) };
        match self.root_of(session).await? {
            Some(root) if !lock(visible).contains(&root) => {
                Err(ClientError::Refused(format!("the id {session} is taken")))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The top session of a session's family; `None` if there is no such session.
    async fn root_of(&self, session: SessionId) -> Result<Option<SessionId>, ClientError> {
        if let Some(root) = self.hub.events.root(session) {
            return Ok(Some(root));
        }
        let mut top = session;
        for _ in 0..GENERATIONS {
            match self.hub.mind.store.session(top).await {
                Ok(row) => match row.child_of {
                    Some(child_of) => top = child_of.parent,
                    None => return Ok(Some(top)),
                },
                Err(StoreError::NoSession(_)) => return Ok(None),
                Err(error) => return Err(refused(&error)),
            }
        }
        Ok(None)
    }
}

impl Client for Connection {
    fn submit(&self, op: Op) -> BoxFuture<'_, Result<(), ClientError>> {
        Box::pin(self.submit_checked(op))
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Reply, ClientError>> {
        Box::pin(self.ask_checked(query))
    }

    fn subscribe(&self, filter: EventFilter, since: u64) -> EventStream {
        let events = self.hub.events.since(filter, since);
        let Some(visible) = self.visible.clone() else { return events };
        let is_visible = move |event: &Numbered| {
            let seen = event.root.is_some_and(|root| lock(&visible).contains(&root));
            std::future::ready(seen)
        };
        events.filter(is_visible).boxed()
    }
}
