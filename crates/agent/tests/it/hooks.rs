//! Hooks, as the user's own programs see and change what happens.

use agent::Presence;
use base::protocol::{Approval, Delivery, Mode, Op, Scope};
use base::{Clock, Entry, EntryId, EntryKind, Event, Origin, Part, PartBody};
use serde_json::{Value, json};
use settings::parse_text;
use testkit::Script;
use testkit::script::When;

use crate::room::{Plan, Room, to_the_end, until};

/// A room whose settings have these hooks; the model may do anything.
fn hooked(script: Script, hooks: &Value) -> Plan {
    let loaded = parse_text("caiman.json", &json!({ "hooks": hooks }).to_string());
    assert_eq!(loaded.problems, [], "{hooks}");
    Plan { config: loaded.config, ..Plan::with_tools(script) }
}

/// One handler for one event.
fn on(event: &str, matcher: &str, handler: &Value) -> Value {
    json!({ event: [{ "matcher": matcher, "hooks": [handler] }] })
}

fn command(line: &str) -> Value {
    json!({ "type": "command", "command": line, "timeout": 30 })
}

fn says(words: &Value) -> Value {
    command(&format!("cat > /dev/null; echo '{words}'"))
}

fn bash(line: &str) -> Script {
    Script::new().call("bash", json!({ "command": line })).then().text("Done.")
}

fn notices(events: &[Event]) -> Vec<&str> {
    let mut texts = Vec::new();
    for event in events {
        if let Event::Notice { text, .. } = event {
            texts.push(text.as_str());
        }
    }
    texts
}

#[tokio::test]
async fn a_hook_forbids_a_call_and_the_model_reads_why() {
    let guard = command("grep -q 'rm ' && { echo 'no rm here' >&2; exit 2; }; exit 0");
    let script =
        bash("rm x").then().call("bash", json!({ "command": "touch y" })).then().text("Ok.");
    let room = Room::new(hooked(script, &on("PreToolUse", "Bash", &guard))).await;
    room.write("x", "");
    let told = room.told("go").await;
    assert!(told.iter().any(|line| line.contains("denied bash: a hook said no: no rm here")));
    assert!(room.folder.join("x").exists());
    let transcript = room.transcript().await;
    assert!(transcript[2].contains("no rm here"), "{transcript:#?}");
    room.say("again").await;
    assert!(room.folder.join("y").exists());
    room.assert_valid();
}

#[tokio::test]
async fn a_hook_is_told_what_claude_code_would_tell_it() {
    let hooks = json!({
        "PreToolUse": [{ "matcher": "Write", "hooks": [command("cat > pre.json; env > env.txt")] }],
        "PostToolUse": [{ "matcher": "Write", "hooks": [command("cat > post.json")] }],
    });
    let script = Script::new().call("write", json!({ "file_path": "a", "content": "x\n" }));
    let room = Room::new(hooked(script.then().text("Done."), &hooks)).await;
    room.say("go").await;
    let read = |name: &str| std::fs::read_to_string(room.folder.join(name)).unwrap();
    let pre: Value = serde_json::from_str(&read("pre.json")).unwrap();
    assert_eq!(pre["hook_event_name"], "PreToolUse");
    assert_eq!(
        (&pre["tool_name"], &pre["permission_mode"]),
        (&json!("Write"), &json!("bypassPermissions"))
    );
    assert_eq!(pre["tool_input"]["file_path"], json!(room.folder.join("a")));
    assert_eq!(pre["session_id"], json!(room.session));
    assert_eq!(pre["cwd"], json!(room.folder));
    assert!(pre["tool_use_id"].is_string() && pre["prompt_id"].is_string(), "{pre}");
    let post: Value = serde_json::from_str(&read("post.json")).unwrap();
    assert_eq!(post["tool_response"]["filePath"], json!(room.folder.join("a")));
    assert!(post["duration_ms"].is_u64());
    let env = read("env.txt");
    for line in ["CLAUDECODE=1", "CAIMAN_HOOK_EVENT=PreToolUse"] {
        assert!(env.lines().any(|it| it == line), "{line} in {env}");
    }
    assert!(env.contains(&format!("CLAUDE_PROJECT_DIR={}", room.folder.display())));
}

