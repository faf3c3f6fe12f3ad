//! The reference server that has everything, over each transport.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use base::transcript::FileSource;
use links::mcp::{Content, Elicitation, Errand, Kind, McpError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use testkit::parts::installed;

use crate::mcp_room::{Asked, Listening, Room, words};

fn over_pipes() -> Option<Room> {
    let program = installed("node_modules/.bin/mcp-server-everything")?;
    Some(Room::new(&json!({ "it": { "command": program, "timeout": 60 } })))
}

#[tokio::test]
async fn everything_over_pipes() {
    let Some(room) = over_pipes() else { return };
    everything(&room).await;
    room.mcp.close().await;
}

#[tokio::test]
async fn everything_over_streamable_http() {
    let Some(server) = Listening::everything("streamableHttp").await else { return };
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let room = Room::new(&json!({ "it": { "url": url, "timeout": 60 } }));
    everything(&room).await;
    room.mcp.close().await;
    server.scope.close().await;
}

#[tokio::test]
async fn everything_over_events() {
    let Some(server) = Listening::everything("sse").await else { return };
    let url = format!("http://127.0.0.1:{}/sse", server.port);
    let room = Room::new(&json!({ "it": { "type": "sse", "url": url, "timeout": 60 } }));
    everything(&room).await;
    room.mcp.close().await;
    server.scope.close().await;
}

/// All that the server lends, once.
async fn everything(room: &Room) {
    let menu = room.menu(|menu| menu.tools.len() > 15).await;
    let mut left: BTreeSet<&str> = menu.tools.iter().map(|tool| tool.name.as_str()).collect();
    let plain = [
        ("echo", json!({ "message": "hello" }), "Echo: hello"),
        ("get-sum", json!({ "a": 2, "b": 40 }), "42"),
        ("get-env", json!({}), "PATH"),
        ("get-annotated-message", json!({ "messageType": "error" }), "Error"),
        ("get-structured-content", json!({ "location": "New York" }), "temperature"),
        ("toggle-simulated-logging", json!({}), "logging"),
        ("toggle-subscriber-updates", json!({}), "updates"),
        ("get-roots-list", json!({}), "file://"),
    ];
    for (tool, arguments, expected) in plain {
        let said = room.says(tool, arguments).await;
        assert!(said.contains(expected), "{tool}: {said}");
        assert!(left.remove(tool), "{tool} is not on the menu");
    }
    let answer = room.call("get-structured-content", json!({ "location": "Chicago" })).await;
    assert!(answer.unwrap().structured.unwrap()["temperature"].is_number());
    pieces(room, &mut left).await;
    questions(room, &mut left).await;
    slow(room, &mut left).await;
    prompts_and_resources(room).await;
    tasks(room, &mut left).await;
    assert_eq!(left, BTreeSet::new(), "tools nobody has called");
}

async fn pieces(room: &Room, left: &mut BTreeSet<&str>) {
    let image = room.call("get-tiny-image", json!({})).await.unwrap();
    let picture = image.content.iter().find_map(|content| match content {
        Content::Picture(file) => Some(file),
        Content::Text(_)
        | Content::Sound(_)
        | Content::Link { .. }
        | Content::Resource { .. }
        | Content::Blob { .. } => None,
    });
    let picture = picture.unwrap();
    assert_eq!(picture.media_type, "image/png");
    assert!(matches!(&picture.source, FileSource::Base64(data) if data.starts_with("iVBOR")));
    let links = room.call("get-resource-links", json!({ "count": 3 })).await.unwrap();
    let is_link = |content: &&Content| matches!(content, Content::Link { .. });
    assert_eq!(links.content.iter().filter(is_link).count(), 3);
    let arguments = json!({ "resourceType": "Text", "resourceId": 1 });
    let reference = room.call("get-resource-reference", arguments).await.unwrap();
    let has_text = |content: &Content| matches!(content, Content::Resource { .. });
    assert!(reference.content.iter().any(has_text), "{reference:?}");
    let zip = json!({ "name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource" });
    let zipped = room.call("gzip-file-as-resource", zip).await.unwrap();
    let has_bytes = |content: &Content| matches!(content, Content::Blob { .. });
    assert!(zipped.content.iter().any(has_bytes), "{zipped:?}");
    for tool in
        ["get-tiny-image", "get-resource-links", "get-resource-reference", "gzip-file-as-resource"]
    {
        assert!(left.remove(tool), "{tool}");
    }
}

async fn questions(room: &Room, left: &mut BTreeSet<&str>) {
    let asked = Arc::new(Asked::default());
    let form = room.borrow("trigger-elicitation-request", json!({}), asked.clone()).await.unwrap();
    assert!(words(&form).contains("provided the requested information"), "{form:?}");
    let kinds = {
        let forms = asked.forms.lock().unwrap();
        let Elicitation::Form { fields, .. } = &forms[0] else { panic!("{forms:?}") };
        fields.iter().map(|field| field.kind.clone()).collect::<Vec<Kind>>()
    };
    let is_some_of = |kind: &Kind| matches!(kind, Kind::SomeOf(choices) if choices.len() > 1);
    assert!(kinds.iter().any(is_some_of), "{kinds:?}");
    let titled = |kind: &Kind| match kind {
        Kind::OneOf(choices) => choices.iter().any(|choice| choice.title != choice.value),
        Kind::Text { .. } | Kind::Number { .. } | Kind::Switch | Kind::SomeOf(_) => false,
    };
    assert!(kinds.iter().any(titled), "{kinds:?}");
    let page = json!({ "url": "https://example.com/sign-in" });
    let visited = room.borrow("trigger-url-elicitation", page, asked.clone()).await.unwrap();
    assert!(!visited.failed, "{visited:?}");
    assert!(matches!(asked.forms.lock().unwrap().last(), Some(Elicitation::Page { .. })));
    let first =
        json!({ "url": "https://example.com/first", "errorPath": true, "elicitationId": "1" });
    let pages = asked.forms.lock().unwrap().len();
    let visited = room.borrow("trigger-url-elicitation", first, asked.clone()).await.unwrap();
    assert!(!visited.failed, "{visited:?}");
    assert!(asked.forms.lock().unwrap().len() > pages, "a page is visited before the answer");
    let prompt = json!({ "prompt": "say something", "maxTokens": 20 });
    let sampled = room.borrow("trigger-sampling-request", prompt, asked.clone()).await.unwrap();
    assert!(words(&sampled).contains("a model's words"), "{sampled:?}");
    assert_eq!(asked.samples.lock().unwrap()[0].max_tokens, 20);
    for tool in
        ["trigger-elicitation-request", "trigger-url-elicitation", "trigger-sampling-request"]
    {
        assert!(left.remove(tool), "{tool}");
    }
}

async fn slow(room: &Room, left: &mut BTreeSet<&str>) {
    let asked = Arc::new(Asked::default());
    let arguments = json!({ "duration": 1, "steps": 4 });
    let tool = "trigger-long-running-operation";
    let done = room.borrow(tool, arguments, asked.clone()).await.unwrap();
    assert!(words(&done).contains("completed"), "{done:?}");
    let total = asked.progress.lock().unwrap().last().map(|progress| progress.total);
    assert_eq!(total, Some(Some(4.0)));
    let cancel = CancellationToken::new();
    let calling = room.mcp.call(Errand {
        server: "it",
        tool,
        arguments: json!({ "duration": 60, "steps": 2 }).as_object().unwrap().clone(),
        borrower: asked,
        cancel: cancel.clone(),
    });
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
    };
    assert_eq!(tokio::join!(calling, cancelling).0, Err(McpError::Cancelled));
    assert_eq!(room.says("echo", json!({ "message": "still here" })).await, "Echo: still here");
    assert!(left.remove(tool));
}

