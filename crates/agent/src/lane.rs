//! A session's lane: one running turn, prompts that join it or wait, and a stop that overtakes both.

use std::sync::{Arc, Weak};
use std::time::Duration;

use base::protocol::{ClientError, Delivery, Mode, Rewound};
use base::{
    Clock, EntryId, EntryKind, Event, FailureClass, ModelRef, Part, SessionId, TaskScope,
    Timestamp, TurnId,
};
use llm::{Reasoning, Target};
use store::{Queued, Store};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::commands::Reply;
use crate::coordinator::Hub;
use crate::crew::Crew;
use crate::hooks::{Begin, End};
use crate::live::Live;
use crate::lookup::Sight;
use crate::mcp::prompts::Called;
use crate::room::Cause;
use crate::session::Session;
use crate::skills::invoke::Invocation;
use crate::turn::{Close, TurnStart, run_turn};

/// Most prompts that may wait; more are refused, so that a runaway sender is told.
const QUEUE_PROMPTS: usize = 100;
/// Notes a lane takes before its senders wait: they are handled at once, even while a turn runs.
const NOTES: usize = 32;

/// What is said of a turn that broke without a word.
const LOST: &str = "the turn broke off: a defect of caiman";

/// Whoever waits for a note to be durable.
type Ack = oneshot::Sender<Result<(), ClientError>>;

/// The way into a lane.
#[derive(Clone)]
pub(crate) struct Lane {
    notes: mpsc::Sender<(Note, Ack)>,
    rest: watch::Receiver<Rest>,
    closing: CancellationToken,
    sight: Arc<Sight>,
}

/// Whether a lane rests, and how its last turn ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rest {
    /// Turns that have ended, the running one not counted.
    ended: u64,
    /// Since when one runs.
    since: Option<Timestamp>,
    /// How the last one ended; the text of a failure of the memory.
    last: Option<Result<Close, String>>,
}

/// What a lane is told.
#[derive(Debug)]
pub(crate) enum Note {
    Say {
        entry: EntryId,
        parts: Vec<Part>,
        delivery: Delivery,
    },
    Unsay(EntryId),
    GoOn,
    Stop,
    SetModel(Box<Target>),
    SetReasoning(Reasoning),
    SetMode(Mode),
    Compact {
        focus: Option<String>,
    },
    Rewind {
        entry: EntryId,
        what: Rewound,
    },
    /// A slash command; what comes of it goes to the sender.
    Command {
        line: String,
        models: Vec<ModelRef>,
        answer: oneshot::Sender<Answered>,
    },
    /// What a command of the user's own has come to.
    Ran(Vec<Part>),
    /// An entry a command made.
    Record(Box<EntryKind>),
    /// A sub-agent's report, durable in the queue already.
    Heard(Box<Queued>, Wake),
    /// The user comes to it from another session, and has said nothing in it yet.
    Enter,
    /// The user has gone on elsewhere.
    Part(End),
    Close,
}

/// Whether a report begins a turn where none runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wake {
    /// It does.
    Up,
    /// It waits for the user's next word: the user stopped the sub-agent.
    Not,
}

/// What comes of a slash command.
#[derive(Debug)]
pub(crate) enum Answered {
    /// There is something left to do.
    Reply(Reply),
    /// What it says is durable, and its turn begins.
    Begun,
    /// It could not be done; why.
    Refused(String),
}

/// What a session is handed over for.
enum Work {
    /// A turn that answers these prompts.
    Turn {
        prompts: Vec<EntryId>,
    },
    Compact {
        focus: Option<String>,
    },
    Invoke {
        invocation: Box<Invocation>,
        answer: oneshot::Sender<Answered>,
    },
    Prompt {
        called: Box<Called>,
        answer: oneshot::Sender<Answered>,
    },
}

