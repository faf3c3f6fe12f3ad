//! What files were, moment by moment, and what is left when a session goes.

use base::transcript::{Call, CallInput};
use base::{CallId, Entry, EntryId, EntryKind, Origin, Part, PartBody, SessionId, Timestamp};
use rusqlite::Connection;
use store::{
    Changing, ChildOf, ContentHash, FILE_LIMIT_BYTES, FileState, Kept, Moment, Need, NewSession,
    Report, Store, StoreError, Was,
};

use crate::support;

fn changing(path: &str, leaves: &str) -> Changing {
    let leaves = Some(ContentHash::of(leaves.as_bytes()));
    Changing { path: path.to_owned(), leaves, at: Timestamp::from_millis(5_000) }
}

fn file(content: &str) -> Was {
    Was::File { content: content.as_bytes().to_vec(), mode: 0o640 }
}

/// A change as tools make it: noted, and kept if need be.
fn change(store: &Store, session: SessionId, path: &str, (before, after): (&str, &str)) -> Need {
    let need = store.note_change(session, changing(path, after)).wait().unwrap();
    if need == Need::State {
        let kept = store.keep_state(session, Moment::Prompt, changing(path, after), file(before));
        kept.wait().unwrap();
    }
    need
}

/// Appends a prompt and an answer to the current branch; the prompt's id.
fn say(store: &Store, session: SessionId, text: &str) -> EntryId {
    let head = store.session(session).wait().unwrap().head;
    let prompt = support::user(head, text);
    let answer = support::assistant(Some(prompt.id), "done");
    store.append(session, vec![prompt.clone(), answer]).wait().unwrap();
    prompt.id
}

fn contents(store: &Store, states: Vec<FileState>) -> Vec<(String, String)> {
    let content = |state: FileState| match state.was {
        Kept::File { hash, mode } => {
            assert_eq!(mode, 0o640);
            let content = store.content(hash).wait().unwrap();
            (state.path, String::from_utf8(content).unwrap())
        }
        Kept::Absent => (state.path, "(none)".to_owned()),
        Kept::TooLarge { size } => (state.path, format!("({size} bytes)")),
    };
    states.into_iter().map(content).collect()
}

fn at(store: &Store, session: SessionId, entry: EntryId) -> Vec<(String, String)> {
    contents(store, store.states_since(session, Some(entry)).wait().unwrap())
}

fn said(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn a_file_is_kept_once_a_prompt_and_the_first_state_since_an_entry_counts() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    let first = say(&store, session, "one");
    assert_eq!(change(&store, session, "/w/a", ("a0", "a1")), Need::State);
    assert_eq!(change(&store, session, "/w/a", ("a1", "a2")), Need::Nothing);
    let second = say(&store, session, "two");
    assert_eq!(change(&store, session, "/w/a", ("a2", "a3")), Need::State);
    assert_eq!(change(&store, session, "/w/b", ("b0", "b1")), Need::State);
    assert_eq!(at(&store, session, second), said(&[("/w/a", "a2"), ("/w/b", "b0")]));
    assert_eq!(at(&store, session, first), said(&[("/w/a", "a0"), ("/w/b", "b0")]));
    let head = store.session(session).wait().unwrap().head.unwrap();
    assert_eq!(at(&store, session, head), said(&[]), "nothing has changed since the last answer");
    let all = store.states_since(session, None).wait().unwrap();
    assert_eq!(all[0].left, Some(ContentHash::of(b"a3")));
    assert_eq!(contents(&store, all), said(&[("/w/a", "a0"), ("/w/b", "b0")]));
}

