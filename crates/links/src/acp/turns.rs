//! Who waits for which turn of a session to end. The protocol answers a prompt when its turn is over; a session may
//! run turns nobody has prompted (a sub-agent's report), and prompts may wait for a running one.

use agent_client_protocol_schema::v1::StopReason as Stop;
use base::protocol::Ending;
use base::{EntryId, Event, FailureClass, StopReason};
use tokio::sync::oneshot;

use crate::rpc::Fault;

/// How a prompt ended.
pub(super) type Ended = Result<Stop, Fault>;

/// An answer, and who waits for it.
pub(super) type Due = (oneshot::Sender<Ended>, Ended);

/// Prompts of a session that are not answered yet.
#[derive(Debug, Default)]
pub(super) struct Turns {
    waiters: Vec<Waiter>,
    /// Prompts that wait for the running turn.
    queued: Vec<EntryId>,
    next: u64,
}

/// What was prompted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prompt {
    /// Something for the model, by the id of its entry.
    Said(EntryId),
    /// A slash command.
    Command,
}

/// A prompt somebody waits for. A ticket names it.
#[derive(Debug)]
struct Waiter {
    ticket: Ticket,
    prompt: Prompt,
    /// Whether the mind has it.
    is_taken: bool,
    /// Whether a turn is known to be its own.
    has_begun: bool,
    is_cancelled: bool,
    answer: oneshot::Sender<Ended>,
}

/// Names a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket(u64);

/// Whether a prompt is still wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// It is.
    Still,
    /// It was cancelled meanwhile.
    NoLonger,
}

impl Turns {
    /// A prompt is about to be handed to the mind.
    pub(super) fn wait(&mut self, prompt: Prompt) -> (Ticket, oneshot::Receiver<Ended>) {
        let (answer, answered) = oneshot::channel();
        self.next += 1;
        let ticket = Ticket(self.next);
        let (is_taken, has_begun, is_cancelled) = (false, false, false);
        self.waiters.push(Waiter { ticket, prompt, is_taken, has_begun, is_cancelled, answer });
        (ticket, answered)
    }

    /// The mind has a prompt.
    pub(super) fn taken(&mut self, ticket: Ticket) -> Wanted {
        let waiter = self.waiters.iter_mut().find(|waiter| waiter.ticket == ticket);
        let Some(waiter) = waiter else { return Wanted::Still };
        waiter.is_taken = true;
        if waiter.is_cancelled { Wanted::NoLonger } else { Wanted::Still }
    }

    /// The mind did not take a prompt.
    pub(super) fn refused(&mut self, ticket: Ticket) -> Wanted {
        let found = self.waiters.iter().position(|waiter| waiter.ticket == ticket);
        let waiter = found.map(|at| self.waiters.remove(at));
        match waiter {
            Some(waiter) if waiter.is_cancelled => Wanted::NoLonger,
            Some(_) | None => Wanted::Still,
        }
    }

    /// Whether a command is being carried out: then what is told is its reply.
    pub(super) fn has_command(&self) -> bool {
        self.waiters.iter().any(|waiter| waiter.prompt == Prompt::Command)
    }

    /// Takes all prompts back. Tells which can be taken out of the mind's queue, and the answers of those.
    pub(super) fn cancel(&mut self) -> (Vec<EntryId>, Vec<Due>) {
        let mut waiting = Vec::new();
        let mut due = Vec::new();
        for mut waiter in std::mem::take(&mut self.waiters) {
            if let Some(entry) = self.queued.iter().copied().find(|entry| waiter.is(*entry)) {
                waiting.push(entry);
                due.push((waiter.answer, Ok(Stop::Cancelled)));
            } else {
                waiter.is_cancelled = true;
                self.waiters.push(waiter);
            }
        }
        (waiting, due)
    }

    /// Nothing more will happen.
    pub(super) fn close(&mut self, ended: &Ended) -> Vec<Due> {
        std::mem::take(&mut self.waiters).into_iter().map(|it| (it.answer, ended.clone())).collect()
    }

