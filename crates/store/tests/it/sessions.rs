//! Sessions: listed, searched, abbreviated, renamed, deleted.

use base::{Entry, ModelRef, SessionId, Timestamp};
use store::{NewSession, Place, SessionFilter, Store, StoreError};

use crate::support;

fn titles(store: &Store, filter: SessionFilter) -> Vec<String> {
    let sessions = store.sessions(filter).wait().unwrap();
    sessions.into_iter().map(|session| session.title.unwrap_or_default()).collect()
}

/// A session with one exchange, whose newest entry was made at `at_ms`.
fn talked(store: &Store, folder: &str, prompt: &str, at_ms: i64) -> SessionId {
    let new = NewSession { project: "/work".to_owned(), ..support::new_session(folder, at_ms) };
    let id = new.id;
    store.create_session(new).wait().unwrap();
    let at = Timestamp::from_millis(at_ms);
    let prompt = Entry { at, ..support::user(None, prompt) };
    let answer = Entry { at, ..support::assistant(Some(prompt.id), "An answer about Owls") };
    store.append(id, vec![prompt, answer]).wait().unwrap();
    id
}

#[test]
fn lists_come_newest_first_and_by_place() {
    let store = Store::in_memory().unwrap();
    talked(&store, "/work/a", "first", 10);
    talked(&store, "/work/b", "third", 30);
    talked(&store, "/work/a", "second", 20);
    let list = |place| titles(&store, SessionFilter { place, ..SessionFilter::default() });
    assert_eq!(list(Place::Anywhere), ["third", "second", "first"]);
    assert_eq!(list(Place::Folder("/work/a".into())), ["second", "first"]);
    assert_eq!(list(Place::Project("/work".into())), ["third", "second", "first"]);
    assert!(list(Place::Folder("/work".into())).is_empty());
    let newest = store.last_session(Place::Folder("/work/a".into())).wait().unwrap().unwrap();
    assert_eq!(newest.title.as_deref(), Some("second"));
    assert_eq!(newest.model, Some(ModelRef::new("demo", "tour")));
    assert_eq!((newest.entries, newest.updated), (2, Timestamp::from_millis(20)));
    let limited = SessionFilter { limit: Some(1), ..SessionFilter::default() };
    assert_eq!(titles(&store, limited), ["third"]);
}

#[test]
fn a_search_looks_at_what_was_said_and_not_at_how_it_is_kept() {
    let store = Store::in_memory().unwrap();
    talked(&store, "/work/a", "why \"quotes\" fail\nwith 100% load in path\\name", 10);
    let found = |text: &str| {
        let search = Some(text.to_owned());
        titles(&store, SessionFilter { search, ..SessionFilter::default() }).len()
    };
    for there in ["owls", "\"quotes\"", "100% load", "path\\name", "/work/a", "QUOTES"] {
        assert_eq!(found(there), 1, "{there}");
    }
    for not_there in ["origin", "parts", "100_ load", "penguins"] {
        assert_eq!(found(not_there), 0, "{not_there}");
    }
}

#[test]
fn sub_agents_are_not_listed_but_found_by_id() {
    let store = Store::in_memory().unwrap();
    let parent = talked(&store, "/work/a", "parent", 10);
    let child = NewSession { parent: Some(parent), ..support::new_session("/work/a", 20) };
    store.create_session(child.clone()).wait().unwrap();
    assert_eq!(titles(&store, SessionFilter::default()), ["parent"]);
    assert_eq!(store.session(child.id).wait().unwrap().parent, Some(parent));
    let found = store.sessions_with_prefix(&child.id.to_string(), 5).wait().unwrap();
    assert_eq!(found.len(), 1);
}

#[test]
fn an_id_may_be_shortened_as_far_as_it_stays_its_own() {
    let store = Store::in_memory().unwrap();
    let ids: Vec<_> = (0..20).map(|at| talked(&store, "/work/a", "x", at)).collect();
    let digits = store.distinct_digits(ids.clone()).wait().unwrap();
    for (id, digits) in ids.iter().zip(digits) {
        let hex = id.to_string().replace('-', "");
        let found = store.sessions_with_prefix(&hex[..digits], 5).wait().unwrap();
        assert_eq!(found.iter().map(|session| session.id).collect::<Vec<_>>(), [*id]);
        let shorter = store.sessions_with_prefix(&hex[..digits - 1], 5).wait().unwrap();
        assert!(shorter.len() > 1 || digits == 1);
    }
    for bad in ["", "xyz", "0'; DROP TABLE sessions", &"0".repeat(33)] {
        assert!(store.sessions_with_prefix(bad, 5).wait().unwrap().is_empty(), "{bad}");
    }
}

#[test]
fn making_a_session_twice_is_harmless_unless_it_is_another_one() {
    let store = Store::in_memory().unwrap();
    let new = support::new_session("/work/a", 1);
    store.create_session(new.clone()).wait().unwrap();
    store.create_session(new.clone()).wait().unwrap();
    let other = NewSession { folder: "/elsewhere".into(), ..new };
    let error = store.create_session(other).wait().unwrap_err();
    assert!(matches!(error, StoreError::SessionExists(_)), "{error}");
}

#[test]
fn a_name_given_by_hand_stays() {
    let store = Store::in_memory().unwrap();
    let new = support::new_session("/work/a", 1);
    store.create_session(new.clone()).wait().unwrap();
    assert_eq!(store.session(new.id).wait().unwrap().summary.title, None);
    store.rename(new.id, "by hand".into()).wait().unwrap();
    store.append(new.id, support::chain(2, 5)).wait().unwrap();
    assert_eq!(store.session(new.id).wait().unwrap().summary.title.as_deref(), Some("by hand"));
}

#[test]
fn what_is_not_there_is_said_to_be_missing() {
    let store = Store::in_memory().unwrap();
    let (nobody, entry) = (SessionId::new(), support::user(None, "x"));
    let missing = |error: StoreError| {
        assert!(matches!(error, StoreError::NoSession(id) if id == nobody), "{error}");
    };
    missing(store.session(nobody).wait().unwrap_err());
    missing(store.rename(nobody, "x".into()).wait().unwrap_err());
    missing(store.delete(nobody).wait().unwrap_err());
    missing(store.append(nobody, vec![entry.clone()]).wait().unwrap_err());
    missing(store.tree(nobody).wait().unwrap_err());
    missing(store.window(nobody, None, 3).wait().unwrap_err());
    let session = support::session(&store);
    let error = store.set_head(session, Some(entry.id)).wait().unwrap_err();
    assert!(matches!(error, StoreError::NoEntry { .. }), "{error}");
}