#[test]
fn a_rewind_leaves_states_by_which_it_is_taken_back() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    say(&store, session, "one");
    let second = say(&store, session, "two");
    change(&store, session, "/w/a", ("a0", "a1"));
    let head = store.session(session).wait().unwrap().head;
    let kind = EntryKind::Checkpoint { label: "before the rewind".to_owned() };
    let checkpoint =
        Entry { id: EntryId::new(), parent: head, at: Timestamp::from_millis(6_000), kind };
    store.append(session, vec![checkpoint.clone()]).wait().unwrap();
    let moment = Moment::Rewind(checkpoint.id);
    store.keep_state(session, moment, changing("/w/a", "a0"), file("theirs")).wait().unwrap();
    assert_eq!(at(&store, session, checkpoint.id), said(&[("/w/a", "theirs")]));
    assert_eq!(at(&store, session, second), said(&[("/w/a", "a0")]));
    let moments = store.moments(session).wait().unwrap();
    assert_eq!(moments.rewound, Some(checkpoint));
    assert_eq!(moments.prompts[1].files, ["/w/a"], "the rewind itself is nobody's change");
    say(&store, session, "three");
    assert_eq!(store.moments(session).wait().unwrap().rewound, None);
}

#[test]
fn moments_are_the_prompts_of_the_current_branch() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    let first = say(&store, session, "one");
    let head = store.session(session).wait().unwrap().head;
    say(&store, session, "two");
    change(&store, session, "/w/a", ("a0", "a1"));
    store.set_head(session, head).wait().unwrap();
    let third = say(&store, session, "three");
    change(&store, session, "/w/b", ("b0", "b1"));
    let moments = store.moments(session).wait().unwrap();
    let ids: Vec<EntryId> = moments.prompts.iter().map(|prompt| prompt.entry.id).collect();
    assert_eq!(ids, [first, third]);
    assert_eq!(moments.prompts[1].entry.parent, head);
    let files: Vec<&Vec<String>> = moments.prompts.iter().map(|prompt| &prompt.files).collect();
    assert_eq!(files, [&Vec::<String>::new(), &vec!["/w/b".to_owned()]]);
}

#[test]
fn a_moment_names_the_tools_that_were_called() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    say(&store, session, "say \"name\":\"bash\"");
    say(&store, session, "run it");
    let head = store.session(session).wait().unwrap().head;
    let (id, name) = (CallId::new("c"), "bash".to_owned());
    let call = PartBody::Call(Call { id, name, input: CallInput::default() });
    let mut answer = support::assistant(head, "");
    if let EntryKind::Assistant { parts, .. } = &mut answer.kind {
        parts.push(Part::new(call, Origin::Assistant));
    }
    store.append(session, vec![answer]).wait().unwrap();
    say(&store, session, "thanks");
    let moments = store.moments(session).wait().unwrap();
    let called: Vec<&[String]> =
        moments.prompts.iter().map(|prompt| prompt.tools.as_slice()).collect();
    assert_eq!(called, [&[] as &[String], &["bash".to_owned()], &[]]);
}

#[test]
fn what_a_sub_agent_changes_belongs_to_the_session_at_the_top() {
    let store = Store::in_memory().unwrap();
    let root = support::session(&store);
    let prompt = say(&store, root, "delegate");
    let mut above = root;
    for _ in 0..2 {
        let call = CallId::new("c");
        let child_of = Some(ChildOf { parent: above, call, report: Report::Told });
        let new = NewSession { child_of, ..support::new_session("/work/one", 1_000) };
        above = new.id;
        store.create_session(new).wait().unwrap();
    }
    say(&store, above, "task");
    change(&store, above, "/w/a", ("a0", "a1"));
    assert_eq!(at(&store, root, prompt), said(&[("/w/a", "a0")]));
    assert_eq!(store.states_since(above, None).wait().unwrap(), []);
    let child_of = Some(ChildOf { parent: root, call: CallId::new("c"), report: Report::Told });
    let apart = NewSession { child_of, ..support::new_session("/work/tree", 1_000) };
    store.create_session(apart.clone()).wait().unwrap();
    assert_eq!(
        change(&store, apart.id, "/tree/a", ("a0", "a1")),
        Need::Nothing,
        "a worktree's own"
    );
}

