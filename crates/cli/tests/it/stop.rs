//! `caiman run` stopped from outside: signals, a reader that goes away, death.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use testkit::Script;

use crate::home::Home;
use crate::model::Model;
use crate::trouble::{kept, transcript};

/// Far below any time-out, far above what a loaded machine needs.
const PROMPTLY: Duration = Duration::from_secs(1);

fn stuck() -> Model {
    Model::start(Script::new().text("Half an").stall())
}

#[test]
fn a_signal_ends_the_run_at_once_and_what_had_come_is_kept() {
    for (signal, code, word) in [(Signal::INT, 130, "cancelled"), (Signal::TERM, 143, "terminated")]
    {
        let model = stuck();
        let home = Home::of(&model);
        let mut running = home.start(&["run", "hi"]);
        running.close_input();
        running.read_until("Half an");
        let sent = Instant::now();
        running.signal(signal);
        let done = running.end();
        assert!(sent.elapsed() < PROMPTLY, "{:?}", sent.elapsed());
        assert_eq!((done.code, done.out.as_str()), (code, "\n"), "{}", done.err);
        assert_eq!(done.err, format!("error: {word}\n"));
        assert_eq!(transcript(&home), kept("hi", "Half an"));
        let total = &home.json(&["stats", "--json"])["total"];
        assert_eq!((&total["calls"], &total["failed"]), (&json!(1), &json!(1)));
    }
}

#[test]
fn a_signal_before_the_answer_begins_keeps_the_prompt() {
    let model = Model::start(Script::new().stall());
    let home = Home::of(&model);
    let mut running = home.start(&["run", "hi"]);
    running.close_input();
    model.wait_for_requests(1);
    running.signal(Signal::INT);
    assert_eq!(running.end().code, 130);
    assert_eq!(transcript(&home), [("user".to_owned(), "hi".to_owned())]);
}

#[test]
fn the_session_goes_on_after_a_stop() {
    let script = Script::new().text("Half an").stall();
    let model = Model::start(script.then().text("Whole.").usage(1, 1));
    let home = Home::of(&model);
    let mut running = home.start(&["run", "hi"]);
    running.close_input();
    running.read_until("Half an");
    running.signal(Signal::INT);
    assert_eq!(running.end().code, 130);
    assert_eq!(home.run(&["run", "--continue", "again"]).out, "Whole.\n");
    let told = &model.conversations()[1];
    assert_eq!((told[0].1.as_str(), told[1].1.as_str()), ("hi", "Half an"));
    model.assert_no_violations();
}

#[test]
fn a_reader_that_goes_away_ends_the_run_without_a_panic() {
    // More than a pipe holds, so that the run meets the closed end.
    let words: Vec<String> = (0..40_000).map(|number| format!("{number} ")).collect();
    let words = words.concat();
    let model = Model::start(Script::new().text_in(&words, 500).usage(1, 1));
    let home = Home::of(&model);
    let mut running = home.start(&["run", "hi"]);
    running.close_input();
    drop(running.child.stdout.take());
    let done = running.end();
    assert!(!done.err.contains("panicked"), "{}", done.err);
    assert_eq!(done.code, 141, "{}", done.err);
    assert_eq!(done.err, "");
}

#[test]
fn an_answer_interrupted_by_death_is_recovered_at_the_next_start_once() {
    let model = stuck();
    let home = Home::of(&model);
    let mut running = home.start(&["run", "hi"]);
    running.close_input();
    running.read_until("Half an");
    // Written down within 250 ms, although the model says nothing more.
    let wal = home.path(".local/share/caiman/caiman.db-wal");
    let is_written = || {
        let bytes = std::fs::read(&wal).unwrap_or_default();
        bytes.windows(7).any(|window| window == b"Half an")
    };
    let began = Instant::now();
    while !is_written() {
        assert!(began.elapsed() < Duration::from_secs(10), "the answer was never written down");
        std::thread::yield_now();
    }
    running.signal(Signal::KILL);
    running.end();
    let next = home.run(&["session", "list", "--json"]);
    assert!(next.err.starts_with("note: an interrupted answer of session 0"), "{}", next.err);
    assert_eq!(transcript(&home), kept("hi", "Half an"));
    assert_eq!(home.run(&["session", "list", "--json"]).err, "");
}
