//! MCP servers in a run: named on the command line, told in the first line, used through rules.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::Script;

use crate::home::{Home, lab};
use crate::model::Model;

/// The scripted server of the mind's own tests.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../agent/tests/it/mcp/server.py");

/// Settings of a server that lends one tool.
fn server(home: &Home, name: &str) -> Value {
    let tools = json!([{ "name": "add", "description": "Adds.", "does": [{ "text": "three" }] }]);
    let file = format!("{name}.json");
    home.write(&file, &json!({ "tools": tools }).to_string());
    json!({ "command": "python3", "args": [PROGRAM, home.path(&file)] })
}

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn servers_of_the_command_line_are_told_and_used() {
    let add = json!({ "name": "mcp_my_sums_add", "input": {} });
    // The first call waits for a server nobody has met, and gets its list.
    let script = Script::new().call("use_tool", add.clone()).then().call("use_tool", add).then();
    let model = Model::start(script.text("Three.").usage(10, 5));
    let home = Home::of(&model);
    let servers = json!({ "mcpServers": { "my_sums": server(&home, "sums") } });
    home.write("servers.json", &servers.to_string());
    let file = home.path("servers.json").display().to_string();
    let run = ["run", "go", "--mcp-config", &file, "--output-format", "stream-json"];
    let done = home.run(&[&run[..], &["--allow", "mcp__my_sums__add"]].concat());
    assert_eq!(done.code, 0, "{}", done.err);
    let lines = lines(&done.out);
    assert_eq!(lines[0]["mcp_servers"][0]["name"], json!("my_sums"));
    assert!(done.out.contains("three"), "{}", done.out);

    // The next run knows what is lent before the server is up; without a rule it is denied.
    let model = Model::start(
        Script::new().call("mcp_my_sums_add", json!({})).then().text("No.").usage(10, 5),
    );
    let home = home.settings(&lab(&model.base_url(), &json!({})).to_string());
    let done = home.run(&run);
    assert_eq!(done.code, 2, "{}", done.out);
    let lines = self::lines(&done.out);
    let tools = lines[0]["tools"].to_string();
    assert!(tools.contains("mcp__my_sums__add"), "{tools}");
    let denied = &lines.last().unwrap()["permission_denials"][0]["tool_name"];
    assert_eq!(denied, &json!("mcp__my_sums__add"));
}

#[test]
fn strict_settings_leave_out_all_other_servers() {
    let model = Model::saying("Yes.");
    let home = Home::of(&model);
    let mut settings = lab(&model.base_url(), &json!({}));
    settings["mcp"] = json!({ "other": server(&home, "other") });
    let home = home.settings(&settings.to_string());
    let own = json!({ "mcpServers": { "own": server(&home, "own") } }).to_string();
    let run = ["run", "go", "--mcp-config", &own, "--output-format", "stream-json"];
    let done = home.run(&[&run[..], &["--strict-mcp-config"]].concat());
    assert_eq!(done.code, 0, "{}", done.err);
    let listed: Vec<Value> = lines(&done.out)[0]["mcp_servers"].as_array().unwrap().clone();
    let names: Vec<&Value> = listed.iter().map(|server| &server["name"]).collect();
    assert_eq!(names, ["own"]);
}

#[test]
fn a_server_that_is_forbidden_is_off_on_the_command_line_too() {
    let model = Model::saying("Yes.");
    let home = Home::of(&model);
    let denied = json!({ "deniedMcpServers": [{ "serverName": "own" }] });
    home.write(".claude/settings.json", &denied.to_string());
    let servers = json!({ "own": server(&home, "own"), "other": server(&home, "other") });
    let given = json!({ "mcpServers": servers }).to_string();
    let run = ["run", "go", "--mcp-config", &given, "--output-format", "stream-json"];
    for more in [&[][..], &["--strict-mcp-config"]] {
        let done = home.run(&[&run[..], more].concat());
        assert_eq!(done.code, 0, "{}", done.err);
        assert!(done.err.contains("warning: the MCP server own is off"), "{}", done.err);
        assert!(!done.err.contains("server other is off"), "{}", done.err);
        let told = lines(&done.out)[0]["mcp_servers"].clone();
        let own = json!({ "name": "own", "status": "disabled" });
        assert!(told.as_array().unwrap().contains(&own), "{told}");
    }
}

/// Ten servers, of which three never answer and two end at once.
fn ten(home: &Home) -> Value {
    let server = |number: usize| {
        let spec = match number {
            0..3 => json!({ "silent": true }),
            3..5 => json!({ "crashes": true }),
            _ => json!({ "tools": [{ "name": "add" }] }),
        };
        let file = format!("s{number}.json");
        home.write(&file, &spec.to_string());
        let args = json!([PROGRAM, home.path(&file)]);
        (format!("s{number}"), json!({ "command": "python3", "args": args, "timeout": 1 }))
    };
    Value::Object((0..10).map(server).collect())
}

/// How long it takes until the first request of a run has come, and what was said meanwhile.
fn first_request(answer_ms: u64, servers: impl Fn(&Home) -> Value) -> (Duration, String) {
    let model = Model::start(Script::new().delay_ms(answer_ms).text("Yes.").usage(1, 1));
    let home = Home::of(&model);
    let mut settings = lab(&model.base_url(), &json!({}));
    settings["mcp"] = servers(&home);
    let home = home.settings(&settings.to_string());
    let began = Instant::now();
    let done = home.run(&["run", "go"]);
    assert_eq!(done.code, 0, "{}", done.err);
    (model.requests()[0].at.duration_since(began), done.err)
}

#[test]
fn ten_servers_of_which_five_do_not_work_hold_no_first_request_up_and_are_told() {
    let none = |_: &Home| json!({});
    // The first one pays for what is read from disk.
    first_request(0, none);
    let mut differences = Vec::new();
    for _ in 0..4 {
        let (without, _) = first_request(0, none);
        let (with, _) = first_request(0, ten);
        differences.push(with.saturating_sub(without));
    }
    let best = differences.iter().min().unwrap();
    assert!(*best < Duration::from_millis(50), "{differences:?}");
    let (_, said) = first_request(8_000, ten);
    for number in 0..5 {
        let told = format!("The MCP server s{number} is broken");
        assert!(said.contains(&told), "{told}: {said}");
    }
    assert!(!said.contains("The MCP server s5 "), "{said}");
}
