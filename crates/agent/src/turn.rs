//! The walk of a turn: ask the model, run its calls, ask again, until it has no more.

use std::time::Instant;

use base::model::{StopReason, Usage};
use base::protocol::Ending;
use base::transcript::{Call, Piece};
use base::{Entry, EntryKind, Event, PartBody};
use llm::Class;
use store::StoreError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::answer::{Answered, Asking, End};
use crate::budget::{Spent, Tally};
use crate::dispatch::{Dispatch, Early, Finished};
use crate::loop_guard::{Alarm, LoopGuard, SeenCall};
use crate::room::{Cause, Made};
use crate::session::Session;

/// What the model is told of calls that did not run because the turn ended.
const NOT_RUN: &str = "This call did not run: the turn ended before it.";

/// How a turn ended.
enum Close {
    Ended(Ending, StopReason),
    Failed(llm::Error),
}

/// Runs a turn on what has been said. Faces see how it ends; only the memory's failures are returned.
pub(crate) async fn run_turn(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<(), StoreError> {
    let model = session.options.target.model_ref();
    session.events.publish(Event::TurnStarted { session: session.id, model });
    let mut turn = Turn {
        session,
        cancel,
        tally: Tally::default(),
        usage: Usage::default(),
        began: Instant::now(),
        guard: LoopGuard::default(),
        overflowed: false,
    };
    // The title is found beside the turn, and does not hold it up.
    let (naming, enough) = (turn.session.naming(), cancel.child_token());
    let walk = async {
        let close = turn.walk().await;
        enough.cancel();
        close
    };
    let (close, ()) = tokio::join!(walk, naming.run(&enough));
    turn.tell(close?).await
}

struct Turn<'a> {
    session: &'a mut Session,
    cancel: &'a CancellationToken,
    tally: Tally,
    usage: Usage,
    began: Instant,
    guard: LoopGuard,
    /// Whether the provider has said in this turn that the context does not fit.
    overflowed: bool,
}

