//! The trees of entries: appended, read whole, by branch, or a window at a time.
//!
//! A row's `seq` is its place in the order of appending, over all sessions. Parents are kept as `seq`, so
//! that walking a branch of 20,000 entries is that many look-ups by row id, most in a page just read.

use base::transcript::{Tree, TreeError};
use base::{Entry, EntryId, EntryKind, SessionId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::error::{Fault, StoreError};
use crate::journal;
use crate::pending::Pending;
use crate::queue;
use crate::sessions::{self, NewSession};
use crate::store::Store;

/// The largest entry taken, as JSON: room for several images in one message.
pub const ENTRY_LIMIT_BYTES: usize = 64 * 1024 * 1024;
/// Characters of the first prompt that stand for a title until there is a better one.
const TITLE_CHARS: usize = 80;

impl Store {
    /// Appends entries, each below one that is already there (or a new root), and makes the last of them
    /// the newest of the current branch. All or none; a draft of the same entry ends with it.
    pub fn append(&self, session: SessionId, entries: Vec<Entry>) -> Pending<()> {
        self.write(move |connection| append(connection, session, &entries))
    }

    /// As [`Store::append`], but safe only from the end of this process, not from a power cut, until the
    /// next write that is: the steps inside a turn, of which there are many.
    pub fn append_step(&self, session: SessionId, entries: Vec<Entry>) -> Pending<()> {
        self.jot(move |connection| append(connection, session, &entries))
    }

    /// Begins the session `new` with a copy of the branch that ends in `entry`. The copies keep their ids,
    /// so both sessions can name what they share, and either can be deleted.
    pub fn fork(&self, from: SessionId, entry: EntryId, new: NewSession) -> Pending<()> {
        self.write(move |connection| fork(connection, from, entry, &new))
    }

    /// One entry.
    pub fn entry(&self, session: SessionId, id: EntryId) -> Pending<Entry> {
        self.read(move |connection| {
            let seq = seq_of(connection, session, id)?;
            let mut found =
                entries(connection, session, &format!("{ENTRY} WHERE e.seq = ?1"), [seq])?;
            Ok(found.pop().ok_or(StoreError::NoEntry { session, entry: id })?)
        })
    }

    /// Every entry of a session, in the order of appending.
    pub fn tree(&self, session: SessionId) -> Pending<Tree> {
        self.read(move |connection| {
            require_session(connection, session)?;
            let sql = format!(
                "{ENTRY} WHERE e.seq IN (SELECT seq FROM entries WHERE session = ?1) ORDER BY e.seq"
            );
            let entries = entries(connection, session, &sql, [session.as_bytes()])?;
            Tree::from_entries(entries).map_err(|error| broken_tree(session, &error))
        })
    }

    /// Whether the session has an entry, on any branch.
    pub fn has_entry(&self, session: SessionId, entry: EntryId) -> Pending<bool> {
        self.read(move |connection| Ok(find(connection, session, entry)?.is_some()))
    }

    /// The current branch, from its root to its newest entry.
    pub fn branch(&self, session: SessionId) -> Pending<Vec<Entry>> {
        self.read(move |connection| {
            let Some(head) = head_seq(connection, session)? else { return Ok(Vec::new()) };
            walk(connection, session, head, -1)
        })
    }

    /// The newest `limit` entries of the current branch, or those above `before`; oldest first.
    pub fn window(
        &self,
        session: SessionId,
        before: Option<EntryId>,
        limit: usize,
    ) -> Pending<Vec<Entry>> {
        self.read(move |connection| {
            let head = head_seq(connection, session)?;
            let newest = match before {
                None => head,
                Some(entry) => parent_seq(connection, seq_of(connection, session, entry)?)?,
            };
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            newest.map_or_else(|| Ok(Vec::new()), |seq| walk(connection, session, seq, limit))
        })
    }
}

/// Appends inside a transaction.
pub(crate) fn append(
    connection: &Connection,
    session: SessionId,
    entries: &[Entry],
) -> Result<(), Fault> {
    require_session(connection, session)?;
    for entry in entries {
        let seq = insert(connection, session, entry)?;
        advance(connection, session, entry, seq)?;
    }
    queue::settle(connection, session, entries)?;
    journal::settle(connection, session, entries)
}

/// The `seq` of an entry.
pub(crate) fn seq_of(
    connection: &Connection,
    session: SessionId,
    entry: EntryId,
) -> Result<i64, Fault> {
    let found = find(connection, session, entry)?;
    Ok(found.ok_or(StoreError::NoEntry { session, entry })?)
}

/// Whether the session has the entry, and its `seq`.
pub(crate) fn find(
    connection: &Connection,
    session: SessionId,
    entry: EntryId,
) -> Result<Option<i64>, Fault> {
    let mut query =
        connection.prepare_cached("SELECT seq FROM entries WHERE session = ?1 AND id = ?2")?;
    let key = (session.as_bytes(), entry.as_bytes());
    Ok(query.query_row(key, |row| row.get(0)).optional()?)
}

/// The id of the entry at `seq`.
pub(crate) fn entry_id_of(connection: &Connection, seq: i64) -> Result<EntryId, Fault> {
    let mut query = connection.prepare_cached("SELECT id FROM entries WHERE seq = ?1")?;
    Ok(EntryId::from_bytes(query.query_row([seq], |row| row.get(0))?))
}

/// The newest entry of the current branch; fails if there is no such session.
pub(crate) fn head_seq(connection: &Connection, session: SessionId) -> Result<Option<i64>, Fault> {
    let mut query = connection.prepare_cached("SELECT head_seq FROM sessions WHERE id = ?1")?;
    let found = query.query_row([session.as_bytes()], |row| row.get(0)).optional()?;
    Ok(found.ok_or(StoreError::NoSession(session))?)
}

/// Fails if there is no such session.
pub(crate) fn require_session(connection: &Connection, session: SessionId) -> Result<(), Fault> {
    head_seq(connection, session).map(|_| ())
}

fn insert(connection: &Connection, session: SessionId, entry: &Entry) -> Result<i64, Fault> {
    let parent = match entry.parent {
        None => None,
        Some(parent) => Some(seq_of(connection, session, parent)?),
    };
    if find(connection, session, entry.id)?.is_some() {
        return Err(StoreError::EntryExists { session, entry: entry.id }.into());
    }
    let body = encode("an entry", &entry.kind)?;
    if body.len() > ENTRY_LIMIT_BYTES {
        let (bytes, limit) = (body.len(), ENTRY_LIMIT_BYTES);
        return Err(StoreError::TooLarge { entry: entry.id, bytes, limit }.into());
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO entries (parent_seq, session, id, at, kind, body)
         VALUES (:parent, :session, :id, :at, :kind, :body)",
    )?;
    insert.execute(named_params! {
        ":parent": parent,
        ":session": session.as_bytes(),
        ":id": entry.id.as_bytes(),
        ":at": entry.at.as_millis(),
        ":kind": kind_name(&entry.kind),
        ":body": body,
    })?;
    Ok(connection.last_insert_rowid())
}

/// Keeps the session's row in step with its newest entry.
fn advance(
    connection: &Connection,
    session: SessionId,
    entry: &Entry,
    seq: i64,
) -> Result<(), Fault> {
    let answered_by = match &entry.kind {
        EntryKind::Assistant { model, .. } => Some(model),
        EntryKind::User { .. }
        | EntryKind::ToolResults { .. }
        | EntryKind::Notice { .. }
        | EntryKind::Compaction { .. }
        | EntryKind::Pruned { .. }
        | EntryKind::Undone { .. }
        | EntryKind::Prefix { .. }
        | EntryKind::ModelChange { .. }
        | EntryKind::Checkpoint { .. } => None,
    };
    let mut update = connection.prepare_cached(
        "UPDATE sessions SET head_seq = :seq, entries = entries + 1, updated = max(updated, :at),
             title = coalesce(title, :title), provider = coalesce(:provider, provider),
             model = coalesce(:model, model)
         WHERE id = :id",
    )?;
    update.execute(named_params! {
        ":id": session.as_bytes(),
        ":seq": seq,
        ":at": entry.at.as_millis(),
        ":title": first_line(&entry.kind),
        ":provider": answered_by.map(|model| &model.provider),
        ":model": answered_by.map(|model| &model.model),
    })?;
    Ok(())
}

/// A title until there is a better one: the first line the user wrote.
fn first_line(kind: &EntryKind) -> Option<String> {
    let EntryKind::User { parts } = kind else { return None };
    if kind.is_own_command() {
        return None;
    }
    let lines = parts.iter().filter_map(|part| part.as_text()).flat_map(str::lines);
    let line = lines.map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().take(TITLE_CHARS).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    Some(title)
}

fn kind_name(kind: &EntryKind) -> &'static str {
    match kind {
        EntryKind::User { .. } => "user",
        EntryKind::Assistant { .. } => "assistant",
        EntryKind::ToolResults { .. } => "tool_results",
        EntryKind::Notice { .. } => "notice",
        EntryKind::Compaction { .. } => "compaction",
        EntryKind::Pruned { .. } => "pruned",
        EntryKind::Undone { .. } => "undone",
        EntryKind::Prefix { .. } => "prefix",
        EntryKind::ModelChange { .. } => "model_change",
        EntryKind::Checkpoint { .. } => "checkpoint",
    }
}

