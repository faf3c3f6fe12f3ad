//! Skills and custom commands from outside: listed, loaded, called, and what they may not do.

mod commands;
mod hostile;
mod offered;

use base::Event;
use base::protocol::{Client, ClientError, Mode, Op};
use serde_json::{Value, json};
use settings::definition::{Definitions, Skill};
use testkit::Script;

use crate::room::{Plan, Room, to_the_end};

/// A plan with these skills, whose model must ask before it does anything.
fn plan(script: Script, skills: Vec<Skill>) -> Plan {
    let definitions = Definitions { skills, ..Definitions::default() };
    Plan { mode: Mode::Default, definitions, ..Plan::with_tools(script) }
}

/// A call of the tool.
fn load(name: &str, args: &str) -> Value {
    json!({ "skill": name, "args": args })
}

/// Runs a slash command that begins a turn, to its end.
async fn call(room: &Room, line: &str) -> Vec<Event> {
    let mut events = room.watch();
    submit(room, line).await.unwrap();
    to_the_end(&mut events).await
}

/// Runs a slash command.
async fn submit(room: &Room, line: &str) -> Result<(), ClientError> {
    let op = Op::Command { session: room.session, line: line.to_owned() };
    room.coordinator.submit(op).await
}

/// The texts of all results, in order.
async fn results(room: &Room) -> Vec<String> {
    let branch = room.store.branch(room.session).await.unwrap();
    let parts = branch.iter().flat_map(|entry| entry.kind.parts());
    parts.filter_map(|part| part.as_result().map(crate::room::text)).collect()
}
