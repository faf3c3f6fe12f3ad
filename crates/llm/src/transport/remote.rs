//! Small questions to token and metadata servers.

use std::fmt;
use std::time::Duration;

use reqwest::RequestBuilder;

use crate::error::{Class, Error};

/// Long enough for a token server far away.
pub(super) const TOKEN_TIMEOUT: Duration = Duration::from_secs(15);
/// A metadata server is next door or not there at all.
pub(super) const METADATA_TIMEOUT: Duration = Duration::from_secs(1);
/// Most that is told of a refusal.
const COMPLAINT_LIMIT: usize = 300;

/// Sends `request` and returns the body of a good answer. `what` names the server in errors.
pub(super) async fn ask(
    request: RequestBuilder,
    timeout: Duration,
    what: &str,
) -> Result<String, Error> {
    let failed = |error: reqwest::Error| {
        let class = if error.is_timeout() { Class::Timeout } else { Class::Network };
        Error::new(class, format!("{what}: {}", error.without_url()))
    };
    let answer = request.timeout(timeout).send().await.map_err(failed)?;
    let status = answer.status();
    let body = answer.text().await.map_err(failed)?;
    if status.is_success() {
        return Ok(body);
    }
    let class = if status.is_server_error() { Class::Server } else { Class::Auth };
    let complaint: String = body.trim().chars().take(COMPLAINT_LIMIT).collect();
    let message = format!("{what} answered {status}: {complaint}");
    Err(Error { status: Some(status.as_u16()), ..Error::new(class, message) })
}

/// No usable credentials, and why.
pub(super) fn refused(why: impl fmt::Display) -> Error {
    Error::new(Class::Auth, why.to_string())
}

/// A moment as RFC 3339 writes it.
pub(super) fn moment(text: &str) -> Option<base::Timestamp> {
    let parsed: jiff::Timestamp = text.trim().parse().ok()?;
    Some(base::Timestamp::from_millis(parsed.as_millisecond()))
}
