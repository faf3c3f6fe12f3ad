//! Files that are open in an editor: what is typed there counts, what it refuses is the disk's.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use base::SessionId;
use links::acp::{Editor, Written};
use serde_json::json;

use crate::room::Room;

/// What an editor does when it is asked to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Saving {
    /// It writes.
    Writes,
    /// It writes something else: it has a formatter.
    Formats,
    /// It only changes what it shows, and says that it has written.
    Shows,
    /// It refuses.
    Refuses,
}

#[derive(Debug)]
struct Open {
    typed: Mutex<HashMap<PathBuf, String>>,
    saving: Saving,
    asked: Mutex<Vec<String>>,
}

impl Editor for Open {
    fn read(&self, _: SessionId, path: &Path) -> Option<String> {
        self.asked.lock().unwrap().push(format!("read {}", name(path)));
        self.typed.lock().unwrap().get(path).cloned()
    }

    fn write(&self, _: SessionId, path: &Path, text: &str) -> Written {
        self.asked.lock().unwrap().push(format!("write {}", name(path)));
        match self.saving {
            Saving::Writes => fs::write(path, text).unwrap(),
            Saving::Formats => fs::write(path, format!("{text}// formatted\n")).unwrap(),
            Saving::Shows => drop(self.typed.lock().unwrap().insert(path.into(), text.to_owned())),
            Saving::Refuses => return Written::No,
        }
        Written::Yes
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().display().to_string()
}

/// A room in an editor that has `a.txt` open, with `typed` in it.
async fn room(saving: Saving, disk: &str, typed: &str) -> (Room, Arc<Open>) {
    let mut room = Room::new().await;
    room.write("a.txt", disk);
    let typed = HashMap::from([(room.folder().join("a.txt"), typed.to_owned())]);
    let open = Arc::new(Open { typed: Mutex::new(typed), saving, asked: Mutex::default() });
    Arc::get_mut(&mut room.workspace).unwrap().editor = Some(open.clone());
    (room, open)
}

fn on_disk(room: &Room, path: &str) -> String {
    fs::read_to_string(room.folder().join(path)).unwrap()
}

#[tokio::test]
async fn what_is_typed_is_read_and_changed_in_the_form_of_the_file() {
    let (room, _) = room(Saving::Writes, "one\r\ntwo\r\n", "one\n2\n").await;
    let seen = room.call("view", json!({ "file_path": "a.txt" })).await.unwrap();
    assert_eq!(seen.text, "1\tone\n2\t2");
    let edit = json!({ "file_path": "a.txt", "old_string": "2", "new_string": "three" });
    room.call("edit", edit).await.unwrap();
    assert_eq!(on_disk(&room, "a.txt"), "one\r\nthree\r\n");
}

#[tokio::test]
async fn what_is_typed_after_the_model_has_read_must_be_read_again() {
    let (room, open) = room(Saving::Writes, "one\n", "one\n").await;
    room.call("view", json!({ "file_path": "a.txt" })).await.unwrap();
    let path = room.folder().join("a.txt");
    open.typed.lock().unwrap().insert(path, "one\nmore\n".to_owned());
    let write = json!({ "file_path": "a.txt", "content": "two\n" });
    let error = room.call("write", write.clone()).await.unwrap_err();
    assert!(error.to_string().contains("changed since it was read"), "{error}");
    room.call("view", json!({ "file_path": "a.txt" })).await.unwrap();
    room.call("write", write).await.unwrap();
    assert_eq!(on_disk(&room, "a.txt"), "two\n");
}

#[tokio::test]
async fn what_the_editor_refuses_or_only_shows_is_written_to_disk() {
    for saving in [Saving::Refuses, Saving::Shows] {
        let (room, open) = room(saving, "one\n", "one\n").await;
        let edit = json!({ "file_path": "a.txt", "old_string": "one", "new_string": "two" });
        room.call("view", json!({ "file_path": "a.txt" })).await.unwrap();
        room.call("edit", edit).await.unwrap();
        assert_eq!(on_disk(&room, "a.txt"), "two\n", "{saving:?}");
        let new = json!({ "file_path": "sub/b.txt", "content": "b" });
        room.call("write", new).await.unwrap();
        assert_eq!(on_disk(&room, "sub/b.txt"), "b", "{saving:?}");
        assert!(open.asked.lock().unwrap().contains(&"write b.txt".to_owned()));
    }
}

#[tokio::test]
async fn what_the_editor_formats_must_be_read_again_before_it_is_changed() {
    let (room, open) = room(Saving::Formats, "one\n", "one\n").await;
    open.typed.lock().unwrap().clear();
    room.call("view", json!({ "file_path": "a.txt" })).await.unwrap();
    let write = |content: &str| json!({ "file_path": "a.txt", "content": content });
    room.call("write", write("two\n")).await.unwrap();
    assert_eq!(on_disk(&room, "a.txt"), "two\n// formatted\n");
    let error = room.call("write", write("three\n")).await.unwrap_err();
    assert!(error.to_string().contains("changed since it was read"), "{error}");
}

#[tokio::test]
async fn an_editor_is_not_asked_for_what_is_no_text_or_not_of_the_workspace() {
    let (room, open) = room(Saving::Writes, "one\n", "one\n").await;
    room.write("b.bin", [0u8, 159, 146, 150, 0, 1]);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("c.txt"), "c").unwrap();
    let beyond = outside.path().join("c.txt").display().to_string();
    room.call("view", json!({ "file_path": "b.bin" })).await.unwrap();
    room.call("view", json!({ "file_path": beyond })).await.unwrap();
    room.call("view", json!({ "file_path": "missing.txt" })).await.unwrap_err();
    assert_eq!(*open.asked.lock().unwrap(), Vec::<String>::new());
}
