//! `stream-json` both ways: the lines of a whole run, and a program at the other end of the pipes.

use serde_json::{Value, json};
use testkit::Script;

use crate::home::Home;
use crate::model::Model;
use crate::run::masked;

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn types(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["type"].as_str().unwrap()).collect()
}

#[test]
fn a_run_with_a_tool_is_told_line_by_line_with_the_names_wrappers_know() {
    let script =
        Script::new().text("I look.").call_as("toolu_1", "view", json!({ "file_path": "a.txt" }));
    let script = script.usage(10, 5).then().text("It says hello.").usage(20, 6);
    let model = Model::start(script);
    let home = Home::of(&model);
    home.write("a.txt", "hello\n");
    let done = home.run(&["run", "read a.txt", "--output-format", "stream-json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let mut told = lines(&done.out);
    assert_eq!(types(&told), ["system", "assistant", "assistant", "user", "assistant", "result"]);
    let tools = told[0]["tools"].as_array().unwrap();
    assert!(tools.contains(&json!("Read")) && !tools.contains(&json!("view")), "{tools:?}");
    assert_eq!(told[0]["permissionMode"], "default");
    // What the tool itself prints is the tool's to test.
    assert!(told[3]["message"]["content"][0]["content"].as_str().unwrap().contains("hello"));
    told[3]["message"]["content"][0]["content"] = json!("…");
    told[3]["tool_use_result"]["file"]["content"] = json!("…");
    told[3]["tool_use_result"]["file"]["numLines"] = json!(0);
    let lines: Vec<String> = told[1..].iter().map(|line| format!("{line}\n")).collect();
    let text = lines.concat();
    insta::assert_snapshot!(masked(&text), @r#"
    {"type":"assistant","message":{"id":"…","type":"message","role":"assistant","model":"lab/m","content":[{"type":"text","text":"I look."}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"assistant","message":{"id":"…","type":"message","role":"assistant","model":"lab/m","content":[{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"a.txt"}}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"…"}]},"parent_tool_use_id":null,"timestamp":"…","tool_use_result":{"type":"text","file":{"filePath":"a.txt","content":"…","numLines":0,"startLine":1}},"session_id":"…","uuid":"…"}
    {"type":"assistant","message":{"id":"…","type":"message","role":"assistant","model":"lab/m","content":[{"type":"text","text":"It says hello."}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":6}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"result","subtype":"success","is_error":false,"duration_ms":0,"duration_api_ms":0,"num_turns":2,"result":"It says hello.","stop_reason":"end_turn","total_cost_usd":0.00017,"usage":{"input_tokens":30,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":11},"modelUsage":{"lab/m":{"inputTokens":30,"outputTokens":11,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":0.00017,"contextWindow":100000,"maxOutputTokens":4000}},"permission_denials":[],"session_id":"…","uuid":"…"}
    "#);
    model.assert_no_violations();
}

#[test]
fn pieces_of_a_call_come_as_json() {
    let call =
        Script::new().call_as("toolu_1", "view", json!({ "file_path": "a.txt" })).usage(1, 1);
    let model = Model::start(call.then().text("Done.").usage(1, 1));
    let home = Home::of(&model);
    home.write("a.txt", "hello\n");
    let args = ["run", "x", "--output-format", "stream-json", "--include-partial-messages"];
    let done = home.run(&args);
    let events: Vec<Value> = lines(&done.out)
        .into_iter()
        .filter(|line| line["type"] == "stream_event")
        .map(|line| line["event"].clone())
        .collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let message = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(kinds, [message, message].concat(), "{}", done.err);
    assert_eq!(events[1]["content_block"]["name"], "Read");
    assert_eq!(
        events[2]["delta"],
        json!({ "type": "input_json_delta", "partial_json": "{\"file_path\":\"a.txt\"}" })
    );
    assert_eq!(events[4]["delta"]["stop_reason"], "tool_use");
}

#[test]
fn a_denied_call_is_listed_in_the_result() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    let path = outside.path().display().to_string();
    let call = Script::new().call_as("toolu_1", "view", json!({ "file_path": path })).usage(1, 1);
    let model = Model::start(call.then().text("I may not.").usage(1, 1));
    let done = Home::of(&model).run(&["run", "x", "--output-format", "json"]);
    assert_eq!(done.code, 2, "{}", done.err);
    let result = &lines(&done.out)[0];
    assert_eq!((&result["subtype"], &result["num_turns"]), (&json!("success"), &json!(2)));
    assert_eq!(
        result["permission_denials"],
        json!([{ "tool_name": "Read", "tool_use_id": "toolu_1", "tool_input": { "file_path": path } }])
    );
}

#[test]
fn print_at_the_top_is_a_run_as_wrappers_of_claude_code_call_it() {
    let model = Model::saying("Hello.");
    let home = Home::of(&model);
    assert_eq!(home.run(&["-p", "hi"]).out, "Hello.\n");
    assert_eq!(home.run(&["run", "-p", "hi"]).out, "Hello.\n");
    let args = ["--output-format", "stream-json", "--verbose", "--print", "--", "-p hi"];
    let done = home.run(&args);
    assert_eq!(types(&lines(&done.out)), ["system", "assistant", "result"], "{}", done.err);
    assert_eq!(model.conversations()[2][0].1, "-p hi");
}

#[test]
fn a_program_holds_a_conversation_and_is_asked() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    let path = outside.path().display().to_string();
    let script = Script::new().text("One.").usage(1, 1).then();
    let script = script.call_as("toolu_1", "view", json!({ "file_path": path })).usage(1, 1).then();
    let script = script.text("Two.").usage(1, 1).then().text("Three.").usage(1, 1);
    let model = Model::start(script);
    let home = Home::of(&model);
    let Some(done) = home.run_client(include_str!("host.py")) else {
        testkit::parts::skipped("there is no python3 to play the host");
        return;
    };
    assert_eq!(done.code, 0, "{}", done.err);
    let mut told: Value = serde_json::from_str(&done.out).unwrap();
    let heard = told["heard"].take();
    assert_eq!(
        told,
        json!({
            "refused": "error", "names": [true, true, false],
            "initialize": "success", "first": "One.",
            "asked": { "tool": "Read", "input": { "file_path": path }, "subtype": "can_use_tool" },
            "second": "Two.", "mode": "success", "dance": "error", "third": "Three.",
            "rest": "", "code": 0, "heard": null,
        })
    );
    let count = |kind: &str| heard.as_array().unwrap().iter().filter(|it| it[0] == kind).count();
    assert_eq!((count("result"), count("system"), count("control_request")), (3, 3, 1), "{heard}");
    assert_eq!(model.conversations()[3].len(), 5, "one session: {:?}", model.conversations());
    model.assert_no_violations();
}

#[test]
fn the_host_can_stop_a_turn_and_go_on() {
    let script = Script::new().text("Half").stall().then().text("Whole.").usage(1, 1);
    let model = Model::start(script);
    let home = Home::of(&model);
    let args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
    let mut running = home.start(&[&args[..], &["--include-partial-messages"]].concat());
    running.write(&format!("{}\n", user("hi")));
    running.read_until("\"Half\"");
    let stop = json!({ "type": "control_request", "request_id": "1", "request": { "subtype": "interrupt" } });
    running.write(&format!("{stop}\n{}\n", user("again")));
    let done = running.end();
    assert_eq!(done.code, 0, "a stop the host asked for is no failure: {}", done.err);
    let results: Vec<String> = done
        .out
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["type"] == "result")
        .map(|line| format!("{} {}", line["subtype"], line["result"]))
        .collect();
    assert_eq!(results, [r#""error_during_execution" "Half""#, r#""success" "Whole.""#]);
}

#[test]
fn a_broken_line_ends_the_run_and_is_named() {
    let model = Model::saying("never");
    let args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
    let done = Home::of(&model).run_with_input(&args, "\n{\"type\":\"user\"}\n");
    assert_eq!((done.code, done.out.as_str()), (1, ""), "{}", done.err);
    assert!(done.err.contains("line 2 of standard input"), "{}", done.err);
    assert!(model.requests().is_empty());
}

fn user(text: &str) -> Value {
    json!({ "type": "user", "message": { "role": "user", "content": text } })
}
