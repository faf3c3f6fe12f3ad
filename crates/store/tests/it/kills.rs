//! Nothing acknowledged is lost: `kill -9` at any moment, reopen, everything is there.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::thread;
use std::time::Duration;

use base::transcript::Tree;
use base::{EntryId, SessionId};

use crate::{child, support};

/// Kills in a normal run; `CAIMAN_SOAK` asks for more.
const KILLS: u64 = 30;

#[test]
fn a_killed_process_loses_nothing_it_was_told_is_safe() {
    let (_dir, path) = support::place();
    let mut random = Random(0x5eed);
    let mut promised: HashMap<SessionId, Vec<EntryId>> = HashMap::new();
    for _ in 0..kills() {
        let patience = random.below(60);
        for (session, entry) in kill_after(&path, "append 4000", patience) {
            promised.entry(session).or_default().push(entry);
        }
        let store = support::open(&path);
        for (&session, entries) in &promised {
            let tree = store.tree(session).wait().unwrap();
            for &entry in entries {
                assert!(tree.get(entry).is_some(), "{entry} is lost");
            }
        }
    }
    let store = support::open(&path);
    store.check().wait().unwrap();
    for &session in promised.keys() {
        let (tree, branch) =
            (store.tree(session).wait().unwrap(), store.branch(session).wait().unwrap());
        assert_eq!(branch, tree.entries(), "a chain is one branch");
        Tree::from_entries(branch).unwrap();
    }
}

#[test]
fn a_process_killed_while_it_opens_leaves_a_database_that_opens() {
    let mut random = Random(0xcafe);
    for _ in 0..kills() / 3 {
        let (_dir, path) = support::place();
        let mut process = child::start(&path, "append 50");
        // The only way to hit an opening that lasts a few milliseconds.
        thread::sleep(Duration::from_micros(random.below(30_000)));
        process.kill().unwrap();
        process.wait().unwrap();
        support::open(&path).check().wait().unwrap();
    }
}

#[test]
fn a_draft_of_a_killed_process_becomes_a_cancelled_answer_once() {
    let (_dir, path) = support::place();
    let mut process = child::start(&path, "stream 40");
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut told = None;
    while told.is_none_or(|(_, _, words)| words < 40) {
        let line = lines.next().unwrap().unwrap();
        if let Some((session, entry)) = child::acknowledged(&line) {
            let words: usize = line.rsplit(' ').next().unwrap().parse().unwrap();
            told = Some((session, entry, words));
        }
    }
    let (session, entry, words) = told.unwrap();

    let store = support::open(&path);
    assert!(store.recover().wait().unwrap().is_empty(), "its process still lives");
    process.kill().unwrap();
    process.wait().unwrap();
    let recovered = store.recover().wait().unwrap();
    assert_eq!(recovered.len(), 1);
    assert_eq!((recovered[0].session, recovered[0].entry), (session, entry));
    assert!(store.recover().wait().unwrap().is_empty());
    let branch = store.branch(session).wait().unwrap();
    let json = serde_json::to_value(branch.last().unwrap()).unwrap();
    assert_eq!(json["stop"], "cancelled");
    assert_eq!(json["parts"][0]["text"], "word ".repeat(words));
}

/// Kills a child after it was told `patience` things; returns all it was told.
fn kill_after(path: &Path, order: &str, patience: u64) -> Vec<(SessionId, EntryId)> {
    let mut process = child::start(path, order);
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut told = Vec::new();
    while told.len() as u64 <= patience {
        told.extend(child::acknowledged(&lines.next().unwrap()));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    told.extend(lines.filter_map(|line| child::acknowledged(&line)));
    told
}

#[expect(clippy::disallowed_methods, reason = "a longer run is asked for from outside")]
fn kills() -> u64 {
    std::env::var("CAIMAN_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS)
}

/// A small generator: the moments differ, the runs are alike.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
