//! What happens in a session as updates an editor shows. No channel, no clock: events in, updates out.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1::{
    ContentBlock, ContentChunk, CurrentModeUpdate, MessageId, Notice, NoticeSeverity, Plan,
    PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionInfoUpdate, SessionUpdate, Terminal,
    TerminalId, TextContent, ToolCall, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind,
};
use base::block::{Todo, TodoState};
use base::protocol::Ending;
use base::transcript::{Call, Outcome};
use base::{Block, CallId, EntryId, EntryKind, Event, Part, PartBody, SessionId};
use serde_json::Value;

use super::{call, session_options};

/// Whether an editor shows notices apart from what the model says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Notices {
    /// They are told as the agent's words.
    #[default]
    Said,
    /// They have a place of their own.
    Apart,
}

/// What an editor has been told of a session.
#[derive(Debug)]
pub(super) struct Teller {
    session: SessionId,
    folder: PathBuf,
    notices: Notices,
    calls: HashMap<(SessionId, CallId), Known>,
    /// Answers whose words were streamed.
    streamed: HashSet<EntryId>,
}

/// What is known of a call.
#[derive(Debug, Default)]
struct Known {
    name: Option<String>,
    input: Value,
    kind: ToolKind,
    is_told: bool,
    /// Where its command runs: that is what is shown of it.
    terminal: Option<TerminalId>,
}

/// Who speaks, as far as an editor tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The person.
    User,
    /// The model.
    Agent,
    /// The model, to itself.
    Thought,
}

impl Teller {
    /// Nothing was told yet.
    pub(super) fn new(session: SessionId, folder: &Path, notices: Notices) -> Self {
        let (calls, streamed) = (HashMap::new(), HashSet::new());
        Self { session, folder: folder.to_owned(), notices, calls, streamed }
    }

    /// Paths are those of this folder.
    pub(super) fn works_in(&mut self, folder: &Path) {
        folder.clone_into(&mut self.folder);
    }