impl Turn<'_> {
    async fn walk(&mut self) -> Result<Close, StoreError> {
        loop {
            self.take_steered().await?;
            self.session.heed_wishes().await?;
            if self.session.is_crowded() {
                self.session.make_room(Cause::Near, self.cancel).await?;
            }
            if let Some(reason) = self.over_budget() {
                return Ok(Close::Ended(Ending::OverBudget(reason), StopReason::Other));
            }
            let (answered, early) = self.ask().await?;
            let calls = answered.calls();
            let stop = match answered.end {
                End::Whole(stop) => stop,
                End::Cancelled => {
                    self.leave_unrun(&calls, early).await?;
                    return Ok(Close::Ended(Ending::Cancelled, StopReason::Cancelled));
                }
                End::Circling(reason) => {
                    self.leave_unrun(&calls, early).await?;
                    let ending = Ending::GoingInCircles(reason);
                    return Ok(Close::Ended(ending, StopReason::Cancelled));
                }
                End::Failed(error) => {
                    self.leave_unrun(&calls, early).await?;
                    if error.class == Class::ContextOverflow && self.meet_overflow().await? {
                        continue;
                    }
                    return Ok(Close::Failed(error));
                }
            };
            if calls.is_empty() {
                if stop == StopReason::Paused || self.has_been_steered() {
                    continue;
                }
                return Ok(Close::Ended(Ending::Answered, stop));
            }
            if let Some(ending) = self.run_calls(&calls, early).await? {
                return Ok(Close::Ended(ending, stop));
            }
        }
    }

    /// One model call, and what it cost.
    async fn ask(&mut self) -> Result<(Answered, Early), StoreError> {
        let request = self.session.request();
        let (early, finished_calls) = mpsc::unbounded_channel();
        let asking = Asking {
            mind: &self.session.mind,
            events: &self.session.events,
            session: self.session.id,
            target: &self.session.options.target,
            after: self.session.head(),
            early,
        };
        let dispatch = dispatch(self.session, self.cancel);
        let (answered, early) = tokio::join!(
            asking.run(&request, &mut self.guard, self.cancel),
            dispatch.run_early(finished_calls)
        );
        let answered = answered?;
        if let Some(entry) = &answered.entry {
            self.session.adopt(entry.clone());
        }
        self.usage += answered.usage;
        self.tally.count(answered.usage, answered.cost);
        self.session.tally.count(answered.usage, answered.cost);
        Ok((answered, early))
    }

    /// Runs the calls and records their results; tells if the turn ends with them.
    async fn run_calls(
        &mut self,
        calls: &[Call],
        early: Early,
    ) -> Result<Option<Ending>, StoreError> {
        let mut finished = dispatch(self.session, self.cancel).run(calls, early).await;
        let mut circles = None;
        for (call, done) in calls.iter().zip(&mut finished) {
            circles = self.watch(call, done).or(circles);
            if let Some((scope, rules)) = done.granted.take() {
                self.session.grant(scope, rules).await?;
            }
        }
        let parts = finished.into_iter().map(|done| done.part).collect();
        let entry = self.session.entry(EntryKind::ToolResults { parts });
        self.record(entry).await?;
        if self.cancel.is_cancelled() {
            return Ok(Some(Ending::Cancelled));
        }
        Ok(circles.map(Ending::GoingInCircles))
    }

    async fn record(&mut self, entry: Entry) -> Result<(), StoreError> {
        if self.cancel.is_cancelled() {
            self.session.append(vec![entry]).await
        } else {
            self.session.append_step(entry).await
        }
    }

    /// Records that the calls of a broken answer did not run; those that ran early have their results.
    async fn leave_unrun(&mut self, calls: &[Call], mut early: Early) -> Result<(), StoreError> {
        if calls.is_empty() {
            return Ok(());
        }
        let result = |call: &Call| {
            early.remove(&call.id).map_or_else(|| call.failed(NOT_RUN), |finished| finished.part)
        };
        let parts = calls.iter().map(result).collect();
        let entry = self.session.entry(EntryKind::ToolResults { parts });
        self.session.append(vec![entry]).await
    }

    async fn take_steered(&mut self) -> Result<(), StoreError> {
        let prompts = self.session.live.take_steered();
        if prompts.is_empty() {
            return Ok(());
        }
        self.guard.user_spoke();
        self.session.take_prompts(prompts).await
    }

    fn has_been_steered(&self) -> bool {
        self.session.live.has_steered()
    }

    /// Makes room after an overflow, once a turn; tells whether there is some.
    async fn meet_overflow(&mut self) -> Result<bool, StoreError> {
        if std::mem::replace(&mut self.overflowed, true) {
            return Ok(false);
        }
        Ok(self.session.make_room(Cause::Overflow, self.cancel).await? == Made::Room)
    }

    /// Notices a call that repeats itself: the model is nudged in its result, in the end the turn ends.
    fn watch(&mut self, call: &Call, done: &mut Finished) -> Option<String> {
        let PartBody::Result(result) = &mut done.part.body else { return None };
        let Some(Piece::Text { text }) = result.pieces.first_mut() else { return None };
        let (name, input, outcome) = (&call.name, &call.input.value, result.outcome);
        match self.guard.see_call(SeenCall { name, input, outcome, text })? {
            Alarm::Nudge(words) => {
                text.push_str("\n\n");
                text.push_str(&words);
                None
            }
            Alarm::End(reason) => Some(reason),
        }
    }

    /// Why no further model call may be made.
    fn over_budget(&mut self) -> Option<String> {
        self.tally.time = self.began.elapsed();
        let session = &self.session;
        let spent = Spent { turn: self.tally, session: session.tally, day_cost: session.day_cost };
        if self.tally.unpriced == 1
            && let Some(words) = session.options.budget.blind(&spent)
        {
            session.say_notice(&words);
        }
        session.options.budget.exceeded(&spent)
    }

    /// Tells the faces how the turn ended.
    async fn tell(&mut self, close: Close) -> Result<(), StoreError> {
        let id = self.session.id;
        let event = match close {
            Close::Ended(ending, stop) => {
                let reason = match &ending {
                    Ending::OverBudget(reason) | Ending::GoingInCircles(reason) => Some(reason),
                    Ending::Answered | Ending::Cancelled => None,
                };
                if let Some(reason) = reason {
                    let notice = self.session.entry(EntryKind::Notice { text: reason.clone() });
                    self.session.append(vec![notice]).await?;
                }
                let known = self.tally.unpriced < self.tally.steps || self.tally.steps == 0;
                let (usage, cost) = (self.usage, known.then_some(self.tally.cost));
                Event::TurnDone { session: id, stop, ending, usage, cost }
            }
            Close::Failed(error) => Event::TurnFailed {
                session: id,
                reason: error.message,
                class: error.class.as_str().to_owned(),
            },
        };
        self.session.events.publish(event);
        Ok(())
    }
}

/// What calls of the session are run with.
fn dispatch<'a>(session: &'a Session, cancel: &'a CancellationToken) -> Dispatch<'a> {
    Dispatch {
        mind: &session.mind,
        events: &session.events,
        waiting: &session.waiting,
        workspace: &session.workspace,
        live: &session.live,
        taint: session.taint.clone(),
        cancel,
    }
}
