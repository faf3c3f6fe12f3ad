//! `edit` and `multiedit`.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use base::Block;
use guard::Action;
use serde_json::{Value, json};

use crate::room::Room;

async fn seen(path: &str, content: impl AsRef<[u8]>) -> Room {
    let room = Room::new().await;
    room.write(path, content);
    room.call("view", json!({ "file_path": path })).await.unwrap();
    room
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "file_path": path, "old_string": old, "new_string": new })
}

fn on_disk(room: &Room, path: &str) -> String {
    std::fs::read_to_string(room.folder().join(path)).unwrap()
}

async fn refusal(room: &Room, tool: &str, input: Value) -> String {
    room.call(tool, input).await.unwrap_err().to_string()
}

#[tokio::test]
async fn says_what_changed_and_shows_the_diff() {
    let room = seen("src/a.rs", "one\ntwo\nthree\n").await;
    let output = room.call("edit", edit("src/a.rs", "two", "2\n2.5")).await.unwrap();
    assert_eq!(output.text, "changed src/a.rs (+2 −1) from line 2");
    let unified = "@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three\n".to_owned();
    assert_eq!(output.body, Some(Block::Diff { path: "src/a.rs".to_owned(), unified }));
    assert_eq!(on_disk(&room, "src/a.rs"), "one\n2\n2.5\nthree\n");
}

#[tokio::test]
async fn wants_a_file_read_before_it_is_changed() {
    let room = Room::new().await;
    room.write("a.txt", "one\n");
    let refused = refusal(&room, "edit", edit("a.txt", "one", "two")).await;
    assert_eq!(refused, "a.txt has not been read; view it first");
    assert_eq!(on_disk(&room, "a.txt"), "one\n");
}

#[tokio::test]
async fn wants_a_file_read_again_after_somebody_else_changed_it() {
    let room = seen("a.txt", "one\n").await;
    room.write("a.txt", "one\nmore\n");
    let refused = refusal(&room, "edit", edit("a.txt", "one", "two")).await;
    assert_eq!(refused, "a.txt has changed since it was read; view it again");
    room.call("view", json!({ "file_path": "a.txt" })).await.unwrap();
    room.call("edit", edit("a.txt", "one", "two")).await.unwrap();
    assert_eq!(on_disk(&room, "a.txt"), "two\nmore\n");
}

#[tokio::test]
async fn a_file_touched_but_not_changed_needs_no_second_look() {
    let room = seen("a.txt", "one\n").await;
    room.write("a.txt", "one\n");
    room.call("edit", edit("a.txt", "one", "two")).await.unwrap();
}

#[tokio::test]
async fn edits_follow_each_other_without_another_look() {
    let room = seen("a.txt", "one\ntwo\n").await;
    room.call("edit", edit("a.txt", "one", "1")).await.unwrap();
    room.call("edit", edit("a.txt", "two", "2")).await.unwrap();
    room.call("edit", edit("a.txt", "1\n2", "done")).await.unwrap();
    assert_eq!(on_disk(&room, "a.txt"), "done\n");
}

#[tokio::test]
async fn an_empty_old_string_makes_a_new_file() {
    let room = Room::new().await;
    let output = room.call("edit", edit("new/a.txt", "", "hello\n")).await.unwrap();
    assert_eq!(output.text, "created new/a.txt (+1 −0)");
    room.call("edit", edit("new/a.txt", "hello", "bye")).await.unwrap();
    let refused = refusal(&room, "edit", edit("new/a.txt", "", "again")).await;
    assert!(refused.contains("exists already"), "{refused}");
    assert_eq!(on_disk(&room, "new/a.txt"), "bye\n");
}

