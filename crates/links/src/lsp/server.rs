//! One server for one root: asleep until it is needed, started again when it breaks, put to sleep when idle.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::TaskScope;
use base::protocol::{ServerKind, ServerState};
use guard::start::ProgramStart;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::LspError;
use super::catalog::Spec;
use super::client::Client;
use crate::breaks::Breaks;
use crate::child::Log;

/// How often a server may break lately before it is left alone.
const BREAKS: usize = 5;

/// Says how a server's program starts, each time it does.
#[derive(Clone)]
pub(crate) struct Begin(pub(crate) Arc<dyn Fn() -> io::Result<ProgramStart> + Send + Sync>);

impl std::fmt::Debug for Begin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Begin")
    }
}

/// One server for one root.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) spec: Arc<Spec>,
    pub(crate) root: PathBuf,
    begin: Begin,
    scope: TaskScope,
    /// Nobody has used it for so long: it is put to sleep.
    idle: Duration,
    life: watch::Sender<Life>,
    past: Mutex<Past>,
}

/// What becomes of a server.
#[derive(Debug, Clone)]
enum Life {
    Asleep,
    Starting { since: Instant },
    Ready(Arc<Client>),
    Broken { why: String, at: Instant },
}

/// What is remembered of a server beyond one life.
#[derive(Debug)]
struct Past {
    breaks: Breaks,
    used: Instant,
    log: Log,
    start: Start,
    /// Ends the life it has now.
    end: CancellationToken,
}

/// Whether it has ever begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Untried,
    Failed,
    Succeeded,
}

impl Start {
    /// One that has begun once is trusted to begin again.
    fn fail(&mut self) {
        if *self == Self::Untried {
            *self = Self::Failed;
        }
    }
}

impl Server {
    pub(crate) fn new(
        spec: Arc<Spec>,
        root: PathBuf,
        begin: Begin,
        kept: (&TaskScope, Duration),
    ) -> Self {
        let (scope, idle) = kept;
        let past = Past {
            breaks: Breaks::default(),
            used: Instant::now(),
            log: Log::default(),
            start: Start::Untried,
            end: CancellationToken::new(),
        };
        Self {
            spec,
            root,
            begin,
            scope: scope.child(),
            idle,
            life: watch::channel(Life::Asleep).0,
            past: Mutex::new(past),
        }
    }

    /// Starts it unless it runs, or has broken too lately or too often.
    pub(crate) fn wake(self: &Arc<Self>) {
        self.past().used = Instant::now();
        let (now, pause) = (Instant::now(), self.pause());
        let woken = self.life.send_if_modified(|life| {
            let may = match life {
                Life::Asleep => true,
                Life::Broken { at, .. } => pause.is_some_and(|pause| now >= *at + pause),
                Life::Starting { .. } | Life::Ready(_) => false,
            };
            if may {
                *life = Life::Starting { since: now };
            }
            may
        });
        if woken {
            let (server, scope) = (self.clone(), self.scope.child());
            // Not the token of its processes: a life that lost them still has to say so.
            let end = self.scope.token().child_token();
            self.past().end = end.clone();
            self.scope.spawn_settling(async move {
                end.run_until_cancelled(server.live(&scope)).await;
                scope.close().await;
            });
        }
    }

    /// How long it is left alone after it broke; none for good.
    fn pause(&self) -> Option<Duration> {
        match self.past().breaks.recent() {
            // The first time may be anybody's fault.
            0 | 1 => Some(Duration::ZERO),
            BREAKS.. => None,
            several => Some(Duration::from_secs(1 << (several - 2))),
        }
    }

    /// One life, from its start to its end.
    async fn live(self: &Arc<Self>, scope: &TaskScope) {
        let (spec, root) = (self.spec.clone(), self.root.clone());
        // Reads files: whether the user trusts the project now.
        let begin = self.begin.clone();
        let planned = tokio::task::spawn_blocking(move || (begin.0)()).await;
        let start = match planned.unwrap_or_else(|error| Err(io::Error::other(error))) {
            Ok(start) => start,
            Err(error) => return self.broke(format!("it does not start: {error}")),
        };
        let client = match Client::start(spec, root, start, scope.clone()).await {
            Ok(client) => Arc::new(client),
            Err(error) => {
                self.past().start.fail();
                scope.close().await;
                // The error names the server; so does whoever says that it is broken.
                return self.broke(if let LspError::Start { why, .. } = &error {
                    format!("it does not start: {why}")
                } else {
                    error.to_string()
                });
            }
        };
        {
            let mut past = self.past();
            past.start = Start::Succeeded;
            // Whoever has waited for it uses it from now on.
            past.used = Instant::now();
        }
        self.life.send_replace(Life::Ready(client.clone()));
        let why = tokio::select! {
            why = client.lost() => why,
            () = self.falls_idle() => {
                self.sleep();
                client.lost().await
            }
        };
        let is_ours = |life: &Life| matches!(life, Life::Ready(ours) if Arc::ptr_eq(ours, &client));
        let lines = client.child.log().lines();
        scope.close().await;
        // Whoever put it to sleep has said so before.
        if is_ours(&self.life.borrow()) {
            for line in lines.iter().rev().take(5).rev() {
                self.past().log.note(line);
            }
            self.broke(why);
        }
    }

