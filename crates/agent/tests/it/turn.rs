//! One turn: what is told, what is kept, what is sent.

use agent::TurnError;
use base::{Event, StopReason};
use llm::Class;
use testkit::Script;
use tokio_util::sync::CancellationToken;

use crate::room::{Room, entry};

fn ignore(_: Event) {}

#[tokio::test]
async fn a_turn_tells_its_events_in_order() {
    let room = Room::new(Script::new().reasoning("Hm.").text("Four.").usage(1000, 100)).await;
    let (outcome, told) = room.told("2+2?").await;
    assert_eq!(outcome.unwrap().stop, StopReason::Done);
    let expected = [
        r#"appended user "2+2?""#,
        "turn started with lab/m",
        r#"reasoning "Hm.""#,
        r#"text "Four.""#,
        r#"appended assistant "Four." Done"#,
        "spent 1000 in, 100 out, $0.003000",
        "turn done: Done",
    ];
    assert_eq!(told, expected);
    assert!(room.server.violations().is_empty(), "{:?}", room.server.violations());
}

#[tokio::test]
async fn the_prompt_is_on_disk_before_the_model_is_asked() {
    let room = Room::new(Script::new().stall()).await;
    let cancel = CancellationToken::new();
    let look = async {
        room.server.wait_for_requests(1).await;
        let seen = room.other_process().branch(room.session).await.unwrap();
        cancel.cancel();
        seen.iter().map(entry).collect::<Vec<_>>()
    };
    let mut told = ignore;
    let (outcome, seen) = tokio::join!(room.say("remember", &cancel, &mut told), look);
    assert_eq!(seen, [r#"user "remember""#]);
    assert_eq!(outcome.unwrap().stop, StopReason::Cancelled);
}

#[tokio::test]
async fn what_has_come_is_journaled_although_the_model_says_no_more() {
    let room = Room::new(Script::new().text("Half an").stall()).await;
    let cancel = CancellationToken::new();
    let look = async {
        loop {
            if let Some(draft) = room.mind.store.journal_take(room.session).await.unwrap() {
                cancel.cancel();
                break draft;
            }
        }
    };
    let mut told = ignore;
    let (outcome, draft) = tokio::join!(room.say("hi", &cancel, &mut told), look);
    assert_eq!(draft.parts[0].as_text(), Some("Half an"));
    assert_eq!(outcome.unwrap().entry, draft.entry, "the draft becomes the entry it announced");
}

#[tokio::test]
async fn nothing_is_left_in_the_journal_of_a_finished_turn() {
    let slow = Script::new().text("One ").delay_ms(300).text("two.").usage(1, 1);
    let room = Room::new(slow).await;
    room.told("hi").await.0.unwrap();
    assert_eq!(room.mind.store.journal_take(room.session).await.unwrap(), None);
    assert_eq!(room.transcript().await, [r#"user "hi""#, r#"assistant "One two." Done"#]);
}

#[tokio::test]
async fn a_cancelled_turn_keeps_what_had_come_and_the_session_goes_on() {
    let script = Script::new().text("Half an").stall().then().text("Whole.").usage(1, 1);
    let room = Room::new(script).await;
    let cancel = CancellationToken::new();
    let mut stop_at_text = |event: Event| {
        if matches!(event, Event::Text { .. }) {
            cancel.cancel();
        }
    };
    let report = room.say("hi", &cancel, &mut stop_at_text).await.unwrap();
    assert_eq!(report.stop, StopReason::Cancelled);
    let kept = [r#"user "hi""#, r#"assistant "Half an" Cancelled"#];
    assert_eq!(room.transcript().await, kept);
    assert_eq!((room.spent().await.calls, room.spent().await.failed), (1, 1));
    room.told("again").await.0.unwrap();
    let whole = [&kept[..], &[r#"user "again""#, r#"assistant "Whole." Done"#]].concat();
    assert_eq!(room.transcript().await, whole);
    assert!(room.server.violations().is_empty(), "{:?}", room.server.violations());
}

#[tokio::test]
async fn a_broken_answer_is_kept_counted_and_reported() {
    let room = Room::new(Script::new().text("Half an").drop_connection()).await;
    let (outcome, told) = room.told("hi").await;
    let TurnError::Provider { error, .. } = outcome.unwrap_err() else { panic!("{told:?}") };
    assert_eq!(error.class, Class::Network);
    assert_eq!(room.transcript().await, [r#"user "hi""#, r#"assistant "Half an" Other"#]);
    assert_eq!((room.spent().await.calls, room.spent().await.failed), (1, 1));
    assert_eq!(told.last().unwrap(), &format!("turn failed: {}", error.message));
}

#[tokio::test]
async fn a_refused_turn_leaves_the_prompt_and_no_empty_answer() {
    let room = Room::new(Script::new().fail(400, "no")).await;
    let (outcome, told) = room.told("hi").await;
    assert!(matches!(outcome, Err(TurnError::Provider { .. })), "{told:?}");
    let expected = [
        r#"appended user "hi""#,
        "turn started with lab/m",
        "spent 0 in, 0 out, $0.00",
        "turn failed: no",
    ];
    assert_eq!(told, expected);
    assert_eq!(room.transcript().await, [r#"user "hi""#]);
    assert_eq!((room.spent().await.calls, room.spent().await.failed), (1, 1));
}

#[tokio::test]
async fn a_failure_that_passes_is_told_and_tried_again() {
    let script = Script::new().header("retry-after-ms", "1").fail(529, "busy");
    let room = Room::new(script.then().text("Here.").usage(1, 1)).await;
    let (outcome, told) = room.told("hi").await;
    outcome.unwrap();
    assert_eq!(told[2], "retrying, try 2: busy");
    assert_eq!(room.server.requests().len(), 2);
    assert_eq!(room.transcript().await.len(), 2);
}
