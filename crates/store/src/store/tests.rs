//! What only the inside of the room can provoke.

use std::sync::mpsc;

use base::{Entry, EntryId, EntryKind, SessionId, Timestamp};

use super::*;
use crate::sessions::NewSession;

fn session(store: &Store) -> SessionId {
    let id = SessionId::new();
    let place = "/work".to_owned();
    let at = Timestamp::default();
    let new =
        NewSession { id, folder: place.clone(), project: place, agent: None, child_of: None, at };
    store.create_session(new).wait().unwrap();
    id
}

fn notice(text: &str) -> Entry {
    let kind = EntryKind::Notice { text: text.to_owned(), class: None };
    Entry { id: EntryId::new(), parent: None, at: Timestamp::default(), kind }
}

fn run(store: &Store, sql: &'static str) -> Result<(), StoreError> {
    store.write(move |connection| Ok(connection.execute_batch(sql)?)).wait()
}

#[test]
fn entries_and_ledger_refuse_to_be_changed() {
    let store = Store::in_memory().unwrap();
    let id = session(&store);
    store.append(id, vec![notice("stays")]).wait().unwrap();
    run(
        &store,
        "INSERT INTO usage (at, provider, model, kind, input, cache_read, cache_write, output,
             reasoning, duration_ms) VALUES (1, 'p', 'm', 'main', 1, 0, 0, 1, 0, 1)",
    )
    .unwrap();
    for forbidden in [
        "UPDATE entries SET body = '{}'",
        "DELETE FROM entries",
        "UPDATE usage SET input = 0",
        "DELETE FROM usage",
    ] {
        let error = run(&store, forbidden).unwrap_err();
        assert!(error.to_string().contains("append-only"), "{forbidden}: {error}");
    }
    assert_eq!(store.tree(id).wait().unwrap().entries().len(), 1);
    store.delete(id).wait().unwrap();
    let left: i64 = store
        .read(|connection| {
            Ok(connection.query_row("SELECT count(*) FROM entries", [], |row| row.get(0))?)
        })
        .wait()
        .unwrap();
    assert_eq!(left, 0);
}

/// Holds the writer up until all of `jobs` wait, so that they share one transaction.
fn together<T: Send + 'static>(store: &Store, jobs: Vec<Pending<T>>) -> Vec<Result<T, StoreError>> {
    let (started, starting) = mpsc::channel::<()>();
    let (release, released) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let pause = store.jot(move |_| {
            started.send(()).unwrap();
            released.recv().unwrap();
            Ok(())
        });
        let holder = scope.spawn(|| pause.wait());
        starting.recv().unwrap();
        let waiting: Vec<_> = jobs.into_iter().map(|job| scope.spawn(|| job.wait())).collect();
        let queue = store.room.jobs.as_ref().unwrap();
        while queue.max_capacity() - queue.capacity() < waiting.len() {
            std::thread::yield_now();
        }
        release.send(()).unwrap();
        holder.join().unwrap().unwrap();
        waiting.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn a_job_that_fails_takes_only_itself_back() {
    let store = Store::in_memory().unwrap();
    let id = session(&store);
    let jobs = vec![
        store.append(id, vec![notice("one")]),
        store.append(SessionId::new(), vec![notice("nowhere")]),
        store.append(id, vec![notice("two")]),
    ];
    let answers = together(&store, jobs);
    assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
    assert!(matches!(answers[1], Err(StoreError::NoSession(_))), "{answers:?}");
    assert_eq!(store.tree(id).wait().unwrap().entries().len(), 2);
}

#[test]
fn a_full_disk_is_named_and_nothing_that_was_promised_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("caiman.db")).unwrap().store;
    let id = session(&store);
    run(&store, "PRAGMA max_page_count = 40").unwrap();
    let big = "x".repeat(1024 * 1024);
    let jobs = vec![store.append(id, vec![notice("small")]), store.append(id, vec![notice(&big)])];
    let answers = together(&store, jobs);
    assert!(matches!(answers[1], Err(StoreError::Full { .. })), "{answers:?}");
    let kept = store.tree(id).wait().unwrap().entries().len();
    assert_eq!(kept, usize::from(answers[0].is_ok()), "{answers:?}");
    run(&store, "PRAGMA max_page_count = 100000").unwrap();
    store.append(id, vec![notice(&big)]).wait().unwrap();
    store.check().wait().unwrap();
}

#[test]
fn a_request_outlives_the_store_it_was_made_of() {
    let (done, finished) = mpsc::channel();
    std::thread::spawn(move || {
        let store = Store::in_memory().unwrap();
        let id = session(&store);
        let pending = store.append(id, vec![notice("late")]);
        drop(store);
        done.send(pending.wait()).unwrap();
    });
    let answer = finished.recv_timeout(std::time::Duration::from_secs(20));
    assert!(matches!(answer, Ok(Ok(()))), "{answer:?}");
}

#[test]
fn wrong_trees_are_found_by_a_check() {
    let store = Store::in_memory().unwrap();
    let id = session(&store);
    store.append(id, vec![notice("one")]).wait().unwrap();
    store.check().wait().unwrap();
    run(&store, "UPDATE sessions SET head_seq = 999").unwrap();
    let error = store.check().wait().unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}