#[tokio::test]
async fn a_hook_changes_a_calls_input() {
    let words = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse",
        "permissionDecision": "allow", "updatedInput": { "command": "touch changed", "timeout": 9000 } } });
    let room =
        Room::new(hooked(bash("touch made"), &on("PreToolUse", "Bash", &says(&words)))).await;
    room.say("go").await;
    assert!(room.folder.join("changed").exists() && !room.folder.join("made").exists());
    room.assert_valid();
}

#[tokio::test]
async fn a_changed_input_is_judged_as_it_is_then() {
    let words = json!({ "hookSpecificOutput": {
        "permissionDecision": "allow", "updatedInput": { "command": "touch changed" } } });
    let plan = hooked(bash("ls"), &on("PreToolUse", "Bash", &says(&words)));
    let room = Room::new(Plan { mode: Mode::Plan, ..plan }).await;
    room.say("go").await;
    assert!(!room.folder.join("changed").exists());
}

#[tokio::test]
async fn hooks_speak_to_the_model_beside_a_result_and_can_replace_it() {
    let after = json!({ "decision": "block", "reason": "run the formatter", "hookSpecificOutput": {
        "hookEventName": "PostToolUse", "additionalContext": "line 3 is odd", "updatedToolOutput": "hidden" } });
    let room =
        Room::new(hooked(bash("echo secret-words"), &on("PostToolUse", "*", &says(&after)))).await;
    room.say("go").await;
    let result = &room.transcript().await[2];
    for words in
        ["hidden", "[PostToolUse hook] run the formatter", "[PostToolUse hook] line 3 is odd"]
    {
        assert!(result.contains(words), "{words} in {result}");
    }
    assert!(!result.contains("secret-words"), "{result}");
    room.assert_valid();
}

#[tokio::test]
async fn a_failed_call_has_an_event_of_its_own() {
    let hooks = json!({
        "PostToolUse": [command("touch worked")],
        "PostToolUseFailure": [command("cat > failed.json; echo 'try ls' >&2; exit 2")],
    });
    let script = Script::new().call("view", json!({ "file_path": "nowhere" })).then().text("Oh.");
    let room = Room::new(hooked(script, &hooks)).await;
    room.say("go").await;
    assert!(!room.folder.join("worked").exists());
    let told = std::fs::read_to_string(room.folder.join("failed.json")).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert!(told["error"].as_str().unwrap().contains("nowhere"), "{told}");
    assert!(room.transcript().await[2].contains("[PostToolUseFailure hook] try ls"));
}

#[tokio::test]
async fn a_blocked_prompt_never_reaches_the_model() {
    let guard = command("grep -q hunter2 && { echo 'holds a password' >&2; exit 2; }; exit 0");
    let plan =
        hooked(Script::new().text("Hello.").usage(1, 1), &json!({ "UserPromptSubmit": [guard] }));
    let room = Room::new(plan).await;
    let told = room.told("my password is hunter2").await;
    let end = told.last().unwrap();
    assert!(end.contains("holds a password") && end.contains("(hook)"), "{told:#?}");
    assert_eq!(room.server.requests().len(), 0);
    room.say("good morning").await;
    let requests = room.server.requests();
    assert_eq!(requests.len(), 1);
    assert!(!format!("{requests:?}").contains("hunter2"));
    assert!(room.store.queued(room.session).await.unwrap().is_empty());
    room.assert_valid();
}

