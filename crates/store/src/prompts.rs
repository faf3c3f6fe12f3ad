//! What the user has said: in a project, for a composer's history; on a branch, as moments to go back to.

use std::collections::{HashMap, HashSet};

use base::{Entry, EntryKind, Origin, SessionId};
use rusqlite::Connection;

use crate::entries::{ENTRY, entries, entry, head_seq};
use crate::error::{Fault, StoreError};
use crate::pending::Pending;
use crate::store::Store;

/// Bytes of a project's history, all prompts together.
const HISTORY_BYTES: usize = 64 * 1024;
/// Prompts that are looked at for a history: many may be the same.
const PROMPTS_READ: usize = 2_000;

/// The moments of a session's current branch that one can go back to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moments {
    /// Entries of the user, reports of sub-agents among them, oldest first.
    pub prompts: Vec<Prompt>,
    /// The checkpoint of the last rewind, if nothing was said since.
    pub rewound: Option<Entry>,
}

/// A prompt, and what was done until the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The prompt.
    pub entry: Entry,
    /// The files that tools have changed, by their real path.
    pub files: Vec<String>,
    /// Whether commands have run: what they changed is not known.
    pub commands: Commands,
}

/// Whether commands have run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commands {
    /// None has.
    None,
    /// Some have.
    Ran,
}

impl Store {
    /// What the user has typed in a project's sessions, newest first, each once.
    pub fn history(&self, project: String, limit: usize) -> Pending<Vec<String>> {
        self.read(move |connection| history(connection, &project, limit))
    }

    /// The moments of a session's current branch that one can go back to.
    pub fn moments(&self, session: SessionId) -> Pending<Moments> {
        self.read(move |connection| moments(connection, session))
    }
}

/// What the user wrote in an entry: text parts of the person at the keyboard, nobody else's.
pub fn typed(kind: &EntryKind) -> Option<String> {
    let EntryKind::User { parts } = kind else { return None };
    let own = parts.iter().filter(|part| part.origin == Origin::User);
    let texts: Vec<&str> = own.filter_map(|part| part.as_text()).collect();
    let text = texts.join("\n");
    (!text.trim().is_empty()).then_some(text)
}

/// Sessions are read newest first, until none that is left can hold a newer prompt.
fn history(connection: &Connection, project: &str, limit: usize) -> Result<Vec<String>, Fault> {
    let mut sessions = connection.prepare_cached(
        "SELECT id, updated FROM sessions WHERE project = ?1 AND parent IS NULL
         ORDER BY updated DESC",
    )?;
    let mut of_session = connection.prepare_cached(
        "SELECT at, seq, body FROM entries WHERE session = ?1 AND kind = 'user'
         ORDER BY seq DESC LIMIT ?2",
    )?;
    let wanted = limit.min(PROMPTS_READ);
    let mut found: Vec<(i64, i64, String)> = Vec::new();
    let mut distinct = HashSet::new();
    let mut rows = sessions.query([project])?;
    while let Some(row) = rows.next()? {
        let (session, updated): ([u8; 16], i64) = (row.get(0)?, row.get(1)?);
        let is_enough = distinct.len() >= wanted && is_settled(&found, wanted, updated);
        if is_enough || found.len() >= PROMPTS_READ {
            break;
        }
        let most = i64::try_from(PROMPTS_READ).unwrap_or(i64::MAX);
        let mut prompts = of_session.query((session, most))?;
        while let Some(row) = prompts.next()? {
            // An entry that cannot be read is missing from a history, and no more.
            let Ok(kind) = serde_json::from_str(row.get_ref(2)?.as_str().unwrap_or_default())
            else {
                continue;
            };
            if let Some(text) = typed(&kind) {
                distinct.insert(text.clone());
                found.push((row.get(0)?, row.get(1)?, text));
            }
        }
    }
    found.sort_unstable_by(|one, other| other.cmp(one));
    Ok(newest_once(found, limit))
}

