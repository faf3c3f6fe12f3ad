//! The everyday cases, each on four wires: the same script must give the same transcript and the same
//! files, whichever protocol the model speaks.

use serde_json::{Value, json};
use settings::provider::Wire;
use testkit::Script;

use crate::room::{Plan, Room};

const WIRES: [Wire; 4] =
    [Wire::AnthropicMessages, Wire::OpenaiChat, Wire::OpenaiResponses, Wire::Gemini];

/// What the workspace holds before each case.
const FILES: [(&str, &str); 4] = [
    (
        "main.go",
        "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"Hello, World!\")\n}\n",
    ),
    ("go.mod", "module example.com/hello\n\ngo 1.22\n"),
    ("docs/notes.txt", "alpha\nbeta\ngamma\n"),
    ("docs/more.txt", "beta again\n"),
];

/// What the site of a test shows.
const PAGE: &str = "<html><head><title>Site</title></head><body><h1>Welcome</h1>\
    <p>A page with <a href=\"/file.txt\">a file</a>.</p></body></html>";

/// What its code search finds.
const FOUND: &str = "event: matches\ndata: [{\"type\":\"content\",\"repository\":\"github.com/a/b\",\
    \"path\":\"main.go\",\"chunkMatches\":[{\"content\":\"func main() {\",\
    \"contentStart\":{\"offset\":0,\"line\":4,\"column\":0},\
    \"ranges\":[{\"start\":{\"offset\":0,\"line\":4,\"column\":0},\
    \"end\":{\"offset\":9,\"line\":4,\"column\":9}}]}]}]\n\nevent: progress\n\
    data: {\"done\":true,\"matchCount\":1,\"durationMs\":1}\n\nevent: done\ndata: {}\n\n";

/// One call after the other, an answer at the end.
fn script(calls: &[(&str, Value)], end: &str) -> Script {
    let mut script = Script::new();
    for (tool, args) in calls {
        script = script.call(tool, args.clone()).usage(100, 10).then();
    }
    script.text(end).usage(120, 5)
}

/// Runs a case on every wire; `after` lists files and what they hold at the end (none: no such file).
async fn case(name: &str, script: Script, after: &[(&str, Option<&str>)]) {
    case_with(name, |_| script.clone(), after).await;
}

/// The same for a script that needs to know where the site of the test is.
async fn case_with(name: &str, script: impl Fn(&str) -> Script, after: &[(&str, Option<&str>)]) {
    let mut first: Option<String> = None;
    for wire in WIRES {
        let site = site();
        let mut plan = Plan { wire, ..Plan::with_tools(script(&site)) };
        plan.config.tools.fetch.allow_private = vec!["127.0.0.1".to_owned()];
        plan.env = vec![("SRC_ENDPOINT".to_owned(), site.clone())];
        let room = Room::new(plan).await;
        for (path, content) in FILES {
            room.write(path, content);
        }
        room.say("Do it.").await;
        room.assert_valid();
        for (path, content) in after {
            let found = std::fs::read_to_string(room.folder.join(path)).ok();
            assert_eq!(found.as_deref(), *content, "{path} on {wire:?}");
        }
        let transcript = room.transcript().await.join("\n");
        let transcript = transcript.replace(&room.folder.display().to_string(), "[folder]");
        let transcript = transcript.replace(&site, "[site]");
        match &first {
            None => {
                insta::assert_snapshot!(format!("suite_{name}"), transcript);
                first = Some(transcript);
            }
            Some(first) => assert_eq!(&transcript, first, "{wire:?} differs"),
        }
        room.coordinator.close().await;
    }
}

/// A web site on loopback with a page, a file and a code search; its address.
fn site() -> String {
    crate::site::site(&[
        ("/page.html", "text/html", PAGE),
        ("/file.txt", "text/plain", "Hello from the site.\n"),
        ("*", "text/event-stream", FOUND),
    ])
}

#[tokio::test]
async fn simple() {
    case("simple", script(&[], "Hi!"), &[]).await;
}

#[tokio::test]
async fn read() {
    let calls = [("view", json!({ "file_path": "go.mod" }))];
    case("read", script(&calls, "It is example.com/hello."), &[]).await;
}

#[tokio::test]
async fn update() {
    let calls = [
        ("view", json!({ "file_path": "main.go" })),
        (
            "edit",
            json!({
                "file_path": "main.go",
                "old_string": "Hello, World!",
                "new_string": "hello from caiman",
            }),
        ),
    ];
    let after = FILES[0].1.replace("Hello, World!", "hello from caiman");
    case("update", script(&calls, "Changed."), &[("main.go", Some(&after))]).await;
}

#[tokio::test]
async fn bash() {
    let command = "printf 'hello bash' > test.txt && cat test.txt";
    let calls = [("bash", json!({ "command": command, "description": "Make test.txt" }))];
    case("bash", script(&calls, "Made."), &[("test.txt", Some("hello bash"))]).await;
}

#[tokio::test]
async fn glob() {
    let calls = [("glob", json!({ "pattern": "**/*.go" }))];
    case("glob", script(&calls, "One file."), &[]).await;
}

#[tokio::test]
async fn grep() {
    let calls = [("grep", json!({ "pattern": "package", "include": "*.go" }))];
    case("grep", script(&calls, "In main.go."), &[]).await;
}

#[tokio::test]
async fn ls() {
    let calls = [("ls", json!({}))];
    case("ls", script(&calls, "Four files."), &[]).await;
}

#[tokio::test]
async fn multiedit() {
    let edits = json!([
        { "old_string": "Hello, World!", "new_string": "Hello, Crocodile!" },
        { "old_string": "func main() {\n", "new_string": "func main() {\n\t// greets\n" },
    ]);
    let calls = [
        ("view", json!({ "file_path": "main.go" })),
        ("multiedit", json!({ "file_path": "main.go", "edits": edits })),
    ];
    let after = FILES[0].1.replace("Hello, World!", "Hello, Crocodile!");
    let after = after.replace("func main() {\n", "func main() {\n\t// greets\n");
    case("multiedit", script(&calls, "Both changed."), &[("main.go", Some(&after))]).await;
}

#[tokio::test]
async fn write() {
    let content = "{\"name\": \"test\"}\n";
    let calls = [("write", json!({ "file_path": "conf/config.json", "content": content }))];
    case("write", script(&calls, "Written."), &[("conf/config.json", Some(content))]).await;
}

#[tokio::test]
async fn parallel() {
    let script = Script::new()
        .text("Both at once.")
        .call("glob", json!({ "pattern": "*.go" }))
        .call("ls", json!({ "path": "docs" }))
        .usage(100, 10)
        .then()
        .text("Done.")
        .usage(120, 5);
    case("parallel", script, &[]).await;
}

#[tokio::test]
async fn fetch() {
    let calls = |site: &str| [("fetch", json!({ "url": format!("{site}/page.html") }))];
    case_with("fetch", |site| script(&calls(site), "It greets."), &[]).await;
}

#[tokio::test]
async fn download() {
    let call =
        |site: &str| json!({ "url": format!("{site}/file.txt"), "file_path": "got/file.txt" });
    let after = [("got/file.txt", Some("Hello from the site.\n"))];
    let calls = |site: &str| [("download", call(site))];
    case_with("download", |site| script(&calls(site), "Saved."), &after).await;
}

#[tokio::test]
async fn sourcegraph() {
    let calls = [("sourcegraph", json!({ "query": "func main" }))];
    case("sourcegraph", script(&calls, "One match."), &[]).await;
}
