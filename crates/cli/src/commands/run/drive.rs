//! A run from its first prompt to its exit: exchanges, turns, and whatever may stop them.

mod control;

use std::sync::Arc;
use std::time::Duration;

use agent::{Coordinator, commands};
use base::protocol::{Client, ClientError, Delivery, EventFilter, EventStream, Op};
use base::{Event, ModelRef, Part, SessionId};
use futures::StreamExt;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::ending::{self, End, Limited, Stopped};
use super::found::Found;
use super::host::{Heard, Host};
use super::outcome::{Outcome, Verdict};
use super::output::Printer;
use super::schema::{self, Schema};
use crate::failure::{Failure, Kind};
use crate::wiring;

/// Finds the model a text means; the error is for the one who named it.
pub(crate) type FindModel = Arc<dyn Fn(&str) -> Result<ModelRef, String> + Send + Sync>;

/// What a run is driven by, beside the mind.
pub(crate) struct Plan {
    /// The session.
    pub(crate) session: SessionId,
    /// The model it begins with.
    pub(crate) model: ModelRef,
    /// The shape answers must have.
    pub(crate) schema: Option<Schema>,
    /// The program at the other end of the pipes, if it feeds us.
    pub(crate) host: Option<Host>,
    /// Whether its messages are printed back.
    pub(crate) replays: bool,
    /// The limits that can end a turn.
    pub(crate) limited: Limited,
    /// Seconds the run may last.
    pub(crate) max_time_s: Option<u64>,
    /// Finds other models.
    pub(crate) find_model: FindModel,
    /// What definition files bring.
    pub(crate) found: Found,
}

/// A run.
pub(crate) struct Drive {
    plan: Plan,
    coordinator: Coordinator,
    events: EventStream,
    printer: Printer,
    outcome: Outcome,
    unread: CancellationToken,
    stopping: BoxFuture<'static, Stopped>,
    stopped: Option<Stopped>,
    /// Whether a turn runs.
    is_running: bool,
    /// Whether the host had the running exchange stopped.
    is_called_off: bool,
}

impl Drive {
    /// A run that has not begun.
    pub(crate) fn new(plan: Plan, coordinator: Coordinator, printer: Printer) -> Self {
        let unread = CancellationToken::new();
        Self {
            events: coordinator.subscribe(EventFilter::All, coordinator.newest_event()),
            stopping: Box::pin(stop(plan.max_time_s, unread.clone())),
            plan,
            coordinator,
            printer,
            outcome: Outcome::default(),
            unread,
            stopped: None,
            is_running: false,
            is_called_off: false,
        }
    }

    /// Runs to the end: `first`, then whatever the host says.
    pub(crate) async fn run(mut self, first: Option<Op>) -> Result<(), Failure> {
        let ended = self.exchanges(first).await;
        self.coordinator.close().await;
        ended
    }

    /// The prompt as an operation: a slash command, or something to say with what the schema asks for
    /// behind it.
    pub(crate) fn say(plan: &Plan, mut parts: Vec<Part>) -> Op {
        if let [only] = parts.as_slice()
            && let Some(line) = only.as_text().filter(|line| commands::is_command(line))
        {
            return Op::Command { session: plan.session, line: line.to_owned() };
        }
        parts.extend(plan.schema.as_ref().map(Schema::request));
        Op::say(plan.session, parts, Delivery::Queue)
    }

    /// The newest exchange decides how we exit, but a denial is never forgotten.
    async fn exchanges(&mut self, first: Option<Op>) -> Result<(), Failure> {
        let mut next = first;
        let (mut newest, mut denied) = (None, None);
        loop {
            let op = match next.take() {
                Some(op) => op,
                None => match self.next_prompt().await? {
                    Some(parts) => Self::say(&self.plan, parts),
                    None => return newest.or(denied).map_or(Ok(()), Err),
                },
            };
            newest = self.exchange(op).await?;
            denied = ending::denied(&self.outcome).or(denied);
        }
    }

    /// The host's next prompt; none without a host, at its end, or once we were stopped.
    async fn next_prompt(&mut self) -> Result<Option<Vec<Part>>, Failure> {
        loop {
            let Some(host) = &mut self.plan.host else { return Ok(None) };
            if self.stopped.is_some() {
                return Ok(None);
            }
            if let Some(parts) = host.prompts.pop_front() {
                return Ok(Some(parts));
            }
            if host.has_ended {
                return Ok(None);
            }
            tokio::select! {
                heard = host.next() => if let Some(heard) = heard? {
                    self.hear(heard).await;
                },
                why = &mut self.stopping => {
                    self.stopped = Some(why);
                    return Err(ending::idle(why));
                }
            }
        }
    }

