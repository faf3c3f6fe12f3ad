//! `write`.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use base::Block;
use serde_json::{Value, json};

use crate::room::Room;

fn write(path: &str, content: &str) -> Value {
    json!({ "file_path": path, "content": content })
}

#[tokio::test]
async fn makes_a_file_with_its_folders() {
    let room = Room::new().await;
    let output = room.call("write", write("a/b/c.txt", "one\r\ntwo")).await.unwrap();
    assert_eq!(output.text, "created a/b/c.txt (+2 −0)");
    assert_eq!(std::fs::read(room.folder().join("a/b/c.txt")).unwrap(), b"one\r\ntwo");
    assert!(matches!(output.body, Some(Block::Diff { .. })));
}

#[tokio::test]
async fn replaces_only_what_was_read() {
    let room = Room::new().await;
    room.write("a.sh", "old\n");
    let mode = std::fs::Permissions::from_mode(0o750);
    std::fs::set_permissions(room.folder().join("a.sh"), mode).unwrap();
    let refused = room.call("write", write("a.sh", "new\n")).await.unwrap_err().to_string();
    assert_eq!(refused, "a.sh has not been read; view it first");
    room.call("view", json!({ "file_path": "a.sh" })).await.unwrap();
    let output = room.call("write", write("a.sh", "new\n")).await.unwrap();
    assert_eq!(output.text, "changed a.sh (+1 −1) from line 1");
    assert_eq!(std::fs::metadata(room.folder().join("a.sh")).unwrap().mode() & 0o777, 0o750);
}

#[tokio::test]
async fn says_when_nothing_would_change() {
    let room = Room::new().await;
    room.write("a.txt", "same\n");
    let refused = room.call("write", write("a.txt", "same\n")).await.unwrap_err().to_string();
    assert_eq!(refused, "a.txt has exactly this content already");
}

#[tokio::test]
async fn refuses_folders_and_files_as_folders() {
    let room = Room::new().await;
    room.write("d/a.txt", "x");
    let refused = room.call("write", write("d", "x")).await.unwrap_err().to_string();
    assert_eq!(refused, "d is a folder, not a file");
    let refused = room.call("write", write("d/a.txt/b", "x")).await.unwrap_err().to_string();
    assert!(refused.contains("is a file, so nothing can be below it"), "{refused}");
}
