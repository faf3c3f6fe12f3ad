//! Events in, updates out.

use base::block::Todo;
use base::transcript::CallInput;
use base::{Entry, ModelRef, StopReason, Timestamp, Usage};
use serde_json::json;

use super::*;

struct Room {
    session: SessionId,
    teller: Teller,
}

impl Room {
    fn new() -> Self {
        let session = SessionId::new();
        Self { session, teller: Teller::new(session, Path::new("/work"), Notices::Said) }
    }

    fn take(&mut self, event: &Event) -> Value {
        serde_json::to_value(self.teller.take(event, None)).unwrap()
    }

    fn take_of(&mut self, agent: &str, event: &Event) -> Value {
        serde_json::to_value(self.teller.take(event, Some(agent))).unwrap()
    }

    fn started(&self, call: &str, title: &str) -> Event {
        let (session, call) = (self.session, CallId::new(call));
        Event::ToolStarted { session, call, title: title.to_owned() }
    }

    fn done(&self, call: &str, body: Block) -> Event {
        let (session, call) = (self.session, CallId::new(call));
        let title = "done".to_owned();
        Event::ToolDone { session, call, outcome: Outcome::Done, title, body: Some(body) }
    }

    fn answer(&self, parts: Vec<Part>) -> Event {
        let kind = EntryKind::Assistant {
            parts,
            model: ModelRef::new("lab", "m"),
            stop: StopReason::ToolCalls,
            usage: Usage::default(),
        };
        let entry = Entry { id: EntryId::new(), parent: None, at: Timestamp::default(), kind };
        Event::Appended { session: self.session, entry }
    }
}

fn call(id: &str, name: &str, input: &Value) -> Part {
    let input = CallInput::sound(input.as_object().unwrap().clone());
    let call = Call { id: CallId::new(id), name: name.to_owned(), input };
    Part::new(PartBody::Call(call), base::Origin::Assistant)
}

#[test]
fn words_and_thoughts_are_chunks_of_their_message() {
    let mut room = Room::new();
    let (session, entry) = (room.session, EntryId::new());
    let said = Event::Text { session, entry, delta: "Hi".into() };
    assert_eq!(
        room.take(&said),
        json!([{
            "sessionUpdate": "agent_message_chunk",
            "content": { "type": "text", "text": "Hi" },
            "messageId": entry.to_string(),
        }])
    );
    let thought = Event::Reasoning { session, entry, delta: "Hm".into() };
    assert_eq!(room.take(&thought)[0]["sessionUpdate"], "agent_thought_chunk");
}

#[test]
fn a_call_is_told_with_its_kind_its_arguments_and_its_place() {
    let mut room = Room::new();
    let input = json!({ "file_path": "a.rs", "offset": 5 });
    let told = room.take(&room.answer(vec![call("c1", "view", &input)]));
    assert_eq!(
        told,
        json!([{
            "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "view", "name": "view",
            "kind": "read", "rawInput": input, "locations": [{ "path": "/work/a.rs", "line": 5 }],
        }])
    );
    let told = room.take(&room.started("c1", "a.rs from 5"));
    assert_eq!(
        told,
        json!([{ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "title": "a.rs from 5",
            "status": "in_progress" }])
    );
    let told = room.take(&room.done("c1", Block::Text { text: "5\tx".into() }));
    assert_eq!(told[0]["status"], "completed");
    assert_eq!(told[0]["content"][0]["content"]["text"], "```\n5\tx\n```");
}

#[test]
fn a_call_that_ran_while_the_model_talked_learns_its_arguments_later() {
    let mut room = Room::new();
    let told = room.take(&room.started("c1", "a.rs"));
    assert_eq!(
        told,
        json!([{ "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "a.rs",
            "status": "in_progress" }])
    );
    room.take(&room.done("c1", Block::Text { text: "x".into() }));
    let told = room.take(&room.answer(vec![call("c1", "grep", &json!({ "path": "src" }))]));
    assert_eq!(told[0]["sessionUpdate"], "tool_call_update");
    assert_eq!((&told[0]["kind"], &told[0]["name"]), (&json!("search"), &json!("grep")));
    assert_eq!(told[0]["locations"], json!([{ "path": "/work/src" }]));
    assert_eq!(told[0].get("status"), None);
}