    /// Waits until nobody has used it for long.
    async fn falls_idle(&self) {
        loop {
            let due = self.used() + self.idle;
            if due <= Instant::now() {
                return;
            }
            sleep_until(due).await;
        }
    }

    fn broke(&self, why: String) {
        let at = Instant::now();
        tracing::warn!(server = %self.spec.name, root = %self.root.display(), %why, "a language server broke");
        {
            let mut past = self.past();
            past.breaks.note();
            past.log.note(&why);
        }
        self.life.send_replace(Life::Broken { why, at });
    }

    /// The running server; wakes it, and waits for it until `deadline`. One that has been starting for
    /// longer than `still` is not waited for.
    pub(crate) async fn client(
        self: &Arc<Self>,
        deadline: Instant,
        still: Duration,
    ) -> Result<Arc<Client>, LspError> {
        self.wake();
        let name = || self.spec.name.clone();
        let mut life = self.life.subscribe();
        let starting = |life: &Life| match life {
            Life::Starting { since } => Some(*since),
            Life::Asleep | Life::Ready(_) | Life::Broken { .. } => None,
        };
        let since = starting(&life.borrow());
        if since.is_some_and(|since| since.elapsed() > still) {
            return Err(LspError::Slow { server: name() });
        }
        let waited = timeout_at(deadline, life.wait_for(|life| starting(life).is_none())).await;
        let Ok(Ok(life)) = waited else { return Err(LspError::Slow { server: name() }) };
        match &*life {
            Life::Ready(client) if !client.is_lost() => Ok(client.clone()),
            Life::Broken { why, .. } => Err(LspError::Broken { server: name(), why: why.clone() }),
            Life::Ready(_) | Life::Asleep | Life::Starting { .. } => {
                Err(LspError::Slow { server: name() })
            }
        }
    }

    /// Whether it has been started and has never begun.
    pub(crate) fn has_failed_to_start(&self) -> bool {
        self.past().start == Start::Failed
    }

    /// Whether it runs or is about to.
    pub(crate) fn is_at_work(&self) -> bool {
        match &*self.life.borrow() {
            Life::Starting { .. } | Life::Ready(_) => true,
            Life::Asleep | Life::Broken { .. } => false,
        }
    }

    /// The server, if it runs.
    pub(crate) fn running(&self) -> Option<Arc<Client>> {
        match &*self.life.borrow() {
            Life::Ready(client) => Some(client.clone()),
            Life::Asleep | Life::Starting { .. } | Life::Broken { .. } => None,
        }
    }

    /// When it was used last.
    pub(crate) fn used(&self) -> Instant {
        self.past().used
    }

    /// Puts it to sleep, politely and in the background.
    pub(crate) fn sleep(self: &Arc<Self>) {
        if let Some(client) = self.lay_down() {
            self.scope.spawn_settling(async move { client.stop().await });
        }
    }

    /// Starts it anew, whatever it has done before.
    pub(crate) async fn restart(self: &Arc<Self>) {
        self.past().breaks.clear();
        if let Some(client) = self.lay_down() {
            client.kill().await;
        } else {
            // One that is still starting, if it is.
            self.past().end.cancel();
            self.life.send_replace(Life::Asleep);
        }
        self.wake();
    }

    /// Ends it politely.
    pub(crate) async fn stop(&self) {
        if let Some(client) = self.lay_down() {
            client.stop().await;
        }
    }

    /// Takes the running server out of use.
    fn lay_down(&self) -> Option<Arc<Client>> {
        let client = self.running();
        self.life.send_if_modified(|life| match life {
            Life::Ready(_) | Life::Broken { .. } => {
                *life = Life::Asleep;
                true
            }
            Life::Asleep | Life::Starting { .. } => false,
        });
        client
    }

    /// How it is, for a pane.
    pub(crate) fn state(&self) -> ServerState {
        let (state, more) = match &*self.life.borrow() {
            Life::Asleep => ("asleep".to_owned(), Vec::new()),
            Life::Starting { since } => {
                (format!("starting since {} s", since.elapsed().as_secs()), Vec::new())
            }
            Life::Ready(client) => {
                let state = client
                    .desk
                    .work()
                    .map_or_else(|| "ready".to_owned(), |work| format!("ready, busy: {work}"));
                (state, [client.child.log().lines(), client.desk.log.lines()].concat())
            }
            Life::Broken { why, .. } => (format!("broken: {why}"), Vec::new()),
        };
        let state = match self.pause() {
            None => format!("{state} (left alone after {BREAKS} breaks)"),
            Some(_) => state,
        };
        let log = [self.past().log.lines(), more].concat();
        let root = format!("in {}", self.root.display());
        ServerState {
            name: self.spec.name.clone(),
            kind: ServerKind::Lsp,
            state,
            log: std::iter::once(root).chain(log).collect(),
        }
    }

    fn past(&self) -> MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
