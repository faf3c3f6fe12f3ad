//! What the vault holds for a server. It names the address it is for, and goes to no other.

use std::time::Duration;

use base::clock::Timestamp;
use rmcp::transport::auth::{OAuthTokenResponse, StoredCredentials};
use serde::{Deserialize, Serialize};
use url::Url;

/// A token this near to its end is renewed before it is sent.
const MARGIN: Duration = Duration::from_secs(30);

/// What we are registered as.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Registration {
    pub(super) client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
}

/// What is kept for a server. Without a token it still tells what we are registered as.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Kept {
    url: Url,
    pub(super) registration: Registration,
    /// The address our registration leads back to.
    pub(super) redirect: String,
    pub(super) credentials: StoredCredentials,
    /// Scopes the server wanted when nobody could sign in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) wanted: Vec<String>,
}

impl Kept {
    pub(super) fn new(
        url: &Url,
        registration: Registration,
        redirect: &str,
        credentials: StoredCredentials,
    ) -> Self {
        let redirect = redirect.to_owned();
        Self { url: url.clone(), registration, redirect, credentials, wanted: Vec::new() }
    }

    /// Reads what was kept, if it was kept for this address.
    pub(super) fn read(text: &str, url: &Url) -> Option<Self> {
        let kept: Self = serde_json::from_str(text).ok()?;
        (kept.url == *url).then_some(kept)
    }

    pub(super) fn text(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// Who gave the token.
    pub(super) fn issuer(&self) -> Option<&str> {
        self.credentials.issuer.as_deref()
    }

    /// The token.
    pub(super) fn token(&self) -> Option<String> {
        Some(self.field("access_token")?.as_str()?.to_owned())
    }

    /// Whether it can be renewed without asking anybody.
    pub(super) fn is_renewable(&self) -> bool {
        self.field("refresh_token").is_some()
    }

    /// Whether the token is at its end, or nearly.
    pub(super) fn ends_soon(&self, now: Timestamp) -> bool {
        let lasts = self.field("expires_in").and_then(|lasts| lasts.as_u64());
        let (Some(lasts), Some(since)) = (lasts, self.credentials.token_received_at) else {
            return false;
        };
        let since = i64::try_from(since.saturating_mul(1000)).unwrap_or(i64::MAX);
        now.since(Timestamp::from_millis(since)) + MARGIN >= Duration::from_secs(lasts)
    }

    /// The scopes we have.
    pub(super) fn scopes(&self) -> Vec<String> {
        self.credentials.granted_scopes.clone()
    }

    /// The scopes we have and those the server wanted besides.
    pub(super) fn all_scopes(&self) -> Vec<String> {
        let mut scopes = self.scopes();
        for scope in &self.wanted {
            if !scopes.contains(scope) {
                scopes.push(scope.clone());
            }
        }
        scopes
    }

    /// The same with a new token.
    pub(super) fn with(&self, credentials: StoredCredentials) -> Self {
        Self { credentials, ..self.clone() }
    }

    /// The same without the token, which is good no more.
    pub(super) fn spent(mut self) -> Self {
        self.credentials.token_response = None;
        self
    }

    /// A field of the token's answer. Its own type keeps the accessors in a crate we do not depend on.
    fn field(&self, name: &str) -> Option<serde_json::Value> {
        let answer: &OAuthTokenResponse = self.credentials.token_response.as_ref()?;
        serde_json::to_value(answer).ok()?.get(name).cloned()
    }
}
