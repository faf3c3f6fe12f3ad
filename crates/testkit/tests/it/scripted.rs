//! The binary that serves a script file.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::terminal::Program;

use crate::client::Client;

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_script_file_is_served_and_requests_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.json");
    let log = folder.path().join("log.jsonl");
    let steps = json!({ "steps": [{ "actions": [{ "do": "text", "text": "from a file" }] }] });
    std::fs::write(&script, steps.to_string()).unwrap();
    let terminal = Program::new(env!("CARGO_BIN_EXE_scripted"))
        .arg(script.to_str().unwrap())
        .arg("--log")
        .arg(log.to_str().unwrap())
        .start()
        .unwrap();
    terminal.wait_until("a URL", SOON, |screen| screen.lines().any(is_url)).unwrap();
    let url = terminal.screen().lines().find(|line| is_url(line)).unwrap().to_owned();
    let ask = json!({ "model": "m", "input": "hi" });
    let mut client = Client::connect(&url).await;
    let answer = client.post("/v1/responses", &ask).await;
    assert_eq!(answer.json()["output"][0]["content"][0]["text"], "from a file");
    // The log is written after the answer, so a second answer proves the first line.
    client.post("/v1/responses", &ask).await;
    client.post("/v1/responses", &ask).await;
    let lines = std::fs::read_to_string(&log).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&first["wire"], &first["body"]), (&json!("openai-responses"), &ask));
}

fn is_url(line: &str) -> bool {
    line.strip_prefix("http://127.0.0.1:").is_some_and(|port| port.trim().parse::<u16>().is_ok())
}

#[test]
fn a_missing_or_broken_script_is_named_and_fails() {
    let mut terminal = Program::new(env!("CARGO_BIN_EXE_scripted")).start().unwrap();
    terminal.wait_for("no script given", SOON).unwrap();
    assert_eq!(terminal.wait_exit(SOON).unwrap(), 1);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.json"), "{ \"stepz\": [] }").unwrap();
    let program = Program::new(env!("CARGO_BIN_EXE_scripted")).folder(folder.path()).arg("s.json");
    let mut terminal = program.start().unwrap();
    terminal.wait_for("s.json: unknown field `stepz`", SOON).unwrap();
    assert_eq!(terminal.wait_exit(SOON).unwrap(), 1);
}
