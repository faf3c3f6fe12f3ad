//! What hooks do to a session: they see its beginning, each prompt before the model does, and its end.

use base::transcript::is_unfinished;
use base::{Entry, EntryKind, Event, Origin, Part, PartBody};
use store::{Queued, StoreError};
use tokio_util::sync::CancellationToken;

use crate::hooks::{Begin, Beginner, Occasion, Ruling, Trigger, fragment};
use crate::mind::Presence;
use crate::room::Cause;
use crate::session::Session;

/// How often hooks may make a turn go on before it ends all the same.
const MOST_HOLDS: u32 = 8;

/// What came of prompts that hooks have seen.
#[derive(Debug, Default)]
pub(crate) struct Screened {
    /// Those the model may hear.
    pub(crate) passed: Vec<Queued>,
    /// Why the others were blocked.
    pub(crate) blocked: Option<String>,
}

/// What comes after an answer without calls.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Onward {
    /// The turn ends.
    End,
    /// Hooks want it to go on.
    GoOn,
}

impl Session {
    /// Whether hooks want to see the next prompt before it becomes an entry.
    pub(crate) fn screens_prompts(&self) -> bool {
        self.hooks.watches(Occasion::UserPromptSubmit) || self.hooks.has_to_begin()
    }

    /// Whether hooks want to know that the user is waited for, should there be one.
    pub(crate) fn reminds(&self) -> bool {
        let is_awaited = self.mind.presence != Presence::Alone && self.kin.above.is_none();
        is_awaited && self.hooks.watches(Occasion::Notification)
    }

    /// Tells hooks, once, that the session begins; what they say comes with the next prompt.
    pub(crate) async fn begin_hooked(&mut self, cancel: &CancellationToken) {
        if !self.hooks.begins() {
            return;
        }
        self.tell_story();
        let said = |entry: &Entry| matches!(entry.kind, EntryKind::User { .. });
        let is_known = self.branch.iter().any(said);
        let begin = match self.came.take() {
            Some(Begin::Fork) => Begin::Fork,
            Some(_) | None if is_known => Begin::Resume,
            Some(came) => came,
            None => Begin::Startup,
        };
        self.begin_as(begin, cancel).await;
    }

    async fn begin_as(&mut self, begin: Begin, cancel: &CancellationToken) {
        let model = self.options.target.model_ref().to_string();
        let row = self.mind.store.session(self.id).await.ok();
        let title = row.and_then(|row| row.summary.title);
        let agent = self.kin.agent_name();
        let who = Beginner { model: &model, agent: agent.as_deref(), title: title.as_deref() };
        let mut ruling = self.hooks.begin(begin, who, cancel).await;
        self.hooks.keep_pending(&ruling, self.hooks.begin_occasion());
        if let (Begin::Startup | Begin::Clear, Some(words)) = (begin, ruling.first_words.take()) {
            self.first_words = Some(words);
        }
        self.retitle(ruling).await;
    }

    /// Shows prompts to hooks. A blocked one is taken from the queue and never heard; those that a stop leaves
    /// unseen wait on.
    pub(crate) async fn screen(
        &mut self,
        prompts: Vec<Queued>,
        cancel: &CancellationToken,
    ) -> Result<Screened, StoreError> {
        let mut screened = Screened::default();
        let watched = self.hooks.watches(Occasion::UserPromptSubmit);
        self.tell_story();
        for mut prompt in prompts {
            let ruling = if watched && !cancel.is_cancelled() {
                let text: Vec<&str> = prompt.parts.iter().filter_map(Part::as_text).collect();
                self.hooks.prompt(prompt.entry, &text.join("\n"), cancel).await
            } else {
                Ruling::default()
            };
            if cancel.is_cancelled() {
                self.live.queue.join(prompt);
                continue;
            }
            if let Some(reason) = ruling.no().or(ruling.halt.as_deref()) {
                let reason = format!("A hook blocked the prompt: {reason}");
                self.mind.store.unqueue(self.id, prompt.entry).await?;
                let notice = self.entry(EntryKind::Notice { text: reason.clone(), class: None });
                self.append(vec![notice]).await?;
                screened.blocked = Some(reason);
                continue;
            }
            self.add_resources(&mut prompt.parts, cancel).await;
            prompt.parts.splice(0..0, self.first_words.take().map(Part::user_text));
            self.hooks.keep_pending(&ruling, Occasion::UserPromptSubmit);
            prompt.parts.extend(self.hooks.take_pending().iter().map(|text| told(text)));
            self.retitle(ruling).await;
            screened.passed.push(prompt);
        }
        Ok(screened)
    }