#[test]
fn a_change_is_shown_as_one_with_its_lines() {
    let mut room = Room::new();
    room.take(&room.answer(vec![call("c1", "edit", &json!({ "file_path": "a.rs" }))]));
    let unified = "@@ -7 +7 @@\n-a\n+b\n".to_owned();
    let told = room.take(&room.done("c1", Block::Diff { path: "a.rs".into(), unified }));
    assert_eq!(
        told[0]["content"],
        json!([{ "type": "diff", "path": "/work/a.rs", "oldText": "a\n", "newText": "b\n" }])
    );
    assert_eq!(told[0]["locations"], json!([{ "path": "/work/a.rs", "line": 7 }]));
}

#[test]
fn things_to_do_are_a_plan() {
    let mut room = Room::new();
    room.take(&room.answer(vec![call("c1", "todos", &json!({}))]));
    let todo = |text: &str, state| Todo { text: text.to_owned(), state };
    let items = vec![todo("a", TodoState::Completed), todo("b", TodoState::InProgress)];
    let told = room.take(&room.done("c1", Block::Todos { items }));
    assert_eq!(
        told[0],
        json!({ "sessionUpdate": "plan", "entries": [
            { "content": "a", "priority": "medium", "status": "completed" },
            { "content": "b", "priority": "medium", "status": "in_progress" },
        ] })
    );
    assert_eq!(told[1]["status"], "completed");
}

#[test]
fn of_a_sub_agent_only_changes_and_questions_are_told_by_its_name() {
    let mut room = Room::new();
    let child = SessionId::new();
    let call_id = CallId::new("c1");
    let of_child = |body| Event::ToolDone {
        session: child,
        call: CallId::new("c2"),
        outcome: Outcome::Done,
        title: "a.rs +1 −1".into(),
        body: Some(body),
    };
    let text = Event::Text { session: child, entry: EntryId::new(), delta: "x".into() };
    assert_eq!(room.take_of("scout", &text), json!([]));
    assert_eq!(room.take_of("scout", &of_child(Block::Text { text: "x".into() })), json!([]));
    let diff = Block::Diff { path: "a.rs".into(), unified: "@@ -1 +1 @@\n-a\n+b\n".into() };
    let told = room.take_of("scout", &of_child(diff));
    assert_eq!(told[0]["toolCallId"], format!("{child}/c2"));
    assert_eq!(told[0]["title"], "scout: a.rs +1 −1");
    assert_eq!(told[1]["content"][0]["type"], "diff");

    let (first, asked) = room.teller.asked((child, &call_id), "rm x", None, Some("scout"));
    assert!(matches!(first, Some(SessionUpdate::ToolCall(_))));
    assert_eq!(asked.tool_call_id.to_string(), format!("{child}/c1"));
    assert_eq!(asked.fields.title.as_deref(), Some("scout: rm x"));
    let (again, _) = room.teller.asked((child, &call_id), "rm x", None, Some("scout"));
    assert_eq!(again, None);
}

#[test]
fn what_was_not_streamed_is_told_whole_and_what_was_is_not_told_twice() {
    let mut room = Room::new();
    let answer = room.answer(vec![Part::assistant_text("All at once")]);
    assert_eq!(room.take(&answer)[0]["content"]["text"], "All at once");
    let Event::Appended { session, entry } = &answer else { unreachable!() };
    let mut room = Room::new();
    room.take(&Event::Text { session: *session, entry: entry.id, delta: "All at".into() });
    assert_eq!(room.take(&answer), json!([]));
}

#[test]
fn a_notice_has_a_place_of_its_own_where_the_editor_has_one() {
    let notice = Event::Notice { session: None, text: "Room was made\nby a summary".into() };
    let mut room = Room::new();
    assert_eq!(room.take(&notice)[0]["content"]["text"], "Room was made\nby a summary\n\n");
    room.teller.notices = Notices::Apart;
    assert_eq!(
        room.take(&notice),
        json!([{ "sessionUpdate": "notice", "severity": "info", "title": "Room was made",
            "description": "by a summary" }])
    );
}

#[test]
fn a_new_mode_and_a_new_title_are_told() {
    let mut room = Room::new();
    let changed = Event::SessionChanged {
        session: room.session,
        title: Some("Parser".into()),
        model: None,
        effort: None,
        mode: Some(base::protocol::Mode::Plan),
    };
    assert_eq!(
        room.take(&changed),
        json!([
            { "sessionUpdate": "session_info_update", "title": "Parser" },
            { "sessionUpdate": "current_mode_update", "currentModeId": "plan" },
        ])
    );
}
