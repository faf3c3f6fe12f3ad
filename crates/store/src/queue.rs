//! Prompts that wait for their turn. They are durable before they are acknowledged, and leave the queue in
//! the same transaction that makes them entries.

use base::protocol::Delivery;
use base::{Entry, EntryId, Part, SessionId, Timestamp};
use rusqlite::Connection;

use crate::entries::{encode, require_session};
use crate::error::{Fault, StoreError};
use crate::pending::Pending;
use crate::store::Store;

/// A prompt that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Queued {
    /// The id its entry will have.
    pub entry: EntryId,
    /// When it was said.
    pub at: Timestamp,
    /// What it waits for.
    pub delivery: Delivery,
    /// What was said.
    pub parts: Vec<Part>,
}

impl Store {
    /// Puts a prompt at the end of the session's queue.
    pub fn enqueue(&self, session: SessionId, prompt: Queued) -> Pending<()> {
        self.write(move |connection| add(connection, session, &prompt))
    }

    /// The prompts that wait, oldest first.
    pub fn queued(&self, session: SessionId) -> Pending<Vec<Queued>> {
        self.read(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT entry, at, mode, parts FROM queue WHERE session = ?1 ORDER BY at, entry",
            )?;
            let rows = query.query_map([session.as_bytes()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?, row.get(3)?))
            })?;
            let mut waiting = Vec::new();
            for row in rows {
                let (entry, at, mode, parts): ([u8; 16], i64, String, String) = row?;
                let parts =
                    serde_json::from_str(&parts).map_err(|error| StoreError::Unreadable {
                        what: format!("a waiting prompt of session {session}"),
                        detail: error.to_string(),
                    })?;
                let delivery = if mode == "steer" { Delivery::Steer } else { Delivery::Queue };
                let (entry, at) = (EntryId::from_bytes(entry), Timestamp::from_millis(at));
                waiting.push(Queued { entry, at, delivery, parts });
            }
            Ok(waiting)
        })
    }

    /// Takes a waiting prompt back; tells whether it was still waiting.
    pub fn unqueue(&self, session: SessionId, entry: EntryId) -> Pending<bool> {
        self.write(move |connection| Ok(remove(connection, session, entry)? > 0))
    }
}

/// Puts a prompt at the end of a session's queue, inside a transaction.
pub(crate) fn add(
    connection: &Connection,
    session: SessionId,
    prompt: &Queued,
) -> Result<(), Fault> {
    require_session(connection, session)?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO queue (session, entry, at, mode, parts) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO NOTHING",
    )?;
    let mode = match prompt.delivery {
        Delivery::Steer => "steer",
        Delivery::Queue => "queue",
    };
    let parts = encode("a waiting prompt", &prompt.parts)?;
    let key = (session.as_bytes(), prompt.entry.as_bytes());
    insert.execute((key.0, key.1, prompt.at.as_millis(), mode, parts))?;
    Ok(())
}

/// Takes prompts that have just become entries out of the queue.
pub(crate) fn settle(
    connection: &Connection,
    session: SessionId,
    entries: &[Entry],
) -> Result<(), Fault> {
    for entry in entries {
        remove(connection, session, entry.id)?;
    }
    Ok(())
}

fn remove(connection: &Connection, session: SessionId, entry: EntryId) -> Result<usize, Fault> {
    let mut delete =
        connection.prepare_cached("DELETE FROM queue WHERE session = ?1 AND entry = ?2")?;
    Ok(delete.execute((session.as_bytes(), entry.as_bytes()))?)
}