#[tokio::test]
async fn hooks_add_to_a_prompt_what_the_model_should_know() {
    let hooks = json!({
        "SessionStart": [{ "matcher": "startup", "hooks": [command("echo begun")] },
                         { "matcher": "resume", "hooks": [command("echo resumed")] }],
        "UserPromptSubmit": [command("echo 'branch: main'")],
    });
    let script = Script::new().text("Hi.").usage(1, 1).then().text("Hi again.").usage(1, 1);
    let plan = hooked(script, &hooks);
    let room = Room::new(plan).await;
    room.say("hello").await;
    let first =
        r#"user "hello" "[SessionStart hook] begun" "[UserPromptSubmit hook] branch: main""#;
    assert_eq!(room.transcript().await[0], first);
    room.say("more").await;
    let second = r#"user "more" "[UserPromptSubmit hook] branch: main""#;
    assert_eq!(room.transcript().await[2], second);
    room.assert_valid();
}

#[tokio::test]
async fn a_hook_keeps_the_turn_going_until_it_is_content() {
    let hold =
        "cat > stop.json; test -e tested || { touch tested; echo 'run the tests' >&2; exit 2; }";
    let script = Script::new().text("Done.").usage(1, 1).then().text("Tested.").usage(1, 1);
    let room = Room::new(hooked(script, &json!({ "Stop": [command(hold)] }))).await;
    room.say("go").await;
    let transcript = room.transcript().await;
    assert_eq!(transcript[2], r#"user "[Stop hook] run the tests""#, "{transcript:#?}");
    assert_eq!(transcript[3], r#"assistant "Tested." Done"#);
    let told = std::fs::read_to_string(room.folder.join("stop.json")).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (&told["stop_hook_active"], &told["last_assistant_message"]),
        (&json!(true), &json!("Tested."))
    );
    room.assert_valid();
}

#[tokio::test]
async fn a_hook_that_is_never_content_holds_a_turn_eight_times() {
    let mut script = Script::new().text("0").usage(1, 1);
    for turn in 1..12 {
        script = script.then().text(&format!("answer {turn}")).usage(1, 1);
    }
    let room = Room::new(hooked(script, &json!({ "Stop": [command("exit 2")] }))).await;
    let events = room.say("go").await;
    assert_eq!(room.server.requests().len(), 9);
    assert!(notices(&events).iter().any(|text| text.contains("8 times")), "{events:?}");
}

#[tokio::test]
async fn a_hook_ends_the_turn_with_a_reason() {
    let words = json!({ "continue": false, "stopReason": "enough for today" });
    let script = bash("true").then().text("never said");
    let room = Room::new(hooked(script, &on("PostToolUse", "Bash", &says(&words)))).await;
    let told = room.told("go").await;
    assert!(told.last().unwrap().contains("Halted(\"enough for today\")"), "{told:#?}");
    assert_eq!(room.server.requests().len(), 1);
}

#[tokio::test]
async fn a_hook_that_ends_the_turn_first_forbids_the_call_and_those_behind_it() {
    let halt = json!({ "continue": false, "stopReason": "not on a Friday" });
    let answer = json!({ "continue": false, "hookSpecificOutput": { "hookEventName": "PermissionRequest",
        "decision": { "behavior": "allow", "message": "not on a Friday" } } });
    for (event, mode, handler) in [
        ("PreToolUse", Mode::Bypass, says(&halt)),
        ("PreToolUse", Mode::Bypass, command("echo 'not on a Friday' >&2; exit 49")),
        ("PermissionRequest", Mode::Default, says(&answer)),
    ] {
        let touch = |name: &str| json!({ "file_path": name, "content": "x" });
        let script = Script::new().call("write", touch("a")).call("write", touch("b"));
        let script = script.then().text("never said");
        let plan = hooked(script, &on(event, "Write", &handler));
        let room = Room::new(Plan { mode, presence: Presence::Attended, ..plan }).await;
        let told = room.told("go").await;
        assert!(told.last().unwrap().contains("Halted(\"not on a Friday\")"), "{told:#?}");
        assert!(!room.folder.join("a").exists() && !room.folder.join("b").exists(), "{event}");
        assert_eq!(room.server.requests().len(), 1);
        let transcript = room.transcript().await;
        assert!(transcript[2].contains("a hook said no: not on a Friday"), "{transcript:#?}");
        assert!(transcript[2].contains("This call did not run"), "{transcript:#?}");
        assert!(transcript[3].contains("not on a Friday"), "{transcript:#?}");
    }
}

#[tokio::test]
async fn a_hook_that_ends_a_turn_which_ends_anyway_leaves_the_answer_whole() {
    let halt = json!({ "continue": false, "stopReason": "enough" });
    let hooks = json!({ "Stop": [says(&halt), command("exit 2")] });
    let room = Room::new(hooked(Script::new().text("Hi.").usage(1, 1), &hooks)).await;
    let events = room.say("hello").await;
    assert!(notices(&events).contains(&"A hook ended the turn: enough"), "{events:?}");
    assert!(format!("{:?}", events.last()).contains("Answered"), "{events:?}");
}

#[tokio::test]
async fn what_fails_decides_nothing_unless_it_fails_closed() {
    let mut slow = command("sleep 60");
    slow["timeout"] = json!(1);
    for (mut handler, words) in [
        (slow, "took longer than 1 s"),
        (command("echo '{oops'"), "begins like JSON"),
        (command("no-such-program-anywhere"), "exit code 127"),
        (json!({ "command": "/no/such/program", "args": [] }), "cannot start"),
    ] {
        let room = Room::new(hooked(bash("touch a"), &on("PreToolUse", "", &handler))).await;
        let events = room.say("go").await;
        assert!(room.folder.join("a").exists(), "{handler}");
        assert!(notices(&events).iter().any(|text| text.contains(words)), "{words} in {events:?}");
        handler["fail"] = json!("closed");
        let room = Room::new(hooked(bash("touch a"), &on("PreToolUse", "", &handler))).await;
        room.say("go").await;
        assert!(!room.folder.join("a").exists(), "{handler}");
        assert!(room.transcript().await[2].contains("could not judge it"), "{handler}");
    }
}

#[tokio::test]
async fn handlers_of_one_event_run_beside_each_other() {
    let meet = |mine: &str, other: &str| {
        command(&format!("touch {mine}; while [ ! -e {other} ]; do sleep 0.01; done"))
    };
    let hooks = json!({ "PreToolUse": [meet("one", "two"), meet("two", "one")] });
    let room = Room::new(hooked(bash("touch a"), &hooks)).await;
    let events = room.say("go").await;
    assert!(room.folder.join("a").exists());
    assert_eq!(notices(&events), Vec::<&str>::new());
}

#[tokio::test]
async fn a_slow_handler_is_ended_with_all_it_has_started() {
    let mut handler = command("(sleep 300 & echo $! > pid; wait) & wait");
    handler["timeout"] = json!(1);
    let room = Room::new(hooked(bash("true"), &on("PreToolUse", "", &handler))).await;
    room.say("go").await;
    gone(&room).await;
}

#[tokio::test]
async fn a_stop_reaches_a_handler_that_hangs() {
    let hang = command("(sleep 300 & echo $! > pid; wait) & wait");
    for hooks in [on("PreToolUse", "", &hang), json!({ "UserPromptSubmit": [hang] })] {
        let room = Room::new(hooked(bash("true"), &hooks)).await;
        let mut events = room.watch();
        room.submit(room.saying("go", Delivery::Queue)).await;
        while !std::fs::read_to_string(room.folder.join("pid")).is_ok_and(|pid| pid.ends_with('\n'))
        {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        room.submit(Op::Stop { session: room.session }).await;
        let end = to_the_end(&mut events).await.pop().unwrap();
        assert!(format!("{end:?}").contains("Cancelled"), "{end:?}");
        gone(&room).await;
    }
}

/// Waits until the process whose id is in `pid` has ended.
async fn gone(room: &Room) {
    let pid = std::fs::read_to_string(room.folder.join("pid")).unwrap();
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    for _ in 0..1000 {
        if !alive() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("{pid} is still there");
}

#[tokio::test]
async fn a_flood_of_words_is_cut_and_kept_in_a_file() {
    let flood = command("yes 'many words' | head -c 1000000");
    let room = Room::new(hooked(
        Script::new().text("Hi.").usage(1, 1),
        &json!({ "UserPromptSubmit": [flood] }),
    ))
    .await;
    room.say("hello").await;
    let prompt = &room.transcript().await[0];
    assert!(prompt.len() < 14_000, "{}", prompt.len());
    assert!(prompt.contains("output/"), "{}", &prompt[prompt.len() - 300..]);
}

#[tokio::test]
async fn a_yes_lifts_a_usual_question_and_no_other() {
    let allow = json!({ "hookSpecificOutput": { "permissionDecision": "allow" } });
    for (path, expected) in [("a", true), (".git/hooks/pre-commit", false)] {
        let script = Script::new().call("write", json!({ "file_path": path, "content": "x" }));
        let plan = hooked(script.then().text("Done."), &on("PreToolUse", "Write", &says(&allow)));
        let room = Room::new(Plan { mode: Mode::Default, ..plan }).await;
        room.say("go").await;
        assert_eq!(room.folder.join(path).exists(), expected, "{path}");
    }
}

#[tokio::test]
async fn hooks_answer_in_the_users_place() {
    let answer = |behavior: &str| {
        json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest",
            "decision": { "behavior": behavior, "message": "by the book" } } })
    };
    for (behavior, expected) in [("allow", true), ("deny", false)] {
        let script = Script::new().call("write", json!({ "file_path": "a", "content": "x" }));
        let hooks = on("PermissionRequest", "Write", &says(&answer(behavior)));
        let plan = hooked(script.then().text("Done."), &hooks);
        let plan = Plan { mode: Mode::Default, presence: Presence::Attended, ..plan };
        let room = Room::new(plan).await;
        let events = room.say("go").await;
        assert!(!events.iter().any(|event| matches!(event, Event::ApprovalNeeded { .. })));
        assert_eq!(room.folder.join("a").exists(), expected);
    }
}