async fn tasks(room: &Room, left: &mut BTreeSet<&str>) {
    let (tool, asked) = ("simulate-research-query", Arc::new(Asked::default()));
    let done = room.borrow(tool, json!({ "topic": "caimans" }), asked.clone()).await.unwrap();
    assert!(words(&done).contains("Research Report: caimans"), "{done:?}");
    let said = asked.said();
    assert!(said.contains(&"Gathering sources...".to_owned()), "{said:?}");
    let unclear = json!({ "topic": "python", "ambiguous": true });
    let done = room.borrow(tool, unclear, asked.clone()).await.unwrap();
    assert!(words(&done).contains("python (programming)"), "{done:?}");
    assert_eq!(asked.forms.lock().unwrap().len(), 1);
    assert!(left.remove(tool));
}

async fn prompts_and_resources(room: &Room) {
    let asked = Arc::new(Asked::default());
    let menu = room.mcp.menu("it").unwrap();
    assert!(menu.instructions.is_some() && menu.has_resources);
    for prompt in &menu.prompts {
        let arguments = prompt.arguments.iter().filter(|argument| argument.required);
        let value = |name: &str| match name {
            "department" => "Engineering",
            "name" => "Alice",
            "resourceType" => "Text",
            _ => "1",
        };
        let arguments: serde_json::Map<String, Value> =
            arguments.map(|it| (it.name.clone(), json!(value(&it.name)))).collect();
        let messages = room.mcp.prompt("it", &prompt.name, arguments, asked.clone()).await;
        assert!(!messages.unwrap_or_else(|error| panic!("{prompt:?}: {error}")).is_empty());
    }
    assert!(menu.prompts.len() >= 4, "{:?}", menu.prompts);
    let (patterns, plain): (Vec<_>, Vec<_>) =
        menu.resources.iter().partition(|resource| resource.is_pattern);
    assert!(!patterns.is_empty() && !plain.is_empty(), "{:?}", menu.resources);
    for resource in plain {
        let contents = room.mcp.read("it", &resource.uri, asked.clone()).await.unwrap();
        assert!(!contents.is_empty(), "{resource:?}");
    }
    let blob = room.mcp.read("it", "demo://resource/dynamic/blob/1", asked.clone()).await.unwrap();
    assert!(matches!(blob[0], Content::Blob { .. }), "{blob:?}");
    let missing = room.mcp.read("it", "demo://resource/nothing", asked).await;
    assert!(matches!(missing, Err(McpError::Refused { .. })), "{missing:?}");
}

