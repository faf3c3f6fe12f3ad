//! Servers as Claude Code keeps them: whose entry counts, and which are switched off.

use serde_json::json;
use settings::{Loaded, McpServer, Template};

use crate::world::{World, file_of, told};

fn command<'l>(loaded: &'l Loaded, name: &str) -> &'l str {
    loaded.config.mcp[name].command.as_ref().unwrap().as_str()
}

#[test]
fn the_entry_of_the_user_here_goes_before_the_projects_and_that_before_the_users_everywhere() {
    let world = World::new();
    let folder = world.at("project");
    let state = json!({
        "history": ["x"],
        "mcpServers": {
            "a": { "command": "user", "env": { "KEY": "secret" }, "timeout": 9000 },
            "b": { "command": "user" },
            "c": { "command": "user" },
        },
        "projects": {
            folder.display().to_string(): { "mcpServers": { "b": { "url": "https://here" } } },
            "/elsewhere": { "mcpServers": { "z": { "command": "elsewhere" } } },
        },
    });
    world.write("home/.claude.json", &serde_json::to_string_pretty(&state).unwrap());
    let project = r#"{"mcpServers": {"a": {"command": "project"}, "b": {"command": "project"}}}"#;
    world.write("project/.mcp.json", project);
    let untrusted = world.load("project");
    assert_eq!(command(&untrusted, "a"), "user");
    world.trust("project");
    let loaded = world.load("project");
    assert_eq!(told(&loaded, &world), Vec::<String>::new());
    let servers = &loaded.config.mcp;
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!((command(&loaded, "a"), command(&loaded, "c")), ("project", "user"));
    assert!(servers["a"].env.is_empty(), "a key of the user's goes to no other program");
    assert_eq!(servers["a"].timeout_s, Some(9));
    assert!(servers["b"].command.is_none() && servers["b"].url.is_some());
    let lines = serde_json::to_string_pretty(&state).unwrap();
    let line = lines.lines().position(|line| line.contains("https://here")).unwrap() + 1;
    assert_eq!(file_of(&loaded, "mcp.b.url", &world), format!("home/.claude.json:{line}"));
}

#[test]
fn a_state_of_many_megabytes_is_read_and_a_broken_one_is_told() {
    let world = World::new();
    let state =
        json!({ "history": "x".repeat(5 << 20), "mcpServers": { "a": { "command": "c" } } });
    world.write("home/.claude.json", &state.to_string());
    assert_eq!(command(&world.load("project"), "a"), "c");
    world.write("home/.claude.json", "{\n\"mcpServers\": }");
    let loaded = world.load("project");
    assert!(told(&loaded, &world)[0].starts_with("error: home/.claude.json:2:"), "{loaded:?}");
}

#[test]
fn servers_that_somebody_has_switched_off_or_denied_are_off() {
    let world = World::new();
    let project =
        r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}, "c": {"command": "c"}}}"#;
    world.write("project/.mcp.json", project);
    let own = json!({ "mcp": {
        "a-own": { "command": "npx", "args": ["-y", "evil"] },
        "b": { "disabled_tools": ["t"] },
        "web": { "url": "https://sub.evil.example/mcp" },
        "d": { "command": "d" },
    }});
    world.write("home/.config/caiman/caiman.json", &own.to_string());
    world.write("project/.claude/settings.json", r#"{"disabledMcpjsonServers": ["a", "d"]}"#);
    world.write("project/.caiman.json", r#"{"mcp": {"a": {"disabled_tools": ["t"]}}}"#);
    let denied = json!({ "enableAllProjectMcpServers": true, "deniedMcpServers": [
        { "serverName": "c" },
        { "serverCommand": ["npx", "-y", "evil"] },
        { "serverUrl": "https://*.evil.example/*" },
    ]});
    world.write("home/.claude/settings.json", &denied.to_string());
    world.trust("project");
    let off = |loaded: &Loaded| {
        let servers = loaded.config.mcp.iter().filter(|(_, server)| server.disabled);
        servers.map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    let loaded = world.load("project");
    assert_eq!(off(&loaded), ["a", "a-own", "c", "web"], "d is not the project's");
    let origin = file_of(&loaded, "mcp.a.disabled", &world);
    assert_eq!(origin, "project/.claude/settings.json:1");
    let allowed = json!({ "allowedMcpServers": [{ "serverName": "d" }] });
    world.write("home/.claude/settings.json", &allowed.to_string());
    assert_eq!(off(&world.load("project")), ["a", "a-own", "b", "c", "web"]);
    // A project nobody trusts does not add to the user's list.
    world.write(
        "project/.claude/settings.json",
        r#"{"allowedMcpServers": [{"serverName": "web"}]}"#,
    );
    assert!(off(&world.load("project")).contains(&"web".to_owned()));
    let state = json!({ "projects": {
        world.at("project").display().to_string(): { "disabledMcpServers": ["d"] },
    }});
    world.write("home/.claude.json", &state.to_string());
    assert!(off(&world.load("project")).contains(&"d".to_owned()));
}

#[test]
fn what_is_forbidden_is_forbidden_to_servers_of_no_file_too() {
    let world = World::new();
    let program = |line: &[&str]| McpServer {
        command: Some(Template::new(line[0])),
        args: line[1..].iter().map(|arg| Template::new(*arg)).collect(),
        ..McpServer::default()
    };
    let address = |url: &str| McpServer { url: Some(Template::new(url)), ..McpServer::default() };
    let denied = json!({ "disabledMcpjsonServers": ["b"], "deniedMcpServers": [
        { "serverName": "plugin:tracker:db" },
        { "serverCommand": ["npx", "-y", "evil"] },
        { "serverUrl": "https://*.evil.example/*" },
    ]});
    world.write("home/.claude/settings.json", &denied.to_string());
    let bans = world.load("project").config.bans;
    for (name, server, expected) in [
        ("plugin_tracker_db", program(&["good"]), true),
        ("tracker", program(&["good"]), false),
        ("a", program(&["npx", "-y", "evil"]), true),
        ("a", program(&["npx", "-y", "evil", "--more"]), false),
        ("a", address("https://sub.evil.example/mcp"), true),
        ("b", program(&["good"]), false),
    ] {
        assert_eq!(bans.forbid(name, &server), expected, "{name} {server:?}");
    }
    let allowed = json!({ "allowedMcpServers": [
        { "serverName": "a" }, { "serverCommand": ["good"] },
    ]});
    world.write("home/.claude/settings.json", &allowed.to_string());
    let bans = world.load("project").config.bans;
    assert!(!bans.forbid("any", &program(&["good"])));
    assert!(bans.forbid("a", &program(&["other"])), "a name is not enough for a program");
    assert!(!bans.forbid("a", &address("https://x/")));
    assert!(bans.forbid("b", &address("https://x/")));
}
