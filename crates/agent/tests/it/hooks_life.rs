//! Hooks over the life of a session: how it begins and ends, what they leave for later, and handlers that
//! nobody waits for.

use std::path::Path;
use std::time::Duration;

use agent::Presence;
use base::protocol::{Delivery, Op};
use base::{EntryKind, Event, Part, SessionId};
use serde_json::{Value, json};
use settings::parse_text;
use testkit::Script;
use testkit::script::When;

use crate::room::{Plan, Room, to_the_end, until};

fn hooked(script: Script, hooks: &Value) -> Plan {
    let loaded = parse_text("caiman.json", &json!({ "hooks": hooks }).to_string());
    assert_eq!(loaded.problems, [], "{hooks}");
    Plan { config: loaded.config, ..Plan::with_tools(script) }
}

fn command(line: &str) -> Value {
    json!({ "type": "command", "command": line, "timeout": 30 })
}

fn bash(line: &str) -> Script {
    Script::new().call("bash", json!({ "command": line })).then().text("Done.")
}

/// A model that answers as often as it is asked.
fn talker() -> Script {
    (1..8).fold(Script::new().text("Answer 0.").usage(1, 1), |script, turn| {
        script.then().text(&format!("Answer {turn}.")).usage(1, 1)
    })
}

fn notices(events: &[Event]) -> String {
    let mut texts = String::new();
    for event in events {
        if let Event::Notice { text, .. } = event {
            texts += text;
        }
    }
    texts
}

