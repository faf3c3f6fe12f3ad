//! Sessions: made, listed, found by the beginning of their id, renamed, deleted.

use base::protocol::SessionSummary;
use base::{CallId, EntryId, ModelRef, SessionId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::entries::{entry_id_of, seq_of};
use crate::error::{Fault, StoreError};
use crate::pending::Pending;
use crate::queue::{self, Queued};
use crate::search;
use crate::store::Store;
use crate::usage::{self, FAMILY, unsigned};

/// A session to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The id it will have; chosen by the caller so that a repeated request is harmless.
    pub id: SessionId,
    /// The folder it works in.
    pub folder: String,
    /// The project that folder belongs to; see [`crate::project_of`].
    pub project: String,
    /// The agent it runs as; none for ours.
    pub agent: Option<String>,
    /// What it is to the session that starts it as a sub-agent.
    pub child_of: Option<ChildOf>,
    /// When it begins.
    pub at: Timestamp,
}

/// What a sub-agent's session is to the session that starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildOf {
    /// That session.
    pub parent: SessionId,
    /// Its call that the sub-agent works for.
    pub call: CallId,
    /// Whether the parent waits for the result, or must be told of it.
    pub report: Report,
}

/// Whether a sub-agent's end must still be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// It was told, or somebody waits for it.
    Told,
    /// The parent goes on meanwhile and must be told.
    Owed,
}

/// A session, as the store knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// What lists show.
    pub summary: SessionSummary,
    /// The project it belongs to.
    pub project: String,
    /// The agent it runs as; none for ours.
    pub agent: Option<String>,
    /// What it is to the session that started it as a sub-agent.
    pub child_of: Option<ChildOf>,
    /// The newest entry of the current branch.
    pub head: Option<EntryId>,
}

/// Where to look for sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Place {
    /// Everywhere.
    #[default]
    Anywhere,
    /// Sessions that work in exactly this folder.
    Folder(String),
    /// Sessions of this project, whatever their folder.
    Project(String),
}

/// Which sessions to list. Sub-agents' sessions are found by their id, not in lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Where.
    pub place: Place,
    /// Text that occurs in the title, the folder, or what user and model said; case matters only beyond ASCII.
    pub search: Option<String>,
    /// At most this many; all if none.
    pub limit: Option<usize>,
}

impl Store {
    /// Makes a session. Making the same one again changes nothing.
    pub fn create_session(&self, new: NewSession) -> Pending<()> {
        self.write(move |connection| create(connection, &new))
    }

    /// One session.
    pub fn session(&self, id: SessionId) -> Pending<Session> {
        self.read(move |connection| one(connection, id))
    }

    /// Sessions, the one with the newest entry first.
    pub fn sessions(&self, filter: SessionFilter) -> Pending<Vec<SessionSummary>> {
        self.read(move |connection| list(connection, &filter))
    }

    /// The session of a place whose newest entry is the newest.
    pub fn last_session(&self, place: Place) -> Pending<Option<SessionSummary>> {
        let filter = SessionFilter { place, limit: Some(1), ..SessionFilter::default() };
        self.read(move |connection| Ok(list(connection, &filter)?.pop()))
    }

