use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A turn of calls: name, input, outcome, text.
#[derive(Default)]
struct Turn(LoopGuard);

impl Turn {
    fn call(&mut self, name: &str, input: &Value, text: &str) -> Option<Alarm> {
        self.with(name, input, Outcome::Done, text)
    }

    fn with(&mut self, name: &str, input: &Value, outcome: Outcome, text: &str) -> Option<Alarm> {
        let input = input.as_object().unwrap();
        self.0.see_call(SeenCall { name, input, outcome, text })
    }
}

/// The alarms of a turn in short: `.` none, `n` nudge, `e` end.
fn line(alarms: impl IntoIterator<Item = Option<Alarm>>) -> String {
    let short = |alarm| match alarm {
        None => '.',
        Some(Alarm::Nudge(_)) => 'n',
        Some(Alarm::End(_)) => 'e',
    };
    alarms.into_iter().map(short).collect()
}

#[test]
fn the_same_call_is_nudged_at_three_and_ended_at_five() {
    let mut turn = Turn::default();
    let input = json!({ "command": "cargo test" });
    let alarms = (0..5).map(|at| turn.call("bash", &input, &format!("failed in {at}.1s")));
    assert_eq!(line(alarms), "..nne");
}

#[test]
fn what_is_said_names_tool_and_way_out() {
    let mut turn = Turn::default();
    let input = json!({ "file_path": "a.rs" });
    let said: Vec<_> = (0..5).filter_map(|_| turn.call("view", &input, "x")).collect();
    insta::assert_debug_snapshot!([&said[0], &said[2]], @r#"
    [
        Nudge(
            "[This was call 3 like this, with the same outcome. Doing it again will not change it: use what you know, try another way, or tell the user what is in the way.]",
        ),
        End(
            "Stopped: the model called view 5 times in the same way with the same outcome. Tell it what to do differently, or say \"go on\".",
        ),
    ]
    "#);
}

#[test]
fn cycles_of_calls_are_caught() {
    let cycle = |length: usize, calls: usize| {
        let mut turn = Turn::default();
        let one = |at: usize| {
            let file = format!("{}.rs", at % length);
            turn.call("view", &json!({ "file_path": file }), "same")
        };
        line((0..calls).map(one))
    };
    assert_eq!(cycle(2, 10), "....nnnnee");
    assert_eq!(cycle(3, 15), "......nnnnnneee");
    let long = cycle(10, 30);
    assert_eq!(long.find('e'), Some(29), "twenty calls without anything new: {long}");
}

#[test]
fn work_that_moves_on_is_left_alone() {
    let test = json!({ "command": "cargo test" });
    let mut turn = Turn::default();
    let mut alarms = Vec::new();
    for round in 0..10 {
        let edit = json!({ "file_path": "a.rs", "old_string": "x", "new_string": round });
        alarms.push(turn.call("edit", &edit, "Changed 1 line."));
        alarms.push(turn.call("bash", &test, "1 failed\nexit code 1"));
    }
    assert_eq!(line(alarms), ".".repeat(20), "the same failure after different edits");

    let mut turn = Turn::default();
    let job = json!({ "job": "1", "wait": 10 });
    let polls =
        (0..30).map(|at| turn.call("job_output", &job, &format!("built {at} of 30 crates")));
    assert_eq!(line(polls), ".".repeat(30), "a job that gets on");

    let mut turn = Turn::default();
    let list = |at| json!({ "path": format!("src/{at}") });
    let listings = (0..30).map(|at| turn.call("ls", &list(at), "(empty)"));
    assert_eq!(line(listings), ".".repeat(30), "many folders that look the same");

    let mut turn = Turn::default();
    let reads = (0..30).map(|at| turn.call("view", &json!({ "file_path": "a" }), &at.to_string()));
    assert_eq!(line(reads), ".".repeat(30), "a file that changes");
}

#[test]
fn a_slow_job_may_be_asked_for_longer() {
    let mut turn = Turn::default();
    let job = json!({ "job": "1" });
    let polls = (0..15).map(|at| turn.call("job_output", &job, &format!("running for {at} s")));
    assert_eq!(line(polls), "..nnnnnnnnnnnne");
}

#[test]
fn the_same_change_back_and_forth_is_no_progress() {
    let mut turn = Turn::default();
    let edit =
        |from: &str, to: &str| json!({ "file_path": "a", "old_string": from, "new_string": to });
    let mut alarms = Vec::new();
    for _ in 0..5 {
        alarms.push(turn.call("edit", &edit("x", "y"), "Changed 1 line."));
        alarms.push(turn.call("edit", &edit("y", "x"), "Changed 1 line."));
    }
    assert!(line(alarms).ends_with('e'));
}

#[test]
fn an_edit_that_fails_is_no_progress() {
    let mut turn = Turn::default();
    let edit = json!({ "file_path": "a", "old_string": "x", "new_string": "y" });
    let alarms = (0..5).map(|_| turn.with("edit", &edit, Outcome::Failed, "not found"));
    assert_eq!(line(alarms), "..nne");
}

#[test]
fn a_word_from_the_user_begins_anew() {
    let mut turn = Turn::default();
    let input = json!({ "command": "make" });
    for _ in 0..4 {
        turn.call("bash", &input, "no");
    }
    turn.0.user_spoke();
    assert_eq!(turn.call("bash", &input, "no"), None);
}

/// Streams a text in small pieces; the bytes that were seen when it was broken off.
fn broken_off(text: &str) -> Option<usize> {
    let mut guard = LoopGuard::default();
    let mut seen = 0;
    for piece in text.as_bytes().chunks(7) {
        seen += piece.len();
        if guard.see_text(&String::from_utf8_lossy(piece)).is_some() {
            return Some(seen);
        }
    }
    None
}

#[test]
fn words_that_repeat_are_broken_off() {
    let sentence = "Let me check the configuration file once more. ";
    let paragraph =
        format!("{}\n\n", "I will now read the file again to be sure about it, ".repeat(12));
    for (what, text) in [
        ("a sentence", sentence.repeat(100)),
        ("a line", "I will try the other approach now.\n".repeat(100)),
        ("a word", "the ".repeat(2_000)),
        ("a letter", "a".repeat(4_000)),
        ("short lines", "No.\nWait.\n".repeat(400)),
        ("a paragraph", paragraph.repeat(20)),
        ("code without an end", format!("```\n{}", "x = x + 1\n".repeat(2_000))),
    ] {
        let at = broken_off(&text);
        assert!(at.is_some_and(|at| at <= 14_000), "{what}: {at:?}");
    }
}

#[test]
fn ordinary_answers_are_left_alone() {
    let lines = |count: usize, line: fn(usize) -> String| -> String {
        (0..count).map(line).collect::<Vec<_>>().join("\n")
    };
    let table = lines(300, |at| format!("| test_{at} | passed | {at} ms |"));
    let list = lines(200, |at| format!("- [x] Update file number {at}"));
    let getters = lines(30, |at| {
        format!("    pub fn field_{at}(&self) -> &str {{\n        self.inner.as_str()\n    }}")
    });
    let zeros = format!("```rust\n{}```\n", "    0x00, 0x00, 0x00, 0x00,\n".repeat(64));
    let braces = format!("```c\n{}```\n", "    }\n}\n\n".repeat(100));
    for (what, text) in [
        ("prose", include_str!("../../../../docs/sessions.md").to_owned()),
        ("code", format!("```rust\n{}```\n", include_str!("../loop_guard.rs"))),
        ("a table", table),
        ("zeros", zeros),
        ("braces", braces),
        ("a list", list),
        ("getters", format!("```rust\n{getters}```\n")),
        ("a rule", format!("{}\n", "-".repeat(200))),
    ] {
        assert_eq!(broken_off(&text), None, "{what}");
    }
}

#[test]
fn a_new_answer_begins_anew() {
    let mut guard = LoopGuard::default();
    for _ in 0..50 {
        assert_eq!(guard.see_text("I look at the file src/main.rs first.\n"), None);
        guard.new_answer();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_stream_is_read_to_its_end(pieces in prop::collection::vec("(\\PC|[\n`. ]){0,40}", 0..40)) {
        let mut guard = LoopGuard::default();
        for piece in &pieces {
            guard.see_text(piece);
        }
    }

    #[test]
    fn whatever_repeats_long_enough_is_broken_off(piece in "[a-z ]{1,80}") {
        prop_assert!(broken_off(&piece.repeat(6_000 / piece.len() + 1)).is_some(), "{piece:?}");
    }
}