fn fork(
    connection: &Connection,
    from: SessionId,
    entry: EntryId,
    new: &NewSession,
) -> Result<(), Fault> {
    let head = seq_of(connection, from, entry)?;
    sessions::create(connection, new)?;
    if head_seq(connection, new.id)?.is_some() {
        // Asked twice; the first time did it.
        return Ok(());
    }
    let branch = walk(connection, from, head, -1)?;
    append(connection, new.id, &branch)
}

/// The columns of [`entry`]; the parent's id is looked up beside.
pub(crate) const ENTRY: &str = "SELECT e.id, p.id, e.at, e.body FROM entries e
    LEFT JOIN entries p ON p.seq = e.parent_seq";

/// Up to `limit` entries (all if negative) from `newest` towards the root, returned oldest first.
///
/// The walk collects row ids only; bodies are read afterwards, in the order of the file.
fn walk(
    connection: &Connection,
    session: SessionId,
    newest: i64,
    limit: i64,
) -> Result<Vec<Entry>, Fault> {
    let sql = format!(
        "WITH RECURSIVE walk (seq, parent_seq) AS (
             SELECT seq, parent_seq FROM entries WHERE seq = ?1
             UNION ALL
             SELECT e.seq, e.parent_seq FROM walk JOIN entries e
                 ON e.seq = walk.parent_seq AND e.seq < walk.seq
             LIMIT ?2
         )
         {ENTRY} WHERE e.seq IN (SELECT seq FROM walk) ORDER BY e.seq"
    );
    entries(connection, session, &sql, (newest, limit))
}