/// Whether as many different prompts as wanted are newer than anything that is left.
fn is_settled(found: &[(i64, i64, String)], wanted: usize, updated: i64) -> bool {
    let newer = found.iter().filter(|(at, ..)| *at >= updated);
    newer.map(|(.., text)| text.as_str()).collect::<HashSet<_>>().len() >= wanted
}

fn newest_once(found: Vec<(i64, i64, String)>, limit: usize) -> Vec<String> {
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    let mut prompts = Vec::new();
    for (.., text) in found {
        if prompts.len() == limit {
            break;
        }
        // One prompt that is too long does not hide those before it.
        if bytes + text.len() > HISTORY_BYTES || !seen.insert(text.clone()) {
            continue;
        }
        bytes += text.len();
        prompts.push(text);
    }
    prompts
}

fn moments(connection: &Connection, session: SessionId) -> Result<Moments, Fault> {
    let Some(head) = head_seq(connection, session)? else { return Ok(Moments::default()) };
    let (seqs, ran) = prompt_seqs(connection, head)?;
    let mut files = changed_files(connection, session)?;
    let mut prompts = Vec::with_capacity(seqs.len());
    let one = format!("{ENTRY} WHERE e.seq = ?1");
    let mut query = connection.prepare_cached(&one)?;
    for seq in &seqs {
        let mut rows = query.query([seq])?;
        let row = rows.next()?.ok_or_else(|| StoreError::Unreadable {
            what: format!("a prompt of session {session}"),
            detail: "it is missing".to_owned(),
        })?;
        let commands = if ran.contains(seq) { Commands::Ran } else { Commands::None };
        let files = files.remove(seq).unwrap_or_default();
        prompts.push(Prompt { entry: entry(row, session)?, files, commands });
    }
    let newest = seqs.last().copied().unwrap_or(0);
    let rewound = format!(
        "{ENTRY} WHERE e.session = ?1 AND e.kind = 'checkpoint' AND e.seq > ?2
         ORDER BY e.seq DESC LIMIT 1"
    );
    let rewound = entries(connection, session, &rewound, (session.as_bytes(), newest))?.pop();
    Ok(Moments { prompts, rewound })
}

/// Where the user's entries of a branch are, oldest first; and those of them after which commands have run.
fn prompt_seqs(connection: &Connection, head: i64) -> Result<(Vec<i64>, HashSet<i64>), Fault> {
    // A quote inside a string of JSON has a backslash before it: only a call of the tool fits.
    let mut query = connection.prepare_cached(
        r#"WITH RECURSIVE walk (seq, parent_seq, kind) AS (
             SELECT seq, parent_seq, kind FROM entries WHERE seq = ?1
             UNION ALL
             SELECT e.seq, e.parent_seq, e.kind FROM walk JOIN entries e ON e.seq = walk.parent_seq)
           SELECT w.seq, w.kind = 'user' FROM walk w JOIN entries e ON e.seq = w.seq
           WHERE w.kind = 'user' OR (w.kind = 'assistant' AND e.body LIKE '%"name":"bash"%')
           ORDER BY w.seq"#,
    )?;
    let rows = query.query_map([head], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (mut prompts, mut ran) = (Vec::new(), HashSet::new());
    for row in rows {
        match row? {
            (seq, true) => prompts.push(seq),
            (_, false) => ran.extend(prompts.last()),
        }
    }
    Ok((prompts, ran))
}

/// The files that were changed after each prompt, in the order of their first change.
fn changed_files(
    connection: &Connection,
    session: SessionId,
) -> Result<HashMap<i64, Vec<String>>, Fault> {
    let mut query = connection
        .prepare_cached("SELECT moment, path FROM file_states WHERE session = ?1 ORDER BY seq")?;
    let rows = query.query_map([session.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut files: HashMap<i64, Vec<String>> = HashMap::new();
    for row in rows {
        let (moment, path): (i64, String) = row?;
        let known = files.entry(moment).or_default();
        if !known.contains(&path) {
            known.push(path);
        }
    }
    Ok(files)
}
