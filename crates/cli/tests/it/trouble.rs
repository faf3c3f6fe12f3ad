//! `caiman run` when the provider, the network or the disk fails.

use std::net::TcpListener;

use serde_json::{Value, json};
use testkit::Script;

use crate::home::{Home, lab};
use crate::model::{KEY, Model};

/// The transcript of the newest session: who spoke, and what.
pub(crate) fn transcript(home: &Home) -> Vec<(String, String)> {
    let shown = home.json(&["session", "last", "--json"]);
    let entry = |entry: &Value| {
        let text = |part: &Value| part["text"].as_str().unwrap_or_default().to_owned();
        // What requests begin with is an entry too, but nobody said it.
        let texts: Vec<String> = entry["parts"].as_array()?.iter().map(text).collect();
        Some((entry["kind"].as_str()?.to_owned(), texts.concat()))
    };
    shown["entries"].as_array().unwrap().iter().filter_map(entry).collect()
}

pub(crate) fn kept(user: &str, assistant: &str) -> Vec<(String, String)> {
    vec![("user".into(), user.into()), ("assistant".into(), assistant.into())]
}

#[test]
fn a_refused_key_exits_4_and_says_what_to_check() {
    let model = Model::start(Script::new().fail(401, "Incorrect API key provided"));
    let done = Home::of(&model).run(&["run", "hi"]);
    assert_eq!((done.code, done.out.as_str()), (4, ""));
    insta::assert_snapshot!(done.err, @"
    error: lab/m: Incorrect API key provided (auth)
    hint: check the key: caiman login lab, or the provider's variable
    hint: caiman login shows where each key comes from
    ");
    assert_eq!(model.requests().len(), 1, "a wrong key stays wrong");
}

#[test]
fn a_rate_limit_is_waited_for_and_announced_on_standard_error() {
    let script = Script::new().header("retry-after-ms", "1").fail(429, "Slow down");
    let model = Model::start(script.then().text("Here.").usage(5, 2));
    let home = Home::of(&model);
    let done = home.run(&["run", "hi"]);
    assert_eq!((done.code, done.out.as_str()), (0, "Here.\n"), "{}", done.err);
    assert!(done.err.contains("Slow down") && done.err.contains("try 2"), "{}", done.err);
    assert_eq!(model.requests()[0].bytes, model.requests()[1].bytes);
}

#[test]
fn a_rate_limit_that_stays_exits_4_after_three_tries() {
    let model = Model::start(Script::new().header("retry-after-ms", "1").fail(429, "Slow down"));
    let home = Home::of(&model);
    let done = home.run(&["run", "hi"]);
    assert_eq!((done.code, model.requests().len()), (4, 3), "{}", done.err);
    assert!(done.err.contains("error: lab/m: Slow down (rate_limit)"), "{}", done.err);
}

#[test]
fn an_error_in_json_output_is_a_result_too() {
    let model = Model::start(Script::new().fail(400, "No such thing"));
    let done = Home::of(&model).run(&["run", "hi", "--output-format", "json"]);
    assert_eq!(done.code, 4);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(result["is_error"], true);
    assert_eq!(result["error"]["class"], "bad_request");
    assert_eq!(result["num_turns"], 1);
}

#[test]
fn a_refused_connection_exits_4_and_names_the_address() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let settings = lab(&format!("http://{address}/v1"), &json!({ "tries": 1 }));
    let done = Home::new().settings(&settings.to_string()).run(&["run", "hi"]);
    assert_eq!(done.code, 4, "{}", done.err);
    assert!(done.err.contains(&format!("cannot connect to {address}")), "{}", done.err);
    assert!(done.err.contains("providers.lab.base_url"), "{}", done.err);
}

#[test]
fn an_answer_cut_midway_exits_4_and_keeps_what_had_come() {
    for script in [
        Script::new().text("Half an").drop_connection(),
        Script::new().text("Half an").end_early(),
        Script::new().text("Half an").fail_inside("server_error", "it broke"),
    ] {
        let model = Model::start(script);
        let home = Home::of(&model);
        let done = home.run(&["run", "hi", "--output-format", "json"]);
        assert_eq!(done.code, 4, "{}", done.err);
        let result: Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!((&result["result"], &result["is_error"]), (&json!("Half an"), &json!(true)));
        assert_eq!(transcript(&home), kept("hi", "Half an"));
        assert_eq!(model.requests().len(), 1, "a half-received answer is not asked for again");
    }
}

