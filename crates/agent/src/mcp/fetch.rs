//! What the user wants of a server by itself: a prompt, a resource. The server may ask back as it may while it works
//! on a call, though there is none.

use std::sync::Arc;

use base::transcript::Outcome;
use base::{CallId, Event, SessionId};
use futures::future::BoxFuture;
use links::mcp::{Borrower, Elicitation, Elicited, Progress, Sampled, Sampling};
use tokio_util::sync::CancellationToken;
use tools::mcp::{Asker, Borrowing};

use crate::events::Events;
use crate::session::Session;

impl Session {
    /// Whom a server may ask while it fetches something for the user.
    pub(super) fn fetching(&self, server: &str, cancel: &CancellationToken) -> Arc<dyn Borrower> {
        let call = CallId::generate();
        let asker = Asker { call: call.clone(), cancel: cancel.clone() };
        Arc::new(Fetching {
            borrowing: Borrowing::new(server, self.workspace.clone(), asker),
            server: server.to_owned(),
            session: self.id,
            call,
            events: self.events.clone(),
        })
    }
}

struct Fetching {
    borrowing: Borrowing,
    server: String,
    session: SessionId,
    call: CallId,
    events: Events,
}

impl Borrower for Fetching {
    fn progress(&self, _progress: Progress) {}

    fn elicit(&self, asked: Elicitation) -> BoxFuture<'_, Elicited> {
        self.borrowing.elicit(asked)
    }

    fn sample(&self, asked: Sampling) -> BoxFuture<'_, Result<Sampled, String>> {
        Box::pin(async move {
            let sampled = self.borrowing.sample(asked).await;
            // A face that was asked for a yes shows it as a call, which nobody else ends.
            self.events.publish(Event::ToolDone {
                session: self.session,
                call: self.call.clone(),
                outcome: if sampled.is_ok() { Outcome::Done } else { Outcome::Failed },
                title: format!("{} wants an answer of a model", self.server),
                body: None,
            });
            sampled
        })
    }
}
