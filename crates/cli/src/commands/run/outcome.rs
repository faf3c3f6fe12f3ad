//! What comes of an exchange: gathered from events while it runs, told at its end.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use base::model::{ModelRef, Money, StopReason, Usage};
use base::transcript::Call;
use base::{CallId, EntryKind, Event, Part, SessionId};
use serde_json::Value;

/// What came of an exchange: a prompt and all the model did about it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The newest answer's parts.
    pub(crate) parts: Vec<Part>,
    /// Why the model stopped; none if it failed.
    pub(crate) stop: Option<StopReason>,
    /// Tokens of the exchange.
    pub(crate) usage: Usage,
    /// Model calls of the exchange.
    pub(crate) steps: u64,
    /// Time the exchange spent waiting for the provider.
    pub(crate) waited: Duration,
    /// How it ended, in the words of the result line.
    pub(crate) verdict: Verdict,
    /// What went wrong: class and words.
    pub(crate) error: Option<(String, String)>,
    /// The model that was asked.
    pub(crate) model: Option<ModelRef>,
    /// Calls that were not allowed to run.
    pub(crate) denials: Vec<Denial>,
    /// The answer as JSON, where a schema asked for it.
    pub(crate) structured: Option<Value>,
    /// What each model was used for, over all exchanges.
    pub(crate) bill: Vec<Share>,
    /// Sub-agents, by their session.
    pub(crate) crew: HashMap<SessionId, Worker>,
    /// What a slash command replied; none unless one runs that has begun no turn.
    replies: Option<Vec<String>>,
    calls: HashMap<CallId, Call>,
    asked: Option<Instant>,
}

/// A sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Worker {
    /// Its name.
    pub(crate) agent: String,
    /// The call it works for.
    pub(crate) call: CallId,
}

/// How an exchange ended, in the words of the result line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The model answered.
    #[default]
    Success,
    /// Something went wrong.
    Broken,
    /// It made all the model calls it may.
    MaxSteps,
    /// It spent all the money it may.
    MaxCost,
    /// The answer never fitted the schema.
    NoFit,
}

/// A call that was not allowed to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Denial {
    /// The call.
    pub(crate) call: CallId,
    /// The tool.
    pub(crate) tool: String,
    /// Why, and what would allow it.
    pub(crate) reason: String,
}

/// What one model was used for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Share {
    /// The model.
    pub(crate) model: ModelRef,
    /// Tokens.
    pub(crate) usage: Usage,
    /// Money; none where the price is unknown.
    pub(crate) cost: Option<Money>,
}

impl Verdict {
    /// The `subtype` of the result line.
    pub(crate) fn subtype(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Broken => "error_during_execution",
            Self::MaxSteps => "error_max_turns",
            Self::MaxCost => "error_max_budget_usd",
            Self::NoFit => "error_max_structured_output_retries",
        }
    }
}

impl Outcome {
    /// Forgets the last exchange, except for what it cost.
    pub(crate) fn begin(&mut self) {
        let (bill, crew) = (std::mem::take(&mut self.bill), std::mem::take(&mut self.crew));
        *self = Self { bill, crew, ..Self::default() };
    }