    /// What an event of the session itself, or of a sub-agent of it, makes known. `agent` is the sub-agent's
    /// name: of its calls only those are told that change files or were asked about; the others stand in its
    /// parent's call.
    pub(super) fn take(&mut self, event: &Event, agent: Option<&str>) -> Vec<SessionUpdate> {
        match (event, agent) {
            (Event::Appended { session, entry }, _) => self.appended(*session, entry, agent),
            (Event::Text { entry, delta, .. }, None) => {
                self.streamed.insert(*entry);
                vec![chunk(Speaker::Agent, delta, *entry)]
            }
            (Event::Reasoning { entry, delta, .. }, None) => {
                self.streamed.insert(*entry);
                vec![chunk(Speaker::Thought, delta, *entry)]
            }
            (Event::Retrying { attempt, wait_ms, reason, .. }, None) => {
                let seconds = wait_ms.div_ceil(1000);
                let text = format!("{reason}; try {attempt} follows in {seconds} s");
                match self.notices {
                    Notices::Apart => self.notice(&text),
                    Notices::Said => {
                        vec![chunk(Speaker::Thought, &format!("{text}\n\n"), EntryId::new())]
                    }
                }
            }
            (Event::ToolStarted { session, call, title }, _) => {
                self.started((*session, call), title, agent)
            }
            (Event::ToolProgress { session, call, body }, _) => {
                self.progress((*session, call), body)
            }
            (Event::ToolDone { session, call, outcome, title, body }, _) => {
                self.done((*session, call), (*outcome, title, body.as_ref()), agent)
            }
            (Event::SessionChanged { title, mode, .. }, None) => {
                let title = title.iter().map(|title| {
                    SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title.clone()))
                });
                let mode = mode.iter().map(|mode| {
                    SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(
                        session_options::mode_id(*mode),
                    ))
                });
                title.chain(mode).collect()
            }
            (Event::Notice { text, .. }, None) => self.notice(text),
            (Event::TurnDone { session, ending, .. }, _) => {
                self.over(*session);
                match ending {
                    Ending::OverBudget(why) | Ending::GoingInCircles(why) | Ending::Halted(why)
                        if agent.is_none() =>
                    {
                        vec![words(why)]
                    }
                    Ending::OverBudget(_)
                    | Ending::GoingInCircles(_)
                    | Ending::Halted(_)
                    | Ending::Answered
                    | Ending::Cancelled => Vec::new(),
                }
            }
            (Event::TurnFailed { session, .. }, _) => {
                self.over(*session);
                Vec::new()
            }
            (
                Event::Text { .. }
                | Event::Reasoning { .. }
                | Event::Retrying { .. }
                | Event::SessionChanged { .. }
                | Event::Notice { .. },
                Some(_),
            )
            | (
                Event::TurnStarted { .. }
                | Event::ChildStarted { .. }
                | Event::ApprovalNeeded { .. }
                | Event::Denied { .. }
                | Event::QuestionAsked { .. }
                | Event::Settled { .. }
                | Event::Spent { .. }
                | Event::Waiting { .. }
                | Event::Hook { .. }
                | Event::CommandDone { .. },
                _,
            ) => Vec::new(),
        }
    }

    /// Nothing more comes of a turn's calls. A sub-agent may work on when its parent's turn is over.
    fn over(&mut self, session: SessionId) {
        self.calls.retain(|(whose, _), _| *whose != session);
        if session == self.session {
            self.streamed.clear();
        }
    }

    /// A call that is asked about: told now if it was not yet, and how the question names it.
    pub(super) fn asked(
        &mut self,
        (session, call): (SessionId, &CallId),
        title: &str,
        body: Option<&Block>,
        agent: Option<&str>,
    ) -> (Option<SessionUpdate>, ToolCallUpdate) {
        let id = self.id((session, call));
        let folder = self.folder.clone();
        let known = self.calls.entry((session, call.clone())).or_default();
        let title = titled(title, agent);
        let told = (!known.is_told).then(|| known.tell(&id, &title, &folder));
        let mut fields = ToolCallUpdateFields::new().title(title).kind(known.kind);
        fields = fields.status(ToolCallStatus::Pending);
        if !known.input.is_null() {
            fields = fields.raw_input(known.input.clone());
        }
        if let Some(body) = body {
            let (content, places) = call::shown(body, known.kind, &folder);
            fields = fields.content(content);
            if !places.is_empty() {
                fields = fields.locations(places);
            }
        }
        (told.map(SessionUpdate::ToolCall), ToolCallUpdate::new(id, fields))
    }

    /// The command of a call runs in a terminal of the editor's.
    pub(super) fn runs_in(
        &mut self,
        (session, call): (SessionId, &CallId),
        terminal: &TerminalId,
    ) -> Option<SessionUpdate> {
        let id = self.id((session, call));
        let known = self.calls.entry((session, call.clone())).or_default();
        known.terminal = Some(terminal.clone());
        // One that is not told yet is told with it.
        let fields = ToolCallUpdateFields::new().content(known.watched()?);
        known.is_told.then(|| SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields)))
    }

    /// Something the user should know.
    pub(super) fn notice(&self, text: &str) -> Vec<SessionUpdate> {
        if text.trim().is_empty() {
            return Vec::new();
        }
        match self.notices {
            Notices::Said => vec![words(text)],
            Notices::Apart => {
                let (title, rest) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
                let mut notice = Notice::new(NoticeSeverity::Info, title);
                if !rest.trim().is_empty() {
                    notice = notice.description(rest.trim().to_owned());
                }
                vec![SessionUpdate::Notice(notice)]
            }
        }
    }

    /// Calls of an answer become known with their arguments; words that were not streamed are told whole.
    fn appended(
        &mut self,
        session: SessionId,
        entry: &base::Entry,
        agent: Option<&str>,
    ) -> Vec<SessionUpdate> {
        let EntryKind::Assistant { parts, .. } = &entry.kind else { return Vec::new() };
        let mut updates = Vec::new();
        if agent.is_none() && !self.streamed.contains(&entry.id) {
            updates.extend(parts.iter().filter_map(|part| said(part, entry.id)));
        }
        for call in parts.iter().filter_map(Part::as_call) {
            updates.extend(self.called((session, call), agent));
        }
        updates
    }

    fn called(
        &mut self,
        (session, call): (SessionId, &Call),
        agent: Option<&str>,
    ) -> Option<SessionUpdate> {
        let id = self.id((session, &call.id));
        let folder = self.folder.clone();
        let known = self.calls.entry((session, call.id.clone())).or_default();
        let was_told = known.is_told;
        known.learn(call);
        if was_told {
            let fields = ToolCallUpdateFields::new().kind(known.kind).name(call.name.clone());
            let fields = fields.raw_input(known.input.clone());
            let fields = fields.locations(call::locations(&call.input.value, &folder));
            return Some(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields)));
        }
        agent.is_none().then(|| SessionUpdate::ToolCall(known.tell(&id, &call.name, &folder)))
    }

    fn started(
        &mut self,
        (session, call): (SessionId, &CallId),
        title: &str,
        agent: Option<&str>,
    ) -> Vec<SessionUpdate> {
        let id = self.id((session, call));
        let folder = self.folder.clone();
        let known = self.calls.entry((session, call.clone())).or_default();
        if known.is_told {
            let fields = ToolCallUpdateFields::new().title(titled(title, agent));
            let mut fields = fields.status(ToolCallStatus::InProgress);
            if let Some(content) = known.watched() {
                fields = fields.content(content);
            }
            return vec![SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields))];
        }
        if agent.is_some() {
            return Vec::new();
        }
        let mut told = known.tell(&id, title, &folder).status(ToolCallStatus::InProgress);
        told.content = known.watched().unwrap_or_default();
        vec![SessionUpdate::ToolCall(told)]
    }

    fn progress(
        &mut self,
        (session, call): (SessionId, &CallId),
        body: &Block,
    ) -> Vec<SessionUpdate> {
        let known = self.calls.get(&(session, call.clone()));
        let known = known.filter(|known| known.is_told && known.terminal.is_none());
        let Some(known) = known else { return Vec::new() };
        let (content, _) = call::shown(body, known.kind, &self.folder);
        let fields = ToolCallUpdateFields::new().content(content);
        vec![SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(self.id((session, call)), fields))]
    }

    fn done(
        &mut self,
        (session, call): (SessionId, &CallId),
        (outcome, title, body): (Outcome, &str, Option<&Block>),
        agent: Option<&str>,
    ) -> Vec<SessionUpdate> {
        let id = self.id((session, call));
        let folder = self.folder.clone();
        let known = self.calls.entry((session, call.clone())).or_default();
        let changes_files = matches!(body, Some(Block::Diff { .. }));
        let mut updates = Vec::new();
        if !known.is_told {
            if agent.is_some() && !changes_files {
                return Vec::new();
            }
            updates.push(SessionUpdate::ToolCall(known.tell(&id, &titled(title, agent), &folder)));
        }
        let fields = ToolCallUpdateFields::new().title(titled(title, agent));
        let mut fields = fields.status(status(outcome));
        match body {
            Some(Block::Todos { items }) if agent.is_none() => {
                updates.push(SessionUpdate::Plan(plan(items)));
                fields = fields.content(Vec::new());
            }
            Some(body) => {
                let (content, places) = call::shown(body, known.kind, &folder);
                fields = fields.content(known.watched().unwrap_or(content));
                if !places.is_empty() {
                    fields = fields.locations(places);
                }
            }
            None => {}
        }
        updates.push(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields)));
        updates
    }

    /// A call's id towards the editor. Ids of a sub-agent's calls may be those of its parent's.
    fn id(&self, (session, call): (SessionId, &CallId)) -> ToolCallId {
        if session == self.session {
            return ToolCallId::new(call.as_str());
        }
        ToolCallId::new(format!("{session}/{call}"))
    }
}

