//! `caiman session` and `caiman stats` over sessions that runs have made.

use serde_json::{Value, json};
use testkit::Script;

use crate::home::Home;
use crate::model::Model;

/// A home with two sessions, and their ids, older first.
fn two_sessions() -> (Home, Model, [String; 2]) {
    let script = Script::new().text("Paris.").usage(1000, 200);
    let model = Model::start(script.then().text("Rome.").usage(500, 100));
    let home = Home::of(&model);
    let ids = ["capital of France?", "capital of Italy?"].map(|prompt| {
        let result = home.json(&["run", prompt, "--output-format", "json"]);
        result["session_id"].as_str().unwrap().to_owned()
    });
    (home, model, ids)
}

#[test]
fn sessions_are_listed_newest_first_and_shown() {
    let (home, _model, ids) = two_sessions();
    let listed = home.json(&["session", "list", "--json"]);
    let order: Vec<&str> =
        listed.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(order, [ids[1].as_str(), ids[0].as_str()]);
    let table = home.run(&["session", "list"]).out;
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.contains("$0.002") && table.contains("capital of Italy?"), "{table}");
    let shown = home.run(&["session", "show", &ids[0]]).out;
    assert!(shown.contains("capital of France?") && shown.contains("Paris."), "{shown}");
    assert!(shown.ends_with('\n') && !shown.contains("Rome."), "{shown}");
    assert!(home.run(&["session", "last"]).out.contains("Rome."));
}

#[test]
fn the_beginning_of_an_id_is_enough_unless_two_share_it() {
    let (home, _model, ids) = two_sessions();
    let done = home.run(&["session", "show", "0"]);
    assert_eq!(done.code, 1);
    assert!(ids.iter().all(|id| done.err.contains(id)), "{}", done.err);
    let done = home.run(&["session", "show", "fff"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("`fff`"), "{}", done.err);
}

#[test]
fn a_renamed_session_has_its_new_title_everywhere() {
    let (home, _model, ids) = two_sessions();
    assert_eq!(home.run(&["session", "rename", &ids[0], "About", "France"]).code, 0);
    assert!(home.run(&["session", "list"]).out.contains("About France"));
    assert!(home.run(&["session", "show", &ids[0]]).out.contains("About France"));
    assert_eq!(home.run(&["session", "rename", &ids[0], " "]).code, 1);
}

#[test]
fn deleting_needs_a_yes_and_keeps_the_costs() {
    let (home, _model, ids) = two_sessions();
    let done = home.run(&["session", "delete", &ids[0]]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("--yes"), "{}", done.err);
    assert_eq!(home.run(&["session", "delete", &ids[0], "--yes"]).code, 0);
    assert_eq!(home.run(&["session", "show", &ids[0]]).code, 1);
    assert_eq!(home.json(&["session", "list", "--json"]).as_array().unwrap().len(), 1);
    let total = &home.json(&["stats", "--json"])["total"];
    assert_eq!((&total["calls"], &total["input"]), (&json!(2), &json!(1500)));
}

#[test]
fn an_export_holds_the_whole_session() {
    let (home, _model, ids) = two_sessions();
    let lines: Vec<Value> = home
        .run(&["session", "export", &ids[0]])
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["id"], json!(ids[0]));
    let kinds: Vec<&Value> = lines[1..].iter().map(|line| &line["kind"]).collect();
    assert_eq!(kinds, ["prefix", "user", "assistant"]);
    let args = ["session", "export", "last", "--format", "md", "-o", "out.md"];
    assert_eq!(home.run(&args).code, 0);
    let text = std::fs::read_to_string(home.path("out.md")).unwrap();
    assert!(text.contains("## User") && text.contains("Rome."), "{text}");
}

