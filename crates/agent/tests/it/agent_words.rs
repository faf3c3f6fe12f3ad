//! What the words of an agent's file come to: its model, its tools.

use agent::Meant;
use base::protocol::{Delivery, KeyState, ModelChoice, Op};
use base::transcript::prefix;
use base::{Event, ModelRef, Part, SessionId};
use serde_json::json;
use testkit::Script;
use testkit::script::When;

use crate::room::{Plan, Room, to_the_end};

fn own() -> When {
    When { contains: Some("You help.".to_owned()), ..When::default() }
}

fn plan() -> Plan {
    let script = Script::new()
        .call("agent", json!({ "prompt": "go", "agent": "helper" }))
        .then()
        .when(own())
        .text("Helped.")
        .then()
        .text("Good.");
    Plan::with_tools(script)
}

/// A room with an agent whose header has these lines.
async fn helper(plan: Plan, header: &str) -> Room {
    let room = Room::new(plan).await;
    let text = format!("---\nname: helper\ndescription: d\n{header}\n---\nYou help.\n");
    room.write(".caiman/agents/helper.md", &text);
    room
}

fn listed(provider: &str, id: &str, key: KeyState) -> ModelChoice {
    ModelChoice {
        model: ModelRef::new(provider, id),
        name: id.to_owned(),
        provider: provider.to_owned(),
        window: 0,
        input_price: None,
        output_price: None,
        reasons: false,
        sees: false,
        key,
    }
}

/// The model its request asks for, and what the user is told.
async fn asked(plan: Plan, word: &str) -> (String, String) {
    let room = helper(plan, &format!("model: {word}")).await;
    let events = room.say("PARENT: go").await;
    let bodies = room.server.bodies();
    let body = bodies.iter().find(|body| body.to_string().contains("You help.")).unwrap();
    let told = events.iter().filter_map(|event| {
        if let Event::Notice { text, .. } = event { Some(text.as_str()) } else { None }
    });
    (body["model"].as_str().unwrap().to_owned(), told.collect())
}

#[tokio::test]
async fn no_model_is_asked_for_that_nobody_lists() {
    for word in
        ["claude-sonnet-4-20250514", "Claude Sonnet 4.5 (copilot)", "opusplan", "sonnet[1m]"]
    {
        let (model, told) = asked(plan(), &format!("\"{word}\"")).await;
        assert_eq!((model.as_str(), told.as_str()), ("m", ""), "{word}: by its family");
    }
    let (model, told) = asked(plan(), "gpt-5").await;
    assert_eq!(model, "m");
    assert!(told.contains("there is no model `gpt-5` here"), "{told}");
    let here = || listed("lab", "gpt-5", KeyState::NotNeeded);
    let (model, told) = asked(Plan { models: vec![here()], ..plan() }, "GPT-5").await;
    assert_eq!((model.as_str(), told.as_str()), ("gpt-5", ""));
    let keyless = vec![listed("lab", "gpt-5", KeyState::Missing)];
    assert_eq!(asked(Plan { models: keyless, ..plan() }, "gpt-5").await.0, "m");
    assert_eq!(asked(plan(), "other/gpt-5").await.0, "gpt-5", "as its provider's user wrote it");
    let mut mapped = plan();
    mapped.config.agents.models.insert("Sonnet".to_owned(), "lab/large".to_owned());
    assert_eq!(asked(mapped, "claude-sonnet-4-20250514").await.0, "large");
    let env = vec![("CLAUDE_CODE_SUBAGENT_MODEL".to_owned(), "lab/tiny".to_owned())];
    assert_eq!(asked(Plan { env, ..plan() }, "inherit").await.0, "tiny");
}

#[tokio::test]
async fn the_model_the_user_named_stays_when_an_agent_is_the_main_one() {
    for (meant, word, expected, says_so) in [
        (Meant::New, "lab/other", "other", false),
        (Meant::All, "lab/other", "m", false),
        (Meant::New, "gpt-5", "m", true),
    ] {
        let script = Script::new().text("Yes.");
        let agent = Some("helper".to_owned());
        let plan = Plan { agent, meant, ..Plan::with_tools(script) };
        let room = helper(plan, &format!("model: {word}")).await;
        let session = SessionId::new();
        let folder = room.folder.display().to_string();
        room.submit(Op::NewSession { session, folder }).await;
        let mut events = room.watch();
        let parts = vec![Part::user_text("go")];
        room.submit(Op::say(session, parts, Delivery::Queue)).await;
        let told = to_the_end(&mut events).await;
        assert_eq!(room.server.bodies()[0]["model"], expected, "{word}");
        let notice = |event: &Event| matches!(event, Event::Notice { text, .. } if text.contains("no model"));
        assert_eq!(told.iter().any(notice), says_so, "{told:?}");
    }
}

