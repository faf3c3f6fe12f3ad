//! What a run may do and spend: rules, modes, tools, budgets, shapes.

use serde_json::{Value, json};
use testkit::Script;

use crate::home::{Home, lab};
use crate::model::Model;

/// A model that runs a command, then says something.
fn running(command: &str) -> Model {
    let call = Script::new().call("bash", json!({ "command": command })).usage(1, 1);
    Model::start(call.then().text("That is all.").usage(1, 1))
}

fn home_of(model: &Model) -> Home {
    Home::of(model).with("PATH", "/usr/bin:/bin")
}

/// A model that reads another file on every call, and never ends.
fn reading_on() -> Model {
    let step = |script: Script, number: usize| {
        let input = json!({ "file_path": format!("{number}.txt") });
        script.text("On.").call("view", input).usage(1_000_000, 0).then()
    };
    Model::start((0..12).fold(Script::new(), step).text("End.").usage(1, 1))
}

fn result(out: &str) -> Value {
    serde_json::from_str(out.lines().last().unwrap()).unwrap()
}

#[test]
fn what_nobody_allows_is_not_done_and_exits_2() {
    let model = running("touch made.txt");
    let home = home_of(&model);
    let done = home.run(&["run", "make it"]);
    assert_eq!((done.code, done.out.as_str()), (2, "That is all.\n"), "{}", done.err);
    assert!(done.err.contains("error: a call was denied permission"), "{}", done.err);
    assert!(done.err.contains("touch made.txt"), "{}", done.err);
    assert!(done.err.contains("--allow 'Bash("), "{}", done.err);
    assert!(!home.path("made.txt").exists());
    model.assert_no_violations();
}

#[test]
fn a_rule_or_a_mode_allows_it() {
    for flags in [
        &["--allow", "Bash(touch:*)"][..],
        &["--allowedTools", "Read,Bash(touch:*)"],
        &["--yolo"],
        &["--dangerously-skip-permissions"],
        &["--permission-mode", "bypassPermissions"],
    ] {
        let model = running("touch made.txt");
        let home = home_of(&model);
        let done = home.run(&[&["run", "make it"], flags].concat());
        assert_eq!(done.code, 0, "{flags:?}: {}", done.err);
        assert!(home.path("made.txt").exists(), "{flags:?}");
    }
}

#[test]
fn the_home_folder_is_not_changed_unasked_by_accident() {
    for (flags, code) in [
        (&["--yolo"][..], 1),
        (&["--mode", "acceptEdits"], 1),
        (&["--yolo", "--allow-home"], 0),
        (&["--allow", "Bash(touch:*)"], 0),
    ] {
        let model = running("touch made.txt");
        let home = home_of(&model).with("CAIMAN_ALLOW_HOME", "");
        let done = home.run(&[&["run", "make it"], flags].concat());
        assert_eq!(done.code, code, "{flags:?}: {}", done.err);
        assert_eq!(done.err.contains("--allow-home"), code == 1, "{flags:?}: {}", done.err);
        assert_eq!(home.path("made.txt").exists(), code == 0, "{flags:?}");
    }
}

