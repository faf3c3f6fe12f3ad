//! The walk of a turn: record the prompt, call the model, journal, record the answer.

use std::time::{Duration, Instant};

use base::config::provider::Sampling;
use base::model::{ModelRef, Money, StopReason, Usage};
use base::transcript::turns;
use base::{Clock, Entry, EntryId, EntryKind, Event, Part, SessionId, Timestamp};
use llm::{Answer, Caller, Delta, Fold, Opening, Reasoning, Reply, Request, Target};
use store::{CallKind, CallStatus, Draft, Store, StoreError, UsageRow};
use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;

use crate::prompt;

/// How much streamed text a killed process may lose.
const JOURNAL_EVERY: Duration = Duration::from_millis(250);

/// What a turn needs: memory, voice, clock.
#[derive(Debug, Clone)]
pub struct Mind {
    /// Where sessions are kept.
    pub store: Store,
    /// How models are called.
    pub caller: Caller,
    /// The time.
    pub clock: Clock,
}

/// Something said to a model.
#[derive(Debug, Clone)]
pub struct Say {
    /// In which session; it exists already.
    pub session: SessionId,
    /// To which model.
    pub target: Target,
    /// What.
    pub parts: Vec<Part>,
    /// How hard it should think.
    pub reasoning: Reasoning,
    /// Most tokens of the answer; none for the model's own limit.
    pub max_tokens: Option<u64>,
    /// Sampling settings; they lie over the model's.
    pub sampling: Sampling,
}

/// What came of a turn.
#[derive(Debug, Clone)]
pub struct TurnReport {
    /// The answer's entry.
    pub entry: EntryId,
    /// What the model said, thought and called.
    pub parts: Vec<Part>,
    /// Why it stopped; [`StopReason::Cancelled`] if we stopped it.
    pub stop: StopReason,
    /// Tokens.
    pub usage: Usage,
    /// Money; none where the price is unknown.
    pub cost: Option<Money>,
    /// Time spent waiting for the provider.
    pub waited: Duration,
}

/// Why a turn could not go on. What had come of the answer is recorded.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The model's provider failed.
    #[error("{model}: {error}")]
    Provider {
        /// The model that was called.
        model: ModelRef,
        /// What happened.
        error: llm::Error,
    },
    /// The session could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How a call ended.
enum End {
    Whole,
    Cancelled,
    Failed(llm::Error),
}

impl Mind {
    /// Runs one turn. Events go to `publish` as they happen; `cancel` ends it at the next await and
    /// keeps what had come.
    pub async fn say(
        &self,
        say: Say,
        cancel: &CancellationToken,
        publish: &mut (dyn FnMut(Event) + Send),
    ) -> Result<TurnReport, TurnError> {
        let session = say.session;
        let asked =
            self.append(session, EntryKind::User { parts: say.parts.clone() }, publish).await?;
        publish(Event::TurnStarted { session, model: say.target.model_ref() });
        let branch = self.store.branch(session).await?;
        let request = Request {
            system: vec![prompt::TALK.to_owned()],
            turns: turns(&branch),
            reasoning: say.reasoning,
            max_tokens: say.max_tokens,
            sampling: say.sampling.clone(),
            session_key: Some(session.to_string()),
            ..Request::default()
        };
        let mut call = Call::new(self, &say, asked);
        let started = Instant::now();
        let end = match cancel.run_until_cancelled(call.run(&request, publish)).await {
            Some(Ok(())) => End::Whole,
            Some(Err(TurnError::Provider { error, .. })) => End::Failed(error),
            Some(Err(error)) => return Err(error),
            None => End::Cancelled,
        };
        call.settle(end, started.elapsed(), publish).await
    }

    async fn append(
        &self,
        session: SessionId,
        kind: EntryKind,
        publish: &mut (dyn FnMut(Event) + Send),
    ) -> Result<EntryId, TurnError> {
        let parent = self.store.session(session).await?.head;
        let entry = Entry { id: EntryId::new(), parent, at: self.clock.now(), kind };
        self.store.append(session, vec![entry.clone()]).await?;
        let id = entry.id;
        publish(Event::Appended { session, entry });
        Ok(id)
    }
}

/// One model call while it runs.
struct Call<'a> {
    mind: &'a Mind,
    say: &'a Say,
    asked: EntryId,
    entry: EntryId,
    fold: Fold,
    kinds: Vec<Kind>,
    began: Timestamp,
    /// When what has come must be written down; none while all of it is.
    due: Option<Instant>,
}

/// What a streamed part is to a face.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
    Silent,
}

impl<'a> Call<'a> {
    fn new(mind: &'a Mind, say: &'a Say, asked: EntryId) -> Self {
        Self {
            mind,
            say,
            asked,
            entry: EntryId::new(),
            fold: Fold::new(say.target.maker()),
            kinds: Vec::new(),
            began: mind.clock.now(),
            due: None,
        }
    }

    /// Streams the answer into the fold, the journal and the face.
    async fn run(
        &mut self,
        request: &Request,
        publish: &mut (dyn FnMut(Event) + Send),
    ) -> Result<(), TurnError> {
        let session = self.say.session;
        let model = self.say.target.model_ref();
        let provider = |error| TurnError::Provider { model: model.clone(), error };
        let mut retrying = |retry: llm::Retrying| {
            publish(Event::Retrying {
                session,
                attempt: retry.attempt,
                wait_ms: u64::try_from(retry.wait.as_millis()).unwrap_or(u64::MAX),
                reason: retry.error.message,
            });
        };
        let caller = &self.mind.caller;
        let mut reply =
            caller.open(&self.say.target, request, &mut retrying).await.map_err(provider)?;
        let mut deltas = Vec::new();
        loop {
            let more = self.next(&mut reply, &mut deltas).await;
            self.take(&mut deltas, publish);
            if !more? {
                return Ok(());
            }
            self.due = self.due.or_else(|| Some(Instant::now() + JOURNAL_EVERY));
        }
    }

