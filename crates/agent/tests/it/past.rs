//! Going back: files, conversation, both; and taking that back.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use agent::Tools;
use base::protocol::{Checkpoint, Client, ClientError, Delivery, Op, Query, Reply, Rewound};
use base::{EntryId, EntryKind, Event};
use serde_json::{Value, json};
use store::{Changing, Moment, Was};
use testkit::Script;
use testkit::script::When;

use crate::room::{Plan, Room, until};

/// Moments of the session one can go back to, newest first.
pub(crate) async fn checkpoints(room: &Room) -> Vec<Checkpoint> {
    let reply = room.coordinator.ask(Query::Checkpoints { session: room.session }).await.unwrap();
    let Reply::Checkpoints { checkpoints } = reply else { panic!("{reply:?}") };
    checkpoints
}

async fn try_rewind(room: &Room, entry: EntryId, what: Rewound) -> Result<String, ClientError> {
    let mut events = room.watch();
    room.coordinator.submit(Op::Rewind { session: room.session, entry, what }).await?;
    let notice = until(&mut events, |event| matches!(event, Event::Notice { .. })).await;
    let Event::Notice { text, .. } = notice else { panic!("{notice:?}") };
    Ok(text)
}

/// Goes back to before the nth newest checkpoint; gives what the user is told.
async fn rewind(room: &Room, nth: usize, what: Rewound) -> String {
    let checkpoint = checkpoints(room).await.remove(nth);
    let entry = checkpoint.before.unwrap_or(checkpoint.entry);
    try_rewind(room, entry, what).await.unwrap()
}

fn read(room: &Room, path: &str) -> Option<String> {
    fs::read_to_string(room.folder.join(path)).ok()
}

fn mode(room: &Room, path: &str) -> u32 {
    fs::metadata(room.folder.join(path)).unwrap().permissions().mode() & 0o777
}

fn view(path: &str) -> Value {
    json!({ "file_path": path })
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "file_path": path, "old_string": old, "new_string": new })
}

fn write(path: &str, content: &str) -> Value {
    json!({ "file_path": path, "content": content })
}

/// A model that makes `a.txt` say one, then two, then three: a prompt each.
async fn counting() -> Room {
    let mut script = Script::new().call("view", view("a.txt"));
    for (old, new) in [("zero", "one"), ("one", "two"), ("two", "three")] {
        script = script.then().call("edit", edit("a.txt", old, new)).then().text("Done.");
    }
    let room = Room::new(Plan::with_tools(script)).await;
    room.write("a.txt", "zero\n");
    for prompt in ["to one", "to two", "to three"] {
        room.say(prompt).await;
    }
    assert_eq!(read(&room, "a.txt").unwrap(), "three\n");
    room
}