impl Lane {
    /// Opens a lane for a session; it ends with its hub.
    pub(crate) fn open(session: Session, held: Vec<Queued>, hub: &Hub) -> Self {
        let scope = &hub.scope;
        let (notes, inbox) = mpsc::channel(NOTES);
        let (resting, rest) = watch::channel(Rest::default());
        session.live.queue.restore(held);
        let sight = Arc::new(Sight::of(&session));
        let keeper = Keeper {
            session: session.id,
            store: session.mind.store.clone(),
            clock: session.mind.clock.clone(),
            resting,
            live: session.live.clone(),
            crew: session.crew.clone(),
            idle: Some(Box::new(session)),
            running: None,
            scope: scope.child(),
            hub: hub.me.clone(),
            nudge: None,
        };
        let closing = keeper.scope.token().clone();
        keeper.crew.end_with(&closing);
        scope.spawn_settling(keeper.run(inbox));
        Self { notes, rest, closing, sight }
    }

    /// The session, seen from outside.
    pub(crate) fn sight(&self) -> &Arc<Sight> {
        &self.sight
    }

    /// Since when a turn runs; none while none does.
    pub(crate) fn running_since(&self) -> Option<Timestamp> {
        self.rest.borrow().since
    }

    /// How many turns have ended.
    pub(crate) fn turns_ended(&self) -> u64 {
        self.rest.borrow().ended
    }

    /// Waits until more than `turns` turns have ended and none runs; tells how the last one ended. None if the
    /// lane was closed before.
    pub(crate) async fn rested(&self, turns: u64) -> Option<Result<Close, String>> {
        let mut rest = self.rest.clone();
        let rested = rest.wait_for(|rest| rest.ended > turns && rest.since.is_none()).await;
        rested.ok().and_then(|rest| rest.last.clone())
    }

    /// What closes the lane without waiting for it.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Whether it is closed, and its session settled.
    pub(crate) fn has_ended(&self) -> bool {
        self.notes.is_closed()
    }

    /// Tells the lane something; returns once it is durable.
    pub(crate) async fn tell(&self, note: Note) -> Result<(), ClientError> {
        let (ack, answer) = oneshot::channel();
        self.notes.send((note, ack)).await.map_err(|_| ClientError::Closed)?;
        answer.await.unwrap_or(Err(ClientError::Closed))
    }

    /// Ends the lane: a running turn is stopped and settles.
    pub(crate) async fn close(&self) {
        // A lane that is closed already needs no closing.
        drop(self.tell(Note::Close).await);
        self.notes.closed().await;
    }
}

/// The owner of a session while no turn has it.
struct Keeper {
    session: SessionId,
    store: Store,
    clock: Clock,
    live: Arc<Live>,
    crew: Arc<Crew>,
    /// The session, while no turn runs.
    idle: Option<Box<Session>>,
    running: Option<Running>,
    resting: watch::Sender<Rest>,
    scope: TaskScope,
    hub: Weak<Hub>,
    /// When the user is reminded that a turn has ended, if anybody would be told.
    nudge: Option<Instant>,
}

/// What a task gives back: the session, and how its turn ended if it was one.
type Given = (Box<Session>, Option<Result<Close, String>>);

struct Running {
    cancel: CancellationToken,
    done: oneshot::Receiver<Given>,
}

impl Keeper {
    async fn run(mut self, mut inbox: mpsc::Receiver<(Note, Ack)>) {
        let closing = self.scope.token().clone();
        loop {
            tokio::select! {
                biased;
                () = closing.cancelled() => break,
                note = inbox.recv() => match note {
                    Some((note, ack)) => self.take(note, ack).await,
                    None => break,
                },
                session = ended(&mut self.running) => self.turn_ended(session).await,
                () = due(self.nudge) => self.remind(),
            }
        }
        closing.cancel();
        if self.running.is_some() {
            let given = ended(&mut self.running).await;
            self.idle = given.map(|(session, close)| {
                self.rested(close);
                session
            });
        }
        if let Some(session) = &self.idle {
            let end = self.hub.upgrade().map_or(End::Other, |hub| hub.farewell());
            session.hooks.end(end).await;
            session.workspace.jobs.close().await;
            // What its commands left there is of no use to anybody.
            drop(std::fs::remove_dir_all(&session.live.temp));
        }
    }

