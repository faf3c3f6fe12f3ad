//! Processes a session has started: those that still run, and what those that ended have said.
//!
//! Each process has one owner, a task ([`owner`]): it reads what the process prints, ends it when asked and
//! takes it off the system's books. Everybody else holds a [`Job`].

mod ending;
mod job;
mod owner;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::{Env, Origin, TaskScope};
use guard::cage::Network;
use guard::process::{Command, SpawnError};
use guard::{Cage, Reach};

use crate::bound::Spill;

pub use ending::{Cause, Ending, Exit, Rest};
pub use job::{InputError, Job, News};

/// Most that run at a time.
pub const RUNNING: usize = 50;
/// How many that ended are remembered.
pub const REMEMBERED: usize = 50;
/// How long an interrupted process may take to end by itself.
pub const GRACE: Duration = Duration::from_secs(2);

/// The processes of one session. Clones share them; closing it ends them all.
#[derive(Debug, Clone, Default)]
pub struct Jobs {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    scope: TaskScope,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    last_number: u32,
    closed: bool,
    /// Those with a process left, be it only one that the command itself left behind.
    live: Vec<Arc<Job>>,
    /// Those without, if they have a number; the newest last.
    ended: VecDeque<Arc<Job>>,
}

/// A process to start.
#[derive(Debug)]
pub struct Start {
    /// What to run.
    pub command: Command,
    /// What to call it.
    pub title: String,
    /// Where its output goes when it is too long.
    pub spill: Spill,
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// Where its output comes from; feeds the taint rule.
    pub origin: Origin,
}

/// Why a process was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Too many run already.
    #[error("{RUNNING} commands are running already; end one with job_kill first")]
    TooMany,
    /// The session is over.
    #[error("the session is closing; nothing is started any more")]
    Closed,
    /// The system or the sandbox refused.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
}

/// The shell that runs command lines: `bash` where there is one, else `sh`.
pub fn shell(env: &Env) -> &'static str {
    let path = env.get("PATH").unwrap_or("/usr/bin:/bin");
    let has_bash = std::env::split_paths(path).any(|folder| folder.join("bash").is_file());
    if has_bash { "bash" } else { "sh" }
}

/// How far a process in this sandbox reaches; `None` is no sandbox.
pub(crate) fn reach_of(cage: Option<&Cage>) -> Reach {
    match cage.map(Cage::bounds) {
        None => Reach::Everything,
        Some(bounds) if bounds.network == Network::On => Reach::Network,
        Some(bounds) if bounds.writable.is_empty() => Reach::ReadOnly,
        Some(_) => Reach::Workspace,
    }
}

impl Jobs {
    /// Starts a process. It has no number until [`Jobs::keep`] gives it one.
    pub fn start(&self, start: Start) -> Result<Arc<Job>, StartError> {
        let mut table = self.shared.table();
        let running = table.live.iter().filter(|job| job.ending().is_none()).count();
        match running {
            _ if table.closed => return Err(StartError::Closed),
            RUNNING.. => return Err(StartError::TooMany),
            _ => {}
        }
        let Start { command, title, spill, timeout, origin } = start;
        let (job, inbox) = Job::new(title, spill, &command, origin);
        let mut child = command.spawn()?;
        table.live.push(job.clone());
        drop(table);
        let scope = &self.shared.scope;
        if let Some(input) = child.input.take() {
            scope.spawn(owner::write(input, inbox, job.clone()));
        }
        let shared = Arc::downgrade(&self.shared);
        let owned = job.clone();
        scope.spawn(async move {
            owner::own(child, &owned, timeout).await;
            if let Some(shared) = shared.upgrade() {
                shared.retire(&owned);
            }
            owned.set_gone();
        });
        Ok(job)
    }

    /// Gives a job a number, by which it can be found from now on.
    pub fn keep(&self, job: &Arc<Job>) -> u32 {
        let mut table = self.shared.table();
        if let Some(number) = job.number() {
            return number;
        }
        table.last_number += 1;
        job.set_number(table.last_number);
        if !table.live.iter().any(|live| Arc::ptr_eq(live, job)) {
            table.remember(job.clone());
        }
        table.last_number
    }

    /// The job of a number.
    pub fn get(&self, number: u32) -> Option<Arc<Job>> {
        self.list().into_iter().find(|job| job.number() == Some(number))
    }

    /// All jobs that have a number, the oldest first.
    pub fn list(&self) -> Vec<Arc<Job>> {
        let table = self.shared.table();
        let mut jobs: Vec<_> = table.ended.iter().chain(&table.live).cloned().collect();
        jobs.retain(|job| job.number().is_some());
        jobs.sort_by_key(|job| job.number());
        jobs
    }

    /// Ends every process, with what it left behind, and waits until all are gone.
    pub async fn close(&self) {
        let live = {
            let mut table = self.shared.table();
            table.closed = true;
            table.live.clone()
        };
        for job in &live {
            job.end();
        }
        // A process that the system cannot kill must not keep us; the scope drops what is left.
        let patience = tokio::time::sleep(GRACE * 2);
        tokio::pin!(patience);
        for job in live {
            tokio::select! {
                () = job.gone() => {}
                () = &mut patience => break,
            }
        }
        self.shared.scope.close().await;
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn retire(&self, job: &Arc<Job>) {
        let mut table = self.table();
        table.live.retain(|live| !Arc::ptr_eq(live, job));
        if job.number().is_some() {
            table.remember(job.clone());
        }
    }
}

impl Drop for Shared {
    /// The owners are dropped with their scope, and each kills its process.
    fn drop(&mut self) {
        self.scope.cancel();
    }
}

impl Table {
    fn remember(&mut self, job: Arc<Job>) {
        self.ended.push_back(job);
        if self.ended.len() > REMEMBERED {
            self.ended.pop_front();
        }
    }
}