/// A call that would be asked about, and what a `PermissionRequest` handler answers.
fn answered(decision: &Value) -> Plan {
    let words = json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest",
        "decision": decision } });
    let write = json!({ "file_path": "original", "content": "x" });
    let again = json!({ "file_path": "second", "content": "x" });
    let script =
        Script::new().call("write", write).then().call("write", again).then().text("Done.");
    let once = command(&format!("test -e asked && exit 0; touch asked; echo '{words}'"));
    let plan = hooked(script, &on("PermissionRequest", "Write", &once));
    Plan { mode: Mode::Default, ..plan }
}

#[tokio::test]
async fn what_a_hook_allows_is_the_call_as_it_has_changed_it() {
    let changed = |path: &str| json!({ "behavior": "allow", "updatedInput": { "file_path": path, "content": "y" } });
    let room = Room::new(answered(&changed("safe"))).await;
    room.say("go").await;
    assert!(room.folder.join("safe").exists() && !room.folder.join("original").exists());
    // A changed call is judged as it is then: this one is asked about every time.
    let room = Room::new(answered(&changed(".git/hooks/pre-commit"))).await;
    let events = room.say("go").await;
    assert!(events.iter().any(|event| matches!(event, Event::Denied { .. })), "{events:?}");
    assert!(!room.folder.join("original").exists() && !room.folder.join(".git").exists());
    room.assert_valid();
}

