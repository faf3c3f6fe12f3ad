//! The time machine: what files were before tools changed them.
//!
//! States form one line in time for a whole family of sessions: sub-agents' belong to the session at the top.
//! A state names a *moment*, the prompt after which the file was changed. What a file was when an entry was
//! made is what the first state since that entry says, so a rewind, which is a change like any other and
//! leaves states of its own, can itself be taken back.

use std::io::{Read as _, Write as _};

use base::{EntryId, SessionId, Timestamp};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use rusqlite::{Connection, OptionalExtension, Row, named_params};
use sha2::{Digest as _, Sha256};

use crate::entries::{require_session, seq_of};
use crate::error::{Fault, StoreError};
use crate::pending::Pending;
use crate::store::Store;

/// The largest file whose content is kept.
pub const FILE_LIMIT_BYTES: u64 = 8 * 1024 * 1024;

/// A content's hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Of content at hand.
    pub fn of(content: &[u8]) -> Self {
        Self(Sha256::digest(content).into())
    }

    /// Of content that is read to its end.
    pub fn of_all(content: &mut dyn std::io::Read) -> std::io::Result<Self> {
        let mut hash = Sha256::new();
        let mut piece = vec![0; 64 * 1024];
        loop {
            match content.read(&mut piece)? {
                0 => return Ok(Self(hash.finalize().into())),
                length => hash.update(&piece[..length]),
            }
        }
    }
}

/// What a file was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Was {
    /// There was none.
    Absent,
    /// A file with this content.
    File {
        /// The content.
        content: Vec<u8>,
        /// Its permissions.
        mode: u32,
    },
    /// A file too large to be kept.
    TooLarge {
        /// Its size in bytes.
        size: u64,
    },
}

/// A file that is about to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changing {
    /// Its real path.
    pub path: String,
    /// What will be there afterwards; none for no file.
    pub leaves: Option<ContentHash>,
    /// When.
    pub at: Timestamp,
}

/// Whether a file's state must be kept before it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It was kept since the last prompt, or is not to be.
    Nothing,
    /// It must be kept first.
    State,
}

/// After what a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The newest prompt of the session at the top of the family.
    Prompt,
    /// The checkpoint of a rewind of that session.
    Rewind(EntryId),
}

/// What is known of a file at an earlier moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// Its real path.
    pub path: String,
    /// What it was.
    pub was: Kept,
    /// What we have last left there; none for no file.
    pub left: Option<ContentHash>,
}

/// What a file was, its content by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// There was none.
    Absent,
    /// A file; [`Store::content`] has what was in it.
    File {
        /// The content's name.
        hash: ContentHash,
        /// Its permissions.
        mode: u32,
    },
    /// A file too large to be kept.
    TooLarge {
        /// Its size in bytes.
        size: u64,
    },
}

