//! What can go wrong with the memory, each situation with the place it concerns.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{EntryId, SessionId};
use rusqlite::ErrorCode;

/// Why the store could not do what it was asked. Cheap to clone: one failed commit answers many callers.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The database's folder or file cannot be made or reached.
    #[error("cannot use {}: {source}", path.display())]
    Place {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A folder stands where the database should be.
    #[error("{} is a folder, not a database: move it away or choose another data folder", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// The system does not let us read or write it.
    #[error("no permission to open {}: check the owner and mode of the file and its folder", path.display())]
    Denied {
        /// The database.
        path: PathBuf,
    },
    /// It can be read but not written.
    #[error("{} cannot be written: the file, its folder or the disk is read-only", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// There is no room.
    #[error("the disk is full: cannot write {}; free some space and try again, what was saved before is safe", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error(
        "{} is damaged ({detail}): close every caiman and start it again, it moves the file aside and begins a new one",
        path.display()
    )]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// The damaged file cannot be moved out of the way.
    #[error("{} is damaged and cannot be moved aside: {source}", path.display())]
    Stuck {
        /// The database.
        path: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// It is another program's database.
    #[error("{} is a database of another program; it was not touched", path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// A newer caiman made it.
    #[error(
        "{} was made by a newer caiman (schema {found}, this one knows {known}): update caiman; the file was not touched",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The file's schema version.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// The linked SQLite can damage WAL databases (fixed in 3.51.3).
    #[error("SQLite {found} is too old to be safe: 3.51.3 or newer is needed")]
    OldSqlite {
        /// The linked version.
        found: &'static str,
    },
    /// Another process kept writing for too long.
    #[error("{} is busy: another process has been writing to it for {waited_s} s", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// How long we waited.
        waited_s: u64,
    },
    /// The schema could not be brought up to date.
    #[error("cannot bring {} up to date: {detail}", path.display())]
    Migration {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// Anything else SQLite complains about.
    #[error("{}: {source}", path.display())]
    Sql {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: Arc<rusqlite::Error>,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSession(SessionId),
    /// There is no such entry in the session.
    #[error("session {session} has no entry {entry}")]
    NoEntry {
        /// The session.
        session: SessionId,
        /// The entry.
        entry: EntryId,
    },
    /// The session id is taken by a session of another folder.
    #[error("session {0} exists already, in another folder")]
    SessionExists(SessionId),
    /// The entry is there already.
    #[error("session {session} already has an entry {entry}")]
    EntryExists {
        /// The session.
        session: SessionId,
        /// The entry.
        entry: EntryId,
    },
    /// The entry is larger than the store takes.
    #[error("entry {entry} has {bytes} bytes; at most {limit} fit")]
    TooLarge {
        /// The entry.
        entry: EntryId,
        /// Its size as JSON.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// A face wants more kept than there is room for.
    #[error("`{key}` cannot be kept: {bytes} bytes, at most {limit} fit")]
    TooMuch {
        /// What it is called.
        key: String,
        /// The value's size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// A key is longer than the store takes.
    #[error("cannot store a value: its key has {bytes} bytes, and at most {limit} fit")]
    KeyTooLong {
        /// The key's size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// A stored value is not what this program writes.
    #[error("{what} is unreadable: {detail}")]
    Unreadable {
        /// Which value.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A value cannot be written as JSON.
    #[error("cannot write {what} as JSON: {source}")]
    Encode {
        /// Which value.
        what: &'static str,
        /// What serde said.
        source: Arc<serde_json::Error>,
    },
}

/// A failure inside a job, before anybody has said which file it concerns.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite failed.
    Sql(rusqlite::Error),
    /// The request itself is wrong.
    Refused(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl Fault {
    /// Names the file.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Sql(error) => StoreError::from_sql(error, path),
            Self::Refused(error) => error,
        }
    }
}

/// Whether there is no room for a few more pages beside a file.
fn is_full_around(file: &Path) -> bool {
    /// What SQLite wants at a time for the index of its log.
    const ROOM: usize = 64 * 1024;
    let trial = file.with_extension(format!("trial-{}", std::process::id()));
    let written = std::fs::write(&trial, vec![1; ROOM]);
    std::fs::remove_file(&trial).ok();
    written.is_err_and(|error| {
        matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    })
}

impl StoreError {
    /// Tells the situations of a SQLite error apart.
    pub(crate) fn from_sql(error: rusqlite::Error, path: &Path) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt { path, detail: error.to_string() }
            }
            Some(ErrorCode::DiskFull) => Self::Full { path },
            // On a full disk some steps of SQLite, such as growing its index of the log, fail without saying why.
            Some(ErrorCode::SystemIoFailure) if is_full_around(&path) => Self::Full { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => Self::Denied { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Busy { path, waited_s: crate::connection::BUSY_TIMEOUT.as_secs() }
            }
            // SQLite's list is open-ended and not ours.
            Some(_) | None => Self::Sql { path, source: Arc::new(error) },
        }
    }

    /// A failure of the file system.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the list of kinds is open-ended and not ours"
    )]
    pub(crate) fn place(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Denied { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            io::ErrorKind::IsADirectory => Self::Folder { path },
            _ => Self::Place { path, source: Arc::new(source) },
        }
    }
}
