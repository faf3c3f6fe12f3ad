//! Inline, and the colours of each theme.

use serde_json::json;
use testkit::Script;
use testkit::terminal::Key;

use super::stage::{F4, Stage, USUAL};

fn talking() -> Stage {
    let script = Script::new().text("The **first** answer.").usage(10, 5).then();
    Stage::new(script.text("The second answer.").usage(10, 5))
}

#[test]
fn inline_leaves_the_conversation_once_in_the_scrollback() {
    let stage = talking();
    let mut face = stage.open(USUAL, &["--inline"]);
    face.waits("ask anything");
    face.says("Question one");
    face.waits("The first answer.");
    face.shows("inline_80x24", "5 out");
    face.waits("ask anything");
    face.says("Question two");
    face.waits("The second answer.");
    face.waits("ask anything");
    face.press(Key::Ctrl('d'));
    assert_eq!(face.ends(), 0);
    face.shows("inline_end_80x24", "go on with it");
    let raw = String::from_utf8_lossy(&face.terminal.raw()).into_owned();
    assert!(!raw.contains("\x1b[?1049h"), "inline never takes the other screen");
    let all = face.terminal.screen();
    for text in ["Question one", "The first answer.", "Question two", "The second answer."] {
        assert_eq!(all.matches(text).count(), 1, "{text} in {all}");
    }
}

#[test]
fn inline_begins_with_what_can_be_done() {
    let stage = talking();
    std::fs::remove_file(stage.path("AGENTS.md")).unwrap();
    let face = stage.open(USUAL, &["--inline"]);
    face.waits("lab/m");
    face.shows("inline_landing_80x24", "/init");
    face.says("Question one");
    face.waits("The first answer.");
    face.waits_gone("/init writes");
    face.waits("ask anything");
    face.press(Key::Ctrl('o'));
    face.waits("nothing else is folded");
}

#[test]
fn inline_prints_what_was_folded_once_more_and_whole() {
    let script = Script::new()
        .call("bash", json!({ "command": "seq 1 40", "description": "Count" }))
        .usage(10, 5)
        .then()
        .text("Counted.")
        .usage(10, 5);
    let stage = Stage::new(script);
    let face = stage.open(USUAL, &["--inline", "--allow", "Bash(seq:*)"]);
    face.waits("lab/m");
    face.says("Count");
    face.waits("34 more lines, ctrl+o");
    face.waits("20 in, 10 out");
    face.press(Key::Ctrl('o'));
    face.waits("│ 30");
    face.waits("└ 40");
}

#[test]
fn full_screen_and_inline_can_be_switched_live() {
    let mut face = talking().ready(USUAL);
    face.says("Question one");
    face.waits("The first answer.");
    face.waits("ask anything");
    face.types(F4);
    face.shows("switched_inline_80x24", "The first answer.");
    face.types(F4);
    face.shows("switched_full_80x24", "The first answer.");
    face.types(F4);
    face.waits("The first answer.");
    face.says("Question two");
    face.waits("The second answer.");
    face.waits("ask anything");
    face.press(Key::Ctrl('d'));
    face.ends();
    let all = face.terminal.screen();
    for text in ["Question one", "The first answer.", "Question two", "The second answer."] {
        assert_eq!(all.matches(text).count(), 1, "{text} in {all}");
    }
}

/// What a theme makes of one screen: a prompt, Markdown with code, a change, a failure.
fn formatted(theme: &str) -> String {
    let markdown = "# Prices\n\nThe **price** of `tea` is *four*, see [docs](https://example.com).\n\n\
        ```python\ndef tea():\n    return 4  # crowns\n```\n";
    let script = Script::new()
        .call("write", json!({ "file_path": "tea.py", "content": "def tea():\n    return 4\n" }))
        .call("view", json!({ "file_path": "nothing.py" }))
        .usage(10, 5)
        .then();
    let stage = Stage::new(script.text(markdown).usage(10, 5));
    let stage = stage.set(&json!({ "options": { "tui": { "theme": theme } } }));
    let stage = stage.env("COLORTERM", "truecolor");
    let face = stage.open(USUAL, &["--mode", "acceptEdits"]);
    face.waits("lab/m");
    face.says("Question one");
    face.waits("20 in, 10 out");
    face.waits("ask anything");
    face.shows_painted(&format!("{theme}_80x24"));
    face.terminal.formatted()
}

/// The colours of letters in a screen: the red, green and blue of each.
fn foregrounds(formatted: &str) -> Vec<[u16; 3]> {
    let colours = formatted.split("38;2;").skip(1).filter_map(|rest| {
        let mut numbers = rest.split([';', 'm']).map(|number| number.parse::<u16>().ok());
        Some([numbers.next()??, numbers.next()??, numbers.next()??])
    });
    colours.collect()
}

#[test]
fn dark_is_light_on_dark_and_light_is_dark_on_light() {
    let brightness = |theme: &str| {
        let colours = foregrounds(&formatted(theme));
        assert!(colours.len() > 3, "{theme}: {colours:?}");
        let count = u16::try_from(colours.len()).unwrap();
        colours.iter().map(|[r, g, b]| (r + g + b) / 3).sum::<u16>() / count
    };
    let (dark, light) = (brightness("dark"), brightness("light"));
    assert!(dark > 128 && light < 128, "dark {dark}, light {light}");
}

#[test]
fn no_color_means_no_colour() {
    let face = talking().env("NO_COLOR", "1").ready(USUAL);
    face.says("Question one");
    face.waits("The first answer.");
    face.waits("10 in, 5 out");
    let raw = String::from_utf8_lossy(&face.terminal.raw()).into_owned();
    let colours = raw.split("\x1b[").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let numbers = rest[..end].split(';').filter_map(|number| number.parse::<u16>().ok());
        let is_colour = |n: &u16| matches!(n, 30..=38 | 40..=48 | 90..=97 | 100..=107);
        (rest[end..].starts_with('m') && !rest.starts_with('>'))
            .then(|| numbers.filter(is_colour).collect::<Vec<_>>())
    });
    assert_eq!(colours.flatten().collect::<Vec<u16>>(), Vec::<u16>::new());
    assert!(raw.contains("\x1b[1m") || raw.contains(";1m"), "bold is no colour");
}
