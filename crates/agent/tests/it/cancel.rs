//! Cancel: within 100 ms at every stage, a valid transcript, no process left.

use std::time::{Duration, Instant};

use agent::Presence;
use base::Event;
use base::protocol::{Delivery, Ending, Mode, Op};
use serde_json::json;
use testkit::Script;

use crate::room::{Plan, Room, to_the_end, until};

/// How long a stop may take.
const LIMIT: Duration = Duration::from_millis(100);
/// A busy machine may spoil a measurement, not five of them.
const TRIES: usize = 5;

/// Stops a turn at `stage`, until one stop is quick enough; checks each time that all is in order.
async fn stops_quickly(plan: impl Fn() -> Plan, stage: impl Fn(&Event) -> bool) {
    let mut took = Vec::new();
    for _ in 0..TRIES {
        let room = Room::new(plan()).await;
        let mut events = room.watch();
        room.submit(room.saying("go", Delivery::Queue)).await;
        until(&mut events, &stage).await;
        let began = Instant::now();
        room.submit(Op::Stop { session: room.session }).await;
        let end = to_the_end(&mut events).await.pop().unwrap();
        took.push(began.elapsed());
        assert!(matches!(end, Event::TurnDone { ending: Ending::Cancelled, .. }), "{end:?}");
        room.coordinator.close().await;
        every_call_has_a_result(&room).await;
        if took.last().is_some_and(|took| *took <= LIMIT) {
            return;
        }
    }
    panic!("stops took {took:?}");
}

async fn every_call_has_a_result(room: &Room) {
    let transcript = room.transcript().await;
    for (at, line) in transcript.iter().enumerate() {
        if line.starts_with("assistant") && line.contains('{') {
            assert!(transcript[at + 1].starts_with("results"), "{transcript:#?}");
        }
    }
}

fn started(event: &Event) -> bool {
    matches!(event, Event::TurnStarted { .. })
}

#[tokio::test]
async fn before_the_provider_answers() {
    stops_quickly(|| Plan::with_tools(Script::new().stall()), started).await;
}

#[tokio::test]
async fn while_waiting_to_try_again() {
    let busy = || Script::new().header("retry-after", "30").fail(529, "busy");
    stops_quickly(|| Plan::with_tools(busy()), |event| matches!(event, Event::Retrying { .. }))
        .await;
}

#[tokio::test]
async fn in_the_middle_of_a_word() {
    let half = || Plan::with_tools(Script::new().text("Half").stall());
    stops_quickly(half, |event| matches!(event, Event::Text { .. })).await;
}

#[tokio::test]
async fn in_the_middle_of_a_call() {
    let call = || Script::new().text("x").call("bash", json!({ "command": "true" })).stall();
    stops_quickly(|| Plan::with_tools(call()), |event| matches!(event, Event::Text { .. })).await;
}

#[tokio::test]
async fn while_a_command_and_its_children_run() {
    let mark = format!("{}.25", 86_000 + std::process::id() % 1000);
    let command = format!("sleep {mark} & sleep {mark}");
    let call = || Script::new().call("bash", json!({ "command": command }));
    let running = |event: &Event| matches!(event, Event::ToolStarted { .. });
    stops_quickly(|| Plan::with_tools(call()), running).await;
    assert_eq!(processes_with(&mark), Vec::<String>::new(), "processes are left");
}

#[tokio::test]
async fn while_somebody_is_asked() {
    let call = || Script::new().call("write", json!({ "file_path": "a", "content": "x" }));
    let plan =
        || Plan { presence: Presence::Attended, mode: Mode::Default, ..Plan::with_tools(call()) };
    stops_quickly(plan, |event| matches!(event, Event::ApprovalNeeded { .. })).await;
}

/// Command lines of running processes that hold `mark`.
pub(crate) fn processes_with(mark: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| {
        let line = std::fs::read(process.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.starts_with("sleep") && line.contains(mark)).collect()
}
