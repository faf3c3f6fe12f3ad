//! Everything that lies over the conversation.

use serde_json::json;
use testkit::Script;
use testkit::terminal::Key;

use super::live::Live;
use super::stage::{ALT_ENTER, F1, F5, F6, F7, F8, F9, Face, Stage, USUAL};

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
fn at_work(stage: &Stage) -> Face {
    stage.trust();
    let face = stage.open(USUAL, &["--mode", "acceptEdits"]);
    face.waits("lab/m");
    face.says("Tea, please");
    face.waits("Tea costs four.");
    face.waits("1.9k in");
    face
}

#[test]
fn lists_and_pages_at_every_size() {
    let mut face = at_work(&worked());
    for (name, key, text) in [
        ("palette", "\x10", "next permission mode"),
        ("models", "\x1bpscripted", "Tour (scripted"),
        ("help", F1, "send; while a turn runs"),
        ("servers", F8, "maps"),
        ("sessions", "\x13", "Tea, please"),
        ("history", "\x12", "Tea, please"),
    ] {
        face.peeks(key, name, text);
    }
}

#[test]
fn what_a_session_has_done_at_every_size() {
    let mut face = at_work(&worked());
    for (name, key, text) in [
        ("changes", F5, "tea.py"),
        ("checkpoints", F6, "Tea, please"),
        ("context", F7, "system"),
        ("cost", F9, "lab/m"),
        ("todos", "\x14", "Change them"),
    ] {
        face.peeks(key, name, text);
    }
    for (command, name, text) in [
        ("/agents", "agents_pane", "taster"),
        ("/skills", "skills", "brew"),
        ("/themes", "themes", "light"),
    ] {
        let before = face.screen();
        face.types(command);
        face.waits(command);
        face.press(Key::Enter);
        face.waits(text);
        face.shows_at_every_size(name);
        face.press(Key::Esc);
        face.waits_back(&before);
    }
}

#[test]
fn panes_need_no_session() {
    let stage = worked();
    stage.trust();
    let face = stage.ready(USUAL);
    for (key, text) in
        [("\x10", "next permission mode"), (F1, "send; while a turn runs"), (F8, "maps")]
    {
        let before = face.screen();
        face.types(key);
        face.waits(text);
        face.press(Key::Esc);
        face.waits_back(&before);
    }
    face.types("\x12");
    face.shows("history_empty_80x24", "esc");
}

#[test]
fn prompts_that_wait_can_be_seen_and_taken_back() {
    let live = Live::start();
    let url = json!({ "providers": { "lab": { "base_url": live.url } } });
    let mut face = Stage::new(Script::new()).set(&url).ready(USUAL);
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
    face.waits("esc");
    face.shows_at_every_size("queue");
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
