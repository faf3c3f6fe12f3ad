//! The walk of a turn: ask the model, run its calls, ask again, until it has no more.

use base::model::StopReason;
use base::protocol::Ending;
use base::transcript::{Call, Piece};
use base::{Entry, EntryId, EntryKind, Event, FailureClass, Part, PartBody, TurnId};
use llm::Class;
use store::StoreError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::answer::{Answered, Asking, End};
use crate::dispatch::{Dispatch, Early, Finished, NOT_RUN};
use crate::hooked::Onward;
use crate::loop_guard::{Alarm, LoopGuard, SeenCall};
use crate::room::{Cause, Made};
use crate::session::Session;

/// How a turn ended.
#[derive(Debug, Clone)]
pub(crate) enum Close {
    Ended(Ending, StopReason),
    Failed(llm::Error),
    /// Hooks did not let the prompt pass.
    Blocked(String),
}

/// The id of a turn that starts, and the prompts it answers.
#[derive(Debug)]
pub(crate) struct TurnStart {
    pub(crate) id: TurnId,
    pub(crate) entries: Vec<EntryId>,
}

/// Runs a turn on what has been said, and tells how it ended, as faces see it too; only the memory's
/// failures are errors.
pub(crate) async fn run_turn(
    session: &mut Session,
    start: TurnStart,
    cancel: &CancellationToken,
) -> Result<Close, StoreError> {
    let TurnStart { id, entries } = start;
    // The one that was wished for since: it answers the first request.
    let model = session.live.next_target().model_ref();
    session.events.publish(Event::TurnStarted { session: session.id, turn: id, entries, model });
    session.purse.begin_turn();
    let (purse, limited) = (session.purse.clone(), cancel.child_token());
    let mut turn = Turn {
        id,
        session,
        cancel: &limited,
        guard: LoopGuard::default(),
        overflowed: false,
        held: 0,
        blocked: None,
    };
    let mut close = {
        let mut run = std::pin::pin!(turn.run());
        tokio::select! {
            biased;
            close = &mut run => close?,
            // Whatever it is at, it settles as if the user had stopped it.
            () = purse.out_of_time() => {
                limited.cancel();
                run.await?
            }
        }
    };
    if let Close::Ended(Ending::Cancelled, _) = close
        && limited.is_cancelled()
        && !cancel.is_cancelled()
        && let Some(reason) = purse.exceeded()
    {
        close = Close::Ended(Ending::OverBudget(reason), StopReason::Other);
    }
    turn.tell(&close).await?;
    Ok(close)
}

/// Whether prompts have joined the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Prompts,
    Nothing,
}

struct Turn<'a> {
    id: TurnId,
    session: &'a mut Session,
    cancel: &'a CancellationToken,
    guard: LoopGuard,
    /// Whether the provider has said in this turn that the context does not fit.
    overflowed: bool,
    /// How often hooks have made it go on.
    held: u32,
    /// Why hooks have blocked a prompt.
    blocked: Option<String>,
}

