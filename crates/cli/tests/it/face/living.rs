//! Resizing, stopping, suspending, being killed, and coming back.

use serde_json::json;
use testkit::Script;
use testkit::terminal::Key;

use super::live::Live;
use super::stage::{LARGE, SMALL, Stage, USUAL};

fn held() -> (Live, Stage) {
    let live = Live::start();
    let url = json!({ "providers": { "lab": { "base_url": live.url } } });
    let stage = Stage::new(Script::new()).set(&url);
    (live, stage)
}

#[test]
fn a_stream_goes_on_through_every_size() {
    let (live, stage) = held();
    let mut face = stage.ready(USUAL);
    face.says("Count");
    for line in 1..=30 {
        live.says(&format!("{line}. row {line}\n"));
    }
    face.waits("row 30");
    for (name, size) in
        [("resized_40x10", SMALL), ("resized_120x40", LARGE), ("resized_80x24", USUAL)]
    {
        face.resize(size);
        face.shows(name, "row 30");
    }
    live.says("31. row 31\n");
    live.ends();
    face.shows("resized_end_80x24", "300 out");
}

#[test]
fn escape_stops_a_turn_and_what_was_said_stays() {
    let (live, stage) = held();
    let face = stage.ready(USUAL);
    face.says("Go on for ever");
    live.says("And on, and on");
    face.waits("and on");
    face.press(Key::Esc);
    face.shows("stopped_80x24", "ask anything");
}

#[test]
fn control_c_clears_stops_and_leaves_with_a_word_on_how_to_come_back() {
    let (live, stage) = held();
    let mut face = stage.ready(USUAL);
    face.says("Go on for ever");
    live.says("And on");
    face.waits("And on");
    face.types("half");
    face.waits("half");
    face.press(Key::Ctrl('c'));
    face.waits("again quits");
    face.press(Key::Ctrl('c'));
    assert_eq!(face.ends(), 0);
    let left = face.terminal.screen();
    assert!(left.contains("go on with it: caiman --session "), "{left}");
    assert_restored(&face.terminal.raw());
}

#[test]
fn the_shell_has_the_terminal_while_it_is_suspended() {
    let stage = Stage::new(Script::new().text("Here.").usage(1, 1));
    let face = stage.shell(USUAL);
    face.waits("shell>");
    face.says("$CAIMAN");
    face.waits("ask anything");
    face.types("a draft");
    face.waits("a draft");
    face.press(Key::Ctrl('z'));
    face.waits("Stopped");
    face.waits_gone("a draft");
    face.says("echo still a $((6 * 7)) shell");
    face.waits("still a 42 shell");
    face.says("fg");
    face.shows("suspended_and_back_80x24", "a draft");
}

#[test]
fn a_draft_survives_a_kill_and_the_session_goes_on() {
    let stage = Stage::new(Script::new().text("Noted once.").usage(10, 5));
    let mut face = stage.ready(USUAL);
    face.says("Note this");
    face.waits("Noted once.");
    face.types("half a thought");
    face.waits("half a thought");
    let kept = stage.home.path(".local/share/caiman");
    wait_for_bytes(&kept, b"half a thought");
    face.terminal.kill().unwrap();
    let face = stage.open(USUAL, &["--continue"]);
    face.waits("half a thought");
    face.shows("continued_80x24", "Noted once.");
}

#[test]
fn a_turn_that_was_killed_can_go_on() {
    let (live, stage) = held();
    let mut face = stage.ready(USUAL);
    face.says("Tell a story");
    live.says("Once upon a");
    face.waits("Once upon a");
    face.terminal.kill().unwrap();
    live.ends();
    let face = stage.open(USUAL, &["--continue"]);
    face.shows("broken_off_80x24", "/continue goes on with it");
}

#[test]
fn a_command_of_ones_own_is_no_turn_that_broke_off() {
    let stage = Stage::new(Script::new());
    let mut face = stage.ready(USUAL);
    face.types("!echo mine");
    face.waits("! echo mine");
    face.press(Key::Enter);
    face.waits("● ! echo mine");
    let kept = stage.home.path(".local/share/caiman");
    wait_for_bytes(&kept, b"The user ran a command");
    face.types("!sleep 600");
    face.waits("! sleep 600");
    face.press(Key::Enter);
    face.waits("your command runs");
    face.terminal.kill().unwrap();
    let face = stage.open(USUAL, &["--continue"]);
    face.waits("● ! echo mine");
    face.shows("own_command_80x24", "ask anything");
}

/// Waits until some file below a folder holds some bytes.
fn wait_for_bytes(folder: &std::path::Path, bytes: &[u8]) {
    let holds = |path: std::path::PathBuf| {
        let text = std::fs::read(path).unwrap_or_default();
        text.windows(bytes.len()).any(|part| part == bytes)
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !std::fs::read_dir(folder).unwrap().any(|file| holds(file.unwrap().path())) {
        assert!(std::time::Instant::now() < end, "nothing below {} has it", folder.display());
        std::thread::yield_now();
    }
}

/// Whoever comes next finds the terminal as it was.
fn assert_restored(raw: &[u8]) {
    let raw = String::from_utf8_lossy(raw);
    for (on, off) in [
        ("\x1b[?1049h", "\x1b[?1049l"),
        ("\x1b[?2004h", "\x1b[?2004l"),
        ("\x1b[?1006h", "\x1b[?1006l"),
        ("\x1b[?25l", "\x1b[?25h"),
    ] {
        assert!(raw.rfind(off) > raw.rfind(on), "{off:?} comes last");
    }
}
