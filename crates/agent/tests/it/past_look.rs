//! What faces look up: changes, words, history, what they keep; and results as they were shown.

use base::protocol::{Change, Client, Op, Query, Reply};
use base::{Block, Event, PartBody};
use serde_json::json;
use testkit::Script;

use crate::past::checkpoints;
use crate::room::{Plan, Room, until};

async fn ask(room: &Room, query: Query) -> Reply {
    room.coordinator.ask(query).await.unwrap()
}

async fn changes(room: &Room) -> Vec<Change> {
    let reply = ask(room, Query::Changes { session: room.session }).await;
    let Reply::Changes { changes } = reply else { panic!("{reply:?}") };
    changes
}

/// Runs a slash command that replies with text.
async fn command(room: &Room, line: &str) -> String {
    let mut events = room.watch();
    room.submit(Op::Command { session: room.session, line: line.to_owned() }).await;
    let notice = until(&mut events, |event| matches!(event, Event::Notice { .. })).await;
    let Event::Notice { text, .. } = notice else { panic!("{notice:?}") };
    text
}

/// A session that has edited, made, undone and bashed.
async fn busy() -> Room {
    let script = Script::new()
        .call("view", json!({ "file_path": "a.txt" }))
        .then()
        .call("edit", json!({ "file_path": "a.txt", "old_string": "two", "new_string": "2" }))
        .call("write", json!({ "file_path": "new.txt", "content": "x\ny\n" }))
        .then()
        .text("Done.")
        .then()
        .call("bash", json!({ "command": "printf 'a\\0b' > new.txt", "description": "d" }))
        .then()
        .text("Made it binary.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.write("a.txt", "one\ntwo\nthree\n");
    room.say("edit the owl\nplease").await;
    room
}

#[tokio::test]
async fn changes_are_told_against_what_was_there_before_the_session() {
    let room = busy().await;
    let [edited, made] = &changes(&room).await[..] else { panic!("two files") };
    assert_eq!((edited.path.as_str(), edited.added, edited.removed), ("a.txt", 1, 1));
    assert_eq!(edited.unified, "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
    assert_eq!((made.path.as_str(), made.added, made.removed), ("new.txt", 2, 0));
    assert_eq!(command(&room, "/changes").await, "a.txt  +1 −1\nnew.txt  +2 −0");
    room.say("spoil it").await;
    let spoiled = changes(&room).await;
    assert_eq!((spoiled[1].unified.as_str(), spoiled[1].added), ("", 0), "it is no text");
    std::fs::write(room.folder.join("a.txt"), "one\ntwo\nthree\n").unwrap();
    std::fs::remove_file(room.folder.join("new.txt")).unwrap();
    let [same] = &changes(&room).await[..] else { panic!("what was never there is no change") };
    assert_eq!((same.path.as_str(), same.unified.as_str()), ("a.txt", ""));
}

#[tokio::test]
async fn checkpoints_say_where_commands_ran_and_can_be_gone_to_by_command() {
    let room = busy().await;
    room.say("spoil it").await;
    let labels: Vec<String> = checkpoints(&room).await.into_iter().map(|it| it.label).collect();
    let ran = "spoil it (ran commands: what they changed stays)";
    assert_eq!(labels, [ran, "edit the owl please"]);
    let list = command(&room, "/rewind").await;
    assert_eq!(list, format!("  1  {ran}\n  2  edit the owl please (2 files)"));
    assert!(command(&room, "/rewind 7").await.starts_with("There is no prompt 7.\n  1  spoil"));
    assert!(command(&room, "/rewind undo").await.starts_with("There is no rewind"));
    let told = command(&room, "/rewind 2 files").await;
    assert!(told.contains("Restored: a.txt, new.txt."), "{told}");
    assert!(!room.folder.join("new.txt").exists());
    assert!(command(&room, "/rewind").await.ends_with("/rewind undo takes the last rewind back."));
    command(&room, "/rewind undo files").await;
    assert_eq!(std::fs::read(room.folder.join("new.txt")).unwrap(), b"a\0b");
}

#[tokio::test]
async fn words_prompts_and_kept_things_are_found_through_the_door() {
    let room = busy().await;
    let reply = ask(&room, Query::Find { words: "OWL ple".to_owned(), limit: 5 }).await;
    let Reply::Found { hits } = reply else { panic!("{reply:?}") };
    assert_eq!(hits.len(), 1);
    assert_eq!(
        (hits[0].session.id, hits[0].snippet.as_str()),
        (room.session, "edit the owl please")
    );
    let folder = room.folder.display().to_string();
    let reply = ask(&room, Query::History { folder, limit: 500 }).await;
    assert_eq!(reply, Reply::History { prompts: vec!["edit the owl\nplease".to_owned()] });
    let recall = || ask(&room, Query::Recall { key: "draft".to_owned() });
    assert_eq!(recall().await, Reply::Recalled { value: None });
    let value = Some("half a th".to_owned());
    room.submit(Op::Remember { key: "draft".to_owned(), value: value.clone() }).await;
    assert_eq!(recall().await, Reply::Recalled { value });
}

#[tokio::test]
async fn a_resumed_session_shows_results_as_they_were_shown_and_no_model_sees_that() {
    let room = busy().await;
    let mut shown = Vec::new();
    for entry in room.other_process().branch(room.session).await.unwrap() {
        for part in entry.kind.parts() {
            if let PartBody::Result(result) = &part.body {
                shown.push((*result.shown.clone().unwrap(), part.clone()));
            }
        }
    }
    let [(viewed, _), (edited, _), (written, _)] = &shown[..] else { panic!("{shown:#?}") };
    assert_eq!((viewed.title.as_str(), &viewed.body), ("a.txt", &None), "its text is the result's");
    assert_eq!(edited.title, "a.txt +1 −1");
    assert!(matches!(&edited.body, Some(Block::Diff { path, .. }) if path == "a.txt"));
    assert!(matches!(&written.body, Some(Block::Diff { unified, .. }) if unified.contains("+x")));
    for body in room.server.bodies() {
        let sent = body.to_string();
        assert!(!sent.contains("took_ms") && !sent.contains("+1 −1\""), "{sent}");
    }
}
