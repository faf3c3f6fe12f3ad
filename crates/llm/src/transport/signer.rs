//! Proves who sends a request where a plain key does not: AWS signatures, Google tokens.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::{Clock, CommandLine, Env, Paths, RunCommand, Timestamp};
use reqwest::Client;
use reqwest::header::{AUTHORIZATION, HeaderName};

use super::aws::{self, Credentials};
use super::google::{self, Token};
use super::remote::refused;
use super::sigv4::{self, Scope};
use super::{Prepared, bearer, header_value};
use crate::error::Error;
use crate::target::{Auth, Target, Transport};

/// Credentials that end sooner than this are as good as expired: the request must still arrive.
const MARGIN: Duration = Duration::from_mins(2);
/// A renewal may ask the user to log in with a browser.
const RENEWAL_TIMEOUT: Duration = Duration::from_mins(5);

/// Finds the clouds' credentials and remembers them until they expire. One for the whole process.
pub struct Signer {
    env: Env,
    paths: Paths,
    clock: Clock,
    run: Arc<dyn RunCommand>,
    aws: Mutex<HashMap<Option<String>, Credentials>>,
    google: Mutex<Option<Token>>,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").finish_non_exhaustive()
    }
}

/// What Bedrock's transport says about credentials.
#[derive(Clone, Copy)]
struct Bedrock<'a> {
    region: &'a str,
    profile: Option<&'a str>,
    refresh: Option<&'a str>,
}

impl Signer {
    /// Looks nowhere yet.
    pub fn new(env: Env, paths: Paths, clock: Clock, run: Arc<dyn RunCommand>) -> Self {
        Self { env, paths, clock, run, aws: Mutex::default(), google: Mutex::default() }
    }

    /// Signs a request to a target whose [`Auth`] is the cloud's own; leaves others as they are.
    /// Signatures are good for minutes, so each try of a request is authorized anew.
    pub async fn authorize(
        &self,
        http: &Client,
        request: &mut Prepared,
        target: &Target,
    ) -> Result<(), Error> {
        match &target.auth {
            Auth::Anonymous | Auth::Bearer(_) | Auth::Header { .. } => return Ok(()),
            Auth::Cloud => {}
        }
        match &target.transport {
            Transport::Bedrock { region, profile, refresh } => {
                let (profile, refresh) = (profile.as_deref(), refresh.as_deref());
                let credentials = self.aws(http, Bedrock { region, profile, refresh }).await?;
                let scope = Scope { region, service: "bedrock", at: self.clock.now() };
                sigv4::sign(request, &credentials, scope)
            }
            Transport::Vertex { .. } => {
                let token = self.google(http).await?;
                request.headers.insert(AUTHORIZATION, bearer(&token.secret)?);
                if let Some(project) = &token.quota_project {
                    let name = HeaderName::from_static("x-goog-user-project");
                    request.headers.insert(name, header_value("x-goog-user-project", project)?);
                }
                Ok(())
            }
            Transport::Direct | Transport::Azure { .. } | Transport::Demo => {
                let message = format_args!("provider {} has no key", target.provider);
                Err(refused(message))
            }
        }
    }

    /// Forgets what was found for `target`, and runs its renewal command if it has one. For a
    /// provider that calls our credentials expired; tells whether another try is worth it.
    pub async fn renew(&self, target: &Target) -> Result<bool, Error> {
        if target.auth != Auth::Cloud {
            return Ok(false);
        }
        match &target.transport {
            Transport::Bedrock { profile, refresh, .. } => {
                lock(&self.aws).remove(profile);
                if let Some(command) = refresh {
                    self.refresh(command).await?;
                }
                Ok(true)
            }
            Transport::Vertex { .. } => Ok(lock(&self.google).take().is_some()),
            Transport::Direct | Transport::Azure { .. } | Transport::Demo => Ok(false),
        }
    }

    async fn aws(&self, http: &Client, target: Bedrock<'_>) -> Result<Credentials, Error> {
        let key = target.profile.map(str::to_owned);
        let known = lock(&self.aws).get(&key).cloned();
        if let Some(known) = known.filter(|known| self.is_fresh(known.expires)) {
            return Ok(known);
        }
        let chain = aws::Chain {
            http,
            env: &self.env,
            paths: &self.paths,
            clock: &self.clock,
            run: &self.run,
            region: target.region,
        };
        let found = match (chain.find(target.profile).await, target.refresh) {
            (Ok(found), _) if self.is_fresh(found.expires) => found,
            (Ok(_) | Err(_), Some(command)) => {
                self.refresh(command).await?;
                chain.find(target.profile).await?
            }
            (found, None) => found?,
        };
        lock(&self.aws).insert(key, found.clone());
        Ok(found)
    }

    async fn google(&self, http: &Client) -> Result<Token, Error> {
        let known = lock(&self.google).clone();
        if let Some(known) = known.filter(|known| self.is_fresh(Some(known.expires))) {
            return Ok(known);
        }
        let (env, paths, clock) = (&self.env, &self.paths, &self.clock);
        let token = google::Chain { http, env, paths, clock }.find().await?;
        *lock(&self.google) = Some(token.clone());
        Ok(token)
    }

    async fn refresh(&self, command: &str) -> Result<(), Error> {
        let mut line = CommandLine::shell(command, &self.env);
        line.timeout = RENEWAL_TIMEOUT;
        aws::run(&self.run, line).await.map(drop)
    }

    fn is_fresh(&self, expires: Option<Timestamp>) -> bool {
        expires.is_none_or(|expires| expires.since(self.clock.now()) > MARGIN)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
