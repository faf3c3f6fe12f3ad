//! Servers of plugins and agents.

use std::collections::BTreeMap;

use base::{Env, Paths};
use serde_json::json;
use settings::definition::{Definitions, Home, Hooks, Plugin, Source, Standing, agent};
use settings::{Config, Sources, TrustSource};
use testkit::Script;

use super::lender::{Lender, config, lent, ready, told, wake};
use crate::room::{Plan, Room};

fn plugin(lender: &Lender, standing: Standing) -> Definitions {
    let plugin = Plugin {
        name: "tracker".to_owned(),
        version: None,
        description: None,
        folder: "/nowhere".into(),
        hooks: Hooks::new(),
        mcp_servers: BTreeMap::from([("db".to_owned(), lender.settings())]),
        standing,
    };
    Definitions { plugins: vec![plugin], ..Definitions::default() }
}

#[tokio::test]
async fn a_trusted_plugin_brings_its_servers() {
    let lender = Lender::of_tools(&[("add", json!([{ "text": "three" }]))]);
    let script = Script::new();
    let script = script.call("use_tool", json!({ "name": "mcp__plugin_tracker_db__add" })).then();
    let definitions = plugin(&lender, Standing::Trusted);
    let room = Room::new(Plan { definitions, ..Plan::with_tools(script.text("Done.")) }).await;
    wake(&room).await;
    told(&room, "plugin_tracker_db", "lends 1 tools").await;
    room.say("go").await;
    assert_eq!(lent(&room, 0), ["mcp_plugin_tracker_db_add", "use_tool"]);
    assert_eq!(lender.called(), ["add"]);
    room.coordinator.close().await;
}

#[tokio::test]
async fn an_untrusted_plugin_starts_nothing() {
    let lender = Lender::of_tools(&[("add", json!([]))]);
    let definitions = plugin(&lender, Standing::Untrusted);
    let room =
        Room::new(Plan { definitions, ..Plan::with_tools(Script::new().text("Done.")) }).await;
    room.say("go").await;
    assert_eq!(lent(&room, 0), Vec::<String>::new());
    assert!(room.coordinator.servers().is_empty());
    room.coordinator.close().await;
}

#[tokio::test]
async fn an_agent_has_the_servers_it_names_and_those_it_defines() {
    let [one, two, own] = [(); 3].map(|()| Lender::of_tools(&[("add", json!([]))]));
    let script = Script::new()
        .call("agent", json!({ "agent": "counter", "prompt": "count", "description": "x" }));
    let script = script.then().text("Counted.").then().text("Done.");
    let plan = Plan { config: config(&[("one", &one), ("two", &two)]), ..Plan::with_tools(script) };
    let room = ready(plan).await;
    let servers = json!(["two", { "own": own.settings() }]);
    room.write(
        ".caiman/agents/counter.md",
        &format!("---\nname: counter\ndescription: Counts.\nmcpServers: {servers}\n---\nCount.\n"),
    );
    room.say("go").await;
    let names = lent(&room, 1);
    assert!(names.contains(&"mcp_two_add".to_owned()), "{names:?}");
    assert!(!names.contains(&"mcp_one_add".to_owned()), "{names:?}");
    assert_eq!(lent(&room, 2), ["mcp_one_add", "mcp_two_add", "use_tool"]);
    told(&room, "own", "lends 1 tools").await;
    room.coordinator.close().await;
}

#[tokio::test]
async fn an_agent_of_an_untrusted_file_or_a_plugin_defines_no_server() {
    let from = [
        (Source::Project, Standing::Untrusted),
        (Source::Plugin("tracker".to_owned()), Standing::Trusted),
    ];
    for (source, standing) in from {
        let own = Lender::of_tools(&[("add", json!([]))]);
        let servers = json!([{ "own": own.settings() }]);
        let text =
            format!("---\nname: counter\ndescription: x\nmcpServers: {servers}\n---\nCount.\n");
        let (agent, _) = agent::read(&text, Home { source, file: None, standing });
        let definitions =
            Definitions { agents: agent.into_iter().collect(), ..Definitions::default() };
        let script = Script::new()
            .call("agent", json!({ "agent": "counter", "prompt": "count", "description": "x" }));
        let script = script.then().text("Counted.").then().text("Done.");
        let room = Room::new(Plan { definitions, ..Plan::with_tools(script) }).await;
        room.say("go").await;
        assert_eq!(room.server.requests().len(), 3);
        assert!(room.coordinator.servers().is_empty(), "{:?}", room.coordinator.servers());
        room.coordinator.close().await;
    }
}

#[tokio::test]
async fn a_server_that_is_forbidden_is_started_by_no_plugin_and_no_agent() {
    let [of_plugin, own] = [(); 2].map(|()| Lender::of_tools(&[("add", json!([]))]));
    let agent = {
        let servers = json!([{ "own": own.settings() }]);
        let text =
            format!("---\nname: counter\ndescription: x\nmcpServers: {servers}\n---\nCount.\n");
        let standing = Standing::Trusted;
        agent::read(&text, Home { source: Source::User, file: None, standing }).0
    };
    let definitions = Definitions {
        agents: agent.into_iter().collect(),
        ..plugin(&of_plugin, Standing::Trusted)
    };
    let script = Script::new()
        .call("agent", json!({ "agent": "counter", "prompt": "count", "description": "x" }));
    let script = script.then().text("Counted.").then().text("Done.");
    let home = tempfile::tempdir().unwrap();
    let denied = json!({ "deniedMcpServers": ["own", "plugin_tracker_db"] });
    let config = forbidding(home.path(), &denied);
    let room = Room::new(Plan { config, definitions, ..Plan::with_tools(script) }).await;
    room.say("go").await;
    assert_eq!(room.server.requests().len(), 3);
    for request in 0..3 {
        assert_eq!(lent(&room, request), Vec::<String>::new());
    }
    let states = room.coordinator.servers();
    let states: Vec<_> = states.iter().map(|it| (it.name.as_str(), it.state.as_str())).collect();
    assert_eq!(states, [("own", "switched off"), ("plugin_tracker_db", "switched off")]);
    assert!(of_plugin.heard().is_empty() && own.heard().is_empty());
    room.coordinator.close().await;
}

/// Settings in which Claude Code forbids something.
fn forbidding(home: &std::path::Path, claude: &serde_json::Value) -> Config {
    let env = Env::from_iter([("HOME", home.to_str().unwrap())]);
    std::fs::create_dir(home.join(".claude")).unwrap();
    std::fs::write(home.join(".claude/settings.json"), claude.to_string()).unwrap();
    let paths = Paths::of(&env).unwrap();
    let sources = Sources { paths, env, cwd: home.to_owned(), trust: TrustSource::default() };
    settings::load(&sources).config
}