impl Store {
    /// Notes that a session changes a file, and tells whether what it was must be kept first. What a sub-agent
    /// does in a folder of its own, such as a worktree, is nobody's to bring back.
    pub fn note_change(&self, session: SessionId, change: Changing) -> Pending<Need> {
        self.jot(move |connection| {
            let root = root_of(connection, session)?;
            if is_apart(connection, session, root)? {
                return Ok(Need::Nothing);
            }
            let moment = moment_now(connection, root)?;
            let mut newest = connection.prepare_cached(
                "SELECT seq, moment FROM file_states WHERE session = ?1 AND path = ?2
                 ORDER BY seq DESC LIMIT 1",
            )?;
            let newest: Option<(i64, i64)> = newest
                .query_row((root.as_bytes(), &change.path), |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((seq, _)) = newest.filter(|(_, kept)| *kept >= moment) else {
                return Ok(Need::State);
            };
            let mut update =
                connection.prepare_cached("UPDATE file_states SET leaves = ?2 WHERE seq = ?1")?;
            update.execute((seq, change.leaves.map(|hash| hash.0)))?;
            Ok(Need::Nothing)
        })
    }

    /// Keeps what a file is before it changes. It survives a power cut once it is answered.
    pub fn keep_state(
        &self,
        session: SessionId,
        moment: Moment,
        change: Changing,
        was: Was,
    ) -> Pending<()> {
        // Deflated here, where whoever asks waits, and not where everybody does.
        let packed = pack(was);
        self.write(move |connection| {
            let root = root_of(connection, session)?;
            let moment = match moment {
                Moment::Prompt => moment_now(connection, root)?,
                Moment::Rewind(entry) => seq_of(connection, root, entry)?,
            };
            insert(connection, (root, moment), &change, &packed?)
        })
    }

    /// What files were when `entry` was made, of those changed since; of all ever changed if none. By path.
    pub fn states_since(
        &self,
        session: SessionId,
        entry: Option<EntryId>,
    ) -> Pending<Vec<FileState>> {
        self.read(move |connection| {
            require_session(connection, session)?;
            let since = match entry {
                Some(entry) => seq_of(connection, session, entry)?,
                None => i64::MIN,
            };
            let mut query = connection.prepare_cached(
                "SELECT s.path, s.size, s.mode, s.blob,
                        (SELECT n.leaves FROM file_states n
                         WHERE n.session = ?1 AND n.path = s.path ORDER BY n.seq DESC LIMIT 1)
                 FROM file_states s WHERE s.seq IN (
                     SELECT min(seq) FROM file_states
                     WHERE session = ?1 AND moment >= ?2 GROUP BY path)
                 ORDER BY s.path",
            )?;
            let rows = query.query_map((session.as_bytes(), since), file_state)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// What was in a file.
    pub fn content(&self, hash: ContentHash) -> Pending<Vec<u8>> {
        self.read(move |connection| {
            let mut query = connection.prepare_cached("SELECT bytes FROM blobs WHERE hash = ?1")?;
            let packed: Option<Vec<u8>> = query.query_row([hash.0], |row| row.get(0)).optional()?;
            let unreadable = |detail: &str| StoreError::Unreadable {
                what: "a kept file".to_owned(),
                detail: detail.to_owned(),
            };
            let packed = packed.ok_or_else(|| unreadable("its content is missing"))?;
            let mut content = Vec::new();
            let mut plain = DeflateDecoder::new(packed.as_slice()).take(FILE_LIMIT_BYTES + 1);
            plain.read_to_end(&mut content).map_err(|error| unreadable(&error.to_string()))?;
            if ContentHash::of(&content) != hash {
                return Err(unreadable("its content is not what was kept").into());
            }
            Ok(content)
        })
    }
}

/// A state as it goes into the database.
struct Packed {
    size: Option<i64>,
    mode: Option<u32>,
    blob: Option<(ContentHash, Vec<u8>)>,
}

fn pack(was: Was) -> Result<Packed, StoreError> {
    let sized = |size: u64| Some(i64::try_from(size).unwrap_or(i64::MAX));
    Ok(match was {
        Was::Absent => Packed { size: None, mode: None, blob: None },
        Was::TooLarge { size } => Packed { size: sized(size), mode: None, blob: None },
        Was::File { content, .. } if content.len() as u64 > FILE_LIMIT_BYTES => {
            Packed { size: sized(content.len() as u64), mode: None, blob: None }
        }
        Was::File { content, mode } => {
            let mut packing = DeflateEncoder::new(Vec::new(), Compression::fast());
            let packed = packing.write_all(&content).and_then(|()| packing.finish());
            let packed = packed.map_err(|error| StoreError::Unreadable {
                what: "a file to be kept".to_owned(),
                detail: error.to_string(),
            })?;
            let blob = Some((ContentHash::of(&content), packed));
            Packed { size: sized(content.len() as u64), mode: Some(mode), blob }
        }
    })
}

fn insert(
    connection: &Connection,
    (root, moment): (SessionId, i64),
    change: &Changing,
    was: &Packed,
) -> Result<(), Fault> {
    if let Some((hash, bytes)) = &was.blob {
        let mut blob = connection.prepare_cached(
            "INSERT INTO blobs (hash, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?;
        blob.execute((hash.0, bytes))?;
    }
    let mut state = connection.prepare_cached(
        "INSERT INTO file_states (session, moment, path, size, mode, blob, leaves, at)
         VALUES (:session, :moment, :path, :size, :mode, :blob, :leaves, :at)",
    )?;
    state.execute(named_params! {
        ":session": root.as_bytes(),
        ":moment": moment,
        ":path": change.path,
        ":size": was.size,
        ":mode": was.mode,
        ":blob": was.blob.as_ref().map(|(hash, _)| hash.0),
        ":leaves": change.leaves.map(|hash| hash.0),
        ":at": change.at.as_millis(),
    })?;
    Ok(())
}

/// The session at the top of the family.
fn root_of(connection: &Connection, session: SessionId) -> Result<SessionId, Fault> {
    let mut query = connection.prepare_cached(
        "WITH RECURSIVE up (id, parent) AS (
             SELECT id, parent FROM sessions WHERE id = ?1
             UNION SELECT s.id, s.parent FROM up JOIN sessions s ON s.id = up.parent)
         SELECT id FROM up WHERE parent IS NULL",
    )?;
    let root = query.query_row([session.as_bytes()], |row| row.get(0)).optional()?;
    Ok(root.map(SessionId::from_bytes).ok_or(StoreError::NoSession(session))?)
}

/// Whether a session works in another folder than the one at the top of its family.
fn is_apart(connection: &Connection, session: SessionId, root: SessionId) -> Result<bool, Fault> {
    let mut query = connection
        .prepare_cached("SELECT count(DISTINCT folder) > 1 FROM sessions WHERE id IN (?1, ?2)")?;
    Ok(query.query_row((session.as_bytes(), root.as_bytes()), |row| row.get(0))?)
}

/// The moment that a change belongs to: the newest prompt of the branch, or the last rewind if that came
/// later. Moments never go back, although the conversation may.
fn moment_now(connection: &Connection, root: SessionId) -> Result<i64, Fault> {
    let mut query = connection.prepare_cached(
        "WITH RECURSIVE walk (seq, parent_seq, kind) AS (
             SELECT e.seq, e.parent_seq, e.kind FROM sessions s JOIN entries e ON e.seq = s.head_seq
             WHERE s.id = ?1
             UNION ALL
             SELECT e.seq, e.parent_seq, e.kind FROM walk JOIN entries e ON e.seq = walk.parent_seq
             WHERE walk.kind <> 'user')
         SELECT max(
             coalesce((SELECT seq FROM walk WHERE kind = 'user'), 0),
             coalesce((SELECT max(seq) FROM entries WHERE session = ?1 AND kind = 'checkpoint'), 0),
             coalesce((SELECT max(moment) FROM file_states WHERE session = ?1), 0))",
    )?;
    Ok(query.query_row([root.as_bytes()], |row| row.get(0))?)
}

fn file_state(row: &Row<'_>) -> rusqlite::Result<FileState> {
    let size: Option<i64> = row.get(1)?;
    let mode: Option<u32> = row.get(2)?;
    let blob: Option<[u8; 32]> = row.get(3)?;
    let was = match (size, blob) {
        (None, _) => Kept::Absent,
        (Some(_), Some(hash)) => {
            Kept::File { hash: ContentHash(hash), mode: mode.unwrap_or(0o644) }
        }
        (Some(size), None) => Kept::TooLarge { size: size.unsigned_abs() },
    };
    let left: Option<[u8; 32]> = row.get(4)?;
    Ok(FileState { path: row.get(0)?, was, left: left.map(ContentHash) })
}
