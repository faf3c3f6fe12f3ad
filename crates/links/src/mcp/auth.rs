//! Signing in at servers that want it: OAuth, as the protocol describes it.
//!
//! An [`Account`] is what a server knows us by. It brings the token along, renews it without a word, and asks
//! for a sign-in only where there is a [`Visitor`] who can show a page to the user. A running session has none:
//! it is told that somebody must sign in. `caiman mcp login` and `caiman mcp test` have one.
//!
//! | file | holds |
//! |---|---|
//! | `callback` | the address on this machine that the page leads back to |
//! | `kept` | what the vault holds for a server, bound to its address |
//! | `office` | the server's metadata, registration, and the exchange of codes for tokens |
//! | `signed` | the HTTP client that brings the token along |

mod callback;
mod kept;
mod office;
mod signed;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::{Clock, Secret};
use futures::future::BoxFuture;
use guard::Runner;
use rmcp::transport::auth::WWWAuthenticateParams;
use settings::{Expander, McpServer};
use tokio::sync::Mutex;
use tokio::time::sleep;
use url::Url;

use super::{Outside, Vault};
use kept::{Kept, Registration};
use office::Office;

pub use callback::Callback;
pub(crate) use signed::Signed;

/// How often one account has the user sign in. A server that always wants another scope would never end.
const SIGN_INS: u32 = 3;

/// How often the vault is looked into for a token that another process has renewed.
const LOOKS: u32 = 10;
/// The pause between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Shows the user a page to sign in at.
pub trait Visitor: Send + Sync {
    /// The address the page leads back to.
    fn redirect(&self) -> &str;
    /// Shows the page and waits for the address, query and all, that it led back to.
    fn visit<'a>(&'a self, page: &'a Url) -> BoxFuture<'a, Result<Url, SignInError>>;
}

/// Why nobody is signed in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignInError {
    /// A setting cannot be filled in.
    #[error("mcp.{server}.{key}: {why}")]
    Setting {
        /// The server.
        server: String,
        /// The setting.
        key: &'static str,
        /// Why.
        why: String,
    },
    /// The server does not ask for a sign-in, or does not say where.
    #[error("the server does not say where to sign in; it may need none, or a header with a key")]
    Nowhere,
    /// An address of the sign-in could be read by others on the way.
    #[error("the sign-in leads over {0}, which others can read; it should be https")]
    Unsafe(String),
    /// Another place than before is named, and our own registration would go there.
    #[error("the server now names {now} for the sign-in instead of {before}")]
    Moved {
        /// Where it was before.
        before: String,
        /// Where it is now.
        now: String,
    },
    /// The user, or the page, said no.
    #[error("the sign-in was refused: {0}")]
    Refused(String),
    /// Nobody came back from the page.
    #[error("nobody signed in within {0} s")]
    TimedOut(u64),
    /// The address to come back to is not free.
    #[error("cannot listen on port {port} for the sign-in: {why}")]
    Port {
        /// The port.
        port: u16,
        /// What the system said.
        why: String,
    },
    /// The vault did not take or give the token.
    #[error("cannot keep the token: {0}")]
    Vault(String),
    /// Something on the way did not work.
    #[error("{0}")]
    Failed(String),
}

/// What we are known by at one server.
pub struct Account {
    name: String,
    url: Url,
    ours: Option<Registration>,
    office: Office,
    vault: Arc<dyn Vault>,
    clock: Clock,
    visitor: Option<Arc<dyn Visitor>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: Option<Kept>,
    is_read: bool,
    /// Scopes that were asked for; a server need not grant them.
    asked: Vec<String>,
    sign_ins: u32,
}

/// What a server said to a request that it did not let through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Challenge<'a> {
    /// Its `WWW-Authenticate` header; empty where it sent none.
    pub(crate) header: &'a str,
    /// Whether the token is good and allows too little (403), else it lacks or is no good (401).
    pub(crate) kind: Wanting,
}

/// What a challenge is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanting {
    /// A token, or a newer one.
    Token,
    /// A token that allows more.
    Scope,
}

