//! `recall`: what was shortened or taken out comes back.

use base::transcript::{Call, CallInput, CallResult, File, FileSource, Outcome, Part, Piece};
use base::{
    CallId, Entry, EntryId, EntryKind, ModelRef, Origin, PartBody, StopReason, Timestamp, Usage,
};
use serde_json::json;

use crate::room::Room;

async fn append(room: &Room, kind: EntryKind) -> EntryId {
    let (store, session) = (&room.workspace.store, room.workspace.session);
    let parent = store.session(session).await.unwrap().head;
    let entry = Entry { id: EntryId::new(), parent, at: Timestamp::default(), kind };
    let id = entry.id;
    store.append(session, vec![entry]).await.unwrap();
    id
}

/// A call and its result, then a pruning and a compaction of both.
async fn told(room: &Room, id: &str, pieces: Vec<Piece>, origin: Origin) -> EntryId {
    let said = append(room, EntryKind::User { parts: vec![Part::user_text("Read the log")] }).await;
    let (call, name) = (CallId::new(id), "bash".to_owned());
    let asked = Call { id: call.clone(), name: name.clone(), input: CallInput::default() };
    let kind = EntryKind::Assistant {
        parts: vec![Part::new(PartBody::Call(asked), Origin::Assistant)],
        model: ModelRef::new("p", "m"),
        stop: StopReason::ToolCalls,
        usage: Usage::default(),
    };
    append(room, kind).await;
    let result =
        CallResult { call: call.clone(), name, outcome: Outcome::Done, pieces, shown: None };
    let parts = vec![Part::new(PartBody::Result(result), origin)];
    append(room, EntryKind::ToolResults { parts }).await;
    append(room, EntryKind::Pruned { calls: vec![call] }).await;
    append(room, EntryKind::Compaction { summary: "sum".to_owned(), keep_from: None }).await;
    said
}

fn text(text: impl Into<String>) -> Piece {
    Piece::Text { text: text.into() }
}

#[tokio::test]
async fn gives_a_long_result_page_by_page() {
    let room = Room::new().await;
    let lines: Vec<String> = (0..9_000).map(|line| format!("zeile {line} ä\n")).collect();
    let log = lines.concat();
    told(&room, "toolu_1", vec![text(&log)], Origin::Shell).await;
    let (mut whole, mut offset) = (String::new(), 0);
    loop {
        let input = json!({ "id": "toolu_1", "offset": offset });
        let output = room.call("recall", input).await.unwrap();
        assert_eq!(output.origin, Origin::Shell);
        assert!(output.text.len() < 21_000);
        let Some((page, note)) = output.text.rsplit_once("\n[bytes ") else {
            whole.push_str(&output.text);
            break;
        };
        whole.push_str(page);
        offset = note.split(' ').nth(2).unwrap().parse().unwrap();
    }
    assert_eq!(whole, log);
    let past = room.call("recall", json!({ "id": "toolu_1", "offset": log.len() })).await;
    assert!(past.unwrap_err().to_string().contains("smaller offset"));
}

#[tokio::test]
async fn lists_what_there_is_and_gives_each_entry_by_its_last_digits() {
    let room = Room::new().await;
    let said = told(&room, "c", vec![text("out")], Origin::Workspace).await.to_string();
    let list = room.call("recall", json!({})).await.unwrap().text;
    let lines: Vec<&str> = list.lines().map(|line| &line[9..]).collect();
    assert_eq!(lines, ["user: Read the log", "assistant: calls bash {}", "results: out"]);
    let digits = &said[said.len() - 8..];
    assert!(list.starts_with(digits), "{list}");
    let entry = room.call("recall", json!({ "id": digits.to_uppercase() })).await.unwrap();
    assert_eq!((entry.text.as_str(), entry.origin), ("Read the log", Origin::System));
}

#[tokio::test]
async fn keeps_taint_and_pictures() {
    let room = Room::new().await;
    let source = FileSource::Base64("aGk=".to_owned());
    let file = File { media_type: "image/png".to_owned(), name: None, source };
    let pieces = vec![text("page"), Piece::File(file.clone())];
    told(&room, "c", pieces, Origin::Web).await;
    let output = room.call("recall", json!({ "id": "c" })).await.unwrap();
    assert_eq!((output.files, output.origin), (vec![file], Origin::Web));
    assert_eq!(room.call("recall", json!({})).await.unwrap().origin, Origin::Web);
}

#[tokio::test]
async fn says_what_to_do_about_an_id_that_is_none() {
    let room = Room::new().await;
    told(&room, "c", vec![text("out")], Origin::Shell).await;
    let unknown = room.call("recall", json!({ "id": "nope" })).await.unwrap_err().to_string();
    assert_eq!(unknown, r#"nothing has the id "nope"; call recall without an id for a list"#);
    let short = room.call("recall", json!({ "id": "" })).await.unwrap();
    assert!(short.text.contains("user: Read the log"), "an empty id is none");
}
