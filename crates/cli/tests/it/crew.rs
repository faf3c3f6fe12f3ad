//! Sub-agents from outside: what is printed of them, what a kill leaves, what a crowd of sessions weighs.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::Script;
use testkit::script::When;

use crate::home::Home;
use crate::model::Model;

const CHILD: &str = "You are a sub-agent of Caiman";

fn child() -> When {
    When { contains: Some(CHILD.to_owned()), ..When::default() }
}

/// A model that has a sub-agent look for owls.
fn owls() -> Script {
    Script::new()
        .call("agent", json!({ "prompt": "find owls", "description": "Find owls" }))
        .usage(100, 10)
        .then()
        .when(child())
        .call("ls", json!({ "path": "." }))
        .usage(20, 2)
        .then()
        .when(child())
        .text("No owls here.")
        .usage(30, 3)
        .then()
        .text("There are no owls.")
        .usage(200, 20)
}

#[test]
fn what_a_sub_agent_does_is_told_under_its_call_and_its_cost_counts() {
    let model = Model::start(owls());
    let home = Home::of(&model);
    let done = home.run(&["run", "--model", "lab/m", "--output-format", "stream-json", "Owls?"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let lines: Vec<Value> =
        done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let call = lines.iter().find_map(|line| {
        let block = &line["message"]["content"][0];
        (block["name"] == "Agent" || block["name"] == "Task").then(|| block["id"].clone())
    });
    let call = call.unwrap_or_else(|| panic!("{}", done.out));
    let below = lines.iter().filter(|line| line["parent_tool_use_id"] == call).count();
    assert!(below >= 3, "its call, its result and its answer: {}", done.out);
    let result = lines.last().unwrap();
    assert_eq!(result["result"], "There are no owls.");
    assert_eq!(result["usage"]["input_tokens"], 350);
    assert_eq!(result["num_turns"], 2);
    let session = home.json(&["session", "last", "--json"]);
    assert_eq!(session["session"]["usage"]["input"], 350, "{session}");
}

#[test]
fn a_person_sees_what_a_sub_agent_does() {
    let model = Model::start(owls());
    let home = Home::of(&model);
    let done = home.run(&["run", "--model", "lab/m", "--verbose", "Owls?"]);
    assert_eq!(done.out, "There are no owls.\n");
    assert!(done.err.contains("→ agent: explorer: Find owls"), "{}", done.err);
    assert!(done.err.contains("explorer  → ."), "{}", done.err);
}

/// Rooms that are finished: one that is not yet locked is somebody's who lives, for all that a start knows.
fn rooms(temp: &Path) -> usize {
    let names = std::fs::read_dir(temp).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with("caiman-room-")).count()
}

#[test]
fn the_next_start_removes_the_room_of_an_errand_that_was_killed() {
    let errand = Script::new()
        .call("agentic_fetch", json!({ "prompt": "look" }))
        .then()
        .when(child())
        .stall()
        .then()
        .when_contains("hello")
        .always()
        .text("Hi.");
    let model = Model::start(errand);
    let temp = tempfile::tempdir().unwrap();
    let home = Home::of(&model).with("TMPDIR", &temp.path().display().to_string());
    let mut running = home.start(&["run", "--model", "lab/m", "--yolo", "ask the web"]);
    drop(running.child.stdin.take());
    let began = Instant::now();
    while rooms(temp.path()) == 0 {
        assert!(began.elapsed() < Duration::from_secs(30), "no room was made");
        std::thread::sleep(Duration::from_millis(10));
    }
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    assert_eq!(rooms(temp.path()), 1, "a kill leaves it");
    assert_eq!(home.run(&["run", "--model", "lab/m", "hello"]).code, 0);
    assert_eq!(rooms(temp.path()), 0);
}

#[test]
fn an_agent_of_the_command_line_is_the_main_one() {
    let model = Model::start(Script::new().text("Arr."));
    let home = Home::of(&model);
    let agents =
        r#"{"pirate":{"description":"Talks","prompt":"You are a pirate.","tools":["Read"]}}"#;
    let done =
        home.run(&["run", "--model", "lab/m", "--agents", agents, "--agent", "pirate", "hello"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let asked = model.requests()[0].body.to_string();
    assert!(asked.contains("You are a pirate."), "{asked}");
    let done = home.run(&["run", "--model", "lab/m", "--agent", "pirat", "hello"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("There is no agent `pirat`"), "{}", done.err);
}
