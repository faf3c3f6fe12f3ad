//! One model call: the answer streamed into the fold, the journal and the faces, then recorded.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use base::model::{ModelRef, Money, StopReason, Usage};
use base::transcript::Call;
use base::{CallId, Entry, EntryId, EntryKind, Event, Part, SessionId, Timestamp};
use llm::{Delta, Fold, Opening, Reply, Request, Target};
use store::{Batch, CallKind, CallStatus, Draft, StoreError, UsageRow};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;

use crate::events::Events;
use crate::loop_guard::{Alarm, LoopGuard};
use crate::mind::Mind;

/// How much streamed text a killed process may lose.
const JOURNAL_EVERY: Duration = Duration::from_millis(250);

/// What a model call is made with.
pub(crate) struct Asking<'a> {
    pub(crate) mind: &'a Mind,
    pub(crate) events: &'a Events,
    pub(crate) session: SessionId,
    pub(crate) target: &'a Target,
    /// The entry the answer will follow.
    pub(crate) after: Option<EntryId>,
    /// The calls of the session so far.
    pub(crate) calls: HashSet<CallId>,
    /// Where calls go as soon as the model has finished them, while it still talks.
    pub(crate) early: UnboundedSender<Call>,
}

/// What came of a model call.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    /// The answer's entry; none if nothing came.
    pub(crate) entry: Option<Entry>,
    /// How it ended.
    pub(crate) end: End,
    /// Tokens.
    pub(crate) usage: Usage,
    /// Money; none where the price is unknown.
    pub(crate) cost: Option<Money>,
}

/// How a model call ended.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// The model stopped by itself.
    Whole(StopReason),
    /// The turn was cancelled.
    Cancelled,
    /// The model repeats itself; we hung up.
    Circling(String),
    /// The provider failed.
    Failed(llm::Error),
}

impl Answered {
    /// The calls the model made, in its order.
    pub(crate) fn calls(&self) -> Vec<Call> {
        let parts = self.entry.as_ref().map_or(&[][..], |entry| entry.kind.parts());
        parts.iter().filter_map(Part::as_call).cloned().collect()
    }
}

impl Asking<'_> {
    /// Calls the model. What had come before a failure or a stop is recorded all the same.
    pub(crate) async fn run(
        self,
        request: &Request,
        guard: &mut LoopGuard,
        cancel: &CancellationToken,
    ) -> Result<Answered, StoreError> {
        guard.new_answer();
        let mut stream = Stream::new(&self, guard);
        let started = Instant::now();
        let end = match cancel.run_until_cancelled(stream.run(request)).await {
            Some(Ok(())) => match stream.circling.take() {
                Some(reason) => End::Circling(reason),
                None => End::Whole(stream.fold.answer().stop.unwrap_or(StopReason::Other)),
            },
            Some(Err(Broken::Provider(error))) => End::Failed(error),
            Some(Err(Broken::Store(error))) => return Err(error),
            None => End::Cancelled,
        };
        stream.settle(end, started.elapsed()).await
    }

    fn model(&self) -> ModelRef {
        self.target.model_ref()
    }
}

enum Broken {
    Provider(llm::Error),
    Store(StoreError),
}

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What a streamed part is to a face.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
    Silent,
}

/// An answer while it streams.
struct Stream<'a> {
    asking: &'a Asking<'a>,
    entry: EntryId,
    fold: Fold,
    kinds: Vec<Kind>,
    /// The thought that comes, and since when.
    thinks: Option<(usize, Instant)>,
    /// The calls of the session, this answer's too.
    calls: HashSet<CallId>,
    began: Timestamp,
    guard: &'a mut LoopGuard,
    /// Why the answer is broken off: it repeats itself.
    circling: Option<String>,
    /// When what has come must be written down; none while all of it is.
    due: Option<Instant>,
    /// Whether a draft lies in the journal.
    journaled: bool,
}

