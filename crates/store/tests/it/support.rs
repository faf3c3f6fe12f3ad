//! What several tests need: a store in a temporary folder, and entries to put into it.

use std::path::{Path, PathBuf};

use base::{
    Entry, EntryId, EntryKind, ModelRef, Money, Part, SessionId, StopReason, Timestamp, Usage,
};
use rusqlite::{Connection, OpenFlags};
use store::{CallKind, CallStatus, NewSession, Store, UsageRow};
use tempfile::TempDir;

/// A folder that goes away with the test, and where its database is.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data/caiman.db");
    (dir, path)
}

/// Opens a store that must be sound.
pub(crate) fn open(path: &Path) -> Store {
    let opened = Store::open(path).unwrap();
    assert_eq!(opened.moved_aside, None);
    opened.store
}

/// A session of `/work/one`, made and ready.
pub(crate) fn session(store: &Store) -> SessionId {
    let new = new_session("/work/one", 1_000);
    let id = new.id;
    store.create_session(new).wait().unwrap();
    id
}

pub(crate) fn new_session(folder: &str, at_ms: i64) -> NewSession {
    NewSession {
        id: SessionId::new(),
        folder: folder.to_owned(),
        project: folder.to_owned(),
        agent: None,
        child_of: None,
        at: Timestamp::from_millis(at_ms),
    }
}

/// A call that used `input` tokens, each for a picodollar.
pub(crate) fn paid(session: SessionId, input: u64) -> UsageRow {
    UsageRow {
        session: Some(session),
        at: Timestamp::from_millis(2_500),
        model: ModelRef::new("demo", "tour"),
        kind: CallKind::Main,
        status: CallStatus::Done,
        usage: Usage { input, ..Usage::default() },
        cost: Some(Money::from_pico(i64::try_from(input).unwrap())),
        duration_ms: 7,
    }
}

pub(crate) fn user(parent: Option<EntryId>, text: &str) -> Entry {
    let kind = EntryKind::User { parts: vec![Part::user_text(text)] };
    Entry { id: EntryId::new(), parent, at: Timestamp::from_millis(2_000), kind }
}

pub(crate) fn assistant(parent: Option<EntryId>, text: &str) -> Entry {
    let kind = EntryKind::Assistant {
        parts: vec![Part::assistant_text(text)],
        model: ModelRef::new("demo", "tour"),
        stop: StopReason::Done,
        usage: Usage { input: 3, output: 5, ..Usage::default() },
    };
    Entry { id: EntryId::new(), parent, at: Timestamp::from_millis(3_000), kind }
}

/// A chain of `count` entries of about `bytes` bytes each.
pub(crate) fn chain(count: usize, bytes: usize) -> Vec<Entry> {
    let mut chain: Vec<Entry> = Vec::new();
    for at in 0..count {
        let parent = chain.last().map(|entry| entry.id);
        let text = format!("{at} {}", "x".repeat(bytes));
        chain.push(if at % 2 == 0 { user(parent, &text) } else { assistant(parent, &text) });
    }
    chain
}

/// The database behind the store's back.
pub(crate) fn raw(path: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    Connection::open_with_flags(path, flags).unwrap()
}