    /// Takes from an event what the end tells again: a call that fails has its tokens and words too.
    pub(crate) fn take(&mut self, event: &Event) {
        match event {
            Event::Notice { text, .. } => {
                if let Some(replies) = &mut self.replies {
                    replies.push(text.clone());
                }
            }
            Event::TurnStarted { model, .. } => {
                self.replies = None;
                self.model = Some(model.clone());
                self.asked = Some(Instant::now());
            }
            Event::Appended { entry, .. } => self.appended(&entry.kind),
            Event::Spent { model, usage, cost, .. } => self.spent(model, *usage, *cost),
            Event::Denied { call, tool, reason, .. } => self.denials.push(Denial {
                call: call.clone(),
                tool: tool.clone(),
                reason: reason.clone(),
            }),
            Event::ChildStarted { child, agent, call, .. } => {
                let worker = Worker { agent: agent.clone(), call: call.clone() };
                self.crew.insert(*child, worker);
            }
            Event::Text { .. }
            | Event::Reasoning { .. }
            | Event::Retrying { .. }
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDone { .. }
            | Event::ApprovalNeeded { .. }
            | Event::QuestionAsked { .. }
            | Event::Settled { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::CommandDone { .. }
            | Event::Hook { .. }
            | Event::TurnDone { .. }
            | Event::TurnFailed { .. } => {}
        }
    }

    /// Takes from a sub-agent's event what the end tells: what it cost, what it was not allowed to do.
    pub(crate) fn take_from_crew(&mut self, event: &Event) {
        match event {
            Event::Appended { entry, .. } => self.know_calls(entry.kind.parts()),
            Event::Spent { model, usage, cost, .. } => self.paid(model, *usage, *cost),
            Event::Denied { .. } | Event::ChildStarted { .. } => self.take(event),
            Event::TurnStarted { .. }
            | Event::Text { .. }
            | Event::Reasoning { .. }
            | Event::Retrying { .. }
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDone { .. }
            | Event::ApprovalNeeded { .. }
            | Event::QuestionAsked { .. }
            | Event::Settled { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::CommandDone { .. }
            | Event::Hook { .. }
            | Event::Notice { .. }
            | Event::TurnDone { .. }
            | Event::TurnFailed { .. } => {}
        }
    }

    /// A slash command runs: what is said until a turn begins is its reply.
    pub(crate) fn expect_reply(&mut self) {
        self.replies = Some(Vec::new());
    }

    /// Whether a slash command replies, without a turn.
    pub(crate) fn is_reply(&self) -> bool {
        self.replies.is_some()
    }

    /// The newest answer's text, or a slash command's reply.
    pub(crate) fn text(&self) -> String {
        if let Some(replies) = &self.replies {
            return replies.join("\n");
        }
        self.parts.iter().filter_map(Part::as_text).collect()
    }

    /// A call the model has made.
    pub(crate) fn call(&self, id: &CallId) -> Option<&Call> {
        self.calls.get(id)
    }

    /// Money of all exchanges; none where no price is known.
    pub(crate) fn cost(&self) -> Option<Money> {
        let known: Vec<Money> = self.bill.iter().filter_map(|share| share.cost).collect();
        (!known.is_empty()).then(|| known.into_iter().sum())
    }

    fn appended(&mut self, kind: &EntryKind) {
        match kind {
            EntryKind::Assistant { parts, .. } => {
                self.parts.clone_from(parts);
                self.know_calls(parts);
            }
            EntryKind::ToolResults { .. } => self.asked = Some(Instant::now()),
            EntryKind::User { .. }
            | EntryKind::Notice { .. }
            | EntryKind::Compaction { .. }
            | EntryKind::Pruned { .. }
            | EntryKind::Undone { .. }
            | EntryKind::Prefix { .. }
            | EntryKind::ModelChange { .. }
            | EntryKind::Checkpoint { .. } => {}
        }
    }

    fn know_calls(&mut self, parts: &[Part]) {
        let calls = parts.iter().filter_map(Part::as_call);
        self.calls.extend(calls.map(|call| (call.id.clone(), call.clone())));
    }

    fn spent(&mut self, model: &ModelRef, usage: Usage, cost: Option<Money>) {
        // Titles are made by another model; they are paid for, but no step.
        if self.model.as_ref() == Some(model) {
            self.steps += 1;
            self.waited += self.asked.take().map(|asked| asked.elapsed()).unwrap_or_default();
        }
        self.paid(model, usage, cost);
    }

    fn paid(&mut self, model: &ModelRef, usage: Usage, cost: Option<Money>) {
        self.usage += usage;
        match self.bill.iter_mut().find(|share| share.model == *model) {
            Some(share) => {
                share.usage += usage;
                share.cost = match (share.cost, cost) {
                    (Some(sum), Some(cost)) => Some(sum + cost),
                    (sum, cost) => sum.or(cost),
                };
            }
            None => self.bill.push(Share { model: model.clone(), usage, cost }),
        }
    }
}
