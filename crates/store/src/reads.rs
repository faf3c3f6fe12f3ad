//! What the agent has seen of a file, so that it never edits what it does not know.

use base::{SessionId, Timestamp};
use rusqlite::OptionalExtension;

use crate::entries::require_session;
use crate::pending::Pending;
use crate::store::Store;

/// What was last seen of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadMark {
    /// Hash of the content that was seen.
    pub hash: Vec<u8>,
    /// When.
    pub at: Timestamp,
}

impl Store {
    /// Remembers that a session has seen a file with this content.
    pub fn put_read(&self, session: SessionId, path: String, mark: ReadMark) -> Pending<()> {
        self.jot(move |connection| {
            require_session(connection, session)?;
            let mut insert = connection.prepare_cached(
                "INSERT INTO reads (session, path, hash, at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (session, path) DO UPDATE SET hash = excluded.hash, at = excluded.at",
            )?;
            insert.execute((session.as_bytes(), path, mark.hash, mark.at.as_millis()))?;
            Ok(())
        })
    }

    /// Forgets what a session has seen of files since a moment: its context no longer holds it.
    pub fn forget_reads(&self, session: SessionId, since: Timestamp) -> Pending<()> {
        self.write(move |connection| {
            let mut delete =
                connection.prepare_cached("DELETE FROM reads WHERE session = ?1 AND at >= ?2")?;
            delete.execute((session.as_bytes(), since.as_millis()))?;
            Ok(())
        })
    }

    /// What a session last saw of a file; none if it never did.
    pub fn read_of(&self, session: SessionId, path: String) -> Pending<Option<ReadMark>> {
        self.read(move |connection| {
            let mut query = connection
                .prepare_cached("SELECT hash, at FROM reads WHERE session = ?1 AND path = ?2")?;
            let mark = query.query_row((session.as_bytes(), path), |row| {
                Ok(ReadMark { hash: row.get(0)?, at: Timestamp::from_millis(row.get(1)?) })
            });
            Ok(mark.optional()?)
        })
    }
}