    async fn take(&mut self, note: Note, ack: Ack) {
        self.nudge = None;
        self.settle().await;
        let answer = match note {
            Note::Say { entry, parts, delivery } => {
                let prompt = Queued { entry, at: self.clock.now(), delivery, parts };
                self.say(prompt).await
            }
            Note::Unsay(entry) => self.unsay(entry).await,
            Note::GoOn => self.go_on().await,
            Note::Stop => {
                if let Some(running) = &self.running {
                    running.cancel.cancel();
                }
                self.crew.stop();
                self.live.stop_shells();
                Ok(())
            }
            Note::SetModel(target) => {
                self.live.set_target(*target);
                Ok(())
            }
            Note::SetReasoning(reasoning) => {
                self.live.set_reasoning(reasoning);
                Ok(())
            }
            Note::SetMode(mode) => {
                self.live.set_mode(mode);
                Ok(())
            }
            Note::Compact { focus } => match self.idle.take() {
                Some(session) => {
                    self.start(session, Work::Compact { focus });
                    Ok(())
                }
                None => Err(busy()),
            },
            Note::Rewind { entry, what } => match &mut self.idle {
                Some(session) => Box::pin(session.rewind(entry, what)).await,
                None => Err(busy()),
            },
            Note::Command { line, models, answer } => self.command(&line, &models, answer).await,
            Note::Ran(parts) => self.ran(parts).await,
            Note::Record(kind) => self.record(*kind).await,
            Note::Heard(report, wake) => self.hear(*report, wake).await,
            Note::Enter => {
                if let Some(session) = &mut self.idle {
                    session.came = Some(Begin::Clear);
                }
                Ok(())
            }
            Note::Part(end) => {
                // One that is at work goes on, and is over when it is closed.
                if let Some(session) = &self.idle {
                    session.hooks.part(end);
                }
                Ok(())
            }
            Note::Close => {
                self.scope.token().cancel();
                Ok(())
            }
        };
        // A face that is gone needs no answer.
        drop(ack.send(answer));
    }

    /// Takes the session back from a turn that is over: whoever has seen its end need not wait for ours.
    async fn settle(&mut self) {
        let given = self.running.as_mut().and_then(|running| running.done.try_recv().ok());
        if given.is_some() {
            self.turn_ended(given).await;
        }
    }

    /// A prompt: it begins a turn, or waits, durably, for the running one.
    async fn say(&mut self, prompt: Queued) -> Result<(), ClientError> {
        if self.has_taken(prompt.entry).await? {
            return Ok(());
        }
        // A prompt after a stop is the user's next word: it does not wait behind the turn that is ending.
        if self.running.as_ref().is_some_and(|running| running.cancel.is_cancelled()) {
            let session = ended(&mut self.running).await;
            self.turn_ended(session).await;
        }
        if let Some(session) = self.idle.take() {
            // Prompts that a stop or a crash left waiting come first.
            let mut prompts = self.live.queue.take_all();
            prompts.push(prompt);
            return self.begin(session, prompts).await;
        }
        if self.running.is_none() {
            return Err(ClientError::Closed);
        }
        if self.live.queue.len() >= QUEUE_PROMPTS {
            let text = format!("{QUEUE_PROMPTS} prompts wait already; stop the turn or wait");
            return Err(ClientError::Refused(text));
        }
        let kept = self.store.enqueue(self.session, prompt.clone()).await;
        kept.map_err(|error| refused(&error))?;
        match prompt.delivery {
            Delivery::Steer => self.live.queue.join(prompt),
            Delivery::Queue => self.live.queue.follow(prompt),
        }
        Ok(())
    }

    /// Whether a prompt was taken before: a client that got no answer sends it again.
    async fn has_taken(&self, entry: EntryId) -> Result<bool, ClientError> {
        if self.live.queue.holds(entry) {
            return Ok(true);
        }
        let known = self.store.has_entry(self.session, entry).await;
        known.map_err(|error| refused(&error))
    }

    /// What a command of the user's own has come to: it joins the running turn, or waits in the transcript for
    /// the next request. No turn begins.
    async fn ran(&mut self, parts: Vec<Part>) -> Result<(), ClientError> {
        let at = self.clock.now();
        let said = Queued { entry: EntryId::new(), at, delivery: Delivery::Steer, parts };
        if let Some(mut session) = self.idle.take() {
            let taken = session.take_prompts(vec![said]).await;
            self.idle = Some(session);
            return taken.map_err(|error| refused(&error));
        }
        if self.running.is_none() {
            return Err(ClientError::Closed);
        }
        let kept = self.store.enqueue(self.session, said.clone()).await;
        kept.map_err(|error| refused(&error))?;
        self.live.queue.join(said);
        Ok(())
    }

