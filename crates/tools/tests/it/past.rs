//! What tools keep of files before they change them, and files brought back.

use std::collections::BTreeMap;
use std::fs;

use base::{Clock, Entry, EntryId, EntryKind, Part};
use proptest::prelude::*;
use serde_json::{Value, json};
use store::{FileState, Kept};
use tools::past::Past;

use crate::room::Room;
use crate::site::{Page, Site};

/// What is kept of files: each path with what it was.
async fn kept(room: &Room) -> Vec<(String, String)> {
    let store = &room.workspace.store;
    let states = store.states_since(room.workspace.session, None).await.unwrap();
    let mut kept = Vec::new();
    for FileState { path, was, .. } in states {
        let name = path.strip_prefix(&format!("{}/", room.folder().display())).unwrap();
        let was = match was {
            Kept::Absent => "(none)".to_owned(),
            Kept::File { hash, .. } => {
                String::from_utf8(store.content(hash).await.unwrap()).unwrap()
            }
            Kept::TooLarge { size } => format!("({size} bytes)"),
        };
        kept.push((name.to_owned(), was));
    }
    kept
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(path, was)| ((*path).to_owned(), (*was).to_owned())).collect()
}

#[tokio::test]
async fn every_tool_that_changes_files_keeps_what_they_were() {
    let room = Room::new().await;
    let site = Site::start(|_| Page::of("text/plain", "from the web")).await;
    for name in ["edit", "multi", "write", "patch", "gone", "moved", "got"] {
        room.write(name, format!("old {name}"));
        room.call("view", json!({ "file_path": name })).await.unwrap();
    }
    assert_eq!(kept(&room).await, [], "what only reads keeps nothing");
    let patch = "*** Begin Patch\n*** Update File: patch\n@@\n-old patch\n+new\n*** Delete File: gone\n\
                 *** Update File: moved\n*** Move to: there\n@@\n-old moved\n+new\n*** End Patch";
    let edit = json!({ "old_string": "old", "new_string": "new" });
    let calls: [(&str, Value); 6] = [
        ("edit", json!({ "file_path": "edit", "old_string": "old", "new_string": "new" })),
        ("multiedit", json!({ "file_path": "multi", "edits": [edit] })),
        ("write", json!({ "file_path": "write", "content": "new" })),
        ("write", json!({ "file_path": "made/up", "content": "new" })),
        ("apply_patch", json!({ "patch": patch })),
        ("download", json!({ "url": site.url("/f"), "file_path": "got" })),
    ];
    for (tool, input) in calls {
        room.call(tool, input).await.unwrap();
    }
    let expected = [
        ("edit", "old edit"),
        ("gone", "old gone"),
        ("got", "old got"),
        ("made/up", "(none)"),
        ("moved", "old moved"),
        ("multi", "old multi"),
        ("patch", "old patch"),
        ("there", "(none)"),
        ("write", "old write"),
    ];
    assert_eq!(kept(&room).await, pairs(&expected));
    // A later change of the same file after the same prompt keeps nothing more.
    room.call("write", json!({ "file_path": "write", "content": "newer" })).await.unwrap();
    assert_eq!(kept(&room).await, pairs(&expected));
}

#[tokio::test]
async fn what_cannot_be_kept_is_not_changed() {
    let room = Room::new().await;
    room.write("a.txt", "old");
    room.call("view", json!({ "file_path": "a.txt" })).await.unwrap();
    room.workspace.store.delete(room.workspace.session).await.unwrap();
    let input = json!({ "file_path": "b.txt", "content": "new" });
    let error = room.call("write", input).await.unwrap_err().to_string();
    assert!(error.contains("cannot be kept, so it stays as it is"), "{error}");
    assert!(!room.folder().join("b.txt").exists());
}

