//! Sessions: listed, searched, abbreviated, renamed, deleted.

use base::protocol::Delivery;
use base::{CallId, Entry, EntryId, ModelRef, Money, Part, SessionId, Timestamp};
use store::{
    By, ChildOf, NewSession, Place, Queued, Report, SessionFilter, Store, StoreError, UsageQuery,
};

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
    let child = child_of(parent, Report::Told);
    store.create_session(child.clone()).wait().unwrap();
    assert_eq!(titles(&store, SessionFilter::default()), ["parent"]);
    let kept = store.session(child.id).wait().unwrap();
    assert_eq!((kept.child_of, kept.agent), (child.child_of, child.agent));
    let found = store.sessions_with_prefix(&child.id.to_string(), 5).wait().unwrap();
    assert_eq!(found.len(), 1);
}

fn child_of(parent: SessionId, report: Report) -> NewSession {
    let child_of = Some(ChildOf { parent, call: CallId::new("call_1"), report });
    let agent = Some("reviewer".to_owned());
    NewSession { agent, child_of, ..support::new_session("/work/a", 20) }
}

#[test]
fn what_sub_agents_cost_counts_for_every_ancestor() {
    let store = Store::in_memory().unwrap();
    let root = talked(&store, "/work/a", "root", 10);
    let child = child_of(root, Report::Told);
    store.create_session(child.clone()).wait().unwrap();
    let grandchild = child_of(child.id, Report::Told);
    store.create_session(grandchild.clone()).wait().unwrap();
    let other = talked(&store, "/work/a", "other", 11);
    for (session, input) in [(root, 1), (child.id, 20), (grandchild.id, 300), (other, 4_000)] {
        store.record_usage(support::paid(session, input)).wait().unwrap();
    }
    let spent = |id| store.session(id).wait().unwrap().summary;
    assert_eq!(spent(root).usage.input, 321);
    assert_eq!(spent(child.id).usage.input, 320);
    assert_eq!(spent(grandchild.id).usage.input, 300);
    assert_eq!(spent(root).cost, Money::from_pico(321));
    let query = UsageQuery { by: By::All, since: None, session: Some(root) };
    let sums = store.usage(query).wait().unwrap();
    assert_eq!(sums[0].1.calls, 3);
    store.delete(root).wait().unwrap();
    assert!(store.session(grandchild.id).wait().is_err(), "a family goes together");
    assert!(store.session(other).wait().is_ok());
}

#[test]
fn a_sub_agents_end_is_told_once() {
    let store = Store::in_memory().unwrap();
    let parent = talked(&store, "/work/a", "parent", 10);
    let (waited_for, in_background) =
        (child_of(parent, Report::Told), child_of(parent, Report::Owed));
    for child in [&waited_for, &in_background] {
        store.create_session(child.clone()).wait().unwrap();
    }
    assert_eq!(store.owed_reports(parent).wait().unwrap(), [in_background.id]);
    let word = |text: &str| Queued {
        entry: EntryId::new(),
        at: Timestamp::from_millis(30),
        delivery: Delivery::Steer,
        parts: vec![Part::user_text(text)],
    };
    assert!(store.report(in_background.id, word("done")).wait().unwrap());
    assert!(!store.report(in_background.id, word("done again")).wait().unwrap());
    assert!(!store.report(waited_for.id, word("nobody asked")).wait().unwrap());
    let waiting = store.queued(parent).wait().unwrap();
    assert_eq!(
        waiting.iter().map(|it| it.parts.clone()).collect::<Vec<_>>(),
        [vec![Part::user_text("done")]]
    );
    assert_eq!(store.owed_reports(parent).wait().unwrap(), []);
    store.owe_report(waited_for.id).wait().unwrap();
    assert_eq!(store.owed_reports(parent).wait().unwrap(), [waited_for.id]);
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