impl Known {
    fn learn(&mut self, call: &Call) {
        self.name = Some(call.name.clone());
        self.kind = call::kind(&call.name);
        self.input = Value::Object(call.input.value.clone());
    }

    /// The terminal its command runs in, as content.
    fn watched(&self) -> Option<Vec<ToolCallContent>> {
        let terminal = self.terminal.clone()?;
        Some(vec![ToolCallContent::Terminal(Terminal::new(terminal))])
    }

    fn tell(&mut self, id: &ToolCallId, title: &str, folder: &Path) -> ToolCall {
        self.is_told = true;
        let mut told = ToolCall::new(id.clone(), title).kind(self.kind);
        if let Some(input) = self.input.as_object() {
            told = told.raw_input(self.input.clone()).locations(call::locations(input, folder));
        }
        told.name(self.name.clone())
    }
}

/// A whole call as it was, from its arguments; its result follows as an update.
pub(super) fn past_call(call: &Call, folder: &Path) -> SessionUpdate {
    let mut known = Known::default();
    known.learn(call);
    SessionUpdate::ToolCall(known.tell(&ToolCallId::new(call.id.as_str()), &call.name, folder))
}

/// What a part of an answer or prompt says.
pub(super) fn said(part: &Part, entry: EntryId) -> Option<SessionUpdate> {
    match &part.body {
        PartBody::Text { text } if !text.is_empty() => Some(chunk(Speaker::Agent, text, entry)),
        PartBody::Reasoning { text } if !text.is_empty() => {
            Some(chunk(Speaker::Thought, text, entry))
        }
        PartBody::Text { .. }
        | PartBody::Reasoning { .. }
        | PartBody::Call(_)
        | PartBody::Result(_)
        | PartBody::File(_)
        | PartBody::Opaque { .. } => None,
    }
}

