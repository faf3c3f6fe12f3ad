//! What went wrong with a call, classed so that retry and failover need not guess.

use std::fmt;
use std::time::Duration;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The kind of failure.
    pub class: Class,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// The provider's own code or type, such as `rate_limit_error`.
    pub code: Option<String>,
    /// How long the provider asks us to wait.
    pub retry_after: Option<Duration>,
    /// What happened, in the provider's words where it had any.
    pub message: String,
}

/// The kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Too many requests or tokens for now.
    RateLimit,
    /// The provider has no capacity for now.
    Overloaded,
    /// The account cannot pay.
    Billing,
    /// The key is missing, wrong or not allowed this.
    Auth,
    /// The prompt is longer than the model's window.
    ContextOverflow,
    /// The provider refuses the request as it is.
    BadRequest,
    /// There is no such model, or not for this key.
    ModelNotFound,
    /// It took too long.
    Timeout,
    /// The provider broke, or broke its own protocol.
    Server,
    /// The connection failed or ended early.
    Network,
    /// We stopped it.
    Cancelled,
}

impl Class {
    /// The class's name, as events and JSON write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Billing => "billing",
            Self::Auth => "auth",
            Self::ContextOverflow => "context_overflow",
            Self::BadRequest => "bad_request",
            Self::ModelNotFound => "model_not_found",
            Self::Timeout => "timeout",
            Self::Server => "server",
            Self::Network => "network",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_transient(self) -> bool {
        match self {
            Self::RateLimit | Self::Overloaded | Self::Timeout | Self::Server | Self::Network => {
                true
            }
            Self::Billing
            | Self::Auth
            | Self::ContextOverflow
            | Self::BadRequest
            | Self::ModelNotFound
            | Self::Cancelled => false,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Error {
    /// A failure with nothing known but its class and what happened.
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        Self { class, status: None, code: None, retry_after: None, message: message.into() }
    }

    /// The stream ended without its terminal event: never a short answer.
    pub fn truncated() -> Self {
        Self::new(Class::Network, "the answer broke off before its end")
    }

    /// The provider sent something its own protocol does not allow.
    pub fn protocol(what: impl fmt::Display) -> Self {
        Self::new(Class::Server, format!("the provider sent something unreadable: {what}"))
    }
}
