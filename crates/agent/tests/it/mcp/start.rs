//! Starting with servers that are slow or broken: nobody waits for them.

use std::time::{Duration, Instant};

use base::Event;
use base::protocol::Delivery;
use serde_json::json;
use settings::Config;
use testkit::Script;

use super::lender::{Lender, lent};
use crate::room::{Plan, Room, until};

/// How long it takes until the model has answered a first prompt.
async fn first_answer(config: Config) -> (Duration, Room) {
    let script = Script::new().text("Yes.").usage(10, 5);
    let room = Room::new(Plan { config, ..Plan::with_tools(script) }).await;
    let began = Instant::now();
    room.say("hello").await;
    (began.elapsed(), room)
}

/// Ten servers, of which three never answer and two end at once.
fn ten() -> (Config, Vec<Lender>) {
    let spec = |number: usize| match number {
        0..3 => json!({ "silent": true }),
        3..5 => json!({ "crashes": true }),
        _ => json!({ "tools": [{ "name": "add", "description": "Adds." }] }),
    };
    let lenders: Vec<Lender> = (0..10).map(|number| Lender::new(&spec(number))).collect();
    let named = lenders.iter().enumerate();
    let servers: serde_json::Map<_, _> =
        named.map(|(number, it)| (format!("s{number}"), it.settings())).collect();
    (serde_json::from_value(json!({ "mcp": servers })).unwrap(), lenders)
}

#[tokio::test]
async fn the_user_is_told_once_which_servers_do_not_work() {
    let (config, _lenders) = ten();
    let script = Script::new().text("Yes.").then().text("Again.");
    let room = Room::new(Plan { config, ..Plan::with_tools(script) }).await;
    let mut events = room.watch();
    room.submit(room.saying("hello", Delivery::Queue)).await;
    let mut told = Vec::new();
    while told.len() < 2 {
        let event = until(&mut events, |it| matches!(it, Event::Notice { .. })).await;
        let Event::Notice { text, .. } = event else { panic!() };
        told.push(text);
    }
    told.sort();
    assert!(told[0].starts_with("The MCP server s3 is broken"), "{told:?}");
    assert!(told[1].starts_with("The MCP server s4 is broken"), "{told:?}");
    room.coordinator.close().await;
}

#[tokio::test]
async fn ten_servers_of_which_five_do_not_work_hold_nobody_up() {
    // The first one pays for what is made once in a process.
    first_answer(Config::default()).await.1.coordinator.close().await;
    let mut differences = Vec::new();
    for _ in 0..3 {
        let (without, plain) = first_answer(Config::default()).await;
        let (config, _lenders) = ten();
        let (with, room) = first_answer(config).await;
        assert!(lent(&room, 0).contains(&"use_tool".to_owned()));
        plain.coordinator.close().await;
        room.coordinator.close().await;
        differences.push(with.saturating_sub(without));
    }
    eprintln!("ten servers cost the first answer {differences:?}");
    let best = differences.iter().min().unwrap();
    // Ten interpreters start beside it on a machine that may have one core: the best of three counts.
    assert!(*best < Duration::from_millis(50), "{differences:?}");
}