    /// Takes an event of the session in; tells the answers that are due with it.
    pub(super) fn take(&mut self, event: &Event) -> Vec<Due> {
        match event {
            // A prompt that joins a running turn is not among those the turn began with.
            Event::Appended { entry, .. } => {
                for waiter in &mut self.waiters {
                    waiter.has_begun |= waiter.is(entry.id);
                }
                Vec::new()
            }
            Event::TurnStarted { entries, .. } => {
                // A command needs a session without a turn: one that begins now is its own.
                for waiter in &mut self.waiters {
                    waiter.has_begun |= waiter.prompt == Prompt::Command
                        || entries.iter().any(|entry| waiter.is(*entry));
                }
                Vec::new()
            }
            Event::Waiting { prompts, .. } => {
                self.queued = prompts.iter().map(|prompt| prompt.entry).collect();
                Vec::new()
            }
            Event::CommandDone { .. } => {
                let is_command = |waiter: &Waiter| waiter.prompt == Prompt::Command;
                let found = self.waiters.iter().position(is_command);
                let waiter = found.map(|at| self.waiters.remove(at));
                waiter.map(|waiter| (waiter.answer, Ok(Stop::EndTurn))).into_iter().collect()
            }
            Event::TurnDone { stop, ending, .. } => self.over(&Ok(stop_of(*stop, ending))),
            Event::TurnFailed { reason, class, .. } => {
                let code = if *class == FailureClass::Auth { -32000 } else { -32603 };
                self.over(&Err(Fault { code, message: reason.clone() }))
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
            | Event::Spent { .. }
            | Event::SessionChanged { .. }
            | Event::Hook { .. }
            | Event::Notice { .. } => Vec::new(),
        }
    }

    /// A turn is over: with it all prompts that have begun, and those the mind has that wait no longer.
    fn over(&mut self, ended: &Ended) -> Vec<Due> {
        let mut due = Vec::new();
        for waiter in std::mem::take(&mut self.waiters) {
            let waits = self.queued.iter().any(|entry| waiter.is(*entry));
            if !waiter.has_begun && (waits || !waiter.is_taken) {
                self.waiters.push(waiter);
                continue;
            }
            let ended = if waiter.is_cancelled { Ok(Stop::Cancelled) } else { ended.clone() };
            due.push((waiter.answer, ended));
        }
        due
    }
}

impl Waiter {
    /// Whether it waits for the prompt with this id.
    fn is(&self, entry: EntryId) -> bool {
        self.prompt == Prompt::Said(entry)
    }
}

/// Why a turn ended, in the protocol's words.
fn stop_of(stop: StopReason, ending: &Ending) -> Stop {
    match ending {
        Ending::Cancelled => Stop::Cancelled,
        Ending::OverBudget(_) => Stop::MaxTurnRequests,
        Ending::GoingInCircles(_) | Ending::Halted(_) => Stop::EndTurn,
        Ending::Answered => match stop {
            StopReason::Length | StopReason::ContextFull => Stop::MaxTokens,
            StopReason::Refusal => Stop::Refusal,
            StopReason::Cancelled => Stop::Cancelled,
            StopReason::Done | StopReason::ToolCalls | StopReason::Paused | StopReason::Other => {
                Stop::EndTurn
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use base::protocol::{Delivery, WaitingPrompt};
    use base::{Entry, EntryKind, ModelRef, Part, SessionId, Timestamp, TurnId, Usage};

    use super::*;

    /// Two prompts with the same words are two prompts.
    fn appended(id: EntryId) -> Event {
        let kind = EntryKind::User { parts: vec![Part::user_text("go on")] };
        let entry = Entry { id, parent: None, at: Timestamp::default(), kind };
        Event::Appended { session: SessionId::new(), entry }
    }

    fn started(entries: Vec<EntryId>) -> Event {
        let (session, turn) = (SessionId::new(), TurnId::new());
        Event::TurnStarted { session, turn, entries, model: ModelRef::new("demo", "tour") }
    }

    fn done(ending: Ending) -> Event {
        let (session, turn, usage) = (SessionId::new(), TurnId::new(), Usage::default());
        Event::TurnDone { session, turn, stop: StopReason::Done, ending, usage, cost: None }
    }

    fn failed(reason: &str, class: FailureClass) -> Event {
        let (session, turn) = (SessionId::new(), TurnId::new());
        Event::TurnFailed { session, turn, reason: reason.to_owned(), class }
    }

    fn waiting(entries: &[EntryId]) -> Event {
        let prompt = |entry: &EntryId| WaitingPrompt {
            entry: *entry,
            parts: vec![Part::user_text("go on")],
            delivery: Delivery::Queue,
        };
        Event::Waiting { session: SessionId::new(), prompts: entries.iter().map(prompt).collect() }
    }

    fn ended(due: Vec<Due>) -> Vec<Ended> {
        due.into_iter().map(|(_, ended)| ended).collect()
    }

    #[test]
    fn a_turn_answers_the_prompt_that_began_it() {
        let (mut turns, a) = (Turns::default(), EntryId::new());
        let (ticket, _receiver) = turns.wait(Prompt::Said(a));
        assert!(turns.take(&started(vec![a])).is_empty());
        assert_eq!(turns.taken(ticket), Wanted::Still);
        assert_eq!(ended(turns.take(&done(Ending::Answered))), [Ok(Stop::EndTurn)]);
    }

    #[test]
    fn a_turn_nobody_prompted_answers_nobody() {
        let (mut turns, a) = (Turns::default(), EntryId::new());
        let (ticket, _receiver) = turns.wait(Prompt::Said(a));
        // The end of a turn that ran before the engine had the prompt.
        assert!(turns.take(&done(Ending::Answered)).is_empty());
        turns.taken(ticket);
        turns.take(&waiting(&[a]));
        assert!(turns.take(&done(Ending::Answered)).is_empty());
        turns.take(&waiting(&[]));
        turns.take(&appended(a));
        assert_eq!(ended(turns.take(&done(Ending::Answered))), [Ok(Stop::EndTurn)]);
    }

    #[test]
    fn two_prompts_with_the_same_words_are_answered_by_their_own_turns() {
        let (mut turns, a, b) = (Turns::default(), EntryId::new(), EntryId::new());
        let (one, _first) = turns.wait(Prompt::Said(a));
        turns.take(&started(vec![a]));
        turns.taken(one);
        let (two, _second) = turns.wait(Prompt::Said(b));
        turns.take(&waiting(&[b]));
        turns.taken(two);
        assert_eq!(turns.take(&done(Ending::Answered)).len(), 1);
        turns.take(&waiting(&[]));
        turns.take(&started(vec![b]));
        let fault = Fault { code: -32000, message: "no key".into() };
        assert_eq!(ended(turns.take(&failed("no key", FailureClass::Auth))), [Err(fault)]);
    }

    #[test]
    fn a_cancelled_prompt_is_answered_as_such_even_if_its_turn_fails() {
        let (mut turns, a, b) = (Turns::default(), EntryId::new(), EntryId::new());
        let (ticket, _receiver) = turns.wait(Prompt::Said(a));
        turns.take(&started(vec![a]));
        turns.taken(ticket);
        let (queued, _other) = turns.wait(Prompt::Said(b));
        turns.take(&waiting(&[b]));
        turns.taken(queued);
        let (unsay, due) = turns.cancel();
        assert_eq!((unsay, ended(due)), (vec![b], vec![Ok(Stop::Cancelled)]));
        let over = turns.take(&failed("gone", FailureClass::Network));
        assert_eq!(ended(over), [Ok(Stop::Cancelled)]);
    }

    #[test]
    fn a_prompt_cancelled_on_its_way_in_is_told_so() {
        let mut turns = Turns::default();
        let (ticket, _receiver) = turns.wait(Prompt::Said(EntryId::new()));
        turns.cancel();
        assert_eq!(turns.taken(ticket), Wanted::NoLonger);
        assert_eq!(turns.refused(ticket), Wanted::NoLonger);
        assert_eq!(turns.refused(ticket), Wanted::Still);
    }

    #[test]
    fn a_command_ends_with_its_reply_or_its_turn() {
        let mut turns = Turns::default();
        let session = SessionId::new();
        let (_, _receiver) = turns.wait(Prompt::Command);
        assert!(turns.has_command());
        assert_eq!(turns.take(&Event::CommandDone { session }).len(), 1);
        let (_, _receiver) = turns.wait(Prompt::Command);
        assert!(turns.take(&done(Ending::Answered)).is_empty());
        turns.take(&started(vec![EntryId::new()]));
        let over = turns.take(&done(Ending::OverBudget("spent".into())));
        assert_eq!(ended(over), [Ok(Stop::MaxTurnRequests)]);
    }
}
