//! Tools that servers run as tasks, in the way of either revision.

use std::sync::Arc;
use std::time::Duration;

use links::mcp::{Elicited, Errand, McpError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::mcp_room::{Asked, Room, scripted, words};

/// A server that runs `work` as a task.
async fn working(mode: &str) -> Room {
    let room = scripted(mode);
    room.menu(|_| true).await;
    room
}

fn does(what: &str) -> Value {
    json!({ "does": what })
}

async fn recalled(room: &Room, what: &str) -> Value {
    serde_json::from_str(&room.says("recall", json!({ "what": what })).await).unwrap()
}

/// Waits until the server has heard that its task was taken back.
async fn taken_back(room: &Room, task: &str) {
    for _ in 0..600 {
        if recalled(room, "taken_back").await == json!([task]) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the server never heard of it");
}

#[tokio::test]
async fn a_task_is_waited_for_like_any_call() {
    for (mode, said) in [("tasks", &["reading", "writing"][..]), ("modern", &["at work"])] {
        let room = working(mode).await;
        let asked = Arc::new(Asked::default());
        let answer = room.borrow("work", does("works"), asked.clone()).await.unwrap();
        assert_eq!(words(&answer), "worked", "{mode}");
        assert_eq!(asked.said(), said, "{mode}: each word once");
        assert_eq!(recalled(&room, "taken_back").await, json!([]), "{mode}");
        room.mcp.close().await;
    }
}

#[tokio::test]
async fn a_task_that_needs_to_know_more_asks_whoever_called() {
    for (mode, told) in [
        ("tasks", r#"{"action": "accept", "content": {"name": "words"}}"#),
        ("modern", r#"{"who": {"action": "accept", "content": {"name": "words"}}}"#),
    ] {
        let room = working(mode).await;
        let asked = Arc::new(Asked::default());
        // Somebody who called later is not asked.
        let other = Arc::new(Asked { refuses: Some(Elicited::Declined), ..Asked::default() });
        let beside = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            room.borrow("work", does("works"), other.clone()).await.unwrap();
        };
        let asking = room.borrow("work", does("asks"), asked.clone());
        let answer = tokio::join!(asking, beside).0.unwrap();
        assert_eq!(words(&answer), told, "{mode}");
        assert_eq!(asked.forms.lock().unwrap().len(), 1, "{mode}");
        assert!(other.forms.lock().unwrap().is_empty(), "{mode}");
        room.mcp.close().await;
    }
}

#[tokio::test]
async fn a_task_that_fails_is_a_refusal() {
    for mode in ["tasks", "modern"] {
        let room = working(mode).await;
        let refused = room.call("work", does("fails")).await.unwrap_err();
        assert_eq!(refused.to_string(), "the MCP server it refused: no paper", "{mode}");
        room.mcp.close().await;
    }
    let room = working("tasks").await;
    let refused = room.call("work", does("gives-up")).await.unwrap_err().to_string();
    assert_eq!(refused, "the MCP server it refused: it has taken the task back: no time");
    room.mcp.close().await;
}

#[tokio::test]
async fn a_task_nobody_waits_for_is_taken_back() {
    for (mode, what) in [("tasks", "never"), ("tasks", "late"), ("modern", "never")] {
        let room = working(mode).await;
        let cancel = CancellationToken::new();
        let calling = room.mcp.call(Errand {
            server: "it",
            tool: "work",
            arguments: does(what).as_object().unwrap().clone(),
            borrower: Arc::new(Asked::default()),
            cancel: cancel.clone(),
        });
        let cancelling = async {
            // One is taken back before the server has said which task it is.
            let sign = if what == "late" { "begun" } else { "polls" };
            while recalled(&room, sign).await.as_u64() < Some(1) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            cancel.cancel();
        };
        assert_eq!(tokio::join!(calling, cancelling).0, Err(McpError::Cancelled));
        taken_back(&room, "task-0").await;
        room.mcp.close().await;
    }
}

#[tokio::test]
async fn a_server_is_asked_no_more_often_than_it_wants_and_may_speak_up() {
    let room = working("tasks").await;
    // It wants to be asked once a minute.
    assert_eq!(room.says("work", does("tells")).await, "told");
    assert!(recalled(&room, "polls").await.as_u64() <= Some(2));
    room.mcp.close().await;
}

#[tokio::test]
async fn a_tool_that_may_be_a_task_is_called_as_it_is() {
    let room = working("tasks").await;
    assert_eq!(room.says("echo", json!({ "a": 1 })).await, r#"{"a": 1}"#);
    assert_eq!(recalled(&room, "polls").await, json!(0));
    room.mcp.close().await;
}
