//! The store's doors: one to the writer thread, one to a small pool of readers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::check::{self, Depth, Finding};
use crate::connection::{self, Durability};
use crate::error::{Fault, StoreError};
use crate::open::mark_suspect;
use crate::pending::Pending;
use crate::presence::{Owner, Presence};
use crate::schema;
use crate::writer::{Job, QUEUE_JOBS, Task, Writer};

/// Idle reading connections kept; more are opened when needed and closed afterwards.
const READERS_KEPT: usize = 4;
/// What an in-memory database is called in errors.
pub(crate) const MEMORY: &str = ":memory:";

/// The memory. Clones share one writer thread; the last one to go closes the database.
#[derive(Debug, Clone)]
pub struct Store {
    room: Arc<Room>,
}

/// What clones of a store share.
#[derive(Debug)]
pub(crate) struct Room {
    path: PathBuf,
    kind: Kind,
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    owner: OnceLock<Owner>,
}

#[derive(Debug)]
enum Kind {
    /// A file; readers have their own connections.
    File { readers: Mutex<Vec<Connection>>, _presence: Presence },
    /// Memory; the writer's connection is the only one that sees it.
    Memory,
}

impl Store {
    /// A store that is gone when it is dropped, for tests and for sessions nobody wants kept.
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = Path::new(MEMORY);
        let sql = |error| StoreError::from_sql(error, path);
        let mut writer = Connection::open_in_memory().map_err(sql)?;
        schema::migrate(&mut writer, path)?;
        connection::prepare_writer(&writer).map_err(sql)?;
        Self::launch(writer, path, Kind::Memory)
    }

    /// Where the database is; `:memory:` for one in memory.
    pub fn path(&self) -> &Path {
        &self.room.path
    }

    /// Reads every page and every tree. Takes time; for `doctor`, not for a start.
    pub fn check(&self) -> Pending<()> {
        let path = self.room.path.clone();
        self.read(move |connection| {
            let finding = match check::look(connection, Depth::Whole)? {
                Finding::Sound => check::trees(connection)?,
                damage @ Finding::Damage(_) => damage,
            };
            match finding {
                Finding::Sound => Ok(()),
                Finding::Damage(detail) => Err(StoreError::Corrupt { path, detail }.into()),
            }
        })
    }

    /// Starts the writer thread on an inspected and prepared connection.
    pub(crate) fn start(
        writer: Connection,
        path: &Path,
        presence: Presence,
    ) -> Result<Self, StoreError> {
        let kind = Kind::File { readers: Mutex::default(), _presence: presence };
        Self::launch(writer, path, kind)
    }

    /// A write that survives a power cut once it is answered.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Pending<T> {
        self.submit(Durability::Disk, work)
    }

    /// A write that survives the process, for what comes often and costs little to lose.
    pub(crate) fn jot<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Pending<T> {
        self.submit(Durability::Process, work)
    }

    /// A look at one consistent state of the database.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Pending<T> {
        match &self.room.kind {
            Kind::Memory => self.submit(Durability::Process, work),
            Kind::File { .. } => {
                let room = Arc::clone(&self.room);
                Pending::reader(move || room.read(work))
            }
        }
    }

    /// Who writes journals here; made, with its lock file, when the first one is written.
    pub(crate) fn owner(&self) -> Result<&str, StoreError> {
        if let Some(owner) = self.room.owner.get() {
            return Ok(owner.token());
        }
        let made = match self.room.kind {
            Kind::File { .. } => Owner::of_file(&self.room.path)?,
            Kind::Memory => Owner::of_memory(),
        };
        Ok(self.room.owner.get_or_init(|| made).token())
    }

    /// A write of the given durability.
    pub(crate) fn submit<T: Send + 'static>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Pending<T> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Task::new(durability, work, reply));
        Pending::writer(Arc::clone(&self.room), job, answer)
    }

    fn launch(writer: Connection, path: &Path, kind: Kind) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel(QUEUE_JOBS);
        let writer = Writer::new(writer, path.to_owned());
        let thread = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || writer.run(queue))
            .map_err(|source| StoreError::place(path, source))?;
        let room = Room {
            path: path.to_owned(),
            kind,
            jobs: Some(jobs),
            thread: Some(thread),
            owner: OnceLock::new(),
        };
        Ok(Self { room: Arc::new(room) })
    }
}

impl Room {
    /// Where jobs for the writer go; none when the store is being closed.
    pub(crate) fn jobs(&self) -> Option<&mpsc::Sender<Box<dyn Job>>> {
        self.jobs.as_ref()
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        let answer = self.read_inside(work).map_err(|fault| fault.at(&self.path));
        if matches!(answer, Err(StoreError::Corrupt { .. })) {
            mark_suspect(&self.path);
        }
        answer
    }

    fn read_inside<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let idle = self.readers().and_then(|mut readers| readers.pop());
        let connection = idle.map_or_else(|| connection::open_reader(&self.path), Ok)?;
        // One transaction, so that all statements of a look see the same state.
        let snapshot = connection.unchecked_transaction()?;
        let answer = work(&snapshot);
        drop(snapshot);
        // A connection that met an error of SQLite's may have seen too much; a new one is cheap.
        let reusable = !matches!(answer, Err(Fault::Sql(_)));
        if let Some(mut readers) = self.readers().filter(|_| reusable)
            && readers.len() < READERS_KEPT
        {
            readers.push(connection);
        }
        answer
    }

    fn readers(&self) -> Option<std::sync::MutexGuard<'_, Vec<Connection>>> {
        match &self.kind {
            Kind::File { readers, .. } => {
                Some(readers.lock().unwrap_or_else(PoisonError::into_inner))
            }
            Kind::Memory => None,
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // Readers first: the writer, closing last, folds the WAL into the file and removes it.
        if let Some(mut readers) = self.readers() {
            readers.clear();
        }
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer thread panicked");
        }
    }
}

#[cfg(test)]
mod tests;
