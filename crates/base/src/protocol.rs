//! The one door between faces and mind: [`Op`] in, [`Event`] out, [`Query`] to look things up.

mod client;
mod event;
mod op;
mod query;

pub use client::{Client, ClientError, EventStream};
pub use event::{Ending, Event, HookState, Numbered, Question};
pub use op::{Approval, Delivery, Mode, Op, Scope};
pub use query::{Query, Reply, SessionSummary};
