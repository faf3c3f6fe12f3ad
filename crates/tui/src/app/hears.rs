//! Events of the mind, as far as they concern more than the conversation.

use base::protocol::{Ending, Event, Query};
use base::{EntryKind, Origin, Part, RequestId, SessionId};

use super::session::Turn;
use super::{App, Left, ask};
use crate::message::{Asker, Effect, Progress};
use crate::panel::{Asked, Has, Questions};
use crate::text;
use crate::transcript::is_own_command;

/// Cells of a title that is made of a prompt.
const TITLE_CELLS: usize = 60;

impl App {
    /// Takes an event of the mind.
    pub(super) fn hear(&mut self, event: &Event) -> Vec<Effect> {
        self.note_child(event);
        if let Some(session) = event.session().filter(|session| !self.is_ours(*session)) {
            return self.hear_elsewhere(session, event);
        }
        self.transcript.see(event, self.look.now_ms);
        let effects = if event.session().is_none_or(|session| session == self.session.id) {
            self.hear_own(event)
        } else {
            self.hear_any(event)
        };
        if matches!(event, Event::Waiting { .. } | Event::Spent { .. } | Event::ToolDone { .. }) {
            self.share();
        }
        effects
    }

    /// A sub-agent belongs to the family of the session it works for.
    pub(super) fn note_child(&mut self, event: &Event) {
        let Event::ChildStarted { session, child, .. } = event else { return };
        if self.is_ours(*session) {
            self.session.children.insert(*child);
        }
        let is_its = |left: &&mut Left| left.id == *session || left.children.contains(session);
        if let Some(left) = self.left.iter_mut().find(is_its) {
            left.children.insert(*child);
        }
    }

    /// An event of a session that is not on the screen: what it asks is not lost.
    fn hear_elsewhere(&mut self, session: SessionId, event: &Event) -> Vec<Effect> {
        if let Event::Settled { request, .. } = event {
            self.elsewhere.remove(request);
        }
        let Some(request) = request_of(event) else { return Vec::new() };
        let is_its = |left: &&Left| left.id == session || left.children.contains(&session);
        let root = self.left.iter().find(is_its).map(|left| left.id);
        self.elsewhere.insert(request, root);
        let body = self.waits_elsewhere().unwrap_or_default();
        let told = Effect::Notify { title: "a question".to_owned(), body };
        self.is_away().then_some(told).into_iter().collect()
    }

    /// What is said of the newest question of another session.
    pub(super) fn waits_elsewhere(&self) -> Option<String> {
        let (_, root) = self.elsewhere.last_key_value()?;
        let left = root.and_then(|root| self.left.iter().find(|left| left.id == root));
        let title = left.and_then(|left| left.title.as_deref()).unwrap_or("another session");
        Some(format!("{title} waits for your answer"))
    }

    /// Lets open panes know what has changed.
    fn share(&mut self) {
        for at in 0..self.panes.len() {
            let shared = self.shared(self.panes[at].0);
            self.panes[at].1.share(&shared);
        }
    }

    /// Whether a session is the one on the screen, or one of its sub-agents.
    fn is_ours(&self, session: SessionId) -> bool {
        session == self.session.id || self.session.children.contains(&session)
    }

    /// An event of the session on the screen.
    fn hear_own(&mut self, event: &Event) -> Vec<Effect> {
        match event {
            Event::TurnStarted { model, .. } => {
                let session = &mut self.session;
                session.turn = Turn::Runs;
                session.since_ms = self.look.now_ms;
                session.model = Some(model.clone());
                vec![Effect::Progress(Progress::Busy), Effect::Title(self.window_title())]
            }
            Event::TurnDone { ending, .. } => {
                let body = match ending {
                    Ending::Answered | Ending::Halted(_) => Some("done".to_owned()),
                    Ending::Cancelled => None,
                    Ending::OverBudget(why) | Ending::GoingInCircles(why) => Some(why.clone()),
                };
                let mut effects = self.rested(body);
                // Servers that have come up since may offer something, and files may have changed.
                effects.push(ask(Query::Offers { folder: self.folder.clone() }, Asker::Offers));
                effects
            }
            Event::TurnFailed { reason, .. } => self.rested(Some(reason.clone())),
            Event::SessionChanged { title, model, effort, mode, .. } => {
                let session = &mut self.session;
                session.title = title.clone().or(session.title.take());
                session.model = model.clone().or(session.model.take());
                session.effort = effort.or(session.effort);
                session.mode = mode.unwrap_or(session.mode);
                let session = session.id;
                // Another model has another window.
                let state = ask(Query::State { session }, Asker::State(session));
                let mut effects = vec![Effect::Title(self.window_title())];
                effects.extend(model.is_some().then_some(state));
                effects
            }
            Event::Waiting { prompts, .. } => {
                self.session.wait(prompts);
                Vec::new()
            }
            Event::Spent { usage, .. } => {
                self.session.used = self.session.used.max(usage.total());
                self.hear_any(event)
            }
            Event::Appended { entry, .. } => {
                // An answer that was stopped tells no figures.
                if let EntryKind::Assistant { usage, .. } = &entry.kind
                    && usage.total() > 0
                {
                    self.session.used = usage.total();
                }
                self.session.call_by(&entry.kind);
                // We went back in time: what is shown is another branch now.
                let is_back = matches!(entry.kind, EntryKind::Checkpoint { .. });
                if !is_back {
                    return self.name_after(&entry.kind);
                }
                let mut effects = self.catch_up();
                effects.push(Effect::Say("went back · /rewind undo takes it back".to_owned()));
                effects
            }
            Event::Text { .. }
            | Event::Reasoning { .. }
            | Event::Retrying { .. }
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDone { .. }
            | Event::ChildStarted { .. }
            | Event::ApprovalNeeded { .. }
            | Event::Denied { .. }
            | Event::QuestionAsked { .. }
            | Event::Settled { .. }
            | Event::Hook { .. }
            | Event::Notice { .. }
            | Event::CommandDone { .. } => self.hear_any(event),
        }
    }

