//! Servers that hang, die, flood, lie or talk nonsense.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use links::mcp::{Elicited, Errand, McpError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::mcp_room::{Asked, LONG, Room, script, scripted, words};

fn with(mode: &str, extra: &Value) -> Value {
    let mut server = script(mode);
    server.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    json!({ "it": server })
}

fn why(error: &McpError) -> String {
    error.to_string()
}

#[tokio::test]
async fn a_server_that_never_answers_is_reported() {
    let room = Room::new(&with("hangs", &json!({ "timeout": 1 })));
    let said = why(&room.call("echo", json!({})).await.unwrap_err());
    assert_eq!(said, "the MCP server it gave no answer within 1 s (mcp.it.timeout)");
    room.mcp.close().await;
}

#[tokio::test]
async fn a_broken_server_says_so_at_once() {
    let room = scripted("dies");
    assert!(room.call("echo", json!({})).await.is_err());
    let began = Instant::now();
    for _ in 0..3 {
        let said = why(&room.call("echo", json!({})).await.unwrap_err());
        assert!(said.contains("no licence"), "{said}");
    }
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    room.mcp.close().await;
}

#[tokio::test]
async fn a_server_that_dies_at_once_says_its_last_words() {
    let room = scripted("dies");
    let said = why(&room.call("echo", json!({})).await.unwrap_err());
    assert!(said.contains("exit status: 3"), "{said}");
    assert!(said.contains("it said: no licence"), "{said}");
    let state = room.state("broken: it ended").await;
    assert!(state.log.contains(&"no licence".to_owned()), "{state:?}");
    room.mcp.close().await;
}

#[tokio::test]
async fn a_server_that_stops_listening_while_it_is_told_something_says_its_last_words() {
    for mode in ["ends-while-told", "stops-listening"] {
        let room = scripted(mode);
        let said = why(&room.call("echo", json!({})).await.unwrap_err());
        assert!(said.contains("it said: gone fishing"), "{mode}: {said}");
        room.mcp.close().await;
    }
}

#[tokio::test]
async fn a_server_that_lives_on_and_does_not_listen_is_broken() {
    let room = scripted("deaf");
    room.menu(|_| true).await;
    let said = why(&room.call("echo", json!({})).await.unwrap_err());
    assert!(said.contains("it closed its input; it said: gone fishing"), "{said}");
    room.state("broken: it closed its input").await;
    room.mcp.close().await;
}

