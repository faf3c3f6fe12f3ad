//! The one door between faces and mind: [`Op`] in, [`Event`] out, [`Query`] to look things up.

mod client;
mod event;
mod op;
mod principal;
mod query;
mod reply;

pub use client::{Client, ClientError, EventStream};
pub use event::{Ending, Event, EventFilter, HookState, Numbered, Question, WaitingPrompt};
pub use op::{Approval, Delivery, Mode, Op, Rewound, Scope, Trust};
pub use principal::{Identity, Principal, QuerySubject, Right, Rights, SessionScope};
pub use query::Query;
pub use reply::{
    Bill, BillLine, Change, Checkpoint, ChildProgress, ChildState, Hit, KeyState, ModelChoice,
    Offer, OfferKind, Paid, Place, ProviderState, Reply, ServerKind, ServerState, SessionState,
    SessionSummary, Spent, TrustState,
};
