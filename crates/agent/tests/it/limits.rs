//! When a turn ends by itself: budgets, circles; and what a session is called.

use agent::budget::{Budget, Limits};
use base::protocol::Ending;
use base::{Event, Money};
use serde_json::json;
use testkit::Script;

use crate::room::{Plan, Room};

fn ending(events: &[Event]) -> &Ending {
    match events.last() {
        Some(Event::TurnDone { ending, .. }) => ending,
        other => panic!("{other:?}"),
    }
}

/// A model that calls a tool for ever.
fn tireless() -> Script {
    Script::new().call("view", json!({ "file_path": "a" })).usage(1000, 100)
}

async fn room(script: Script, turn: Limits) -> Room {
    let budget = Budget { turn, ..Budget::default() };
    let room = Room::new(Plan { budget, ..Plan::with_tools(script) }).await;
    room.write("a", "x");
    room
}

#[tokio::test]
async fn a_turn_stops_at_its_limit_of_steps_and_says_which_limit() {
    let room = room(tireless(), Limits { steps: Some(2), ..Limits::default() }).await;
    let events = room.say("go").await;
    let Ending::OverBudget(reason) = ending(&events) else { panic!("{events:?}") };
    assert!(reason.contains("--max-steps"), "{reason}");
    assert_eq!(room.server.requests().len(), 2);
    assert!(room.transcript().await.last().unwrap().contains("Notice"), "the user sees why");
}

#[tokio::test]
async fn a_turn_stops_at_its_limit_of_money_and_of_tokens() {
    let cost = Some(Money::from_dollars(0.004));
    let money = room(tireless(), Limits { cost, ..Limits::default() }).await;
    assert!(matches!(ending(&money.say("go").await), Ending::OverBudget(_)));
    assert_eq!(money.server.requests().len(), 2, "3 tenths of a cent a call");
    let tokens = room(tireless(), Limits { tokens: Some(1000), ..Limits::default() }).await;
    assert!(matches!(ending(&tokens.say("go").await), Ending::OverBudget(_)));
    assert_eq!(tokens.server.requests().len(), 1);
}

#[tokio::test]
async fn a_model_that_repeats_a_call_is_nudged_and_then_stopped() {
    let room = room(tireless(), Limits::default()).await;
    let events = room.say("go").await;
    let Ending::GoingInCircles(reason) = ending(&events) else { panic!("{events:?}") };
    assert!(reason.contains("view"), "{reason}");
    assert_eq!(room.server.requests().len(), 5);
    let results: Vec<String> =
        room.transcript().await.into_iter().filter(|line| line.starts_with("results")).collect();
    assert_eq!(results[0], results[1]);
    assert!(results[2].len() > results[1].len(), "the third result holds a nudge: {results:#?}");
}

#[tokio::test]
async fn a_model_that_repeats_its_words_is_stopped() {
    let mut script = Script::new();
    for _ in 0..400 {
        script = script.text("I will now look at the file again to be sure of it.\n");
    }
    let room = room(script.stall(), Limits::default()).await;
    let events = room.say("go").await;
    assert!(matches!(ending(&events), Ending::GoingInCircles(_)), "{:?}", events.last());
}

#[tokio::test]
async fn the_small_model_names_the_session_beside_the_turn() {
    let named = Script::new().when_contains("Its title:").text("\"Fix the login\"").usage(20, 5);
    let room =
        Room::new(Plan { small: true, ..Plan::from(named.then().delay_ms(300).text("Done.")) })
            .await;
    let events = room.say("please fix the login form, it loops").await;
    let renamed = |event: &Event| matches!(event, Event::SessionChanged { .. });
    assert!(events.iter().any(renamed), "{events:?}");
    let session = room.store.session(room.session).await.unwrap();
    assert_eq!(session.summary.title.as_deref(), Some("Fix the login"));
    assert_eq!(room.spent().await.calls, 2, "the side call is in the ledger");
}
