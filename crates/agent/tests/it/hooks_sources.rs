//! Hooks that come with something else: an agent's file, a skill's, a plugin.

use serde_json::{Value, json};
use settings::definition::{Definitions, Home, Hooks, Plugin, Source, Standing, agent};
use settings::parse_text;
use testkit::Script;

use crate::definitions::skill;
use crate::room::{Plan, Room};

/// A hook that notes by whom it ran, before each command.
fn noting(words: &str) -> Hooks {
    let line = format!("cat > /dev/null; echo \"{words}\" >> seen");
    let hooks = json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "command": line }] } });
    let loaded = parse_text("caiman.json", &hooks.to_string());
    assert_eq!(loaded.problems, []);
    loaded.config.hooks
}

fn bash(line: &str) -> Value {
    json!({ "command": line })
}

fn seen(room: &Room) -> String {
    std::fs::read_to_string(room.folder.join("seen")).unwrap_or_default()
}

#[tokio::test]
async fn a_skills_hooks_run_from_its_loading_on() {
    let mut careful = skill("careful", "Takes care.");
    careful.hooks = noting("careful in $CLAUDE_SKILL_DIR");
    let script = Script::new().call("bash", bash("true")).then();
    let script = script.call("skill", json!({ "skill": "careful" })).then();
    let script = script.call("bash", bash("true")).then().text("Done.");
    let definitions = Definitions { skills: vec![careful.clone()], ..Definitions::default() };
    let room = Room::new(Plan { definitions, ..Plan::with_tools(script) }).await;
    room.say("go").await;
    assert_eq!(seen(&room), format!("careful in {}\n", careful.folder.display()));
}

#[tokio::test]
async fn a_plugins_hooks_run_and_know_its_folders() {
    for (standing, expected) in [(Standing::Trusted, "kit /kit kit\n"), (Standing::Untrusted, "")] {
        let kit = Plugin {
            name: "kit".to_owned(),
            version: None,
            description: None,
            folder: "/kit".into(),
            hooks: noting("kit $CLAUDE_PLUGIN_ROOT $(basename $CLAUDE_PLUGIN_DATA)"),
            mcp_servers: std::collections::BTreeMap::new(),
            standing,
        };
        let script = Script::new().call("bash", bash("true")).then().text("Done.");
        let definitions = Definitions { plugins: vec![kit], ..Definitions::default() };
        let room = Room::new(Plan { definitions, ..Plan::with_tools(script) }).await;
        room.say("go").await;
        assert_eq!(seen(&room), expected);
    }
}

#[tokio::test]
async fn an_agents_hooks_run_while_it_does() {
    let text = "---\nname: scout\ndescription: Looks.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: echo scout >> seen\n---\nYou look.\n";
    let home = Home { source: Source::User, file: None, standing: Standing::Trusted };
    let scout = agent::read(text, home).0.unwrap();
    assert_eq!(scout.hooks.len(), 1);
    let script = Script::new().call("bash", bash("true")).then();
    let script = script.call("agent", json!({ "prompt": "SCOUT", "agent": "scout" })).then();
    let child = testkit::script::When {
        contains: Some("You look.".to_owned()),
        ..testkit::script::When::default()
    };
    let script = script.when(child.clone()).call("bash", bash("true")).then().when(child);
    let script = script.text("Nothing.").then().text("Done.");
    let definitions = Definitions { agents: vec![scout], ..Definitions::default() };
    let room = Room::new(Plan { definitions, ..Plan::with_tools(script) }).await;
    room.say("go").await;
    assert_eq!(seen(&room), "scout\n", "for the sub-agent's command, and not for the caller's");
}