impl<'a> Stream<'a> {
    fn new(asking: &'a Asking<'a>, guard: &'a mut LoopGuard) -> Self {
        Self {
            asking,
            entry: EntryId::new(),
            fold: Fold::new(asking.target.maker()),
            kinds: Vec::new(),
            thinks: None,
            calls: asking.calls.clone(),
            began: asking.mind.clock.now(),
            guard,
            circling: None,
            due: None,
            journaled: false,
        }
    }

    async fn run(&mut self, request: &Request) -> Result<(), Broken> {
        let (session, events) = (self.asking.session, self.asking.events);
        let mut retrying = |retry: llm::Retrying| {
            events.publish(Event::Retrying {
                session,
                attempt: retry.attempt,
                wait_ms: u64::try_from(retry.wait.as_millis()).unwrap_or(u64::MAX),
                reason: retry.error.message,
            });
        };
        let opened = self.asking.mind.caller.open(self.asking.target, request, &mut retrying);
        let mut reply = opened.await.map_err(Broken::Provider)?;
        let mut deltas = Vec::new();
        loop {
            let more = self.next(&mut reply, &mut deltas).await;
            self.take(&mut deltas);
            if !more? || self.circling.is_some() {
                return Ok(());
            }
            self.due = self.due.or_else(|| Some(Instant::now() + JOURNAL_EVERY));
        }
    }

    /// Waits for the next deltas. What has come is written down when it is due, also while the model
    /// is silent; the wait for the model goes on meanwhile, so that its time-out is not put off.
    async fn next(&mut self, reply: &mut Reply, deltas: &mut Vec<Delta>) -> Result<bool, Broken> {
        let next = reply.next(deltas);
        tokio::pin!(next);
        if let Some(due) = self.due {
            if Instant::now() < due
                && let Ok(goes_on) = timeout_at(due.into(), &mut next).await
            {
                return goes_on.map_err(Broken::Provider);
            }
            self.asking.mind.store.journal_put(self.asking.session, self.draft()).await?;
            (self.due, self.journaled) = (None, true);
        }
        next.await.map_err(Broken::Provider)
    }

    fn draft(&self) -> Draft {
        Draft {
            entry: self.entry,
            parent: self.asking.after,
            at: self.began,
            model: self.asking.model(),
            parts: self.fold.answer().parts,
        }
    }

    /// Folds a batch; neighbouring words of one kind go to the faces as one event.
    fn take(&mut self, deltas: &mut Vec<Delta>) {
        let mut gathered = (Kind::Silent, String::new());
        for mut delta in deltas.drain(..) {
            self.tell_apart(&mut delta);
            match &delta {
                Delta::Open { opening, .. } => {
                    self.hand_over();
                    self.stop_thinking();
                    let kind = kind(opening);
                    let thinks = (kind == Kind::Reasoning).then(Instant::now);
                    self.thinks = thinks.map(|since| (self.kinds.len(), since));
                    self.kinds.push(kind);
                }
                Delta::More { part, text } => {
                    let kind = self.kinds.get(*part).copied().unwrap_or(Kind::Silent);
                    if kind != gathered.0 {
                        self.show(std::mem::replace(&mut gathered, (kind, String::new())));
                    }
                    if kind != Kind::Silent {
                        gathered.1.push_str(text);
                    }
                }
                Delta::Stop(_) => {
                    self.hand_over();
                    self.stop_thinking();
                }
                Delta::Started { .. }
                | Delta::Sidecar { .. }
                | Delta::Usage(_)
                | Delta::Cost(_) => {}
            }
            self.fold.push(delta);
        }
        self.show(gathered);
    }

    /// Notes how long the thought took that has come.
    fn stop_thinking(&mut self) {
        if let Some((part, since)) = self.thinks.take() {
            self.fold.note_time(part, since.elapsed());
        }
    }

