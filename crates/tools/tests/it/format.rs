//! Formatters over what tools write.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::room::Room;

async fn room(format: Value) -> Room {
    let mut room = Room::new().await;
    let workspace = Arc::get_mut(&mut room.workspace).unwrap();
    workspace.limits.format = serde_json::from_value(format).unwrap();
    room
}

fn upper() -> Value {
    json!({ "on_save": true, "commands": { "txt": ["tr", "a-z", "A-Z"] } })
}

#[tokio::test]
async fn what_is_written_is_formatted_and_can_be_edited_at_once() {
    let room = room(upper()).await;
    let said = room.says("write", json!({ "file_path": "a.txt", "content": "one\n" })).await;
    assert_eq!(said, "created a.txt (+1 −0)\na.txt was then formatted by tr (+1 −1)");
    assert_eq!(room.read("a.txt"), "ONE\n");
    let edit = json!({ "file_path": "a.txt", "old_string": "ONE", "new_string": "TWO" });
    assert_eq!(room.says("edit", edit).await, "changed a.txt (+1 −1) from line 1");
}

#[tokio::test]
async fn nothing_is_formatted_unless_it_is_asked_for() {
    let room = room(json!({ "commands": { "txt": ["tr", "a-z", "A-Z"] } })).await;
    room.says("write", json!({ "file_path": "a.txt", "content": "one\n" })).await;
    assert_eq!(room.read("a.txt"), "one\n");
}

#[tokio::test]
async fn a_formatter_that_fails_leaves_the_file_as_it_was_written() {
    let commands = json!({ "txt": ["sh", "-c", "echo half; echo bad syntax >&2; exit 2"] });
    let room = room(json!({ "on_save": true, "commands": commands })).await;
    let said = room.says("write", json!({ "file_path": "a.txt", "content": "one\n" })).await;
    assert!(said.ends_with("a.txt was not formatted by sh: bad syntax"), "{said}");
    assert_eq!(room.read("a.txt"), "one\n");
}

#[tokio::test]
async fn nothing_may_come_of_nothing() {
    let room = room(json!({ "on_save": true, "commands": { "txt": ["tr", "-d", "\n"] } })).await;
    let said = room.says("write", json!({ "file_path": "a.txt", "content": "\n\n" })).await;
    assert_eq!(said, "created a.txt (+2 −0)\na.txt was then formatted by tr (+0 −2)");
    let said = room.says("write", json!({ "file_path": "b.txt", "content": "" })).await;
    assert_eq!(said, "created b.txt (+0 −0)");
}

#[tokio::test]
async fn a_formatter_can_write_nothing_itself() {
    let script = "echo x > stolen; cat";
    let commands = json!({ "txt": ["sh", "-c", script] });
    let room = room(json!({ "on_save": true, "commands": commands })).await;
    if !guard::Cage::probe().works {
        testkit::parts::skipped("this machine cannot cage a formatter");
        return;
    }
    room.says("write", json!({ "file_path": "a.txt", "content": "one\n" })).await;
    assert!(!room.folder().join("stolen").exists());
    assert_eq!(room.read("a.txt"), "one\n");
}
