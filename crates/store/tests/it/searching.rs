//! Finding what was said, and what was typed before.

use base::{CallId, Entry, EntryId, EntryKind, Origin, Part, PartBody, SessionId, Timestamp};
use store::{ChildOf, Found, Index, NewSession, Report, Store};

use crate::support;

fn find(store: &Store, words: &str) -> Vec<Found> {
    while store.index_more().wait().unwrap() == Index::Behind {}
    store.find(words, 10).wait().unwrap()
}

fn ids(found: &[Found]) -> Vec<SessionId> {
    found.iter().map(|hit| hit.session.id).collect()
}

/// A session with a prompt and an answer; the answer's id.
fn talk(store: &Store, prompt: &str, answer: &str) -> (SessionId, EntryId) {
    let session = support::session(store);
    let prompt = support::user(None, prompt);
    let answer = support::assistant(Some(prompt.id), answer);
    let id = answer.id;
    store.append(session, vec![prompt, answer]).wait().unwrap();
    store.rename(session, "a title".to_owned()).wait().unwrap();
    (session, id)
}

#[test]
fn words_are_found_by_their_beginning_in_any_order_and_case() {
    let store = Store::in_memory().unwrap();
    let (owl, answer) = talk(&store, "where?", "The Owl sleeps\nin the Barn_House café");
    talk(&store, "where?", "The mouse is awake");
    let found = find(&store, "BARN owl");
    assert_eq!(ids(&found), [owl]);
    assert_eq!(found[0].entry, Some(answer));
    assert_eq!(found[0].snippet, "The Owl sleeps in the Barn_House café");
    assert_eq!(ids(&find(&store, "barn_ho")), [owl]);
    assert_eq!(ids(&find(&store, "cafe")), [owl]);
    assert_eq!(ids(&find(&store, "owl mouse")), []);
    assert_eq!(ids(&find(&store, "\" OR * --")), []);
}

#[test]
fn words_of_scripts_without_blanks_are_found() {
    let store = Store::in_memory().unwrap();
    let (chinese, _) = talk(&store, "请修复登录页面的错误", "好的");
    let (japanese, _) = talk(&store, "テストを実行してください", "はい");
    assert_eq!(ids(&find(&store, "登录")), [chinese]);
    assert_eq!(ids(&find(&store, "录登")), []);
    assert_eq!(ids(&find(&store, "実行")), [japanese]);
}

#[test]
fn titles_come_first_and_follow_renaming() {
    let store = Store::in_memory().unwrap();
    let (said, _) = talk(&store, "about zebras", "yes");
    let (titled, _) = talk(&store, "hello", "hi");
    store.rename(titled, "Zebra crossing".to_owned()).wait().unwrap();
    let found = find(&store, "zebra");
    assert_eq!(ids(&found), [titled, said]);
    assert_eq!((found[0].entry, found[0].snippet.as_str()), (None, "Zebra crossing"));
    store.rename(titled, "Other".to_owned()).wait().unwrap();
    assert_eq!(ids(&find(&store, "zebra")), [said]);
}

#[test]
fn sub_agents_are_left_out_and_reused_numbers_are_found() {
    let store = Store::in_memory().unwrap();
    let (parent, _) = talk(&store, "delegate", "ok");
    let child_of = ChildOf { parent, call: CallId::new("c"), report: Report::Told };
    let new = NewSession { child_of: Some(child_of), ..support::new_session("/work/one", 1_000) };
    store.create_session(new.clone()).wait().unwrap();
    store.append(new.id, vec![support::user(None, "giraffe")]).wait().unwrap();
    assert_eq!(ids(&find(&store, "giraffe")), []);
    let (gone, _) = talk(&store, "elephant", "ok");
    assert_eq!(ids(&find(&store, "elephant")), [gone]);
    store.delete(gone).wait().unwrap();
    let (fresh, _) = talk(&store, "a rhino", "ok");
    assert_eq!(ids(&find(&store, "rhino")), [fresh], "its entries have the numbers of those gone");
    assert_eq!(ids(&find(&store, "elephant")), []);
}

#[test]
fn catching_up_takes_many_small_steps() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    store.append(session, support::chain(30, 60_000)).wait().unwrap();
    let mut steps = 1;
    while store.index_more().wait().unwrap() == Index::Behind {
        steps += 1;
    }
    assert!(steps >= 6, "{steps}");
    assert_eq!(ids(&store.find("29", 10).wait().unwrap()), [session]);
}

fn said_at(store: &Store, session: SessionId, at: i64, parts: Vec<Part>) {
    let head = store.session(session).wait().unwrap().head;
    let kind = EntryKind::User { parts };
    let entry = Entry { id: EntryId::new(), parent: head, at: Timestamp::from_millis(at), kind };
    store.append(session, vec![entry]).wait().unwrap();
}

#[test]
fn history_is_what_the_user_typed_newest_first_each_once() {
    let store = Store::in_memory().unwrap();
    let (one, other) = (support::session(&store), support::session(&store));
    let elsewhere = support::new_session("/work/two", 1_000);
    store.create_session(elsewhere.clone()).wait().unwrap();
    let report = PartBody::Text { text: "a report".to_owned() };
    said_at(&store, one, 5_000, vec![Part::user_text("first")]);
    said_at(&store, other, 6_000, vec![Part::user_text("second")]);
    said_at(&store, other, 6_500, vec![Part::new(report.clone(), Origin::System)]);
    let two = vec![Part::user_text("third"), Part::new(report, Origin::Workspace)];
    said_at(&store, one, 7_000, two);
    said_at(&store, one, 8_000, vec![Part::user_text("first")]);
    said_at(&store, elsewhere.id, 9_000, vec![Part::user_text("not here")]);
    let history = |limit: usize| store.history("/work/one".to_owned(), limit).wait().unwrap();
    assert_eq!(history(200), ["first", "third", "second"]);
    assert_eq!(history(2), ["first", "third"]);
    said_at(&store, one, 9_500, vec![Part::user_text("x".repeat(70_000))]);
    assert_eq!(history(200).len(), 3, "what is too long is left out, and hides nothing");
}