impl Account {
    /// The account at a server; none where the settings rule OAuth out: with `oauth: false`, or with an
    /// `Authorization` header of their own.
    pub fn of(
        name: &str,
        url: &Url,
        server: &McpServer,
        outside: &Outside,
    ) -> Result<Option<Self>, SignInError> {
        let has_header = server.headers.keys().any(|key| key.eq_ignore_ascii_case("authorization"));
        if server.oauth == Some(false) || (has_header && server.oauth.is_none()) {
            return Ok(None);
        }
        let bad = |key, why: String| SignInError::Setting { server: name.to_owned(), key, why };
        let expander = Expander { env: &outside.env, runner: Some(&Runner) };
        let secret = server.oauth_client_secret.as_ref().map(|secret| expander.secret(secret));
        let secret = secret.transpose().map_err(|it| bad("oauth_client_secret", it.to_string()))?;
        let id = server.oauth_client_id.as_ref().map(|id| expander.text(id)).transpose();
        let id = id.map_err(|error| bad("oauth_client_id", error.to_string()))?;
        let ours = id.filter(|id| !id.is_empty()).map(|id| Registration {
            client_id: id,
            client_secret: secret.flatten().map(|secret| secret.expose().to_owned()),
        });
        Ok(Some(Self {
            name: name.to_owned(),
            url: url.clone(),
            ours,
            office: Office::new(url, outside.dial.clone()),
            vault: outside.vault.clone(),
            clock: outside.clock.clone(),
            visitor: None,
            state: Mutex::default(),
        }))
    }

    /// The same with somebody who can show pages to the user.
    #[must_use]
    pub fn visited_by(mut self, visitor: Arc<dyn Visitor>) -> Self {
        self.visitor = Some(visitor);
        self
    }

    /// Whether a token for this server is kept.
    pub async fn is_signed_in(&self) -> bool {
        let mut state = self.state.lock().await;
        self.read(&mut state).await;
        state.kept.as_ref().is_some_and(|kept| kept.token().is_some())
    }

    /// Has the user sign in, whatever is kept, also for what the server wanted lately. `challenge` is the
    /// server's `WWW-Authenticate` header where it has sent one; without, it is asked.
    pub async fn sign_in(&self, challenge: Option<&str>) -> Result<(), SignInError> {
        let mut state = self.state.lock().await;
        self.read(&mut state).await;
        let scopes = state.kept.as_ref().map(Kept::all_scopes).unwrap_or_default();
        let asked = match challenge {
            Some(_) => None,
            None => self.office.challenge().await,
        };
        let challenge = challenge.or(asked.as_deref());
        if let Some(ours) = &self.ours
            && let Some(fresh) =
                self.office.enter(ours, challenge.filter(|it| !it.is_empty())).await?
        {
            return self.take(&mut state, fresh).await.map(drop);
        }
        self.visit(&mut state, challenge, scopes).await.map(drop)
    }

    /// Forgets the token; tells whether there was one.
    pub async fn forget(&self) -> Result<bool, SignInError> {
        let was_signed_in = self.is_signed_in().await;
        let (vault, name) = (self.vault.clone(), self.name.clone());
        let removed = tokio::task::spawn_blocking(move || vault.remove(&name)).await;
        flat(removed)?;
        *self.state.lock().await = State { is_read: true, ..State::default() };
        Ok(was_signed_in)
    }

    /// The token to send, renewed if it is about to end; none where nobody has signed in.
    pub(crate) async fn token(&self) -> Result<Option<String>, SignInError> {
        let mut state = self.state.lock().await;
        self.read(&mut state).await;
        match &state.kept {
            Some(kept) if kept.ends_soon(self.clock.now()) => self.renew(&mut state, None).await,
            Some(kept) => Ok(kept.token()),
            None => Ok(None),
        }
    }

    /// What to try instead of `sent`, which the server did not take; none where there is nothing to try.
    pub(crate) async fn answer(
        &self,
        sent: Option<&str>,
        challenge: Challenge<'_>,
    ) -> Result<Option<String>, SignInError> {
        let mut state = self.state.lock().await;
        // Somebody may have signed in elsewhere meanwhile.
        state.is_read = state.is_read && self.visitor.is_some();
        self.read(&mut state).await;
        let current = state.kept.as_ref().and_then(Kept::token);
        if current.is_some() && current.as_deref() != sent {
            return Ok(current);
        }
        let params = WWWAuthenticateParams::parse(challenge.header, &self.url);
        let header = Some(challenge.header).filter(|header| !header.is_empty());
        let mut scopes = Vec::new();
        match challenge.kind {
            Wanting::Token if sent.is_some() => {
                let renewed = self.renew(&mut state, header).await?;
                if renewed.as_deref().is_some_and(|token| Some(token) != sent) {
                    return Ok(renewed);
                }
            }
            Wanting::Token => {}
            Wanting::Scope if params.is_insufficient_scope() => {
                let wanted: Vec<String> = params.scope.iter().flat_map(|it| words(it)).collect();
                if !wanted.is_empty() && wanted.iter().all(|scope| state.asked.contains(scope)) {
                    return Ok(None);
                }
                scopes = self.widened(&mut state, wanted).await;
            }
            Wanting::Scope => return Ok(None),
        }
        if challenge.kind == Wanting::Token
            && let Some(ours) = &self.ours
            && let Some(fresh) = self.office.enter(ours, header).await?
        {
            let token = self.take(&mut state, fresh).await?;
            return Ok(token.filter(|token| Some(token.as_str()) != sent));
        }
        if state.sign_ins >= SIGN_INS {
            return Ok(None);
        }
        self.visit(&mut state, Some(challenge.header), scopes).await
    }

