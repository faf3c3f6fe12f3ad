//! The schema's versions, embedded from `migrations/` by the build script.

use std::path::Path;

use rusqlite::{Connection, ErrorCode};
use rusqlite_migration::{M, Migrations};

use crate::error::StoreError;

include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// Marks a database file as ours: `caim`.
pub(crate) const APPLICATION_ID: i64 = 0x6361_696d;

/// The newest schema version.
pub(crate) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// The schema version of an open database.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings an open database up to date; one that is pays a single look at its header.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let sql = |error| StoreError::from_sql(error, path);
    if version(connection).map_err(sql)? == newest() {
        return Ok(());
    }
    // First, so that a process killed half-way leaves a file we recognise.
    connection.pragma_update(None, "application_id", APPLICATION_ID).map_err(sql)?;
    let migrations = Migrations::new(MIGRATIONS.iter().copied().map(M::up).collect());
    if let Err(error) = migrations.to_latest(connection) {
        // Another process may have done the same between our look and our transaction.
        if version(connection).map_err(sql)? != newest() {
            return Err(failure(error, path));
        }
    }
    Ok(())
}

fn failure(error: rusqlite_migration::Error, path: &Path) -> StoreError {
    let detail = error.to_string();
    if let rusqlite_migration::Error::RusqliteError { err, .. } = error
        && err.sqlite_error_code() != Some(ErrorCode::Unknown)
    {
        return StoreError::from_sql(err, path);
    }
    StoreError::Migration { path: path.to_owned(), detail }
}
