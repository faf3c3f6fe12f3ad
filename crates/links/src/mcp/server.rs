//! One server: asleep until it is needed, opened again when it breaks, put to sleep when idle.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::protocol::{ServerKind, ServerState};
use base::{TaskScope, Timestamp};
use settings::McpServer;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::connection::{Connection, Failure, Lifecycle, Opening};
use super::kept::{self, Kept};
use super::menu::Menu;
use super::reach::Patience;
use super::{McpError, Outside};
use crate::breaks::Breaks;
use crate::child::Log;

/// How often a server that cannot be opened is tried again without anybody asking for it.
const TRIES: usize = 5;
/// How long somebody waits for a server that could not be opened the last time.
const DOUBTFUL: Duration = Duration::from_secs(3);
/// How much longer somebody waits than a start may take: what did not begin has to end.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
/// The longest pause after a break, or before a list that was refused is asked for again.
const PAUSE: Duration = Duration::from_mins(1);
/// The shortest time between two looks at what a server lends.
const CALM: Duration = Duration::from_secs(1);
/// How long what it told counts: whoever lends more today than yesterday is heard of.
const FRESH: Duration = Duration::from_hours(24);
/// Lines of a server's last life that are still shown in the next.
const LAST_LINES: usize = 5;

/// One server.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) name: String,
    pub(super) settings: McpServer,
    outside: Outside,
    scope: TaskScope,
    /// How long nobody has to have used it for it to go to sleep.
    idle: Duration,
    life: watch::Sender<Life>,
    past: Mutex<Past>,
    news: watch::Sender<u64>,
}

/// What becomes of a server.
#[derive(Debug, Clone)]
enum Life {
    Asleep,
    Starting { since: Instant, log: Log },
    Ready(Arc<Connection>, Log),
    Broken { why: McpError, at: Instant },
}

/// What is remembered of a server beyond one life.
#[derive(Debug)]
struct Past {
    breaks: Breaks,
    /// Why it could not be opened, until it can.
    closed: Option<McpError>,
    /// Why it did not tell what it lends, until it does.
    untold: Option<Failure>,
    used: Instant,
    log: Log,
    lent: Lent,
}

/// What is known of what a server lends.
#[derive(Debug)]
enum Lent {
    /// Nobody has looked yet.
    Unread,
    Unknown,
    Known {
        is_older: bool,
        whole: Menu,
        /// What the settings let through.
        shown: Arc<Menu>,
        told_at: Timestamp,
    },
}

impl Server {
    pub(super) fn new(
        (name, settings): (&str, &McpServer),
        outside: Outside,
        idle: Duration,
        news: watch::Sender<u64>,
        scope: &TaskScope,
    ) -> Self {
        let past = Past {
            breaks: Breaks::default(),
            closed: None,
            untold: None,
            used: Instant::now(),
            log: Log::default(),
            lent: Lent::Unread,
        };
        Self {
            name: name.to_owned(),
            settings: settings.clone(),
            outside,
            scope: scope.child(),
            idle,
            life: watch::channel(Life::Asleep).0,
            past: Mutex::new(past),
            news,
        }
    }

    /// What it lends, as far as the settings let it.
    pub(super) fn menu(&self) -> Option<Arc<Menu>> {
        match &self.read().lent {
            Lent::Known { shown, .. } => Some(shown.clone()),
            Lent::Unread | Lent::Unknown => None,
        }
    }

    /// Whether it should be asked what it lends before anybody needs it.
    pub(super) fn is_stale(&self) -> bool {
        match self.read().lent {
            Lent::Known { told_at, .. } => self.outside.clock.now().since(told_at) > FRESH,
            Lent::Unread | Lent::Unknown => true,
        }
    }

    /// Begins to connect unless it is connected, or has broken too lately.
    pub(super) fn wake(self: &Arc<Self>) {
        let (now, pause) = (Instant::now(), self.pause());
        let log = Log::default();
        let woken = self.life.send_if_modified(|life| {
            let may = match life {
                Life::Asleep => true,
                Life::Broken { at, .. } => now >= *at + pause,
                Life::Starting { .. } | Life::Ready(..) => false,
            };
            if may {
                *life = Life::Starting { since: now, log: log.clone() };
            }
            may
        });
        if woken {
            let server = self.clone();
            self.scope.spawn_settling(async move {
                let token = server.scope.token().clone();
                token.run_until_cancelled(Box::pin(server.live(log))).await;
            });
        }
    }

    /// How long it is left alone after it broke.
    fn pause(&self) -> Duration {
        match self.past().breaks.recent() {
            0 => Duration::ZERO,
            several => Duration::from_secs(1 << (several - 1).min(10)).min(PAUSE),
        }
    }

