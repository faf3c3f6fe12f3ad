//! `caiman agents` and `caiman skills` from outside.

use serde_json::json;

use crate::home::Home;

fn agent(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Use it.\nmodel: haiku\n---\nYou help.\n")
}

fn names(home: &Home) -> Vec<(String, bool)> {
    let listed = home.json(&["agents", "list", "--json"]);
    let row = |row: &serde_json::Value| {
        (row["name"].as_str().unwrap().to_owned(), row["disabled"].as_bool().unwrap())
    };
    let own = listed.as_array().unwrap().iter().filter(|row| row["source"] != "builtin");
    own.map(row).collect()
}

#[test]
fn agents_are_listed_and_shown() {
    let home = Home::new();
    let ours = home.run(&["agents", "list"]).out;
    assert!(ours.contains("caiman agents new") && ours.contains("explorer  built in"), "{ours}");
    assert!(home.run(&["agents", "show", "general"]).out.contains("sub-agent of Caiman"));
    home.write(".claude/agents/mine.md", &agent("mine"));
    home.write("work/.caiman/agents/theirs.md", &agent("theirs\u{1b}[2J"));
    home.write("work/.caiman/agents/odd.md", &agent("odd"));
    let done = home.run(&["-C", "work", "agents", "list"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("mine      user"), "{}", done.out);
    assert!(done.out.contains("odd       project, not trusted  haiku"), "{}", done.out);
    assert!(done.err.contains("1 file cannot be used"), "{}", done.err);
    assert!(!done.all().contains('\u{1b}'));
    let shown = home.run(&["agents", "show", "Mine"]);
    assert!(shown.out.contains("model        haiku"), "{}", shown.out);
    assert!(shown.out.ends_with("\nYou help.\n"), "{}", shown.out);
    let shown = home.json(&["agents", "show", "mine", "--json"]);
    assert_eq!((&shown["prompt"], &shown["source"]), (&json!("You help."), &json!("user")));
    let done = home.run(&["agents", "show", "nobody"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("caiman agents list"), "{}", done.err);
}

#[test]
fn a_new_agent_works_as_written_and_is_not_overwritten() {
    let home = Home::new();
    home.write("work/.git/HEAD", "");
    home.write("work/sub/x", "");
    let done =
        home.run(&["-C", "work/sub", "agents", "new", "Code Reviewer", "-d", "Use: \"often\""]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(home.path("work/.caiman/agents/code-reviewer.md").exists());
    let shown = home.json(&["-C", "work", "agents", "show", "code-reviewer", "--json"]);
    assert_eq!(shown["name"], "Code Reviewer");
    assert_eq!(shown["description"], "Use: \"often\"");
    assert_eq!(home.run(&["-C", "work", "agents", "check"]).code, 0);
    let again = home.run(&["-C", "work", "agents", "new", "code-reviewer"]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("is there already"), "{}", again.err);
    let done = home.run(&["agents", "new", "--user", "mine"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(home.path(".config/caiman/agents/mine.md").exists());
    for name in ["a:b", "../..", "-x", ""] {
        let done = home.run(&["agents", "new", "--", name]);
        assert_eq!(done.code, 1, "{name}: {}", done.out);
    }
}

#[test]
fn switching_an_agent_off_keeps_the_settings_comments() {
    let home = Home::new().settings("{\n  // mine\n  \"options\": { \"debug\": true },\n}\n");
    home.write(".claude/agents/a.md", &agent("A One"));
    let done = home.run(&["agents", "disable", "a one"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(names(&home), [("A One".to_owned(), true)]);
    let settings = std::fs::read_to_string(home.path(".config/caiman/caiman.json")).unwrap();
    assert!(settings.contains("// mine") && settings.contains("\"debug\": true"), "{settings}");
    assert!(home.run(&["agents", "list"]).out.contains("off"));
    assert_eq!(home.run(&["agents", "enable", "A One"]).code, 0);
    assert_eq!(names(&home), [("A One".to_owned(), false)]);
    assert_eq!(home.run(&["agents", "disable", "nobody"]).code, 1);
    home.write("work/caiman.json", r#"{"agents": {"A One": {"disabled": true}}}"#);
    let done = home.run(&["-C", "work", "agents", "enable", "A One"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("work/caiman.json"), "{}", done.err);
}

#[test]
fn check_names_file_and_line_and_fails_only_on_what_cannot_be_used() {
    let home = Home::new();
    home.write("kit/README.md", "# A kit\n");
    home.write("kit/good/a.md", &agent("a"));
    home.write("kit/loose.md", "---\nname: loose\ndescription: Use when: asked\n---\nHelp.\n");
    let done = home.run(&["agents", "check", "kit"]);
    assert_eq!(done.code, 0, "{}", done.all());
    assert!(done.out.contains("kit/loose.md:3: "), "{}", done.out);
    assert!(done.out.ends_with("2 agents; 0 broken, 2 noted.\n"), "{}", done.out);
    home.write("kit/bad.md", "---\n\nname: bad\n---\nHelp.\n");
    let done = home.run(&["agents", "check", "kit/good", "kit/bad.md"]);
    assert_eq!(done.code, 1);
    assert!(done.out.contains("error: ") && done.out.contains("kit/bad.md:3: "), "{}", done.out);
    let done = home.run(&["agents", "check", "kit", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((&report["agents"], &report["broken"]), (&json!(2), &json!(1)));
    assert_eq!(home.run(&["agents", "check", "absent"]).code, 1);
}

#[test]
fn check_tells_what_is_asked_for_and_not_here() {
    let home = Home::new();
    let header = "tools: Read, Teleport, Bash(git log:*, mcp__x\ndisallowedTools: Write(docs/**)\n\
                  model: gpt-77\nskills: [absent]\nmcpServers: [nowhere]";
    let text = format!("---\nname: a\ndescription: d\n{header}\n---\nHelp.\n");
    home.write(".claude/agents/a.md", &text);
    let done = home.run(&["agents", "check"]);
    assert_eq!(done.code, 0, "{}", done.all());
    for told in [
        "no tool `Teleport`",
        "bracket is not closed",
        "the whole tool is taken away",
        "no model `gpt-77`",
        "no skill `absent`",
        "no MCP server `nowhere`",
    ] {
        assert!(done.out.contains(told), "{told}: {}", done.out);
    }
    for fine in ["claude-sonnet-4-20250514", "Claude Opus 4 (copilot)", "inherit", "openai/x"] {
        let text =
            format!("---\nname: a\ndescription: d\nmodel: {fine}\ntools: Read\n---\nHelp.\n");
        home.write(".claude/agents/a.md", &text);
        let done = home.run(&["agents", "check"]);
        assert!(done.out.contains("1 agent, nothing wrong."), "{fine}: {}", done.out);
    }
}

#[test]
fn a_file_that_cannot_be_read_as_text_is_told() {
    let home = Home::new();
    let utf16: Vec<u8> =
        "\u{feff}---\nname: a\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    home.write(".claude/agents/a.md", "");
    std::fs::write(home.path(".claude/agents/a.md"), utf16).unwrap();
    let long = "x".repeat(300 * 1024);
    home.write(".claude/agents/b.md", &format!("---\nname: b\ndescription: {long}\n---\nB\n"));
    let done = home.run(&["agents", "check"]);
    assert_eq!(done.code, 1);
    assert!(done.out.contains("save it as UTF-8"), "{}", done.out);
    assert!(done.out.contains("larger than 256 KiB"), "{}", done.out);
}

#[test]
fn a_built_in_agent_can_be_switched_off_and_on() {
    let home = Home::new();
    assert_eq!(home.run(&["agents", "disable", "Explorer"]).code, 0);
    let is_off = |home: &Home| {
        let listed = home.json(&["agents", "list", "--json"]);
        let rows = listed.as_array().unwrap().clone();
        rows.into_iter().find(|row| row["name"] == "explorer").unwrap()["disabled"].clone()
    };
    assert_eq!(is_off(&home), json!(true));
    assert_eq!(home.run(&["agents", "enable", "explorer"]).code, 0);
    assert_eq!(is_off(&home), json!(false));
}

#[test]
fn a_broken_definition_never_stops_another_command() {
    let home = Home::new();
    home.write(".claude/agents/bad.md", "---\nname: bad\n---\n");
    home.write(".claude/skills/bad/SKILL.md", "---\nname: [\n---\n");
    let done = home.run(&["run", "-m", "demo/tour", "hi"]);
    assert_eq!(done.code, 0, "{}", done.err);
}

#[cfg(unix)]
#[test]
fn edit_opens_the_file_in_the_users_editor_and_checks_it() {
    use std::os::unix::fs::PermissionsExt;

    let editor =
        "#!/bin/sh\nprintf -- '---\\nname: a\\ndescription: %s\\n---\\nHi\\n' \"$1\" > \"$2\"\n";
    let home = Home::new().with("EDITOR", "\"$HOME/my editor\" changed");
    home.write("my editor", editor);
    let program = home.path("my editor");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    home.write(".claude/agents/a.md", &agent("a"));
    let done = home.run(&["agents", "edit", "a"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(home.json(&["agents", "show", "a", "--json"])["description"], "changed");
    let home = Home::new().with("VISUAL", "false");
    home.write(".claude/agents/a.md", &agent("a"));
    assert_eq!(home.run(&["agents", "edit", "a"]).code, 1);
}

#[test]
fn skills_are_listed_and_shown() {
    let home = Home::new();
    assert!(home.run(&["skills", "list"]).out.contains("SKILL.md"));
    home.write(".agents/skills/pdf/SKILL.md", "---\ndescription: Reads PDF\n---\nDo it.\n");
    let listed = home.json(&["skills", "list", "--json"]);
    assert_eq!((&listed[0]["name"], &listed[0]["source"]), (&json!("pdf"), &json!("user")));
    assert!(home.run(&["skills", "show", "pdf"]).out.ends_with("\nDo it.\n"));
    assert_eq!(home.run(&["skills", "show", "nothing"]).code, 1);
}

#[test]
fn the_public_collection_is_checked_without_an_error() {
    let Some(folder) = testkit::parts::shared("agent-files") else { return };
    let done = Home::new().run(&["agents", "check", folder.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.all());
    assert!(done.out.contains("521 agents; 0 broken"), "{}", done.out);
}
