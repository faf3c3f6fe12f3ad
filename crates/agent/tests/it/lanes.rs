//! Lanes: steer, queue, stop, take back, go on.

use base::protocol::{Client, Delivery, Op};
use base::transcript::{Call, CallInput};
use base::{
    CallId, Clock, Entry, EntryId, EntryKind, Event, ModelRef, Part, PartBody, StopReason, Usage,
};
use serde_json::json;
use testkit::Script;

use crate::room::{Plan, Room, to_the_end, until};

/// A first answer that takes its time and calls a tool, then `after`.
fn slow_call(after: Script) -> Plan {
    let mut script =
        Script::new().text("Looking.").delay_ms(150).call("view", json!({ "file_path": "a" }));
    script.steps.extend(after.steps);
    Plan::with_tools(script)
}

#[tokio::test]
async fn a_steering_prompt_joins_the_turn_at_the_next_model_call() {
    let room = Room::new(slow_call(Script::new().text("Both done."))).await;
    room.write("a", "x");
    let mut events = room.watch();
    room.submit(room.saying("first", Delivery::Queue)).await;
    until(&mut events, |event| matches!(event, Event::Text { .. })).await;
    room.submit(room.saying("and second", Delivery::Steer)).await;
    to_the_end(&mut events).await;
    let transcript = room.transcript().await;
    assert_eq!(transcript.len(), 5, "{transcript:#?}");
    assert!(transcript[2].starts_with("results view"), "{transcript:#?}");
    assert_eq!(transcript[3], r#"user "and second""#);
    assert_eq!(transcript[4], r#"assistant "Both done." Done"#);
    assert_eq!(room.server.requests().len(), 2);
    assert!(room.store.queued(room.session).await.unwrap().is_empty());
    room.assert_valid();
}

#[tokio::test]
async fn a_queued_prompt_runs_afterwards_as_a_turn_of_its_own() {
    let room = Room::new(slow_call(Script::new().text("First.").then().text("Second."))).await;
    room.write("a", "x");
    let mut events = room.watch();
    room.submit(room.saying("one", Delivery::Queue)).await;
    until(&mut events, |event| matches!(event, Event::Text { .. })).await;
    room.submit(room.saying("two", Delivery::Queue)).await;
    to_the_end(&mut events).await;
    to_the_end(&mut events).await;
    let transcript = room.transcript().await;
    let end = [r#"assistant "First." Done"#, r#"user "two""#, r#"assistant "Second." Done"#];
    assert_eq!(transcript[3..], end, "{transcript:#?}");
    room.assert_valid();
}

#[tokio::test]
async fn a_stop_overtakes_what_waits_and_the_next_prompt_takes_it_along() {
    let script = Script::new().text("Half").stall().then().text("All three.");
    let room = Room::new(Plan::from(script)).await;
    let mut events = room.watch();
    room.submit(room.saying("one", Delivery::Queue)).await;
    until(&mut events, |event| matches!(event, Event::Text { .. })).await;
    room.submit(room.saying("two", Delivery::Queue)).await;
    room.submit(Op::Stop { session: room.session }).await;
    to_the_end(&mut events).await;
    assert_eq!(room.server.requests().len(), 1, "nothing runs after a stop by itself");
    assert_eq!(room.store.queued(room.session).await.unwrap().len(), 1, "nothing is lost");
    room.say("three").await;
    let transcript = room.transcript().await;
    let end = [r#"user "two""#, r#"user "three""#, r#"assistant "All three." Done"#];
    assert_eq!(transcript[2..], end, "{transcript:#?}");
    room.assert_valid();
}

#[tokio::test]
async fn a_waiting_prompt_can_be_taken_back() {
    let room = Room::new(Plan::from(Script::new().text("Half").stall())).await;
    let mut events = room.watch();
    room.submit(room.saying("one", Delivery::Queue)).await;
    until(&mut events, |event| matches!(event, Event::Text { .. })).await;
    room.submit(room.saying("two", Delivery::Steer)).await;
    let waiting = room.store.queued(room.session).await.unwrap();
    let unsay = Op::Unsay { session: room.session, entry: waiting[0].entry };
    room.submit(unsay.clone()).await;
    assert!(room.coordinator.submit(unsay).await.is_err(), "it is gone already");
    assert!(room.store.queued(room.session).await.unwrap().is_empty());
    room.coordinator.close().await;
}

#[tokio::test]
async fn a_waiting_prompt_outlives_its_process() {
    let script = Script::new().text("Half").stall().then().text("Both.");
    let plan = Plan::from(script);
    let room = Room::new(Plan::from(plan.script.clone())).await;
    let mut events = room.watch();
    room.submit(room.saying("one", Delivery::Queue)).await;
    until(&mut events, |event| matches!(event, Event::Text { .. })).await;
    room.submit(room.saying("two", Delivery::Queue)).await;
    room.coordinator.close().await;
    let again = room.reopened(&plan);
    let mut events = again.subscribe(base::protocol::EventFilter::All, 0);
    again.submit(Op::GoOn { session: room.session }).await.unwrap();
    to_the_end(&mut events).await;
    let transcript = room.transcript().await;
    assert_eq!(transcript[2..], [r#"user "two""#, r#"assistant "Both." Done"#]);
}

#[tokio::test]
async fn a_failed_turn_goes_on_without_a_new_prompt() {
    let script = Script::new().fail(400, "no").then().text("Now.");
    let room = Room::new(Plan::from(script)).await;
    room.say("hi").await;
    let mut events = room.watch();
    room.submit(Op::GoOn { session: room.session }).await;
    to_the_end(&mut events).await;
    let expected = [r#"user "hi""#, r#"failure "no" (bad_request)"#, r#"assistant "Now." Done"#];
    assert_eq!(room.transcript().await, expected);
    let nothing = room.coordinator.submit(Op::GoOn { session: room.session }).await;
    assert!(nothing.unwrap_err().to_string().contains("nothing to go on with"));
}

#[tokio::test]
async fn calls_a_dead_process_left_open_get_a_result_before_the_session_goes_on() {
    let room = Room::new(Plan::with_tools(Script::new().text("I see."))).await;
    let call = Call {
        id: CallId::new("c1"),
        name: "view".to_owned(),
        input: CallInput::sound(serde_json::Map::new()),
    };
    let said = EntryKind::User { parts: vec![Part::user_text("look")] };
    let answer = EntryKind::Assistant {
        parts: vec![Part::new(PartBody::Call(call), base::Origin::Assistant)],
        model: ModelRef::new("lab", "m"),
        stop: StopReason::ToolCalls,
        usage: Usage::default(),
    };
    let mut parent = None;
    for kind in [said, answer] {
        let entry = Entry { id: EntryId::new(), parent, at: Clock::system().now(), kind };
        parent = Some(entry.id);
        room.store.append(room.session, vec![entry]).await.unwrap();
    }
    let mut events = room.watch();
    room.submit(Op::GoOn { session: room.session }).await;
    to_the_end(&mut events).await;
    let transcript = room.transcript().await;
    assert!(transcript[2].contains("before this call had a result"), "{transcript:#?}");
    assert_eq!(transcript[3], r#"assistant "I see." Done"#);
    room.assert_valid();
}
