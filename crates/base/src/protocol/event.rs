//! All that a face sees.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::Block;
use crate::id::{CallId, EntryId, HookRunId, RequestId, SessionId, TurnId};
use crate::model::{Effort, FailureClass, ModelRef, Money, StopReason, Usage};
use crate::transcript::{Entry, Outcome, Part};

use super::{Delivery, Mode};

/// An event with its number. A face that lags asks for everything since its last number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Numbered {
    /// Counts up over all sessions of a process; a subscription resumes from it.
    pub number: u64,
    /// Counts up by one within the session.
    #[serde(default)]
    pub sequence: u64,
    /// The top session of its family: the session itself, or the one whose sub-agent it is. `None` if the
    /// event concerns all sessions.
    #[serde(default)]
    pub root: Option<SessionId>,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

impl Numbered {
    /// An event of a session without a parent, for clients that make up events in tests.
    pub fn new(number: u64, event: Event) -> Self {
        Self { number, sequence: number, root: event.session(), event }
    }
}

/// Which events a client asks for. Events that concern all sessions pass every filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "of", content = "session", rename_all = "snake_case")]
pub enum EventFilter {
    /// Those of every session the client may see.
    All,
    /// Those of one session.
    Session(SessionId),
    /// Those of a session and of all sub-agents below it.
    Family(SessionId),
}

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A turn began.
    TurnStarted {
        /// Of which session.
        session: SessionId,
        /// The id its end will carry.
        turn: TurnId,
        /// The prompts it answers, by the ids their senders chose. A prompt that joins later is
        /// named by the [`Event::Appended`] that records it before the turn ends.
        #[serde(default)]
        entries: Vec<EntryId>,
        /// With which model.
        model: ModelRef,
    },
    /// An entry became durable.
    Appended {
        /// Of which session.
        session: SessionId,
        /// The entry.
        entry: Entry,
    },
    /// The model said more.
    Text {
        /// Of which session.
        session: SessionId,
        /// Which entry it will be.
        entry: EntryId,
        /// What was added.
        delta: String,
    },
    /// The model thought more.
    Reasoning {
        /// Of which session.
        session: SessionId,
        /// Which entry it will be.
        entry: EntryId,
        /// What was added.
        delta: String,
    },
    /// A call failed in a way that may pass; it is tried again.
    Retrying {
        /// Of which session.
        session: SessionId,
        /// Which try comes next, counted from one.
        attempt: u32,
        /// How long we wait first.
        wait_ms: u64,
        /// What went wrong.
        reason: String,
    },
    /// A tool began.
    ToolStarted {
        /// Of which session.
        session: SessionId,
        /// Which call.
        call: CallId,
        /// One line: what it does.
        title: String,
    },
    /// A tool has something to show.
    ToolProgress {
        /// Of which session.
        session: SessionId,
        /// Which call.
        call: CallId,
        /// What to show, in place of what it showed before.
        body: Block,
    },
    /// A tool ended.
    ToolDone {
        /// Of which session.
        session: SessionId,
        /// Which call.
        call: CallId,
        /// Whether it worked.
        outcome: Outcome,
        /// One line: what it did.
        title: String,
        /// What to show.
        body: Option<Block>,
    },
    /// A sub-agent began. Its events follow under its own session.
    ChildStarted {
        /// Of which session.
        session: SessionId,
        /// The call it works for.
        call: CallId,
        /// The sub-agent's session.
        child: SessionId,
        /// The agent's name.
        agent: String,
        /// The agent's colour: a name, or `#rrggbb`.
        color: Option<String>,
    },
    /// Somebody must allow or deny a call.
    ApprovalNeeded {
        /// Of which session.
        session: SessionId,
        /// What to answer to.
        request: RequestId,
        /// The sub-agent that wants it; none for the main one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// Which call.
        call: CallId,
        /// One line: what it would do.
        title: String,
        /// Why it is asked.
        reason: String,
        /// The rules a lasting yes would keep, narrowest first; none where no rule can lift the question.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rules: Vec<String>,
        /// The parts of a command that made it ask, as they stand in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        risky: Vec<String>,
        /// What it would change.
        body: Option<Block>,
    },
    /// A call was not allowed to run.
    Denied {
        /// Of which session.
        session: SessionId,
        /// Which call.
        call: CallId,
        /// The tool.
        tool: String,
        /// Why, and what would allow it.
        reason: String,
    },
    /// The model asks the user.
    QuestionAsked {
        /// Of which session.
        session: SessionId,
        /// What to answer to.
        request: RequestId,
        /// The sub-agent that asks; none for the main one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The questions.
        questions: Vec<Question>,
    },
    /// A question was answered, here or at another face.
    Settled {
        /// Of which session.
        session: SessionId,
        /// Which question.
        request: RequestId,
    },
    /// A model call was paid for.
    Spent {
        /// Of which session.
        session: SessionId,
        /// On which model.
        model: ModelRef,
        /// Tokens.
        usage: Usage,
        /// Money; none where the price is unknown.
        cost: Option<Money>,
    },
    /// A session's title, model, effort or mode changed; what is none stays as it was.
    SessionChanged {
        /// Which session.
        session: SessionId,
        /// Its title.
        title: Option<String>,
        /// Its model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelRef>,
        /// How hard it thinks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effort: Option<Effort>,
        /// What may be done without asking.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
    },
    /// Prompts wait, or wait no longer.
    Waiting {
        /// Of which session.
        session: SessionId,
        /// All that wait now, in the order they will be said.
        prompts: Vec<WaitingPrompt>,
    },
    /// A hook began or ended.
    Hook {
        /// Of which session.
        session: SessionId,
        /// Which run: its beginning and its end have the same.
        run: HookRunId,
        /// The hook's name, or the beginning of what it runs.
        name: String,
        /// What it was told of, such as `PreToolUse`.
        occasion: String,
        /// How far it is.
        state: HookState,
    },
    /// Something the user should know.
    Notice {
        /// Of which session; none when it concerns all.
        session: Option<SessionId>,
        /// The text.
        text: String,
    },
    /// A slash command that began no turn has done what it does.
    CommandDone {
        /// Of which session.
        session: SessionId,
    },
    /// A turn ended.
    TurnDone {
        /// Of which session.
        session: SessionId,
        /// Which turn.
        turn: TurnId,
        /// Why the model stopped.
        stop: StopReason,
        /// Why the turn ended.
        ending: Ending,
        /// Tokens of all its calls.
        usage: Usage,
        /// Money of all its calls; none where a price is unknown.
        cost: Option<Money>,
    },
    /// A turn could not go on.
    TurnFailed {
        /// Of which session.
        session: SessionId,
        /// Which turn.
        turn: TurnId,
        /// What happened and what to do about it.
        reason: String,
        /// The kind of failure.
        class: FailureClass,
    },
}