#[tokio::test]
async fn folders_missing_files_and_no_change_are_refused() {
    let room = seen("d/a.txt", "one\n").await;
    let refused = refusal(&room, "edit", edit("d", "one", "two")).await;
    assert_eq!(refused, "d is a folder, not a file");
    let refused = refusal(&room, "edit", edit("d/b.txt", "one", "two")).await;
    assert!(refused.contains("there is no file d/b.txt"), "{refused}");
    let refused = refusal(&room, "edit", edit("d/a.txt", "one", "one")).await;
    assert!(refused.contains("are the same"), "{refused}");
}

#[tokio::test]
async fn what_is_not_text_is_refused_as_such() {
    let room = Room::new().await;
    room.write("program", b"\x7fELF\x02\x01\x01\0\0\0");
    room.call("view", json!({ "file_path": "program" })).await.unwrap();
    let refused = refusal(&room, "edit", edit("program", "ELF", "elf")).await;
    assert_eq!(refused, "program is not text; change, move or delete it with a command");
}

#[tokio::test]
async fn a_tolerant_match_is_said() {
    let room = seen("a.rs", "fn a() {\n\tone();\n}\n").await;
    let output =
        room.call("edit", edit("a.rs", "    one();", "    one();\n    two();")).await.unwrap();
    assert!(output.text.contains("fitted only with blanks ignored"), "{}", output.text);
    assert_eq!(on_disk(&room, "a.rs"), "fn a() {\n\tone();\n\ttwo();\n}\n");
}

#[tokio::test]
async fn a_miss_names_the_nearest_lines() {
    let room = seen("a.rs", "fn a() {\n\tlet total = price * count;\n}\n").await;
    let refused = refusal(&room, "edit", edit("a.rs", "let totals = price * count", "x")).await;
    assert!(refused.starts_with("a.rs: old_string was not found. The nearest lines"), "{refused}");
    assert!(refused.contains("2\t→let total = price * count;"), "{refused}");
}

#[tokio::test]
async fn mode_link_and_bytes_elsewhere_stay() {
    let room = seen("real.sh", b"\xef\xbb\xbfecho caf\xe9\r\necho two\r\n").await;
    let path = room.folder().join("real.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("real.sh", room.folder().join("link.sh")).unwrap();
    room.call("edit", edit("link.sh", "echo two\n", "echo 2\n")).await.unwrap();
    assert!(room.folder().join("link.sh").is_symlink());
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o755);
    assert_eq!(std::fs::read(&path).unwrap(), b"\xef\xbb\xbfecho caf\xe9\r\necho 2\r\n");
}

#[tokio::test]
async fn a_preview_shows_the_diff_and_changes_nothing() {
    let room = seen("a.txt", "one\n").await;
    let Value::Object(input) = edit("a.txt", "one", "two") else { unreachable!() };
    let call = room.registry.get("edit").unwrap().clone().prepare(input).unwrap();
    let preview = call.preview(&room.ctx()).await.unwrap();
    assert!(matches!(preview, Block::Diff { unified, .. } if unified.contains("-one\n+two\n")));
    assert_eq!(on_disk(&room, "a.txt"), "one\n");
    let actions = call.actions(&room.workspace).unwrap();
    assert!(matches!(actions.as_slice(), [Action::Edit(spot)] if spot.inside));
}

#[tokio::test]
async fn a_cancelled_edit_changes_nothing() {
    let room = seen("a.txt", "one\n").await;
    room.cancel.cancel();
    assert_eq!(refusal(&room, "edit", edit("a.txt", "one", "two")).await, "cancelled");
    assert_eq!(on_disk(&room, "a.txt"), "one\n");
}

fn pieces(path: &str, edits: &[(&str, &str)]) -> Value {
    let piece = |(old, new): &(&str, &str)| json!({ "old_string": old, "new_string": new });
    json!({ "file_path": path, "edits": edits.iter().map(piece).collect::<Vec<_>>() })
}

