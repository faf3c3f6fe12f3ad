//! One prompt for a guest, from its beginning to its answer.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use base::protocol::{ClientError, Op};
use base::{SessionId, TaskScope};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rmcp::model::{
    ElicitRequest, ElicitResult, ElicitationAction, InputRequest, InputResponses,
    ProgressNotificationParam, ProgressToken, ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::account::{Account, Asked};
use super::desk::Room;
use super::form;

/// A sign of life for guests that give up when they hear nothing: the common limit is a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a stopped turn may take to put its things in order.
const SETTLING: Duration = Duration::from_secs(10);

/// One prompt for a guest. Dropped before its end, it stops its turn.
pub(super) struct Errand {
    room: Arc<Room>,
    /// The session it is said in.
    pub(super) session: SessionId,
    /// The folder that works in.
    pub(super) folder: String,
    account: watch::Receiver<Account>,
    asked: HashSet<base::RequestId>,
    scope: TaskScope,
    is_over: bool,
}

/// The guest, as far as a call may bother it.
pub(super) struct Guest<'a> {
    peer: &'a Peer<RoleServer>,
    progress: Option<ProgressToken>,
    /// How its user can be asked.
    way: Way,
    /// The call is taken back.
    taken_back: &'a CancellationToken,
    /// The server ends.
    ending: &'a CancellationToken,
}

/// How a guest's user can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Not at all.
    None,
    /// By a request, while the call goes on.
    Request,
    /// By an answer that asks; the guest calls again with what its user said.
    Return,
}

/// How far an errand has come.
pub(super) enum Progress {
    /// It is over.
    Over(Account),
    /// Its guest must answer something first.
    Asks(Errand, Vec<(String, InputRequest)>),
}

impl<'a> Guest<'a> {
    /// Who calls, and how it may be bothered.
    pub(super) fn of(
        context: &'a RequestContext<RoleServer>,
        ending: &'a CancellationToken,
    ) -> Self {
        let can = context.client_capabilities().and_then(|can| can.elicitation);
        // Without saying which, forms are meant.
        let fills_forms = can.is_some_and(|can| can.form.is_some() || can.url.is_none());
        let is_stateless = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let way = match (fills_forms, is_stateless) {
            (false, _) => Way::None,
            (true, false) => Way::Request,
            (true, true) => Way::Return,
        };
        let progress = context.meta.get_progress_token();
        Self { peer: &context.peer, progress, way, taken_back: &context.ct, ending }
    }

    async fn tell(&self, step: u32, doing: String) {
        let Some(token) = &self.progress else { return };
        let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
        // A guest that has gone needs no progress.
        drop(self.peer.notify_progress(progress.with_message(doing)).await);
    }

    /// Asks its user; one that cannot be asked has said no.
    async fn ask(&self, asked: Asked) -> Op {
        let Some(form) = form::form(&asked).filter(|_| self.way == Way::Request) else {
            return form::nobody(&asked);
        };
        match self.peer.create_elicitation(form).await {
            Ok(filled) => form::answer(&asked, &filled),
            Err(_) => form::nobody(&asked),
        }
    }
}

impl Errand {
    /// Does what begins a turn in a session that nobody else waits for; the text of a failure is for the guest.
    pub(super) async fn begin(
        room: Arc<Room>,
        (session, folder): (SessionId, String),
        ops: Vec<Op>,
        scope: &TaskScope,
    ) -> Result<Self, String> {
        let account = room.book.open(session).ok_or_else(|| {
            format!("the session {session} is at work already; wait for that call to end")
        })?;
        let (asked, scope) = (HashSet::new(), scope.clone());
        let mut errand = Self { room, session, folder, account, asked, scope, is_over: false };
        for op in ops {
            if let Err(error) = errand.room.client.submit(op).await {
                errand.is_over = true;
                return Err(error.to_string());
            }
        }
        Ok(errand)
    }

