//! `caiman run` when all goes well: input, output formats, sessions, models.

use base::StopReason;
use serde_json::{Value, json};
use settings::provider::Wire;
use testkit::Script;

use crate::home::{Home, lab};
use crate::model::{KEY, Model};

fn said(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(role, text)| ((*role).to_owned(), (*text).to_owned())).collect()
}

/// The lines of a run, with ids and times masked, and the tools that were offered.
pub(crate) fn masked(out: &str) -> String {
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        mask(&mut line);
        format!("{line}\n")
    };
    out.lines().map(line).collect()
}

fn mask(value: &mut Value) {
    let Value::Object(fields) = value else { return };
    for (name, field) in fields {
        match name.as_str() {
            "session_id" | "uuid" | "id" | "cwd" | "caiman_version" | "tools" | "timestamp"
            | "slash_commands" => {
                *field = json!("…");
            }
            "duration_ms" | "duration_api_ms" => *field = json!(0),
            _ => mask(field),
        }
    }
}

#[test]
fn the_answer_goes_to_standard_output_and_ends_in_one_line_break() {
    let model = Model::start(Script::new().text_in("Hello there.", 4).usage(9, 3));
    let done = Home::of(&model).run(&["run", "hi", "there"]);
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "Hello there.\n", ""));
    assert_eq!(model.conversations(), [said(&[("user", "hi there")])]);
    assert_eq!(model.requests()[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
    let model = Model::saying("With its own.\n");
    assert_eq!(Home::of(&model).run(&["run", "hi"]).out, "With its own.\n");
}

#[test]
fn standard_input_is_appended_or_is_the_whole_prompt() {
    let model = Model::saying("ok");
    let home = Home::of(&model);
    assert_eq!(home.run_with_input(&["run", "explain"], "line one\nline two\n").code, 0);
    assert_eq!(home.run_with_input(&["run"], "only this\n").code, 0);
    let asked =
        [said(&[("user", "explain\n\nline one\nline two")]), said(&[("user", "only this")])];
    assert_eq!(model.conversations(), asked);
}

#[test]
fn an_empty_prompt_is_refused_before_anything_is_made_or_sent() {
    let model = Model::saying("never");
    let home = Home::of(&model);
    for args in [&["run"][..], &["run", ""], &["run", "  "]] {
        let done = home.run_with_input(args, " \n");
        assert_eq!((done.code, done.out.as_str()), (1, ""));
        assert!(done.err.contains("nothing to say") && done.err.contains("hint: "), "{}", done.err);
    }
    assert!(model.requests().is_empty());
    assert!(!home.database().exists());
}

#[test]
fn json_is_one_object_with_result_usage_and_cost() {
    let model =
        Model::start(Script::new().reasoning("Hm.").text("Four.").usage(1_000_000, 100_000));
    let done = Home::of(&model).run(&["run", "2+2?", "--output-format", "json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    insta::assert_snapshot!(masked(&done.out), @r#"
    {"type":"result","subtype":"success","is_error":false,"duration_ms":0,"duration_api_ms":0,"num_turns":1,"result":"Four.","stop_reason":"end_turn","total_cost_usd":3.0,"usage":{"input_tokens":1000000,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":100000},"modelUsage":{"lab/m":{"inputTokens":1000000,"outputTokens":100000,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":3.0,"contextWindow":100000,"maxOutputTokens":4000}},"permission_denials":[],"session_id":"…","uuid":"…"}
    "#);
}

#[test]
fn stream_json_has_init_answer_and_result_lines() {
    let model = Model::start(Script::new().reasoning("Hm.").text_in("Four.", 2).usage(10, 5));
    let done = Home::of(&model).run(&["run", "2+2?", "--output-format", "stream-json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    insta::assert_snapshot!(masked(&done.out), @r#"
    {"type":"system","subtype":"init","cwd":"…","tools":"…","mcp_servers":[],"model":"lab/m","permissionMode":"default","slash_commands":"…","apiKeySource":"user","claude_code_version":"2.1.197","output_style":"default","agents":[],"skills":[],"plugins":[],"caiman_version":"…","session_id":"…","uuid":"…"}
    {"type":"assistant","message":{"id":"…","type":"message","role":"assistant","model":"lab/m","content":[{"type":"thinking","thinking":"Hm.","signature":""}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"assistant","message":{"id":"…","type":"message","role":"assistant","model":"lab/m","content":[{"type":"text","text":"Four."}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"result","subtype":"success","is_error":false,"duration_ms":0,"duration_api_ms":0,"num_turns":1,"result":"Four.","stop_reason":"end_turn","total_cost_usd":0.00007,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5},"modelUsage":{"lab/m":{"inputTokens":10,"outputTokens":5,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":0.00007,"contextWindow":100000,"maxOutputTokens":4000}},"permission_denials":[],"session_id":"…","uuid":"…"}
    "#);
}

#[test]
fn partial_messages_are_the_events_of_a_stream() {
    let model = Model::start(Script::new().reasoning("Hm.").text("Four.").usage(10, 5));
    let args = ["run", "2+2?", "--output-format", "stream-json", "--include-partial-messages"];
    let done = Home::of(&model).run(&args);
    assert_eq!(done.code, 0, "{}", done.err);
    insta::assert_snapshot!(masked(&done.out), @r#"
    {"type":"system","subtype":"init","cwd":"…","tools":"…","mcp_servers":[],"model":"lab/m","permissionMode":"default","slash_commands":"…","apiKeySource":"user","claude_code_version":"2.1.197","output_style":"default","agents":[],"skills":[],"plugins":[],"caiman_version":"…","session_id":"…","uuid":"…"}
    {"type":"stream_event","event":{"type":"message_start","message":{"id":"…","type":"message","role":"assistant","model":"lab/m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"stream_event","event":{"type":"content_block_stop","index":0},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"stream_event","event":{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Four."}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"stream_event","event":{"type":"content_block_stop","index":1},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"stream_event","event":{"type":"message_stop"},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"assistant","message":{"id":"…","type":"message","role":"assistant","model":"lab/m","content":[{"type":"thinking","thinking":"Hm.","signature":""}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"assistant","message":{"id":"…","type":"message","role":"assistant","model":"lab/m","content":[{"type":"text","text":"Four."}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}},"parent_tool_use_id":null,"session_id":"…","uuid":"…"}
    {"type":"result","subtype":"success","is_error":false,"duration_ms":0,"duration_api_ms":0,"num_turns":1,"result":"Four.","stop_reason":"end_turn","total_cost_usd":0.00007,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5},"modelUsage":{"lab/m":{"inputTokens":10,"outputTokens":5,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":0.00007,"contextWindow":100000,"maxOutputTokens":4000}},"permission_denials":[],"session_id":"…","uuid":"…"}
    "#);
}

#[test]
fn a_session_goes_on_with_what_was_said_before() {
    let script = Script::new().text("One.").usage(1, 1).then().text("Two.").usage(1, 1);
    let model = Model::start(script.then().text("Three.").usage(1, 1));
    let home = Home::of(&model);
    let first: Value =
        serde_json::from_str(&home.run(&["run", "a", "--output-format", "json"]).out).unwrap();
    let id = first["session_id"].as_str().unwrap();
    assert_eq!(home.run(&["run", "--continue", "b"]).out, "Two.\n");
    assert_eq!(home.run(&["run", "--session", &id[..id.len() - 2], "c"]).out, "Three.\n");
    let two = [("user", "a"), ("assistant", "One."), ("user", "b")];
    let three = [two.as_slice(), &[("assistant", "Two."), ("user", "c")]].concat();
    assert_eq!(model.conversations(), [said(&two[..1]), said(&two), said(&three)]);
    model.assert_no_violations();
}

#[test]
fn going_on_needs_something_to_go_on_with() {
    let model = Model::saying("never");
    let home = Home::of(&model);
    let done = home.run(&["run", "--continue", "b"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("no session in") && done.err.contains("leave out --continue"));
    let done = home.run(&["run", "--session", "abcdef", "b"]);
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("abcdef") && done.err.contains("caiman session list"),
        "{}",
        done.err
    );
    assert!(model.requests().is_empty());
}

#[test]
fn an_answer_that_is_cut_declined_or_empty_is_pointed_out() {
    for (script, said, word) in [
        (Script::new().text("Once upon").stop(StopReason::Length), "Once upon\n", "token limit"),
        (Script::new().refusal("I would rather not."), "I would rather not.\n", "declined"),
        (Script::new().usage(5, 0), "", "said nothing"),
    ] {
        let model = Model::start(script.then().text("More.").usage(1, 1));
        let home = Home::of(&model);
        let done = home.run(&["run", "hi"]);
        assert_eq!((done.code, done.out.as_str()), (0, said), "{}", done.err);
        assert!(done.err.starts_with("note: ") && done.err.contains(word), "{}", done.err);
        assert_eq!(home.run(&["run", "--continue", "go on"]).out, "More.\n");
        model.assert_no_violations();
    }
}

#[test]
fn limits_and_effort_of_the_command_line_reach_the_model() {
    let model = Model::saying("ok");
    let mut settings = lab(&model.base_url(), &json!({}));
    settings["providers"]["lab"]["models"][0]["can_reason"] = json!(true);
    settings["providers"]["lab"]["models"][0]["reasoning_levels"] = json!(["low", "high"]);
    settings["models"]["large"]["temperature"] = json!(0.5);
    let home = Home::new().settings(&settings.to_string());
    assert_eq!(home.run(&["run", "--max-tokens", "55", "--effort", "high", "hi"]).code, 0);
    let body = &model.requests()[0].body;
    let limit = body.get("max_tokens").or(body.get("max_completion_tokens"));
    assert_eq!(limit, Some(&json!(55)), "{body}");
    assert_eq!((&body["reasoning_effort"], &body["temperature"]), (&json!("high"), &json!(0.5)));
}

#[test]
fn runs_at_the_same_time_share_one_database() {
    let model = Model::saying("ok");
    let home = Home::of(&model);
    let running: Vec<_> = (0..6).map(|_| home.start(&["run", "hi"])).collect();
    for mut run in running {
        run.close_input();
        let done = run.end();
        assert_eq!((done.code, done.out.as_str()), (0, "ok\n"), "{}", done.err);
    }
    assert_eq!(home.json(&["session", "list", "--json"]).as_array().unwrap().len(), 6);
    assert_eq!(home.json(&["stats", "--json"])["total"]["input"], 600);
}

#[test]
fn an_ephemeral_run_leaves_nothing_behind() {
    let model = Model::saying("ok");
    let home = Home::of(&model);
    assert_eq!(home.run(&["run", "--ephemeral", "secret plan"]).out, "ok\n");
    assert!(!home.database().exists());
    assert_eq!(home.json(&["session", "list", "--json"]), json!([]));
}

#[test]
fn every_wire_is_spoken_by_its_rules() {
    for (kind, wire, id) in [
        ("anthropic", Wire::AnthropicMessages, "claude-opus-4-8"),
        ("openai", Wire::OpenaiResponses, "gpt-5.5"),
        ("openai-compat", Wire::OpenaiChat, "some-model"),
        ("google", Wire::Gemini, "gemini-2.5-pro"),
        ("bedrock", Wire::BedrockConverse, "us.amazon.nova-pro-v1:0"),
    ] {
        let script = Script::new().reasoning("Let me see.").text("First.").usage(50, 7);
        let model = Model::start(script.then().text("Second.").usage(70, 9));
        let mut settings = lab(&model.base_url_of(wire), &json!({}));
        settings["providers"]["lab"]["type"] = json!(kind);
        settings["providers"]["lab"]["region"] = json!("us-east-1");
        settings["providers"]["lab"]["models"][0]["id"] = json!(id);
        settings["models"]["large"]["model"] = json!(id);
        let home = Home::new().settings(&settings.to_string());
        let done = home.run(&["run", "hi"]);
        assert_eq!((done.code, done.out.as_str()), (0, "First.\n"), "{kind}: {}", done.err);
        assert_eq!(home.run(&["run", "--continue", "go on"]).out, "Second.\n", "{kind}");
        assert!(model.requests().iter().all(|request| request.wire == Some(wire)), "{kind}");
        model.assert_no_violations();
        let total = &home.json(&["stats", "--json"])["total"];
        assert_eq!((&total["input"], &total["output"]), (&json!(120), &json!(16)), "{kind}");
    }
}

#[test]
fn a_model_may_be_named_by_its_id_alone_if_one_provider_has_it() {
    let model = Model::saying("ok");
    let home = Home::of(&model);
    assert_eq!(home.run(&["run", "-m", "M", "hi"]).out, "ok\n");
    let mut settings = lab(&model.base_url(), &json!({}));
    settings["providers"]["barn"] = settings["providers"]["lab"].clone();
    let home = Home::new().settings(&settings.to_string());
    let done = home.run(&["run", "-m", "m", "hi"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("barn/m, lab/m"), "{}", done.err);
}

#[test]
fn an_unknown_model_or_provider_is_answered_with_the_nearest() {
    let model = Model::saying("never");
    let mut settings = lab(&model.base_url(), &json!({}));
    settings["providers"]["lab"]["models"][0]["id"] = json!("llama-large");
    let home = Home::new().settings(&settings.to_string());
    for (named, nearest) in [("lama-large", "lab/llama-large"), ("antropic/x", "anthropic")] {
        let done = home.run(&["run", "-m", named, "hi"]);
        assert_eq!(done.code, 1);
        assert!(done.err.contains(&format!("did you mean {nearest}?")), "{}", done.err);
    }
    assert!(model.requests().is_empty());
}

#[test]
fn without_a_model_it_says_where_it_looked_and_how_to_set_one_up() {
    let done = Home::new().run(&["run", "hi"]);
    assert_eq!((done.code, done.out.as_str()), (1, ""));
    for word in [
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "Ollama at http://",
        "caiman login anthropic",
        "ollama serve",
        "demo/tour",
    ] {
        assert!(done.err.contains(word), "{word}: {}", done.err);
    }
}

#[test]
fn the_demo_needs_no_key_and_says_what_it_is() {
    let home = Home::new();
    let done = home.run(&["run", "--model", "demo/tour", "hello"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("not an AI"), "{}", done.out);
    let total = &home.json(&["stats", "--json"])["total"];
    assert_eq!((&total["calls"], &total["failed"]), (&json!(1), &json!(0)));
}
