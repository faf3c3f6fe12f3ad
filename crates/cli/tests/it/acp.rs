//! `caiman acp` between an editor and a scripted model: our own editor first, then the protocol's.

mod clients;
mod editor;

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::Script;

use self::editor::{Editor, PATIENCE};
use crate::home::Home;
use crate::model::Model;

/// A script that writes a file and says so.
pub(crate) fn writes(path: &str, content: &str) -> Script {
    let call = json!({ "file_path": path, "content": content });
    Script::new().call("write", call).usage(10, 5).then().text("Written.").usage(20, 5)
}

#[test]
fn a_file_is_written_by_the_editor_once_its_user_allows_it() {
    let model = Model::start(writes("new.txt", "hello\n"));
    let home = Home::of(&model);
    let mut editor = Editor::start(&home, &[]);
    let session = editor.begin(&home.path(""));
    let prompt = editor.prompt(&session, "write it");
    let asked = editor.request("session/request_permission");
    let call = &asked["params"]["toolCall"];
    assert_eq!((&call["kind"], &call["title"]), (&json!("edit"), &json!("new.txt")));
    let path = home.path("new.txt");
    let diff = json!({ "type": "diff", "path": path, "newText": "hello\n" });
    assert_eq!(call["content"], json!([diff]));
    let options = asked["params"]["options"].as_array().unwrap();
    let kinds: Vec<&str> = options.iter().map(|option| option["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "allow_always", "reject_once"]);
    assert!(!path.exists());
    editor.choose(&asked, "once");
    assert_eq!(editor.answer(prompt).unwrap(), json!({ "stopReason": "end_turn" }));
    assert_eq!(fs::read_to_string(&path).unwrap(), "hello\n");
    let calls = editor.updates("tool_call");
    assert_eq!(calls[0]["locations"], json!([{ "path": path }]));
    let states: Vec<Value> =
        editor.updates("tool_call_update").iter().map(|it| it["status"].clone()).collect();
    assert_eq!(states, [json!("in_progress"), json!("completed")]);
    assert_eq!(editor.said(), "Written.");
    let usage = &editor.updates("usage_update")[0];
    assert_eq!(usage["size"], 100_000);
    assert!(usage["cost"]["amount"].as_f64().unwrap() > 0.0);
    assert_eq!(editor.end().code, 0);
    model.assert_no_violations();
}

#[test]
fn a_change_of_several_files_is_shown_file_by_file() {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Add File: c.txt\n+new\n\
                 *** End Patch\n";
    let script = Script::new().call("view", json!({ "file_path": "a.txt" })).usage(1, 1);
    let script = script.then().call("apply_patch", json!({ "patch": patch })).usage(1, 1);
    let model = Model::start(script.then().text("Done.").usage(1, 1));
    let home = Home::of(&model);
    home.write("a.txt", "one\ntwo\n");
    let mut editor = Editor::start(&home, &["--tools", "view,apply_patch"]);
    let session = editor.begin(&home.path(""));
    let prompt = editor.prompt(&session, "change both");
    let asked = editor.request("session/request_permission");
    let (a, c) = (home.path("a.txt"), home.path("c.txt"));
    let content = json!([
        { "type": "diff", "path": a, "oldText": "one\ntwo\n", "newText": "one\n2\n" },
        { "type": "diff", "path": c, "newText": "new\n" },
    ]);
    assert_eq!(asked["params"]["toolCall"]["content"], content);
    editor.choose(&asked, "once");
    assert_eq!(editor.answer(prompt).unwrap(), json!({ "stopReason": "end_turn" }));
    let done = editor.updates("tool_call_update").pop().unwrap();
    assert_eq!(done["content"], content);
    assert_eq!(done["locations"], json!([{ "path": a, "line": 1 }, { "path": c, "line": 1 }]));
    assert_eq!(editor.end().code, 0);
}

/// A session in which a model runs a command that nothing cages, in an editor that lends terminals.
fn makes(home: &Home) -> (Editor, String, u64) {
    let mut editor = Editor::start(home, &["--mode", "bypassPermissions"]);
    editor.lends_terminals();
    let session = editor.begin(&home.path(""));
    let prompt = editor.prompt(&session, "make it");
    let begun = editor.grants("terminal/create", json!({ "terminalId": "t1" }));
    assert_eq!(begun["args"].as_array().unwrap().last().unwrap(), "make");
    (editor, session, prompt)
}

fn making() -> Model {
    let script = Script::new().call("bash", json!({ "command": "make" })).usage(1, 1);
    Model::start(script.then().text("Made.").usage(1, 1))
}

#[test]
fn a_command_that_nothing_cages_runs_in_a_terminal_of_the_editor() {
    let model = making();
    let home = Home::of(&model);
    let (mut editor, _, prompt) = makes(&home);
    editor.grants("terminal/wait_for_exit", json!({ "exitCode": 2 }));
    editor.grants("terminal/output", json!({ "output": "no rule\n", "truncated": false }));
    editor.grants("terminal/release", json!({}));
    assert_eq!(editor.answer(prompt).unwrap(), json!({ "stopReason": "end_turn" }));
    let done = editor.updates("tool_call_update").pop().unwrap();
    assert_eq!(done["content"], json!([{ "type": "terminal", "terminalId": "t1" }]));
    let told = String::from_utf8_lossy(&model.requests()[1].bytes).into_owned();
    assert!(told.contains("no rule\\nexit code 2"), "{told}");
    assert_eq!(editor.end().code, 0);
}

#[test]
fn a_cancel_ends_the_command_in_the_editors_terminal() {
    let model = making();
    let home = Home::of(&model);
    let (mut editor, session, prompt) = makes(&home);
    editor.request("terminal/wait_for_exit");
    editor.cancel(&session);
    let killed = editor.grants("terminal/kill", json!({}));
    assert_eq!(killed["terminalId"], "t1");
    editor.grants("terminal/release", json!({}));
    assert_eq!(editor.answer(prompt).unwrap()["stopReason"], "cancelled");
    assert_eq!(editor.end().code, 0);
}

#[test]
fn what_was_asked_is_answered_although_the_editor_has_closed_its_end() {
    let home = Home::new();
    let ask = |id: u32| {
        let params = json!({ "protocolVersion": 1 });
        json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": params }).to_string()
    };
    for _ in 0..5 {
        // The last line has no end.
        let input = format!("{}\n{}", ask(1), ask(2));
        let done = home.run_with_input(&["acp"], &input);
        let ids: Vec<Value> =
            done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let ids: Vec<&Value> = ids.iter().map(|answer: &Value| &answer["id"]).collect();
        assert_eq!((done.code, ids), (0, vec![&json!(1), &json!(2)]), "{}", done.err);
    }
}

#[test]
fn a_no_is_told_to_the_model_and_nothing_is_written() {
    let model = Model::start(writes("new.txt", "hello\n"));
    let home = Home::of(&model);
    let mut editor = Editor::start(&home, &[]);
    let session = editor.begin(&home.path(""));
    let prompt = editor.prompt(&session, "write it");
    let asked = editor.request("session/request_permission");
    editor.choose(&asked, "reject");
    assert!(editor.answer(prompt).is_ok());
    let last = editor.updates("tool_call_update").pop().unwrap();
    assert_eq!(last["status"], "failed");
    assert!(!home.path("new.txt").exists());
    assert!(model.requests()[1].body.to_string().contains("the user said no"));
}

#[test]
fn what_is_typed_and_not_saved_is_what_the_model_reads_and_changes() {
    let view = Script::new().call("view", json!({ "file_path": "a.txt" })).usage(1, 1);
    let edit = json!({ "file_path": "a.txt", "old_string": "typed", "new_string": "changed" });
    let model =
        Model::start(view.then().call("edit", edit).usage(1, 1).then().text("ok").usage(1, 1));
    let home = Home::of(&model);
    home.write("a.txt", "saved\n");
    let mut editor = Editor::start(&home, &["--mode", "acceptEdits"]);
    let session = editor.begin(&home.path(""));
    editor.has_unsaved(&home.path("a.txt"), "typed\n");
    let prompt = editor.prompt(&session, "go");
    assert_eq!(editor.answer(prompt).unwrap()["stopReason"], "end_turn");
    assert!(model.requests()[1].body.to_string().contains("typed"));
    assert_eq!(fs::read_to_string(home.path("a.txt")).unwrap(), "changed\n");
}

#[test]
fn a_folder_behind_a_link_is_named_as_the_editor_names_it() {
    let model = Model::start(writes("new.txt", "hello\n"));
    let home = Home::of(&model);
    home.write("real/x.txt", "x");
    let link = home.path("link");
    std::os::unix::fs::symlink(home.path("real"), &link).unwrap();
    let mut editor = Editor::start(&home, &["--mode", "acceptEdits"]);
    let session = editor.begin(&link);
    let prompt = editor.prompt(&session, "write it");
    assert!(editor.answer(prompt).is_ok());
    assert_eq!(editor.written(), [link.join("new.txt")]);
    let calls = editor.updates("tool_call");
    assert_eq!(calls[0]["locations"], json!([{ "path": link.join("new.txt") }]));
    assert_eq!(fs::read_to_string(home.path("real/new.txt")).unwrap(), "hello\n");
}

#[test]
fn other_folders_of_the_editors_workspace_are_ours_to_work_in() {
    let other = tempfile::tempdir().unwrap();
    let path = other.path().canonicalize().unwrap().join("new.txt");
    let model = Model::start(writes(path.to_str().unwrap(), "hello\n"));
    let home = Home::of(&model);
    let mut editor = Editor::start(&home, &["--mode", "acceptEdits"]);
    editor.initialize();
    let params = json!({
        "cwd": home.path(""), "mcpServers": [], "additionalDirectories": [other.path()],
    });
    let begun = editor.call("session/new", params).unwrap();
    // Who is not asked does not answer: the prompt would wait for ever.
    let prompt = editor.prompt(begun["sessionId"].as_str().unwrap(), "write it");
    assert_eq!(editor.answer(prompt).unwrap(), json!({ "stopReason": "end_turn" }));
    assert_eq!(fs::read_to_string(&path).unwrap(), "hello\n");
    let params = json!({ "cwd": home.path(""), "mcpServers": [], "additionalDirectories": ["no"] });
    let fault = editor.call("session/new", params).unwrap_err();
    assert!(fault["message"].as_str().unwrap().contains("absolute"), "{fault}");
    assert_eq!(editor.end().code, 0);
}

#[test]
fn an_editor_that_refuses_files_leaves_them_to_the_disk() {
    let view = Script::new().call("view", json!({ "file_path": "a.txt" })).usage(1, 1);
    let edit = json!({ "file_path": "a.txt", "old_string": "saved", "new_string": "changed" });
    let model =
        Model::start(view.then().call("edit", edit).usage(1, 1).then().text("ok").usage(1, 1));
    let home = Home::of(&model);
    home.write("a.txt", "saved\n");
    let mut editor = Editor::start(&home, &["--mode", "acceptEdits"]);
    editor.refuses_files();
    let session = editor.begin(&home.path(""));
    let prompt = editor.prompt(&session, "go");
    assert_eq!(editor.answer(prompt).unwrap()["stopReason"], "end_turn");
    assert_eq!(fs::read_to_string(home.path("a.txt")).unwrap(), "changed\n");
}

#[test]
fn a_cancel_ends_the_turn_and_the_session_goes_on() {
    let script = Script::new().text("Half an").stall();
    let model = Model::start(script.then().text("Whole.").usage(1, 1));
    let home = Home::of(&model);
    let mut editor = Editor::start(&home, &[]);
    let session = editor.begin(&home.path(""));
    let prompt = editor.prompt(&session, "hi");
    editor.wait_until_said("Half an");
    editor.cancel(&session);
    assert_eq!(editor.answer(prompt).unwrap(), json!({ "stopReason": "cancelled" }));
    let prompt = editor.prompt(&session, "again");
    assert_eq!(editor.answer(prompt).unwrap(), json!({ "stopReason": "end_turn" }));
    assert!(editor.said().ends_with("Whole."));
}

#[test]
fn a_question_that_is_never_answered_does_not_keep_a_turn_from_being_cancelled() {
    let model = Model::start(writes("new.txt", "hello\n"));
    let home = Home::of(&model);
    let mut editor = Editor::start(&home, &[]);
    let session = editor.begin(&home.path(""));
    let prompt = editor.prompt(&session, "write it");
    let asked = editor.request("session/request_permission");
    editor.cancel(&session);
    assert_eq!(editor.answer(prompt).unwrap(), json!({ "stopReason": "cancelled" }));
    let back = editor.notification("$/cancel_request");
    assert_eq!(back["params"]["requestId"], asked["id"]);
    // An answer that comes too late changes nothing.
    editor.choose(&asked, "once");
    assert_eq!(
        editor.call("session/list", json!({})).unwrap()["sessions"].as_array().unwrap().len(),
        1
    );
    assert!(!home.path("new.txt").exists());
}

#[test]
fn another_process_opens_a_session_again_and_tells_all_that_was_said() {
    let call = json!({ "todos": [{ "content": "look", "status": "completed" }] });
    let script = Script::new().reasoning("Hm.").call("todos", call).usage(1, 1);
    let model =
        Model::start(script.then().text("Done.").usage(1, 1).then().text("More.").usage(1, 1));
    let home = Home::of(&model);
    let folder = home.path("");
    let mut editor = Editor::start(&home, &[]);
    let session = editor.begin(&folder);
    let prompt = editor.prompt(&session, "hi");
    assert!(editor.answer(prompt).is_ok());
    let plan = json!([{ "content": "look", "priority": "medium", "status": "completed" }]);
    assert_eq!(editor.updates("plan")[0]["entries"], plan);
    editor.end();

    let mut editor = Editor::start(&home, &[]);
    editor.initialize();
    let listed = editor.call("session/list", json!({ "cwd": folder })).unwrap();
    assert_eq!(listed["sessions"][0]["sessionId"], session);
    let params = json!({ "sessionId": session, "cwd": folder, "mcpServers": [] });
    let loaded = editor.call("session/load", params).unwrap();
    assert_eq!(loaded["configOptions"][1]["currentValue"], "lab/m");
    let kinds: Vec<Value> =
        editor.all_updates().iter().map(|it| it["sessionUpdate"].clone()).collect();
    let told = [
        "user_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "plan",
        "tool_call_update",
        "agent_message_chunk",
    ];
    assert_eq!(kinds[..6], told.map(Value::from));
    let prompt = editor.prompt(&session, "more");
    assert!(editor.answer(prompt).is_ok());
    assert_eq!(model.conversations().last().unwrap()[0].1, "hi");
}

#[test]
fn in_plan_mode_nothing_is_written_and_nobody_is_asked() {
    let model = Model::start(writes("new.txt", "hello\n"));
    let home = Home::of(&model);
    let mut editor = Editor::start(&home, &[]);
    let session = editor.begin(&home.path(""));
    let params = json!({ "sessionId": session, "modeId": "plan" });
    editor.call("session/set_mode", params).unwrap();
    let prompt = editor.prompt(&session, "write it");
    assert!(editor.answer(prompt).is_ok());
    assert!(!home.path("new.txt").exists());
    assert_eq!(editor.updates("current_mode_update")[0]["currentModeId"], "plan");
    let options = editor.updates("config_option_update");
    assert_eq!(options[0]["configOptions"][0]["currentValue"], "plan");
    let params = json!({ "sessionId": session, "configId": "mode", "value": "acceptEdits" });
    let set = editor.call("session/set_config_option", params).unwrap();
    assert_eq!(set["configOptions"][0]["currentValue"], "acceptEdits");
}

#[test]
fn sessions_work_beside_each_other_and_a_failure_is_told_to_its_own() {
    let one = Script::new().text("One.").stall().when_contains("first prompt");
    let both = one.then().fail(401, "no such key").when_contains("second prompt");
    let model = Model::start(both);
    let home = Home::with_network(&model, &json!({ "tries": 1 }));
    home.write("b/x.txt", "x");
    let mut editor = Editor::start(&home, &[]);
    let (one, two) = (editor.begin(&home.path("")), editor.begin(&home.path("b")));
    let first = editor.prompt(&one, "first prompt");
    editor.wait_until_said("One.");
    let second = editor.prompt(&two, "second prompt");
    let fault = editor.answer(second).unwrap_err();
    assert_eq!(fault["code"], -32000, "{fault}");
    editor.cancel(&one);
    assert_eq!(editor.answer(first).unwrap()["stopReason"], "cancelled");
}

#[test]
fn an_editor_that_closes_its_end_leaves_no_process_behind() {
    // A number nobody else sleeps for.
    let script = Script::new().call("bash", json!({ "command": "sleep 98761" })).usage(1, 1);
    let model = Model::start(script);
    let home = Home::of(&model);
    let mut editor = Editor::start(&home, &["--allow", "Bash(sleep:*)"]);
    let session = editor.begin(&home.path(""));
    editor.prompt(&session, "sleep");
    editor.wait_for_update(|update| update["status"] == "in_progress");
    wait_for(|| is_running("98761"), "the command never began");
    assert_eq!(editor.end().code, 0);
    wait_for(|| !is_running("98761"), "the command outlives us");
}

#[test]
fn without_a_key_the_editor_is_told_how_to_get_one() {
    let home = Home::new();
    let mut editor = Editor::start(&home, &[]);
    editor.initialize();
    let params = json!({ "cwd": home.path(""), "mcpServers": [] });
    let fault = editor.call("session/new", params).unwrap_err();
    assert_eq!(fault["code"], -32000);
    assert!(fault["message"].as_str().unwrap().contains("caiman login"), "{fault}");
}

/// Whether some process was started with a word.
fn is_running(word: &str) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    let mut lines = processes.flatten().filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    lines.any(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes()))
}

fn wait_for(is_so: impl Fn() -> bool, otherwise: &str) {
    let until = std::time::Instant::now() + PATIENCE;
    while !is_so() {
        assert!(std::time::Instant::now() < until, "{otherwise}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