    /// Goes on until the turn ends, or its guest must answer something first.
    pub(super) async fn go_on(mut self, guest: &Guest<'_>) -> Progress {
        let mut answers = FuturesUnordered::new();
        let (mut told, mut beats, mut is_stopped) = (0, 0, false);
        let settled = tokio::time::sleep(SETTLING);
        tokio::pin!(settled);
        loop {
            let (step, doing, fresh, is_over) = self.look();
            if is_over {
                return Progress::Over(self.end());
            }
            if guest.way == Way::Return && !is_stopped {
                let forms = self.forms(fresh).await;
                if !forms.is_empty() {
                    return Progress::Asks(self, forms);
                }
            } else {
                answers.extend(fresh.into_iter().map(|asked| guest.ask(asked)));
            }
            if step > told {
                told = step;
                guest.tell(step + beats, doing.clone()).await;
            }
            tokio::select! {
                changed = self.account.changed() => if changed.is_err() {
                    return Progress::Over(self.end());
                },
                Some(op) = answers.next() => self.hand_over(op).await,
                () = either(guest.taken_back, guest.ending), if !is_stopped => {
                    is_stopped = true;
                    self.hand_over(Op::Stop { session: self.session }).await;
                    settled.as_mut().reset(tokio::time::Instant::now() + SETTLING);
                }
                () = &mut settled, if is_stopped => return Progress::Over(self.end()),
                () = tokio::time::sleep(HEARTBEAT), if guest.progress.is_some() => {
                    beats += 1;
                    guest.tell(step + beats, doing).await;
                }
            }
        }
    }

    /// Takes the answers a guest has come back with. A question without one has been declined.
    pub(super) async fn take(&mut self, mut responses: InputResponses) {
        let asked: Vec<Asked> = self.account.borrow().questions.clone();
        for asked in asked.iter().filter(|asked| self.asked.contains(&asked.request)) {
            let response = responses.remove(&asked.request.to_string());
            let filled = response.and_then(|value| serde_json::from_value(value).ok());
            let filled = filled.unwrap_or_else(|| ElicitResult::new(ElicitationAction::Decline));
            self.hand_over(form::answer(asked, &filled)).await;
        }
    }

    /// How far the turn is: its newest step, questions that are new, whether it is over.
    fn look(&mut self) -> (u32, String, Vec<Asked>, bool) {
        let account = self.account.borrow_and_update();
        let is_new = |asked: &&Asked| self.asked.insert(asked.request);
        let fresh = account.questions.iter().filter(is_new).cloned().collect();
        (account.steps, account.doing.clone(), fresh, account.end.is_some())
    }

    /// Questions as forms to return. What fits no form is answered for nobody.
    async fn forms(&self, fresh: Vec<Asked>) -> Vec<(String, InputRequest)> {
        let mut forms = Vec::new();
        for asked in fresh {
            match form::form(&asked) {
                Some(form) => {
                    let request = InputRequest::Elicitation(ElicitRequest::new(form));
                    forms.push((asked.request.to_string(), request));
                }
                None => self.hand_over(form::nobody(&asked)).await,
            }
        }
        forms
    }

    async fn hand_over(&self, op: Op) {
        match self.room.client.submit(op).await {
            // What was asked may have been settled elsewhere, the turn may have ended.
            Ok(())
            | Err(
                ClientError::NotFound(_)
                | ClientError::Forbidden(_)
                | ClientError::Refused(_)
                | ClientError::Closed,
            ) => {}
        }
    }

    fn end(mut self) -> Account {
        let account = self.account.borrow().clone();
        self.is_over = account.end.is_some();
        account
    }
}

impl Drop for Errand {
    fn drop(&mut self) {
        self.room.book.close(self.session);
        if !self.is_over {
            let (client, session) = (self.room.client.clone(), self.session);
            self.scope.spawn(async move {
                drop(client.submit(Op::Stop { session }).await);
            });
        }
    }
}

async fn either(one: &CancellationToken, other: &CancellationToken) {
    tokio::select! {
        () = one.cancelled() => {}
        () = other.cancelled() => {}
    }
}
