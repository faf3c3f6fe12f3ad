//! What went wrong with a call, classed so that retry and failover need not guess.
//!
//! The class comes from the provider's own codes first (`table`), read out of whatever shape its
//! error body has (`body`), then from the HTTP status. How long to wait is read by `wait`, and what
//! a person sees is bounded and cleaned by `clean`.

mod body;
mod clean;
mod table;
#[cfg(test)]
mod tests;
mod wait;

use std::fmt;
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use body::Report;

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

impl From<Class> for base::FailureClass {
    fn from(class: Class) -> Self {
        match class {
            Class::RateLimit => Self::RateLimit,
            Class::Overloaded => Self::Overloaded,
            Class::Billing => Self::Billing,
            Class::Auth => Self::Auth,
            Class::ContextOverflow => Self::ContextOverflow,
            Class::BadRequest => Self::BadRequest,
            Class::ModelNotFound => Self::ModelNotFound,
            Class::Timeout => Self::Timeout,
            Class::Server => Self::Server,
            Class::Network => Self::Network,
            Class::Cancelled => Self::Cancelled,
        }
    }
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 11] = [
        Self::RateLimit,
        Self::Overloaded,
        Self::Billing,
        Self::Auth,
        Self::ContextOverflow,
        Self::BadRequest,
        Self::ModelNotFound,
        Self::Timeout,
        Self::Server,
        Self::Network,
        Self::Cancelled,
    ];

    /// The class's name, as events and JSON write it.
    pub fn as_str(self) -> &'static str {
        base::FailureClass::from(self).as_str()
    }

    /// The class of a failed turn; `None` if the model's provider was not the cause.
    pub fn of_failure(failure: base::FailureClass) -> Option<Self> {
        Self::ALL.into_iter().find(|class| base::FailureClass::from(*class) == failure)
    }

    /// The class of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == name)
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

    /// Reads a response whose status says that it failed.
    pub fn from_response(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let mut report = Report::read(body);
        if let Some(kind) = headers.get("x-amzn-errortype").and_then(|value| value.to_str().ok()) {
            report.name(kind);
        }
        report.headers.extend(headers.iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        }));
        Self::from_report(Some(status), &report)
    }

    /// Reads an error found inside a stream or body that began well: the whole object or the bare
    /// error in it.
    pub fn from_body(status: Option<u16>, body: &[u8]) -> Self {
        Self::from_report(status, &Report::read(body))
    }

    /// An error whose code came beside its message, as in the headers of a binary stream.
    pub fn from_code(code: &str, body: &[u8]) -> Self {
        let mut report = Report::read(body);
        report.names.insert(0, code.to_owned());
        Self::from_report(None, &report)
    }

    fn from_report(status: Option<u16>, report: &Report) -> Self {
        // A gateway that answers 200 and then fails puts the real status into the body.
        let telling = status.filter(|status| *status >= 300).or(report.status);
        let (class, decisive) = table::class(telling, report);
        let code = decisive.or_else(|| report.names.first().cloned());
        let retry_after = wait::retry_after(class, report);
        let message = match clean::message(&report.message) {
            text if text.is_empty() => unexplained(telling),
            text => text,
        };
        Self { class, status: telling.or(status), code, retry_after, message }
    }
}

/// What to say of an error that says nothing itself.
fn unexplained(status: Option<u16>) -> String {
    let reason = status
        .and_then(|status| StatusCode::from_u16(status).ok())
        .and_then(|status| status.canonical_reason());
    match (status, reason) {
        (Some(status), Some(reason)) => format!("HTTP {status} {reason}, without explanation"),
        (Some(status), None) => format!("HTTP {status}, without explanation"),
        (None, _) => "the provider reported an error without explanation".to_owned(),
    }
}
