//! Looking for words: in titles, and in what user and model have said.
//!
//! The index is filled when somebody searches, not when something is said: a turn pays nothing for it. A
//! search first catches up, batch by batch, so that other writes get their turn in between.

mod words;

use base::protocol::SessionSummary;
use base::{EntryId, EntryKind, Origin, SessionId};
use rusqlite::Connection;

use crate::entries::entry_id_of;
use crate::error::Fault;
use crate::pending::Pending;
use crate::sessions;
use crate::store::Store;

/// Entries that are read for the index in one go.
const BATCH_ENTRIES: usize = 2_000;
/// Bytes of text that are put into the index in one go: a few milliseconds.
const BATCH_BYTES: usize = 256 * 1024;
/// Bytes of one entry that can be found.
const ENTRY_BYTES: usize = 256 * 1024;

/// Whether the index knows all that was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// It does.
    Complete,
    /// There is more to read.
    Behind,
}

/// A session in which words were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The session.
    pub session: SessionSummary,
    /// The entry that fits best; none where only the title fits.
    pub entry: Option<EntryId>,
    /// The words around, in one line.
    pub snippet: String,
}

impl Store {
    /// Puts some of what was said since into the index.
    pub fn index_more(&self) -> Pending<Index> {
        self.jot(index_more)
    }

    /// Sessions whose title or texts hold all the words, or words that begin like them: titles first, then
    /// the best match. Only what is in the index is found. Sub-agents' sessions are left out.
    pub fn find(&self, words: &str, limit: usize) -> Pending<Vec<Found>> {
        let words = words.to_owned();
        self.read(move |connection| find(connection, &words, limit))
    }
}

/// Lets the index forget that it has seen entries that are gone: their numbers are given again.
pub(crate) fn step_back(connection: &Connection) -> Result<(), Fault> {
    let mut update = connection.prepare_cached(
        "UPDATE said_until SET seq = min(seq, (SELECT coalesce(max(seq), 0) FROM entries))",
    )?;
    update.execute([])?;
    Ok(())
}

fn index_more(connection: &Connection) -> Result<Index, Fault> {
    let mut until: i64 =
        connection.query_row("SELECT seq FROM said_until", [], |row| row.get(0))?;
    let mut query = connection.prepare_cached(
        "SELECT e.seq, e.kind IN ('user', 'assistant') AND s.parent IS NULL, e.body
         FROM entries e JOIN sessions s ON s.id = e.session
         WHERE e.seq > ?1 ORDER BY e.seq LIMIT ?2",
    )?;
    let mut insert = connection.prepare_cached("INSERT INTO said (rowid, text) VALUES (?1, ?2)")?;
    let most = i64::try_from(BATCH_ENTRIES).unwrap_or(i64::MAX);
    let mut rows = query.query((until, most))?;
    let (mut read, mut bytes) = (0, 0);
    let mut index = Index::Complete;
    while let Some(row) = rows.next()? {
        until = row.get(0)?;
        read += 1;
        if row.get(1)? {
            // A body that cannot be read has no words.
            let body = row.get_ref(2)?.as_str().unwrap_or_default();
            bytes += body.len();
            let text = serde_json::from_str(body).map(|kind| said(&kind)).unwrap_or_default();
            if !text.is_empty() {
                insert.execute((until, words::spaced(&text)))?;
            }
        }
        if bytes >= BATCH_BYTES || read == BATCH_ENTRIES {
            index = Index::Behind;
            break;
        }
    }
    drop(rows);
    connection.prepare_cached("UPDATE said_until SET seq = ?1")?.execute([until])?;
    Ok(index)
}

/// What was said in an entry, by the user or a model.
fn said(kind: &EntryKind) -> String {
    let mut text = String::new();
    for part in kind.parts() {
        let own = matches!(part.origin, Origin::User | Origin::Assistant);
        let Some(more) = part.as_text().filter(|_| own) else { continue };
        let room = ENTRY_BYTES.saturating_sub(text.len());
        text.push_str(&more[..more.floor_char_boundary(room)]);
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

fn find(connection: &Connection, words: &str, limit: usize) -> Result<Vec<Found>, Fault> {
    let Some(wanted) = words::Wanted::of(words) else { return Ok(Vec::new()) };
    let mut said = in_texts(connection, &wanted, limit)?;
    let mut hits: Vec<(SessionId, Option<i64>)> = Vec::new();
    for id in in_titles(connection, &wanted, limit)? {
        let entry = said.iter().position(|(session, _)| *session == id);
        hits.push((id, entry.map(|at| said.remove(at).1)));
    }
    hits.extend(said.into_iter().map(|(session, seq)| (session, Some(seq))));
    hits.truncate(limit);
    hits.into_iter().map(|(id, seq)| found(connection, &wanted, id, seq)).collect()
}

/// Sessions by the best of their entries, with where that is.
fn in_texts(
    connection: &Connection,
    wanted: &words::Wanted,
    limit: usize,
) -> Result<Vec<(SessionId, i64)>, Fault> {
    // A column beside a lone min() comes from the row that has it.
    let mut query = connection.prepare_cached(
        "SELECT e.session, e.seq, min(f.rank) AS best
         FROM (SELECT rowid, rank FROM said WHERE said MATCH ?1) f
         JOIN entries e ON e.seq = f.rowid
         GROUP BY e.session ORDER BY best, e.seq DESC LIMIT ?2",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = query.query_map((wanted.expression(), limit), |row| {
        Ok((SessionId::from_bytes(row.get(0)?), row.get(1)?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Sessions whose title fits, newest first. Titles are few and change: they are looked through as they are.
fn in_titles(
    connection: &Connection,
    wanted: &words::Wanted,
    limit: usize,
) -> Result<Vec<SessionId>, Fault> {
    let mut query = connection.prepare_cached(
        "SELECT id, title FROM sessions WHERE parent IS NULL AND title IS NOT NULL
         ORDER BY updated DESC, id DESC",
    )?;
    let mut rows = query.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if found.len() == limit {
            break;
        }
        if wanted.are_in(row.get_ref(1)?.as_str().unwrap_or_default()) {
            found.push(SessionId::from_bytes(row.get(0)?));
        }
    }
    Ok(found)
}

fn found(
    connection: &Connection,
    wanted: &words::Wanted,
    id: SessionId,
    seq: Option<i64>,
) -> Result<Found, Fault> {
    let session = sessions::summary_of(connection, id)?;
    let (entry, text) = match seq {
        None => (None, session.title.clone().unwrap_or_default()),
        Some(seq) => {
            let mut query = connection.prepare_cached("SELECT body FROM entries WHERE seq = ?1")?;
            let body: String = query.query_row([seq], |row| row.get(0))?;
            let text = serde_json::from_str(&body).map(|kind| said(&kind)).unwrap_or_default();
            (Some(entry_id_of(connection, seq)?), text)
        }
    };
    let snippet = wanted.snippet(&text);
    Ok(Found { session, entry, snippet })
}
