//! What faces keep: drafts, favourites, that an offer was made.

use rusqlite::OptionalExtension;

use crate::error::StoreError;
use crate::pending::Pending;
use crate::store::Store;

/// The longest value, in bytes: a draft with a long paste in it.
const VALUE_BYTES: usize = 1024 * 1024;
/// The longest key, in bytes.
const KEY_BYTES: usize = 1024;

impl Store {
    /// Keeps a value under a key, in place of the one before; none forgets it.
    pub fn remember(&self, key: String, value: Option<String>) -> Pending<()> {
        // A draft comes every few keys, and a power cut may take the last of them.
        self.jot(move |connection| {
            let bytes = value.as_ref().map_or(0, String::len);
            if key.len() > KEY_BYTES {
                let (bytes, limit) = (key.len(), KEY_BYTES);
                return Err(StoreError::KeyTooLong { bytes, limit }.into());
            }
            if bytes > VALUE_BYTES {
                return Err(StoreError::TooMuch { key, bytes, limit: VALUE_BYTES }.into());
            }
            match value {
                Some(value) => connection
                    .prepare_cached(
                        "INSERT INTO kept (key, value) VALUES (?1, ?2)
                         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                    )?
                    .execute((key, value))?,
                None => {
                    connection.prepare_cached("DELETE FROM kept WHERE key = ?1")?.execute([key])?
                }
            };
            Ok(())
        })
    }

    /// What is kept under a key.
    pub fn recall(&self, key: String) -> Pending<Option<String>> {
        self.read(move |connection| {
            let mut query = connection.prepare_cached("SELECT value FROM kept WHERE key = ?1")?;
            Ok(query.query_row([key], |row| row.get(0)).optional()?)
        })
    }
}
