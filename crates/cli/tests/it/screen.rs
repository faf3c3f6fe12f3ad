//! `caiman` at a terminal: what is on the screen.

use std::time::Duration;

use testkit::Script;
use testkit::terminal::{Program, Terminal};

use crate::home::Home;
use crate::model::Model;

const PATIENCE: Duration = Duration::from_secs(10);

/// The screen of a command that has ended, and its exit code.
fn shown(home: &Home, columns: u16, args: &[&str]) -> (Terminal, u32) {
    let program = Program::new(env!("CARGO_BIN_EXE_caiman"))
        .bare()
        .env("HOME", home.path("").display().to_string())
        .env("CAIMAN_ALLOW_HOME", "1")
        .folder(&home.path(""))
        .size(columns, 24);
    let program = args.iter().fold(program, |program, arg| program.arg(*arg));
    let mut terminal = program.start().unwrap();
    let code = terminal.wait_exit(PATIENCE).unwrap();
    (terminal, code)
}

#[test]
fn messages_are_folded_between_words() {
    let model = Model::start(Script::new().fail(401, "Incorrect API key provided"));
    let (terminal, code) = shown(&Home::of(&model), 40, &["run", "hi"]);
    assert_eq!(code, 4);
    insta::assert_snapshot!(terminal.screen().trim_end(), @"
    error: lab/m: Incorrect API key provided
      (auth)
    hint: check the key: caiman login lab,
      or the provider's variable
    hint: caiman login shows where each key
      comes from
    ");
}

#[test]
fn an_answer_cannot_steer_the_terminal_but_a_pipe_gets_every_byte() {
    let answer = "be\u{1b}]0;owned\u{7}fore\u{1b}[2J after";
    let model = Model::saying(answer);
    let home = Home::of(&model);
    let (terminal, code) = shown(&home, 80, &["run", "hi"]);
    assert_eq!(
        (code, terminal.screen().trim_end()),
        (0, "be<U+001B>]0;owned<U+0007>fore<U+001B>[2J after")
    );
    assert!(!terminal.raw().contains(&0x1b), "{:?}", terminal.raw());
    assert_eq!(home.run(&["run", "hi"]).out, format!("{answer}\n"));
}

#[test]
fn thoughts_and_answer_stand_on_lines_of_their_own() {
    let model = Model::start(Script::new().reasoning("Let me see.").text("Four.").usage(1, 1));
    let home = Home::of(&model);
    let (terminal, _) = shown(&home, 80, &["run", "--verbose", "2+2?"]);
    assert_eq!(terminal.screen().trim_end(), "Let me see.\nFour.");
    let piped = home.run(&["run", "--verbose", "2+2?"]);
    assert_eq!((piped.out.as_str(), piped.err.as_str()), ("Four.\n", "Let me see.\n"));
}
