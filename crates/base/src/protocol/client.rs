//! The door itself: in process by the mind, over WebSocket by the entrance.

use std::pin::Pin;

use futures::Stream;
use futures::future::BoxFuture;

use super::{EventFilter, Numbered, Op, Query, Reply};

/// Events in order, ending when the mind does.
pub type EventStream = Pin<Box<dyn Stream<Item = Numbered> + Send>>;

/// What a face holds of the mind.
pub trait Client: Send + Sync {
    /// Asks for an operation; returns once it is durable.
    fn submit(&self, op: Op) -> BoxFuture<'_, Result<(), ClientError>>;

    /// Looks something up.
    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Reply, ClientError>>;

    /// Every event after number `since` that passes the filter, then those to come. The engine never waits
    /// for a reader: one that falls too far behind gets an end of stream and subscribes again from its
    /// last number.
    fn subscribe(&self, filter: EventFilter, since: u64) -> EventStream;
}

/// Why an operation or look-up was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// There is no such session, entry or request.
    #[error("there is no {0}")]
    NotFound(String),
    /// The client's principal lacks the right.
    #[error("not allowed: {0}")]
    Forbidden(String),
    /// It cannot be done now.
    #[error("{0}")]
    Refused(String),
    /// The mind is gone.
    #[error("the connection to the agent is closed")]
    Closed,
}
