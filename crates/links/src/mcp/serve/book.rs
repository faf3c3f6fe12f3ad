//! Events of the mind, entered for the call they belong to: sub-agents' under the session they work for.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::SessionId;
use base::protocol::Numbered;
use tokio::sync::watch;

use super::account::Account;

/// Accounts of sessions that somebody waits for.
#[derive(Debug, Default)]
pub(super) struct Book {
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    open: HashMap<SessionId, watch::Sender<Account>>,
}

impl Book {
    /// Begins an account of a session; none while there is one.
    pub(super) fn open(&self, session: SessionId) -> Option<watch::Receiver<Account>> {
        let mut pages = self.pages();
        if pages.open.contains_key(&session) {
            return None;
        }
        let (sender, receiver) = watch::channel(Account::default());
        pages.open.insert(session, sender);
        Some(receiver)
    }

    /// Ends the account of a session.
    pub(super) fn close(&self, session: SessionId) {
        self.pages().open.remove(&session);
    }

    /// Enters an event.
    pub(super) fn enter(&self, numbered: &Numbered) {
        let (Some(root), event) = (numbered.root, &numbered.event) else { return };
        if let Some(account) = self.pages().open.get(&root) {
            account.send_if_modified(|account| {
                if event.session() == Some(root) {
                    account.take(event)
                } else {
                    account.take_from_crew(event)
                }
            });
        }
    }

    /// The mind tells nothing any more.
    pub(super) fn lose_all(&self) {
        for account in self.pages().open.values() {
            account.send_modify(Account::lose);
        }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use base::{CallId, Event, RequestId};

    use super::*;

    fn question(session: SessionId) -> Event {
        let (request, agent, body) = (RequestId::new(), None, None);
        let (title, reason) = ("Run rm".to_owned(), "no rule allows it".to_owned());
        let call = CallId::new("c");
        let (rules, risky) = (Vec::new(), Vec::new());
        Event::ApprovalNeeded { session, request, agent, call, title, reason, rules, risky, body }
    }

    #[test]
    fn a_question_of_a_sub_agent_goes_to_the_client_that_waits_for_its_top_session() {
        let book = Book::default();
        let [root, grandchild] = [(); 2].map(|()| SessionId::new());
        let account = book.open(root).unwrap();
        let asked = Numbered { root: Some(root), ..Numbered::new(1, question(grandchild)) };
        book.enter(&asked);
        book.enter(&Numbered::new(2, question(SessionId::new())));
        assert_eq!(account.borrow().questions.len(), 1);
    }

    #[test]
    fn a_session_has_one_account_at_a_time() {
        let book = Book::default();
        let session = SessionId::new();
        let first = book.open(session).unwrap();
        assert!(book.open(session).is_none());
        book.close(session);
        assert!(first.has_changed().is_err());
        assert!(book.open(session).is_some());
    }
}
