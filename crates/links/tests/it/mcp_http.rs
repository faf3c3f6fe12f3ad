//! HTTP servers that behave badly, one request at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base::TaskScope;
use links::mcp::McpError;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::mcp_room::Room;

/// What a server answers to a message: head and body, and how often the body is repeated.
struct Page {
    head: String,
    body: Vec<u8>,
    times: usize,
}

fn json_page(body: &Value) -> Page {
    let head = "200 OK\r\ncontent-type: application/json".to_owned();
    Page { head, body: body.to_string().into_bytes(), times: 1 }
}

fn status(head: &str, body: &str) -> Page {
    Page { head: head.to_owned(), body: body.as_bytes().to_vec(), times: 1 }
}

/// Answers the first words and lists; the rest is `answer`'s.
fn usual(message: &Value) -> Option<Page> {
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "odd", "version": "1" },
        }),
        "tools/list" => {
            json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })
        }
        "server/discover" => return Some(status("404 Not Found", "<html>what?</html>")),
        method if method.starts_with("notifications/") => {
            return Some(status("202 Accepted", ""));
        }
        _ => return None,
    };
    Some(json_page(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })))
}

/// Serves on a port until the scope closes; gives the port.
async fn serve(
    scope: &TaskScope,
    answer: impl Fn(&str, &Value) -> Page + Send + Sync + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (answer, inner) = (Arc::new(answer), scope.clone());
    scope.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.clone();
            inner.spawn(async move {
                // Whoever has heard enough hangs up.
                one(stream, &*answer).await.ok();
            });
        }
    });
    port
}

async fn one(
    stream: TcpStream,
    answer: &(impl Fn(&str, &Value) -> Page + Send + Sync),
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let message = serde_json::from_slice(&body).unwrap_or_default();
    let page = if let Some(led) = led(&head) {
        led
    } else if head.starts_with("post") {
        usual(&message).unwrap_or_else(|| answer(&head, &message))
    } else if head.contains("last-event-id") {
        answer(&head, &Value::Null)
    } else {
        status("405 Method Not Allowed", "")
    };
    let Page { head, body, times } = page;
    let length = body.len() * times;
    let head = format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    for _ in 0..times {
        stream.write_all(&body).await?;
    }
    stream.flush().await
}

/// Leads a request from some paths to others.
fn led(head: &str) -> Option<Page> {
    let (code, to) = match head.split(' ').nth(1)? {
        "/led/307" => ("307 Temporary Redirect", "/led/308"),
        "/led/308" => ("308 Permanent Redirect", "/mcp/"),
        "/led/302" => ("302 Found", "/mcp/"),
        "/led/away" => ("307 Temporary Redirect", "https://elsewhere.example:444/mcp?key=1"),
        "/led/round" => ("307 Temporary Redirect", "/led/round"),
        _ => return None,
    };
    Some(status(&format!("{code}\r\nlocation: {to}"), ""))
}

async fn room(
    scope: &TaskScope,
    answer: impl Fn(&str, &Value) -> Page + Send + Sync + 'static,
) -> Room {
    room_at("/mcp", scope, answer).await
}

async fn room_at(
    path: &str,
    scope: &TaskScope,
    answer: impl Fn(&str, &Value) -> Page + Send + Sync + 'static,
) -> Room {
    let url = format!("http://127.0.0.1:{}{path}", serve(scope, answer).await);
    let headers = json!({ "X-Key": "$SECRET_OF_TEST", "Accept": "nonsense" });
    Room::new(&json!({ "it": { "url": url, "headers": headers, "timeout": 30 } }))
}