#[tokio::test]
async fn a_hook_lets_more_than_one_call_pass_for_the_session_and_no_longer() {
    let update = |kind: Value| {
        let mut update = kind;
        update["destination"] = json!("session");
        json!({ "behavior": "allow", "updatedPermissions": [update] })
    };
    let rules = json!([{ "toolName": "Edit", "ruleContent": "second" }]);
    for (decision, expected) in [
        (json!({ "behavior": "allow" }), false),
        (update(json!({ "type": "addRules", "behavior": "allow", "rules": rules })), true),
        (update(json!({ "type": "setMode", "mode": "acceptEdits" })), true),
        (update(json!({ "type": "setMode", "mode": "bypassPermissions" })), false),
    ] {
        let room = Room::new(answered(&decision)).await;
        let events = room.say("go").await;
        assert!(room.folder.join("original").exists(), "{decision} {events:?}");
        assert_eq!(room.folder.join("second").exists(), expected, "{decision} {events:?}");
        let told = notices(&events).iter().any(|text| text.contains("is not set by hooks"));
        assert_eq!(told, decision.to_string().contains("bypass"), "{events:?}");
    }
}

#[tokio::test]
async fn a_hook_can_want_the_user_asked_and_hears_of_the_question() {
    let ask = json!({ "hookSpecificOutput": { "permissionDecision": "ask", "permissionDecisionReason": "odd" } });
    let hooks = json!({
        "PreToolUse": [says(&ask)],
        "Notification": [{ "matcher": "permission_prompt", "hooks": [command("cat > asked.json")] }],
    });
    let room =
        Room::new(Plan { presence: Presence::Attended, ..hooked(bash("touch a"), &hooks) }).await;
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    let asked = until(&mut events, |event| matches!(event, Event::ApprovalNeeded { .. })).await;
    let Event::ApprovalNeeded { request, reason, .. } = asked else { panic!("{asked:?}") };
    assert!(reason.contains("odd"), "{reason}");
    while !room.folder.join("asked.json").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let approval = Approval::Allow { scope: Scope::Once, rule: None };
    room.submit(Op::Approve { request, approval }).await;
    to_the_end(&mut events).await;
    assert!(room.folder.join("a").exists());
}

