//! One turn: what is told, what is kept, what is sent.

use base::protocol::{Delivery, Op};
use base::{Event, Part, StopReason};
use futures::StreamExt;
use serde_json::json;
use testkit::Script;

use crate::room::{Plan, Room, entry, to_the_end, until};

#[tokio::test]
async fn a_turn_tells_its_events_in_order() {
    let room = Room::new(Script::new().reasoning("Hm.").text("Four.").usage(1000, 100)).await;
    let expected = [
        r#"appended user "2+2?""#,
        "turn started with lab/m",
        r#"reasoning "Hm.""#,
        r#"text "Four.""#,
        r#"appended assistant (Hm.) "Four." Done"#,
        "spent 1000 in, 100 out, $0.003000",
        "turn done: Done Answered",
    ];
    assert_eq!(room.told("2+2?").await, expected);
    room.assert_valid();
}

#[tokio::test]
async fn calls_are_run_and_their_results_go_back() {
    let script = Script::new().call("view", json!({ "file_path": "a.txt" })).usage(10, 5);
    let room = Room::new(Plan::with_tools(script.then().text("It says hi.").usage(20, 5))).await;
    room.write("a.txt", "hi\n");
    room.say("What does a.txt say?").await;
    let transcript = room.transcript().await;
    assert_eq!(transcript.len(), 4, "{transcript:#?}");
    assert!(transcript[2].starts_with("results view:Done") && transcript[2].contains("hi"));
    assert_eq!(transcript[3], r#"assistant "It says hi." Done"#);
    assert_eq!(room.spent().await.calls, 2);
    room.assert_valid();
}

#[tokio::test]
async fn a_call_that_cannot_run_is_a_result_the_model_can_read() {
    let script = Script::new().call("fly", json!({})).call("view", json!({ "nonsense": 1 }));
    let room = Room::new(Plan::with_tools(script.then().text("Oh."))).await;
    room.say("go").await;
    let transcript = room.transcript().await;
    assert!(transcript[2].contains("There is no tool `fly`"), "{transcript:#?}");
    assert!(transcript[2].contains("bad arguments"), "{transcript:#?}");
    assert_eq!(transcript[3], r#"assistant "Oh." Done"#);
    room.assert_valid();
}

#[tokio::test]
async fn the_prompt_is_on_disk_before_it_is_acknowledged() {
    let room = Room::new(Script::new().stall()).await;
    room.submit(room.saying("remember", Delivery::Queue)).await;
    let seen = room.other_process().branch(room.session).await.unwrap();
    assert_eq!(seen.iter().map(entry).next_back().unwrap(), r#"user "remember""#);
    room.coordinator.close().await;
}

#[tokio::test]
async fn what_has_come_is_journaled_although_the_model_says_no_more() {
    let room = Room::new(Script::new().text("Half an").stall()).await;
    let mut events = room.watch();
    room.submit(room.saying("hi", Delivery::Queue)).await;
    let draft = loop {
        if let Some(draft) = room.store.journal_take(room.session).await.unwrap() {
            break draft;
        }
    };
    assert_eq!(draft.parts[0].as_text(), Some("Half an"));
    room.submit(Op::Stop { session: room.session }).await;
    to_the_end(&mut events).await;
    let kept = room.store.branch(room.session).await.unwrap();
    assert_eq!(kept.last().unwrap().id, draft.entry, "the draft becomes the entry it announced");
}

#[tokio::test]
async fn nothing_is_left_in_the_journal_of_a_finished_turn() {
    let slow = Script::new().text("One ").delay_ms(300).text("two.").usage(1, 1);
    let room = Room::new(slow).await;
    room.say("hi").await;
    assert_eq!(room.store.journal_take(room.session).await.unwrap(), None);
    assert_eq!(room.transcript().await, [r#"user "hi""#, r#"assistant "One two." Done"#]);
}

#[tokio::test]
async fn a_cancelled_turn_keeps_what_had_come_and_the_session_goes_on() {
    let script = Script::new().text("Half an").stall().then().text("Whole.").usage(1, 1);
    let room = Room::new(script).await;
    let mut events = room.watch();
    room.submit(room.saying("hi", Delivery::Queue)).await;
    until(&mut events, |event| matches!(event, Event::Text { .. })).await;
    room.submit(Op::Stop { session: room.session }).await;
    let end = to_the_end(&mut events).await.pop().unwrap();
    assert!(matches!(end, Event::TurnDone { stop: StopReason::Cancelled, .. }), "{end:?}");
    let kept = [r#"user "hi""#, r#"assistant "Half an" Cancelled"#];
    assert_eq!(room.transcript().await, kept);
    assert_eq!((room.spent().await.calls, room.spent().await.failed), (1, 1));
    room.say("again").await;
    let whole = [&kept[..], &[r#"user "again""#, r#"assistant "Whole." Done"#]].concat();
    assert_eq!(room.transcript().await, whole);
    room.assert_valid();
}

#[tokio::test]
async fn a_broken_answer_is_kept_counted_and_reported() {
    let room = Room::new(Script::new().text("Half an").drop_connection()).await;
    let told = room.told("hi").await;
    assert!(told.last().unwrap().ends_with("(network)"), "{told:?}");
    let transcript = room.transcript().await;
    assert_eq!(transcript[..2], [r#"user "hi""#, r#"assistant "Half an" Other"#]);
    assert!(transcript[2].ends_with("(network)"), "{transcript:?}");
    assert_eq!((room.spent().await.calls, room.spent().await.failed), (1, 1));
}

#[tokio::test]
async fn a_refused_turn_leaves_the_prompt_and_no_empty_answer() {
    let room = Room::new(Script::new().fail(400, "no")).await;
    let expected = [
        r#"appended user "hi""#,
        "turn started with lab/m",
        "spent 0 in, 0 out, $0.00",
        r#"appended failure "no" (bad_request)"#,
        "turn failed: no (bad_request)",
    ];
    assert_eq!(room.told("hi").await, expected);
    assert_eq!(room.transcript().await, [r#"user "hi""#, r#"failure "no" (bad_request)"#]);
    assert_eq!((room.spent().await.calls, room.spent().await.failed), (1, 1));
}

#[tokio::test]
async fn a_failure_that_passes_is_told_and_tried_again() {
    let script = Script::new().header("retry-after-ms", "1").fail(529, "busy");
    let room = Room::new(script.then().text("Here.").usage(1, 1)).await;
    let told = room.told("hi").await;
    assert_eq!(told[2], "retrying, try 2: busy");
    assert_eq!(room.server.requests().len(), 2);
    assert_eq!(room.transcript().await.len(), 2);
}

#[tokio::test]
async fn closing_the_mind_settles_the_running_turn() {
    let room = Room::new(Script::new().text("Half an").stall()).await;
    let mut events = room.watch();
    room.submit(room.saying("hi", Delivery::Queue)).await;
    until(&mut events, |event| matches!(event, Event::Text { .. })).await;
    room.coordinator.close().await;
    assert_eq!(room.transcript().await, [r#"user "hi""#, r#"assistant "Half an" Cancelled"#]);
    drop(events.next().await);
}

#[tokio::test]
async fn a_call_that_only_reads_runs_while_the_model_still_talks() {
    let script = Script::new().call("view", json!({ "file_path": "a.txt" }));
    let script = script.text("While you look…").stall().then().text("Done.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.write("a.txt", "hi\n");
    let mut events = room.watch();
    room.submit(room.saying("look", Delivery::Queue)).await;
    until(&mut events, |event| matches!(event, Event::ToolDone { .. })).await;
    assert_eq!(room.server.requests().len(), 1, "the answer has not ended");
    room.coordinator.close().await;
    let transcript = room.transcript().await;
    assert!(
        transcript[2].starts_with("results view:Done"),
        "what ran has its result: {transcript:#?}"
    );
}

#[tokio::test]
async fn calls_are_told_apart_where_a_provider_uses_an_id_again() {
    let view = |path: &str| json!({ "file_path": path });
    let script =
        Script::new().call_as("call_0", "view", view("a")).call_as("call_0", "view", view("b"));
    let script = script.then().call_as("call_0", "view", view("c")).then().text("Done.");
    let room = Room::new(Plan::with_tools(script)).await;
    for name in ["a", "b", "c"] {
        room.write(name, name);
    }
    room.say("go").await;
    let branch = room.store.branch(room.session).await.unwrap();
    let parts = || branch.iter().flat_map(|entry| entry.kind.parts());
    let calls: Vec<_> = parts().filter_map(Part::as_call).map(|call| &call.id).collect();
    let results: Vec<_> = parts().filter_map(Part::as_result).map(|it| &it.call).collect();
    assert_eq!(calls, results);
    let distinct: std::collections::HashSet<_> = calls.iter().collect();
    assert_eq!(distinct.len(), 3, "{calls:?}");
    room.assert_valid();
}
