//! Hooks that are addresses: real HTTP on loopback.

use serde_json::{Value, json};
use settings::parse_text;
use testkit::Script;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::room::{Plan, Room};

/// An address that answers one request with `status` and `body`, and gives what it was sent.
async fn listen(status: u16, body: &str) -> (String, impl Future<Output = String> + use<>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/hook", listener.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let serving = async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (mut request, mut buffer) = (String::new(), [0; 4096]);
        loop {
            let count = stream.read(&mut buffer).await.unwrap();
            request.push_str(&String::from_utf8_lossy(&buffer[..count]));
            // The event's fields come last of all.
            if count == 0 || request.trim_end().ends_with("}}") || request.ends_with("\"}") {
                break;
            }
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        request
    };
    (address, serving)
}

fn plan(hook: &Value) -> Plan {
    let hooks = json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [hook] }] } });
    let loaded = parse_text("caiman.json", &hooks.to_string());
    assert_eq!(loaded.problems, []);
    let script = Script::new().call("bash", json!({ "command": "touch a" })).then().text("Ok.");
    let env = vec![("HOOK_PASS".to_owned(), "open-sesame".to_owned())];
    Plan { config: loaded.config, env, ..Plan::with_tools(script) }
}

#[tokio::test]
async fn an_address_is_told_and_can_forbid() {
    let deny = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse",
        "permissionDecision": "deny", "permissionDecisionReason": "not today" } });
    let (url, serving) = listen(200, &deny.to_string()).await;
    let headers = json!({ "X-Pass": "Bearer $HOOK_PASS", "X-Other": "[${HOME}]" });
    let hook =
        json!({ "type": "http", "url": url, "headers": headers, "allowedEnvVars": ["HOOK_PASS"] });
    let room = Room::new(plan(&hook)).await;
    let (_, request) = tokio::join!(room.say("go"), serving);
    assert!(!room.folder.join("a").exists());
    assert!(room.transcript().await[2].contains("not today"));
    let request_lower = request.to_ascii_lowercase();
    assert!(request_lower.contains("x-pass: bearer open-sesame"), "{request}");
    assert!(request_lower.contains("x-other: []"), "a variable nobody allowed is sent: {request}");
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let told: Value = serde_json::from_str(body).unwrap();
    assert_eq!(told["tool_input"]["command"], "touch a");
}

#[tokio::test]
async fn an_address_in_trouble_never_blocks() {
    let deny = json!({ "decision": "block", "reason": "no" }).to_string();
    for status in [500, 404, 302] {
        let (url, serving) = listen(status, &deny).await;
        let room = Room::new(plan(&json!({ "type": "http", "url": url }))).await;
        tokio::join!(room.say("go"), serving);
        assert!(room.folder.join("a").exists(), "{status}");
    }
    let gone = json!({ "type": "http", "url": "http://127.0.0.1:1/x", "fail": "closed" });
    let room = Room::new(plan(&gone)).await;
    room.say("go").await;
    assert!(!room.folder.join("a").exists(), "what fails closed does");
}