#[test]
fn a_cut_answer_ends_its_line_before_the_error() {
    let model = Model::start(Script::new().text("Half an").drop_connection());
    let done = Home::of(&model).run(&["run", "hi"]);
    assert_eq!(done.out, "Half an\n");
    assert!(done.err.starts_with("error: lab/m: "), "{}", done.err);
}

#[test]
fn a_silent_stream_exits_5() {
    let model = Model::start(Script::new().text("Half an").stall());
    let home = Home::with_network(&model, &json!({ "idle_timeout_s": 1 }));
    let done = home.run(&["run", "hi"]);
    assert_eq!(done.code, 5, "{}", done.err);
    assert!(done.err.contains("was silent for 1 s"), "{}", done.err);
    assert_eq!(transcript(&home), kept("hi", "Half an"));
}

#[test]
fn time_up_exits_5_and_keeps_what_had_come() {
    let model = Model::start(Script::new().text("Half an").stall());
    let home = Home::of(&model);
    let done = home.run(&["run", "hi", "--max-time", "1"]);
    assert_eq!((done.code, done.out.as_str()), (5, "Half an\n"));
    assert!(done.err.contains("time is up after 1 s"), "{}", done.err);
    assert_eq!(transcript(&home), kept("hi", "Half an"));
}

#[test]
fn the_ledger_has_every_call_failed_ones_too() {
    let script = Script::new().text("One.").usage(1000, 200);
    let script = script.then().fail(401, "no");
    let script = script.then().text("Two.").usage(500, 100);
    let usage = r#"{"prompt_tokens":300,"completion_tokens":10,"total_tokens":310}"#;
    let told = format!("data: {{\"id\":\"x\",\"choices\":[],\"usage\":{usage}}}\n\n");
    let model = Model::start(script.then().text("Half").raw(&told).drop_connection());
    let home = Home::of(&model);
    let codes = ["a", "b", "c", "d"].map(|prompt| home.run(&["run", prompt]).code);
    assert_eq!(codes, [0, 4, 0, 4]);
    let stats = home.json(&["stats", "--by", "model", "--json"]);
    let row = &stats["rows"][0];
    assert_eq!(row["model"], "lab/m");
    assert_eq!((&row["calls"], &row["failed"]), (&json!(4), &json!(2)));
    let mut total = stats["total"].clone();
    total["duration_ms"] = json!(0);
    insta::assert_json_snapshot!(total, @r#"
    {
      "calls": 4,
      "failed": 2,
      "unpriced": 0,
      "input": 1800,
      "cache_read": 0,
      "cache_write": 0,
      "output": 310,
      "reasoning": 0,
      "cost_pico": 6700000000,
      "cost_usd": 0.0067,
      "duration_ms": 0
    }
    "#);
}

#[test]
fn a_corrupt_database_is_kept_and_the_run_goes_on() {
    let model = Model::saying("ok");
    let home = Home::of(&model);
    let rubbish = "this is no database ".repeat(500);
    home.write(".local/share/caiman/caiman.db", &rubbish);
    let done = home.run(&["run", "hi"]);
    assert_eq!((done.code, done.out.as_str()), (0, "ok\n"), "{}", done.err);
    assert!(done.err.contains("damaged"), "{}", done.err);
    let folder = home.database().parent().unwrap().to_owned();
    let aside = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let kept =
        aside.filter(|file| std::fs::read(file).is_ok_and(|text| text == rubbish.as_bytes()));
    let kept: Vec<_> = kept.collect();
    assert_eq!(kept.len(), 1);
    assert!(done.err.contains(&kept[0].display().to_string()), "{}", done.err);
}

#[test]
fn a_data_folder_that_cannot_be_written_is_named_and_nothing_is_sent() {
    let model = Model::saying("never");
    let home = Home::of(&model);
    home.write(".local/share", "a file where a folder should be");
    let done = home.run(&["run", "hi"]);
    assert_eq!((done.code, done.out.as_str()), (1, ""));
    assert!(done.err.contains(".local/share"), "{}", done.err);
    assert!(model.requests().is_empty(), "what cannot be kept is not sent");
    assert_eq!(home.run(&["run", "--ephemeral", "hi"]).code, 0);
}

#[test]
fn no_error_tells_the_key() {
    let echo = format!("the key {KEY} is wrong");
    for script in [Script::new().fail(401, &echo), Script::new().fail(500, &echo)] {
        let model = Model::start(script);
        let home = Home::with_network(&model, &json!({ "tries": 1 }));
        for format in ["text", "json", "stream-json"] {
            let done = home.run(&["run", "hi", "--output-format", format]);
            assert!(!done.all().contains(KEY), "{}", done.all());
        }
    }
}
