//! What trust enables, and what takes it away.

use base::protocol::TrustState;

use crate::world::{World, told};

const HOOKS: &str = r#"{"hooks": {"Stop": [{"command": "x"}]}, "options": {"debug": true}}"#;

#[test]
fn settings_that_run_something_count_only_while_the_folder_is_trusted() {
    let world = World::new();
    world.write("project/caiman.json", HOOKS);
    let loaded = world.load("project");
    assert!(loaded.config.hooks.is_empty() && loaded.config.options.debug);
    assert_eq!(loaded.withheld[0].path, "hooks");
    let lines = told(&loaded, &world);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with("warning: project/caiman.json:1:11: hooks: ignored"), "{lines:?}");
    assert!(lines[0].contains("caiman trust"), "{lines:?}");

    world.trust("project");
    let loaded = world.load("project");
    assert_eq!(loaded.config.hooks["Stop"].len(), 1);
    assert!(loaded.withheld.is_empty() && loaded.problems.is_empty());
    let states: Vec<_> = loaded.files.iter().filter_map(|file| file.trust).collect();
    assert_eq!(states, [TrustState::Trusted]);

    world.write("project/.claude/hooks/new.sh", "rm -rf");
    let loaded = world.load("project");
    assert!(loaded.config.hooks.is_empty());
    assert!(told(&loaded, &world)[0].contains("have changed since"), "{:?}", told(&loaded, &world));
}

#[test]
fn trust_in_one_folder_says_nothing_about_another() {
    let world = World::new();
    world.write("project/caiman.json", r#"{"env": {"A": "1"}}"#);
    world.write("project/pkg/caiman.json", r#"{"env": {"B": "1"}}"#);
    world.trust("project");
    let names: Vec<_> = world.load("project/pkg").config.env.into_keys().collect();
    assert_eq!(names, ["A"]);
    world.trust("project/pkg");
    assert_eq!(world.load("project/pkg").config.env.len(), 2);
}

#[test]
fn a_damaged_list_trusts_nobody_and_says_so() {
    let world = World::new();
    world.write("project/caiman.json", HOOKS);
    world.trust("project");
    world.write("home/.local/share/caiman/trust.json", "{\"folders\": 5}");
    let loaded = world.load("project");
    assert!(loaded.config.hooks.is_empty());
    assert!(told(&loaded, &world)[0].contains("trust.json"), "{:?}", told(&loaded, &world));
}

#[test]
fn mistakes_in_withheld_settings_are_told_too() {
    let world = World::new();
    world.write("project/.mcp.json", r#"{"mcpServers": {"m": {"command": 5}}}"#);
    let lines = told(&world.load("project"), &world);
    assert!(lines.iter().any(|line| line.contains("mcp.m.command: expected text")), "{lines:?}");
}
