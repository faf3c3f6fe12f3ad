//! Grants and reads.

use base::{SessionId, Timestamp};
use store::{Reach, ReadMark, Store, StoreError};

use crate::support;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

#[test]
fn a_grant_reaches_as_far_as_it_says() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    let reaches = [
        (Reach::Everywhere, "Bash(ls)"),
        (Reach::Project("/work/one".into()), "Edit(src/**)"),
        (Reach::Project("/work/two".into()), "Edit(docs/**)"),
        (Reach::Session(session), "Bash(git log:*)"),
    ];
    for (reach, rule) in reaches.clone() {
        store.add_grant(reach, rule.into(), at(1)).wait().unwrap();
    }
    let rules = |session: Option<SessionId>, project: &str| {
        let grants = store.grants(session, project.into()).wait().unwrap();
        grants.into_iter().map(|grant| grant.rule).collect::<Vec<_>>()
    };
    assert_eq!(rules(Some(session), "/work/one"), ["Bash(ls)", "Edit(src/**)", "Bash(git log:*)"]);
    assert_eq!(rules(Some(SessionId::new()), "/work/two"), ["Bash(ls)", "Edit(docs/**)"]);
    assert_eq!(rules(None, "/elsewhere"), ["Bash(ls)"]);
    store.delete(session).wait().unwrap();
    assert_eq!(rules(Some(session), "/work/one"), ["Bash(ls)", "Edit(src/**)"]);
}

#[test]
fn the_same_grant_twice_is_one_and_goes_away_once() {
    let store = Store::in_memory().unwrap();
    let give = || store.add_grant(Reach::Everywhere, "Bash(ls)".into(), at(1)).wait().unwrap();
    let (first, second) = (give(), give());
    assert_eq!(first, second);
    store.remove_grant(first).wait().unwrap();
    store.remove_grant(first).wait().unwrap();
    assert!(store.grants(None, "/".into()).wait().unwrap().is_empty());
}

#[test]
fn the_newest_look_at_a_file_counts() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    let look = |path: &str| store.read_of(session, path.into()).wait().unwrap();
    assert_eq!(look("/work/one/a.rs"), None);
    for hash in [1, 2] {
        let mark = ReadMark { hash: vec![hash; 32], at: at(hash.into()) };
        store.put_read(session, "/work/one/a.rs".into(), mark).wait().unwrap();
    }
    assert_eq!(look("/work/one/a.rs"), Some(ReadMark { hash: vec![2; 32], at: at(2) }));
    assert_eq!(look("/work/one/b.rs"), None);
    let mark = ReadMark { hash: vec![], at: at(1) };
    let error = store.put_read(SessionId::new(), "/x".into(), mark).wait().unwrap_err();
    assert!(matches!(error, StoreError::NoSession(_)), "{error}");
}
