//! Connections and their pragmas.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

/// How long SQLite waits for another process's write before it gives up once.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Largest WAL file kept after a checkpoint; a burst may grow it, this shrinks it again.
const WAL_KEPT_BYTES: i64 = 8 * 1024 * 1024;

/// How much a COMMIT survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Durability {
    /// The death of the process, not a power cut: the WAL is written but not synced.
    Process,
    /// A power cut: the WAL is synced before COMMIT returns.
    Disk,
}

/// Opens the connection that writes, without changing a byte of the file yet.
pub(crate) fn open_writer(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = open(path)?;
    // Deferred transactions that turn into writers can deadlock with another process; ours never do.
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    Ok(connection)
}

/// Opens a connection that only reads.
pub(crate) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let connection = open(path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Turns on what the schema relies on. WAL is what lets readers and one writer, of any process, work at once.
pub(crate) fn prepare_writer(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "foreign_keys", true)?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" && mode != "memory" {
        // Some network file systems cannot share memory between processes; the rollback journal is
        // slower and as safe.
        tracing::warn!(mode, "this file system does not support WAL");
    }
    connection.pragma_update(None, "journal_size_limit", WAL_KEPT_BYTES)?;
    // Without it, fsync on macOS returns before the disk has the data; elsewhere it changes nothing.
    connection.pragma_update(None, "fullfsync", true)?;
    set_durability(connection, Durability::Disk)
}

/// Sets how much the next COMMIT survives. Not inside a transaction.
pub(crate) fn set_durability(
    connection: &Connection,
    durability: Durability,
) -> rusqlite::Result<()> {
    let level = match durability {
        Durability::Process => "normal",
        Durability::Disk => "full",
    };
    connection.pragma_update(None, "synchronous", level)
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    // No SQLITE_OPEN_CREATE: the file was made before, with the mode we want.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}
