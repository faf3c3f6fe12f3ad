//! Everything that lies over the conversation.

use serde_json::json;
use testkit::Script;
use testkit::terminal::Key;

use super::live::Live;
use super::stage::{ALT_ENTER, F1, F5, F6, F7, F8, F9, Face, HUGE, LARGE, SMALL, Stage, USUAL};

/// Somebody who has worked: a change, todos, a skill, an agent, servers.
fn worked() -> Stage {
    let todos = json!({ "todos": [
        { "content": "Read the prices", "status": "completed" },
        { "content": "Change them", "status": "in_progress" },
    ] });
    let script = Script::new()
        .call("todos", todos)
        .call("write", json!({ "file_path": "tea.py", "content": "def tea():\n    return 4\n" }))
        .usage(900, 40)
        .then()
        .text("Tea costs four.")
        .usage(1000, 20);
    let servers = json!({
        "mcp": { "maps": { "type": "stdio", "command": "/nonexistent/maps", "disabled": true } },
    });
    let stage = Stage::new(script).set(&servers);
    stage.file(
        ".caiman/skills/brew/SKILL.md",
        "---\nname: brew\ndescription: How tea is made here.\n---\nBoil water.\n",
    );
    stage.file(
        ".caiman/agents/taster.md",
        "---\nname: taster\ndescription: Tastes what was brewed.\n---\nTaste it.\n",
    );
    stage
}

/// The same, with the work done.
fn at_work(stage: &Stage, size: super::stage::Size) -> Face {
    stage.trust();
    let face = stage.open(size, &["--mode", "acceptEdits"]);
    face.waits("lab/m");
    face.says("Tea, please");
    face.waits("Tea costs four.");
    face.waits("1.9k in");
    face
}

#[test]
fn panes_that_need_no_session() {
    let stage = worked();
    stage.trust();
    let face = stage.ready(USUAL);
    let panes: [(&str, &str, &str); 5] = [
        ("palette_80x24", "\x10", "next permission mode"),
        ("models_80x24", "\x1bpscripted", "Tour (scripted"),
        ("help_80x24", F1, "send; while a turn runs"),
        ("servers_80x24", F8, "maps"),
        ("history_80x24", "\x12", "esc"),
    ];
    for (name, key, text) in panes {
        face.peeks(key, name, text);
    }
    for (command, name, text) in [
        ("/agents", "agents_pane_80x24", "taster"),
        ("/skills", "skills_80x24", "brew"),
        ("/themes", "themes_80x24", "light"),
    ] {
        let before = face.screen();
        face.types(command);
        face.waits(command);
        face.press(Key::Enter);
        face.shows(name, text);
        face.press(Key::Esc);
        face.waits_back(&before);
    }
}

#[test]
fn panes_of_a_session() {
    let stage = worked();
    let face = at_work(&stage, USUAL);
    let panes: [(&str, &str, &str); 7] = [
        ("changes_80x24", F5, "tea.py"),
        ("checkpoints_80x24", F6, "Tea, please"),
        ("context_80x24", F7, "system"),
        ("cost_80x24", F9, "lab/m"),
        ("todos_80x24", "\x14", "Change them"),
        ("sessions_80x24", "\x13", "Tea, please"),
        ("history_filled_80x24", "\x12", "Tea, please"),
    ];
    for (name, key, text) in panes {
        face.peeks(key, name, text);
    }
}

#[test]
fn panes_on_a_small_screen_and_on_large_ones() {
    for (size, tag) in [(SMALL, "40x10"), (LARGE, "120x40"), (HUGE, "200x60")] {
        let face = at_work(&worked(), size);
        for (name, key, text) in [
            ("palette", "\x10", "esc"),
            ("sessions", "\x13", "Tea, please"),
            ("models", "\x1bpscripted", "Tour (scripted"),
            ("changes", F5, "tea.py"),
        ] {
            face.peeks(key, &format!("{name}_{tag}"), text);
        }
    }
}

#[test]
fn prompts_that_wait_can_be_seen_and_taken_back() {
    let live = Live::start();
    let url = json!({ "providers": { "lab": { "base_url": live.url } } });
    let face = Stage::new(Script::new()).set(&url).ready(USUAL);
    face.says("First this");
    live.says("Working on it");
    face.waits("Working on it");
    for text in ["then that", "and then tea"] {
        face.types(text);
        face.waits(text);
        face.types(ALT_ENTER);
        face.waits(&format!("waits {text}"));
    }
    face.shows("waiting_80x24", "waits and then tea");
    face.types("\x1bq");
    face.shows("queue_80x24", "esc");
    face.press(Key::Ctrl('x'));
    face.waits_gone("then that");
    face.press(Key::Enter);
    face.waits("› and then tea");
    face.waits_gone("waits and then tea");
}

#[test]
fn what_is_searched_for_is_found() {
    let stage = worked();
    stage.trust();
    let face = stage.ready(USUAL);
    face.press(Key::Ctrl('p'));
    face.types("them");
    face.shows("palette_searched_80x24", "themes");
}