    /// A prompt and all the model does about it; answers that do not fit the schema go back to it.
    async fn exchange(&mut self, op: Op) -> Result<Option<Failure>, Failure> {
        self.outcome.begin();
        self.printer.begin();
        self.is_called_off = false;
        let mut next = op;
        let mut misfits = 0;
        let failure = loop {
            let end = self.turn(next).await?;
            let stopped = if self.is_called_off { Some(Stopped::Host) } else { self.stopped };
            let limited = self.plan.limited;
            let failure = ending::failure(end, stopped, limited, &mut self.outcome);
            let is_answer = failure.is_none() && !self.outcome.is_reply();
            let Some(schema) = self.plan.schema.as_ref().filter(|_| is_answer) else {
                break failure;
            };
            match schema.check(&self.outcome.text()) {
                Ok(value) => {
                    self.outcome.structured = Some(value);
                    break None;
                }
                Err(faults) if misfits < schema::RETRIES => {
                    misfits += 1;
                    next = Op::say(
                        self.plan.session,
                        vec![schema::correction(&faults)],
                        Delivery::Queue,
                    );
                }
                Err(faults) => break Some(self.gave_up(&faults)),
            }
        };
        self.printer.end(&self.outcome);
        Ok(failure.filter(|_| !self.is_called_off))
    }

    fn gave_up(&mut self, faults: &str) -> Failure {
        let message = format!("the answer does not fit the schema, even when told so: {faults}");
        self.outcome.verdict = Verdict::NoFit;
        self.outcome.error = Some(("structured_output".to_owned(), message.clone()));
        Failure::user(message).hint("the answers are kept: caiman session last")
    }

    /// Runs one turn until it ends by itself, is stopped, or nobody reads any more.
    async fn turn(&mut self, op: Op) -> Result<End, Failure> {
        self.submit(op).await?;
        self.is_running = true;
        loop {
            tokio::select! {
                biased;
                event = self.events.next() => match event {
                    Some(numbered) => if let Some(end) = self.see(&numbered.event) {
                        self.is_running = false;
                        return Ok(end);
                    },
                    None => return Err(Failure::new(Kind::Internal, "the run broke off")),
                },
                why = &mut self.stopping, if self.stopped.is_none() => {
                    self.stopped = Some(why);
                    self.stop().await;
                }
                // Whoever asks twice wants out, whatever is still being saved.
                () = wiring::interrupt(), if self.stopped.is_some() => std::process::exit(130),
                heard = next_of(&mut self.plan.host) => match heard {
                    Ok(Some(heard)) => self.hear(heard).await,
                    Ok(None) => {}
                    Err(failure) => {
                        self.stop().await;
                        return Err(failure);
                    }
                },
            }
        }
    }

    /// Hands an operation over. The commands in a slash command's text may take their time, and can be
    /// stopped.
    async fn submit(&mut self, op: Op) -> Result<(), Failure> {
        let goes_on = matches!(op, Op::GoOn { .. });
        let is_command = matches!(op, Op::Command { .. });
        if is_command {
            self.outcome.expect_reply();
        }
        let coordinator = self.coordinator.clone();
        let submitting = async move { coordinator.submit(op).await };
        tokio::pin!(submitting);
        let submitted = loop {
            tokio::select! {
                biased;
                submitted = &mut submitting => break submitted,
                why = &mut self.stopping, if self.stopped.is_none() => {
                    self.stopped = Some(why);
                    self.stop().await;
                }
                () = wiring::interrupt(), if self.stopped.is_some() => std::process::exit(130),
            }
        };
        submitted.map_err(|error| match self.stopped {
            Some(why) => ending::idle(why),
            None if goes_on => refused(&error).hint("say something: caiman run --continue \"…\""),
            None if is_command => {
                refused(&error).hint("to say it to the model, begin with another word than a /name")
            }
            None => refused(&error),
        })
    }

    /// Shows an event; tells how the turn ended, if it did with it.
    fn see(&mut self, event: &Event) -> Option<End> {
        let is_own = event.session().is_none_or(|session| session == self.plan.session);
        if is_own {
            self.outcome.take(event);
            self.printer.event(event, &self.outcome);
        } else {
            self.outcome.take_from_crew(event);
            self.printer.crew_event(event, &self.outcome);
        }
        self.ask_host(event);
        if self.printer.is_closed() {
            self.unread.cancel();
        }
        is_own.then(|| End::of(event)).flatten()
    }

    async fn stop(&mut self) {
        // A turn that has ended meanwhile needs no stop.
        drop(self.coordinator.submit(Op::Stop { session: self.plan.session }).await);
    }
}

/// What the host says next; for ever silent where there is none.
async fn next_of(host: &mut Option<Host>) -> Result<Option<Heard>, Failure> {
    match host {
        Some(host) if !host.has_ended => host.next().await,
        Some(_) | None => std::future::pending().await,
    }
}

fn refused(error: &ClientError) -> Failure {
    match error {
        ClientError::Refused(why) | ClientError::NotFound(why) => Failure::user(why.clone()),
        ClientError::Forbidden(_) => Failure::new(Kind::Denied, error.to_string()),
        ClientError::Closed => Failure::new(Kind::Internal, error.to_string()),
    }
}

/// Waits for whatever may stop a run from outside.
async fn stop(max_time_s: Option<u64>, unread: CancellationToken) -> Stopped {
    let time_up = async {
        match max_time_s {
            Some(seconds) => {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                seconds
            }
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = wiring::interrupt() => Stopped::Interrupt,
        () = wiring::terminate() => Stopped::Terminate,
        seconds = time_up => Stopped::TimeUp { seconds },
        () = unread.cancelled() => Stopped::Unread,
    }
}
