//! Making room in the context: old results shortened first, then the older part summarised. It never loops:
//! what does not help is said, and left at that.

use base::{EntryKind, Event};
use store::{CallKind, StoreError};
use tokio_util::sync::CancellationToken;

use crate::compaction::{self, Plan};
use crate::session::Session;
use crate::side::Aside;
use crate::tokens;

/// Why room is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The context nears the window.
    Near,
    /// The provider says that it does not fit.
    Overflow,
    /// The user asked for it, perhaps with something to dwell on.
    Asked(Option<String>),
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// There is room.
    Room,
    /// There is nothing to be done, or it did not help.
    Nothing,
}

impl Session {
    /// Whether the context nears the window and making room is worth a try.
    pub(crate) fn is_crowded(&self) -> bool {
        let window = self.window();
        !self.mind.config.options.disable_auto_summarize
            && !self.hooks.holds_compaction()
            && compaction::due(self.used_tokens(), window)
            && compaction::worth_trying(&self.branch, window)
    }

    /// Makes room.
    pub(crate) async fn make_room(
        &mut self,
        cause: Cause,
        cancel: &CancellationToken,
    ) -> Result<Made, StoreError> {
        let before = self.used_tokens();
        let focus = match &cause {
            Cause::Near | Cause::Overflow => {
                if self.prune(before).await? == Made::Room {
                    return Ok(Made::Room);
                }
                None
            }
            Cause::Asked(focus) => focus.as_deref(),
        };
        if self.may_not_compact(&cause, cancel).await {
            return Ok(Made::Nothing);
        }
        // A window that overflowed is not as large as we thought.
        let window = match (&cause, self.window()) {
            (Cause::Overflow, 0) => before,
            (Cause::Overflow, known) => known.min(before),
            (Cause::Near | Cause::Asked(_), known) => known,
        };
        let Some(plan) = compaction::plan(&self.branch, window, focus) else {
            self.say_notice("There is too little in the context to compact.");
            return Ok(Made::Nothing);
        };
        self.say_notice("The context is being compacted.");
        let Some(summary) = self.summarise(&plan, cancel).await? else { return Ok(Made::Nothing) };
        let entry = self.entry(plan.entry(&summary));
        self.append(vec![entry]).await?;
        self.renew_prefix().await?;
        self.begin_compacted(cancel).await?;
        if compaction::helped(before, self.used_tokens()) {
            return Ok(Made::Room);
        }
        let text = compaction::NO_HELP.to_owned();
        let notice = self.entry(EntryKind::Notice { text, class: None });
        self.append(vec![notice]).await?;
        self.say_notice(compaction::NO_HELP);
        Ok(Made::Nothing)
    }

    /// Shortens old results; that alone may be enough.
    async fn prune(&mut self, before: u64) -> Result<Made, StoreError> {
        let Some(kind) = compaction::prune(&self.branch, self.window()) else {
            return Ok(Made::Nothing);
        };
        let entry = self.entry(kind);
        self.append(vec![entry]).await?;
        self.renew_prefix().await?;
        let after = self.used_tokens();
        let enough = compaction::helped(before, after) && !compaction::due(after, self.window());
        Ok(if enough { Made::Room } else { Made::Nothing })
    }

    /// Asks for the summary, step by step. A provider that fails leaves what code keeps; a user who stops it
    /// leaves everything as it was.
    async fn summarise(
        &self,
        plan: &Plan,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, StoreError> {
        let aside = Aside {
            mind: &self.mind,
            events: &self.events,
            session: self.id,
            purse: &self.purse,
            target: &self.options.target,
            kind: CallKind::Summary,
        };
        let mut summary: Option<String> = None;
        for step in 0..plan.steps() {
            match aside.ask(&plan.request(step, summary.as_deref()), cancel).await? {
                Ok(text) => summary = Some(text),
                Err(_) if cancel.is_cancelled() => return Ok(None),
                Err(error) => {
                    self.say_notice(&format!("The summary could not be made: {}", error.message));
                    break;
                }
            }
        }
        Ok(Some(summary.unwrap_or_default()))
    }

    /// Tokens that the next request would occupy.
    fn used_tokens(&self) -> u64 {
        let (system, tools) = self.prefix().unwrap_or_default();
        tokens::used(&self.branch, || tokens::of_prefix(system, tools))
    }

    fn window(&self) -> u64 {
        self.options.target.model.context_window
    }

    /// Tells the faces something that is not part of the transcript.
    pub(crate) fn say_notice(&self, text: &str) {
        let (session, text) = (Some(self.id), text.to_owned());
        self.events.publish(Event::Notice { session, text });
    }
}