#[tokio::test]
async fn what_lies_outside_the_workspace_is_nobodys_to_bring_back() {
    let room = Room::new().await;
    let outside = room.folder().with_file_name("outside.txt");
    let input = json!({ "file_path": outside.display().to_string(), "content": "new" });
    room.call("write", input).await.unwrap();
    assert_eq!(kept(&room).await, []);
}

#[derive(Debug, Clone)]
enum Deed {
    Write(usize, String),
    Delete(usize),
    Say,
    Rewind(usize),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (0..3_usize, "[a-c]{0,3}").prop_map(|(file, text)| Deed::Write(file, text)),
        1 => (0..3_usize).prop_map(Deed::Delete),
        2 => Just(Deed::Say),
        2 => (0..8_usize).prop_map(Deed::Rewind),
    ]
}

/// A session that talks and changes files, and remembers by itself what they were.
struct Story {
    room: Room,
    past: Past,
    runtime: tokio::runtime::Runtime,
    /// Entries, and what the files were when they were made.
    moments: Vec<(EntryId, BTreeMap<String, String>)>,
}

impl Story {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let room = runtime.block_on(Room::new());
        let past = Past::of(&room.workspace);
        let mut story = Self { room, past, runtime, moments: Vec::new() };
        story.append(EntryKind::User { parts: vec![Part::user_text("go")] });
        story
    }

    fn files(&self) -> BTreeMap<String, String> {
        let files = fs::read_dir(self.room.folder()).unwrap().map(|file| file.unwrap());
        let read = |file: fs::DirEntry| {
            let name = file.file_name().to_string_lossy().into_owned();
            (name, fs::read_to_string(file.path()).unwrap())
        };
        files.map(read).collect()
    }

    fn append(&mut self, kind: EntryKind) -> EntryId {
        let store = &self.past.store;
        let parent = store.session(self.past.session).wait().unwrap().head;
        let entry = Entry { id: EntryId::new(), parent, at: Clock::system().now(), kind };
        store.append(self.past.session, vec![entry.clone()]).wait().unwrap();
        self.moments.push((entry.id, self.files()));
        entry.id
    }

    fn does(&mut self, deed: Deed) {
        let name = |file: usize| format!("f{file}");
        match deed {
            Deed::Write(file, text) => {
                let view = json!({ "file_path": name(file) });
                let write = json!({ "file_path": name(file), "content": text });
                self.runtime.block_on(async {
                    drop(self.room.call("view", view).await);
                    // The same content again is refused, and changes nothing.
                    drop(self.room.call("write", write).await);
                });
            }
            Deed::Delete(file) => {
                let patch = format!("*** Begin Patch\n*** Delete File: f{file}\n*** End Patch");
                let call = self.room.call("apply_patch", json!({ "patch": patch }));
                // One that is not there cannot be deleted.
                drop(self.runtime.block_on(call));
            }
            Deed::Say => {
                self.append(EntryKind::User { parts: vec![Part::user_text("go on")] });
            }
            Deed::Rewind(nth) => {
                let (entry, expected) = self.moments[nth % self.moments.len()].clone();
                let label = "before".to_owned();
                let mark = self.append(EntryKind::Checkpoint { label });
                let returned = self.past.go_back(entry, mark).unwrap();
                assert_eq!((returned.left.len(), returned.others.len()), (0, 0), "{returned:?}");
                assert_eq!(self.files(), expected);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn files_are_what_they_were_at_any_moment_one_goes_back_to(
        deeds in prop::collection::vec(deed(), 1..24)
    ) {
        let mut story = Story::new();
        for deed in deeds {
            story.does(deed);
        }
        let before = story.files();
        story.does(Deed::Rewind(0));
        let (mark, expected) = story.moments.last().unwrap().clone();
        prop_assert_eq!(&expected, &before);
        let again = story.append(EntryKind::Checkpoint { label: "undo".to_owned() });
        story.past.go_back(mark, again).unwrap();
        prop_assert_eq!(story.files(), before, "a rewind is taken back by its checkpoint");
    }
}