#[tokio::test]
async fn a_command_may_print_headers_and_what_it_prints_is_shown_to_nobody() {
    let scope = TaskScope::new();
    let seen = Arc::new(Mutex::new(String::new()));
    let inner = seen.clone();
    let port = serve(&scope, move |head, message| {
        head.clone_into(&mut inner.lock().unwrap());
        json_page(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": [] } }))
    });
    let url = format!("http://127.0.0.1:{}/mcp", port.await);
    let with = |helper: &str| {
        let headers = json!({ "X-One": "1", "X-Two": "2" });
        Room::new(&json!({ "it": { "url": url, "headers": headers, "headers_helper": helper } }))
    };
    let room = with(r#"echo "{\"X-Two\": \"$CLAUDE_CODE_MCP_SERVER_URL\"}""#);
    room.call("echo", json!({})).await.unwrap();
    room.mcp.close().await;
    let head = seen.lock().unwrap().clone();
    assert!(head.contains("x-one: 1\r\n") && head.contains(&format!("x-two: {url}\r\n")), "{head}");
    let room = with("echo whisper");
    let error = room.call("echo", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("headers_helper") && !error.contains("whisper"), "{error}");
    room.mcp.close().await;
    scope.close().await;
}

#[tokio::test]
async fn an_answer_of_500_mb_over_http_is_refused_before_it_is_read() {
    let scope = TaskScope::new();
    for kind in ["application/json", "text/event-stream"] {
        let room = room(&scope, move |_, _| Page {
            head: format!("200 OK\r\ncontent-type: {kind}"),
            body: vec![b'x'; 1 << 20],
            times: 500,
        })
        .await;
        let began = Instant::now();
        let error = room.call("echo", json!({})).await.unwrap_err();
        assert!(!matches!(error, McpError::Cancelled), "{error}");
        if kind == "application/json" {
            assert!(error.to_string().contains("longer than 16 MB"), "{error}");
        }
        assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
        room.mcp.close().await;
    }
    scope.close().await;
}

#[tokio::test]
async fn errors_reach_whoever_asked_even_when_nobody_says_whose_they_are() {
    let scope = TaskScope::new();
    for (page, expected) in [
        (
            (
                "400 Bad Request\r\ncontent-type: application/json",
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no thanks"}}"#,
            ),
            "refused: no thanks",
        ),
        (("200 OK\r\ncontent-type: application/json", "{}"), "no message"),
        (("200 OK\r\ncontent-type: text/html", "<html>hello</html>"), "does not work"),
        (("500 Internal Server Error", "oops"), "HTTP 500"),
        (("418 I'm a teapot", "short and stout"), "short and stout"),
        (("401 Unauthorized", ""), "wants a sign-in: caiman mcp login it"),
    ] {
        let room = room(&scope, move |_, _| status(page.0, page.1)).await;
        let error = room.call("echo", json!({})).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        room.mcp.close().await;
    }
    scope.close().await;
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_where_it_ended() {
    let scope = TaskScope::new();
    let asked = Arc::new(Mutex::new(Value::Null));
    let room = room(&scope, move |head, message| {
        let events = "200 OK\r\ncontent-type: text/event-stream";
        if message.is_object() {
            *asked.lock().unwrap() = message["id"].clone();
            return status(events, "id: seven\nretry: 50\ndata:\n\n");
        }
        assert!(head.contains("last-event-id: seven"), "{head}");
        let result = json!({ "content": [{ "type": "text", "text": "at last" }] });
        let answer = json!({ "jsonrpc": "2.0", "id": *asked.lock().unwrap(), "result": result });
        status(events, &format!("data: {answer}\n\n"))
    })
    .await;
    assert_eq!(room.says("echo", json!({})).await, "at last");
    room.mcp.close().await;
    scope.close().await;
}

#[tokio::test]
async fn headers_of_the_settings_are_sent_filled_in() {
    let scope = TaskScope::new();
    let room = room(&scope, |head, message| {
        let said = json!({ "content": [{ "type": "text", "text": head }] });
        json_page(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": said }))
    })
    .await;
    let head = room.says("echo", json!({})).await;
    assert!(head.contains("x-key: whisper\r\n"), "{head}");
    assert!(head.contains("accept: application/json, text/event-stream"), "{head}");
    room.mcp.close().await;
    scope.close().await;
}

#[tokio::test]
async fn a_server_leads_messages_on_within_itself_only() {
    let scope = TaskScope::new();
    let answer = |head: &str, message: &Value| {
        let said = json!({ "content": [{ "type": "text", "text": head }] });
        json_page(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": said }))
    };
    let room = room_at("/led/307", &scope, answer).await;
    let head = room.says("echo", json!({})).await;
    assert!(head.starts_with("post /mcp/ http/1.1"), "{head}");
    assert!(head.contains("x-key: whisper\r\n"), "{head}");
    room.mcp.close().await;
    for (path, expected) in [
        ("/led/away", "it leads to https://elsewhere.example:444, which is another server"),
        ("/led/round", "it leads on from each address to another"),
        ("/led/302", "HTTP 302"),
    ] {
        let room = room_at(path, &scope, answer).await;
        let error = room.call("echo", json!({})).await.unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("key=1"), "{error}");
        room.mcp.close().await;
    }
    scope.close().await;
}

#[tokio::test]
async fn a_server_that_wants_a_sign_in_is_not_asked_again_and_again() {
    let scope = TaskScope::new();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://127.0.0.1:{}/mcp", listener.local_addr().unwrap().port());
    scope.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let mut buffer = [0; 4096];
            if stream.read(&mut buffer).await.is_ok() {
                let page = "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                stream.write_all(page.as_bytes()).await.ok();
            }
        }
    });
    let room = Room::new(&json!({ "it": { "url": url, "timeout": 30 } }));
    let error = room.call("echo", json!({})).await.unwrap_err();
    assert_eq!(error, McpError::SignIn("it".to_owned()));
    assert_eq!(room.mcp.states()[0].state, "broken: it wants a sign-in: caiman mcp login it");
    let asked = count.load(Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(count.load(Ordering::SeqCst), asked);
    room.mcp.close().await;
    scope.close().await;
}

#[tokio::test]
async fn an_answer_to_something_else_is_told_at_once() {
    let error = json!({ "code": -32602, "message": "no such thing" });
    for (body, expected) in [
        (json!({ "id": 4711, "result": { "content": [] } }), "its answer is to something else"),
        (json!({ "id": null, "error": error }), "no such thing"),
        (json!({ "method": "notifications/message" }), "no message"),
    ] {
        let scope = TaskScope::new();
        let mut body = body;
        body["jsonrpc"] = json!("2.0");
        let room = room(&scope, move |_, _| json_page(&body)).await;
        let error = room.call("echo", json!({})).await.unwrap_err();
        assert!(matches!(error, McpError::Refused { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        room.mcp.close().await;
        scope.close().await;
    }
}

#[tokio::test]
async fn an_answer_that_is_a_page_is_named_in_plain_words() {
    let scope = TaskScope::new();
    let page = || status("200 OK\r\ncontent-type: text/html", "<html>hello</html>");
    let room = room(&scope, move |_, _| page()).await;
    let error = room.call("echo", json!({})).await.unwrap_err().to_string();
    assert!(error.ends_with("does not work: its answer is text/html and no message"), "{error}");
    room.mcp.close().await;
    scope.close().await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_told_and_the_next_one_is_taken() {
    let (scope, calls) = (TaskScope::new(), AtomicUsize::new(0));
    let room = room(&scope, move |_, message| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => {
            status("200 OK\r\ncontent-type: text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\"")
        }
        _ => json_page(
            &json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": [] } }),
        ),
    });
    let room = room.await;
    let error = room.call("echo", json!({})).await.unwrap_err().to_string();
    assert!(error.ends_with("does not work: its answer broke off"), "{error}");
    assert!(!room.call("echo", json!({})).await.unwrap().failed);
    room.mcp.close().await;
    scope.close().await;
}