    /// One life, from its start to its end.
    async fn live(self: &Arc<Self>, log: Log) {
        let scope = self.scope.child();
        let connection = match self.open(log.clone(), &scope).await {
            Ok(connection) => Arc::new(connection),
            Err(failure) => {
                scope.close().await;
                self.not_opened(failure, &log);
                return;
            }
        };
        {
            let mut past = self.past();
            (past.closed, past.untold, past.used) = (None, None, Instant::now());
        }
        self.life.send_replace(Life::Ready(connection.clone(), log.clone()));
        let lost = tokio::select! {
            why = connection.lost() => Some(why),
            () = self.rested(&connection) => None,
            () = self.keep_looking(&connection) => None,
        };
        scope.close().await;
        // Whoever put it to sleep has said so before.
        if let Some(why) = lost
            && self.is_at(&connection)
        {
            self.broke(McpError::Broken { server: self.name.clone(), why }, &log);
        }
    }

    /// Whether this is the connection it has.
    fn is_at(&self, connection: &Arc<Connection>) -> bool {
        match &*self.life.borrow() {
            Life::Ready(ours, _) => Arc::ptr_eq(ours, connection),
            Life::Asleep | Life::Starting { .. } | Life::Broken { .. } => false,
        }
    }

    /// Waits until nobody has used it for long, and has it sleep.
    async fn rested(&self, connection: &Arc<Connection>) {
        loop {
            let until = self.past().used + self.idle;
            sleep_until(until).await;
            // Who waits for an answer uses it.
            if connection.is_busy() {
                self.used();
            }
            // Whoever notes now that it is in use finds it asleep, and wakes it.
            let past = self.past();
            if past.used + self.idle <= Instant::now() {
                if self.is_at(connection) {
                    self.life.send_replace(Life::Asleep);
                }
                return;
            }
        }
    }

    /// Looks at what it lends, and again whenever that has changed. Where it does not tell, it is asked again.
    async fn keep_looking(&self, connection: &Connection) {
        let mut pause = CALM;
        loop {
            let untold = self.look(connection).await.err();
            let is_told = untold.is_none();
            let before = std::mem::replace(&mut self.past().untold, untold.clone());
            if before != untold {
                // Whoever shows how it is has to look again.
                self.life.send_modify(|_| ());
            }
            sleep(CALM).await;
            if is_told {
                pause = CALM;
                connection.changed().await;
            } else {
                timeout(pause, connection.changed()).await.ok();
                pause = (pause * 2).min(PAUSE);
            }
        }
    }

    async fn open(&self, log: Log, scope: &TaskScope) -> Result<Connection, Failure> {
        let is_older = matches!(self.read().lent, Lent::Known { is_older: true, .. });
        let lifecycle = if is_older { Lifecycle::Older } else { Lifecycle::Newest };
        let opening = Opening {
            name: self.name.clone(),
            server: self.settings.clone(),
            outside: self.outside.clone(),
            lifecycle,
            visitor: None,
            log,
        };
        Connection::open(opening, scope).await
    }

    fn not_opened(self: &Arc<Self>, failure: Failure, log: &Log) {
        if let Lent::Known { is_older, .. } = &mut self.past().lent {
            // It may have learned something new.
            *is_older = false;
        }
        let wants_somebody = matches!(failure, Failure::SignIn { .. });
        let why = failure.of(&self.name);
        self.past().closed = Some(why.clone());
        self.broke(why, log);
        if wants_somebody || self.past().breaks.recent() > TRIES {
            return;
        }
        let (server, pause) = (self.clone(), self.pause());
        self.scope.spawn(async move {
            sleep(pause).await;
            server.wake();
        });
    }

    fn broke(&self, why: McpError, log: &Log) {
        tracing::warn!(server = %self.name, %why, "an MCP server broke");
        {
            let mut past = self.past();
            past.breaks.note();
            let lines = log.lines();
            for line in &lines[lines.len().saturating_sub(LAST_LINES)..] {
                past.log.note(line);
            }
        }
        self.life.send_replace(Life::Broken { why, at: Instant::now() });
    }

    /// Asks what it lends, and keeps that.
    async fn look(&self, connection: &Connection) -> Result<(), Failure> {
        let menu = connection.menu().await?;
        let is_older = connection.about().lifecycle == Lifecycle::Older;
        let kept = Kept::new(is_older, menu, self.outside.clock.now());
        let is_new = self.learn(&kept);
        let file = self.file();
        let written = tokio::task::spawn_blocking(move || kept.write(&file)).await;
        if let Ok(Err(error)) = written {
            tracing::debug!(%error, server = %self.name, "a menu could not be kept");
        }
        if is_new {
            self.news.send_modify(|count| *count += 1);
        }
        Ok(())
    }

    /// Takes note of what it lends; says whether that is new.
    fn learn(&self, kept: &Kept) -> bool {
        let mut past = self.read();
        if let Lent::Known { is_older, whole, told_at, .. } = &mut past.lent
            && (*is_older, &*whole) == (kept.is_older, &kept.menu)
        {
            *told_at = kept.told_at;
            return false;
        }
        past.lent = self.known(kept.clone());
        true
    }

