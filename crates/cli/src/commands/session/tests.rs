//! What the session commands print, and which session they mean.

use std::path::Path;

use base::transcript::{Call, CallInput, CallResult, Maker, Native, Outcome, Piece};
use base::{CallId, Entry, EntryId, EntryKind, ModelRef, Origin, Part, PartBody};
use base::{StopReason, Timestamp, Usage};
use serde_json::Value;
use store::NewSession;

use super::*;

const SECRET_SIDECAR: &str = "encrypted-thought";

fn entry(parent: Option<&Entry>, kind: EntryKind) -> Entry {
    let parent = parent.map(|entry| entry.id);
    Entry { id: EntryId::new(), parent, at: Timestamp::from_millis(60_000), kind }
}

/// A question, a call, its result with a fence in it, and an answer.
fn conversation() -> Vec<Entry> {
    let user = EntryKind::User { parts: vec![Part::user_text("What is\x1b[31m here?")] };
    let question = entry(None, user);
    let input = serde_json::json!({ "command": "ls" });
    let input = CallInput::sound(input.as_object().unwrap().clone());
    let call = Call { id: CallId::new("c1"), name: "bash".into(), input };
    let maker = Maker { provider: "demo".into(), model: "tour".into(), wire: "chat".into() };
    let thought = Part::new(PartBody::Reasoning { text: "hm".into() }, Origin::Assistant)
        .with_native(Native { maker, data: Value::from(SECRET_SIDECAR) });
    let assistant = |parts| EntryKind::Assistant {
        parts,
        model: ModelRef::new("demo", "tour"),
        stop: StopReason::Done,
        usage: Usage::default(),
    };
    let calls = vec![thought, Part::new(PartBody::Call(call), Origin::Assistant)];
    let calling = entry(Some(&question), assistant(calls));
    let pieces = vec![Piece::Text { text: format!("```\n{}", "line\n".repeat(40)) }];
    let (call, name, outcome) = (CallId::new("c1"), "bash".into(), Outcome::Failed);
    let answer = PartBody::Result(CallResult { call, name, outcome, pieces, shown: None });
    let parts = vec![Part::new(answer, Origin::Shell)];
    let results = entry(Some(&calling), EntryKind::ToolResults { parts });
    let done = entry(Some(&results), assistant(vec![Part::assistant_text("Many lines.")]));
    vec![question, calling, results, done]
}

fn store_with(entries: &[Entry]) -> (Store, Session) {
    let store = Store::in_memory().unwrap();
    let session = add(&store, entries);
    (store, session)
}

fn add(store: &Store, entries: &[Entry]) -> Session {
    let folder = "/work/one".to_owned();
    let (id, at) = (SessionId::new(), Timestamp::from_millis(1));
    let new =
        NewSession { id, folder: folder.clone(), project: folder, agent: None, child_of: None, at };
    store.create_session(new).wait().unwrap();
    store.append(id, entries.to_vec()).wait().unwrap();
    store.session(id).wait().unwrap()
}

#[test]
fn a_transcript_is_readable_bounded_and_harmless() {
    let (_store, session) = store_with(&conversation());
    let shown = show::transcript(&session.summary, &conversation(), &TimeZone::UTC);
    for expected in [
        "── you · 1970-01-01 00:01\nWhat is<U+001B>[31m here?\n",
        "── demo/tour · ",
        "(thinking) hm",
        "→ bash {\"command\":\"ls\"}",
        "← bash failed\n  ```\n  line\n",
        "… 29 more lines",
        "Many lines.",
    ] {
        assert!(shown.contains(expected), "{expected:?} is not in:\n{shown}");
    }
    assert!(!shown.contains('\x1b'));
}

#[test]
fn markdown_is_whole_and_holds_no_sidecar() {
    let (_store, session) = store_with(&conversation());
    let text = export::markdown(&session.summary, &conversation(), &TimeZone::UTC, &|text| text);
    assert!(text.starts_with("# What is<U+001B>[31m here?\n"), "{text}");
    assert_eq!(text.matches("\nline").count(), 40);
    assert!(text.contains("\n````\n```\nline"), "the fence must outlast its content:\n{text}");
    assert!(!text.contains(SECRET_SIDECAR));
}

#[test]
fn json_lines_are_a_header_and_every_entry() {
    let entries = conversation();
    let (store, session) = store_with(&entries);
    let side =
        entry(Some(&entries[0]), EntryKind::Notice { text: "another branch".into(), class: None });
    store.append(session.summary.id, vec![side]).wait().unwrap();
    let tree = store.tree(session.summary.id).wait().unwrap();
    let text = export::jsonl(&session, tree.entries(), &|text| text).unwrap();
    let mut lines = text.lines();
    let header: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!(header["caiman_session"], 1);
    assert_eq!(header["id"], session.summary.id.to_string());
    assert_eq!(header["head"], entries[3].id.to_string());
    let read: Vec<Entry> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, tree.entries());
}

#[test]
fn what_redacts_sees_all_that_is_exported() {
    let (_store, session) = store_with(&conversation());
    let hide = |text: String| text.replace("Many", "••••");
    let entries = conversation();
    let markdown = export::markdown(&session.summary, &entries, &TimeZone::UTC, &hide);
    let lines = export::jsonl(&session, &entries, &hide).unwrap();
    assert!(!markdown.contains("Many") && !lines.contains("Many"));
}

#[test]
fn an_export_has_no_keys_and_is_still_json() {
    let key = concat!("sk-", "ant-api03-Xk29fJq0LmZ7pRtY4vB8nCdE1sWgHuAi3oKb6Tz");
    let said = format!("first\n{key}\n\"password\": \"Tr0ub4dor&3-x9\"");
    let user = EntryKind::User { parts: vec![Part::user_text(said)] };
    let (_store, session) = store_with(&conversation());
    let redactor = Redactor::default();
    let redact = |text: String| redactor.text(&text).into_owned();
    let text = export::jsonl(&session, &[entry(None, user)], &redact).unwrap();
    assert!(!text.contains("Xk29f") && !text.contains("Tr0ub4dor"), "{text}");
    let last: Entry = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let EntryKind::User { parts } = last.kind else { panic!("{last:?}") };
    let masked = "first\n[masked: Anthropic key]\n\"password\": \"[masked: password]\"";
    assert_eq!(parts[0].as_text(), Some(masked));
}

#[test]
fn a_session_is_found_by_its_first_digits_and_by_last() {
    let (store, first) = store_with(&conversation());
    let second = add(&store, &conversation());
    let cwd = Path::new("/work/one");
    let found = |id: &str| find::session(&store, id, cwd).map(|session| session.summary.id);
    assert_eq!(found(&first.summary.id.to_string()).unwrap(), first.summary.id);
    assert_eq!(found("last").unwrap(), second.summary.id);
    let shared = &first.summary.id.to_string()[..4];
    let failure = found(shared).unwrap_err();
    assert!(failure.message.contains("several"), "{failure:?}");
    assert_eq!(failure.hints.len(), 2);
    let failure = found("zz").unwrap_err();
    assert!(failure.message.contains("`zz`"), "{failure:?}");
}
