//! A session's title, found beside its first turn.

use std::sync::Arc;

use base::{EntryKind, Event, Origin, Part, SessionId};
use llm::Target;
use store::CallKind;
use tokio_util::sync::CancellationToken;

use crate::events::Events;
use crate::mind::Mind;
use crate::purse::Purse;
use crate::session::Session;
use crate::side::Aside;
use crate::title;

/// The title that is still to be found; none if the session has one, or nobody to ask.
pub(crate) struct Naming {
    mind: Arc<Mind>,
    events: Events,
    purse: Arc<Purse>,
    session: SessionId,
    task: Option<(Target, String)>,
}

impl Session {
    /// The title that is still to be found: only a first prompt of the user's needs one. Whoever gave a
    /// sub-agent its task has named it.
    pub(crate) fn naming(&self) -> Naming {
        let own = self.branch.iter().filter(|entry| !entry.kind.is_own_command());
        let mut prompts = own.filter_map(|entry| {
            if let EntryKind::User { parts } = &entry.kind { Some(parts) } else { None }
        });
        let first = prompts.next().filter(|_| prompts.next().is_none());
        // What hooks have added says nothing of what the user wants.
        let said = |part: &&Part| part.origin == Origin::User;
        let text = first
            .map(|parts| parts.iter().filter(said).filter_map(Part::as_text).collect::<String>());
        // A skill that begins a session is not the user's words.
        let text = text.filter(|text| !text.trim().is_empty());
        let small = self.options.small.clone().filter(|_| self.kin.above.is_none());
        Naming {
            mind: self.mind.clone(),
            events: self.events.clone(),
            purse: self.purse.clone(),
            session: self.id,
            task: small.zip(text),
        }
    }
}

impl Naming {
    /// Asks the small model. Whatever goes wrong, the prompt's first words stay the title.
    pub(crate) async fn run(&self, cancel: &CancellationToken) {
        let Some((target, prompt)) = &self.task else { return };
        let aside = Aside {
            mind: &self.mind,
            events: &self.events,
            session: self.session,
            purse: &self.purse,
            target,
            kind: CallKind::Title,
        };
        let Ok(Ok(answer)) = aside.ask(&title::request(prompt, target), cancel).await else {
            return;
        };
        let Some(title) = title::clean(&answer) else { return };
        if self.mind.store.rename(self.session, title.clone()).await.is_ok() {
            self.events.publish(Event::renamed(self.session, title));
        }
    }
}
