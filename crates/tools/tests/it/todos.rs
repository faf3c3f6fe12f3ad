//! `todos`.

use base::block::TodoState;
use base::{Block, Origin};
use serde_json::{Value, json};

use crate::room::Room;

#[tokio::test]
async fn the_list_is_shown_and_counted() {
    let room = Room::new().await;
    let todos = json!([
        { "content": "Read", "status": "completed" },
        { "text": "Write", "state": "in-progress", "active_form": "Writing" },
        { "content": "Test", "status": "pending" },
    ]);
    let double_encoded = Value::String(todos.to_string());
    for todos in [todos, double_encoded] {
        let output = room.call("todos", json!({ "todos": todos })).await.unwrap();
        assert_eq!(output.text, "1 of 3 done; in progress: Writing");
        assert_eq!(output.origin, Origin::System);
        let Some(Block::Todos { items }) = output.body else { panic!("no list") };
        let states: Vec<_> = items.iter().map(|item| item.state).collect();
        assert_eq!(states, [TodoState::Completed, TodoState::InProgress, TodoState::Pending]);
        assert_eq!(items[1].text, "Write");
    }
}

#[tokio::test]
async fn it_says_what_is_next() {
    let room = Room::new().await;
    for (todos, text) in [
        (json!([]), "the list is empty"),
        (json!([{ "content": "a", "status": "done" }]), "1 of 1 done; nothing is left"),
        (json!([{ "content": "a" }, { "content": "b" }]), "0 of 2 done; next: a"),
        (
            json!([{ "content": "a", "status": "active" }, { "content": "b", "status": "doing" }]),
            "0 of 2 done; in progress: a, b. One at a time is clearer",
        ),
    ] {
        assert_eq!(room.call("todos", json!({ "todos": todos })).await.unwrap().text, text);
    }
}

#[tokio::test]
async fn a_bad_status_is_told_and_not_fatal() {
    let room = Room::new().await;
    let todos = json!([{ "content": "a", "status": "cancelled" }]);
    let error = room.call("todos", json!({ "todos": todos })).await.unwrap_err().to_string();
    assert!(error.contains("`cancelled`") && error.contains("in_progress"), "{error}");
    let error = room.call("todos", json!({ "todos": [{ "content": " " }] })).await.unwrap_err();
    assert!(error.to_string().contains("no `content`"), "{error}");
}
