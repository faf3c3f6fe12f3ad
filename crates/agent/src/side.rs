//! A model call beside the conversation: a title, a summary. It is in the ledger like every other.

use std::time::Instant;

use base::{Event, Part, SessionId, StopReason};
use llm::{Fold, Request, Target};
use store::{CallKind, CallStatus, StoreError, UsageRow};
use tokio_util::sync::CancellationToken;

use crate::events::Events;
use crate::mind::Mind;
use crate::purse::Purse;

/// What a side call is made with.
pub(crate) struct Aside<'a> {
    pub(crate) mind: &'a Mind,
    pub(crate) events: &'a Events,
    pub(crate) session: SessionId,
    /// Whose money it costs.
    pub(crate) purse: &'a Purse,
    pub(crate) target: &'a Target,
    pub(crate) kind: CallKind,
}

/// What came of a side call.
pub(crate) struct Said {
    /// How it ended: the provider's error where it failed, cancelled included.
    pub(crate) ended: Result<(), llm::Error>,
    pub(crate) text: String,
    pub(crate) stop: Option<StopReason>,
}

impl Aside<'_> {
    /// The text the model answers; the provider's error where it failed, cancelled included.
    pub(crate) async fn ask(
        &self,
        request: &Request,
        cancel: &CancellationToken,
    ) -> Result<Result<String, llm::Error>, StoreError> {
        let said = self.answer(request, cancel).await?;
        Ok(said.ended.map(|()| said.text))
    }

    /// The same with how it ended.
    pub(crate) async fn answer(
        &self,
        request: &Request,
        cancel: &CancellationToken,
    ) -> Result<Said, StoreError> {
        let mut fold = Fold::new(self.target.maker());
        let began = Instant::now();
        let heard = cancel.run_until_cancelled(self.listen(request, &mut fold)).await;
        let heard = heard.unwrap_or_else(|| {
            Err(llm::Error::new(llm::Class::Cancelled, "the user stopped it".to_owned()))
        });
        let answer = fold.answer();
        let cost = answer.cost.or_else(|| llm::price::cost_at(self.target, &answer.usage));
        let status = match &heard {
            Ok(()) => CallStatus::Done,
            Err(error) => CallStatus::Failed(error.class.as_str().to_owned()),
        };
        let model = self.target.model_ref();
        let row = UsageRow {
            session: Some(self.session),
            model: model.clone(),
            at: self.mind.clock.now(),
            kind: self.kind,
            status,
            usage: answer.usage,
            cost,
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        self.mind.store.record_usage(row).await?;
        let (session, usage) = (self.session, answer.usage);
        self.purse.count_aside(usage, cost);
        self.events.publish(Event::Spent { session, model, usage, cost });
        let text = answer.parts.iter().filter_map(Part::as_text).collect();
        Ok(Said { ended: heard, text, stop: answer.stop })
    }

    async fn listen(&self, request: &Request, fold: &mut Fold) -> Result<(), llm::Error> {
        let mut reply = self.mind.caller.open(self.target, request, &mut |_| {}).await?;
        let mut deltas = Vec::new();
        loop {
            let more = reply.next(&mut deltas).await;
            deltas.drain(..).for_each(|delta| fold.push(delta));
            if !more? {
                return Ok(());
            }
        }
    }
}