    fn known(&self, kept: Kept) -> Lent {
        let shown = Arc::new(kept.menu.let_through(&self.settings));
        let Kept { is_older, menu: whole, told_at, .. } = kept;
        Lent::Known { is_older, whole, shown, told_at }
    }

    /// The open connection; wakes it, and waits for it as long as its start may take. One that is broken says so at
    /// once.
    pub(super) async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, McpError> {
        self.wake();
        let start = Patience::of(&self.settings).start;
        let closed = self.past().closed.clone();
        let (patience, doubt) = match closed {
            Some(why) => (DOUBTFUL, why),
            None => (start + ENDS_WITHIN, Failure::TimedOut { after: start }.of(&self.name)),
        };
        let mut life = self.life.subscribe();
        let is_settled = |life: &Life| match life {
            Life::Starting { .. } => false,
            // Why it was lost will be known in a moment.
            Life::Ready(connection, _) => !connection.is_lost(),
            Life::Asleep | Life::Broken { .. } => true,
        };
        let waiting = timeout(patience, life.wait_for(is_settled));
        let Some(waited) = self.scope.token().run_until_cancelled(waiting).await else {
            return Err(McpError::Cancelled);
        };
        let Ok(Ok(life)) = waited else { return Err(doubt) };
        match &*life {
            Life::Ready(connection, _) => Ok(connection.clone()),
            Life::Broken { why, .. } => Err(why.clone()),
            Life::Asleep | Life::Starting { .. } => Err(McpError::Broken {
                server: self.name.clone(),
                why: "it has just been put to sleep; try again".to_owned(),
            }),
        }
    }

    /// The connection, if it is open.
    pub(super) fn running(&self) -> Option<Arc<Connection>> {
        match &*self.life.borrow() {
            Life::Ready(connection, _) => Some(connection.clone()).filter(|it| !it.is_lost()),
            Life::Asleep | Life::Starting { .. } | Life::Broken { .. } => None,
        }
    }

    /// Notes that it is in use.
    pub(super) fn used(&self) {
        self.past().used = Instant::now();
    }

    /// Puts it to sleep, in the background.
    fn sleep(&self) {
        let Some(connection) = self.running() else { return };
        self.life.send_replace(Life::Asleep);
        self.scope.spawn_settling(async move { connection.close().await });
    }

    /// Connects anew, whatever it has done before; in the background.
    pub(super) fn restart(self: &Arc<Self>) {
        self.past().breaks.clear();
        self.sleep();
        self.wake();
    }

    /// Ends it for good, in the background.
    pub(super) fn cancel(&self) {
        self.scope.cancel();
    }

    /// Waits until it is no longer how it was.
    pub(super) async fn stirred(&self) {
        let mut life = self.life.subscribe();
        life.mark_unchanged();
        // The sender is ours: it cannot be gone.
        life.changed().await.ok();
    }

    /// How it is, for a pane.
    pub(super) fn state(&self) -> ServerState {
        let untold = self.past().untold.as_ref().map(ToString::to_string);
        let untold = untold.map(|why| format!("; it does not tell what it lends: {why}"));
        let (state, log) = match &*self.life.borrow() {
            Life::Asleep => ("asleep".to_owned(), Vec::new()),
            Life::Starting { since, log } => {
                (format!("starting since {} s", since.elapsed().as_secs()), log.lines())
            }
            Life::Ready(connection, log) => {
                let about = connection.about();
                let name = about.name.as_deref().map(|name| format!(": {name}"));
                let ready = ["ready".to_owned(), name.unwrap_or_default()].concat();
                (ready + untold.as_deref().unwrap_or_default(), log.lines())
            }
            Life::Broken { why, .. } => (format!("broken: {}", why.short()), Vec::new()),
        };
        let lends = self.menu().map(|menu| {
            let (tools, prompts) = (menu.tools.len(), menu.prompts.len());
            format!("lends {tools} tools, {prompts} prompts, {} resources", menu.resources.len())
        });
        let past = self.past().log.lines();
        ServerState {
            name: self.name.clone(),
            kind: ServerKind::Mcp,
            state,
            log: lends.into_iter().chain(past).chain(log).collect(),
        }
    }

    fn file(&self) -> PathBuf {
        kept::file(&self.outside.cache, &self.name, &self.settings)
    }

    /// What is remembered, with what is kept on disk.
    fn read(&self) -> MutexGuard<'_, Past> {
        let mut past = self.past();
        if matches!(past.lent, Lent::Unread) {
            let kept = Kept::read(&self.file());
            past.lent = kept.map_or(Lent::Unknown, |kept| self.known(kept));
        }
        past
    }

    fn past(&self) -> MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