#[test]
fn the_costs_are_exact_by_session_and_model() {
    let (home, _model, ids) = two_sessions();
    let by_session = home.json(&["stats", "--by", "session", "--json"]);
    let rows = by_session["rows"].as_array().unwrap();
    let costs: Vec<(&str, f64)> = rows
        .iter()
        .map(|row| (row["session"].as_str().unwrap(), row["cost_usd"].as_f64().unwrap()))
        .collect();
    assert_eq!(costs, [(ids[0].as_str(), 0.004), (ids[1].as_str(), 0.002)]);
    let table = home.run(&["stats", "--by", "model"]).out;
    assert!(table.contains("lab/m") && table.contains("$0.006"), "{table}");
}

#[test]
fn looking_for_sessions_makes_no_database() {
    let home = Home::new();
    assert_eq!(home.json(&["session", "list", "--json"]), json!([]));
    assert_eq!(home.run(&["session", "last"]).code, 1);
    assert_eq!(home.run(&["stats"]).code, 0);
    assert!(!home.database().exists());
}

#[test]
fn changes_are_printed_and_taken_back_from_a_shell() {
    let write = json!({ "file_path": "a.txt", "content": "hi\n" });
    let script = Script::new().call("write", write).then().text("Done.");
    let model = Model::start(script);
    let home = Home::of(&model);
    let run = home.json(&["run", "write it", "--yolo", "--output-format", "json"]);
    let id = run["session_id"].as_str().unwrap();
    let printed = home.run(&["session", "changes"]).out;
    assert_eq!(printed, "a.txt  +1 −0\n@@ -0,0 +1 @@\n+hi\n");
    let exported =
        home.run(&["session", "export", id]).out + &home.run(&["session", "show", "--json"]).out;
    assert!(!exported.contains("took_ms") && exported.contains("created a.txt"), "{exported}");
    let list = home.run(&["session", "rewind", id]).out;
    assert!(list.starts_with("  1  ") && list.trim_end().ends_with("write it"), "{list}");
    assert_eq!(home.run(&["session", "rewind", id, "9"]).code, 1);
    let done = home.run(&["session", "rewind", id, "1", "--files"]);
    assert!(done.out.contains("Restored: a.txt."), "{}", done.all());
    assert_eq!(home.run(&["session", "changes", id]).out, "");
    assert!(home.run(&["session", "rewind", id, "1"]).out.contains("Restored: a.txt."), "undone");
    assert!(home.run(&["session", "changes", id, "--json"]).out.contains("\"added\": 1"));
}

#[test]
fn hidden_characters_are_shown_wherever_a_session_is_printed() {
    let model = Model::saying("left \u{202e}thgir\u{202c} \u{200b}zero \u{1b}[31mred");
    let home = Home::of(&model);
    let shown = "left <U+202E>thgir<U+202C> <U+200B>zero <U+001B>[31mred";
    // A pipe keeps every byte, save for what makes text read differently from what it says.
    let piped = "left <U+202E>thgir<U+202C> \u{200b}zero \u{1b}[31mred";
    assert_eq!(home.run(&["run", "turn \u{202e}around"]).out, format!("{piped}\n"));

    let list = home.run(&["session", "list"]);
    let id = home.json(&["session", "list", "--json"])[0]["id"].as_str().unwrap().to_owned();
    let show = home.run(&["session", "show", &id]);
    assert!(show.out.contains(shown), "{}", show.out);
    let markdown = home.run(&["session", "export", &id, "--format", "md"]);
    assert!(markdown.out.contains(shown), "{} {}", markdown.out, markdown.err);
    let lines = home.run(&["session", "export", &id]);
    let json = home.run(&["run", "--output-format", "json", "again"]);
    let stream = home.run(&["run", "--output-format", "stream-json", "--verbose", "again"]);
    for done in [&json, &stream] {
        assert!(done.out.contains("left \\u202ethgir"), "{}", done.out);
    }
    for done in [&list, &show, &markdown, &lines, &json, &stream] {
        assert!(!done.out.is_empty(), "{}", done.err);
        let hidden = |c: char| c != '\n' && base::visible::is_hidden(c);
        assert!(!done.out.contains(hidden), "{:?}", done.out);
    }
}