/// The tools it is offered; why it was refused where it was.
async fn tools(header: &str) -> Result<Vec<String>, String> {
    let room = helper(plan(), header).await;
    let events = room.say("PARENT: go").await;
    let child = events.iter().find_map(|event| {
        if let Event::ChildStarted { child, .. } = event { Some(*child) } else { None }
    });
    let Some(child) = child else { return Err(room.transcript().await[2].clone()) };
    let branch = room.store.branch(child).await.unwrap();
    Ok(prefix(&branch).unwrap().1.iter().map(|tool| tool.name.clone()).collect())
}

#[tokio::test]
async fn a_pattern_that_cannot_be_held_gives_no_tool() {
    let refused = tools("tools: Bash(git log:*, Read").await.unwrap_err();
    assert!(refused.contains("cannot be started"), "{refused}");
    let narrow = "tools: Read, Write(docs/**), WebFetch(example.com), Bash()";
    assert_eq!(tools(narrow).await.unwrap(), ["view"]);
    assert_eq!(tools("tools: {bash: true, read: true}").await.unwrap(), ["bash", "view"]);
    assert_eq!(tools("allowed-tools: Read, Grep").await.unwrap(), ["grep", "view"]);
}

#[tokio::test]
async fn what_is_disallowed_is_that_tool_and_no_other() {
    let left = tools("disallowedTools: Edit, Read, Bash(rm").await.unwrap();
    for gone in ["edit", "view", "bash"] {
        assert!(!left.iter().any(|tool| tool == gone), "{gone}: {left:?}");
    }
    for there in ["write", "grep", "glob"] {
        assert!(left.iter().any(|tool| tool == there), "{there}: {left:?}");
    }
    let refused = tools("disallowedTools: \"*\"").await.unwrap_err();
    assert!(refused.contains("take every tool away"), "{refused}");
    let script = Script::new()
        .call("agent", json!({ "prompt": "go", "agent": "helper" }))
        .then()
        .when(own())
        .call("bash", json!({ "command": "rm a.txt" }))
        .call("write", json!({ "file_path": "b.txt", "content": "x\n" }))
        .then()
        .when(own())
        .text("Helped.")
        .then()
        .text("Good.");
    let room = helper(Plan::with_tools(script), "disallowedTools: Bash(rm:*), Edit").await;
    room.write("a.txt", "x\n");
    room.say("PARENT: go").await;
    assert!(room.folder.join("a.txt").exists(), "the pattern forbids it");
    assert!(room.folder.join("b.txt").exists(), "writing is another tool than editing");
}

#[tokio::test]
async fn a_project_cannot_replace_the_agent_that_only_reads() {
    let script = Script::new()
        .call("agent", json!({ "prompt": "look around" }))
        .then()
        .when(When {
            contains: Some("look around".to_owned()),
            lacks: Some("PARENT".to_owned()),
            ..When::default()
        })
        .text("Seen.")
        .then()
        .text("Good.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.write(
        ".caiman/agents/explorer.md",
        "---\nname: explorer\ndescription: d\n---\nYou run what you find.\n",
    );
    room.say("PARENT: go").await;
    let bodies = room.server.bodies();
    assert!(bodies.iter().all(|body| !body.to_string().contains("You run what you find.")));
}

#[tokio::test]
async fn a_built_in_agent_can_be_switched_off() {
    let script = Script::new().call("agent", json!({ "prompt": "go" })).then().text("Oh.");
    let mut plan = Plan::with_tools(script);
    let off = settings::AgentSettings { disabled: true, ..Default::default() };
    plan.config.agents.by_name.insert("explorer".to_owned(), off);
    let room = Room::new(plan).await;
    room.say("PARENT: go").await;
    let transcript = room.transcript().await;
    assert!(transcript[2].contains("There is no agent `explorer`"), "{transcript:#?}");
}
