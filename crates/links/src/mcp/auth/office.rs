//! Where tokens come from: metadata, registration, the exchange of codes, renewal. The library does the
//! protocol; here is what it is given, and what is not left to it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationRequest,
    AuthorizationSession, ClientCredentialsConfig, CredentialStore, InMemoryCredentialStore,
    OAuthClientConfig, OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRedirectPolicy,
    OAuthHttpRequest,
};
use url::{Host, Url};

use super::kept::{Kept, Registration};
use super::{SignInError, Visitor};
use crate::mcp::Dial;
use crate::mcp::wire::{Astray, follow};

/// What we call ourselves where we register.
const CLIENT_NAME: &str = "Caiman";
/// How long one request of a sign-in may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most bytes that are taken of an answer.
const ANSWER_LIMIT: usize = 1024 * 1024;

/// Makes tokens for one server.
pub(super) struct Office {
    url: Url,
    http: Arc<Http>,
}

/// A sign-in to be made.
pub(super) struct Errand<'a> {
    pub(super) visitor: &'a dyn Visitor,
    /// The header that asked for it; none where the user did.
    pub(super) challenge: Option<&'a str>,
    /// The scopes to ask for; those the server names where there are none.
    pub(super) scopes: Vec<String>,
    /// What the user has registered us as.
    pub(super) ours: Option<&'a Registration>,
    /// What is kept of an earlier sign-in.
    pub(super) before: Option<&'a Kept>,
}

impl Office {
    pub(super) fn new(url: &Url, dial: Dial) -> Self {
        Self { url: url.clone(), http: Arc::new(Http { server: url.clone(), dial }) }
    }

    /// Has the user sign in.
    pub(super) async fn sign_in(&self, errand: Errand<'_>) -> Result<Kept, SignInError> {
        let mut manager = self.manager().await?;
        let header = errand.challenge.filter(|header| !header.is_empty());
        let found = manager.resolve_metadata_from_challenge(header).await.map_err(failed)?;
        // Old servers publish nothing and are believed only when they have sent us away.
        if errand.challenge.is_none() && !found.source.is_discovered() {
            return Err(SignInError::Nowhere);
        }
        let metadata = found.metadata;
        self.vet(&metadata)?;
        let issuer = metadata.issuer.clone();
        let takes_documents = takes_documents(&metadata);
        manager.set_metadata(metadata);
        let store = InMemoryCredentialStore::new();
        manager.set_credential_store(store.clone());

        let redirect = errand.visitor.redirect();
        let scopes = if errand.scopes.is_empty() {
            manager.select_initial_scopes(&[]).await
        } else {
            errand.scopes.clone()
        };
        let known = match known(&errand, issuer.as_deref(), takes_documents)? {
            Some(known) => known,
            None => register(&mut manager, redirect, &scopes).await?,
        };
        let request = AuthorizationRequest::new(redirect)
            .with_scopes(scopes)
            .with_preregistered_client(&known.client_id);
        let request = match &known.client_secret {
            Some(secret) => request.with_client_secret(secret),
            None => request,
        };
        let session = AuthorizationSession::new(manager, request).await;
        let session = session.map_err(|(_, error)| failed(error))?;
        let page = session.get_authorization_url().parse().map_err(bad_address)?;
        let back = errand.visitor.visit(&page).await?;
        session.handle_callback_url(back.as_str()).await.map_err(failed)?;
        let credentials = store.load().await.map_err(failed)?;
        let credentials = credentials.ok_or_else(|| SignInError::Failed(NO_TOKEN.to_owned()))?;
        Ok(Kept::new(&self.url, known, redirect, credentials))
    }

