//! Looking for damage.
//!
//! SQLite notices a wrong header, a file shorter than it should be and a broken schema at the first
//! statement. Damage deeper inside takes reading every page, which a start-up cannot afford: it happens
//! when the file is small, when the last process did not close it, or when damage was met before.

use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use crate::error::Fault;

/// A file up to this size is checked at every opening: about a millisecond.
pub(crate) const SMALL_BYTES: u64 = 1024 * 1024;
/// How long an opening may look for damage after an unclean close.
const BUDGET: Duration = Duration::from_millis(250);
/// SQLite instructions between two looks at the clock, a few hundred microseconds apart.
const STEPS_BETWEEN_LOOKS: i32 = 20_000;

/// How hard to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What every statement notices anyway.
    Surface,
    /// Every page, until the time budget ends.
    Budgeted,
    /// Every page, however long it takes.
    Whole,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Nothing wrong as far as we looked.
    Sound,
    /// The first thing that is wrong.
    Damage(String),
}

/// Looks through an open database.
pub(crate) fn look(connection: &Connection, depth: Depth) -> rusqlite::Result<Finding> {
    match depth {
        Depth::Surface => Ok(Finding::Sound),
        Depth::Budgeted => {
            let until = Instant::now() + BUDGET;
            connection
                .progress_handler(STEPS_BETWEEN_LOOKS, Some(move || Instant::now() >= until))?;
            let found = pages(connection, "quick_check");
            connection.progress_handler(0, None::<fn() -> bool>)?;
            match found {
                Err(error)
                    if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) =>
                {
                    Ok(Finding::Sound)
                }
                found => found,
            }
        }
        Depth::Whole => pages(connection, "integrity_check"),
    }
}

/// Checks what SQLite cannot know: every parent and head is an entry of the same session, every count is
/// right.
pub(crate) fn trees(connection: &Connection) -> Result<Finding, Fault> {
    let broken_links = "SELECT count(*) FROM entries e LEFT JOIN entries p ON p.seq = e.parent_seq
        WHERE e.parent_seq IS NOT NULL AND (p.seq IS NULL OR p.session <> e.session)";
    let broken_heads = "SELECT count(*) FROM sessions s LEFT JOIN entries e ON e.seq = s.head_seq
        WHERE s.head_seq IS NOT NULL AND (e.seq IS NULL OR e.session <> s.id)";
    let wrong_counts = "SELECT count(*) FROM sessions s
        WHERE s.entries <> (SELECT count(*) FROM entries WHERE session = s.id)";
    let questions = [
        (broken_links, "entries without their parent"),
        (broken_heads, "sessions without their newest entry"),
        (wrong_counts, "sessions with a wrong number of entries"),
    ];
    for (question, what) in questions {
        let count: i64 = connection.query_row(question, [], |row| row.get(0))?;
        if count > 0 {
            return Ok(Finding::Damage(format!("{count} {what}")));
        }
    }
    Ok(Finding::Sound)
}

fn pages(connection: &Connection, pragma: &str) -> rusqlite::Result<Finding> {
    let question = format!("PRAGMA {pragma}(1)");
    let first = connection.query_row(&question, [], |row| {
        // A message made of damaged bytes is damage too.
        Ok(row.get_ref(0)?.as_str().map_or_else(|error| error.to_string(), str::to_owned))
    })?;
    Ok(if first == "ok" { Finding::Sound } else { Finding::Damage(first.replace('\n', "; ")) })
}
