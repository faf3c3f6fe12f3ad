//! `caiman mcp add`, `list`, `remove` and `test` from outside.

mod conformance;
mod sign_in;

use std::path::PathBuf;

use base::Env;
use serde_json::{Value, json};
use testkit::parts;

use crate::home::Home;

/// A program of ours that plays a server.
fn script(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp");
    folder.join(name).to_str().unwrap().to_owned()
}

/// Where programs are.
fn path() -> String {
    Env::of_process().get("PATH").unwrap_or_default().to_owned()
}

/// A user whose programs can be found.
fn home() -> Home {
    Home::new().with("PATH", &path())
}

fn settings(home: &Home, file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(home.path(file)).unwrap()).unwrap()
}

const OURS: &str = ".config/caiman/caiman.json";

#[test]
fn servers_are_added_as_other_programs_users_know() {
    let home = Home::new();
    let all: [&[&str]; 5] = [
        &[
            "mcp", "add", "one", "--env", "A=x=y", "-e", "B=", "--", "npx", "-y", "thing", "--env",
            "z",
        ],
        &[
            "mcp",
            "add",
            "--transport",
            "http",
            "two",
            "https://two.example/mcp",
            "--header",
            "X-Key: a: b",
        ],
        &["mcp", "add", "three", "https://three.example/mcp", "--timeout", "7"],
        &["mcp", "add", "-t", "sse", "four", "http://localhost:3/sse"],
        &["mcp", "add-json", "five", r#"{"command": "five", "timeout": 1500}"#],
    ];
    for args in all {
        let done = home.run(args);
        assert_eq!(done.code, 0, "{args:?}: {}", done.err);
        assert!(done.out.starts_with("Added ") && done.out.contains("caiman.json"), "{}", done.out);
    }
    let expected = json!({
        "one": {"command": "npx", "args": ["-y", "thing", "--env", "z"], "env": {"A": "x=y", "B": ""}},
        "two": {"type": "http", "url": "https://two.example/mcp", "headers": {"X-Key": "a: b"}},
        "three": {"type": "http", "url": "https://three.example/mcp", "timeout": 7},
        "four": {"type": "sse", "url": "http://localhost:3/sse"},
        "five": {"command": "five", "timeout": 2},
    });
    assert_eq!(settings(&home, OURS)["mcp"], expected);
    let again = home.run(&["mcp", "add", "one", "--", "other"]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("caiman mcp remove one"), "{}", again.err);
}

#[test]
fn an_entry_in_other_programs_words_is_written_in_ours() {
    let home = Home::new();
    home.write("work/.git/HEAD", "");
    let entry = json!({
        "type": "streamable-http", "url": "https://x.example/mcp", "timeout": 1500, "alwaysLoad": true,
        "oauth": { "clientId": "me", "callbackPort": 7777 }, "autoApprove": ["a"],
    });
    let entry = entry.to_string();
    let done = home.run(&["mcp", "add-json", "it", &entry, "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let told: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((&told["name"], &told["state"]), (&json!("it"), &json!("on")), "{told}");
    assert!(done.err.contains("mcp.it.autoApprove: this key is ignored"), "{}", done.err);
    let expected = json!({
        "type": "http", "url": "https://x.example/mcp", "timeout": 2, "always_load": true, "oauth": true,
        "oauth_client_id": "me", "oauth_callback_port": 7777,
    });
    assert_eq!(settings(&home, OURS)["mcp"]["it"], expected);
    assert_eq!(home.run(&["config", "check"]).code, 0);
    // Whoever else reads the project's file knows the words it came in.
    let done = home.run(&["-C", "work", "mcp", "add-json", "-s", "project", "it", &entry]);
    assert_eq!(done.code, 0, "{}", done.err);
    let written = settings(&home, "work/.mcp.json");
    assert_eq!(written["mcpServers"]["it"]["oauth"]["clientId"], "me");
    for wrong in
        [r#"{"type": "ws", "url": "wss://x"}"#, r#"{"command": 5}"#, r#"{"args": []}"#, "7"]
    {
        let done = home.run(&["mcp", "add-json", "wrong", wrong]);
        assert_eq!(done.code, 1, "{wrong}: {}", done.all());
    }
    assert_eq!(settings(&home, OURS)["mcp"].as_object().unwrap().len(), 1);
}

#[test]
fn all_that_the_settings_say_of_a_server_can_be_said_in_a_line() {
    let home = Home::new();
    home.write("work/.git/HEAD", "");
    let extra =
        ["--oauth-client-id", "me", "--oauth-client-secret", "$S", "--oauth-callback-port", "7777"];
    let tools = ["--enabled-tools", "a,b", "--disabled-tools", "c", "--disabled", "--json"];
    let add = |scope: &str| {
        let head = ["-C", "work", "mcp", "add", "-s", scope, "it", "https://x.example/mcp"];
        let done = home.run(&[&head[..], &extra, &tools].concat());
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(done.err, "", "nothing stands in its way but what was asked for");
        let told: Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!(told["state"], "off", "{told}");
    };
    add("user");
    let common = json!({
        "type": "http", "url": "https://x.example/mcp",
        "enabled_tools": ["a", "b"], "disabled_tools": ["c"], "disabled": true,
    });
    let mut expected = common.clone();
    expected["oauth_client_id"] = json!("me");
    expected["oauth_client_secret"] = json!("$S");
    expected["oauth_callback_port"] = json!(7777);
    assert_eq!(settings(&home, OURS)["mcp"]["it"], expected);
    let removed = home.json(&["-C", "work", "mcp", "remove", "it", "--json"]);
    assert_eq!(removed["name"], "it");
    add("project");
    let mut expected = common;
    expected["oauth"] = json!({ "clientId": "me", "clientSecret": "$S", "callbackPort": 7777 });
    assert_eq!(settings(&home, "work/.mcp.json")["mcpServers"]["it"], expected);
    let program = home.run(&["mcp", "add", "p", "--oauth-client-id", "me", "--", "thing"]);
    assert_eq!(program.code, 1, "{}", program.out);
}

#[test]
fn what_cannot_be_a_server_is_not_written() {
    let home = Home::new();
    let all: [&[&str]; 10] = [
        &["a b", "--", "x"],
        &["", "--", "x"],
        &["../x", "--", "x"],
        &["x", "--transport", "http", "--", "npx"],
        &["x", "--transport", "stdio", "https://x.example/"],
        &["x", "https://x.example/", "more"],
        &["x", "ftp://x.example/"],
        &["x", "--header", "A: b", "--", "npx"],
        &["x", "https://x.example/", "--env", "A=b"],
        &["x", "--env", "hunter2hunter2", "--", "npx"],
    ];
    for args in all {
        let done = home.run(&[&["mcp", "add"], args].concat());
        assert_eq!(done.code, 1, "{args:?}: {}", done.out);
        assert!(!done.all().contains("hunter2"), "{}", done.all());
    }
    assert!(!home.path(OURS).exists());
}

#[test]
fn a_projects_file_is_for_all_and_keeps_its_comments() {
    let home = Home::new();
    home.write("work/.git/HEAD", "");
    home.write("work/sub/x", "");
    let done = home.run(&[
        "-C",
        "work/sub",
        "mcp",
        "add",
        "--scope",
        "project",
        "web",
        "https://w.example/mcp",
        "--timeout",
        "3",
        "-H",
        "Authorization: Bearer abcdefgh",
    ]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.err.contains("holds a secret") && !done.all().contains("abcdefgh"),
        "{}",
        done.err
    );
    let written = settings(&home, "work/.mcp.json");
    assert_eq!(written["mcpServers"]["web"]["timeout"], 3000);
    // What the user has typed counts at once, and is masked.
    let listed = home.run(&["-C", "work", "mcp", "list"]);
    assert!(listed.out.contains("web") && listed.out.contains(" on"), "{}", listed.out);
    assert!(!home.run(&["-C", "work", "mcp", "list", "--json"]).out.contains("abcdefgh"));

    let local = home.run(&["-C", "work", "mcp", "add", "-s", "local", "mine", "--", "thing"]);
    assert_eq!(local.code, 0, "{}", local.err);
    let text = std::fs::read_to_string(home.path("work/.caiman.json")).unwrap();
    home.write("work/.caiman.json", &text.replacen('{', "{ // mine\n", 1));
    // Now somebody else has changed the project.
    let other = home.run(&["-C", "work", "mcp", "add", "-s", "local", "other", "--", "thing"]);
    assert_eq!(other.code, 0, "{}", other.err);
    assert!(other.err.contains("not trusted"), "{}", other.err);
    assert!(std::fs::read_to_string(home.path("work/.caiman.json")).unwrap().contains("// mine"));
}

#[test]
fn an_untrusted_projects_servers_are_listed_and_not_started() {
    let home = home();
    let trace = home.path("trace");
    let entry = json!({"command": "touch", "args": [trace]});
    home.write("work/.mcp.json", &json!({"mcpServers": {"the\u{1b}[2Jirs": entry}}).to_string());
    home.run(&["mcp", "add", "mine", "--", "no-such-program-anywhere"]);
    let done = home.run(&["-C", "work", "mcp", "list", "--check"]);
    assert!(done.out.contains("not trusted"), "{}", done.out);
    assert!(done.err.contains("caiman trust") && !done.all().contains('\u{1b}'), "{}", done.err);
    assert!(done.out.contains("does not work") && done.err.contains("1 server does not work"));
    assert_eq!(done.code, 4, "{}", done.err);
    assert!(!trace.exists());
}

#[test]
fn a_server_is_removed_from_the_file_that_is_meant() {
    let home = Home::new();
    home.write("work/.git/HEAD", "");
    for scope in ["user", "project", "local"] {
        let args = ["-C", "work", "mcp", "add", "--scope", scope, "it", "--", scope];
        assert_eq!(home.run(&args).code, 0);
    }
    let unclear = home.run(&["-C", "work", "mcp", "remove", "it"]);
    assert_eq!(unclear.code, 1);
    for scope in ["--scope user", "--scope project", "--scope local"] {
        assert!(unclear.err.contains(scope), "{}", unclear.err);
    }
    for scope in ["project", "local"] {
        let done = home.run(&["-C", "work", "mcp", "remove", "it", "--scope", scope]);
        assert_eq!(done.code, 0, "{}", done.err);
    }
    assert_eq!(home.run(&["-C", "work", "mcp", "rm", "it"]).code, 0);
    assert_eq!(home.json(&["-C", "work", "mcp", "list", "--json"]), json!([]));
    home.run(&["mcp", "add", "everything", "--", "x"]);
    let near = home.run(&["mcp", "remove", "everythng"]);
    assert_eq!(near.code, 1);
    assert!(near.err.contains("`everything`?"), "{}", near.err);
}

#[test]
fn another_programs_file_is_left_alone() {
    let home = Home::new();
    let theirs = json!({"mcp": {"theirs": {"type": "stdio", "command": "x"}}}).to_string();
    home.write(".config/crush/crush.json", &theirs);
    let done = home.run(&["mcp", "remove", "theirs"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("mcp.theirs.disabled"), "{}", done.err);
    assert_eq!(std::fs::read_to_string(home.path(".config/crush/crush.json")).unwrap(), theirs);
}

#[test]
fn a_server_that_claude_code_has_for_this_project_is_listed_and_left_to_it() {
    let home = Home::new();
    home.write("work/.git/HEAD", "");
    let work = std::fs::canonicalize(home.path("work")).unwrap().display().to_string();
    let state = json!({ "projects": { work: { "mcpServers": { "theirs": { "command": "x" } } } } });
    home.write(".claude.json", &state.to_string());
    let listed = home.json(&["-C", "work", "mcp", "list", "--json"]);
    assert_eq!((&listed[0]["name"], &listed[0]["state"]), (&json!("theirs"), &json!("on")));
    home.write(".claude/settings.json", r#"{"deniedMcpServers": [{"serverName": "theirs"}]}"#);
    let listed = home.json(&["-C", "work", "mcp", "list", "--json"]);
    assert_eq!(listed[0]["state"], "off");
    assert!(listed[0]["file"].as_str().unwrap().ends_with("/.claude.json"), "{listed}");
    let done = home.run(&["-C", "work", "mcp", "remove", "theirs"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains(".claude.json, which is another program's"), "{}", done.err);
}

#[test]
fn a_server_is_tried_out_with_made_up_arguments() {
    let home = home();
    let (lender, log) = (script("lender.py"), home.path("log"));
    let log = log.to_str().unwrap();
    let target = ["--", "python3", &lender, log];
    let done = home.run(&[&["mcp", "test", "--env", "WORD=$GREETING"][..], &target].concat());
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("lender 2, protocol 2025-11-25"), "{}", done.out);
    assert!(done.out.contains("3 tools: look, wipe, ask"), "{}", done.out);
    assert!(done.out.contains("ask asked for a form (Who?)"), "{}", done.out);
    let look = done.out.lines().find(|line| line.starts_with("look {")).unwrap();
    assert!(look.contains("ok: "), "what came of a call is in the report: {}", done.out);
    let calls = std::fs::read_to_string(log).unwrap();
    assert!(calls.starts_with("look {\"at\": \"test\"}\nwipe "), "{calls}");
    assert!(calls.ends_with("\nask {}\n"), "{calls}");
    let all = home.json(&[&["mcp", "test", "--json", "--yes"][..], &target].concat());
    let called: Vec<&str> =
        all["calls"].as_array().unwrap().iter().map(|it| it["tool"].as_str().unwrap()).collect();
    assert_eq!(called, ["look", "wipe", "ask"]);
    let answer = all["calls"][2]["answer"]["content"][0]["text"].as_str().unwrap();
    assert!(answer.contains("nobody"), "{answer}");
}

#[test]
fn the_tool_that_is_named_is_called_and_its_failure_is_ours() {
    let home = home();
    home.run(&[
        "mcp",
        "add",
        "lender",
        "-e",
        "WORD=$GREETING",
        "--",
        "python3",
        &script("lender.py"),
    ]);
    let home = home.with("GREETING", "good day");
    let call = |arguments: &str| {
        home.run(&["mcp", "test", "lender", "--call", "look", "--args", arguments, "--json"])
    };
    let fine = call(r#"{"at": "sea"}"#);
    assert_eq!(fine.code, 0, "{}", fine.err);
    assert!(fine.out.contains("good day"), "{}", fine.out);
    let failed = call(r#"{"at": "nowhere"}"#);
    assert_eq!(failed.code, 4);
    assert!(failed.out.contains("there is nothing"), "{}", failed.out);
    assert_eq!(call("[]").code, 1);
    let near = home.run(&["mcp", "test", "lender", "--call", "lok"]);
    assert!(near.err.contains("`look`?"), "{}", near.err);
    let near = home.run(&["mcp", "test", "lendr"]);
    assert!(near.err.contains("`lender`?"), "{}", near.err);
    let listed = home.run(&["mcp", "test", "lender", "--list-only"]);
    assert!(listed.code == 0 && !listed.out.contains("calls:"), "{}", listed.out);
    let checked = home.json(&["mcp", "list", "--check", "--json"]);
    assert_eq!(checked[0]["tools"], json!(["look", "wipe", "ask"]));
    assert_eq!(checked[0]["works"], true);
}

#[test]
fn a_server_gets_only_those_secrets_that_its_entry_names() {
    let home = home().with("MY_API_KEY", "hunter2hunter2");
    let seen = |flags: &[&str]| {
        let write = format!("printenv MY_API_KEY > {}", home.path("seen").display());
        let done = home.run(&[&["mcp", "test"], flags, &["--", "sh", "-c", &write]].concat());
        assert_eq!(done.code, 4, "{}", done.err);
        std::fs::read_to_string(home.path("seen")).unwrap()
    };
    assert_eq!(seen(&[]), "");
    assert_eq!(seen(&["--env", "MY_API_KEY=$MY_API_KEY"]), "hunter2hunter2\n");
}

#[test]
fn a_server_that_does_not_work_is_told_with_its_last_words() {
    let home = home();
    let done = home.run(&["mcp", "test", "--", "sh", "-c", "echo no luck today >&2; exit 3"]);
    assert_eq!(done.code, 4, "{}", done.err);
    assert_eq!(done.err.matches("no luck today").count(), 1, "said once: {}", done.err);
    let done = home.run(&["mcp", "test", "--timeout", "1", "--", "sleep", "60"]);
    assert_eq!(done.code, 5, "{}", done.err);
    assert!(done.err.contains("--timeout"), "{}", done.err);
}

#[test]
fn all_that_a_real_server_lends_is_tried_out() {
    let everything = parts::installed("node_modules/.bin/mcp-server-everything");
    let Some(everything) = everything.as_ref().and_then(|path| path.to_str()) else { return };
    let home = home();
    let args = ["mcp", "test", "--json", "--yes", "--timeout", "120", "--", everything, "stdio"];
    let seen = home.json(&args);
    let calls = seen["calls"].as_array().unwrap();
    assert!(calls.len() >= 10 && seen["prompts"].as_array().unwrap().len() >= 3, "{seen}");
    assert_eq!(seen["initialize"], true);
    for call in calls {
        assert_ne!(call["outcome"], "broken", "{call}");
        let works = ["echo", "simulate-research-query"].contains(&call["tool"].as_str().unwrap());
        assert!(!works || call["outcome"] == "ok", "{call}");
    }
}
