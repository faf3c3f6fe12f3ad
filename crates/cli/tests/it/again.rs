//! Sessions that go on: after a stop, after death, in a copy, under an id of one's own.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::Script;

use crate::home::Home;
use crate::model::Model;

fn file(name: &str) -> Value {
    json!({ "file_path": name })
}

#[test]
fn a_turn_interrupted_by_death_goes_on_without_a_prompt() {
    let call = Script::new().call("view", file("a.txt")).usage(1, 1);
    let model = Model::start(call.then().text("Half").stall().then().text("Whole.").usage(1, 1));
    let home = Home::of(&model);
    home.write("a.txt", "hello\n");
    let mut running = home.start(&["run", "read it"]);
    running.close_input();
    model.wait_for_requests(2);
    running.signal(Signal::KILL);
    running.end();
    let done = home.run(&["run", "--continue"]);
    assert_eq!((done.code, done.out.as_str()), (0, "Whole.\n"), "{}", done.err);
    let bodies = model.requests();
    assert!(bodies[2].body.to_string().contains("hello"), "what the tool had found is known");
    let done = home.run(&["run", "--continue"]);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("nothing to go on with"), "{}", done.err);
    model.assert_no_violations();
}

#[test]
fn a_prompt_after_an_interruption_is_told_of_it() {
    let script = Script::new().text("Half an").stall().then().text("Whole.").usage(1, 1);
    let model = Model::start(script);
    let home = Home::of(&model);
    let mut running = home.start(&["run", "hi"]);
    running.close_input();
    running.read_until("Half an");
    running.signal(Signal::INT);
    assert_eq!(running.end().code, 130);
    let done = home.run(&["run", "-c", "again"]);
    assert_eq!((done.code, done.out.as_str()), (0, "Whole.\n"));
    assert!(done.err.contains("was interrupted"), "{}", done.err);
    assert_eq!(home.run(&["run", "-c", "more"]).err, "");
}

#[test]
fn a_stop_during_a_command_leaves_no_process_behind() {
    let model = Model::start(
        Script::new()
            .call("bash", json!({ "command": "echo go; sleep 97531 & sleep 97532" }))
            .usage(1, 1),
    );
    let home = Home::of(&model).with("PATH", "/usr/bin:/bin");
    let mut running = home.start(&["run", "wait", "--yolo"]);
    running.close_input();
    let began = Instant::now();
    while sleepers() < 2 {
        assert!(began.elapsed() < Duration::from_secs(20), "the command never ran");
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal(Signal::INT);
    assert_eq!(running.end().code, 130);
    assert_eq!(sleepers(), 0);
}

/// Processes of the test above.
fn sleepers() -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let commands = processes.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok());
    commands
        .filter(|line| line.starts_with(b"sleep\0") && line.windows(4).any(|it| it == b"9753"))
        .count()
}

#[test]
fn a_session_may_be_named_copied_and_given_an_id() {
    let script = Script::new().text("One.").usage(1, 1).then().text("Two.").usage(1, 1);
    let model = Model::start(script.then().text("Three.").usage(1, 1));
    let home = Home::of(&model);
    let id = "0198a000-0000-7000-8000-000000000001";
    let done = home.run(&["run", "a", "--session-id", id, "--name", "My plan"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let done = home.run(&["run", "b", "--resume", id, "--fork-session"]);
    assert_eq!(done.out, "Two.\n", "{}", done.err);
    assert_eq!(home.run(&["run", "c", "-r", id]).out, "Three.\n");
    let said =
        |at: usize| model.conversations()[at].iter().map(|it| it.1.clone()).collect::<Vec<_>>();
    assert_eq!(said(1), ["a", "One.", "b"]);
    assert_eq!(said(2), ["a", "One.", "c"], "the copy left the first as it was");
    let listed = home.json(&["session", "list", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert!(listed.to_string().contains("My plan"));
    let done = home.run(&["run", "d", "--session-id", id]);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains(&format!("--session {id}")), "{}", done.err);
}
