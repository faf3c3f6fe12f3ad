//! `caiman hooks`, and hooks of a whole run.

use serde_json::{Value, json};
use testkit::Script;

use crate::home::Home;
use crate::model::Model;

const GUARD: &str = r#"{"hooks": {
  "PreToolUse": [
    {"matcher": "Bash", "hooks": [
      {"type": "command", "command": "grep -q 'rm ' && { echo 'no rm here' >&2; exit 2; }; exit 0", "name": "no-rm"},
      {"type": "command", "command": "echo pushed", "if": "Bash(git push:*)"}]}],
  "Stop": [{"hooks": [{"type": "http", "url": "http://localhost:1/stop", "timeout": 5}]}]
}}"#;

#[test]
fn hooks_are_listed_with_what_they_are_for_and_where_they_stand() {
    let home = Home::new().settings(GUARD);
    let done = home.run(&["hooks", "list"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.starts_with("PreToolUse  Bash  no-rm"), "{}", done.out);
    assert!(done.out.contains("caiman.json:4"), "{}", done.out);
    let listed = home.json(&["hooks", "list", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 3);
    assert_eq!(listed[1]["if"], "Bash(git push:*)");
    assert_eq!(listed[2]["timeout_s"], 5.0);
}

#[test]
fn hooks_of_a_project_nobody_trusts_are_not_even_listed() {
    let home = Home::new();
    home.write("work/.claude/settings.json", GUARD);
    let done = home.run(&["-C", "work", "hooks", "list"]);
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{}", done.err);
    assert!(done.err.contains("trust"), "{}", done.err);
}

#[test]
fn an_event_is_tried_and_every_answer_told() {
    let home = Home::new().settings(GUARD);
    let input = r#"{"command": "rm -r build"}"#;
    let done = home.run(&["hooks", "test", "PreToolUse", "--tool", "Bash", "--input", input]);
    assert_eq!(done.code, 0, "{}", done.err);
    for line in ["no-rm: exit code 2", "  err: no rm here", "decision: deny: no rm here"] {
        assert!(done.out.contains(line), "{line} in {}", done.out);
    }
    assert!(!done.out.contains("pushed"), "{}", done.out);
    let event = r#"{"tool_name": "Bash", "tool_input": {"command": "git push -f"}}"#;
    let args = ["hooks", "test", "pre_tool_use", "--stdin", "--json"];
    let told: Value = serde_json::from_str(&home.run_with_input(&args, event).out).unwrap();
    assert_eq!(told["handlers"].as_array().unwrap().len(), 2, "{told}");
    assert_eq!(told["handlers"][1]["stdout"], "pushed\n");
    assert_eq!(told["decision"], Value::Null);
    let done = home.run(&["hooks", "test", "PreToolUse", "--tool", "Read"]);
    assert!(done.out.contains("no hook is meant"), "{}", done.out);
    let done = home.run(&["hooks", "test", "Elicitation"]);
    assert!(done.code == 1 && done.err.contains("UserPromptSubmit"), "{}", done.err);
    let done = home.run(&["hooks", "test", "Stop"]);
    assert!(done.out.contains("could not run: cannot connect"), "{}", done.out);
}

#[test]
fn a_run_tells_of_its_hooks_when_asked_to() {
    let model = Model::start(Script::new().text("Hi.").usage(1, 1));
    let home = Home::of(&model);
    let hooks = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo noted"}]}]}}"#;
    home.write(".claude/settings.json", hooks);
    let args = ["run", "hello", "--output-format", "stream-json", "--include-hook-events"];
    let done = home.run(&args);
    assert_eq!(done.code, 0, "{}", done.err);
    let lines: Vec<Value> =
        done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |subtype: &str| lines.iter().find(|line| line["subtype"] == subtype).unwrap();
    let (started, ended) = (of("hook_started"), of("hook_response"));
    assert_eq!(started["hook_event"], "UserPromptSubmit");
    assert_eq!(started["hook_id"], ended["hook_id"]);
    assert_eq!((&ended["stdout"], &ended["outcome"]), (&json!("noted\n"), &json!("success")));
    assert_eq!(ended["exit_code"], 0);
    let plain = home.run(&["run", "hello", "--output-format", "stream-json"]);
    assert!(!plain.out.contains("hook_started"), "{}", plain.out);
    model.assert_no_violations();
}

#[test]
fn a_blocked_prompt_ends_a_run_as_denied() {
    let model = Model::start(Script::new().text("Hi.").usage(1, 1));
    let home = Home::of(&model);
    let hooks =
        r#"{"hooks": {"UserPromptSubmit": [{"command": "echo 'say please' >&2; exit 2"}]}}"#;
    home.write(".claude/settings.json", hooks);
    let done = home.run(&["run", "hello"]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("say please"), "{}", done.err);
}
