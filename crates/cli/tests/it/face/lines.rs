//! Linear mode: at a terminal, in a dumb one, and in a pipe.

use serde_json::json;
use testkit::Script;

use super::stage::{SMALL, Stage, USUAL};
use crate::home::Home;
use crate::model::Model;

fn talking() -> Script {
    Script::new().text("The first answer.").usage(10, 5).then().text("The second.").usage(10, 5)
}

#[test]
fn linear_only_ever_adds_lines() {
    let script = Script::new()
        .text("I touch it.")
        .call("bash", json!({ "command": "touch it; echo touched" }))
        .usage(10, 5)
        .then();
    let stage = Stage::new(script.text("It is *touched*.\n\nThat is all.").usage(10, 5));
    let mut face = stage.open(USUAL, &["--linear"]);
    face.waits("/quit ends.");
    face.types("Touch it\r");
    face.waits("Any other line joins the turn.");
    face.types("9\r");
    face.waits("Answer with 1, 2, 3, or 4.");
    face.types("1\r");
    face.waits("Done.");
    face.types("/quit\r");
    assert_eq!(face.ends(), 0);
    face.shows("linear_80x24", "go on with it");
    assert!(stage.path("it").exists());
    assert!(!face.terminal.raw().contains(&0x1b), "no escape sequences at all");
}

#[test]
fn a_day_can_be_worked_by_number() {
    let stage = Stage::new(talking());
    stage.file("caiman.json", r#"{"permissions":{"allowed_tools":["bash"]}}"#);
    let mut face = stage.open(USUAL, &["--linear", "Say something"]);
    face.waits("Answer: 1 yes, I know these files");
    face.types("2\r");
    face.waits("Done.");
    face.types("/status\r");
    face.waits("no turn runs");
    face.types("/new\r");
    face.waits("a new session begins");
    face.types("/sessions\r");
    face.waits("  1 Say something");
    face.types("1\r");
    face.waits("You: Say something");
    face.types("/models scripted\r");
    face.waits("  1 demo/tour");
    face.types("/quit\r");
    assert_eq!(face.ends(), 0);
    face.waits("go on with it");
}

#[test]
fn a_dumb_terminal_is_talked_to_in_lines() {
    let stage = Stage::new(talking()).env("TERM", "dumb");
    let face = stage.open(SMALL, &[]);
    face.shows("dumb_40x10", "/quit ends.");
    assert!(!face.terminal.raw().contains(&0x1b));
}

#[test]
fn what_comes_through_a_pipe_is_answered_before_the_end() {
    for (args, term, input) in [
        (&["--linear"][..], "xterm", "hello\n"),
        (&["--linear", "hello"][..], "xterm", ""),
        (&[][..], "dumb", "hello\n"),
    ] {
        let model = Model::start(talking());
        let done = Home::of(&model).with("TERM", term).run_with_input(args, input);
        let lines: Vec<&str> = done.out.lines().collect();
        assert_eq!(done.code, 0, "{}", done.err);
        assert!(
            lines[0].starts_with("Caiman in ") && lines[0].ends_with("model lab/m."),
            "{lines:?}"
        );
        assert_eq!(lines[2], "Caiman: The first answer.", "{args:?}: {lines:?}");
        assert!(lines[3].starts_with("Done. 15 tokens"), "{lines:?}");
        assert!(done.err.contains("go on with it: caiman --session "), "{}", done.err);
        let said = vec![("user".to_owned(), "hello".to_owned())];
        assert!(model.conversations().contains(&said), "{:?}", model.conversations());
    }
    let done = Home::new().run_with_input(&["--linear"], "");
    assert_eq!((done.code, done.err.as_str()), (0, ""), "no session was begun: none is named");
    assert!(done.out.contains("the demo answers"), "{}", done.out);
}

#[test]
fn a_question_that_nobody_can_answer_is_a_no() {
    let script = Script::new().call("bash", json!({ "command": "touch it" })).usage(10, 5).then();
    let model = Model::start(script.text("Not done.").usage(10, 5));
    let home = Home::of(&model);
    let done = home.run_with_input(&["--linear"], "touch it\n!echo $((6 * 7)) crowns\n");
    assert!(done.out.contains("Nobody is left to answer: no."), "{}", done.out);
    assert!(done.out.contains("Caiman: Not done."), "{}", done.out);
    assert!(done.out.contains("42 crowns"), "{}", done.out);
    assert!(!home.path("it").exists());
}
