//! What the user allowed beyond a single call.

use base::{SessionId, Timestamp};
use rusqlite::Row;

use crate::pending::Pending;
use crate::store::Store;

/// A grant's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GrantId(i64);

/// How far a grant reaches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reach {
    /// One session.
    Session(SessionId),
    /// One project.
    Project(String),
    /// Every project of this user.
    Everywhere,
}

/// Something the user allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its number.
    pub id: GrantId,
    /// How far it reaches.
    pub reach: Reach,
    /// The rule, as `guard` writes it.
    pub rule: String,
    /// When it was given.
    pub at: Timestamp,
}

impl Store {
    /// Remembers a grant; the same one twice is one.
    pub fn add_grant(&self, reach: Reach, rule: String, at: Timestamp) -> Pending<GrantId> {
        self.write(move |connection| {
            let (session, project) = match &reach {
                Reach::Session(session) => (Some(session.as_bytes()), None),
                Reach::Project(project) => (None, Some(project)),
                Reach::Everywhere => (None, None),
            };
            let mut insert = connection.prepare_cached(
                "INSERT INTO grants (session, project, rule, at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO NOTHING",
            )?;
            insert.execute((session, project, &rule, at.as_millis()))?;
            let mut find = connection.prepare_cached(
                "SELECT id FROM grants WHERE session IS ?1 AND project IS ?2 AND rule = ?3",
            )?;
            let id = find.query_row((session, project, &rule), |row| row.get(0))?;
            Ok(GrantId(id))
        })
    }

    /// The grants that reach a session of a project, oldest first.
    pub fn grants(&self, session: Option<SessionId>, project: String) -> Pending<Vec<Grant>> {
        self.read(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT id, session, project, rule, at FROM grants
                 WHERE (session IS NULL AND project IS NULL) OR session = ?1 OR project = ?2
                 ORDER BY id",
            )?;
            let session = session.as_ref().map(SessionId::as_bytes);
            let rows = query.query_map((session, project), grant)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Takes a grant back; one that is gone already is no failure.
    pub fn remove_grant(&self, id: GrantId) -> Pending<()> {
        self.write(move |connection| {
            connection.prepare_cached("DELETE FROM grants WHERE id = ?1")?.execute([id.0])?;
            Ok(())
        })
    }
}

fn grant(row: &Row<'_>) -> rusqlite::Result<Grant> {
    let session: Option<[u8; 16]> = row.get(1)?;
    let project: Option<String> = row.get(2)?;
    let reach = match (session, project) {
        (Some(session), _) => Reach::Session(SessionId::from_bytes(session)),
        (None, Some(project)) => Reach::Project(project),
        (None, None) => Reach::Everywhere,
    };
    Ok(Grant {
        id: GrantId(row.get(0)?),
        reach,
        rule: row.get(3)?,
        at: Timestamp::from_millis(row.get(4)?),
    })
}
