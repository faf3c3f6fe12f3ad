//! Events of a mind: to updates, answers and questions.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, ConfigOptionUpdate, Cost, CreateElicitationResponse,
    ElicitationCapabilities, RequestPermissionRequest, RequestPermissionResponse, SessionUpdate,
    UsageUpdate,
};
use base::protocol::{Approval, EventFilter, Op, Question};
use base::{Client, Event, RequestId, SessionId};
use futures::StreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::sessions::{state, wire};
use super::turns::Due;
use super::{Kin, PERSON, Rooms, Shared, ask, failed, form, tell};
use crate::rpc::RpcError;

/// What is left to do about an event, outside of any lock.
enum Then {
    Nothing,
    /// The turn is over.
    Over,
    /// How the session is set has changed.
    Set,
    /// Somebody must allow or deny a call.
    Permit(RequestId, Box<RequestPermissionRequest>, CancellationToken),
    /// Somebody must answer the model.
    Question {
        request: RequestId,
        questions: Vec<Question>,
        agent: Option<String>,
        token: CancellationToken,
    },
}

/// What an event comes to.
struct Heard {
    root: SessionId,
    door: Arc<dyn Client>,
    due: Vec<Due>,
    then: Then,
}

/// Hears a mind until its end.
pub(super) async fn follow(shared: Arc<Shared>, door: Arc<dyn Client>) {
    let mut since = 0;
    loop {
        let (begun, mut events) = (since, door.subscribe(EventFilter::All, since));
        while let Some(numbered) = events.next().await {
            since = numbered.number;
            shared.hear(&numbered.event, &door).await;
        }
        // Whoever is let go asks again; who then hears nothing has lost the mind.
        if since == begun {
            return shared.lost(&door);
        }
    }
}

impl Shared {
    async fn hear(self: &Arc<Self>, event: &Event, door: &Arc<dyn Client>) {
        let heard = {
            let mut rooms = self.rooms();
            rooms.note_kin(event);
            if let Some(session) = event.session() {
                self.heard(&mut rooms, session, event)
            } else {
                self.heard_by_all(&mut rooms, event, door);
                None
            }
        };
        let Some(Heard { root, door, due, then }) = heard else { return };
        match then {
            Then::Nothing => {}
            Then::Over => {
                let usage = usage(&*door, root).await;
                self.outbox.tell(&wire(root), usage.into_iter().collect());
            }
            Then::Set => {
                let options = self.options_of(&*door, root).await;
                let update =
                    options.map(ConfigOptionUpdate::new).map(SessionUpdate::ConfigOptionUpdate);
                self.outbox.tell(&wire(root), update.into_iter().collect());
            }
            Then::Permit(request, asked, token) => {
                let shared = self.clone();
                self.scope.spawn(async move {
                    let permitting = shared.permit(request, *asked, &*door);
                    token.run_until_cancelled(permitting).await;
                    shared.settled(root, request);
                });
            }
            Then::Question { request, questions, agent, token } => {
                let shared = self.clone();
                self.scope.spawn(async move {
                    let answering = async {
                        let answers =
                            shared.answers((root, request), &questions, agent.as_deref()).await;
                        // Whoever asked may have stopped waiting.
                        drop(door.submit(Op::Answer { request, answers }).await);
                    };
                    token.run_until_cancelled(answering).await;
                    shared.settled(root, request);
                });
            }
        }
        self.outbox.answer(due);
    }

