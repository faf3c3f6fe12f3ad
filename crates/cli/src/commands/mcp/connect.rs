//! One connection to a server, as `list --check`, `login` and `test` open it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{Env, TaskScope};
use guard::Runner;
use links::child::Log;
use links::mcp::connection::{About, Connection, Failure as Trouble, Lifecycle, Opening};
use links::mcp::{Menu, Outside, Visitor};
use settings::{Config, Expander, McpServer};

use crate::app::App;
use crate::commands::session::text;
use crate::failure::{Failure, Kind};
use crate::{outside, wiring};

/// A server that answers, and what it lends.
pub(super) struct Connected {
    pub(super) connection: Connection,
    pub(super) about: About,
    pub(super) menu: Menu,
    /// From the first word to the last page of its lists.
    pub(super) took: Duration,
}

/// A server to be connected to.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) name: String,
    pub(super) settings: McpServer,
    pub(super) outside: Outside,
    pub(super) lifecycle: Lifecycle,
    /// Who can have the user sign in.
    pub(super) visitor: Option<Arc<dyn Visitor>>,
    /// What it complains of.
    pub(super) log: Log,
}

impl Server {
    pub(super) fn new(name: &str, settings: &McpServer, outside: &Outside) -> Self {
        Self {
            name: name.to_owned(),
            settings: settings.clone(),
            outside: outside.clone(),
            lifecycle: Lifecycle::Newest,
            visitor: None,
            log: Log::default(),
        }
    }

    /// Connects and has everything listed.
    pub(super) async fn connect(&self, scope: &TaskScope) -> Result<Connected, Trouble> {
        let began = Instant::now();
        let connection = Connection::open(self.opening(), scope).await?;
        let menu = connection.menu().await?;
        let about = connection.about().clone();
        Ok(Connected { connection, about, menu, took: began.elapsed() })
    }

    fn opening(&self) -> Opening {
        Opening {
            name: self.name.clone(),
            server: self.settings.clone(),
            outside: self.outside.clone(),
            lifecycle: self.lifecycle,
            visitor: self.visitor.clone(),
            log: self.log.clone(),
        }
    }
}

/// What servers are lent by this command.
pub(super) fn lent(app: &App, settings: &Config) -> Outside {
    outside::of(app, settings, &environment(app, settings))
}

/// The environment with what the settings add to it.
pub(super) fn environment(app: &App, settings: &Config) -> Env {
    settings.environment(Expander { env: &app.env, runner: Some(&Runner) }).0
}

/// Runs `work` until it is done or the user stops it; whatever was started ends either way.
pub(super) fn run<T>(
    work: impl AsyncFnOnce(TaskScope) -> Result<T, Failure>,
) -> Result<T, Failure> {
    wiring::runtime()?.block_on(async {
        let scope = TaskScope::new();
        let stopped = |kind| Failure::new(kind, "stopped");
        let done = tokio::select! {
            done = work(scope.clone()) => done,
            () = wiring::interrupt() => Err(stopped(Kind::Cancelled)),
            () = wiring::terminate() => Err(stopped(Kind::Terminated)),
        };
        scope.close().await;
        done
    })
}

/// What a server's trouble means to the user.
pub(super) fn failure(name: &str, trouble: &Trouble) -> Failure {
    let why = text::line(&trouble.to_string());
    let failure = |kind| Failure::new(kind, format!("{name} does not work: {why}"));
    match trouble {
        Trouble::SignIn { .. } => failure(Kind::Denied).hint(format!("caiman mcp login {name}")),
        Trouble::TimedOut { .. } => failure(Kind::Timeout)
            .hint("--timeout, or timeout in its settings, lets it take longer"),
        Trouble::Broken(_) | Trouble::Refused { .. } => failure(Kind::Provider),
        Trouble::Cancelled => failure(Kind::Cancelled),
    }
}