#[tokio::test]
async fn edited_new_and_deleted_files_go_back_with_their_modes() {
    let patch = "*** Begin Patch\n*** Delete File: gone.sh\n*** Update File: old.txt\n\
                 *** Move to: moved.txt\n@@\n-old\n+new\n*** End Patch";
    let script = Script::new()
        .text("Hello.")
        .then()
        .call("view", view("a.txt"))
        .call("view", view("gone.sh"))
        .call("view", view("old.txt"))
        .then()
        .call("edit", edit("a.txt", "two", "2"))
        .call("write", write("deep/er/new.txt", "new"))
        .call("apply_patch", json!({ "patch": patch }))
        .then()
        .text("Done.");
    let names = ["view", "edit", "write", "apply_patch"].map(str::to_owned);
    let plan = Plan { tools: Tools::Only(names.to_vec()), ..Plan::with_tools(script) };
    let room = Room::new(plan).await;
    room.write("a.txt", "one\r\ntwo\r\n");
    room.write("gone.sh", "#!/bin/sh\n");
    room.write("old.txt", "old\n");
    fs::set_permissions(room.folder.join("gone.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    room.say("hi").await;
    let before = room.transcript().await;
    room.say("change all").await;
    assert_eq!(read(&room, "a.txt").unwrap(), "one\r\n2\r\n");
    let gone = [read(&room, "gone.sh"), read(&room, "old.txt")];
    assert_eq!(gone, [None, None], "{:#?}", room.transcript().await);
    assert_eq!(read(&room, "moved.txt").unwrap(), "new\n");

    let [newest, first] = &checkpoints(&room).await[..] else { panic!("two prompts") };
    assert_eq!((newest.label.as_str(), first.label.as_str()), ("change all", "hi"));
    let files = ["a.txt", "deep/er/new.txt", "old.txt", "moved.txt", "gone.sh"];
    assert_eq!((newest.files.as_slice(), first.files.len()), (&files.map(str::to_owned)[..], 0));

    let told = rewind(&room, 0, Rewound::Both).await;
    assert!(told.starts_with("Went back to before “change all”. Restored: a.txt, deep"), "{told}");
    assert_eq!(read(&room, "a.txt").unwrap(), "one\r\ntwo\r\n");
    assert_eq!(read(&room, "gone.sh").unwrap(), "#!/bin/sh\n");
    assert_eq!(mode(&room, "gone.sh"), 0o750);
    assert_eq!(read(&room, "old.txt").unwrap(), "old\n");
    assert_eq!([read(&room, "moved.txt"), read(&room, "deep/er/new.txt")], [None, None]);
    assert_eq!(room.transcript().await, before);
    room.say("once more").await;
    room.assert_valid();
}

#[tokio::test]
async fn a_rewind_can_be_followed_by_another_and_each_be_taken_back() {
    let room = counting().await;
    let whole = room.transcript().await;
    rewind(&room, 0, Rewound::Both).await;
    assert_eq!(read(&room, "a.txt").unwrap(), "two\n");
    let undo = checkpoints(&room).await.remove(0);
    assert!(undo.label.contains("to three"), "{undo:?}");
    let two = room.transcript().await;
    // The checkpoint of the first rewind stands before the prompts.
    rewind(&room, 2, Rewound::Both).await;
    assert_eq!(read(&room, "a.txt").unwrap(), "zero\n");
    assert_eq!(room.transcript().await, [""; 0], "before the first prompt nothing was said");
    rewind(&room, 0, Rewound::Both).await;
    assert_eq!(read(&room, "a.txt").unwrap(), "two\n");
    assert_eq!(room.transcript().await[..two.len()], two[..]);
    try_rewind(&room, undo.entry, Rewound::Both).await.unwrap();
    assert_eq!(read(&room, "a.txt").unwrap(), "three\n");
    assert_eq!(room.transcript().await[..whole.len()], whole[..]);
    room.say("and on").await;
    room.assert_valid();
}

#[tokio::test]
async fn files_and_talk_go_back_apart() {
    let room = counting().await;
    let whole = room.transcript().await;
    let told = rewind(&room, 1, Rewound::Files).await;
    assert!(told.contains("Restored: a.txt."), "{told}");
    assert_eq!(read(&room, "a.txt").unwrap(), "one\n");
    let now = room.transcript().await;
    assert_eq!(now[..whole.len()], whole[..]);
    assert!(now[whole.len()..].iter().all(|line| line.starts_with("Checkpoint")), "{now:#?}");
    rewind(&room, 0, Rewound::Files).await;
    assert_eq!(read(&room, "a.txt").unwrap(), "three\n");
    // Checkpoints of both rewinds stand on the branch; the newest is listed.
    let entry = checkpoints(&room).await[1].before.unwrap();
    try_rewind(&room, entry, Rewound::Talk).await.unwrap();
    assert_eq!(read(&room, "a.txt").unwrap(), "three\n");
    let talk = room.transcript().await;
    assert_eq!(talk, whole[..talk.len()]);
    assert!(talk.len() < whole.len() && !talk.join("").contains("to three"), "{talk:#?}");
}

#[tokio::test]
async fn what_somebody_else_wrote_since_is_kept_and_told() {
    let room = counting().await;
    room.write("a.txt", "mine\n");
    let told = rewind(&room, 0, Rewound::Both).await;
    assert!(told.contains("Changed by somebody else before that, which is kept: a.txt."), "{told}");
    assert_eq!(read(&room, "a.txt").unwrap(), "two\n");
    rewind(&room, 0, Rewound::Both).await;
    assert_eq!(read(&room, "a.txt").unwrap(), "mine\n");
}

#[tokio::test]
async fn a_prompt_after_a_rewind_begins_a_moment_of_its_own() {
    let script = Script::new()
        .call("write", write("a.txt", "first"))
        .then()
        .text("Done.")
        .then()
        .call("write", write("a.txt", "second"))
        .then()
        .text("Done.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.say("once").await;
    rewind(&room, 0, Rewound::Both).await;
    assert_eq!(read(&room, "a.txt"), None);
    room.say("again").await;
    assert_eq!(read(&room, "a.txt").unwrap(), "second");
    let checkpoints = checkpoints(&room).await;
    let labels: Vec<&str> = checkpoints.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["again"]);
    rewind(&room, 0, Rewound::Both).await;
    assert_eq!(read(&room, "a.txt"), None);
    room.assert_valid();
}

#[tokio::test]
async fn nothing_goes_back_while_a_turn_runs() {
    let room = Room::new(Plan::with_tools(Script::new().text("Half an").stall())).await;
    let mut events = room.watch();
    room.submit(room.saying("hi", Delivery::Queue)).await;
    until(&mut events, |event| matches!(event, Event::Text { .. })).await;
    let prompt = checkpoints(&room).await.remove(0);
    let error = try_rewind(&room, prompt.entry, Rewound::Both).await.unwrap_err();
    assert_eq!(error.to_string(), "a turn is running: stop it, or wait for its end");
    room.coordinator.close().await;
}

#[tokio::test]
async fn an_entry_nobody_knows_is_not_found() {
    let room = counting().await;
    let error = try_rewind(&room, EntryId::new(), Rewound::Both).await.unwrap_err();
    assert!(matches!(error, ClientError::NotFound(_)), "{error}");
    assert_eq!(read(&room, "a.txt").unwrap(), "three\n");
}

#[tokio::test]
async fn what_a_sub_agent_changed_goes_back_with_its_parent() {
    let child = |words: &str| When {
        contains: Some(words.to_owned()),
        lacks: Some("PARENT".to_owned()),
        ..When::default()
    };
    let script = Script::new()
        .call("agent", json!({ "prompt": "write it", "description": "w", "agent": "general" }))
        .then()
        .when(child("write it"))
        .call("write", write("a.txt", "by the child"))
        .then()
        .when(child("created a.txt"))
        .text("Written.")
        .then()
        .text("All done.");
    let room = Room::new(Plan::with_tools(script)).await;
    let events = room.say("PARENT: delegate").await;
    assert_eq!(read(&room, "a.txt").unwrap(), "by the child");
    assert_eq!(checkpoints(&room).await[0].files, ["a.txt"]);
    let child = events.iter().find_map(|event| {
        if let Event::ChildStarted { child, .. } = event { Some(*child) } else { None }
    });
    let row = room.store.session(child.unwrap()).await.unwrap();
    let op = Op::Rewind { session: row.summary.id, entry: row.head.unwrap(), what: Rewound::Files };
    let error = room.coordinator.submit(op).await.unwrap_err();
    assert!(error.to_string().contains(&room.session.to_string()), "{error}");
    rewind(&room, 0, Rewound::Both).await;
    assert_eq!(read(&room, "a.txt"), None);
}

#[tokio::test]
async fn a_link_put_in_the_way_leads_nowhere() {
    let script = Script::new()
        .call("write", write("in/a.txt", "first"))
        .call("write", write("b.txt", "first"))
        .then()
        .text("Done.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.say("go").await;
    let outside = room.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    for name in ["a.txt", "b.txt"] {
        fs::write(outside.join(name), "precious").unwrap();
    }
    fs::remove_dir_all(room.folder.join("in")).unwrap();
    symlink(&outside, room.folder.join("in")).unwrap();
    fs::remove_file(room.folder.join("b.txt")).unwrap();
    symlink(outside.join("b.txt"), room.folder.join("b.txt")).unwrap();
    let told = rewind(&room, 0, Rewound::Both).await;
    assert!(told.contains("Left as they are: b.txt (it is not in the workspace"), "{told}");
    assert!(told.contains("in/a.txt (it is not in the workspace"), "{told}");
    for name in ["a.txt", "b.txt"] {
        assert_eq!(fs::read_to_string(outside.join(name)).unwrap(), "precious");
    }
}

#[tokio::test]
async fn a_huge_file_is_left_and_told() {
    let script = Script::new()
        .call("view", view("huge.txt"))
        .then()
        .call("edit", edit("huge.txt", "needle", "thread"))
        .then()
        .text("Done.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.write("huge.txt", &format!("needle\n{}", "hay\n".repeat(2_500_000)));
    room.say("go").await;
    let told = rewind(&room, 0, Rewound::Both).await;
    assert!(told.contains("huge.txt (it was too large to be kept)"), "{told}");
    assert!(read(&room, "huge.txt").unwrap().starts_with("thread\n"));
}

#[tokio::test]
async fn a_state_whose_change_never_came_brings_back_nothing() {
    let room = counting().await;
    // What a process leaves that is killed between keeping a state and writing the file.
    let path = room.folder.join("b.txt");
    room.write("b.txt", "as it was\n");
    let change = Changing {
        path: path.display().to_string(),
        leaves: None,
        at: base::Clock::system().now(),
    };
    let was = Was::File { content: b"as it was\n".to_vec(), mode: mode(&room, "b.txt") };
    room.store.keep_state(room.session, Moment::Prompt, change, was).await.unwrap();
    let told = rewind(&room, 0, Rewound::Files).await;
    assert!(told.contains("Restored: a.txt."), "{told}");
    assert_eq!(read(&room, "b.txt").unwrap(), "as it was\n");
}

#[tokio::test]
async fn what_the_conversation_no_longer_holds_must_be_viewed_again() {
    let script = Script::new()
        .text("Hello.")
        .then()
        .call("view", view("a.txt"))
        .then()
        .text("I see.")
        .then()
        .call("edit", edit("a.txt", "zero", "one"))
        .then()
        .text("Oh.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.write("a.txt", "zero\n");
    room.say("hi").await;
    room.say("look").await;
    rewind(&room, 0, Rewound::Talk).await;
    room.say("edit it").await;
    assert_eq!(read(&room, "a.txt").unwrap(), "zero\n");
    let transcript = room.transcript().await.join("\n");
    assert!(transcript.contains("has not been read; view it first"), "{transcript}");
}

#[tokio::test]
async fn files_that_went_back_alone_are_not_what_the_model_knows() {
    let script = Script::new()
        .call("view", view("a.txt"))
        .then()
        .call("edit", edit("a.txt", "zero", "one"))
        .then()
        .text("Done.")
        .then()
        .call("edit", edit("a.txt", "zero", "two"))
        .then()
        .text("Oh.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.write("a.txt", "zero\n");
    room.say("to one").await;
    rewind(&room, 0, Rewound::Files).await;
    room.say("to two").await;
    assert_eq!(read(&room, "a.txt").unwrap(), "zero\n");
    let transcript = room.transcript().await.join("\n");
    assert!(transcript.contains("has changed since it was read"), "{transcript}");
}

#[tokio::test]
async fn a_prompt_that_nothing_comes_before_stands_for_the_beginning() {
    let room = counting().await;
    // A branch of an older store, without a prefix before its first prompt.
    let kind = EntryKind::User { parts: vec![base::Part::user_text("root")] };
    let at = base::Clock::system().now();
    let first = base::Entry { id: EntryId::new(), parent: None, at, kind };
    room.store.append(room.session, vec![first.clone()]).await.unwrap();
    try_rewind(&room, first.id, Rewound::Talk).await.unwrap();
    assert_eq!(room.store.branch(room.session).await.unwrap(), []);
    assert!(Path::new(&room.folder).join("a.txt").exists());
}
