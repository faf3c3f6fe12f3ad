//! Definitions on a real disk: whose counts, what a change does, and what a stranger's project cannot do.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use settings::definition::{Definitions, Places, Shelf, Source, Standing, Trust, Weight};

use crate::world::World;

fn agent(name: &str, prompt: &str) -> String {
    format!("---\nname: {name}\ndescription: Use it.\n---\n{prompt}\n")
}

fn places(world: &World) -> Places {
    Places::new(world.paths(), world.env())
}

fn look(world: &World, places: Places) -> Arc<Definitions> {
    Shelf::new(places).look(&world.at("project/pkg"))
}

/// A world with a folder inside the project.
fn world() -> World {
    let world = World::new();
    fs::create_dir_all(world.at("project/pkg")).unwrap();
    world
}

fn prompts(found: &Definitions) -> Vec<(&str, &str)> {
    found.agents.iter().map(|agent| (agent.name.as_str(), agent.prompt.as_str())).collect()
}

#[test]
fn the_nearest_definition_of_a_name_counts() {
    let world = world();
    world.write("home/.config/caiman/plugins/kit/agents/a.md", &agent("a", "plugin"));
    world.write("home/.claude/agents/a.md", &agent("a", "user's other"));
    world.write("home/.config/crush/agents/deep/er/b.md", &agent("b", "user"));
    assert_eq!(
        prompts(&look(&world, places(&world))),
        [("a", "user's other"), ("b", "user"), ("kit:a", "plugin")]
    );
    let ranked = [
        "home/.config/caiman/agents/a.md",
        "project/.claude/agents/a.md",
        "project/.crush/agents/a.md",
        "project/.caiman/agents/x/y.md",
        "project/pkg/.claude/agents/a.md",
    ];
    for file in ranked {
        world.write(file, &agent("A", file));
        let found = look(&world, places(&world));
        assert_eq!(found.agent("a").unwrap().prompt, file);
        assert_eq!(found.agents.len(), 3);
    }
    let json = r#"{"a": {"description": "d", "prompt": "flag"}}"#;
    let found = look(&world, Places { agents_json: Some(json.into()), ..places(&world) });
    assert_eq!(found.agent("a").unwrap().prompt, "flag");
    assert_eq!(found.agent("a").unwrap().home.source, Source::Flag);
}

#[test]
fn what_lies_above_the_repository_is_not_the_projects() {
    let world = world();
    world.write(".claude/agents/above.md", &agent("above", "x"));
    assert_eq!(prompts(&look(&world, places(&world))), []);
}

#[test]
fn a_home_that_is_a_project_is_the_users() {
    let world = World::new();
    fs::create_dir_all(world.at("home/.git")).unwrap();
    world.write("home/.claude/agents/a.md", &agent("a", "x"));
    let found = Shelf::new(places(&world)).look(&world.at("home"));
    let homes: Vec<_> = found.agents.iter().map(|it| (&it.home.source, it.home.standing)).collect();
    assert_eq!(homes, [(&Source::User, Standing::Trusted)]);
}

#[test]
fn claude_code_may_keep_its_folder_elsewhere() {
    let world = world();
    world.write("elsewhere/agents/a.md", &agent("a", "x"));
    let folder = world.at("elsewhere").display().to_string();
    let env = world.env().with([("CLAUDE_CONFIG_DIR".to_owned(), folder)]);
    assert_eq!(look(&world, Places { env, ..places(&world) }).agents.len(), 1);
}