/// Words of somebody.
pub(super) fn chunk(speaker: Speaker, text: &str, entry: EntryId) -> SessionUpdate {
    block(speaker, ContentBlock::Text(TextContent::new(text)), entry)
}

/// Something of somebody's.
pub(super) fn block(speaker: Speaker, content: ContentBlock, entry: EntryId) -> SessionUpdate {
    let chunk = ContentChunk::new(content).message_id(MessageId::new(entry.to_string()));
    match speaker {
        Speaker::User => SessionUpdate::UserMessageChunk(chunk),
        Speaker::Agent => SessionUpdate::AgentMessageChunk(chunk),
        Speaker::Thought => SessionUpdate::AgentThoughtChunk(chunk),
    }
}

/// Words of our own. An editor that knows no message ids joins them with the model's: they stand apart.
pub(super) fn words(text: &str) -> SessionUpdate {
    chunk(Speaker::Agent, &format!("{}\n\n", text.trim_end()), EntryId::new())
}

/// A list of things to do, as a plan.
pub(super) fn plan(items: &[Todo]) -> Plan {
    let entry = |item: &Todo| {
        let status = match item.state {
            TodoState::Pending => PlanEntryStatus::Pending,
            TodoState::InProgress => PlanEntryStatus::InProgress,
            TodoState::Completed => PlanEntryStatus::Completed,
        };
        PlanEntry::new(item.text.clone(), PlanEntryPriority::Medium, status)
    };
    Plan::new(items.iter().map(entry).collect())
}

/// How a call ended.
pub(super) fn status(outcome: Outcome) -> ToolCallStatus {
    match outcome {
        Outcome::Done => ToolCallStatus::Completed,
        Outcome::Failed => ToolCallStatus::Failed,
    }
}

fn titled(title: &str, agent: Option<&str>) -> String {
    agent.map_or_else(|| title.to_owned(), |agent| format!("{agent}: {title}"))
}

#[cfg(test)]
mod tests;
