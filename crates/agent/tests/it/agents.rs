//! Custom agents: files that make sub-agents and main agents of their own.

use base::protocol::{Client, Delivery, Op};
use base::transcript::prefix;
use base::{Event, Part, SessionId};
use serde_json::{Value, json};
use testkit::Script;
use testkit::script::When;

use crate::room::{Plan, Room, to_the_end};

const HISTORIAN: &str = "---
name: historian
description: Use proactively for questions about: when and why something changed
tools: Read, Grep, Bash(git log:*)
model: small
maxTurns: 4
color: purple
---
You know the history of this project.
";

fn historian() -> When {
    When { contains: Some("You know the history".to_owned()), ..When::default() }
}

fn task(agent: &str) -> Value {
    json!({ "prompt": "why?", "agent": agent })
}

async fn room(script: Script) -> Room {
    let plan = Plan { small: true, ..Plan::with_tools(script) };
    let room = Room::new(plan).await;
    std::fs::create_dir(room.folder.join(".git")).unwrap();
    room.write(".claude/agents/deep/historian.md", HISTORIAN);
    room
}

fn child(events: &[Event]) -> (SessionId, Option<String>) {
    let started = events.iter().find_map(|event| {
        let Event::ChildStarted { child, color, .. } = event else { return None };
        Some((*child, color.clone()))
    });
    started.unwrap_or_else(|| panic!("no child in {events:#?}"))
}

#[tokio::test]
async fn an_agent_of_a_file_is_offered_called_and_kept_to_its_tools() {
    let script = Script::new()
        .when(When { contains: Some("say hello".to_owned()), ..When::default() })
        .text("A title")
        .then()
        .call("agent", task("Historian"))
        .then()
        .when(historian())
        .call("bash", json!({ "command": "touch made" }))
        .call("view", json!({ "file_path": "a.txt" }))
        .then()
        .when(historian())
        .text("Because of the owls.")
        .then()
        .text("Owls.");
    let room = room(script).await;
    room.write("a.txt", "an owl\n");
    let events = room.say("PARENT: why was it changed?").await;
    let branch = room.store.branch(room.session).await.unwrap();
    let (system, _) = prefix(&branch).unwrap();
    let offered = system.join("\n");
    assert!(
        offered.contains("- historian: Use proactively for questions about: when"),
        "{offered}"
    );
    let (child, color) = child(&events);
    assert_eq!(color.as_deref(), Some("purple"));
    let own = room.store.branch(child).await.unwrap();
    let (system, tools) = prefix(&own).unwrap();
    assert_eq!(system[0].trim(), "You know the history of this project.");
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["bash", "grep", "view"]);
    assert!(!room.folder.join("made").exists());
    let denied = events.iter().find_map(|event| {
        let Event::Denied { reason, .. } = event else { return None };
        Some(reason.clone())
    });
    assert!(denied.unwrap().contains("Bash(git log:*)"));
    let transcript = room.transcript().await.join("\n");
    assert!(transcript.contains("Because of the owls."), "{transcript}");
}

#[tokio::test]
async fn an_agent_that_is_named_or_new_is_told_without_touching_the_prefix() {
    let script = Script::new().text("Hi.").then().text("I see.").then().text("Yes.");
    let room = room(script).await;
    room.say("PARENT: hello").await;
    room.write(
        ".caiman/agents/critic.md",
        "---\nname: critic\ndescription: Finds faults\n---\nFind faults.\n",
    );
    room.say("PARENT: @agent-historian why?").await;
    room.say("PARENT: and now?").await;
    let bodies = room.server.bodies().iter().map(Value::to_string).collect::<Vec<_>>();
    let own: Vec<&String> = bodies.iter().filter(|body| body.contains("\"tools\"")).collect();
    let [_, second, third] = own[..] else { panic!("{} requests", own.len()) };
    assert!(second.contains("The user wants the agent `historian` to do this"), "{second}");
    assert!(second.contains("- critic: Finds faults"), "a new agent counts at once: {second}");
    assert_eq!(third.matches("- critic: Finds faults").count(), 1, "told once: {third}");
    let branch = room.store.branch(room.session).await.unwrap();
    let prefixes = branch.iter().filter(|entry| prefix(std::slice::from_ref(*entry)).is_some());
    assert_eq!(prefixes.count(), 1, "the prefix stays");
}

#[tokio::test]
async fn one_nobody_knows_is_answered_with_those_there_are() {
    let script = Script::new().call("agent", task("histrion")).then().text("Oh.");
    let room = room(script).await;
    room.say("PARENT: why?").await;
    let transcript = room.transcript().await.join("\n");
    assert!(transcript.contains("historian, explorer, general"), "{transcript}");
}

#[tokio::test]
async fn an_agent_is_the_main_one_when_asked_for() {
    let script = Script::new().text("Long ago.");
    let plan = Plan { agent: Some("historian".to_owned()), ..Plan::with_tools(script) };
    let room = Room::new(plan).await;
    room.write(".caiman/agents/historian.md", HISTORIAN);
    let session = SessionId::new();
    let folder = room.folder.display().to_string();
    room.submit(Op::NewSession { session, folder }).await;
    let mut events = room.watch();
    let parts = vec![Part::user_text("when?")];
    room.coordinator.submit(Op::say(session, parts, Delivery::Queue)).await.unwrap();
    to_the_end(&mut events).await;
    let branch = room.store.branch(session).await.unwrap();
    let (system, tools) = prefix(&branch).unwrap();
    assert_eq!(system[0].trim(), "You know the history of this project.");
    assert_eq!(tools.len(), 3);
    assert_eq!(room.store.session(session).await.unwrap().agent.as_deref(), Some("historian"));
    std::fs::remove_file(room.folder.join(".caiman/agents/historian.md")).unwrap();
    let room = room.rescripted(Plan::with_tools(Script::new().text("Still here."))).await;
    let mut events = room.watch();
    let parts = vec![Part::user_text("and now?")];
    room.submit(Op::say(session, parts, Delivery::Queue)).await;
    let told = to_the_end(&mut events).await;
    let is_gone =
        |event: &Event| matches!(event, Event::Notice { text, .. } if text.contains("is gone"));
    assert!(told.iter().any(is_gone), "a session outlives its agent's file: {told:?}");
}