#[test]
fn skills_commands_and_styles_are_found_too() {
    let world = world();
    let skill = |text: &str| format!("---\ndescription: {text}\n---\nDo it.\n");
    world.write("project/.agents/skills/one/SKILL.md", &skill("one"));
    world.write("project/.agents/skills/one/agents/notes.md", "no skill");
    world.write("home/.agents/skills/two/SKILL.md", &skill("two"));
    world.write("project/.claude/skills/two/SKILL.md", &skill("the project's"));
    world.write("extra/three/SKILL.md", &skill("three"));
    world.write("project/docs/skills/four/SKILL.md", &skill("four"));
    world.write("project/.claude/commands/git/sync.md", "Sync $1");
    world.write("home/.claude/commands/two.md", "hidden by a skill");
    world.write("home/.claude/output-styles/terse.md", "Be short.");
    let skill_folders = vec![world.at("extra"), world.at("project/docs/skills")];
    let disabled_skills = vec!["ONE".to_owned()];
    let found = look(&world, Places { skill_folders, disabled_skills, ..places(&world) });
    let names: Vec<_> = found.skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["four", "three", "two"]);
    assert_eq!(found.skill("two").unwrap().description, "two");
    assert_eq!(found.skill("four").unwrap().home.source, Source::Project);
    let commands: Vec<_> = found.commands.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(commands, ["git:sync"]);
    assert_eq!(found.style("terse").unwrap().body, "Be short.");
    assert_eq!(found.problems, []);
}

