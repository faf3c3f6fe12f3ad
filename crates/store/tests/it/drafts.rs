//! Drafts: journalled, ended by their entry, recovered when their process is gone.

use base::transcript::{Call, CallInput};
use base::{CallId, Entry, EntryId, EntryKind, ModelRef, Origin, Part, PartBody};
use base::{StopReason, Timestamp};
use store::{Draft, Store};

use crate::support;

fn draft(parent: &Entry, parts: Vec<Part>) -> Draft {
    Draft {
        entry: EntryId::new(),
        parent: Some(parent.id),
        at: Timestamp::from_millis(5_000),
        model: ModelRef::new("demo", "tour"),
        parts,
    }
}

#[test]
fn a_draft_can_be_taken_once() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    let prompt = support::user(None, "go");
    store.append(session, vec![prompt.clone()]).wait().unwrap();
    store.journal_put(session, draft(&prompt, vec![])).wait().unwrap();
    let newer = draft(&prompt, vec![Part::assistant_text("so far")]);
    store.journal_put(session, newer.clone()).wait().unwrap();
    assert_eq!(store.journal_take(session).wait().unwrap(), Some(newer));
    assert_eq!(store.journal_take(session).wait().unwrap(), None);
}

#[test]
fn the_finished_entry_ends_its_draft() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    let prompt = support::user(None, "go");
    store.append(session, vec![prompt.clone()]).wait().unwrap();
    let draft = draft(&prompt, vec![Part::assistant_text("half")]);
    store.journal_put(session, draft.clone()).wait().unwrap();
    let whole = Entry { id: draft.entry, ..support::assistant(Some(prompt.id), "whole") };
    store.append(session, vec![whole.clone()]).wait().unwrap();
    assert!(store.recover().wait().unwrap().is_empty());
    assert_eq!(store.branch(session).wait().unwrap(), vec![prompt, whole]);
}

#[test]
fn a_recovered_call_has_a_failed_result() {
    let (_dir, path) = support::place();
    let call = Call { id: CallId::new("c1"), name: "bash".into(), input: CallInput::default() };
    let said =
        vec![Part::assistant_text("I look."), Part::new(PartBody::Call(call), Origin::Assistant)];
    let prompt = support::user(None, "go");
    let (session, draft) = {
        let store = support::open(&path);
        let session = support::session(&store);
        store.append(session, vec![prompt.clone()]).wait().unwrap();
        let draft = draft(&prompt, said.clone());
        store.journal_put(session, draft.clone()).wait().unwrap();
        assert!(store.recover().wait().unwrap().is_empty(), "its own draft is alive");
        (session, draft)
    };
    let store = support::open(&path);
    assert_eq!(store.recover().wait().unwrap().len(), 1);
    let branch = store.branch(session).wait().unwrap();
    let EntryKind::Assistant { parts, stop, .. } = &branch[1].kind else {
        panic!("{:?}", branch[1]);
    };
    assert_eq!((branch[1].id, parts, *stop), (draft.entry, &said, StopReason::Cancelled));
    let EntryKind::ToolResults { parts } = &branch[2].kind else { panic!("{:?}", branch[2]) };
    let json = serde_json::to_value(parts).unwrap();
    assert_eq!((&json[0]["call"], &json[0]["outcome"]), (&"c1".into(), &"failed".into()));
}

#[test]
fn what_is_recovered_does_not_pull_the_user_back() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    let prompt = support::user(None, "go");
    store.append(session, vec![prompt.clone()]).wait().unwrap();
    let left = draft(&prompt, vec![Part::assistant_text("left behind")]);
    store.journal_put(session, left.clone()).wait().unwrap();
    let onward = support::assistant(Some(prompt.id), "went on elsewhere");
    store.append(session, vec![onward.clone()]).wait().unwrap();
    assert_eq!(store.recover().wait().unwrap().len(), 1);
    assert_eq!(store.session(session).wait().unwrap().head, Some(onward.id));
    assert!(store.tree(session).wait().unwrap().get(left.entry).is_some());
}
