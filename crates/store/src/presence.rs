//! Lock files beside the database: who has it open, and whose journals are alive.
//!
//! Locks of the operating system end with their process, however it ends; process ids and heartbeats
//! would both have to guess.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use base::RequestId;

use crate::error::StoreError;

/// Our hold on the database: alone while it is inspected, shared with other processes afterwards.
#[derive(Debug)]
pub(crate) struct Presence {
    file: File,
    alone: bool,
}

impl Presence {
    /// Takes the lock: alone if nobody else has the database open, else shared, waiting out a process
    /// that is inspecting it.
    pub(crate) fn take(database: &Path) -> Result<Self, StoreError> {
        let path = beside(database, "-lock");
        let failed = |source| StoreError::place(&path, source);
        let file = private_file().create(true).truncate(false).open(&path).map_err(failed)?;
        let alone = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => {
                file.lock_shared().map_err(failed)?;
                false
            }
            // A file system without locks: nobody can tell, so nobody moves anything.
            Err(TryLockError::Error(error)) => {
                tracing::warn!(%error, "this file system does not support locks");
                false
            }
        };
        Ok(Self { file, alone })
    }

    /// Whether no other process has the database open.
    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    /// Lets other processes in.
    pub(crate) fn share(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.alone) {
            self.file.unlock()?;
            self.file.lock_shared()?;
        }
        Ok(())
    }
}

/// The owner of the journals of one open store; its lock file ends with the process.
#[derive(Debug)]
pub(crate) struct Owner {
    token: String,
    lock: Option<(File, PathBuf)>,
}

impl Owner {
    /// An owner other processes can ask about.
    pub(crate) fn of_file(database: &Path) -> Result<Self, StoreError> {
        let token = RequestId::new().to_string();
        let path = owner_file(database, &token);
        let failed = |source| StoreError::place(&path, source);
        let file = private_file().create_new(true).open(&path).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(Self { token, lock: Some((file, path)) })
    }

    /// The owner of a database only this process sees.
    pub(crate) fn of_memory() -> Self {
        Self { token: RequestId::new().to_string(), lock: None }
    }

    /// What the journal calls it.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some((_, path)) = &self.lock {
            // A file left behind says nothing: its lock is free.
            drop(fs::remove_file(path));
        }
    }
}

/// Whether the process that wrote a journal is gone; clears its lock file away if so.
pub(crate) fn is_gone(database: &Path, token: &str) -> bool {
    if token.parse::<RequestId>().is_err() {
        // Not a token of ours, so nobody's; and not a name to look for on disk.
        return true;
    }
    let path = owner_file(database, token);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) => return error.kind() == io::ErrorKind::NotFound,
    };
    let gone = file.try_lock().is_ok();
    if gone {
        drop(fs::remove_file(&path));
    }
    gone
}

/// Clears away the lock files of processes that were killed. Only while alone: then none is alive.
pub(crate) fn sweep(database: &Path) {
    let (Some(folder), Some(name)) = (database.parent(), database.file_name()) else { return };
    let prefix = format!("{}-live-", name.to_string_lossy());
    // What cannot be cleared away does no harm.
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        if file.file_name().to_string_lossy().starts_with(&prefix) {
            drop(fs::remove_file(file.path()));
        }
    }
}

/// The path of a file beside the database, such as its `-wal`.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Options for a file only its owner may read.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn owner_file(database: &Path, token: &str) -> PathBuf {
    beside(database, &format!("-live-{token}"))
}