#[test]
fn a_plugin_brings_everything_under_its_name() {
    let world = world();
    let kit = "project/.caiman/plugins/kit";
    world.write(
        &format!("{kit}/.claude-plugin/plugin.json"),
        r#"{"name": "kit", "agents": "./minds"}"#,
    );
    world.write(&format!("{kit}/minds/a.md"), &agent("a", "x"));
    world.write(&format!("{kit}/agents/unused.md"), &agent("unused", "x"));
    world.write(&format!("{kit}/skills/s/SKILL.md"), "---\ndescription: d\n---\nx");
    world.write(&format!("{kit}/commands/c.md"), "x");
    world.write(&format!("{kit}/hooks/hooks.json"), r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/x"}]}]}}"#);
    world.write(&format!("{kit}/.mcp.json"), r#"{"mcpServers": {"s": {"command": "x"}}}"#);
    world.write("given/commands/d.md", "x");
    world.write("project/.caiman/plugins/notes.txt", "no plugin");
    let found = look(&world, Places { plugin_folders: vec![world.at("given")], ..places(&world) });
    assert_eq!(prompts(&found), [("kit:a", "x")]);
    assert!(found.agent("a").is_some() && found.skill("s").is_some());
    let commands: Vec<_> = found.commands.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(commands, ["given:d", "kit:c"]);
    let [given, kit] = &found.plugins[..] else { panic!("{:?}", found.plugins) };
    assert_eq!((given.standing, kit.standing), (Standing::Trusted, Standing::Untrusted));
    assert_eq!(kit.hooks["Stop"][0].command, "${CLAUDE_PLUGIN_ROOT}/x");
    assert!(kit.mcp_servers.contains_key("s"));
}

#[test]
fn a_change_counts_at_the_next_look_and_no_change_costs_nothing() {
    let world = world();
    let file = "project/.caiman/agents/a.md";
    world.write(file, &agent("a", "one"));
    let shelf = Shelf::new(places(&world));
    let folder = world.at("project");
    let first = shelf.look(&folder);
    assert!(Arc::ptr_eq(&first, &shelf.look(&folder)), "an unchanged folder was read again");
    let begin = Instant::now();
    world.write(file, &agent("a", "two"));
    assert_eq!(shelf.look(&folder).agents[0].prompt, "two");
    world.write("project/.caiman/agents/b.md", &agent("b", "x"));
    assert_eq!(shelf.look(&folder).agents.len(), 2);
    fs::remove_file(world.at(file)).unwrap();
    assert_eq!(prompts(&shelf.look(&folder)), [("b", "x")]);
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
}

#[test]
fn a_disabled_agent_is_left_out_and_can_still_be_listed() {
    let world = world();
    world.write("home/.claude/agents/a.md", &agent("a", "x"));
    let found = look(&world, Places { disabled_agents: vec!["A".into()], ..places(&world) });
    assert!(found.agents.is_empty());
    assert_eq!(found.disabled_agents[0].name, "a");
}

#[test]
fn a_projects_definitions_are_trusted_only_as_the_user_saw_them() {
    let world = world();
    world.write("project/.caiman/agents/a.md", &agent("a", "one"));
    world.write("project/pkg/.caiman/agents/b.md", &agent("b", "x"));
    let shelf = Shelf::new(places(&world));
    let standing =
        |name: &str| shelf.look(&world.at("project/pkg")).agent(name).unwrap().home.standing;
    assert_eq!(standing("a"), Standing::Untrusted);
    world.trust("project");
    assert_eq!((standing("a"), standing("b")), (Standing::Trusted, Standing::Untrusted));
    world.write("project/.caiman/hooks/new.sh", "rm -rf");
    assert_eq!(standing("a"), Standing::Untrusted);
    world.trust("project");
    assert_eq!(standing("a"), Standing::Trusted);
    world.write("project/.caiman/agents/a.md", &agent("a", "two"));
    assert_eq!(standing("a"), Standing::Untrusted);
    let settled = Places { trust: Trust::Settled(Standing::Trusted), ..places(&world) };
    assert_eq!(look(&world, settled).agent("a").unwrap().home.standing, Standing::Trusted);
}

#[test]
fn broken_files_are_told_and_the_others_work() {
    let world = world();
    world.write("home/.claude/agents/README.md", "# About these agents\n");
    world.write("home/.claude/agents/broken.md", "---\nname: broken\n---\nBody");
    world.write("home/.claude/agents/fine.md", &agent("fine", "x"));
    world.write("home/.claude/agents/twice.md", &agent("fine", "y"));
    fs::write(
        world.at("home/.claude/agents/odd.md"),
        b"---\nname: odd\ndescription: \xff\xfe\n---\n\xff",
    )
    .unwrap();
    fs::write(world.at("home/.claude/agents/large.md"), vec![b'x'; 600 * 1024]).unwrap();
    let found = look(&world, places(&world));
    let names: Vec<_> = found.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["fine", "odd"]);
    let told = |weight: Weight| {
        let told = found.problems.iter().filter(|it| it.weight == weight);
        let mut told: Vec<_> =
            told.map(|it| it.file.file_name().unwrap().to_str().unwrap()).collect();
        told.sort_unstable();
        told
    };
    assert_eq!(told(Weight::Broken), ["broken.md", "large.md"]);
    assert_eq!(told(Weight::Note), ["README.md", "twice.md"]);
    let shown: Vec<_> = found.problems.iter().map(ToString::to_string).collect();
    assert!(
        shown.iter().any(|line| line.starts_with("error: ") && line.contains("broken.md:2: ")),
        "{shown:?}"
    );
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    fn linked(world: &World, target: impl AsRef<Path>, link: &str) -> PathBuf {
        let link = world.at(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target.as_ref(), &link).unwrap();
        link
    }

    #[test]
    fn a_projects_link_cannot_lead_out_of_it() {
        let world = world();
        world.write("secret/agents/a.md", &agent("stolen", "secret"));
        linked(&world, world.at("secret/agents/a.md"), "project/.claude/agents/file.md");
        linked(&world, world.at("secret/agents"), "project/.claude/agents/folder");
        linked(&world, world.at("secret/agents"), "project/.crush/agents");
        linked(&world, world.at("secret"), "project/.caiman");
        linked(&world, "../../../secret", "project/.claude/skills");
        let found = look(&world, places(&world));
        assert_eq!(prompts(&found), []);
        let told =
            found.problems.iter().filter(|it| it.text.contains("leaves the project")).count();
        assert!(told >= 4, "{:?}", found.problems);
    }

    #[test]
    fn the_users_own_links_are_followed_and_circles_end() {
        let world = world();
        world.write("dotfiles/agents/a.md", &agent("a", "x"));
        world.write("dotfiles/one.md", &agent("b", "x"));
        linked(&world, world.at("dotfiles/agents"), "home/.claude/agents");
        linked(&world, world.at("dotfiles/one.md"), "home/.config/caiman/agents/b.md");
        linked(&world, world.at("home/.config"), "home/.config/caiman/agents/circle");
        linked(&world, "/dev/zero", "home/.config/caiman/agents/zero.md");
        let found = look(&world, places(&world));
        assert!(found.agent("a").is_some() && found.agent("b").is_some());
        assert_eq!(found.agents.len(), 2);
    }

    #[test]
    fn what_a_linked_folder_holds_is_never_trusted() {
        let world = world();
        world.write("project/tools/agents/a.md", &agent("a", "x"));
        linked(&world, world.at("project/tools/agents"), "project/.claude/agents");
        world.trust("project");
        let found = look(&world, places(&world));
        assert_eq!(found.agent("a").unwrap().home.standing, Standing::Untrusted);
    }

    #[test]
    fn a_plugin_with_linked_parts_is_never_trusted_and_cannot_reach_out() {
        let hooks = r#"{"hooks": {"Stop": [{"command": "x"}]}}"#;
        for (target, link) in [
            ("project/tools/hooks", "project/.caiman/plugins/kit/hooks"),
            ("project/tools", "project/.caiman/plugins/kit"),
            ("project/tools", "project/.caiman/plugins"),
        ] {
            let world = world();
            world.write("project/tools/hooks/hooks.json", hooks);
            world.write("project/tools/kit/hooks/hooks.json", hooks);
            linked(&world, world.at(target), link);
            world.trust("project");
            let found = look(&world, places(&world));
            let kit = found.plugins.iter().find(|it| it.name == "kit").unwrap();
            assert_eq!((kit.standing, kit.hooks.len()), (Standing::Untrusted, 1), "{link}");
        }
        let world = world();
        world.write("outside/hooks.json", hooks);
        linked(&world, world.at("outside"), "project/.caiman/plugins/kit/hooks");
        assert!(look(&world, places(&world)).plugins.is_empty());
        world.write("project/.caiman/plugins/fine/hooks/hooks.json", hooks);
        world.trust("project");
        let found = look(&world, places(&world));
        assert_eq!(found.plugins[0].standing, Standing::Trusted);
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        let world = world();
        let socket = world.at("project/.claude/agents/a.md");
        fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let found = look(&world, places(&world));
        assert_eq!(found.problems[0].text, "this is not a regular file");
    }
}

#[test]
fn a_project_full_of_files_is_left_before_it_costs_much() {
    let world = world();
    let folder = world.at("project/.claude/agents");
    fs::create_dir_all(&folder).unwrap();
    for index in 0..4_200 {
        fs::write(folder.join(format!("{index}.md")), "").unwrap();
    }
    let deep = format!("project/.crush/agents/{}a.md", "d/".repeat(20));
    world.write(&deep, &agent("deep", "x"));
    let found = look(&world, places(&world));
    assert!(found.agents.is_empty());
    let broken = found.problems.iter().filter(|it| it.weight == Weight::Broken).count();
    assert!((2..=100).contains(&broken), "{broken}");
}

#[test]
fn skills_of_folders_below_answer_for_themselves_and_take_no_name_that_is_taken() {
    let world = world();
    let skill = |body: &str| format!("---\nname: lint\ndescription: d\n---\n{body}\n");
    world.write("project/.claude/skills/lint/SKILL.md", &skill("whole"));
    world.write("project/pkg/web/.claude/skills/lint/SKILL.md", &skill("web"));
    world.write("project/pkg/web/.agents/skills/other/SKILL.md", &skill("again"));
    world.write("project/pkg/api/.crush/skills/lint/SKILL.md", &skill("api"));
    let folder = world.at("project/pkg");
    let below = ["web", "empty", "api", "web/.claude/skills/lint"].map(|name| folder.join(name));
    let shelf = Shelf::new(places(&world));
    let found = shelf.look_below(&folder, &below);
    let named: Vec<(&str, &str)> =
        found.skills.iter().map(|it| (it.name.as_str(), it.body.as_str())).collect();
    assert_eq!(named, [("api:lint", "api"), ("lint", "whole"), ("web:lint", "web")]);
    assert_eq!(found.skill("web:lint").unwrap().home.standing, Standing::Untrusted);
    assert_eq!(shelf.look(&folder).skills.len(), 1);
    assert_eq!(shelf.look_below(&folder, &below[..1]).skills.len(), 2);
    world.write("project/pkg/web/.claude/skills/lint/SKILL.md", &skill("changed"));
    assert_eq!(shelf.look_below(&folder, &below).skill("web:lint").unwrap().body, "changed");
}