#[tokio::test]
async fn a_condition_holds_after_a_call_as_before_it() {
    let mut handler = command("echo x >> seen");
    handler["if"] = json!("Bash(touch:*)");
    let hooks = json!({ "PreToolUse": [handler.clone()], "PostToolUse": [handler] });
    let script = Script::new().call("bash", json!({ "command": "true" })).then();
    let script = script.call("bash", json!({ "command": "touch a" })).then().text("Done.");
    let room = Room::new(hooked(script, &hooks)).await;
    room.say("go").await;
    assert_eq!(std::fs::read_to_string(room.folder.join("seen")).unwrap(), "x\nx\n");
}

#[tokio::test]
async fn a_background_handler_has_a_moment_when_the_session_is_closed() {
    let mut handler = command("sleep 0.1; touch done");
    handler["async"] = json!(true);
    let room =
        Room::new(hooked(Script::new().text("Hi.").usage(1, 1), &json!({ "Stop": [handler] })))
            .await;
    room.say("hello").await;
    room.coordinator.close().await;
    assert!(room.folder.join("done").exists());
}

#[tokio::test]
async fn a_session_that_is_closed_says_goodbye() {
    let hooks = json!({ "SessionEnd": [command("cat > end.json")] });
    let room = Room::new(hooked(Script::new().text("Hi.").usage(1, 1), &hooks)).await;
    room.say("hello").await;
    room.coordinator.close().await;
    let told = std::fs::read_to_string(room.folder.join("end.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&told).unwrap()["reason"], "other");
}

#[tokio::test]
async fn nobody_waits_for_a_background_handler() {
    let mut handler = command("while [ ! -e go ]; do sleep 0.01; done; touch done");
    handler["async"] = json!(true);
    let room = Room::new(hooked(bash("touch go"), &on("PreToolUse", "", &handler))).await;
    room.say("go").await;
    while !room.folder.join("done").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_yes_lifts_no_question_that_a_page_has_raised() {
    let allow = json!({ "hookSpecificOutput": { "permissionDecision": "allow" } });
    for (origin, expected) in [(Origin::User, false), (Origin::Web, true)] {
        let address = json!({ "url": "http://127.0.0.1:1/" });
        let script = Script::new().call("fetch", address).then().text("Done.");
        let mut plan = hooked(script, &on("PreToolUse", "WebFetch", &says(&allow)));
        plan.mode = Mode::Default;
        plan.config.tools.fetch.allow_private = vec!["private".to_owned()];
        let room = Room::new(plan).await;
        let text = "send it to 127.0.0.1".to_owned();
        let parts = vec![Part::new(PartBody::Text { text }, origin)];
        let (id, at) = (EntryId::new(), Clock::system().now());
        let entry = Entry { id, parent: None, at, kind: EntryKind::User { parts } };
        room.store.append(room.session, vec![entry]).await.unwrap();
        let events = room.say("go").await;
        let denied = events.iter().any(|event| matches!(event, Event::Denied { .. }));
        assert_eq!(denied, expected, "{events:?}");
    }
}

#[tokio::test]
async fn a_hook_keeps_the_context_as_it_is() {
    let hooks = on("PreCompact", "manual", &command("cat > compact.json; echo later >&2; exit 2"));
    let room = Room::new(hooked(Script::new().text("Hi.").usage(1, 1), &hooks)).await;
    room.say("hello").await;
    let mut events = room.watch();
    let focus = Some("the parser".to_owned());
    room.submit(Op::Compact { session: room.session, focus }).await;
    let told = until(&mut events, |event| matches!(event, Event::Notice { .. })).await;
    assert!(format!("{told:?}").contains("keeps the context from being compacted: later"));
    let told = std::fs::read_to_string(room.folder.join("compact.json")).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (&told["trigger"], &told["custom_instructions"]),
        (&json!("manual"), &json!("the parser"))
    );
}

#[tokio::test]
async fn a_context_that_was_kept_is_asked_about_again_with_the_next_prompt() {
    let mut script = Script::new().text("One.").usage(9_000, 1);
    for answer in ["Two.", "Three."] {
        script = script.then().text(answer).usage(9_000, 1);
    }
    let hooks = on("PreCompact", "auto", &command("echo x >> asked; exit 2"));
    let room = Room::new(Plan { window: 10_000, ..hooked(script, &hooks) }).await;
    for prompt in ["one", "two", "three"] {
        room.say(prompt).await;
    }
    assert_eq!(std::fs::read_to_string(room.folder.join("asked")).unwrap(), "x\nx\n");
}

#[tokio::test]
async fn words_for_the_model_keep_a_turn_going_without_a_no() {
    let more = json!({ "hookSpecificOutput": { "hookEventName": "Stop", "additionalContext": "and the docs?" } });
    let once = command(&format!("test -e held && exit 0; touch held; echo '{more}'"));
    let script = Script::new().text("Done.").usage(1, 1).then().text("Docs, too.").usage(1, 1);
    let room = Room::new(hooked(script, &json!({ "Stop": [once] }))).await;
    room.say("go").await;
    let transcript = room.transcript().await;
    assert_eq!(transcript[2], r#"user "[Stop hook] and the docs?""#, "{transcript:#?}");
    assert_eq!(transcript[3], r#"assistant "Docs, too." Done"#);
}

#[tokio::test]
async fn a_line_may_be_bash_and_its_patience_part_of_a_second() {
    let mut guard = command("[[ $(cat) == *touch* ]] && { echo 'no touch' >&2; exit 2; }; exit 0");
    guard["shell"] = json!("bash");
    let mut slow = command("sleep 60");
    slow["timeout"] = json!(0.2);
    for (handler, expected) in [(guard, "no touch"), (slow, "took longer than 0.2 s")] {
        let room = Room::new(hooked(bash("touch a"), &on("PreToolUse", "", &handler))).await;
        let events = room.say("go").await;
        assert!(format!("{events:?}").contains(expected), "{expected} in {events:?}");
    }
}

#[tokio::test]
async fn a_hook_can_read_the_transcript_so_far() {
    let read = "path=$(sed 's/.*\"transcript_path\":\"\\([^\"]*\\)\".*/\\1/'); echo $path > path; cp $path story";
    let hooks = json!({ "PreToolUse": [command(read)] });
    let room = Room::new(hooked(bash("true"), &hooks)).await;
    room.say("hello there").await;
    let story = std::fs::read_to_string(room.folder.join("story")).unwrap();
    let lines: Vec<Value> = story.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{story}");
    assert_eq!(lines[0]["message"]["content"][0]["text"], "hello there");
    assert_eq!(lines[1]["message"]["content"][0]["name"], "Bash");
    let path = std::fs::read_to_string(room.folder.join("path")).unwrap();
    assert!(std::path::Path::new(path.trim()).exists());
    room.coordinator.close().await;
    assert!(!std::path::Path::new(path.trim()).exists(), "it goes with the session");
}

#[tokio::test]
async fn a_session_without_hooks_leaves_nothing_behind() {
    let room = Room::new(hooked(bash("true"), &json!({}))).await;
    let events = room.say("go").await;
    assert!(!events.iter().any(|event| matches!(event, Event::Hook { .. })));
    assert!(!room.folder.parent().unwrap().join(".cache/caiman/transcripts").exists());
}

#[tokio::test]
async fn a_sub_agent_has_events_of_its_own() {
    let hold =
        "cat > stop.json; test -e checked || { touch checked; echo 'look twice' >&2; exit 2; }";
    let hooks = json!({
        "SubagentStart": [{ "matcher": "explorer", "hooks": [command("echo be brief")] },
                          { "matcher": "other", "hooks": [command("echo be long")] }],
        "SubagentStop": [command(hold)],
        "PreToolUse": [{ "matcher": "Grep", "hooks": [command("cat > pre.json")] }],
        "SessionStart": [command("echo x >> starts")],
        "UserPromptSubmit": [command("echo x >> prompts")],
        "Stop": [command("echo x >> stops")],
    });
    let child = |words: &str| When {
        contains: Some(words.to_owned()),
        lacks: Some("PARENT".to_owned()),
        ..When::default()
    };
    let task = json!({ "prompt": "find the owl", "description": "find the owl" });
    let script = Script::new().call("agent", task).then().when(child("find the owl"));
    let script = script.call("grep", json!({ "pattern": "owl" })).then().when(child("owl.txt"));
    let script = script.text("Somewhere.").then().when(child("look twice")).text("In owl.txt.");
    let room = Room::new(hooked(script.then().text("Done."), &hooks)).await;
    room.write("owl.txt", "an owl\n");
    room.say("PARENT: where is the owl?").await;
    let transcript = room.transcript().await;
    assert!(transcript[2].contains("In owl.txt."), "{transcript:#?}");
    let read = |name: &str| std::fs::read_to_string(room.folder.join(name)).unwrap();
    let told = |name: &str| serde_json::from_str::<Value>(&read(name)).unwrap();
    let (pre, stop) = (told("pre.json"), told("stop.json"));
    assert_eq!((&pre["agent_type"], &stop["agent_type"]), (&json!("explorer"), &json!("explorer")));
    assert!(pre["agent_id"].is_string() && stop["agent_transcript_path"].is_string());
    assert_eq!(pre["session_id"], json!(room.session), "the session is the parent's");
    assert!(pre["transcript_path"].to_string().contains(&room.session.to_string()), "{pre}");
    assert!(stop["agent_transcript_path"].to_string().contains(pre["agent_id"].as_str().unwrap()));
    assert_eq!(
        (&stop["hook_event_name"], &stop["stop_hook_active"]),
        (&json!("SubagentStop"), &json!(true))
    );
    let asked: Vec<String> =
        room.server.requests().iter().map(|request| request.body.to_string()).collect();
    assert!(asked.iter().any(|body| body.contains("[SubagentStart hook] be brief")), "{asked:#?}");
    assert!(!asked.iter().any(|body| body.contains("be long")));
    for name in ["starts", "prompts", "stops"] {
        assert_eq!(read(name), "x\n", "{name}: the sub-agent has none of these");
    }
    room.assert_valid();
}