#[tokio::test]
async fn an_address_of_the_older_way_is_found_out() {
    let Some(server) = Listening::everything("sse").await else { return };
    let url = format!("http://127.0.0.1:{}/sse", server.port);
    let room = Room::new(&json!({ "it": { "url": url, "timeout": 60 } }));
    assert_eq!(room.says("echo", json!({ "message": "a" })).await, "Echo: a");
    room.mcp.close().await;
    let url = format!("http://127.0.0.1:{}/nothing", server.port);
    let room = Room::new(&json!({ "it": { "url": url, "timeout": 60 } }));
    let error = room.call("echo", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("HTTP 404"), "{error}");
    room.mcp.close().await;
    server.scope.close().await;
}

#[tokio::test]
async fn a_server_far_away_may_end_and_come_back() {
    let Some(server) = Listening::everything("streamableHttp").await else { return };
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let room = Room::new(&json!({ "it": { "url": url, "timeout": 30 } }));
    room.says("echo", json!({ "message": "a" })).await;
    server.scope.close().await;
    let again = Listening::everything_on("streamableHttp", server.port).await.unwrap();
    // It knows nothing of our session, and says so in its own way.
    assert_eq!(room.says("echo", json!({ "message": "b" })).await, "Echo: b");
    let calls = (0..100).map(async |number| {
        let said = room.says("get-sum", json!({ "a": number, "b": 1000 })).await;
        assert!(said.contains(&(number + 1000).to_string()), "{said}");
    });
    futures::future::join_all(calls).await;
    again.scope.close().await;
    let error = room.call("echo", json!({ "message": "b" })).await.unwrap_err();
    assert!(matches!(error, McpError::Broken { .. }), "{error}");
    assert!(!error.to_string().contains("127.0.0.1"), "addresses may hold keys: {error}");
    room.mcp.close().await;
}

#[tokio::test]
async fn nobody_listens() {
    for kind in ["http", "sse"] {
        let url = "http://127.0.0.1:9/mcp?key=secret";
        let room = Room::new(&json!({ "it": { "type": kind, "url": url, "timeout": 30 } }));
        let error = room.call("echo", json!({})).await.unwrap_err().to_string();
        assert!(error.contains("refused") && !error.contains("secret"), "{error}");
        room.mcp.close().await;
    }
}