    /// The scopes we have and those that are wanted; the vault is told, for the next sign-in.
    async fn widened(&self, state: &mut State, wanted: Vec<String>) -> Vec<String> {
        let Some(kept) = &mut state.kept else { return wanted };
        kept.wanted = wanted;
        let scopes = kept.all_scopes();
        if self.visitor.is_none() {
            // It is a note for later; without it the sign-in asks for less.
            self.keep(kept.clone()).await.ok();
        }
        scopes
    }

    async fn visit(
        &self,
        state: &mut State,
        challenge: Option<&str>,
        scopes: Vec<String>,
    ) -> Result<Option<String>, SignInError> {
        let Some(visitor) = self.visitor.clone() else { return Ok(None) };
        state.sign_ins += 1;
        let errand = office::Errand {
            visitor: visitor.as_ref(),
            challenge,
            scopes,
            ours: self.ours.as_ref(),
            before: state.kept.as_ref(),
        };
        let fresh = self.office.sign_in(errand).await?;
        state.asked.extend(fresh.all_scopes());
        self.take(state, fresh).await
    }

    /// A new token for the old one, without asking anybody. What renews a token is good once, so another process
    /// of ours may have used it and be about to keep what it got.
    async fn renew(
        &self,
        state: &mut State,
        challenge: Option<&str>,
    ) -> Result<Option<String>, SignInError> {
        let Some(old) = state.kept.clone() else { return Ok(None) };
        let renewed = self.office.renew(&old, challenge).await;
        if let Ok(Some(fresh)) = renewed {
            return self.take(state, fresh).await;
        }
        let is_rejected = matches!(renewed, Ok(None)) && old.is_renewable();
        for look in 1..=LOOKS {
            state.is_read = false;
            self.read(state).await;
            let other = state.kept.as_ref().and_then(Kept::token);
            if other.is_some() && other != old.token() {
                return Ok(other);
            }
            if !is_rejected || look == LOOKS {
                break;
            }
            sleep(BETWEEN_LOOKS).await;
        }
        state.kept = Some(old.spent());
        renewed.map(|_| None)
    }

    /// Uses and keeps a token.
    async fn take(&self, state: &mut State, fresh: Kept) -> Result<Option<String>, SignInError> {
        self.keep(fresh.clone()).await?;
        let token = fresh.token();
        state.kept = Some(fresh);
        Ok(token)
    }

    /// Looks into the vault, once. What was kept for another address is not ours to send.
    async fn read(&self, state: &mut State) {
        if std::mem::replace(&mut state.is_read, true) {
            return;
        }
        let (vault, name) = (self.vault.clone(), self.name.clone());
        let secret = tokio::task::spawn_blocking(move || vault.get(&name)).await;
        let text = secret.ok().flatten();
        state.kept = text.and_then(|text| Kept::read(text.expose(), &self.url));
        state.asked = state.kept.as_ref().map(Kept::scopes).unwrap_or_default();
    }

    async fn keep(&self, kept: Kept) -> Result<(), SignInError> {
        let text = kept.text().map_err(|error| SignInError::Vault(error.to_string()))?;
        let (vault, name) = (self.vault.clone(), self.name.clone());
        let secret = Secret::new(text);
        flat(tokio::task::spawn_blocking(move || vault.put(&name, &secret)).await)
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").field("name", &self.name).finish_non_exhaustive()
    }
}

fn flat(done: Result<Result<(), String>, tokio::task::JoinError>) -> Result<(), SignInError> {
    done.unwrap_or_else(|error| Err(error.to_string())).map_err(SignInError::Vault)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().map(str::to_owned)
}
