//! Which files are read, and which wins.

use crate::world::{World, file_of, told};

#[test]
fn later_files_win_and_every_value_knows_its_file() {
    let world = World::new();
    let files = [
        "home/.config/crush/crush.json",
        "home/.local/share/crush/crush.json",
        "home/.config/caiman/caiman.json",
        "project/crush.json",
        "project/.crush.json",
        "project/caiman.json",
        "project/.caiman.json",
        "project/a/crush.json",
        "project/a/b/.caiman.json",
    ];
    for (depth, file) in (0_u32..).zip(files) {
        world.write(file, &format!("{{\n\"tools\": {{\"ls\": {{\"max_depth\": {depth}}}}}}}"));
        let loaded = world.load("project/a/b");
        assert_eq!(told(&loaded, &world), Vec::<String>::new());
        assert_eq!(loaded.config.tools.ls.max_depth, Some(depth), "{file}");
        assert_eq!(file_of(&loaded, "tools.ls.max_depth", &world), format!("{file}:2"));
    }
    for (folder, depth) in [("project/a", 7), ("project", 6), ("home", 2)] {
        assert_eq!(world.load(folder).config.tools.ls.max_depth, Some(depth), "{folder}");
    }
}

#[test]
fn lists_of_all_files_are_appended() {
    let world = World::new();
    world.write("home/.config/caiman/caiman.json", r#"{"options": {"disabled_tools": ["a"]}}"#);
    world.write("project/crush.json", r#"{"options": {"disabled_tools": ["b", "a"]}}"#);
    world.write("project/.claude/settings.json", r#"{"permissions": {"deny": ["Bash"]}}"#);
    world.write("home/.claude/settings.json", r#"{"permissions": {"deny": ["Edit"]}}"#);
    let loaded = world.load("project");
    assert_eq!(loaded.config.options.disabled_tools, ["a", "b"]);
    assert_eq!(loaded.config.permissions.deny, ["Edit", "Bash"]);
    assert_eq!(file_of(&loaded, "options.disabled_tools[1]", &world), "project/crush.json:1");
}

#[test]
fn outside_a_repository_only_the_current_folder_counts() {
    let world = World::new();
    world.write("loose/caiman.json", r#"{"options": {"debug": true}}"#);
    world.write("loose/inner/caiman.json", r#"{"options": {"debug_lsp": true}}"#);
    let loaded = world.load("loose/inner");
    assert!(loaded.config.options.debug_lsp && !loaded.config.options.debug);
}

#[test]
fn a_home_folder_that_is_a_repository_is_still_the_users() {
    let world = World::new();
    std::fs::create_dir_all(world.at("home/.git")).unwrap();
    world.write("home/.claude/settings.json", r#"{"env": {"A": "1"}}"#);
    let loaded = world.load("home");
    assert_eq!(loaded.config.env.len(), 1);
    assert_eq!(told(&loaded, &world), Vec::<String>::new());
}

#[test]
fn a_broken_file_does_not_keep_the_others_from_counting() {
    let world = World::new();
    world.write("home/.config/caiman/caiman.json", "{\n  \"options\": }");
    world.write("project/caiman.json", r#"{"options": {"debug": true}}"#);
    std::fs::write(world.at("project/crush.json"), b"\xff\xfe{}").unwrap();
    std::fs::create_dir_all(world.at("project/.caiman.json")).unwrap();
    world.write("project/.mcp.json", &" ".repeat(1024 * 1024 + 1));
    let loaded = world.load("project");
    assert!(loaded.config.options.debug);
    let told = told(&loaded, &world);
    assert_eq!(told.len(), 4, "{told:#?}");
    assert!(told[0].starts_with("error: home/.config/caiman/caiman.json:2:"), "{told:?}");
    assert!(told[1].contains("project/.mcp.json: this file is larger than"), "{told:?}");
    assert!(told[2].contains("project/crush.json: this file is not UTF-8"), "{told:?}");
    assert!(told[3].contains("project/.caiman.json: this is not a regular file"), "{told:?}");
}

#[cfg(unix)]
#[test]
fn a_projects_link_may_not_lead_out_of_it() {
    use std::os::unix::fs::symlink;
    let world = World::new();
    world.write("home/secret.json", r#"{"options": {"debug": true}}"#);
    symlink(world.at("home/secret.json"), world.at("project/caiman.json")).unwrap();
    world.write("project/inside.json", r#"{"options": {"debug_lsp": true}}"#);
    symlink("inside.json", world.at("project/.caiman.json")).unwrap();
    symlink("nowhere", world.at("project/.crush.json")).unwrap();
    symlink(world.at("home"), world.at("project/.claude")).unwrap();
    world.write("home/settings.json", r#"{"permissions": {"deny": ["Bash"]}}"#);
    let loaded = world.load("project");
    assert!(!loaded.config.options.debug);
    assert!(loaded.config.options.debug_lsp);
    assert!(loaded.config.permissions.deny.is_empty());
    assert_eq!(told(&loaded, &world).len(), 3, "{:#?}", told(&loaded, &world));
}

/// Start-up has 30 ms in all; settings may not take more than a few, even unoptimised.
#[test]
fn usual_files_load_quickly() {
    let world = World::new();
    let models: Vec<String> = (0..40)
        .map(|n| format!(r#"{{"id": "model-{n}", "name": "Model {n}", "context_window": 128000}}"#))
        .collect();
    let provider =
        format!(r#"{{"base_url": "http://localhost", "models": [{}]}}"#, models.join(","));
    world.write(
        "home/.config/caiman/caiman.json",
        &format!(r#"{{"providers": {{"a": {provider}, "b": {provider}}}}}"#),
    );
    drop(world.load("project"));
    let before = std::time::Instant::now();
    let loaded = world.load("project");
    let took = before.elapsed();
    assert_eq!(loaded.config.providers["b"].models.len(), 40);
    eprintln!("loaded in {took:?}");
    assert!(took.as_millis() < 200, "{took:?}");
}