impl Event {
    /// A session got a title.
    pub fn renamed(session: SessionId, title: String) -> Self {
        Self::SessionChanged { session, title: Some(title), model: None, effort: None, mode: None }
    }

    /// The session it happened in; none when it concerns all.
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Self::Notice { session, .. } => *session,
            Self::TurnStarted { session, .. }
            | Self::Appended { session, .. }
            | Self::Text { session, .. }
            | Self::Reasoning { session, .. }
            | Self::Retrying { session, .. }
            | Self::ToolStarted { session, .. }
            | Self::ToolProgress { session, .. }
            | Self::ToolDone { session, .. }
            | Self::Hook { session, .. }
            | Self::CommandDone { session, .. }
            | Self::ChildStarted { session, .. }
            | Self::ApprovalNeeded { session, .. }
            | Self::Denied { session, .. }
            | Self::QuestionAsked { session, .. }
            | Self::Settled { session, .. }
            | Self::Spent { session, .. }
            | Self::SessionChanged { session, .. }
            | Self::Waiting { session, .. }
            | Self::TurnDone { session, .. }
            | Self::TurnFailed { session, .. } => Some(*session),
        }
    }
}

/// A prompt that waits for a running turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingPrompt {
    /// The entry it will be; [`super::Op::Unsay`] takes it back.
    pub entry: EntryId,
    /// What it says.
    pub parts: Vec<Part>,
    /// Whether it joins the turn or follows it.
    pub delivery: Delivery,
}

/// How far a hook is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum HookState {
    /// It runs.
    Started,
    /// It has ended, secrets masked in what it printed.
    Ended {
        /// Its exit code, or the status of the address that was told; none if it was ended.
        code: Option<i32>,
        /// What it printed or answered.
        stdout: String,
        /// What it complained of, or why it could not be run.
        stderr: String,
    },
}

/// One question to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Answers to choose from; none for free text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Whether more than one may be chosen.
    #[serde(default)]
    pub several: bool,
}

/// Why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", content = "reason", rename_all = "snake_case")]
pub enum Ending {
    /// The model had no more calls.
    Answered,
    /// The user stopped it.
    Cancelled,
    /// A budget is used up.
    OverBudget(String),
    /// The model went in circles.
    GoingInCircles(String),
    /// A hook ended it.
    Halted(String),
}
