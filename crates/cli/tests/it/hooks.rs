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

#[test]
fn a_run_that_a_hook_ends_says_why_in_every_format() {
    let hooks =
        r#"{"hooks": {"PreToolUse": [{"command": "echo 'not on a Friday' >&2; exit 49"}]}}"#;
    for format in ["text", "json", "stream-json"] {
        let touch = json!({ "command": "touch made" });
        let model = Model::start(Script::new().call("bash", touch).then().text("never said"));
        let home = Home::of(&model);
        home.write(".claude/settings.json", hooks);
        let done = home.run(&["run", "go", "--yolo", "--output-format", format]);
        assert_eq!(done.code, 2, "{format}: {} {}", done.out, done.err);
        assert!(done.err.contains("a hook ended the turn: not on a Friday"), "{}", done.err);
        if format != "text" {
            let result: Value = serde_json::from_str(done.out.lines().last().unwrap()).unwrap();
            assert_eq!(
                (&result["is_error"], &result["error"]["class"]),
                (&json!(true), &json!("hook"))
            );
            assert!(result.to_string().contains("not on a Friday"), "{result}");
        }
    }
}

#[test]
fn a_tried_event_tells_what_a_real_one_would() {
    let hooks = json!({ "hooks": {
        "PostToolUse": [{ "matcher": "Write", "hooks": [{ "command": "cat > \"$CLAUDE_PROJECT_DIR/told.json\"" }] }],
        "PreToolUse": [{ "command": "exit 2", "async": true }, { "command": "exit 2", "if": "Glob" }],
    } });
    let home = Home::new().settings(&hooks.to_string());
    let input = r#"{"file_path": "a", "content": "x"}"#;
    let done = home.run(&["hooks", "test", "PostToolUse", "--tool", "Write", "--input", input]);
    assert_eq!(done.code, 0, "{}", done.err);
    let told: Value =
        serde_json::from_str(&std::fs::read_to_string(home.path("told.json")).unwrap()).unwrap();
    for field in ["transcript_path", "prompt_id", "tool_use_id", "cwd"] {
        assert!(told[field].is_string(), "{field} in {told}");
    }
    assert!(told["duration_ms"].is_u64(), "{told}");
    assert!(told["tool_response"]["filePath"].as_str().unwrap().ends_with("/a"), "{told}");
    let tried = home.json(&["hooks", "test", "PreToolUse", "--tool", "Read", "--json"]);
    assert_eq!(
        (&tried["decision"], tried["handlers"].as_array().unwrap().len()),
        (&json!(null), 1)
    );
    let tried = home.json(&["hooks", "test", "PreToolUse", "--tool", "Glob", "--json"]);
    assert_eq!(tried["decision"], "deny", "{tried}");
}