/// The entries of a query over the columns of [`ENTRY`].
pub(crate) fn entries<P: rusqlite::Params>(
    connection: &Connection,
    session: SessionId,
    sql: &str,
    params: P,
) -> Result<Vec<Entry>, Fault> {
    let mut query = connection.prepare_cached(sql)?;
    let mut rows = query.query(params)?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(entry(row, session)?);
    }
    Ok(entries)
}

/// Reads the columns of [`ENTRY`].
pub(crate) fn entry(row: &Row<'_>, session: SessionId) -> Result<Entry, Fault> {
    let id = EntryId::from_bytes(row.get(0)?);
    let unreadable = |detail: String| StoreError::Unreadable {
        what: format!("entry {id} of session {session}"),
        detail,
    };
    let body = row.get_ref(3)?.as_str().map_err(|error| unreadable(error.to_string()))?;
    let kind = serde_json::from_str(body).map_err(|error| unreadable(error.to_string()))?;
    let parent: Option<[u8; 16]> = row.get(1)?;
    let at = Timestamp::from_millis(row.get(2)?);
    Ok(Entry { id, parent: parent.map(EntryId::from_bytes), at, kind })
}

fn parent_seq(connection: &Connection, seq: i64) -> Result<Option<i64>, Fault> {
    let mut query = connection.prepare_cached("SELECT parent_seq FROM entries WHERE seq = ?1")?;
    Ok(query.query_row([seq], |row| row.get(0))?)
}

fn broken_tree(session: SessionId, error: &TreeError) -> Fault {
    let what = format!("the tree of session {session}");
    StoreError::Unreadable { what, detail: error.to_string() }.into()
}

/// Writes a value as JSON.
pub(crate) fn encode(
    what: &'static str,
    value: &impl serde::Serialize,
) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|source| StoreError::Encode { what, source: std::sync::Arc::new(source) })
}

#[cfg(test)]
mod tests {
    use base::{ModelRef, StopReason, Usage};

    use super::*;

    /// One entry of each kind. The match fails to compile when a kind is added; add it to the list, too.
    fn each_kind() -> Vec<EntryKind> {
        let model = ModelRef::new("demo", "tour");
        let (parts, text) = (Vec::new(), String::new());
        let kinds = vec![
            EntryKind::User { parts: parts.clone() },
            EntryKind::Assistant {
                parts: parts.clone(),
                model: model.clone(),
                stop: StopReason::Done,
                usage: Usage::default(),
            },
            EntryKind::ToolResults { parts },
            EntryKind::Notice { text: text.clone(), class: None },
            EntryKind::Compaction { summary: text.clone(), keep_from: None },
            EntryKind::Pruned { calls: Vec::new() },
            EntryKind::Undone { entry: EntryId::new() },
            EntryKind::Prefix { system: Vec::new(), tools: Vec::new(), reason: text.clone() },
            EntryKind::ModelChange { to: model },
            EntryKind::Checkpoint { label: text },
        ];
        let number = |kind: &EntryKind| match kind {
            EntryKind::User { .. } => 0,
            EntryKind::Assistant { .. } => 1,
            EntryKind::ToolResults { .. } => 2,
            EntryKind::Notice { .. } => 3,
            EntryKind::Compaction { .. } => 4,
            EntryKind::Pruned { .. } => 5,
            EntryKind::Undone { .. } => 6,
            EntryKind::Prefix { .. } => 7,
            EntryKind::ModelChange { .. } => 8,
            EntryKind::Checkpoint { .. } => 9,
        };
        assert!(kinds.iter().enumerate().all(|(at, kind)| number(kind) == at));
        kinds
    }

    #[test]
    fn the_kind_column_says_what_the_body_says() {
        for kind in each_kind() {
            let body = serde_json::to_value(&kind).unwrap();
            assert_eq!(body["kind"], kind_name(&kind));
        }
    }
}