#[tokio::test]
async fn a_server_that_dies_between_its_lists_says_only_its_last_words() {
    let room = scripted("dies-between-lists");
    room.mcp.wake(&["it".to_owned()]);
    let state = room.state("broken").await;
    assert_eq!(state.state, "broken: it ended (exit status: 7); it said: bye");
    assert!(state.log.iter().all(|line| !line.contains("not known")), "{state:?}");
    room.mcp.close().await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_reported() {
    let room = Room::new(&json!({ "it": { "command": "no-such-program-anywhere" } }));
    let said = why(&room.call("echo", json!({})).await.unwrap_err());
    assert!(said.contains("cannot start `no-such-program-anywhere`"), "{said}");
    room.mcp.close().await;
}

#[tokio::test]
async fn settings_that_cannot_be_filled_in_are_the_servers_state() {
    for (server, expected) in [
        (json!({ "command": "x", "args": ["$(exit 3)"] }), "args in its settings"),
        (json!({ "url": "${NOT_SET_ANYWHERE:?say where}" }), "say where"),
        (json!({ "url": "ftp://example.com" }), "must begin with http"),
        (json!({ "type": "stdio" }), "name no command"),
        (json!({}), "neither a command nor a url"),
        (json!({ "url": "http://localhost:1", "headers": { "a b": "c" } }), "cannot be sent"),
    ] {
        let room = Room::new(&json!({ "it": server }));
        let said = why(&room.call("echo", json!({})).await.unwrap_err());
        assert!(said.contains(expected), "{said}");
        room.mcp.close().await;
    }
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_ends_the_call_and_lives_again() {
    let room = scripted("dies-in-call");
    let said = why(&room.call("echo", json!({})).await.unwrap_err());
    assert!(said.contains("it said: out of cheese"), "{said}");
    // Nobody waits for its pause: it says at once that it is broken, and after it, that it is well.
    let began = Instant::now();
    loop {
        let said = why(&room.call("echo", json!({})).await.unwrap_err());
        assert!(said.contains("it ended"), "{said}");
        assert!(began.elapsed() < LONG);
        room.state("broken").await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        // Each of its lives ends with its first call.
        if room.mcp.states()[0].log.iter().filter(|line| line.contains("cheese")).count() > 1 {
            break;
        }
    }
    room.mcp.close().await;
}

#[tokio::test]
async fn floods_of_garbage_end_the_server_and_not_us() {
    for mode in ["floods", "floods-one-line"] {
        let room = Room::new(&with(mode, &json!({ "timeout": 20 })));
        let said = why(&room.call("echo", json!({})).await.unwrap_err());
        assert!(said.contains("does not work") || said.contains("no answer"), "{said}");
        let state = &room.mcp.states()[0];
        assert!(state.log.iter().all(|line| line.len() <= 500), "lines are cut");
        room.mcp.close().await;
        assert!(room.mcp.processes().is_empty());
    }
}

#[tokio::test]
async fn what_is_printed_beside_messages_is_kept_for_the_log() {
    let room = scripted("chatty");
    assert_eq!(room.says("echo", json!({ "a": 1 })).await, r#"{"a": 1}"#);
    let log = room.state("ready").await.log;
    assert!(log.contains(&"Welcome to the chatty server!".to_owned()), "{log:?}");
    room.mcp.close().await;
}

#[tokio::test]
async fn an_answer_of_100_mb_is_refused_and_the_next_one_is_taken() {
    let room = scripted("plain");
    let said = why(&room.call("huge", json!({ "megabytes": 100 })).await.unwrap_err());
    assert!(said.contains("its answer is longer than 16 MB"), "{said}");
    let answer = room.call("huge", json!({ "megabytes": 10 })).await.unwrap();
    assert_eq!(words(&answer).len(), 10 << 20);
    room.mcp.close().await;
}

#[tokio::test]
async fn answers_that_cannot_be_read_fail_only_whoever_asked() {
    let room = Room::new(&with("plain", &json!({ "timeout": 5 })));
    assert_eq!(room.says("echo", json!({})).await, "{}");
    let said = why(&room.call("shapeless", json!({})).await.unwrap_err());
    assert!(said.contains("its answer cannot be read"), "{said}");
    let said = why(&room.call("broken", json!({})).await.unwrap_err());
    assert!(said.contains("no answer within 5 s"), "{said}");
    assert_eq!(room.says("echo", json!({ "still": "there" })).await, r#"{"still": "there"}"#);
    room.mcp.close().await;
}

#[tokio::test]
async fn lists_have_an_end() {
    for mode in ["many", "endless"] {
        let room = scripted(mode);
        let menu = room.menu(|_| true).await;
        assert_eq!(menu.tools.len(), 2_000, "{mode}");
        assert!(menu.tools.iter().all(|tool| tool.description.len() <= 2_048));
        room.mcp.close().await;
    }
}

#[tokio::test]
async fn odd_tools_are_left_out_and_spoil_no_other() {
    let room = scripted("odd");
    let menu = room.menu(|_| true).await;
    let names: Vec<&str> = menu.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["echo", "mit Leerzeichen/und:mehr", "ünïcödé", "deep", "fat"]);
    assert_eq!(menu.tools[0].description, "does echo");
    assert_eq!(menu.tools[4].schema, json!({ "type": "object" }));
    room.mcp.close().await;
}

#[tokio::test]
async fn older_servers_that_fear_strangers_are_met_in_their_own_way() {
    for mode in ["ends-at-strangers", "ignores-strangers"] {
        let room = Room::new(&with(mode, &json!({ "timeout": 20 })));
        assert_eq!(room.says("echo", json!({})).await, "{}", "{mode}");
        let menu = room.menu(|_| true).await;
        assert_eq!(menu.tools.len(), 1);
        // The next process does not frighten it again.
        room.mcp.close().await;
        let room = room.again(&with(mode, &json!({ "timeout": 20 })));
        assert_eq!(room.says("echo", json!({})).await, "{}", "{mode}");
        assert!(room.mcp.states()[0].log.iter().all(|line| !line.contains("expected initialize")));
        room.mcp.close().await;
    }
}

#[tokio::test]
async fn a_question_after_the_call_has_ended_is_declined() {
    let room = scripted("plain");
    let asked = Arc::new(Asked::default());
    room.borrow("ask-later", json!({}), asked.clone()).await.unwrap();
    let mut said = String::new();
    for _ in 0..600 {
        said = room.says("recall", json!({ "what": "answers" })).await;
        if said != "[]" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(said, r#"[{"action": "decline"}]"#);
    assert!(asked.forms.lock().unwrap().is_empty());
    room.mcp.close().await;
}

#[tokio::test]
async fn a_crowd_of_questions_is_bounded() {
    let room = scripted("plain");
    let thinks = Duration::from_secs(5);
    let asked = Arc::new(Asked { thinks, ..Asked::default() });
    let answer = room.borrow("crowd", json!({ "count": 40 }), asked.clone()).await.unwrap();
    let actions: Vec<String> = serde_json::from_str(&words(&answer)).unwrap();
    let count = |wanted: &str| actions.iter().filter(|action| *action == wanted).count();
    assert_eq!(count("accept") + count("decline"), 40);
    assert!(count("decline") > 0);
    assert!(asked.most.load(Ordering::SeqCst) <= 8);
    room.mcp.close().await;
}

#[tokio::test]
async fn questions_reach_whoever_asked_and_their_refusals_reach_the_server() {
    let room = scripted("plain");
    let form = |schema: Value| json!({ "method": "elicitation/create", "params": { "message": "m", "requestedSchema": schema } });
    for (refuses, expected) in [
        (Some(Elicited::Declined), r#"{"action": "decline"}"#),
        (Some(Elicited::Cancelled), r#"{"action": "cancel"}"#),
        (None, r#"{"action": "accept", "content": {"odd": "words"}}"#),
    ] {
        let asked = Arc::new(Asked { refuses, ..Asked::default() });
        // The kind of the field is none that anybody knows.
        let schema = json!({ "type": "object", "properties": { "odd": { "type": "riddle" } } });
        let answer = room.borrow("ask", form(schema), asked.clone()).await.unwrap();
        assert_eq!(words(&answer), expected);
        assert_eq!(asked.forms.lock().unwrap().len(), 1);
    }
    let page = json!({ "method": "elicitation/create", "params": {
        "mode": "url", "message": "m", "url": "file:///etc/passwd", "elicitationId": "1",
    }});
    assert_eq!(room.says("ask", page).await, r#"{"action": "decline"}"#);
    let stranger = json!({ "method": "no/such/thing", "params": {} });
    assert!(room.says("ask", stranger).await.contains("-32601"));
    room.mcp.close().await;
}

#[tokio::test]
async fn progress_keeps_a_slow_call_alive_and_silence_ends_it() {
    let room = Room::new(&with("plain", &json!({ "timeout": 8 })));
    let asked = Arc::new(Asked::default());
    let slow = json!({ "steps": 4, "pause": 3 });
    let answer = room.borrow("slow", slow, asked.clone()).await.unwrap();
    assert_eq!(words(&answer), "slept");
    assert_eq!(asked.progress.lock().unwrap().len(), 4);
    let silent = json!({ "steps": 1, "pause": 300 });
    let said = why(&room.call("slow", silent).await.unwrap_err());
    assert_eq!(said, "the MCP server it gave no answer within 8 s (mcp.it.timeout)");
    cancelled(&room, 1).await;
    room.mcp.close().await;
}

#[tokio::test]
async fn the_clock_stands_still_while_somebody_thinks() {
    let room = Room::new(&with("plain", &json!({ "timeout": 6 })));
    let asked = Arc::new(Asked { thinks: Duration::from_secs(9), ..Asked::default() });
    let form = json!({ "method": "elicitation/create", "params": { "message": "m", "requestedSchema": {} } });
    let answer = room.borrow("ask", form, asked).await.unwrap();
    assert!(words(&answer).contains("accept"));
    room.mcp.close().await;
}

#[tokio::test]
async fn a_call_is_taken_back_by_its_token_and_by_dropping_it() {
    let room = scripted("plain");
    room.says("echo", json!({})).await;
    let errand = |cancel: &CancellationToken| Errand {
        server: "it",
        tool: "never",
        arguments: serde_json::Map::new(),
        borrower: Arc::new(Asked::default()),
        cancel: cancel.clone(),
    };
    let cancel = CancellationToken::new();
    let calling = room.mcp.call(errand(&cancel));
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(calling, cancelling);
    assert_eq!(answer, Err(McpError::Cancelled));
    let calling = room.mcp.call(errand(&CancellationToken::new()));
    assert!(tokio::time::timeout(Duration::from_millis(200), calling).await.is_err());
    cancelled(&room, 2).await;
    room.mcp.close().await;
}

/// Waits until the server has heard that so many calls were taken back.
async fn cancelled(room: &Room, count: usize) {
    for _ in 0..600 {
        let cancelled = room.says("recall", json!({ "what": "cancelled" })).await;
        if serde_json::from_str::<Vec<Value>>(&cancelled).unwrap().len() == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the server never heard of it");
}

#[tokio::test]
async fn errors_of_a_tool_and_refusals_of_a_server_are_told_apart() {
    let room = scripted("plain");
    let answer = room.call("fail", json!({})).await.unwrap();
    assert!(answer.failed);
    assert_eq!(words(&answer), "it went wrong");
    let refused = room.call("refuse", json!({})).await.unwrap_err();
    assert_eq!(why(&refused), "the MCP server it refused: no such thing");
    let unknown = room.mcp.read("nobody", "x", Arc::new(Asked::default())).await.unwrap_err();
    assert_eq!(why(&unknown), "there is no MCP server nobody");
    room.mcp.close().await;
}