    /// Sessions whose id begins with `prefix` (hexadecimal, dashes ignored), sub-agents' included; at most
    /// `limit`, oldest first.
    pub fn sessions_with_prefix(&self, prefix: &str, limit: usize) -> Pending<Vec<SessionSummary>> {
        let range = prefix_range(prefix);
        self.read(move |connection| {
            let Some((low, high)) = range else { return Ok(Vec::new()) };
            let sql = format!("{SUMMARY} WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3");
            let mut query = connection.prepare_cached(&sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = query.query_map((low.as_bytes(), high.as_bytes(), limit), summary)?;
            with_usage(connection, rows.collect::<Result<_, _>>()?)
        })
    }

    /// For each id, how many hexadecimal digits tell it apart from every other session's.
    pub fn distinct_digits(&self, ids: Vec<SessionId>) -> Pending<Vec<usize>> {
        self.read(move |connection| ids.into_iter().map(|id| distinct(connection, id)).collect())
    }

    /// Names a session.
    pub fn rename(&self, id: SessionId, title: String) -> Pending<()> {
        self.write(move |connection| {
            let mut update =
                connection.prepare_cached("UPDATE sessions SET title = ?2 WHERE id = ?1")?;
            must_exist(update.execute((id.as_bytes(), title))?, id)
        })
    }

    /// Deletes a session with its sub-agents, their entries, journal, grants, reads and the states of their
    /// files. The ledger keeps what they cost.
    pub fn delete(&self, id: SessionId) -> Pending<()> {
        self.write(move |connection| {
            let sql = format!("{FAMILY} DELETE FROM sessions WHERE id IN (SELECT id FROM family)");
            let mut delete = connection.prepare_cached(&sql)?;
            must_exist(delete.execute(named_params! { ":root": id.as_bytes() })?, id)?;
            search::step_back(connection)
        })
    }

    /// The sub-agents that were started for a call of a session, oldest first.
    pub fn children(&self, parent: SessionId, call: CallId) -> Pending<Vec<Session>> {
        self.read(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT id FROM sessions WHERE parent = ?1 AND call = ?2 ORDER BY id",
            )?;
            let rows = query.query_map((parent.as_bytes(), call.as_str()), |row| row.get(0))?;
            let ids: Vec<[u8; 16]> = rows.collect::<Result<_, _>>()?;
            ids.into_iter().map(|id| one(connection, SessionId::from_bytes(id))).collect()
        })
    }

    /// The sub-agents of a session whose end it must still be told, oldest first.
    pub fn owed_reports(&self, parent: SessionId) -> Pending<Vec<SessionId>> {
        self.read(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT id FROM sessions WHERE parent = ?1 AND owes_report ORDER BY id",
            )?;
            let rows = query.query_map([parent.as_bytes()], |row| row.get(0))?;
            Ok(rows.map(|id| id.map(SessionId::from_bytes)).collect::<Result<_, _>>()?)
        })
    }

    /// Puts what a sub-agent has to report into its parent's queue, once: tells whether it was still owed.
    pub fn report(&self, child: SessionId, prompt: Queued) -> Pending<bool> {
        self.write(move |connection| {
            let mut pay = connection.prepare_cached(
                "UPDATE sessions SET owes_report = 0 WHERE id = ?1 AND owes_report RETURNING parent",
            )?;
            let parent: Option<[u8; 16]> =
                pay.query_row([child.as_bytes()], |row| row.get(0)).optional()?;
            let Some(parent) = parent.map(SessionId::from_bytes) else { return Ok(false) };
            queue::add(connection, parent, &prompt)?;
            Ok(true)
        })
    }

    /// Makes a sub-agent owe its parent a report again: it goes on with a follow-up.
    pub fn owe_report(&self, child: SessionId) -> Pending<()> {
        self.write(move |connection| {
            let mut owe =
                connection.prepare_cached("UPDATE sessions SET owes_report = 1 WHERE id = ?1")?;
            must_exist(owe.execute([child.as_bytes()])?, child)
        })
    }

    /// Makes `entry` the newest of the current branch: rewind, or switch to another branch. None goes back
    /// to before the first entry.
    pub fn set_head(&self, session: SessionId, entry: Option<EntryId>) -> Pending<()> {
        self.write(move |connection| {
            let seq = entry.map(|entry| seq_of(connection, session, entry)).transpose()?;
            let mut update =
                connection.prepare_cached("UPDATE sessions SET head_seq = ?2 WHERE id = ?1")?;
            must_exist(update.execute((session.as_bytes(), seq))?, session)
        })
    }
}

/// Makes a session inside a transaction.
pub(crate) fn create(connection: &Connection, new: &NewSession) -> Result<(), Fault> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO sessions (id, folder, project, agent, parent, call, owes_report, created, updated)
         VALUES (:id, :folder, :project, :agent, :parent, :call, :owes, :at, :at)
         ON CONFLICT (id) DO NOTHING",
    )?;
    let child_of = new.child_of.as_ref();
    let made = insert.execute(named_params! {
        ":id": new.id.as_bytes(),
        ":folder": new.folder,
        ":project": new.project,
        ":agent": new.agent,
        ":parent": child_of.map(|child| child.parent.as_bytes()),
        ":call": child_of.map(|child| child.call.as_str()),
        ":owes": child_of.is_some_and(|child| child.report == Report::Owed),
        ":at": new.at.as_millis(),
    })?;
    if made == 0 && one(connection, new.id)?.summary.folder != new.folder {
        return Err(StoreError::SessionExists(new.id).into());
    }
    Ok(())
}

/// The columns of [`summary`].
const SUMMARY: &str =
    "SELECT id, title, folder, created, updated, entries, provider, model FROM sessions";

/// A session as lists show it.
pub(crate) fn summary_of(connection: &Connection, id: SessionId) -> Result<SessionSummary, Fault> {
    let mut query = connection.prepare_cached(&format!("{SUMMARY} WHERE id = ?1"))?;
    let found = query.query_row([id.as_bytes()], summary).optional()?;
    let found = with_usage(connection, found.into_iter().collect())?.pop();
    Ok(found.ok_or(StoreError::NoSession(id))?)
}

fn one(connection: &Connection, id: SessionId) -> Result<Session, Fault> {
    let summary = summary_of(connection, id)?;
    let mut query = connection.prepare_cached(
        "SELECT project, head_seq, agent, parent, call, owes_report FROM sessions WHERE id = ?1",
    )?;
    let (project, head, agent, child_of): (String, Option<i64>, Option<String>, _) = query
        .query_row([id.as_bytes()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, child_of(row)?))
        })?;
    let head = head.map(|seq| entry_id_of(connection, seq)).transpose()?;
    Ok(Session { summary, project, agent, child_of, head })
}

