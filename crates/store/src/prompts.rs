//! What the user has said: in a project, for a composer's history; on a branch, as moments to go back to.

use std::collections::{HashMap, HashSet};

use base::{Entry, EntryKind, Origin, SessionId};
use rusqlite::Connection;

use crate::entries::{ENTRY, entries, entry, head_seq};
use crate::error::Fault;
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
    /// The tools that were called, each once, in the order of their first call.
    pub tools: Vec<String>,
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
    let (prompts, newest) = prompts(connection, session, head)?;
    let rewound = format!(
        "{ENTRY} WHERE e.session = ?1 AND e.kind = 'checkpoint' AND e.seq > ?2
         ORDER BY e.seq DESC LIMIT 1"
    );
    let rewound = entries(connection, session, &rewound, (session.as_bytes(), newest))?.pop();
    Ok(Moments { prompts, rewound })
}

/// The user's entries of a branch, oldest first, and the `seq` of the newest, 0 if there is none.
fn prompts(
    connection: &Connection,
    session: SessionId,
    head: i64,
) -> Result<(Vec<Prompt>, i64), Fault> {
    // A prompt has its body and no tools, an answer the tools that it calls and no body.
    let mut query = connection.prepare_cached(
        "WITH RECURSIVE walk (seq, parent_seq) AS (
             SELECT seq, parent_seq FROM entries WHERE seq = ?1
             UNION ALL
             SELECT e.seq, e.parent_seq FROM walk JOIN entries e ON e.seq = walk.parent_seq)
         SELECT e.id, p.id, e.at, iif(e.kind = 'user', e.body, NULL), e.seq,
                iif(e.kind = 'assistant', (
                    SELECT json_group_array(part.value ->> 'name')
                    FROM json_each(iif(json_valid(e.body), e.body, '{}'), '$.parts') part
                    WHERE part.value ->> 'type' = 'call'), NULL)
         FROM entries e LEFT JOIN entries p ON p.seq = e.parent_seq
         WHERE e.seq IN (SELECT seq FROM walk) AND e.kind IN ('user', 'assistant')
         ORDER BY e.seq",
    )?;
    let mut files = changed_files(connection, session)?;
    let mut prompts: Vec<Prompt> = Vec::new();
    let mut newest = 0;
    let mut rows = query.query([head])?;
    while let Some(row) = rows.next()? {
        let called: Option<String> = row.get(5)?;
        let Some(called) = called else {
            newest = row.get(4)?;
            let files = files.remove(&newest).unwrap_or_default();
            prompts.push(Prompt { entry: entry(row, session)?, files, tools: Vec::new() });
            continue;
        };
        // A call without a name is of no tool.
        let called: Vec<Option<String>> = serde_json::from_str(&called).unwrap_or_default();
        let Some(prompt) = prompts.last_mut() else { continue };
        for tool in called.into_iter().flatten() {
            if !prompt.tools.contains(&tool) {
                prompt.tools.push(tool);
            }
        }
    }
    Ok((prompts, newest))
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
