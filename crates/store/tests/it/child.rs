//! A second process: this test binary, run again with an order in its environment.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use base::{Entry, EntryId, ModelRef, Part, SessionId, Timestamp};
use store::{Draft, Store};

use crate::support;

const ORDER: &str = "CAIMAN_STORE_TEST_ORDER";
const DATABASE: &str = "CAIMAN_STORE_TEST_DATABASE";

/// Lets a child do `order` on a database; it prints a line for each thing acknowledged to it.
#[expect(clippy::disallowed_methods, reason = "a test of two processes needs a second one")]
pub(crate) fn start(database: &Path, order: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["child::a_child_does_what_it_is_told", "--exact", "--nocapture"])
        .env(ORDER, order)
        .env(DATABASE, database)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What a child was told in its lines: `ack <session> <entry>`.
pub(crate) fn acknowledged(line: &str) -> Option<(SessionId, EntryId)> {
    let mut words = line.strip_prefix("ack ")?.split(' ');
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the order comes from the parent process")]
fn a_child_does_what_it_is_told() {
    let (Ok(order), Ok(database)) = (std::env::var(ORDER), std::env::var(DATABASE)) else {
        return;
    };
    let store = Store::open(Path::new(&database)).unwrap().store;
    let mut words = order.split(' ');
    let (verb, count) = (words.next().unwrap(), words.next().unwrap().parse().unwrap());
    match verb {
        "append" => append(&store, count),
        "stream" => stream(&store, count),
        other => panic!("unknown order {other}"),
    }
}

/// Three sessions at once, so that one COMMIT holds writes of several.
fn append(store: &Store, count: usize) {
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| append_chain(store, count));
        }
    });
}

fn append_chain(store: &Store, count: usize) {
    let session = support::session(store);
    let mut entries = support::chain(count, 300).into_iter().peekable();
    while entries.peek().is_some() {
        let batch: Vec<Entry> = entries.by_ref().take(2).collect();
        let ids: Vec<EntryId> = batch.iter().map(|entry| entry.id).collect();
        store.append(session, batch).wait().unwrap();
        for id in ids {
            say(&format!("ack {session} {id}\n"));
        }
    }
}

/// One answer that grows forever; every draft is told once it is written.
fn stream(store: &Store, count: usize) {
    let session = support::session(store);
    let prompt = support::user(None, "say much");
    let parent = prompt.id;
    store.append(session, vec![prompt]).wait().unwrap();
    let entry = EntryId::new();
    for words in 1..=count {
        let draft = Draft {
            entry,
            parent: Some(parent),
            at: Timestamp::from_millis(4_000),
            model: ModelRef::new("demo", "tour"),
            parts: vec![Part::assistant_text("word ".repeat(words))],
        };
        store.journal_put(session, draft).wait().unwrap();
        say(&format!("ack {session} {entry} {words}\n"));
    }
    // Only a kill ends this process, as the test wants it.
    loop {
        thread::park();
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).unwrap();
    out.flush().unwrap();
}