    /// A session is named by its first words until a better title is found.
    fn name_after(&mut self, kind: &EntryKind) -> Vec<Effect> {
        let EntryKind::User { parts } = kind else { return Vec::new() };
        let said = parts.iter().filter(|part| part.origin == Origin::User).find_map(Part::as_text);
        let first = said.and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
        let Some(first) = first.filter(|_| self.session.title.is_none()) else {
            return Vec::new();
        };
        self.session.title = Some(text::ellipsis(first.trim(), TITLE_CELLS).into_owned());
        vec![Effect::Title(self.window_title())]
    }

    /// An event that counts whoever it is of: the session on the screen or a sub-agent.
    pub(super) fn hear_any(&mut self, event: &Event) -> Vec<Effect> {
        self.note_shell(event);
        if let Event::Spent { model, usage, cost, .. } = event {
            self.session.pay(model, *usage, *cost);
        }
        if let Event::ToolDone { body: Some(body), .. } = event {
            self.session.see_block(body);
        }
        if let Event::Settled { request, .. } = event {
            self.panels.settled(*request);
            if self.panels.is_empty() {
                self.has = Has::OnlySpareKeys;
                return vec![Effect::Progress(Progress::Busy)];
            }
        }
        if let Event::ApprovalNeeded {
            session,
            request,
            agent,
            title,
            reason,
            rules,
            risky,
            body,
            ..
        } = event
        {
            let asked = Asked {
                session: *session,
                request: *request,
                agent: agent.clone(),
                title: title.clone(),
                reason: reason.clone(),
                rules: rules.clone(),
                risky: risky.clone(),
                body: body.clone(),
                mode: self.session.mode,
            };
            self.panels.ask(asked, self.look.now_ms);
            return self.call_user("permission needed", title);
        }
        if let Event::QuestionAsked { session, request, agent, questions } = event {
            let asked = Questions {
                session: *session,
                request: *request,
                agent: agent.clone(),
                questions: questions.clone(),
            };
            self.panels.question(asked, self.look.now_ms);
            let first = questions.first().map_or("", |question| question.text.as_str());
            return self.call_user("a question", first);
        }
        Vec::new()
    }

    /// Keeps count of the user's own commands that run.
    fn note_shell(&mut self, event: &Event) {
        if let Event::ToolStarted { session, call, title } = event
            && *session == self.session.id
            && is_own_command(title)
        {
            if !self.session.is_busy() {
                self.session.since_ms = self.look.now_ms;
            }
            self.session.shells.insert(call.clone());
        }
        if let Event::ToolDone { call, .. } = event {
            self.session.shells.remove(call);
        }
    }

    /// Lets a user who looks elsewhere know that they are needed.
    fn call_user(&self, title: &str, body: &str) -> Vec<Effect> {
        let mut effects = vec![Effect::Progress(Progress::Waiting)];
        if self.is_away() {
            effects.push(Effect::Notify { title: title.to_owned(), body: body.to_owned() });
        }
        effects
    }

    /// A turn has ended.
    fn rested(&mut self, told: Option<String>) -> Vec<Effect> {
        self.session.turn = Turn::None;
        let mut effects =
            vec![Effect::Progress(Progress::None), Effect::Title(self.window_title())];
        if let Some(body) = told.filter(|_| self.is_away()) {
            let title = self.session.title.clone().unwrap_or_else(|| "caiman".to_owned());
            effects.push(Effect::Notify { title, body });
        }
        effects
    }

    /// Events were missed: everything is looked up again.
    pub(super) fn catch_up(&mut self) -> Vec<Effect> {
        if !self.session.is_begun {
            return Vec::new();
        }
        self.is_loaded = false;
        self.elsewhere.clear();
        super::look_up(self.session.id).into()
    }
}

/// The question that an event asks.
pub(super) fn request_of(event: &Event) -> Option<RequestId> {
    if let Event::ApprovalNeeded { request, .. } | Event::QuestionAsked { request, .. } = event {
        Some(*request)
    } else {
        None
    }
}