#[tokio::test]
async fn many_edits_follow_each_other() {
    let room = seen("a.txt", "one\ntwo\nthree\n").await;
    let edits = [("one", "1"), ("1\ntwo", "12"), ("three", "3")];
    let output = room.call("multiedit", pieces("a.txt", &edits)).await.unwrap();
    assert_eq!(output.text, "changed a.txt (+2 −3) from line 1");
    assert_eq!(on_disk(&room, "a.txt"), "12\n3\n");
}

#[tokio::test]
async fn one_edit_that_fails_leaves_all_undone_and_is_explained() {
    let room = seen("a.txt", "one\ntwo\ntwo\n").await;
    let edits = [("one", "1"), ("nine hundred", "9"), ("two", "2")];
    let refused = refusal(&room, "multiedit", pieces("a.txt", &edits)).await;
    assert!(refused.starts_with("a.txt was not changed: 2 of 3 edits do not fit.\n"), "{refused}");
    assert!(refused.contains("edit 2: old_string was not found"), "{refused}");
    assert!(refused.contains("edit 3: old_string fits 2 places (line 2, line 3)"), "{refused}");
    assert_eq!(on_disk(&room, "a.txt"), "one\ntwo\ntwo\n");
}

#[tokio::test]
async fn many_edits_can_begin_with_a_new_file() {
    let room = Room::new().await;
    room.call("multiedit", pieces("a.txt", &[("", "one\n"), ("one", "two")])).await.unwrap();
    assert_eq!(on_disk(&room, "a.txt"), "two\n");
    let refused = refusal(&room, "multiedit", pieces("b.txt", &[("", "one\n"), ("x", "y")])).await;
    assert!(refused.contains("edit 2: "), "{refused}");
    assert!(!room.folder().join("b.txt").exists());
}

#[tokio::test]
async fn edits_that_undo_each_other_are_refused() {
    let room = seen("a.txt", "one\n").await;
    let refused = refusal(&room, "multiedit", pieces("a.txt", &[("one", "x"), ("x", "one")])).await;
    assert_eq!(refused, "the edits leave a.txt as it is");
}

#[tokio::test]
async fn edits_of_different_parts_at_once_all_survive() {
    let lines: Vec<String> = (0..20).map(|line| format!("line {line};\n")).collect();
    let before = lines.concat();
    let room = seen("a.txt", &before).await;
    let edits = (0..20).map(|line| {
        room.call("edit", edit("a.txt", &format!("line {line};"), &format!("done {line};")))
    });
    for done in futures::future::join_all(edits).await {
        done.unwrap();
    }
    assert_eq!(on_disk(&room, "a.txt"), before.replace("line", "done"));
}

/// A link put in the way after the lock has judged: whatever the tool, it must not be followed.
#[tokio::test]
async fn a_folder_swapped_for_a_link_after_it_was_judged_is_refused() {
    let patch = "*** Begin Patch\n*** Update File: d/a.txt\n@@\n-one\n+two\n*** End Patch";
    for (tool, input) in [
        ("view", json!({ "file_path": "d/a.txt" })),
        ("edit", edit("d/a.txt", "one", "two")),
        ("multiedit", pieces("d/a.txt", &[("one", "two")])),
        ("write", json!({ "file_path": "d/new.txt", "content": "two" })),
        ("apply_patch", json!({ "patch": patch })),
    ] {
        let room = seen("d/a.txt", "one\n").await;
        let outside = room.folder().with_file_name("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("a.txt"), "one\n").unwrap();
        let Value::Object(input) = input else { unreachable!() };
        let call = room.registry.get(tool).unwrap().clone().prepare(input).unwrap();
        call.actions(&room.workspace).unwrap();
        std::fs::remove_dir_all(room.folder().join("d")).unwrap();
        symlink(&outside, room.folder().join("d")).unwrap();
        let refused = call.run(&room.ctx()).await.unwrap_err().to_string();
        assert!(refused.contains("may be a link now"), "{tool}: {refused}");
        assert_eq!(std::fs::read_to_string(outside.join("a.txt")).unwrap(), "one\n");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1, "{tool}");
    }
}
