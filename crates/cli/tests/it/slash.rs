//! Slash commands without a terminal: ours, custom ones, skills, and what the first line tells of them.

use serde_json::{Value, json};
use testkit::Script;

use crate::home::Home;
use crate::model::Model;

const TIDY: &str = "---\ndescription: Tidies up\nargument-hint: '[what]'\nallowed-tools: Bash(echo:*)\n---\n\
                    Tidy $1. !`echo $((6*7))`\n";

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_custom_command_is_said_with_its_arguments_and_output() {
    let model = Model::saying("Done.");
    let home = Home::of(&model);
    home.write(".config/caiman/commands/git/tidy.md", TIDY);
    let done = home.run(&["run", "/git:tidy", "branches"]);
    assert_eq!((done.code, done.out.as_str()), (0, "Done.\n"), "{}", done.err);
    let asked = vec![("user".to_owned(), "Tidy branches. 42".to_owned())];
    assert_eq!(model.conversations(), [asked]);
}

#[test]
fn a_skill_is_called_by_its_name() {
    let model = Model::saying("Done.");
    let home = Home::of(&model);
    home.write(
        ".config/caiman/skills/release/SKILL.md",
        "---\nname: release\ndescription: Cuts a release\n---\nTag it.\n",
    );
    let done = home.run(&["run", "/release 1.2"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let asked = &model.conversations()[0][0].1;
    assert!(asked.starts_with("Skill release; its files are in "), "{asked}");
    assert!(asked.ends_with("\n\nTag it.\n\nARGUMENTS: 1.2"), "{asked}");
}

#[test]
fn a_reply_goes_to_standard_output_and_asks_no_model() {
    let model = Model::saying("Never.");
    let home = Home::of(&model);
    let done = home.run(&["run", "/cost"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.starts_with("$0.00 in 0 model calls"), "{}", done.out);
    let done = home.run(&["run", "/context", "--output-format", "json"]);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(result["subtype"], "success");
    assert!(result["result"].as_str().unwrap().contains("in all"), "{result}");
    let done = home.run(&["run", "/compact"]);
    assert_eq!(done.out, "There is too little in the context to compact.\n");
    assert!(model.requests().is_empty());
}

#[test]
fn a_session_is_compacted_from_the_command_line() {
    let words: Vec<String> = (0..4_000).map(|number| format!("word{number}")).collect();
    let script = Script::new().text(&words.join(" ")).then().text("Sure.").then();
    let script = script.text("More.").then().text("A summary of it all.");
    let model = Model::start(script);
    let home = Home::of(&model);
    assert_eq!(home.run(&["run", "tell me a lot"]).code, 0);
    for _ in 0..2 {
        assert_eq!(home.run(&["run", "--continue", "go on"]).code, 0);
    }
    let done = home.run(&["run", "--continue", "/compact the words"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.starts_with("The context is being compacted."), "{}", done.out);
    let shown = home.run(&["run", "--continue", "/compact undo"]);
    assert!(shown.out.starts_with("The last compaction is undone"), "{}", shown.out);
}

#[test]
fn what_nobody_knows_is_an_error() {
    let model = Model::saying("Never.");
    let home = Home::of(&model);
    home.write(".config/caiman/commands/tidy.md", TIDY);
    let done = home.run(&["run", "/tydi"]);
    assert_eq!(done.code, 1, "{}", done.out);
    assert!(done.err.contains("There is no /tydi."), "{}", done.err);
    assert!(model.requests().is_empty());
}

#[test]
fn a_command_that_fails_is_an_error() {
    let model = Model::saying("Never.");
    let home = Home::of(&model);
    home.write(".config/caiman/commands/broken.md", "!`exit 3`\n");
    let done = home.run(&["run", "/broken"]);
    assert_eq!(done.code, 1, "{}", done.out);
    assert!(done.err.contains("exit code 3"), "{}", done.err);
    assert!(model.requests().is_empty());
}

#[test]
fn a_projects_commands_run_nothing_before_it_is_trusted() {
    let model = Model::saying("Done.");
    let home = Home::of(&model);
    home.write("project/.claude/commands/own.md", "!`touch owned`\n");
    home.write("project/.claude/commands/words.md", "Only words.\n");
    let run = |prompt: &str| home.run(&["--cwd", "project", "run", prompt]);
    let done = run("/own");
    assert_eq!(done.code, 1, "{}", done.out);
    assert!(done.err.contains("not trusted"), "{}", done.err);
    assert!(!home.path("project/owned").exists());
    assert_eq!(run("/words").code, 0);
}

#[test]
fn the_first_line_tells_what_there_is() {
    let model = Model::saying("Done.");
    let home = Home::of(&model);
    home.write("kit/.claude-plugin/plugin.json", r#"{"name":"kit","version":"1.0"}"#);
    home.write("kit/skills/cut/SKILL.md", "---\nname: cut\ndescription: Cuts\n---\nCut.\n");
    home.write("kit/commands/glue.md", "Glue it.\n");
    home.write(".config/caiman/output-styles/pirate.md", "---\nname: Pirate\n---\nArr.\n");
    let agents = r#"{"scout":{"description":"Looks around","prompt":"Look."}}"#;
    let args = ["run", "hi", "--output-format", "stream-json", "--plugin-dir", "kit"];
    let done = home.run(&[args.as_slice(), &["--agents", agents]].concat());
    assert_eq!(done.code, 0, "{}", done.err);
    let init = &lines(&done.out)[0];
    let commands = init["slash_commands"].as_array().unwrap();
    for name in ["compact", "kit:cut", "kit:glue"] {
        assert!(commands.contains(&json!(name)), "{commands:?}");
    }
    assert_eq!(init["skills"], json!(["kit:cut"]));
    assert!(init["agents"].as_array().unwrap().contains(&json!("scout")), "{init}");
    assert_eq!(init["plugins"][0]["name"], "kit");
    assert_eq!(init["plugins"][0]["version"], "1.0");
    assert_eq!(init["output_style"], "default");
    let table = home.run(&["plugins", "list"]);
    assert_eq!((table.code, table.out.as_str()), (0, ""), "a flag is for its run: {}", table.err);
    home.write(".config/caiman/plugins/kit/commands/glue.md", "Glue it.\n");
    let listed = home.json(&["plugins", "list", "--json"]);
    assert_eq!((&listed[0]["name"], &listed[0]["commands"]), (&json!("kit"), &json!(1)));
    assert_eq!(home.run(&["run", "/kit:glue", "--plugin-dir", "kit"]).code, 0);
    assert_eq!(model.conversations()[1][0].1, "Glue it.");
}