    /// Gives a call an id of its own where its provider counts anew in every answer: results, faces and rooms
    /// know calls by nothing else. The provider needs no id of its own back.
    fn tell_apart(&mut self, delta: &mut Delta) {
        if let Delta::Open { opening: Opening::Call { id, .. }, .. } = delta
            && !self.calls.insert(id.clone())
        {
            *id = CallId::generate();
            self.calls.insert(id.clone());
        }
    }

    /// Hands the newest part over if it is a whole call: the next part has begun, or there is none.
    fn hand_over(&self) {
        let newest = self.kinds.len().checked_sub(1);
        if let Some(call) = newest.and_then(|part| self.fold.whole_call(part)) {
            // Nobody takes calls early from a model without tools.
            drop(self.asking.early.send(call));
        }
    }

    fn show(&mut self, (kind, delta): (Kind, String)) {
        let (session, entry) = (self.asking.session, self.entry);
        if delta.is_empty() || kind == Kind::Silent {
            return;
        }
        if let Some(Alarm::End(reason)) = self.guard.see_text(&delta) {
            self.circling = Some(reason);
        }
        let event = match kind {
            Kind::Text => Event::Text { session, entry, delta },
            Kind::Reasoning | Kind::Silent => Event::Reasoning { session, entry, delta },
        };
        self.asking.events.publish(event);
    }

    /// Records answer and cost, whatever the end was.
    async fn settle(mut self, end: End, waited: Duration) -> Result<Answered, StoreError> {
        self.stop_thinking();
        let Asking { mind, events, session, target, .. } = self.asking;
        let session = *session;
        let answer = self.fold.answer();
        let cost = answer.cost.or_else(|| llm::price::cost_at(target, &answer.usage));
        let (stop, status) = match &end {
            End::Whole(stop) => (*stop, CallStatus::Done),
            End::Cancelled => (StopReason::Cancelled, failed("cancelled")),
            End::Circling(_) => (StopReason::Cancelled, failed("loop")),
            End::Failed(error) => (StopReason::Other, failed(error.class.as_str())),
        };
        let model = target.model_ref();
        let row = UsageRow {
            session: Some(session),
            model: model.clone(),
            at: mind.clock.now(),
            kind: CallKind::Main,
            status,
            usage: answer.usage,
            cost,
            duration_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
        };
        let entry = self.entry(answer.parts, stop, answer.usage);
        if let Some(entry) = &entry {
            let entries = vec![entry.clone()];
            // The ledger and the entry are one transaction: neither is ever there without the other.
            let batch = Batch::default().record_usage(row);
            let batch = match stop {
                StopReason::ToolCalls => batch.append_step(session, entries),
                StopReason::Done
                | StopReason::Length
                | StopReason::Refusal
                | StopReason::ContextFull
                | StopReason::Paused
                | StopReason::Cancelled
                | StopReason::Other => batch.append(session, entries),
            };
            mind.store.commit(batch).await?;
            events.publish(Event::Appended { session, entry: entry.clone() });
        } else {
            mind.store.record_usage(row).await?;
            if self.journaled {
                mind.store.journal_take(session).await?;
            }
        }
        events.publish(Event::Spent { session, model, usage: answer.usage, cost });
        Ok(Answered { entry, end, usage: answer.usage, cost })
    }

    /// What came of the answer as an entry; nothing came, nothing is made.
    fn entry(&self, parts: Vec<Part>, stop: StopReason, usage: Usage) -> Option<Entry> {
        (!parts.is_empty()).then(|| Entry {
            id: self.entry,
            parent: self.asking.after,
            at: self.asking.mind.clock.now(),
            kind: EntryKind::Assistant { parts, model: self.asking.model(), stop, usage },
        })
    }
}

fn failed(class: &str) -> CallStatus {
    CallStatus::Failed(class.to_owned())
}

fn kind(opening: &Opening) -> Kind {
    match opening {
        Opening::Text => Kind::Text,
        Opening::Reasoning => Kind::Reasoning,
        Opening::Call { .. } | Opening::File(_) | Opening::Opaque { .. } => Kind::Silent,
    }
}