#[test]
fn a_file_that_is_too_large_is_noted_and_one_that_was_not_there_too() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    let prompt = say(&store, session, "one");
    let size = usize::try_from(FILE_LIMIT_BYTES).unwrap() + 1;
    let large = Was::File { content: vec![b'x'; size], mode: 0o644 };
    let keep = |path: &str, was| {
        store.keep_state(session, Moment::Prompt, changing(path, ""), was).wait().unwrap();
    };
    keep("/w/large", large);
    keep("/w/new", Was::Absent);
    let expected = format!("({size} bytes)");
    let now = at(&store, session, prompt);
    assert_eq!(now, said(&[("/w/large", &expected), ("/w/new", "(none)")]));
}

fn count(database: &Connection, table: &str) -> i64 {
    database.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn deleting_a_session_deletes_its_states_words_and_contents_nobody_else_needs() {
    let (_dir, path) = support::place();
    let store = support::open(&path);
    let (one, other) = (support::session(&store), support::session(&store));
    for session in [one, other] {
        say(&store, session, "prompt");
        change(&store, session, "/w/shared", ("same", "new"));
    }
    change(&store, one, "/w/own", ("own", "new"));
    while store.index_more().wait().unwrap() == store::Index::Behind {}
    let database = support::raw(&path);
    assert_eq!((count(&database, "blobs"), count(&database, "file_states")), (2, 3));
    assert_eq!(count(&database, "said"), 4);
    store.delete(one).wait().unwrap();
    assert_eq!((count(&database, "blobs"), count(&database, "file_states")), (1, 1));
    assert_eq!(count(&database, "said"), 2);
    store.delete(other).wait().unwrap();
    assert_eq!((count(&database, "blobs"), count(&database, "said")), (0, 0));
    store.check().wait().unwrap();
}

#[test]
fn a_damaged_content_is_not_given_out() {
    let (_dir, path) = support::place();
    let store = support::open(&path);
    let session = support::session(&store);
    say(&store, session, "prompt");
    change(&store, session, "/w/a", ("a0", "a1"));
    support::raw(&path).execute("UPDATE blobs SET bytes = x'030000'", []).unwrap();
    let error = store.content(ContentHash::of(b"a0")).wait().unwrap_err();
    assert!(error.to_string().contains("not what was kept"), "{error}");
}

#[test]
fn faces_keep_replace_and_forget() {
    let store = Store::in_memory().unwrap();
    let recall = || store.recall("draft".to_owned()).wait().unwrap();
    assert_eq!(recall(), None);
    for value in ["one", "two"] {
        store.remember("draft".to_owned(), Some(value.to_owned())).wait().unwrap();
        assert_eq!(recall().as_deref(), Some(value));
    }
    let much = "x".repeat(2_000_000);
    let error = store.remember("draft".to_owned(), Some(much)).wait().unwrap_err();
    assert!(matches!(error, StoreError::TooMuch { bytes: 2_000_000, .. }), "{error}");
    let error = store.remember("k".repeat(5_000), Some("x".to_owned())).wait().unwrap_err();
    assert!(
        matches!(error, StoreError::KeyTooLong { bytes: 5_000, limit } if limit < 5_000),
        "{error}"
    );
    assert_eq!(recall().as_deref(), Some("two"));
    store.remember("draft".to_owned(), None).wait().unwrap();
    assert_eq!(recall(), None);
}

#[test]
fn what_was_seen_since_a_moment_is_forgotten() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    for at in [10, 20, 30] {
        let mark = store::ReadMark { hash: vec![1], at: Timestamp::from_millis(at) };
        store.put_read(session, format!("/w/{at}"), mark).wait().unwrap();
    }
    store.forget_reads(session, Timestamp::from_millis(20)).wait().unwrap();
    let known = |at: i64| store.read_of(session, format!("/w/{at}")).wait().unwrap().is_some();
    assert_eq!([known(10), known(20), known(30)], [true, false, false]);
}