    /// A sub-agent's report: it joins the running turn, begins one, or waits for the user.
    async fn hear(&mut self, report: Queued, wake: Wake) -> Result<(), ClientError> {
        match (self.idle.take(), wake) {
            (Some(session), Wake::Up) => return self.begin(session, vec![report]).await,
            (Some(session), Wake::Not) => {
                self.idle = Some(session);
                self.live.queue.follow(report);
            }
            (None, Wake::Up | Wake::Not) => self.live.queue.join(report),
        }
        Ok(())
    }

    async fn unsay(&mut self, entry: EntryId) -> Result<(), ClientError> {
        self.live.queue.remove(entry);
        let waited = self.store.unqueue(self.session, entry).await;
        let waited = waited.map_err(|error| refused(&error))?;
        waited.then_some(()).ok_or_else(|| ClientError::NotFound(format!("waiting prompt {entry}")))
    }

    async fn go_on(&mut self) -> Result<(), ClientError> {
        let Some(mut session) = self.idle.take() else {
            return Err(busy());
        };
        let prompts = self.live.queue.take_all();
        if !prompts.is_empty() {
            return self.begin(session, prompts).await;
        }
        let taken_up = session.take_up().await;
        match taken_up {
            Ok(true) => {
                self.start(session, Work::Turn { prompts: Vec::new() });
                Ok(())
            }
            Ok(false) => {
                self.idle = Some(session);
                Err(ClientError::Refused(
                    "the last turn ended; there is nothing to go on with".to_owned(),
                ))
            }
            Err(error) => {
                self.idle = Some(session);
                Err(refused(&error))
            }
        }
    }

    async fn begin(
        &mut self,
        mut session: Box<Session>,
        prompts: Vec<Queued>,
    ) -> Result<(), ClientError> {
        // Whoever sees the prompt sees that it is worked on.
        let now = session.mind.clock.now();
        self.resting.send_modify(|rest| rest.since = Some(now));
        let entries = prompts.iter().map(|prompt| prompt.entry).collect();
        let taken = if session.screens_prompts() || session.mentions_resources(&prompts) {
            self.let_wait(&session, prompts).await
        } else {
            session.take_prompts(prompts).await
        };
        match taken {
            Ok(()) => {
                self.start(session, Work::Turn { prompts: entries });
                Ok(())
            }
            Err(error) => {
                self.resting.send_modify(|rest| rest.since = None);
                self.idle = Some(session);
                Err(refused(&error))
            }
        }
    }

    /// Has prompts wait, durably, for the turn that begins: hooks see them there, where a stop reaches them.
    async fn let_wait(
        &self,
        session: &Session,
        prompts: Vec<Queued>,
    ) -> Result<(), store::StoreError> {
        for prompt in prompts {
            session.mind.store.enqueue(session.id, prompt.clone()).await?;
            self.live.queue.join(prompt);
        }
        Ok(())
    }

    /// Runs a slash command on the idle session; a skill or a custom command beside the lane.
    async fn command(
        &mut self,
        line: &str,
        models: &[ModelRef],
        answer: oneshot::Sender<Answered>,
    ) -> Result<(), ClientError> {
        let mut session = self.idle.take().ok_or_else(busy)?;
        if let Some(invocation) = session.called(line) {
            self.start(session, Work::Invoke { invocation: Box::new(invocation), answer });
            return Ok(());
        }
        if let Some(called) = session.called_prompt(line) {
            self.start(session, Work::Prompt { called: Box::new(called), answer });
            return Ok(());
        }
        let reply = session.command(line, models).await;
        self.idle = Some(session);
        // A face that is gone needs no reply.
        drop(answer.send(Answered::Reply(reply.map_err(|error| refused(&error))?)));
        Ok(())
    }

    async fn record(&mut self, kind: EntryKind) -> Result<(), ClientError> {
        let session = self.idle.as_mut().ok_or_else(busy)?;
        let entry = session.entry(kind);
        session.append(vec![entry]).await.map_err(|error| refused(&error))
    }

