//! What a request begins with stays what it is: while a server comes up late, changes what it lends, breaks,
//! is gone from the settings, in this process and the next.

use std::time::Duration;

use base::EntryKind;
use base::protocol::{Client, Delivery};
use serde_json::{Value, json};
use settings::Config;
use testkit::{Recorded, Script};

use super::lender::{Lender, config, ready, results, told, wake};
use crate::room::{Plan, Room, text, to_the_end};

fn plan(script: Script, config: Config) -> Plan {
    Plan { config, ..Plan::with_tools(script) }
}

/// What a request begins with, and the messages after that.
fn split(request: &Recorded) -> (String, Vec<String>) {
    let body = &request.body;
    let messages = body["messages"].as_array().unwrap();
    let system = messages.iter().take_while(|it| it["role"] == "system").count();
    let head = json!({ "tools": body["tools"], "system": messages[..system] }).to_string();
    (head, messages[system..].iter().map(Value::to_string).collect())
}

async fn say(coordinator: &agent::Coordinator, room: &Room, words: &str) {
    let mut events =
        coordinator.subscribe(base::protocol::EventFilter::All, coordinator.newest_event());
    coordinator.submit(room.saying(words, Delivery::Queue)).await.unwrap();
    to_the_end(&mut events).await;
}

#[tokio::test]
async fn the_prefix_stays_while_a_server_comes_late_changes_and_breaks() {
    let more =
        json!([{ "name": "later", "description": "Comes later.", "does": [{ "text": "late" }] }]);
    let gate_dir = tempfile::tempdir().unwrap();
    let gate = gate_dir.path().join("up");
    let tools = json!([
        { "name": "grow", "description": "Grows.", "does": [{ "becomes": more }, { "text": "grown" }] },
        { "name": "die", "description": "Dies.", "does": [{ "dies": true }] },
    ]);
    let lender = Lender::new(&json!({ "waits_for": gate, "tools": tools }));
    let use_tool = |name: &str| json!({ "name": name, "input": {} });
    let script = Script::new().text("Nobody is there yet.").then();
    let script = script.call("use_tool", use_tool("mcp_m_grow")).then().text("It grew.").then();
    let script = script.call("use_tool", use_tool("mcp_m_later")).then();
    let script = script.call("mcp_m_die", json!({})).then().text("It died.").then();
    let script = script.text("Still here.").then().text("Another process.").then();
    let plan = plan(script.text("And without."), config(&[("m", &lender)]));
    let again = self::plan(Script::new(), plan.config.clone());
    let room = Room::new(plan).await;

    say(&room.coordinator, &room, "one").await;
    std::fs::write(&gate, "").unwrap();
    told(&room, "m", "lends 2 tools").await;
    say(&room.coordinator, &room, "two").await;
    told(&room, "m", "lends 3 tools").await;
    say(&room.coordinator, &room, "three").await;
    say(&room.coordinator, &room, "four").await;
    room.coordinator.close().await;
    let other = room.reopened(&again);
    say(&other, &room, "five").await;
    other.close().await;
    let without = room.reopened(&self::plan(Script::new(), Config::default()));
    say(&without, &room, "six").await;
    without.close().await;

    let requests = room.server.requests();
    assert_eq!(requests.len(), 9, "every turn was answered");
    let (head, mut said) = split(&requests[0]);
    assert!(head.contains("Servers whose tools are not known yet: m."), "{head}");
    for (number, request) in requests.iter().enumerate().skip(1) {
        let (now, more) = split(request);
        assert_eq!(now, head, "request {number} begins with something else");
        assert_eq!(more[..said.len()], said, "request {number} says something else");
        said = more;
    }
    let news: Vec<&String> = said.iter().filter(|it| it.contains("have been added")).collect();
    assert_eq!(news.len(), 2, "each is told once: {news:?}");
    assert!(news[0].contains("- mcp_m_grow: Grows."), "{}", news[0]);
    assert!(news[1].contains("- mcp_m_later: Comes later.") && !news[1].contains("mcp_m_grow"));
    let read: Vec<String> = results(&room).await.iter().map(|(_, it)| text(it)).collect();
    assert_eq!(read[..2], ["\"grown\"", "\"late\""]);
    assert!(read[2].contains("does not work"), "{}", read[2]);
    room.assert_valid();
}

#[tokio::test]
async fn the_next_process_knows_the_tools_before_the_server_is_up() {
    let gate_dir = tempfile::tempdir().unwrap();
    let gate = gate_dir.path().join("up");
    std::fs::write(&gate, "").unwrap();
    let lender = Lender::new(&json!({
        "waits_for": gate, "tools": [{ "name": "add", "description": "Adds." }],
    }));
    let script = Script::new().text("One.").then().text("Two.");
    let plan = plan(script, config(&[("m", &lender)]));
    let again = self::plan(Script::new(), plan.config.clone());
    let room = Room::new(plan).await;
    wake(&room).await;
    told(&room, "m", "lends 1 tools").await;
    room.coordinator.close().await;
    std::fs::remove_file(&gate).unwrap();
    let other = room.reopened(&again);
    say(&other, &room, "go").await;
    other.close().await;
    let tools = room.server.requests()[0].body["tools"].to_string();
    assert!(tools.contains("mcp_m_add"), "{tools}");
}

#[tokio::test]
async fn a_server_whose_tools_are_known_sleeps_until_one_is_called() {
    let lender = Lender::of_tools(&[("add", json!([{ "text": "three" }]))]);
    let script = Script::new().text("One.").then().call("mcp_m_add", json!({})).then();
    let plan = plan(script.text("Two."), config(&[("m", &lender)]));
    let again = self::plan(Script::new(), plan.config.clone());
    let room = ready(plan).await;
    room.coordinator.close().await;
    let before = lender.heard().len();
    let other = room.reopened(&again);
    say(&other, &room, "one").await;
    // Longer than the pause after which servers are woken.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(other.servers()[0].state, "asleep");
    assert_eq!(lender.heard().len(), before);
    say(&other, &room, "two").await;
    assert!(other.servers()[0].state.starts_with("ready"), "{:?}", other.servers());
    other.close().await;
    assert_eq!(lender.called(), ["add"]);
}

#[tokio::test]
async fn a_session_begun_without_servers_gets_the_way_to_them_when_it_is_opened_again() {
    let lender = Lender::of_tools(&[("add", json!([{ "text": "three" }]))]);
    let script = Script::new().text("One.").then();
    // The first call waits for the server and gets its list.
    let script = script.call("use_tool", json!({ "name": "mcp_m_add", "input": {} })).then();
    let script = script.call("use_tool", json!({ "name": "mcp_m_add", "input": {} })).then();
    let room = Room::new(plan(script.text("Two."), Config::default())).await;
    say(&room.coordinator, &room, "one").await;
    room.coordinator.close().await;
    let other = room.reopened(&plan(Script::new(), config(&[("m", &lender)])));
    say(&other, &room, "two").await;
    other.close().await;
    let branch = room.store.branch(room.session).await.unwrap();
    let prefixes = branch.iter().filter(|it| matches!(it.kind, EntryKind::Prefix { .. })).count();
    assert_eq!(prefixes, 2);
    assert_eq!(lender.called(), ["add"]);
}
