//! What MCP servers are lent by this program: HTTP clients, a place for tokens, a folder for what they told.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::{Env, Secret};
use guard::Runner;
use links::mcp::{Dial, Outside, Vault};
use llm::Http;
use llm::credentials::Credentials;
use settings::Config;
use settings::provider::Network;

use crate::app::App;

/// What MCP servers of this process are lent.
pub(crate) fn of(app: &App, settings: &Config, env: &Env) -> Outside {
    let http = Http::new();
    let dial: Dial =
        Arc::new(move |url| http.client(url, &Network::default()).map_err(|error| error.message));
    let credentials = credentials(app, env);
    Outside {
        env: env.clone(),
        child_env: guard::process::child_env(env),
        folder: app.cwd.clone(),
        paths: app.paths.clone(),
        cache: app.paths.cache().join("mcp"),
        dial,
        vault: Arc::new(Keys(credentials)),
        bans: settings.bans.clone(),
        clock: app.clock.clone(),
    }
}

/// The servers that tokens are kept for. Nothing is unlocked to tell.
pub(crate) fn signed_in(app: &App) -> BTreeSet<String> {
    let listed = credentials(app, &app.env).list().unwrap_or_default().into_iter();
    listed.filter_map(|it| Some(it.provider.strip_prefix(PREFIX)?.to_owned())).collect()
}

/// Forgets the token of a server; tells whether there was one. The text of a failure is for the user.
pub(crate) fn forget(app: &App, name: &str) -> Result<bool, String> {
    let removed = credentials(app, &app.env).remove(&Keys::name(name));
    removed.map(|gone| gone.is_some()).map_err(|error| error.to_string())
}

fn credentials(app: &App, env: &Env) -> Credentials {
    Credentials::new(app.paths.credentials(), env, Arc::new(Runner))
}

/// What tells a server's token from a provider's key.
const PREFIX: &str = "mcp:";

/// Tokens where the keys of providers are, under names no provider has.
struct Keys(Credentials);

impl Keys {
    fn name(name: &str) -> String {
        format!("{PREFIX}{name}")
    }
}

impl Vault for Keys {
    fn get(&self, name: &str) -> Option<Secret> {
        self.0.get(&Self::name(name)).ok().flatten()
    }

    fn put(&self, name: &str, secret: &Secret) -> Result<(), String> {
        let stored = self.0.put(&Self::name(name), secret);
        stored.map(drop).map_err(|error| error.to_string())
    }

    fn remove(&self, name: &str) -> Result<(), String> {
        self.0.remove(&Self::name(name)).map(drop).map_err(|error| error.to_string())
    }
}
