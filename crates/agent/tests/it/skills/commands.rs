//! `/name`: skills and custom commands the user calls.

use std::time::{Duration, Instant};

use base::Event;
use base::protocol::{Client, ClientError, Mode, Op};
use settings::definition::skill::{Callers, Context};
use settings::definition::{Definitions, Plugin, Source, Standing};
use testkit::Script;
use testkit::script::When;

use super::{call, plan, submit};
use crate::definitions::{command, skill};
use crate::room::{Plan, Room};

fn with_command(script: Script, body: &str) -> Plan {
    let mut tidy = command("git:tidy", "Tidies branches");
    body.clone_into(&mut tidy.body);
    let definitions = Definitions { commands: vec![tidy], ..Definitions::default() };
    Plan { mode: Mode::Default, definitions, ..Plan::with_tools(script) }
}

async fn said(room: &Room) -> String {
    let transcript = room.transcript().await;
    transcript.into_iter().rfind(|line| line.starts_with("user ")).unwrap_or_default()
}

#[tokio::test]
async fn a_command_is_said_with_its_arguments() {
    let room = Room::new(with_command(Script::new().text("Done."), "Tidy $1, keep $2.")).await;
    call(&room, "/git:tidy 'old ones' main").await;
    assert_eq!(said(&room).await, r#"user "Tidy old ones, keep main.""#);
    room.assert_valid();
}

#[tokio::test]
async fn commands_in_it_run_once_before_it_is_said() {
    let body = "Now: !`echo $((6*7)); echo x >> /dev/null`\n```!\ncat notes.md | head -1\n```\nGo.";
    let room = Room::new(with_command(Script::new().text("Done."), body)).await;
    room.write("notes.md", "first\nsecond\n");
    call(&room, "/git:tidy").await;
    assert_eq!(said(&room).await, r#"user "Now: 42\nfirst\nGo.""#);
    assert_eq!(room.server.requests().len(), 1);
}

#[tokio::test]
async fn a_command_that_fails_ends_it_and_nothing_is_said() {
    let body = "Now: !`echo broken; exit 3`";
    let room = Room::new(with_command(Script::new().text("Done."), body)).await;
    let error = submit(&room, "/git:tidy").await.unwrap_err().to_string();
    assert!(error.contains("exit code 3") && error.contains("broken"), "{error}");
    assert!(room.transcript().await.is_empty());
    assert!(room.server.requests().is_empty());
    room.say("still here?").await;
}

#[tokio::test]
async fn a_stop_reaches_a_command_that_hangs() {
    let room = Room::new(with_command(Script::new().text("Done."), "!`sleep 30`")).await;
    let began = Instant::now();
    let (session, coordinator) = (room.session, room.coordinator.clone());
    let stop = async {
        // Until it runs, a stop has nothing to reach.
        while began.elapsed() < Duration::from_secs(20) {
            coordinator.submit(Op::Stop { session }).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        ended = submit(&room, "/git:tidy") => {
            let error = ended.unwrap_err().to_string();
            assert!(error.contains("stopped"), "{error}");
        }
        () = stop => panic!("the command was not stopped"),
    }
}

#[tokio::test]
async fn files_it_names_come_with_it() {
    let body = "Review @src/a.rs, @$1 and @alice.\nAlso @missing.md.";
    let room = Room::new(with_command(Script::new().text("Done."), body)).await;
    room.write("src/a.rs", "fn a() {}\n</file>\n");
    room.write("b.rs", "fn b() {}\n");
    call(&room, "/git:tidy b.rs").await;
    let said = said(&room).await;
    assert!(said.contains(r#"<file path=\"src/a.rs\">\nfn a() {}\n<\\/file>\n</file>"#), "{said}");
    assert!(said.contains(r#"<file path=\"b.rs\">\nfn b() {}\n</file>"#), "{said}");
    assert!(said.contains("[@missing.md.: there is no such file]"), "{said}");
    assert!(!said.contains("[@alice"), "{said}");
}

#[tokio::test]
async fn a_skill_stands_before_a_command_and_ours_before_both() {
    let mut deploy = skill("deploy", "Brings it out");
    deploy.body = "By the skill: $ARGUMENTS".to_owned();
    let mut lore = skill("lore", "For the model");
    lore.callers = Callers::Model;
    let mut other = command("lore", "For the user");
    other.body = "By the command".to_owned();
    let mut plan = plan(Script::new().text("One.").then().text("Two."), vec![deploy, lore]);
    plan.definitions.commands = vec![command("deploy", "Hidden"), other, command("cost", "Hidden")];
    let room = Room::new(plan).await;
    call(&room, "/Deploy to staging").await;
    assert!(said(&room).await.contains("By the skill: to staging"));
    call(&room, "/lore").await;
    assert!(said(&room).await.contains("By the command"));
    let mut events = room.watch();
    submit(&room, "/cost").await.unwrap();
    let notice = crate::room::until(&mut events, |it| matches!(it, Event::Notice { .. })).await;
    assert!(format!("{notice:?}").contains("model calls"), "{notice:?}");
    crate::room::until(&mut events, |it| matches!(it, Event::CommandDone { .. })).await;
}

#[tokio::test]
async fn what_nobody_knows_is_refused_with_a_suggestion() {
    let room = Room::new(with_command(Script::new(), "x")).await;
    let error = submit(&room, "/git:tydi").await.unwrap_err();
    assert!(matches!(&error, ClientError::Refused(why) if why.contains("/git:tidy")), "{error}");
    assert!(room.transcript().await.is_empty());
}

#[tokio::test]
async fn its_model_answers_for_one_turn() {
    let script = Script::new().text("One.").then().text("Two.");
    let mut plan = with_command(script, "Think hard.");
    plan.definitions.commands[0].model = Some("lab/big".to_owned());
    let room = Room::new(plan).await;
    call(&room, "/git:tidy").await;
    room.say("And now?").await;
    let models: Vec<String> = room
        .server
        .requests()
        .iter()
        .map(|request| request.body["model"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(models, ["big", "m"]);
}

#[tokio::test]
async fn a_model_that_nobody_lists_is_told_of_and_not_asked() {
    let mut plan = with_command(Script::new().text("One."), "Think hard.");
    plan.definitions.commands[0].model = Some("gpt-77".to_owned());
    let room = Room::new(plan).await;
    let events = call(&room, "/git:tidy").await;
    assert_eq!(room.server.bodies()[0]["model"], "m");
    let is_told = |event: &Event| matches!(event, Event::Notice { text, .. } if text.contains("no model `gpt-77`"));
    assert!(events.iter().any(is_told), "{events:?}");
}

#[tokio::test]
async fn what_it_allows_holds_for_its_turn() {
    let write = |path: &str| serde_json::json!({ "file_path": path, "content": "x\n" });
    let script = Script::new().call("write", write("a")).then().text("Done.").then();
    let script = script.call("write", write("b")).then().text("Pity.");
    let mut plan = with_command(script, "Write.");
    plan.definitions.commands[0].allowed_tools = vec!["Edit".to_owned()];
    let room = Room::new(plan).await;
    call(&room, "/git:tidy").await;
    room.say("again").await;
    assert!(room.folder.join("a").exists() && !room.folder.join("b").exists());
}

#[tokio::test]
async fn a_plugins_files_are_found_by_its_root() {
    let room = Room::new(Plan::from(Script::new())).await;
    let folder = room.folder.parent().unwrap().join("plugins/kit");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("rules.md"), "Rule one.\n").unwrap();
    let body = "Follow @${CLAUDE_PLUGIN_ROOT}/rules.md and !`cat ${CAIMAN_PLUGIN_ROOT}/rules.md`";
    let mut plan = with_command(Script::new().text("Done."), body);
    let tidy = &mut plan.definitions.commands[0];
    tidy.name = "kit:tidy".to_owned();
    tidy.home.source = Source::Plugin("kit".to_owned());
    tidy.allowed_tools = vec!["Bash(cat:*)".to_owned()];
    plan.definitions.plugins = vec![Plugin {
        name: "kit".to_owned(),
        version: None,
        description: None,
        folder: folder.clone(),
        hooks: settings::definition::Hooks::default(),
        mcp_servers: std::collections::BTreeMap::new(),
        standing: Standing::Trusted,
    }];
    let room = Room::new(plan).await;
    call(&room, "/kit:tidy").await;
    let said = said(&room).await;
    assert_eq!(said.matches("Rule one.").count(), 2, "{said}");
}

/// A skill that a sub-agent works on, and what that sub-agent answers.
fn forked(script: Script) -> Plan {
    let mut apart = skill("apart", "Works apart");
    apart.context = Context::Fork;
    "Count the $1.".clone_into(&mut apart.body);
    Plan { mode: Mode::Bypass, ..plan(script, vec![apart]) }
}

fn child() -> When {
    let (contains, lacks) = (Some("Count the owls.".to_owned()), Some("PARENT".to_owned()));
    When { contains, lacks, ..When::default() }
}

#[tokio::test]
async fn a_forked_skill_is_worked_on_by_a_sub_agent() {
    let script = Script::new().call("skill", super::load("apart", "owls")).then();
    let script = script.when(child()).text("Three owls.").then().text("There are three.");
    let room = Room::new(forked(script)).await;
    let events = room.say("PARENT: how many owls?").await;
    let results = super::results(&room).await;
    assert!(results[0].contains("Three owls."), "{results:?}");
    assert!(events.iter().any(|event| matches!(event, Event::ChildStarted { .. })));
}

#[tokio::test]
async fn a_forked_skill_the_user_calls_reports_to_the_model() {
    let script = Script::new().when(child()).text("Three owls.").then().text("There are three.");
    let room = Room::new(forked(script)).await;
    call(&room, "/apart owls").await;
    let said = said(&room).await;
    assert!(said.contains("Three owls.") && !said.contains("Count the"), "{said}");
}

#[tokio::test]
async fn a_forked_skills_terms_are_those_of_its_sub_agent() {
    let write = |path: &str| serde_json::json!({ "file_path": path, "content": "x\n" });
    let stop = serde_json::json!({ "hooks": { "PreToolUse": [{ "command": "cat > seen.json" }] } });
    let hooks = settings::parse_text("caiman.json", &stop.to_string()).config.hooks;
    let by_model = Script::new().call("skill", super::load("apart", "owls")).then();
    let by_user = Script::new();
    for (script, line) in [(by_model, None), (by_user, Some("/apart owls"))] {
        let script = script.when(child()).call("write", write("a")).call("write", write("no/b"));
        let script = script.then().when(child()).text("Three owls.").then();
        let mut plan = Plan { mode: Mode::Default, ..forked(script.text("There are three.")) };
        let apart = &mut plan.definitions.skills[0];
        apart.allowed_tools = vec!["Edit".to_owned()];
        apart.disallowed_tools = vec!["Edit(no/**)".to_owned()];
        apart.effort = Some(base::Effort::High);
        apart.model = Some("lab/big".to_owned());
        apart.hooks = hooks.clone();
        let room = Room::new(plan).await;
        match line {
            None => drop(room.say("PARENT: how many owls?").await),
            Some(line) => drop(call(&room, line).await),
        }
        assert!(room.folder.join("a").exists() && !room.folder.join("no/b").exists());
        let seen = std::fs::read_to_string(room.folder.join("seen.json")).unwrap();
        assert!(seen.contains("\"agent_type\":\"general\""), "{seen}");
        assert!(seen.contains("\"effort\":{\"level\":\"high\"}"), "{seen}");
        for request in room.server.requests() {
            let is_child = request.body.to_string().contains("Count the owls.")
                && !request.body.to_string().contains("PARENT");
            let is_child = is_child && !request.body.to_string().contains("reports:");
            assert_eq!(request.body["model"] == "big", is_child, "{}", request.body);
        }
    }
}

#[tokio::test]
async fn a_command_has_a_skills_fields() {
    let write = serde_json::json!({ "file_path": "a", "content": "x\n" });
    let script = Script::new().call("write", write.clone()).then().text("Pity.").then();
    let script = script.call("write", write).then().text("Done.");
    let mut plan = Plan { mode: Mode::Bypass, ..with_command(script, "Write.") };
    plan.definitions.commands[0].disallowed_tools = vec!["Edit".to_owned()];
    plan.definitions.commands[0].effort = Some(base::Effort::High);
    let hooks =
        serde_json::json!({ "hooks": { "PreToolUse": [{ "command": "cat >> seen.json" }] } });
    plan.config.hooks = settings::parse_text("caiman.json", &hooks.to_string()).config.hooks;
    let room = Room::new(plan).await;
    call(&room, "/git:tidy").await;
    assert!(!room.folder.join("a").exists(), "what it forbids holds for its turn");
    room.say("again").await;
    assert!(room.folder.join("a").exists());
    let seen = std::fs::read_to_string(room.folder.join("seen.json")).unwrap();
    let efforts: Vec<bool> = seen.lines().map(|it| it.contains("{\"level\":\"high\"}")).collect();
    assert_eq!(efforts, [true, false], "{seen}");
}

#[tokio::test]
async fn hooks_see_what_is_said() {
    let guard = "grep -q hunter2 && { echo 'holds a password' >&2; exit 2; }; exit 0";
    let hooks = serde_json::json!({ "hooks": { "UserPromptSubmit": [
        { "hooks": [{ "type": "command", "command": guard, "timeout": 30 }] }
    ] } });
    let loaded = settings::parse_text("caiman.json", &hooks.to_string());
    let write = serde_json::json!({ "file_path": "a", "content": "x" });
    let script = Script::new().call("write", write).then().text("Done.");
    let mut plan = Plan { config: loaded.config, ..with_command(script, "Keep $1.") };
    plan.definitions.commands[0].allowed_tools = vec!["Edit".to_owned()];
    let room = Room::new(plan).await;
    let blocked = call(&room, "/git:tidy hunter2").await;
    assert!(format!("{:?}", blocked.last()).contains("holds a password"), "{blocked:?}");
    assert!(room.server.requests().is_empty());
    call(&room, "/git:tidy calm").await;
    assert_eq!(said(&room).await, r#"user "Keep calm.""#);
    assert!(room.folder.join("a").exists(), "what it allows holds behind hooks, too");
}