    /// What an event of a session, or of a sub-agent's, comes to. Updates are on their way.
    fn heard(&self, rooms: &mut Rooms, session: SessionId, event: &Event) -> Option<Heard> {
        let kin = rooms.kin.get(&session).cloned();
        let root = kin.as_ref().map_or(session, |kin| kin.root);
        let agent = kin.as_ref().map(|kin| kin.agent.as_str());
        let seat = rooms.seats.get_mut(&root)?;
        let (mut updates, mut due, mut then) = (Vec::new(), Vec::new(), Then::Nothing);
        match event {
            Event::ApprovalNeeded { request, agent: named, call, title, rules, body, .. } => {
                let agent = named.as_deref().or(agent);
                let (told, call) = seat.teller.asked((session, call), title, body.as_ref(), agent);
                updates.extend(told);
                let token = CancellationToken::new();
                seat.asking.insert(*request, token.clone());
                let asked = ask::permission(wire(root), call, rules);
                then = Then::Permit(*request, Box::new(asked), token);
            }
            Event::QuestionAsked { request, agent: named, questions, .. } => {
                let agent = named.clone().or_else(|| agent.map(str::to_owned));
                let token = CancellationToken::new();
                seat.asking.insert(*request, token.clone());
                let (request, questions) = (*request, questions.clone());
                then = Then::Question { request, questions, agent, token };
            }
            Event::Settled { request, .. } => {
                if let Some(token) = seat.asking.remove(request) {
                    token.cancel();
                }
            }
            Event::Notice { text, .. } if agent.is_none() && seat.turns.has_command() => {
                updates.push(tell::words(text));
            }
            Event::TurnStarted { .. }
            | Event::Appended { .. }
            | Event::Text { .. }
            | Event::Reasoning { .. }
            | Event::Retrying { .. }
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDone { .. }
            | Event::ChildStarted { .. }
            | Event::Denied { .. }
            | Event::Spent { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::Hook { .. }
            | Event::Notice { .. }
            | Event::CommandDone { .. }
            | Event::TurnDone { .. }
            | Event::TurnFailed { .. } => updates = seat.teller.take(event, agent),
        }
        if kin.is_none() {
            due = seat.turns.take(event);
            if matches!(event, Event::TurnDone { .. } | Event::TurnFailed { .. }) {
                then = Then::Over;
            } else if let Event::SessionChanged { model, effort, mode, .. } = event
                && (model.is_some() || effort.is_some() || mode.is_some())
            {
                then = Then::Set;
            }
        }
        match &mut seat.held {
            Some(held) => held.extend(updates),
            None => self.outbox.tell(&wire(root), updates),
        }
        Some(Heard { root, door: seat.door.clone(), due, then })
    }

    /// What concerns all sessions of a mind.
    fn heard_by_all(&self, rooms: &mut Rooms, event: &Event, door: &Arc<dyn Client>) {
        let Event::Notice { text, .. } = event else { return };
        let mut is_told = false;
        for (session, seat) in &mut rooms.seats {
            if !Arc::ptr_eq(&seat.door, door) {
                continue;
            }
            is_told = true;
            let updates = seat.teller.notice(text);
            match &mut seat.held {
                Some(held) => held.extend(updates),
                None => self.outbox.tell(&wire(*session), updates),
            }
        }
        if !is_told {
            rooms.notices.push(text.clone());
        }
    }

    /// Asks whether a call may run, and passes the answer on. An editor that cannot ask has said no.
    async fn permit(&self, request: RequestId, asked: RequestPermissionRequest, door: &dyn Client) {
        let approval = match self.request_permission(asked).await {
            Ok(response) => ask::approval(&response.outcome),
            Err(RpcError::Closed(_)) => return,
            Err(
                error @ (RpcError::TimedOut { .. }
                | RpcError::Refused(_)
                | RpcError::Unreadable { .. }),
            ) => {
                tracing::debug!(%error, "the editor cannot ask");
                Approval::Deny { instead: None }
            }
        };
        // It may have been settled meanwhile.
        drop(door.submit(Op::Approve { request, approval }).await);
    }

    /// Asks one question after the other: one text a question.
    async fn answers(
        &self,
        (root, request): (SessionId, RequestId),
        questions: &[Question],
        agent: Option<&str>,
    ) -> Vec<String> {
        if self.shows_forms() {
            let form = form::form(wire(root), questions, agent);
            let method = CLIENT_METHOD_NAMES.elicitation_create;
            if let Ok(response) = self.put::<_, CreateElicitationResponse>(method, form).await {
                return form::answers(&response.action, questions);
            }
        }
        let mut answers = Vec::new();
        for (number, question) in questions.iter().enumerate() {
            let asked = ask::choice(wire(root), (request, number), question, agent);
            answers.push(self.answer_of(root, question, asked).await);
        }
        answers
    }

    /// The answer to a question; one that wants words is only told.
    async fn answer_of(
        &self,
        root: SessionId,
        question: &Question,
        asked: Option<RequestPermissionRequest>,
    ) -> String {
        let Some(asked) = asked else {
            let text = format!(
                "**{}**\n\n(asked by the model; say it in your next message)",
                question.text
            );
            self.outbox.tell(&wire(root), vec![tell::words(&text)]);
            return ask::CANNOT_ASK.to_owned();
        };
        match self.request_permission(asked).await {
            Ok(response) => {
                let chosen = ask::chosen(&response.outcome, question);
                chosen.unwrap_or_else(|| ask::DECLINED.to_owned())
            }
            Err(_) => ask::CANNOT_ASK.to_owned(),
        }
    }

    async fn request_permission(
        &self,
        asked: RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, RpcError> {
        self.put(CLIENT_METHOD_NAMES.session_request_permission, asked).await
    }

    fn shows_forms(&self) -> bool {
        let asked = self.editor.get().and_then(|editor| editor.elicitation.as_ref());
        asked.is_some_and(ElicitationCapabilities::supports_form)
    }

    /// Puts a question to the person. What it is about must be known first.
    async fn put<Asked: Serialize, Answer: DeserializeOwned>(
        &self,
        method: &'static str,
        asked: Asked,
    ) -> Result<Answer, RpcError> {
        self.outbox.flushed().await;
        let unreadable = |error: serde_json::Error| RpcError::Unreadable {
            method: method.to_owned(),
            why: error.to_string(),
        };
        let params = serde_json::to_value(asked).map_err(unreadable)?;
        let answer = self.peer.wait().await.request(method, params, PERSON).await?;
        serde_json::from_value(answer).map_err(unreadable)
    }

    fn settled(&self, root: SessionId, request: RequestId) {
        if let Some(seat) = self.rooms().seats.get_mut(&root) {
            seat.asking.remove(&request);
        }
    }

    /// A mind has ended by itself: nobody waits for it any longer.
    fn lost(&self, door: &Arc<dyn Client>) {
        let ended = Err(failed("the agent broke off: close this thread and open it again"));
        let mut rooms = self.rooms();
        rooms.doors.retain(|_, known| !Arc::ptr_eq(known, door));
        for seat in rooms.seats.values_mut().filter(|seat| Arc::ptr_eq(&seat.door, door)) {
            self.outbox.answer(seat.turns.close(&ended));
        }
    }
}

impl Rooms {
    /// A sub-agent's session belongs to that of whoever began it.
    fn note_kin(&mut self, event: &Event) {
        if let Event::ChildStarted { session, child, agent, .. } = event {
            let root = self.kin.get(session).map_or(*session, |kin| kin.root);
            self.kin.insert(*child, Kin { root, agent: agent.clone() });
        }
    }
}

/// How full the context is, and what the session has cost.
async fn usage(door: &dyn Client, session: SessionId) -> Option<SessionUpdate> {
    let state = state(door, session).await.ok()?;
    let cost = state.summary.cost.as_dollars();
    let mut usage = UsageUpdate::new(state.used, state.window);
    if cost > 0.0 {
        usage = usage.cost(Cost::new(cost, "USD"));
    }
    (state.window > 0).then_some(SessionUpdate::UsageUpdate(usage))
}
