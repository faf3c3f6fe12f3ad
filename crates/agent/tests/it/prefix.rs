//! Requests of a session extend each other, byte for byte: that is what provider caches are made of.

use std::time::Duration;

use agent::Coordinator;
use base::protocol::{Client, Delivery, Op};
use base::{Event, Query, Reply, SessionId};
use serde_json::{Value, json};
use settings::provider::Wire;
use testkit::{Recorded, Script};

use crate::room::{Plan, Room, to_the_end, until};

/// How many turns the session has.
const TURNS: usize = 60;

/// A plan whose model calls a tool in every other turn.
fn plan(wire: Wire) -> Plan {
    let mut script = Script::new();
    for turn in 0..TURNS {
        if turn % 2 == 0 {
            let args = json!({ "file_path": format!("f{}.txt", turn % 5) });
            script = script.reasoning("Let me look.").call("view", args).usage(10, 5).then();
        }
        script = script.text(&format!("Answer {turn}.")).usage(10, 5).then();
    }
    Plan { wire, ..Plan::with_tools(script.text("Over.")) }
}

async fn session_of_many_turns(wire: Wire) -> Vec<Recorded> {
    let plan = plan(wire);
    let room = Room::new(self::plan(wire)).await;
    for file in 0..5 {
        room.write(&format!("f{file}.txt"), &format!("content of {file}\n"));
    }
    let mut coordinator = room.coordinator.clone();
    for turn in 0..TURNS {
        // Every tenth turn, another process takes over.
        if turn % 10 == 9 {
            coordinator.close().await;
            coordinator = room.reopened(&plan);
        }
        let mut events =
            coordinator.subscribe(base::protocol::EventFilter::All, coordinator.newest_event());
        let say = room.saying(&format!("Question {turn}"), Delivery::Queue);
        coordinator.submit(say).await.unwrap();
        if turn % 7 == 3 {
            until(&mut events, |event| matches!(event, Event::TurnStarted { .. })).await;
            let steer = room.saying(&format!("By the way {turn}"), Delivery::Steer);
            coordinator.submit(steer).await.unwrap();
        }
        to_the_end(&mut events).await;
        // A word that came too late for the turn has one of its own, which closing would stop.
        while is_busy(&coordinator, room.session).await {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        if turn % 20 == 19 {
            let mode = base::protocol::Mode::AcceptEdits;
            coordinator.submit(Op::SetMode { session: room.session, mode }).await.unwrap();
        }
    }
    coordinator.close().await;
    room.assert_valid();
    room.server.requests()
}

async fn is_busy(coordinator: &Coordinator, session: SessionId) -> bool {
    let reply = coordinator.ask(Query::State { session }).await.unwrap();
    let Reply::State(state) = reply else { panic!("{reply:?}") };
    state.running_since.is_some() || !state.waiting.is_empty()
}

/// The conversation of a request as its messages' bytes, and the rest of its body.
fn split(request: &Recorded) -> (Vec<String>, Value) {
    let mut body = request.body.clone();
    strip_cache_marks(&mut body);
    let fields = body.as_object_mut().unwrap();
    let said = ["messages", "input", "contents"].iter().find_map(|key| fields.remove(*key));
    let said = said.unwrap().as_array().unwrap().iter().map(Value::to_string).collect();
    (said, body)
}

/// Marks say where a cache may end, not what is cached: they wander by design.
fn strip_cache_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(strip_cache_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_cache_marks),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

async fn each_request_extends_the_last(wire: Wire) {
    let requests = session_of_many_turns(wire).await;
    assert!(requests.len() >= TURNS * 3 / 2, "{} requests", requests.len());
    let mut last: Option<(Vec<String>, Value)> = None;
    for (number, request) in requests.iter().enumerate() {
        let (said, rest) = split(request);
        if let Some((before, rest_before)) = last {
            assert_eq!(rest, rest_before, "request {number} changes what is not the conversation");
            assert!(said.len() > before.len(), "request {number} says nothing new");
            assert_eq!(said[..before.len()], before, "request {number} rewrites the conversation");
        }
        last = Some((said, rest));
    }
}

#[tokio::test]
async fn over_messages() {
    each_request_extends_the_last(Wire::AnthropicMessages).await;
}

#[tokio::test]
async fn over_chat() {
    each_request_extends_the_last(Wire::OpenaiChat).await;
}

#[tokio::test]
async fn over_responses() {
    each_request_extends_the_last(Wire::OpenaiResponses).await;
}

#[tokio::test]
async fn over_gemini() {
    each_request_extends_the_last(Wire::Gemini).await;
}
