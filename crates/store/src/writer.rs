//! The one thread that writes. Whatever waits when it looks goes into one transaction (group commit);
//! each caller is answered after COMMIT.
//!
//! A job runs inside its own savepoint: one that fails takes only itself back, not its neighbours.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, Savepoint};
use tokio::sync::{mpsc, oneshot};

use crate::connection::{self, Durability};
use crate::error::{Fault, StoreError};
use crate::open::mark_suspect;

/// Jobs that may wait; then callers wait to send. Far more than one process has sessions running.
pub(crate) const QUEUE_JOBS: usize = 256;
/// How often a busy database is tried, each time for the busy timeout of its connection.
const BUSY_TRIES: u64 = 3;

/// Work for the writer thread, and somebody who waits for its outcome.
pub(crate) trait Job: Send {
    /// How much its COMMIT must survive.
    fn durability(&self) -> Durability;
    /// Does the work inside a savepoint; a failure is kept for the answer.
    fn run(&mut self, connection: &Connection) -> Done;
    /// Answers the caller.
    fn answer(self: Box<Self>, committed: &Result<(), StoreError>, path: &Path);
}

/// Whether a job's writes stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    /// They go into the transaction.
    Keep,
    /// They are rolled back, for this reason if it was SQLite's.
    Undo(Option<rusqlite::ffi::Error>),
}

/// A [`Job`] made of a closure.
pub(crate) struct Task<T, F> {
    durability: Durability,
    work: Option<F>,
    outcome: Option<Result<T, Fault>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Task<T, F> {
    pub(crate) fn new(
        durability: Durability,
        work: F,
        reply: oneshot::Sender<Result<T, StoreError>>,
    ) -> Self {
        Self { durability, work: Some(work), outcome: None, reply }
    }
}

impl<T, F> Job for Task<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, Fault> + Send,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn run(&mut self, connection: &Connection) -> Done {
        self.outcome = self.work.take().map(|work| work(connection));
        match &self.outcome {
            Some(Ok(_)) => Done::Keep,
            Some(Err(Fault::Sql(error))) => Done::Undo(error.sqlite_error().copied()),
            Some(Err(Fault::Refused(_))) | None => Done::Undo(None),
        }
    }

    fn answer(self: Box<Self>, committed: &Result<(), StoreError>, path: &Path) {
        let answer = match (self.outcome, committed) {
            (Some(Err(fault)), _) => Err(fault.at(path)),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (Some(Ok(_)) | None, Err(error)) => Err(error.clone()),
            (None, Ok(())) => Err(StoreError::Closed),
        };
        if matches!(answer, Err(StoreError::Corrupt { .. })) {
            mark_suspect(path);
        }
        // A caller that has stopped waiting needs no answer.
        drop(self.reply.send(answer));
    }
}

/// The writer thread's state.
pub(crate) struct Writer {
    connection: Connection,
    path: PathBuf,
    durability: Durability,
}

impl Writer {
    /// Takes over a prepared connection.
    pub(crate) fn new(connection: Connection, path: PathBuf) -> Self {
        Self { connection, path, durability: Durability::Disk }
    }

    /// Works until the last sender is gone and the queue is empty; then closes the connection.
    pub(crate) fn run(mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        let mut batch = Vec::new();
        while jobs.blocking_recv_many(&mut batch, QUEUE_JOBS) > 0 {
            let committed = self.commit(&mut batch).map_err(|error| self.explain(error));
            for job in batch.drain(..) {
                job.answer(&committed, &self.path);
            }
        }
        if let Err((_, error)) = self.connection.close() {
            tracing::warn!(%error, "the database did not close cleanly");
        }
    }

    /// Runs a batch in one transaction.
    fn commit(&mut self, batch: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
        let wanted = batch.iter().map(|job| job.durability()).max().unwrap_or(Durability::Disk);
        if wanted != self.durability {
            connection::set_durability(&self.connection, wanted)?;
            self.durability = wanted;
        }
        begin(&self.connection)?;
        let worked =
            batch.iter_mut().try_for_each(|job| run_in_savepoint(&mut self.connection, job));
        let committed = worked.and_then(|()| self.connection.execute_batch("COMMIT"));
        // A failed COMMIT, and some failures inside, leave the transaction open; others have ended it.
        if committed.is_err() && !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        committed
    }

    fn explain(&self, error: rusqlite::Error) -> StoreError {
        let mut error = StoreError::from_sql(error, &self.path);
        if let StoreError::Busy { waited_s, .. } = &mut error {
            *waited_s *= BUSY_TRIES;
        }
        error
    }
}

/// Begins a write at once, so that a busy database is met before any work is done.
fn begin(connection: &Connection) -> rusqlite::Result<()> {
    let mut tries = 1;
    loop {
        match connection.execute_batch("BEGIN IMMEDIATE") {
            Err(error)
                if tries < BUSY_TRIES
                    && error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) =>
            {
                tries += 1;
            }
            begun => return begun,
        }
    }
}

fn run_in_savepoint(connection: &mut Connection, job: &mut Box<dyn Job>) -> rusqlite::Result<()> {
    let mut savepoint = Savepoint::new(connection)?;
    match job.run(&savepoint) {
        Done::Keep => savepoint.commit(),
        // A full disk or an I/O error ends the whole transaction; the neighbours must learn that.
        Done::Undo(reason) if savepoint.is_autocommit() => {
            let rolled_back = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT_ROLLBACK);
            Err(rusqlite::Error::SqliteFailure(reason.unwrap_or(rolled_back), None))
        }
        Done::Undo(_) => {
            savepoint.rollback()?;
            savepoint.finish()
        }
    }
}
