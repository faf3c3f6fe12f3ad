//! The composer: completion with real files, shell commands, history, pastes, the editor.

use std::time::Instant;

use testkit::Script;
use testkit::terminal::Key;

use super::chat::flag;
use super::stage::{PATIENCE, SMALL, Stage, USUAL};

fn talking() -> Stage {
    Stage::new(Script::new().text("Noted.").usage(10, 5))
}

#[test]
fn an_at_sign_offers_files_but_not_those_that_git_ignores() {
    for (name, size) in [("files_40x10", SMALL), ("files_80x24", USUAL)] {
        let stage = talking();
        stage.file(".gitignore", "secret/\n");
        stage.file("secret/price_list.txt", "x\n");
        stage.file("docs/price_guide.md", "x\n");
        std::fs::create_dir(stage.path(".git")).unwrap();
        let face = stage.ready(size);
        face.types("look at @pri");
        face.shows(name, "docs/price_guide.md");
        face.press(Key::Tab);
        face.waits("look at @price.py");
    }
}

#[test]
fn a_slash_offers_commands() {
    let face = talking().ready(USUAL);
    face.types("/");
    face.shows("commands_80x24", "/");
    face.types("comp");
    face.shows("commands_searched_80x24", "/compact");
}

#[test]
fn an_exclamation_mark_runs_a_command_of_ones_own() {
    let stage = talking();
    let face = stage.ready(USUAL);
    face.types("!echo mine; ls");
    face.waits("! echo mine; ls");
    face.press(Key::Enter);
    face.waits("price.py");
    face.shows("shell_80x24", "mine");
    face.says("What was that?");
    face.waits("Noted.");
    let body = stage.model.requests().last().unwrap().body.to_string();
    assert!(body.contains("price.py"), "{body}");
}

#[test]
fn a_long_paste_is_folded_and_sent_whole() {
    let stage = talking();
    let face = stage.ready(USUAL);
    let lines: Vec<String> = (1..=200).map(|line| format!("line {line}")).collect();
    face.types("Read this: ");
    face.terminal.paste(&lines.join("\n")).unwrap();
    face.shows("paste_80x24", "200 lines");
    face.press(Key::Enter);
    face.waits("Noted.");
    let body = stage.model.requests().last().unwrap().body.to_string();
    assert!(body.contains("line 1\\nline 2\\n") && body.contains("line 200"), "{body}");
}

#[test]
fn a_prompt_can_be_written_in_an_editor() {
    let stage = talking();
    stage.home.write(
        "editor.sh",
        "#!/bin/sh\ncat \"$1\" > ~/before\nprintf 'from the\\neditor\\n' > \"$1\"\n",
    );
    let script = stage.home.path("editor.sh");
    let stage = stage.env("EDITOR", &format!("sh {}", script.display()));
    let face = stage.ready(USUAL);
    face.types("by hand");
    face.waits("by hand");
    face.press(Key::Ctrl('g'));
    face.shows("editor_80x24", "from the");
    assert_eq!(std::fs::read_to_string(stage.home.path("before")).unwrap().trim_end(), "by hand");
}

#[test]
fn what_was_said_before_comes_back_with_the_arrow() {
    let face = talking().ready(USUAL);
    face.says("Remember the milk");
    face.waits("Noted.");
    face.waits("ask anything");
    face.press(Key::Up);
    face.waits_gone("ask anything");
    face.shows("recalled_80x24", "Remember the milk");
}

#[test]
fn several_lines_wide_letters_and_long_ones_are_written_in_place() {
    let face = talking().ready(USUAL);
    face.types("first");
    face.press(Key::Ctrl('j'));
    face.types("茶を二つ 👩‍🚀 e\u{301}nd ");
    face.types(&"long ".repeat(20));
    face.shows("written_80x24", "long long");
}

#[test]
fn several_pictures_that_are_dropped_at_once_are_attached() {
    let stage = talking();
    for name in ["a.png", "b c.png"] {
        std::fs::write(stage.path(name), flag()).unwrap();
    }
    let face = stage.ready(USUAL);
    let folder = stage.path("").canonicalize().unwrap().display().to_string();
    let folder = folder.trim_end_matches('/');
    face.terminal.paste(&format!("{folder}/a.png '{folder}/b c.png'")).unwrap();
    face.waits("[image #1] [image #2]");
    assert!(!face.terminal.screen().contains(folder), "{}", face.terminal.screen());
}

#[test]
fn text_on_the_clipboard_of_a_distant_terminal_is_asked_of_it() {
    let stage = talking().env("SSH_TTY", "/dev/pts/9");
    let face = stage.ready(USUAL);
    face.types("look: ");
    face.waits("look:");
    let asked = || String::from_utf8_lossy(&face.terminal.raw()).contains("\x1b]52;c;?");
    assert!(!asked(), "nobody wanted it");
    face.press(Key::Ctrl('v'));
    let end = Instant::now() + PATIENCE;
    while !asked() {
        assert!(Instant::now() < end, "the terminal was not asked");
        std::thread::yield_now();
    }
    // "from afar"
    face.types("\x1b]52;c;ZnJvbSBhZmFy\x07");
    face.waits("look: from afar");
    face.press(Key::Ctrl('v'));
    face.waits("nothing was found on the clipboard");
}
