//! What comes of a turn, gathered from its events while it runs.

use base::model::{ModelRef, Money, Usage};
use base::protocol::{Ending, Question};
use base::{Block, EntryKind, Event, Part, RequestId};

/// Denied calls that are told; a model that tries the same again and again fills no answer.
const MOST_DENIED: usize = 20;

/// What comes of a turn.
#[derive(Debug, Clone, Default)]
pub(super) struct Account {
    /// The newest answer.
    pub(super) text: String,
    /// The model that answers.
    pub(super) model: Option<ModelRef>,
    /// Tokens, sub-agents' included.
    pub(super) usage: Usage,
    /// Money, sub-agents' included; none where no price is known.
    pub(super) cost: Option<Money>,
    /// Calls that were not allowed to run, and why.
    pub(super) denied: Vec<String>,
    /// How many things were begun.
    pub(super) steps: u32,
    /// What was begun last.
    pub(super) doing: String,
    /// What waits for an answer, oldest first.
    pub(super) questions: Vec<Asked>,
    /// How it ended.
    pub(super) end: Option<End>,
}

/// Something somebody must answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    /// What to answer to.
    pub(super) request: RequestId,
    /// The sub-agent that asks; none for the main one.
    pub(super) agent: Option<String>,
    /// What is asked.
    pub(super) what: What,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    /// Whether a call may run.
    Approval {
        /// One line: what it would do.
        title: String,
        /// Why it is asked.
        reason: String,
        /// What it would change.
        body: Option<Block>,
    },
    /// What the model wants to know.
    Words(Vec<Question>),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, by a limit, or stopped.
    Done(Ending),
    /// It could not go on.
    Failed(String),
}

impl Account {
    /// Takes an event of the session itself; tells whether it is worth a look.
    pub(super) fn take(&mut self, event: &Event) -> bool {
        match event {
            Event::TurnStarted { model, .. } => {
                self.model = Some(model.clone());
                self.begin(format!("{model} is at work"))
            }
            Event::Appended { entry, .. } => {
                if let EntryKind::Assistant { parts, .. } = &entry.kind {
                    self.text = parts.iter().filter_map(Part::as_text).collect();
                }
                false
            }
            Event::TurnDone { ending, .. } => self.end(End::Done(ending.clone())),
            Event::TurnFailed { reason, .. } => self.end(End::Failed(reason.clone())),
            Event::Retrying { attempt, reason, .. } => {
                self.begin(format!("try {attempt}, because {reason}"))
            }
            Event::ToolStarted { .. }
            | Event::ChildStarted { .. }
            | Event::ApprovalNeeded { .. }
            | Event::Denied { .. }
            | Event::QuestionAsked { .. }
            | Event::Settled { .. }
            | Event::Spent { .. } => self.take_from_crew(event),
            Event::Text { .. }
            | Event::Reasoning { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDone { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::Hook { .. }
            | Event::Notice { .. }
            | Event::CommandDone { .. } => false,
        }
    }

    /// Takes an event of a sub-agent: what it does, asks and costs.
    pub(super) fn take_from_crew(&mut self, event: &Event) -> bool {
        match event {
            Event::ToolStarted { title, .. } => self.begin(title.clone()),
            Event::ChildStarted { agent, .. } => self.begin(format!("the agent {agent} begins")),
            Event::ApprovalNeeded { request, agent, title, reason, body, .. } => {
                let (title, reason, body) = (title.clone(), reason.clone(), body.clone());
                let what = What::Approval { title, reason, body };
                self.ask(*request, agent.clone(), what)
            }
            Event::QuestionAsked { request, agent, questions, .. } => {
                self.ask(*request, agent.clone(), What::Words(questions.clone()))
            }
            Event::Settled { request, .. } => {
                self.questions.retain(|asked| asked.request != *request);
                true
            }
            Event::Denied { tool, reason, .. } => {
                if self.denied.len() < MOST_DENIED {
                    self.denied.push(format!("{tool}: {reason}"));
                }
                false
            }
            Event::Spent { usage, cost, .. } => {
                self.usage += *usage;
                self.cost = match (self.cost, *cost) {
                    (Some(sum), Some(cost)) => Some(sum + cost),
                    (sum, cost) => sum.or(cost),
                };
                false
            }
            Event::TurnStarted { .. }
            | Event::Appended { .. }
            | Event::Text { .. }
            | Event::Reasoning { .. }
            | Event::Retrying { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDone { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::Hook { .. }
            | Event::Notice { .. }
            | Event::CommandDone { .. }
            | Event::TurnDone { .. }
            | Event::TurnFailed { .. } => false,
        }
    }

    /// Nothing more will be told.
    pub(super) fn lose(&mut self) {
        self.end(End::Failed("the agent has ended".to_owned()));
    }

    fn begin(&mut self, doing: String) -> bool {
        self.steps += 1;
        self.doing = doing;
        true
    }

    fn ask(&mut self, request: RequestId, agent: Option<String>, what: What) -> bool {
        self.questions.push(Asked { request, agent, what });
        true
    }

    fn end(&mut self, end: End) -> bool {
        self.end.get_or_insert(end);
        true
    }
}