    /// Says what hooks have left for the model and no prompt has taken along.
    pub(crate) async fn say_pending(&mut self) -> Result<(), StoreError> {
        // Nobody would answer it now: it waits for the next prompt.
        if !is_unfinished(&self.branch) {
            return Ok(());
        }
        let parts: Vec<Part> = self.hooks.take_pending().iter().map(|text| told(text)).collect();
        if parts.is_empty() {
            return Ok(());
        }
        let entry = self.entry(EntryKind::User { parts });
        self.append(vec![entry]).await
    }

    /// Asks hooks whether the turn may end; `held` is how often they have said no.
    pub(crate) async fn at_stop(
        &mut self,
        held: u32,
        cancel: &CancellationToken,
    ) -> Result<Onward, StoreError> {
        let occasion = self.hooks.stop_occasion();
        if !self.hooks.watches(occasion) {
            return Ok(Onward::End);
        }
        self.tell_story();
        let ruling = self.hooks.stop(&self.last_answer(), held, cancel).await;
        // The answer is whole: to end the turn now is only to hear nobody who would hold it.
        if let Some(reason) = ruling.halt {
            self.say_notice(&format!("A hook ended the turn: {reason}"));
            return Ok(Onward::End);
        }
        let words: Vec<&str> =
            ruling.no().into_iter().chain(ruling.context.iter().map(String::as_str)).collect();
        if words.is_empty() {
            return Ok(Onward::End);
        }
        if held >= MOST_HOLDS {
            let text = format!("Hooks have held the turn {MOST_HOLDS} times; it ends now.");
            self.say_notice(&text);
            return Ok(Onward::End);
        }
        let parts = words.iter().map(|text| told(&fragment(occasion, text))).collect();
        let entry = self.entry(EntryKind::User { parts });
        self.append(vec![entry]).await?;
        Ok(Onward::GoOn)
    }

    /// Whether hooks forbid that the context is summarised; the user is told.
    pub(crate) async fn may_not_compact(&self, cause: &Cause, cancel: &CancellationToken) -> bool {
        if !self.hooks.watches(Occasion::PreCompact) {
            return false;
        }
        self.tell_story();
        let (trigger, focus) = match cause {
            Cause::Near | Cause::Overflow => (Trigger::Auto, None),
            Cause::Asked(focus) => (Trigger::Manual, focus.as_deref()),
        };
        let ruling = self.hooks.compact(trigger, focus, cancel).await;
        let Some(reason) = ruling.no() else { return false };
        self.say_notice(&format!("A hook keeps the context from being compacted: {reason}"));
        self.hooks.hold_compaction();
        true
    }

    /// Tells hooks that the context was summarised: what they say of a beginning is in it no longer.
    pub(crate) async fn begin_compacted(
        &mut self,
        cancel: &CancellationToken,
    ) -> Result<(), StoreError> {
        if self.hooks.watches(Occasion::SessionStart) {
            self.begin_as(Begin::Compact, cancel).await;
            self.say_pending().await?;
        }
        Ok(())
    }

    /// Brings the transcript that hooks can read up to date.
    pub(crate) fn tell_story(&self) {
        self.hooks.tell_story(&self.branch);
    }

    async fn retitle(&self, ruling: Ruling) {
        let Some(title) = ruling.title else { return };
        // A title is not worth a failed turn.
        if self.mind.store.rename(self.id, title.clone()).await.is_ok() {
            let event = Event::renamed(self.id, title);
            self.events.publish(event);
        }
    }

    fn last_answer(&self) -> String {
        let answer = self.branch.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::Assistant { parts, .. } => Some(parts),
            EntryKind::User { .. }
            | EntryKind::ToolResults { .. }
            | EntryKind::Notice { .. }
            | EntryKind::Compaction { .. }
            | EntryKind::Pruned { .. }
            | EntryKind::Undone { .. }
            | EntryKind::Prefix { .. }
            | EntryKind::ModelChange { .. }
            | EntryKind::Checkpoint { .. } => None,
        });
        let texts = answer.into_iter().flatten().filter_map(Part::as_text);
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// What a hook tells the model.
fn told(text: &str) -> Part {
    Part::new(PartBody::Text { text: text.to_owned() }, Origin::System)
}