#[test]
fn a_denial_beats_every_permission() {
    let model = running("touch made.txt");
    let home = home_of(&model);
    let done = home.run(&["run", "make it", "--yolo", "--deny", "Bash(touch:*)"]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(!home.path("made.txt").exists());
}

#[test]
fn tools_that_may_never_run_are_not_offered() {
    let offered = |flags: &[&str]| {
        let model = Model::saying("ok");
        assert_eq!(home_of(&model).run(&[&["run", "hi"], flags].concat()).code, 0);
        let body = model.requests()[0].body.clone();
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
        tools.iter().map(name).collect::<Vec<_>>()
    };
    assert!(offered(&[]).contains(&"view".to_owned()));
    assert!(!offered(&["--disallowedTools", "Read"]).contains(&"view".to_owned()));
    assert_eq!(offered(&["--tools", "Read, grep"]), ["grep", "view"]);
    assert_eq!(offered(&["--tools", ""]), Vec::<String>::new());
}

#[test]
fn every_budget_ends_a_turn_with_exit_code_3() {
    for (flags, subtype) in [
        (&["--max-steps", "2"][..], "error_max_turns"),
        (&["--max-turns", "2"], "error_max_turns"),
        (&["--max-cost", "3.5"], "error_max_budget_usd"),
        (&["--max-budget-usd", "3.5"], "error_max_budget_usd"),
    ] {
        let model = reading_on();
        let done =
            Home::of(&model).run(&[&["run", "go", "--output-format", "json"], flags].concat());
        assert_eq!(done.code, 3, "{flags:?}: {}", done.err);
        let result = result(&done.out);
        assert_eq!((&result["subtype"], &result["is_error"]), (&json!(subtype), &json!(true)));
        assert_eq!((&result["num_turns"], model.requests().len()), (&json!(2), 2), "{flags:?}");
        assert!(done.err.contains("budget"), "{}", done.err);
    }
}

#[test]
fn budgets_of_the_settings_hold_too() {
    let model = reading_on();
    let mut settings = lab(&model.base_url(), &json!({}));
    settings["budgets"] = json!({ "turn_calls": 3 });
    let done = Home::new().settings(&settings.to_string()).run(&["run", "go"]);
    assert_eq!((done.code, model.requests().len()), (3, 3), "{}", done.err);
    assert_eq!(done.out, "On.\nOn.\nOn.\n", "each step on a line of its own");
}

#[test]
fn a_model_that_goes_in_circles_is_stopped() {
    let model =
        Model::start(Script::new().call("view", json!({ "file_path": "a.txt" })).usage(1, 1));
    let home = Home::of(&model);
    home.write("a.txt", "the same\n");
    let done = home.run(&["run", "go", "--output-format", "json"]);
    assert_eq!(done.code, 3, "{}", done.err);
    assert_eq!(result(&done.out)["error"]["class"], "loop");
    assert!(model.requests().len() < 10, "{}", model.requests().len());
}

#[test]
fn tools_are_shown_on_standard_error_when_asked() {
    let call =
        Script::new().text("I look.").call("view", json!({ "file_path": "a.txt" })).usage(1, 1);
    let model = Model::start(call.then().text("Read.").usage(1, 1));
    let home = Home::of(&model);
    home.write("a.txt", "x\n");
    let done = home.run(&["run", "go", "--verbose"]);
    assert_eq!((done.code, done.out.as_str()), (0, "I look.\nRead.\n"), "{}", done.err);
    assert_eq!(done.err, "→ view: a.txt\n");
}

#[test]
fn the_system_prompt_is_replaced_or_added_to() {
    let model = Model::saying("ok");
    let home = Home::of(&model);
    assert_eq!(home.run(&["run", "hi", "--system-prompt", "You are a cat."]).code, 0);
    assert_eq!(home.run(&["run", "hi", "--append-system-prompt", "Speak softly."]).code, 0);
    let bodies: Vec<String> = model.requests().iter().map(|it| it.body.to_string()).collect();
    assert!(bodies[0].contains("You are a cat.") && bodies[1].contains("Speak softly."));
    assert!(bodies[0].len() + 500 < bodies[1].len(), "ours is gone from the first");
}

const POINT: &str = r#"{"type":"object","required":["x"],"properties":{"x":{"type":"integer"}}}"#;

#[test]
fn an_answer_that_must_fit_a_schema_is_sent_back_until_it_does() {
    let script = Script::new().text("Sure: 1").usage(1, 1).then().text(r#"{"x":"1"}"#).usage(1, 1);
    let model = Model::start(script.then().text("```json\n{\"x\": 1}\n```").usage(1, 1));
    let home = Home::of(&model);
    home.write("point.json", POINT);
    let done = home.run(&["run", "where?", "--output-schema", "point.json"]);
    assert_eq!((done.code, done.out.as_str()), (0, "{\"x\":1}\n"), "{}", done.err);
    let told = model.conversations();
    assert!(model.requests()[0].body.to_string().contains("JSON Schema"));
    assert!(told[1].last().unwrap().1.contains("not JSON"), "{told:?}");
    assert!(told[2].last().unwrap().1.contains("at /x"), "{told:?}");
    model.assert_no_violations();
}

#[test]
fn an_answer_that_never_fits_exits_1() {
    let model = Model::saying("no");
    let args = ["run", "where?", "--json-schema", POINT, "--output-format", "stream-json"];
    let done = Home::of(&model).run(&args);
    assert_eq!((done.code, model.requests().len()), (1, 3), "{}", done.err);
    let kinds: Vec<Value> = done.out.lines().map(|line| result(line)["type"].clone()).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "result").count(), 1, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| *kind == "system").count(), 1, "{kinds:?}");
    assert_eq!(result(&done.out)["subtype"], "error_max_structured_output_retries");
}

#[test]
fn a_fitting_answer_is_structured_output() {
    let model = Model::saying(r#"{"x":7}"#);
    let args = ["run", "where?", "--json-schema", POINT, "--output-format", "json"];
    let done = Home::of(&model).run(&args);
    assert_eq!((done.code, &result(&done.out)["structured_output"]), (0, &json!({ "x": 7 })));
}

#[test]
fn flags_that_cannot_be_meant_are_refused_before_anything_is_sent() {
    let model = Model::saying("never");
    let home = Home::of(&model);
    home.write("bad.json", "{\"type\": \"wat\"}");
    for (flags, word) in [
        (&["--allow", "Bash(open"][..], "not a rule"),
        (&["--mode", "sudo"], "acceptEdits"),
        (&["--max-steps", "0"], "--max-steps"),
        (&["--max-cost", "0"], "--max-cost"),
        (&["--add-dir", "nowhere"], "nowhere"),
        (&["--tools", "Raed"], "Raed"),
        (&["--output-schema", "missing.json"], "missing.json"),
        (&["--output-schema", "bad.json"], "bad.json is not a JSON Schema"),
        (&["--json-schema", "{"], "--json-schema is not JSON"),
        (&["--session-id", "42"], "--session-id"),
        (&["--fork-session"], "--continue"),
        (&["--permission-prompt-tool", "stdio"], "--input-format stream-json"),
        (&["--include-partial-messages"], "stream-json"),
        (&["--replay-user-messages"], "--input-format"),
        (&["--fallback-model", "x"], "models.fallbacks"),
        (&["--mcp-config", "missing.json"], "missing.json"),
        (&["--mcp-config", "{}"], "names no servers"),
        (&["--yolo", "--mode", "plan"], "--mode"),
    ] {
        let done = home.run(&[&["run", "hi"], flags].concat());
        assert_eq!((done.code, done.out.as_str()), (1, ""), "{flags:?}: {}", done.err);
        assert!(done.err.contains(word), "{flags:?}: {}", done.err);
    }
    assert!(model.requests().is_empty());
}