async fn appears(path: &Path) -> String {
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text,
            Ok(_) | Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

#[tokio::test]
async fn a_handler_that_says_so_is_not_waited_for_and_decides_nothing() {
    let line = "cat > /dev/null; echo '{\"async\": true}'; while [ ! -e go ]; do sleep 0.01; done; \
        echo '{\"systemMessage\": \"to you\", \"continue\": false, \"hookSpecificOutput\": {\"hookEventName\": \
        \"PreToolUse\", \"permissionDecision\": \"deny\", \"additionalContext\": \"to the model\"}}'; exit 0";
    let script = bash("touch go").then().text("Hi.").usage(1, 1);
    let room = Room::new(hooked(script, &json!({ "PreToolUse": [command(line)] }))).await;
    let mut events = room.watch();
    room.say("one").await;
    // The call ran, or the handler would still wait for its file.
    let told = until(&mut events, |event| matches!(event, Event::Notice { .. })).await;
    assert!(format!("{told:?}").contains("to you"), "{told:?}");
    room.say("two").await;
    let transcript = room.transcript().await.join("\n");
    assert!(transcript.contains("[PreToolUse hook] to the model"), "{transcript}");
    assert!(!transcript.contains("denied") && !transcript.contains("did not run"), "{transcript}");
    room.assert_valid();
}

#[tokio::test]
async fn a_stop_does_not_reach_a_handler_that_was_let_go_but_the_end_does() {
    let line = "echo '{\"async\": true}'; (sleep 300 & echo $! > pid; wait) & wait";
    let script = bash("sleep 300");
    let room = Room::new(hooked(script, &json!({ "PreToolUse": [command(line)] }))).await;
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    until(&mut events, |event| matches!(event, Event::ToolStarted { .. })).await;
    let pid = appears(&room.folder.join("pid")).await;
    room.submit(Op::Stop { session: room.session }).await;
    to_the_end(&mut events).await;
    let lives = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    assert!(lives(), "it was let go before the stop");
    room.coordinator.close().await;
    for _ in 0..1000 {
        if !lives() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{pid} is still there");
}

#[tokio::test]
async fn the_no_of_a_handler_nobody_waits_for_is_a_word_and_may_reach_the_model() {
    for (key, expected) in [("async", false), ("asyncRewake", true)] {
        let mut handler = command("echo 'tests fail' >&2; exit 2");
        handler[key] = json!(true);
        let script = bash("touch a").then().text("Hi.").usage(1, 1);
        let room = Room::new(hooked(script, &json!({ "PreToolUse": [handler] }))).await;
        let mut events = room.watch();
        room.say("one").await;
        let is_told = |event: &Event| matches!(event, Event::Notice { text, .. } if text.contains("tests fail"));
        until(&mut events, is_told).await;
        room.say("two").await;
        assert!(room.folder.join("a").exists());
        let transcript = room.transcript().await.join("\n");
        assert_eq!(transcript.contains("[PreToolUse hook] tests fail"), expected, "{transcript}");
    }
}

#[tokio::test]
async fn variables_of_a_beginning_count_for_commands_and_those_of_sub_agents() {
    let start = "test -z \"$(cat \"$CLAUDE_ENV_FILE\")\" && echo $CLAUDE_ENV_FILE > file; \
        echo 'export COLOUR=\"deep red\"' >> \"$CLAUDE_ENV_FILE\"; \
        echo 'export PATH=\"/opt/owl/bin:$PATH\"' >> \"$CLAUDE_ENV_FILE\"; \
        echo 'export EVIL=$(touch evil)' >> \"$CLAUDE_ENV_FILE\"";
    let hooks = json!({ "SessionStart": [command(start)], "Stop": [command("env > stop.env")] });
    let task = json!({ "prompt": "CHILD: look", "description": "look", "agent": "general" });
    let child = |words: &str| When {
        contains: Some(words.to_owned()),
        lacks: Some("PARENT".to_owned()),
        ..When::default()
    };
    let script = Script::new()
        .call("bash", json!({ "command": "echo \"$COLOUR|$PATH|$EVIL|\" > own" }))
        .then()
        .call("agent", task)
        .then()
        .when(child("CHILD"))
        .call("bash", json!({ "command": "echo \"$COLOUR\" > childs; echo seen" }))
        .then()
        .when(child("seen"))
        .text("Looked.")
        .then()
        .text("Done.");
    let room = Room::new(hooked(script, &hooks)).await;
    let events = room.say("PARENT: go").await;
    let read = |name: &str| std::fs::read_to_string(room.folder.join(name)).unwrap();
    assert!(read("own").starts_with("deep red|/opt/owl/bin:/"), "{}", read("own"));
    assert!(read("own").ends_with("||\n"), "{}", read("own"));
    assert_eq!(read("childs"), "deep red\n");
    assert!(!room.folder.join("evil").exists(), "nothing in the file runs");
    assert!(notices(&events).contains("line 3 of CLAUDE_ENV_FILE"), "{events:?}");
    assert!(!Path::new(read("file").trim()).exists(), "the file goes with its handler");
    assert!(!read("stop.env").contains("COLOUR"), "handlers have the user's environment");
    room.submit(Op::Shell { session: room.session, line: "echo $COLOUR > shells".to_owned() })
        .await;
    assert_eq!(appears(&room.folder.join("shells")).await, "deep red\n");
}

#[tokio::test]
async fn a_secret_of_a_beginning_is_masked_from_then_on() {
    let start = "cat secret >> \"$CLAUDE_ENV_FILE\"; cat secret";
    let script = bash("echo \"it is $DEPLOY_TOKEN\"; echo ${#DEPLOY_TOKEN}");
    let room = Room::new(hooked(script, &json!({ "SessionStart": [command(start)] }))).await;
    room.write("secret", "export DEPLOY_TOKEN=qv7-blue-kite-91\n");
    let events = room.say("go").await;
    let transcript = room.transcript().await.join("\n");
    assert!(
        transcript.contains("it is [masked: secret]") && transcript.contains("16"),
        "{transcript}"
    );
    assert!(!format!("{events:?}{:?}", room.server.requests()).contains("blue-kite"));
}

#[tokio::test]
async fn a_beginning_says_something_for_the_user_once() {
    let words = json!({ "hookSpecificOutput": { "hookEventName": "SessionStart",
        "initialUserMessage": "Read NOTES.md first.", "sessionTitle": "Owls" } });
    let hooks = json!({ "SessionStart": [command(&format!("cat > start.json; echo '{words}'"))] });
    let plan = hooked(talker(), &hooks);
    let room = Room::new(plan).await;
    room.say("hello").await;
    room.say("more").await;
    let transcript = room.transcript().await;
    assert_eq!(transcript[0], r#"user "Read NOTES.md first." "hello""#, "{transcript:#?}");
    assert_eq!(transcript[2], r#"user "more""#);
    let row = room.store.session(room.session).await.unwrap();
    assert_eq!(row.summary.title.as_deref(), Some("Owls"));
    let again = room.reopened(&hooked(talker(), &hooks));
    let mut events = base::protocol::Client::subscribe(
        &again,
        base::protocol::EventFilter::All,
        again.newest_event(),
    );
    base::protocol::Client::submit(&again, room.saying("third", Delivery::Queue)).await.unwrap();
    to_the_end(&mut events).await;
    let told: Value =
        serde_json::from_str(&std::fs::read_to_string(room.folder.join("start.json")).unwrap())
            .unwrap();
    assert_eq!((&told["source"], &told["session_title"]), (&json!("resume"), &json!("Owls")));
    let transcript = room.transcript().await;
    assert_eq!(transcript[4], r#"user "third""#, "{transcript:#?}");
}

#[tokio::test]
async fn sessions_say_how_they_begin_and_end_as_the_user_goes_from_one_to_another() {
    let note = |event: &str, key: &str| {
        command(&format!(
            "sed 's/.*\"{key}\":\"\\([a-z_]*\\)\".*/{event} \\1/' >> life; echo >> life"
        ))
    };
    let hooks =
        json!({ "SessionStart": [note("start", "source")], "SessionEnd": [note("end", "reason")] });
    let plan = Plan { presence: Presence::Attended, ..hooked(talker(), &hooks) };
    let room = Room::new(plan).await;
    let lines = |count: usize| {
        let life = room.folder.join("life");
        async move {
            loop {
                let text = std::fs::read_to_string(&life).unwrap_or_default();
                let words: Vec<String> =
                    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
                if words.len() >= count {
                    let mut words = words;
                    words.sort();
                    return words;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    };
    let say_in = async |session: SessionId| {
        let mut events = room.watch();
        let parts = vec![Part::user_text("hello")];
        room.submit(Op::say(session, parts, Delivery::Queue)).await;
        to_the_end(&mut events).await;
    };
    say_in(room.session).await;
    say_in(room.session).await;
    assert_eq!(lines(1).await, ["start startup"]);
    let (second, folder) = (SessionId::new(), room.folder.display().to_string());
    room.submit(Op::NewSession { session: second, folder }).await;
    say_in(second).await;
    assert_eq!(lines(3).await, ["end clear", "start clear", "start startup"]);
    std::fs::remove_file(room.folder.join("life")).unwrap();
    say_in(room.session).await;
    assert_eq!(lines(2).await, ["end resume", "start resume"]);
    std::fs::remove_file(room.folder.join("life")).unwrap();
    let branch = room.store.branch(second).await.unwrap();
    let (entry, into) = (branch.last().unwrap().id, SessionId::new());
    assert!(matches!(branch.last().unwrap().kind, EntryKind::Assistant { .. }));
    room.submit(Op::Fork { session: second, entry, into }).await;
    say_in(into).await;
    assert_eq!(lines(2).await, ["end resume", "start fork"]);
    std::fs::remove_file(room.folder.join("life")).unwrap();
    room.coordinator.close().await;
    assert_eq!(lines(1).await, ["end prompt_input_exit"], "those that were left have ended");
}

#[tokio::test]
async fn sessions_of_a_program_live_beside_each_other() {
    let note = |word: &str| command(&format!("cat > /dev/null; echo {word} >> life"));
    let hooks = json!({ "SessionStart": [note("start")], "SessionEnd": [note("end")] });
    let room = Room::new(Plan { presence: Presence::Reachable, ..hooked(talker(), &hooks) }).await;
    let (second, folder) = (SessionId::new(), room.folder.display().to_string());
    room.submit(Op::NewSession { session: second, folder }).await;
    for session in [room.session, second, room.session, second] {
        let mut events = room.watch();
        let parts = vec![Part::user_text("hello")];
        room.submit(Op::say(session, parts, Delivery::Queue)).await;
        to_the_end(&mut events).await;
    }
    room.coordinator.close().await;
    let life = std::fs::read_to_string(room.folder.join("life")).unwrap();
    assert_eq!(life, "start\nstart\nend\nend\n");
}

#[tokio::test]
async fn the_user_is_reminded_once_that_a_turn_has_ended() {
    let hooks = json!({ "Notification": [{ "matcher": "idle_prompt", "hooks": [command("cat >> idle; echo >> idle")] }] });
    for (presence, expected) in [(Presence::Attended, true), (Presence::Alone, false)] {
        let mut plan = Plan { presence, ..hooked(talker(), &hooks) };
        plan.config.options.idle_prompt_s = 0;
        let room = Room::new(plan).await;
        room.say("hello").await;
        if expected {
            let told = appears(&room.folder.join("idle")).await;
            assert!(told.contains("Caiman is waiting for your input"), "{told}");
            assert!(told.contains("idle_prompt"), "{told}");
        }
        room.coordinator.close().await;
        let told = std::fs::read_to_string(room.folder.join("idle")).unwrap_or_default();
        assert_eq!(told.matches("idle_prompt").count(), usize::from(expected), "{told}");
    }
}