/// Reads the columns `parent`, `call` and `owes_report`, which follow three others.
fn child_of(row: &Row<'_>) -> rusqlite::Result<Option<ChildOf>> {
    let Some(parent) = row.get::<_, Option<[u8; 16]>>(3)? else { return Ok(None) };
    let call: Option<String> = row.get(4)?;
    let report = if row.get(5)? { Report::Owed } else { Report::Told };
    let (parent, call) = (SessionId::from_bytes(parent), CallId::new(call.unwrap_or_default()));
    Ok(Some(ChildOf { parent, call, report }))
}

fn list(connection: &Connection, filter: &SessionFilter) -> Result<Vec<SessionSummary>, Fault> {
    let (condition, value) = match &filter.place {
        Place::Anywhere => (":place IS NULL", None),
        Place::Folder(folder) => ("folder = :place", Some(folder)),
        Place::Project(project) => ("project = :place", Some(project)),
    };
    let search = if filter.search.is_some() { SEARCH } else { ":search IS NULL AND :json IS NULL" };
    let sql = format!(
        "{SUMMARY} WHERE parent IS NULL AND {condition} AND ({search})
         ORDER BY updated DESC, id DESC LIMIT :limit"
    );
    let mut query = connection.prepare_cached(&sql)?;
    let limit = filter.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let rows = query.query_map(
        named_params! {
            ":place": value,
            ":search": filter.search.as_deref().map(contains),
            ":json": filter.search.as_deref().map(|text| contains(&as_in_json(text))),
            ":limit": limit,
        },
        summary,
    )?;
    with_usage(connection, rows.collect::<Result<_, _>>()?)
}

/// Bodies are JSON: a cheap match on the raw text first, then an exact one on its string values.
const SEARCH: &str = r"title LIKE :search ESCAPE '\' OR folder LIKE :search ESCAPE '\' OR EXISTS (
    SELECT 1 FROM entries e, json_tree(CASE WHEN json_valid(e.body) THEN e.body END) t
    WHERE e.session = sessions.id AND e.kind IN ('user', 'assistant')
      AND e.body LIKE :json ESCAPE '\'
      AND t.key = 'text' AND t.type = 'text' AND t.atom LIKE :search ESCAPE '\')";

fn contains(text: &str) -> String {
    let escaped = text.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
    format!("%{escaped}%")
}

fn as_in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text).to_owned()
}

fn summary(row: &Row<'_>) -> rusqlite::Result<SessionSummary> {
    let provider: Option<String> = row.get(6)?;
    let model: Option<String> = row.get(7)?;
    Ok(SessionSummary {
        id: SessionId::from_bytes(row.get(0)?),
        title: row.get(1)?,
        folder: row.get(2)?,
        created: Timestamp::from_millis(row.get(3)?),
        updated: Timestamp::from_millis(row.get(4)?),
        entries: unsigned(row, 5)?,
        model: provider.zip(model).map(|(provider, model)| ModelRef { provider, model }),
        usage: base::Usage::default(),
        cost: base::Money::ZERO,
    })
}

/// Sums come from the ledger each time: a second copy could differ from it.
fn with_usage(
    connection: &Connection,
    mut sessions: Vec<SessionSummary>,
) -> Result<Vec<SessionSummary>, Fault> {
    let ids: Vec<SessionId> = sessions.iter().map(|session| session.id).collect();
    let sums = usage::of_sessions(connection, &ids)?;
    for session in &mut sessions {
        (session.usage, session.cost) = sums.get(&session.id).copied().unwrap_or_default();
    }
    Ok(sessions)
}

fn must_exist(changed: usize, id: SessionId) -> Result<(), Fault> {
    if changed == 0 { Err(StoreError::NoSession(id).into()) } else { Ok(()) }
}

/// The first and last id that begin with `prefix`.
fn prefix_range(prefix: &str) -> Option<(SessionId, SessionId)> {
    let digits: String = prefix.chars().filter(|&character| character != '-').collect();
    if digits.is_empty() || digits.len() > 32 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let low = format!("{digits:0<32}").parse().ok()?;
    let high = format!("{digits:f<32}").parse().ok()?;
    Some((low, high))
}

fn distinct(connection: &Connection, id: SessionId) -> Result<usize, Fault> {
    let neighbours = [
        "SELECT id FROM sessions WHERE id < ?1 ORDER BY id DESC LIMIT 1",
        "SELECT id FROM sessions WHERE id > ?1 ORDER BY id LIMIT 1",
    ];
    let mut digits = 1;
    for sql in neighbours {
        let mut query = connection.prepare_cached(sql)?;
        let other: Option<[u8; 16]> =
            query.query_row([id.as_bytes()], |row| row.get(0)).optional()?;
        if let Some(other) = other {
            digits = digits.max(common_digits(id.as_bytes(), &other) + 1);
        }
    }
    Ok(digits)
}

fn common_digits(left: &[u8; 16], right: &[u8; 16]) -> usize {
    let difference = u128::from_be_bytes(*left) ^ u128::from_be_bytes(*right);
    difference.leading_zeros() as usize / 4
}
