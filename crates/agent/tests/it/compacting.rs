//! Making room: when the context nears the window, when the provider says that it overflows, on request.

use base::protocol::{Client, Delivery, Op};
use base::{EntryKind, Event};
use serde_json::json;
use testkit::{Action, Script};

use crate::room::{Plan, Room, to_the_end, until};

/// What the summariser is told, and nobody else.
const SUMMARISER: &str = "hand-over notes";

/// A model that writes summaries when asked for one, and otherwise follows `script`.
fn with_summaries(mut script: Script) -> Script {
    let summary = Script::new().when_contains(SUMMARISER).always().text("1. Current state: fine.");
    script.steps.splice(0..0, summary.steps);
    script
}

fn tooled(script: Script, window: u64) -> Plan {
    Plan { window, ..Plan::with_tools(with_summaries(script)) }
}

/// A session with a long history of results.
async fn long_session(end: Script, window: u64) -> Room {
    let mut script = Script::new();
    for file in 0..8 {
        let args = json!({ "file_path": format!("f{file}") });
        script = script.call("view", args).usage(1000 * (file + 1), 5).then();
        script = script.text("Seen.").usage(1000 * (file + 1), 5).then();
    }
    script.steps.pop();
    script.steps.extend(end.steps);
    let room = Room::new(tooled(script, window)).await;
    for file in 0..8 {
        room.write(&format!("f{file}"), &format!("line of {file}\n").repeat(300));
        room.say(&format!("look at f{file}")).await;
    }
    room
}

fn kinds(branch: &[base::Entry]) -> Vec<&'static str> {
    let name = |entry: &base::Entry| match entry.kind {
        EntryKind::Compaction { .. } => Some("compaction"),
        EntryKind::Pruned { .. } => Some("pruned"),
        EntryKind::Undone { .. } => Some("undone"),
        EntryKind::User { .. }
        | EntryKind::Assistant { .. }
        | EntryKind::ToolResults { .. }
        | EntryKind::Notice { .. }
        | EntryKind::Prefix { .. }
        | EntryKind::ModelChange { .. }
        | EntryKind::Checkpoint { .. } => None,
    };
    branch.iter().filter_map(name).collect()
}

#[tokio::test]
async fn an_overflow_is_met_by_making_room_and_asking_again() {
    let code = Some("context_length_exceeded".to_owned());
    let message = "This model's maximum context length is 20000 tokens".to_owned();
    let end =
        Script::new().act(Action::Fail { status: 400, code, message }).then().text("Fits now.");
    let room = long_session(end, 0).await;
    let told = room.told("and now?").await;
    assert!(told.last().unwrap().contains("Answered"), "{told:#?}");
    let branch = room.store.branch(room.session).await.unwrap();
    assert!(!kinds(&branch).is_empty(), "something was pruned or summarised");
    assert!(room.transcript().await.last().unwrap().contains("Fits now."));
    room.assert_valid();
}

#[tokio::test]
async fn a_context_near_the_window_is_compacted_before_the_next_call() {
    let end = Script::new().text("Still here.").usage(4000, 5);
    let room = long_session(end, 9500).await;
    room.say("go on").await;
    let branch = room.store.branch(room.session).await.unwrap();
    assert!(!kinds(&branch).is_empty());
    let sizes: Vec<usize> = room.server.requests().iter().map(|r| r.bytes.len()).collect();
    assert!(sizes.last().unwrap() < sizes.iter().max().unwrap(), "{sizes:?}");
    room.assert_valid();
}

#[tokio::test]
async fn it_can_be_asked_for_inspected_and_undone() {
    let room = long_session(Script::new().text("After."), 100_000).await;
    let before = room.server.requests().len();
    let mut events = room.watch();
    let line = "/compact the parser".to_owned();
    room.submit(Op::Command { session: room.session, line }).await;
    let is_compaction = |event: &Event| matches!(event, Event::Appended { entry, .. } if matches!(entry.kind, EntryKind::Compaction { .. }));
    until(&mut events, is_compaction).await;
    let asked = &room.server.requests()[before].body.to_string();
    assert!(asked.contains("the parser"), "the focus reaches the summariser");
    // The lane is busy until the compaction has settled.
    let undo = || Op::Command { session: room.session, line: "/compact undo".to_owned() };
    while room.coordinator.submit(undo()).await.is_err() {
        tokio::task::yield_now().await;
    }
    let branch = room.store.branch(room.session).await.unwrap();
    assert_eq!(kinds(&branch), ["compaction", "undone"]);
    room.say("what did f0 say?").await;
    let last = room.server.requests().pop().unwrap().body.to_string();
    assert!(last.contains("line of 0"), "the model sees all of it again");
    room.assert_valid();
}

#[tokio::test]
async fn a_compaction_that_does_not_help_is_said_and_not_repeated() {
    let code = Some("context_length_exceeded".to_owned());
    let message = "too long".to_owned();
    let script = Script::new().act(Action::Fail { status: 400, code, message });
    let room = Room::new(tooled(script, 0)).await;
    let mut events = room.watch();
    room.submit(room.saying("hi", Delivery::Queue)).await;
    let end = to_the_end(&mut events).await.pop().unwrap();
    assert!(
        matches!(&end, Event::TurnFailed { class, .. } if *class == base::FailureClass::ContextOverflow),
        "{end:?}"
    );
    assert!(room.server.requests().len() <= 3, "{}", room.server.requests().len());
}
