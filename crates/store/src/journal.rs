//! The answer being streamed, written down while it grows.
//!
//! The mind puts a [`Draft`] every 250 ms; appending the finished entry ends it. What a killed process left
//! behind becomes an entry of its own at the next start, once, whoever starts first.

use base::transcript::Call;
use base::{Entry, EntryId, EntryKind, ModelRef, Part, SessionId};
use base::{StopReason, Timestamp, Usage};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::entries::{self, encode};
use crate::error::{Fault, StoreError};
use crate::pending::Pending;
use crate::presence;
use crate::store::Store;

/// An answer that is still growing.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The id its entry will have.
    pub entry: EntryId,
    /// The entry it follows.
    pub parent: Option<EntryId>,
    /// When it began.
    pub at: Timestamp,
    /// The model that is answering.
    pub model: ModelRef,
    /// What it has said so far.
    pub parts: Vec<Part>,
}

/// A draft that became an entry because its process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recovered {
    /// Of which session.
    pub session: SessionId,
    /// The entry that holds what the model had said.
    pub entry: EntryId,
}

impl Store {
    /// Writes the session's draft down, over the one before. It survives the process, not a power cut.
    pub fn journal_put(&self, session: SessionId, draft: Draft) -> Pending<()> {
        let owner = self.owner().map(str::to_owned);
        self.jot(move |connection| put(connection, session, &owner?, &draft))
    }

    /// Takes the session's draft away and returns it.
    pub fn journal_take(&self, session: SessionId) -> Pending<Option<Draft>> {
        self.write(move |connection| {
            let draft = load(connection, session)?;
            remove(connection, session)?;
            Ok(draft)
        })
    }

    /// Turns the drafts of processes that are gone into cancelled answers, each call with a failed result.
    /// An in-memory store has no other process: there, every draft counts as left behind.
    pub fn recover(&self) -> Pending<Vec<Recovered>> {
        let path = self.path().to_owned();
        self.write(move |connection| {
            let mut query = connection.prepare_cached("SELECT session, owner FROM journal")?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let rows: Vec<([u8; 16], String)> = rows.collect::<Result<_, _>>()?;
            let mut recovered = Vec::new();
            for (session, owner) in rows {
                if presence::is_gone(&path, &owner) {
                    recovered.extend(revive(connection, SessionId::from_bytes(session))?);
                }
            }
            Ok(recovered)
        })
    }
}

/// Ends the draft of an entry that has just been appended.
pub(crate) fn settle(
    connection: &Connection,
    session: SessionId,
    entries: &[Entry],
) -> Result<(), Fault> {
    let mut query = connection.prepare_cached("SELECT entry FROM journal WHERE session = ?1")?;
    let drafted: Option<[u8; 16]> =
        query.query_row([session.as_bytes()], |row| row.get(0)).optional()?;
    match drafted {
        Some(drafted) if entries.iter().any(|entry| *entry.id.as_bytes() == drafted) => {
            remove(connection, session)
        }
        Some(_) | None => Ok(()),
    }
}

fn put(
    connection: &Connection,
    session: SessionId,
    owner: &str,
    draft: &Draft,
) -> Result<(), Fault> {
    entries::require_session(connection, session)?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO journal (session, owner, entry, parent, at, provider, model, parts)
         VALUES (:session, :owner, :entry, :parent, :at, :provider, :model, :parts)
         ON CONFLICT (session) DO UPDATE SET owner = excluded.owner, entry = excluded.entry,
             parent = excluded.parent, at = excluded.at, provider = excluded.provider,
             model = excluded.model, parts = excluded.parts",
    )?;
    insert.execute(named_params! {
        ":session": session.as_bytes(),
        ":owner": owner,
        ":entry": draft.entry.as_bytes(),
        ":parent": draft.parent.as_ref().map(EntryId::as_bytes),
        ":at": draft.at.as_millis(),
        ":provider": draft.model.provider,
        ":model": draft.model.model,
        ":parts": encode("a draft", &draft.parts)?,
    })?;
    Ok(())
}

fn load(connection: &Connection, session: SessionId) -> Result<Option<Draft>, Fault> {
    let mut query = connection.prepare_cached(
        "SELECT entry, parent, at, provider, model, parts FROM journal WHERE session = ?1",
    )?;
    let mut rows = query.query([session.as_bytes()])?;
    rows.next()?.map(|row| draft(row, session)).transpose()
}

fn draft(row: &Row<'_>, session: SessionId) -> Result<Draft, Fault> {
    let parts: String = row.get(5)?;
    let parent: Option<[u8; 16]> = row.get(1)?;
    Ok(Draft {
        entry: EntryId::from_bytes(row.get(0)?),
        parent: parent.map(EntryId::from_bytes),
        at: Timestamp::from_millis(row.get(2)?),
        model: ModelRef::new(row.get::<_, String>(3)?, row.get::<_, String>(4)?),
        parts: serde_json::from_str(&parts).map_err(|error| StoreError::Unreadable {
            what: format!("the draft of session {session}"),
            detail: error.to_string(),
        })?,
    })
}

fn remove(connection: &Connection, session: SessionId) -> Result<(), Fault> {
    let mut delete = connection.prepare_cached("DELETE FROM journal WHERE session = ?1")?;
    delete.execute([session.as_bytes()])?;
    Ok(())
}

/// Turns one draft into entries.
fn revive(connection: &Connection, session: SessionId) -> Result<Option<Recovered>, Fault> {
    let draft = match load(connection, session) {
        Ok(Some(draft)) => draft,
        Ok(None) => return Ok(None),
        // Kept as it is, and in nobody's way: the other drafts still come back.
        Err(Fault::Refused(error)) => {
            tracing::warn!(%error, "a draft could not be recovered");
            return Ok(None);
        }
        Err(error @ Fault::Sql(_)) => return Err(error),
    };
    remove(connection, session)?;
    let known = entries::find(connection, session, draft.entry)?.is_some();
    if known || draft.parts.is_empty() {
        return Ok(None);
    }
    let head = entries::head_seq(connection, session)?;
    let parent = match draft.parent {
        Some(parent) => entries::find(connection, session, parent)?,
        None => None,
    };
    let entry = draft.entry;
    entries::append(connection, session, &as_entries(draft, parent.is_some()))?;
    if head != parent {
        // The user has gone on elsewhere since: what is recovered must not pull them back.
        let mut update =
            connection.prepare_cached("UPDATE sessions SET head_seq = ?2 WHERE id = ?1")?;
        update.execute((session.as_bytes(), head))?;
    }
    Ok(Some(Recovered { session, entry }))
}

fn as_entries(draft: Draft, parent_is_known: bool) -> Vec<Entry> {
    let results: Vec<Part> = draft.parts.iter().filter_map(Part::as_call).map(Call::lost).collect();
    let answer = Entry {
        id: draft.entry,
        parent: draft.parent.filter(|_| parent_is_known),
        at: draft.at,
        kind: EntryKind::Assistant {
            parts: draft.parts,
            model: draft.model,
            stop: StopReason::Cancelled,
            usage: Usage::default(),
        },
    };
    let results = (!results.is_empty()).then(|| Entry {
        id: EntryId::new(),
        parent: Some(answer.id),
        at: draft.at,
        kind: EntryKind::ToolResults { parts: results },
    });
    std::iter::once(answer).chain(results).collect()
}