    /// Hands the session to a task of its own.
    fn start(&mut self, mut session: Box<Session>, work: Work) {
        let (give_back, done) = oneshot::channel();
        let turn = TurnId::new();
        let cancel = self.scope.token().child_token();
        let now = session.mind.clock.now();
        self.resting.send_modify(|rest| rest.since = Some(now));
        self.running = Some(Running { cancel: cancel.clone(), done });
        // A turn whose token is cancelled still settles its calls.
        self.scope.spawn_settling(async move {
            let worked = match work {
                Work::Turn { prompts } => {
                    let start = TurnStart { id: turn, entries: prompts };
                    Box::pin(run_turn(&mut session, start, &cancel)).await.map(Some)
                }
                Work::Compact { focus } => {
                    let made = session.make_room(Cause::Asked(focus), &cancel).await;
                    session.events.publish(Event::CommandDone { session: session.id });
                    made.map(|_| None)
                }
                Work::Invoke { invocation, answer } => {
                    Box::pin(session.invoke(*invocation, turn, answer, &cancel)).await
                }
                Work::Prompt { called, answer } => {
                    Box::pin(session.say_prompt(*called, turn, answer, &cancel)).await
                }
            };
            let close = match worked {
                Ok(close) => close.map(Ok),
                Err(error) => {
                    let reason = error.to_string();
                    session.events.publish(store_failure(session.id, turn, &reason));
                    Some(Err(reason))
                }
            };
            drop(give_back.send((session, close)));
        });
    }

    /// Takes the session back; a prompt that waits begins the next turn, unless the last was stopped: then
    /// it waits for the user's next word.
    async fn turn_ended(&mut self, given: Option<Given>) {
        let stopped = self.running.take().is_none_or(|running| running.cancel.is_cancelled());
        // A turn that gave nothing back has died with its task; the lane is of no use any more.
        let Some((session, close)) = given else { return self.rested(Some(Err(LOST.to_owned()))) };
        let queue = &self.live.queue;
        let mut prompts = if stopped { Vec::new() } else { queue.take_joining() };
        if !stopped && prompts.is_empty() {
            prompts.extend(queue.take_next());
        }
        if prompts.is_empty() {
            queue.tell();
            let patience = Duration::from_secs(session.mind.config.options.idle_prompt_s);
            let is_due = session.reminds() && !self.crew.is_at_work();
            self.nudge = Instant::now().checked_add(patience).filter(|_| is_due);
            self.idle = Some(session);
            self.rested(close);
            return;
        }
        let (id, events) = (session.id, session.events.clone());
        if let Err(error) = self.begin(session, prompts).await {
            let reason = error.to_string();
            events.publish(store_failure(id, TurnId::new(), &reason));
            self.rested(Some(Err(reason)));
        }
    }

    /// Tells hooks, once, that the user has been waited for since the last turn.
    fn remind(&mut self) {
        self.nudge = None;
        if let Some(session) = &self.idle {
            session.hooks.notify("idle_prompt", "Caiman is waiting for your input".to_owned());
        }
    }

    /// Tells whoever waits that no turn runs any more.
    fn rested(&self, close: Option<Result<Close, String>>) {
        self.resting.send_modify(|rest| {
            rest.since = None;
            rest.ended += 1;
            rest.last = close.or(rest.last.take());
        });
    }
}

/// Waits for the running turn to give the session back; for ever while none runs.
async fn ended(running: &mut Option<Running>) -> Option<Given> {
    match running {
        Some(running) => (&mut running.done).await.ok(),
        None => std::future::pending().await,
    }
}

/// Waits for a moment; for ever where there is none.
async fn due(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// A turn that ended because the session could not be written.
fn store_failure(session: SessionId, turn: TurnId, reason: &str) -> Event {
    let class = FailureClass::Store;
    Event::TurnFailed { session, turn, reason: reason.to_owned(), class }
}

fn busy() -> ClientError {
    ClientError::Refused("a turn is running: stop it, or wait for its end".to_owned())
}

fn refused(error: &store::StoreError) -> ClientError {
    ClientError::Refused(error.to_string())
}
