//! kill -9 at random moments of a 30-step session: whatever was acknowledged is there, the transcript is
//! valid, and the session goes on to its right end.
//!
//! A few dozen kills run with the tests; `CAIMAN_SOAK=200` asks for more.

use std::time::Duration;

use serde_json::json;
use testkit::Script;
use testkit::script::When;

use crate::home::Home;
use crate::model::Model;

/// What the session is about.
const PROMPT: &str = "Do all the steps.";
/// What the model says when it is done.
const END: &str = "All steps are done.";
/// Steps of the session.
const STEPS: usize = 30;
/// Kills when nobody asks for more.
const KILLS: usize = 24;
/// A run that is not killed by then has had its chance.
const LONGEST_MS: u64 = 400;

/// A model that knows from the results alone how far it is: the mark of a step is only in its output.
fn script() -> Script {
    let mark = |step: usize| format!("mark-{step:02}-end");
    let mut script = Script::new();
    for step in 1..=STEPS {
        let before = (step > 1).then(|| mark(step - 1));
        let when = When { contains: before, lacks: Some(mark(step)), ..When::default() };
        let command = format!("echo {step} >> steps.txt; printf 'mark-%02d-end\\n' {step}");
        script = script
            .when(when)
            .always()
            .text(&format!("Step {step}."))
            .call("bash", json!({ "command": command }))
            .usage(10, 5)
            .then();
    }
    script.when_contains(&mark(STEPS)).always().text(END).usage(10, 5)
}

#[test]
fn a_session_survives_kills_at_any_moment() {
    let asked = base::Env::of_process().get("CAIMAN_SOAK").and_then(|number| number.parse().ok());
    let kills = asked.unwrap_or(KILLS);
    let (mut killed, mut sessions) = (0, 0);
    let mut random = fastrand::Rng::with_seed(7);
    while killed < kills {
        let model = Model::start(script());
        let home = Home::of(&model).with("PATH", "/usr/bin:/bin");
        killed += one_session(&home, kills - killed, &mut random);
        sessions += 1;
        model.assert_no_violations();
    }
    eprintln!("{killed} kills over {sessions} sessions");
}

/// Runs a session to its end, killing its process on the way; tells how often.
fn one_session(home: &Home, most: usize, random: &mut fastrand::Rng) -> usize {
    let mut killed = 0;
    let mut args = vec!["run", "--model", "lab/m", "--yolo", PROMPT];
    loop {
        let mut running = home.start(&args);
        drop(running.child.stdin.take());
        let patience = Duration::from_millis(random.u64(1..LONGEST_MS));
        let done = if killed < most { running.end_within(patience) } else { Some(running.end()) };
        match done {
            Some(done) => {
                assert_eq!(done.code, 0, "{}", done.err);
                assert!(done.out.contains(END), "{}", done.out);
                break;
            }
            None => killed += 1,
        }
        // What was acknowledged shows in the database alone; the kill may have come after the end.
        let last = home.run(&["session", "last", "--json"]).out;
        if last.contains(END) {
            break;
        }
        args.pop();
        args.push(if last.contains(PROMPT) { "--continue" } else { PROMPT });
    }
    check(home);
    killed
}

/// Every step ran at least once, in order, and every call has exactly one result.
fn check(home: &Home) {
    let steps = std::fs::read_to_string(home.path("steps.txt")).unwrap();
    let mut seen: Vec<usize> = steps.lines().map(|line| line.parse().unwrap()).collect();
    seen.dedup();
    assert_eq!(seen, (1..=STEPS).collect::<Vec<_>>());
    let session = home.json(&["session", "last", "--json"]);
    let entries = session["entries"].as_array().unwrap();
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for part in entries.iter().filter_map(|entry| entry["parts"].as_array()).flatten() {
        match part["type"].as_str() {
            Some("call") => calls.push(part["id"].clone()),
            Some("result") => results.push(part["call"].clone()),
            Some(_) | None => {}
        }
    }
    assert!(calls.len() >= STEPS);
    assert_eq!(calls, results, "every call has one result, in order");
}