    /// Waits for the next deltas. What has come is written down when it is due, also while the model
    /// is silent; the wait for the model goes on meanwhile, so that its time-out is not put off.
    async fn next(
        &mut self,
        reply: &mut Reply,
        deltas: &mut Vec<Delta>,
    ) -> Result<bool, TurnError> {
        let model = self.say.target.model_ref();
        let provider = |error| TurnError::Provider { model, error };
        let next = reply.next(deltas);
        tokio::pin!(next);
        if let Some(due) = self.due {
            if Instant::now() < due
                && let Ok(goes_on) = timeout_at(due.into(), &mut next).await
            {
                return goes_on.map_err(provider);
            }
            self.mind.store.journal_put(self.say.session, self.draft()).await?;
            self.due = None;
        }
        next.await.map_err(provider)
    }

    fn draft(&self) -> Draft {
        Draft {
            entry: self.entry,
            parent: Some(self.asked),
            at: self.began,
            model: self.say.target.model_ref(),
            parts: self.fold.answer().parts,
        }
    }

    /// Folds a batch; neighbouring words of one kind go to the face as one event.
    fn take(&mut self, deltas: &mut Vec<Delta>, publish: &mut (dyn FnMut(Event) + Send)) {
        let mut gathered = (Kind::Silent, String::new());
        for delta in deltas.drain(..) {
            match &delta {
                Delta::Open { opening, .. } => self.kinds.push(kind(opening)),
                Delta::More { part, text } => {
                    let kind = self.kinds.get(*part).copied().unwrap_or(Kind::Silent);
                    if kind != gathered.0 {
                        self.publish(
                            std::mem::replace(&mut gathered, (kind, String::new())),
                            publish,
                        );
                    }
                    if kind != Kind::Silent {
                        gathered.1.push_str(text);
                    }
                }
                Delta::Started { .. }
                | Delta::Sidecar { .. }
                | Delta::Usage(_)
                | Delta::Cost(_)
                | Delta::Stop(_) => {}
            }
            self.fold.push(delta);
        }
        self.publish(gathered, publish);
    }

    fn publish(&self, (kind, delta): (Kind, String), publish: &mut (dyn FnMut(Event) + Send)) {
        let (session, entry) = (self.say.session, self.entry);
        match kind {
            Kind::Text if !delta.is_empty() => publish(Event::Text { session, entry, delta }),
            Kind::Reasoning if !delta.is_empty() => {
                publish(Event::Reasoning { session, entry, delta });
            }
            Kind::Text | Kind::Reasoning | Kind::Silent => {}
        }
    }

    /// Records answer and cost, whatever the end was.
    async fn settle(
        self,
        end: End,
        waited: Duration,
        publish: &mut (dyn FnMut(Event) + Send),
    ) -> Result<TurnReport, TurnError> {
        let (session, model) = (self.say.session, self.say.target.model_ref());
        let answer = self.fold.answer();
        let cost = answer.cost.or_else(|| llm::price::cost_at(&self.say.target, &answer.usage));
        let stop = match &end {
            End::Whole => answer.stop.unwrap_or(StopReason::Other),
            End::Cancelled => StopReason::Cancelled,
            End::Failed(_) => StopReason::Other,
        };
        self.record(&answer, stop, publish).await?;
        let status = match &end {
            End::Whole => CallStatus::Done,
            End::Cancelled => CallStatus::Failed("cancelled".to_owned()),
            End::Failed(error) => CallStatus::Failed(error.class.as_str().to_owned()),
        };
        let row = UsageRow {
            session: Some(session),
            model: model.clone(),
            at: self.mind.clock.now(),
            kind: CallKind::Main,
            status,
            usage: answer.usage,
            cost,
            duration_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
        };
        self.mind.store.record_usage(row).await?;
        publish(Event::Spent { session, model: model.clone(), usage: answer.usage, cost });
        if let End::Failed(error) = end {
            publish(Event::TurnFailed { session, reason: error.message.clone() });
            return Err(TurnError::Provider { model, error });
        }
        publish(Event::TurnDone { session, stop, usage: answer.usage, cost });
        Ok(TurnReport {
            entry: self.entry,
            parts: answer.parts,
            stop,
            usage: answer.usage,
            cost,
            waited,
        })
    }

    /// Makes what came of the answer an entry; nothing came, nothing is made.
    async fn record(
        &self,
        answer: &Answer,
        stop: StopReason,
        publish: &mut (dyn FnMut(Event) + Send),
    ) -> Result<(), TurnError> {
        let (session, store) = (self.say.session, &self.mind.store);
        if answer.parts.is_empty() {
            store.journal_take(session).await?;
            return Ok(());
        }
        let kind = EntryKind::Assistant {
            parts: answer.parts.clone(),
            model: self.say.target.model_ref(),
            stop,
            usage: answer.usage,
        };
        let at = self.mind.clock.now();
        let entry = Entry { id: self.entry, parent: Some(self.asked), at, kind };
        store.append(session, vec![entry.clone()]).await?;
        publish(Event::Appended { session, entry });
        Ok(())
    }
}

fn kind(opening: &Opening) -> Kind {
    match opening {
        Opening::Text => Kind::Text,
        Opening::Reasoning => Kind::Reasoning,
        Opening::Call { .. } | Opening::File(_) | Opening::Opaque { .. } => Kind::Silent,
    }
}