impl Turn<'_> {
    /// Runs to the end. The title is found beside the turn, and does not hold it up.
    async fn run(&mut self) -> Result<Close, StoreError> {
        if let Some(close) = self.begin().await? {
            return Ok(close);
        }
        let (naming, enough) = (self.session.naming(), self.cancel.child_token());
        let walk = async {
            let close = self.walk().await;
            enough.cancel();
            close
        };
        let (close, ()) = tokio::join!(walk, naming.run(&enough));
        close
    }

    /// Has hooks see the beginning and the prompts that wait for it; tells if the turn ends with that.
    async fn begin(&mut self) -> Result<Option<Close>, StoreError> {
        let waits = self.has_been_steered();
        self.session.begin_hooked(self.cancel).await;
        if self.take_steered().await? == Taken::Prompts || !waits {
            self.session.say_pending().await?;
            return Ok(None);
        }
        Ok(Some(match self.blocked.take() {
            Some(reason) => Close::Blocked(reason),
            None => Close::Ended(Ending::Cancelled, StopReason::Cancelled),
        }))
    }

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
                if self.session.crew.awaits_report(self.cancel).await {
                    continue;
                }
                match self.session.at_stop(self.held, self.cancel).await? {
                    Onward::GoOn => self.held += 1,
                    Onward::End => return Ok(Close::Ended(Ending::Answered, stop)),
                }
                continue;
            }
            if let Some(ending) = self.run_calls(&calls, early).await? {
                return Ok(Close::Ended(ending, stop));
            }
            self.session.say_found_skills().await?;
        }
    }

    /// One model call, and what it cost.
    async fn ask(&mut self) -> Result<(Answered, Early), StoreError> {
        let request = self.session.request();
        let (early, finished_calls) = mpsc::unbounded_channel();
        let parts = self.session.branch.iter().flat_map(|entry| entry.kind.parts());
        let asking = Asking {
            mind: &self.session.mind,
            events: &self.session.events,
            session: self.session.id,
            target: &self.session.options.target,
            after: self.session.head(),
            calls: parts.filter_map(Part::as_call).map(|call| call.id.clone()).collect(),
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
        self.session.purse.count(answered.usage, answered.cost);
        Ok((answered, early))
    }

    /// Runs the calls and records their results; tells if the turn ends with them.
    async fn run_calls(
        &mut self,
        calls: &[Call],
        early: Early,
    ) -> Result<Option<Ending>, StoreError> {
        self.session.tell_story();
        let mut finished = dispatch(self.session, self.cancel).run(calls, early).await;
        let (mut circles, mut halt) = (None, None);
        for (call, done) in calls.iter().zip(&mut finished) {
            circles = self.watch(call, done).or(circles);
            halt = done.halt.take().or(halt);
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
        Ok(halt.map(Ending::Halted).or(circles.map(Ending::GoingInCircles)))
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

    async fn take_steered(&mut self) -> Result<Taken, StoreError> {
        let prompts = self.session.live.queue.take_joining();
        if prompts.is_empty() {
            return Ok(Taken::Nothing);
        }
        self.guard.user_spoke();
        let screened = self.session.screen(prompts, self.cancel).await?;
        self.blocked = screened.blocked;
        if screened.passed.is_empty() {
            return Ok(Taken::Nothing);
        }
        self.session.take_prompts(screened.passed).await?;
        Ok(Taken::Prompts)
    }

    fn has_been_steered(&self) -> bool {
        self.session.live.queue.has_joining()
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
    fn over_budget(&self) -> Option<String> {
        if let Some(words) = self.session.purse.blind() {
            self.session.say_notice(&words);
        }
        self.session.purse.exceeded()
    }

    /// Tells the faces how the turn ended.
    async fn tell(&mut self, close: &Close) -> Result<(), StoreError> {
        let (session, turn) = (self.session.id, self.id);
        let event = match close {
            Close::Ended(ending, stop) => {
                let reason = match ending {
                    Ending::OverBudget(reason)
                    | Ending::GoingInCircles(reason)
                    | Ending::Halted(reason) => Some(reason),
                    Ending::Answered | Ending::Cancelled => None,
                };
                if let Some(reason) = reason {
                    self.note(reason.clone(), None).await?;
                }
                let (usage, cost) = self.session.purse.of_turn();
                let (stop, ending) = (*stop, ending.clone());
                Event::TurnDone { session, turn, stop, ending, usage, cost }
            }
            Close::Blocked(reason) => {
                let (reason, class) = (reason.clone(), FailureClass::Hook);
                Event::TurnFailed { session, turn, reason, class }
            }
            Close::Failed(error) => {
                let (reason, class) = (error.message.clone(), FailureClass::from(error.class));
                let kept = self.session.mind.redactor.text(&reason).into_owned();
                self.note(kept, Some(class)).await?;
                Event::TurnFailed { session, turn, reason, class }
            }
        };
        self.session.events.publish(event);
        Ok(())
    }

    /// Writes down why the turn ended, for who looks at it later.
    async fn note(&mut self, text: String, class: Option<FailureClass>) -> Result<(), StoreError> {
        let notice = self.session.entry(EntryKind::Notice { text, class });
        self.session.append(vec![notice]).await
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
        hooks: &session.hooks,
        offered: session.prefix().map_or(&[][..], |(_, tools)| tools),
        agent: session.kin.above.as_ref().and(session.kin.agent_name()),
        taint: session.kin.taint(&session.taint),
        cancel,
    }
}
