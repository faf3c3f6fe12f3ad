//! How a turn's end becomes an exit code: stopped before failed, failed before over budget, and a denial
//! last, since the model may well have finished without the call.

use base::model::StopReason;
use base::protocol::Ending;
use base::{Event, FailureClass};
use llm::Class;

use super::outcome::{Outcome, Verdict};
use crate::commands::session::text;
use crate::failure::{Failure, Kind};
use crate::wiring;

/// Denials told at the end, at most; the JSON forms tell all.
const DENIALS: usize = 5;

/// Why a turn was stopped from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// Ctrl-C.
    Interrupt,
    /// The system wants us gone.
    Terminate,
    /// `--max-time` is over.
    TimeUp {
        /// Seconds it lasted.
        seconds: u64,
    },
    /// Nobody reads our output any more.
    Unread,
    /// The program at the other end of the pipes said so.
    Host,
}

/// The limits that can end a turn, to tell which one it was.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limited {
    /// Most model calls.
    pub(crate) steps: Option<u64>,
    /// Whether money is limited.
    pub(crate) money: bool,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, by a limit, or stopped.
    Done {
        /// Why the model stopped.
        stop: StopReason,
        /// Why the turn ended.
        ending: Ending,
    },
    /// A slash command replied, without a turn.
    Replied,
    /// It could not go on.
    Failed {
        /// What happened.
        reason: String,
        /// The kind of failure.
        class: FailureClass,
    },
}

impl End {
    /// The end an event tells; none while the turn goes on.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        if let Event::TurnDone { stop, ending, .. } = event {
            return Some(Self::Done { stop: *stop, ending: ending.clone() });
        }
        if let Event::CommandDone { .. } = event {
            return Some(Self::Replied);
        }
        if let Event::TurnFailed { reason, class, .. } = event {
            return Some(Self::Failed { reason: reason.clone(), class: *class });
        }
        None
    }
}

/// How to exit after a turn; adds to `outcome` what only the end tells.
pub(crate) fn failure(
    end: End,
    stopped: Option<Stopped>,
    limited: Limited,
    outcome: &mut Outcome,
) -> Option<Failure> {
    outcome.verdict = Verdict::Broken;
    let (class, failure) = match end {
        End::Done { stop, ending: Ending::Answered } => {
            outcome.stop = Some(stop);
            outcome.verdict = Verdict::Success;
            return None;
        }
        End::Done { stop, ending: Ending::Halted(reason) } => {
            outcome.stop = Some(stop);
            let failure = Failure::new(Kind::Denied, format!("a hook ended the turn: {reason}"));
            (FailureClass::Hook.as_str().to_owned(), failure)
        }
        End::Replied => {
            outcome.verdict = Verdict::Success;
            return None;
        }
        End::Done { ending: Ending::Cancelled, .. } => {
            outcome.stop = Some(StopReason::Cancelled);
            let (class, failure) = cancelled(stopped);
            (class.to_owned(), failure)
        }
        End::Done { ending: Ending::OverBudget(reason), .. } => {
            outcome.verdict = over(limited, outcome);
            ("budget".to_owned(), Failure::new(Kind::Budget, reason))
        }
        End::Done { ending: Ending::GoingInCircles(reason), .. } => {
            ("loop".to_owned(), Failure::new(Kind::Budget, reason))
        }
        End::Failed { reason, class } => {
            let failure = turn_failure(outcome, class, &reason);
            (class.as_str().to_owned(), failure)
        }
    };
    outcome.error = Some((class, failure.message.clone()));
    Some(failure)
}

/// What a run that ended well still has to say: calls that were denied.
pub(crate) fn denied(outcome: &Outcome) -> Option<Failure> {
    let count = outcome.denials.len();
    let message = match count {
        0 => return None,
        1 => "a call was denied permission".to_owned(),
        _ => format!("{count} calls were denied permission"),
    };
    let mut failure = Failure::new(Kind::Denied, message);
    for denial in outcome.denials.iter().take(DENIALS) {
        let call = outcome.call(&denial.call);
        let what = call.map(|call| call.input.value.values().find_map(|value| value.as_str()));
        let what = text::short(what.flatten().unwrap_or_default(), 60);
        let gap = if what.is_empty() { "" } else { " " };
        let reason = text::line(&denial.reason);
        failure = failure.hint(format!("{}{gap}{what}: {reason}", denial.tool));
    }
    if count > DENIALS {
        failure = failure.hint(format!("… and {} more", count - DENIALS));
    }
    Some(failure)
}

/// Which limit a turn has met.
fn over(limited: Limited, outcome: &Outcome) -> Verdict {
    if limited.steps.is_some_and(|limit| outcome.steps >= limit) {
        return Verdict::MaxSteps;
    }
    if limited.money { Verdict::MaxCost } else { Verdict::Broken }
}

fn cancelled(stopped: Option<Stopped>) -> (&'static str, Failure) {
    match stopped {
        Some(Stopped::TimeUp { seconds }) => {
            let failure = Failure::new(Kind::Timeout, format!("time is up after {seconds} s"));
            ("timeout", failure.hint("what had arrived is kept: caiman session last"))
        }
        Some(Stopped::Terminate) => ("cancelled", Failure::new(Kind::Terminated, "terminated")),
        Some(Stopped::Unread) => {
            ("cancelled", Failure::new(Kind::Unread, "standard output was closed"))
        }
        Some(Stopped::Interrupt | Stopped::Host) | None => {
            ("cancelled", Failure::new(Kind::Cancelled, "cancelled"))
        }
    }
}

fn turn_failure(outcome: &Outcome, class: FailureClass, reason: &str) -> Failure {
    let (Some(class), Some(model)) = (Class::of_failure(class), &outcome.model) else {
        let kind = if class == FailureClass::Hook { Kind::Denied } else { Kind::Config };
        return Failure::new(kind, reason);
    };
    let kind = if class == Class::Timeout { Kind::Timeout } else { Kind::Provider };
    let failure = Failure::new(kind, format!("{model}: {reason} ({class})"));
    wiring::provider_hints(model, class).into_iter().fold(failure, Failure::hint)
}

/// How to exit when stopped while no turn ran.
pub(crate) fn idle(stopped: Stopped) -> Failure {
    cancelled(Some(stopped)).1
}