    /// A token for the secret that the user has registered us with, where the office gives tokens for that alone:
    /// no user is asked there. None where it is not so.
    pub(super) async fn enter(
        &self,
        ours: &Registration,
        challenge: Option<&str>,
    ) -> Result<Option<Kept>, SignInError> {
        let Some(secret) = &ours.client_secret else { return Ok(None) };
        let mut manager = self.manager().await?;
        let found = manager.resolve_metadata_from_challenge(challenge).await.map_err(failed)?;
        if !is_for_programs(&found.metadata) {
            return Ok(None);
        }
        self.vet(&found.metadata)?;
        manager.set_metadata(found.metadata);
        let store = InMemoryCredentialStore::new();
        manager.set_credential_store(store.clone());
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: ours.client_id.clone(),
            client_secret: secret.clone(),
            scopes: manager.select_initial_scopes(&[]).await,
            resource: Some(self.url.to_string()),
        };
        manager.validate_client_credentials_metadata(&config).map_err(failed)?;
        manager.configure_client_credentials(&config).map_err(failed)?;
        manager.exchange_client_credentials(&config).await.map_err(failed)?;
        let credentials = store.load().await.map_err(failed)?;
        Ok(credentials.map(|credentials| Kept::new(&self.url, ours.clone(), "", credentials)))
    }

    /// What the server says to a stranger: its challenge, empty where it only says no; none where it lets him in.
    pub(super) async fn challenge(&self) -> Option<String> {
        let hello = serde_json::json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": CLIENT_NAME, "version": env!("CARGO_PKG_VERSION")},
            },
        });
        let client = (self.http.dial)(&self.url).ok()?;
        let request = client.post(self.url.clone()).timeout(PATIENCE);
        let request = request.header(http::header::ACCEPT, "application/json, text/event-stream");
        let response = follow(&client, request.json(&hello).build().ok()?).await.ok()?;
        if response.status() != http::StatusCode::UNAUTHORIZED {
            return None;
        }
        let header = response.headers().get(http::header::WWW_AUTHENTICATE);
        Some(header.and_then(|header| header.to_str().ok()).unwrap_or_default().to_owned())
    }

    /// A new token for an old one; none where the user must sign in again.
    pub(super) async fn renew(
        &self,
        old: &Kept,
        challenge: Option<&str>,
    ) -> Result<Option<Kept>, SignInError> {
        if !old.is_renewable() {
            return Ok(None);
        }
        let mut manager = self.manager().await?;
        let found = manager.resolve_metadata_from_challenge(challenge).await.map_err(failed)?;
        // What one office gave is not shown to another.
        if found.metadata.issuer.as_deref() != old.issuer() {
            return Ok(None);
        }
        self.vet(&found.metadata)?;
        manager.set_metadata(found.metadata);
        let store = InMemoryCredentialStore::new();
        store.save(old.credentials.clone()).await.map_err(failed)?;
        manager.set_credential_store(store.clone());
        let config = OAuthClientConfig::new(&old.registration.client_id, &old.redirect);
        let config = match &old.registration.client_secret {
            Some(secret) => config.with_client_secret(secret),
            None => config,
        };
        manager.configure_client(config).map_err(failed)?;
        match manager.refresh_token().await {
            Ok(_) => {}
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => {
                return Ok(None);
            }
            Err(error) => return Err(failed(error)),
        }
        let credentials = store.load().await.map_err(failed)?;
        Ok(credentials.map(|credentials| old.with(credentials)))
    }

    async fn manager(&self) -> Result<AuthorizationManager, SignInError> {
        let made = AuthorizationManager::new_with_oauth_http_client(
            self.url.clone(),
            self.http.clone() as Arc<dyn OAuthHttpClient>,
        );
        made.await.map_err(failed)
    }

    /// Secrets and codes go over no wire that others can read.
    fn vet(&self, metadata: &AuthorizationMetadata) -> Result<(), SignInError> {
        let ends = [&metadata.authorization_endpoint, &metadata.token_endpoint];
        for end in ends.into_iter().chain(&metadata.registration_endpoint) {
            let end: Url = end.parse().map_err(bad_address)?;
            if !is_safe(&end, &self.url) {
                return Err(SignInError::Unsafe(origin(&end)));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Office {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Office")
    }
}

const NO_TOKEN: &str = "the sign-in gave no token";

/// What we are registered as already: by the user, by a document of the user's, or since the last time.
fn known(
    errand: &Errand<'_>,
    issuer: Option<&str>,
    takes_documents: bool,
) -> Result<Option<Registration>, SignInError> {
    let before = errand.before;
    match errand.ours {
        Some(ours) if is_document(&ours.client_id) && takes_documents => {
            return Ok(Some(ours.clone()));
        }
        Some(ours) if !is_document(&ours.client_id) => {
            // The user has registered us at one office; its secret is not for the next that a server names.
            if let Some(before) = before.and_then(Kept::issuer)
                && Some(before) != issuer
            {
                let now = issuer.unwrap_or("another address").to_owned();
                return Err(SignInError::Moved { before: before.to_owned(), now });
            }
            return Ok(Some(ours.clone()));
        }
        Some(_) | None => {}
    }
    let same = before
        .filter(|before| before.issuer() == issuer && before.redirect == errand.visitor.redirect());
    Ok(same.map(|before| before.registration.clone()))
}

/// Whether an id is the address of a document about us.
fn is_document(client_id: &str) -> bool {
    client_id.starts_with("https://")
}

fn takes_documents(metadata: &AuthorizationMetadata) -> bool {
    let says = metadata.additional_fields.get("client_id_metadata_document_supported");
    says.and_then(serde_json::Value::as_bool).unwrap_or(false)
}

/// Whether tokens are given to programs for their secret, and to nobody who comes from a page.
fn is_for_programs(metadata: &AuthorizationMetadata) -> bool {
    let grants = metadata.additional_fields.get("grant_types_supported");
    let gives = |grant: &str| {
        let all = grants.and_then(serde_json::Value::as_array);
        all.is_some_and(|all| all.iter().any(|it| it == grant))
    };
    gives("client_credentials") && !gives("authorization_code")
}

async fn register(
    manager: &mut AuthorizationManager,
    redirect: &str,
    scopes: &[String],
) -> Result<Registration, SignInError> {
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let registered = manager.register_client(CLIENT_NAME, redirect, &scopes).await;
    let config = registered.map_err(|error| {
        SignInError::Failed(format!(
            "the server did not register us: {}; with an id of your own, set oauth_client_id",
            told(&error)
        ))
    })?;
    Ok(Registration { client_id: config.client_id, client_secret: config.client_secret })
}

/// Whether what is sent there stays between us: encrypted, on this machine, or with a server that the user has
/// chosen to reach in the open.
fn is_safe(end: &Url, server: &Url) -> bool {
    let is_here = match end.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let is_chosen = server.scheme() == "http" && end.host() == server.host();
    end.scheme() == "https" || (end.scheme() == "http" && (is_here || is_chosen))
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn failed(error: AuthError) -> SignInError {
    if let AuthError::AuthorizationFailed(why) = &error {
        return SignInError::Refused(line(why));
    }
    SignInError::Failed(told(&error))
}

fn told(error: &AuthError) -> String {
    line(&error.to_string())
}

fn bad_address(error: url::ParseError) -> SignInError {
    SignInError::Failed(format!("the server names a bad address for the sign-in: {error}"))
}

/// A stranger's words as one short line.
fn line(text: &str) -> String {
    const LONGEST: usize = 300;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

/// The library's requests over our clients. They are led on where the library lets them be, within one server: it
/// does not let those that hold a token, a code or a secret.
struct Http {
    server: Url,
    dial: Dial,
}

/// Why a request of a sign-in was not made, or its answer not taken.
#[derive(Debug, thiserror::Error)]
enum HttpError {
    #[error("{0} could be read by others on the way")]
    Unsafe(String),
    #[error("{0}")]
    Dial(String),
    #[error("no answer within {} s", PATIENCE.as_secs())]
    TimedOut,
    #[error("the answer is larger than {ANSWER_LIMIT} bytes")]
    TooLarge,
    #[error(transparent)]
    Astray(#[from] Astray),
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    #[error(transparent)]
    Shape(#[from] http::Error),
}

impl OAuthHttpClient for Http {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let answer = tokio::time::timeout(PATIENCE, self.send(request)).await;
            answer.unwrap_or(Err(HttpError::TimedOut)).map_err(Into::into)
        })
    }
}

impl Http {
    async fn send(&self, asked: OAuthHttpRequest) -> Result<http::Response<Vec<u8>>, HttpError> {
        let request = reqwest::Request::try_from(asked.request)?;
        if !is_safe(request.url(), &self.server) {
            return Err(HttpError::Unsafe(origin(request.url())));
        }
        let client = (self.dial)(request.url()).map_err(HttpError::Dial)?;
        let mut response = if asked.redirect_policy == OAuthHttpRedirectPolicy::Follow {
            follow(&client, request).await?
        } else {
            client.execute(request).await?
        };
        let mut builder = http::Response::builder().status(response.status());
        for (name, value) in response.headers() {
            builder = builder.header(name, value);
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > ANSWER_LIMIT {
                return Err(HttpError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(builder.body(body)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_over_no_open_wire() {
        let safe =
            |end: &str, server: &str| is_safe(&end.parse().unwrap(), &server.parse().unwrap());
        let (far, near) = ("https://mcp.example/x", "http://10.0.0.5:8080/mcp");
        assert!(
            safe("https://auth.example/token", far) && safe("https://auth.example/token", near)
        );
        assert!(safe("http://localhost:9/token", far) && safe("http://127.0.0.1/token", far));
        assert!(safe("http://10.0.0.5:9/token", near) && safe("http://[::1]/token", far));
        assert!(!safe("http://auth.example/token", far) && !safe("http://10.0.0.6/token", near));
        assert!(!safe("http://mcp.example/token", far) && !safe("file:///etc/passwd", far));
        assert!(!safe("http://localhost.evil.example/", far) && !safe("javascript:alert(1)", near));
    }

    #[test]
    fn strangers_words_are_one_short_line() {
        assert_eq!(line("a\n\u{1b}[2Jb\tc"), "a [2Jb c");
        assert_eq!(line(&"x".repeat(5_000)).len(), 300);
    }
}