#[tokio::test]
async fn an_agent_with_a_memory_finds_its_notes_and_says_its_first_words() {
    let agent = "---\nname: elephant\ndescription: Remembers\nmemory: user\ntools: Grep\n\
                 initialPrompt: Look around first.\n---\nYou remember.\n";
    let script = Script::new().text("Yes.").then().text("Yes, again.");
    let plan = Plan { agent: Some("elephant".to_owned()), ..Plan::with_tools(script) };
    let room = Room::new(plan).await;
    room.write(".caiman/agents/elephant.md", agent);
    let notes = room.dir.path().join(".local/share/caiman/agent-memory/elephant");
    std::fs::create_dir_all(&notes).unwrap();
    std::fs::write(notes.join("MEMORY.md"), "The owl is in the barn.\n").unwrap();
    let session = SessionId::new();
    let folder = room.folder.display().to_string();
    room.submit(Op::NewSession { session, folder }).await;
    for _ in 0..2 {
        let mut events = room.watch();
        let parts = vec![Part::user_text("Do you remember?")];
        room.submit(Op::say(session, parts, Delivery::Queue)).await;
        to_the_end(&mut events).await;
    }
    let asked = room.server.bodies()[1].to_string();
    assert!(asked.contains("The owl is in the barn."), "{asked}");
    assert_eq!(asked.matches("Look around first.").count(), 1, "{asked}");
    for tool in ["grep", "view", "write", "edit"] {
        assert!(asked.contains(&format!("\"name\":\"{tool}\"")), "{tool}: {asked}");
    }
}

#[tokio::test]
async fn a_projects_link_leads_no_agents_notes_out_of_the_project() {
    let agent =
        "---\nname: elephant\ndescription: Remembers\nmemory: project\n---\nYou remember.\n";
    let script = |room: &Room| {
        let path = room.dir.path().join("private/note").display().to_string();
        let write = json!({ "file_path": path, "content": "x" });
        Script::new().call("write", write).then().text("Yes.")
    };
    for (link, target) in [("elephant", "private"), ("elephant/MEMORY.md", "private/MEMORY.md")] {
        let room = Room::new(Plan::from(Script::new())).await;
        let plan = Plan {
            agent: Some("elephant".to_owned()),
            mode: base::protocol::Mode::AcceptEdits,
            ..Plan::with_tools(script(&room))
        };
        let room = room.rescripted(plan).await;
        room.write(".caiman/agents/elephant.md", agent);
        let private = room.dir.path().join("private");
        std::fs::create_dir_all(&private).unwrap();
        std::fs::write(private.join("MEMORY.md"), "The key is under the mat.\n").unwrap();
        let link = room.folder.join(".caiman/agent-memory").join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(room.dir.path().join(target), &link).unwrap();
        let session = SessionId::new();
        let folder = room.folder.display().to_string();
        room.submit(Op::NewSession { session, folder }).await;
        let mut events = room.watch();
        let parts = vec![Part::user_text("Do you remember?")];
        room.submit(Op::say(session, parts, Delivery::Queue)).await;
        to_the_end(&mut events).await;
        assert!(!format!("{:?}", room.server.bodies()).contains("under the mat"), "{target}");
        assert!(!private.join("note").exists(), "{target}");
    }
}

#[tokio::test]
async fn a_rule_about_an_agent_holds_by_whatever_name_it_is_called_or_resumed() {
    let rules = |rule: &str| guard::Rules {
        deny: vec![guard::Rule::parse(rule).unwrap()],
        ..guard::Rules::default()
    };
    for (rule, name) in [("Agent(Night Owl)", "night-owl"), ("Agent(explorer)", "Explore")] {
        let script = Script::new().call("agent", task(name)).then().text("Done.");
        let room = Room::new(Plan { rules: rules(rule), ..Plan::with_tools(script) }).await;
        room.write(
            ".caiman/agents/owl.md",
            "---\nname: Night Owl\ndescription: d\n---\nYou hoot.\n",
        );
        let events = room.say("PARENT: go").await;
        let is_begun = |event: &Event| matches!(event, Event::ChildStarted { .. });
        assert!(!events.iter().any(is_begun), "{name}: {events:#?}");
        let transcript = room.transcript().await.join("\n");
        assert!(transcript.contains("name it so") || transcript.contains("denied"), "{transcript}");
    }
    let script = Script::new().call("agent", task("historian")).then().when(historian());
    let room = room(script.text("Long ago.").then().text("Done.")).await;
    let (own, _) = child(&room.say("PARENT: go").await);
    let more = json!({ "prompt": "and then?", "resume": own.to_string() });
    let script = Script::new().call("agent", more).then().text("Done.");
    let plan = Plan { rules: rules("Agent(historian)"), ..Plan::with_tools(script) };
    let room = room.rescripted(plan).await;
    let events = room.say("PARENT: go on").await;
    let is_begun = |event: &Event| matches!(event, Event::ChildStarted { .. });
    assert!(!events.iter().any(is_begun), "{events:#?}");
}
