//! Language servers that break, hang or flood, and what is left of them when we are gone.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base::TaskScope;
use links::Lsp;
use links::lsp::{Edited, Fit, Keeping};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

use testkit::processes::{gone_soon, is_alive};

use crate::processes::pid_in;
use crate::room::Room;
use crate::servers::{has, kept, patient, room, with};

const PYTHON: &str = "value: int = 1\n";

/// A server for Python files that is this shell script.
fn script(text: &str, timeout_s: u64) -> Value {
    json!({ "it": {
        "command": "sh", "args": ["-c", text], "filetypes": ["py"], "timeout": timeout_s,
    } })
}

fn kill(id: u32) {
    let pid = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_killed_server_is_started_again() {
    is_started_again("ty", "ty").await;
}

#[tokio::test]
async fn a_killed_server_that_pushes_is_started_again() {
    is_started_again("pyright", "pyright-langserver").await;
}

async fn is_started_again(server: &str, program: &str) {
    if !has(program) {
        return;
    }
    let room = room(json!({ server: {} })).await;
    room.write("a.py", PYTHON);
    room.edits("a.py", "= 1", "= 2").await;
    let [id] = room.lsp().processes()[..] else { panic!("one server runs") };
    kill(id);
    gone_soon(id).await;
    let mut said = String::new();
    // It takes a moment until we hear of its end.
    for round in 0..50 {
        said = room.edits("a.py", "value", &format!("value{round}")).await;
        said += &room.says("diagnostics", json!({ "file_path": "a.py" })).await;
        if said.contains("0 errors") {
            break;
        }
        room.edits("a.py", &format!("value{round}"), "value").await;
    }
    assert!(said.contains("0 errors"), "{said}");
    assert_ne!(room.lsp().processes(), [id]);
    room.lsp().close().await;
}

#[tokio::test]
async fn a_server_that_never_answers_holds_nobody_up_twice() {
    let config = json!({ "options": { "auto_lsp": false }, "lsp": script("cat > /dev/null", 600) });
    let room = kept(config, &TaskScope::new(), Keeping::default()).await;
    room.write("a.py", PYTHON);
    let began = Instant::now();
    let said = room.edits("a.py", "= 1", "= 2").await;
    assert!(said.starts_with("changed a.py"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    let began = Instant::now();
    for value in 2..12 {
        room.edits("a.py", &format!("= {value}"), &format!("= {}", value + 1)).await;
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let states = room.lsp().states();
    assert!(states[0].state.starts_with("starting since"), "{states:?}");
    room.lsp().close().await;
}

#[tokio::test]
async fn a_server_that_never_answers_is_reported() {
    let room = room(script("echo no licence >&2; cat > /dev/null", 1)).await;
    room.write("a.py", PYTHON);
    let said = room.says("diagnostics", json!({ "file_path": "a.py" })).await;
    assert!(said.contains("no answer to initialize within 1s"), "{said}");
    let states = room.lsp().states();
    assert!(states[0].state.contains("it said: no licence"), "{states:?}");
    room.lsp().close().await;
}

#[tokio::test]
async fn a_server_that_floods_garbage_is_given_up() {
    let room = room(script("while :; do echo garbage garbage garbage; done", 600)).await;
    room.write("a.py", PYTHON);
    let began = Instant::now();
    let said = room.says("diagnostics", json!({ "file_path": "a.py" })).await;
    assert!(said.contains("it prints what is no message"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(room.lsp().processes().is_empty());
    room.lsp().close().await;
}

#[tokio::test]
async fn a_server_that_breaks_every_time_is_left_alone() {
    let room = room(script("echo run >> runs; exit 3", 600)).await;
    room.write("a.py", PYTHON);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(4) {
        room.says("diagnostics", json!({ "file_path": "a.py" })).await;
    }
    let runs = room.read("runs").lines().count();
    assert!((2..=5).contains(&runs), "{runs} runs");
    let said = room.says("lsp_restart", json!({})).await;
    assert!(said.starts_with("restarted it in "), "{said}");
    room.lsp().close().await;
}

#[tokio::test]
async fn a_file_without_a_server_costs_nothing() {
    let room = room(script("cat > /dev/null", 600)).await;
    room.write("a.txt", "one\n");
    let began = Instant::now();
    let said = room.edits("a.txt", "one", "two").await;
    assert!(said.starts_with("changed a.txt"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert!(room.lsp().processes().is_empty());
    assert_eq!(room.lsp().states()[0].state, "not started");
}

/// Three projects, each with a server of its own.
async fn three_projects(keeping: Keeping) -> Room {
    let config = json!({ "options": { "auto_lsp": false }, "lsp": { "ty": {} } });
    let room = kept(config, &TaskScope::new(), keeping).await;
    for project in ["one", "two", "three"] {
        room.write(
            &format!("{project}/pyproject.toml"),
            "[project]\nname = \"x\"\nversion = \"0\"\n",
        );
        room.write(&format!("{project}/a.py"), PYTHON);
    }
    room
}

/// Waits until so many servers run.
async fn run_soon(room: &Room, count: usize) {
    for _ in 0..600 {
        if room.lsp().processes().len() == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{:?}", room.lsp().states());
}

#[tokio::test]
async fn beyond_the_cap_the_server_used_longest_ago_gives_way_and_comes_back() {
    if !has("ty") {
        return;
    }
    let room = three_projects(Keeping { running: 2, ..patient() }).await;
    for project in ["one", "two", "one", "three"] {
        room.warm(&format!("{project}/a.py")).await;
    }
    run_soon(&room, 2).await;
    let asleep: Vec<String> = room.lsp().states().iter().map(|it| it.state.clone()).collect();
    assert_eq!(asleep.iter().filter(|state| *state == "asleep").count(), 1, "{asleep:?}");
    let before = room.lsp().processes();
    room.warm("one/a.py").await;
    room.warm("three/a.py").await;
    assert_eq!(room.lsp().processes(), before, "those used last have stayed");
    room.warm("two/a.py").await;
    run_soon(&room, 2).await;
    assert_ne!(room.lsp().processes(), before);
    room.lsp().close().await;
}

#[tokio::test]
async fn an_idle_server_is_put_to_sleep_and_comes_back() {
    if !has("ty") {
        return;
    }
    let room = three_projects(Keeping { idle: Duration::from_secs(5), ..patient() }).await;
    room.warm("one/a.py").await;
    run_soon(&room, 0).await;
    assert_eq!(room.lsp().states()[0].state, "asleep");
    room.warm("one/a.py").await;
    let said = room.edits("one/a.py", "= 1", "= 'text'").await;
    assert!(said.contains("one/a.py:1:"), "it knows its files again: {said}");
    room.lsp().close().await;
}

/// A server for Python files that calls a line with `bad` in it an error: the first time only after a second.
async fn slow_at_first(longest: Duration) -> Room {
    let program = include_str!("late.py");
    let server = json!({ "command": "python3", "args": ["-c", program], "filetypes": ["py"] });
    let config = json!({ "options": { "auto_lsp": false }, "lsp": { "it": server } });
    let room = kept(config, &TaskScope::new(), Keeping { longest, ..Keeping::default() }).await;
    room.write("a.py", "one = 1\ntwo = 2\n");
    room.warm("a.py").await;
    room
}

#[tokio::test]
async fn an_error_that_comes_too_late_is_told_with_the_next_edit() {
    let room = slow_at_first(Duration::from_millis(500)).await;
    let said = room.edits("a.py", "one", "bad").await;
    assert_eq!(said, "changed a.py (+1 −1) from line 1");
    // The server tells in a file what it has said.
    while !room.read("log").contains("said 1") {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let said = room.edits("a.py", "two", "three").await;
    assert!(said.ends_with("New errors since this change:\na.py:1:1 bad (it)"), "{said}");
    let said = room.edits("a.py", "three", "four").await;
    assert_eq!(said, "changed a.py (+1 −1) from line 2", "once is enough");
    room.lsp().close().await;
}

#[tokio::test]
async fn a_server_is_told_that_it_is_over() {
    let room = slow_at_first(Duration::from_secs(5)).await;
    room.lsp().close().await;
    let log = room.read("log");
    assert!(log.ends_with("shutdown\nexit\n"), "{log}");
}

#[tokio::test]
async fn what_nobody_knows_is_not_called_good() {
    let room = room(script("cat > /dev/null", 600)).await;
    room.write("a.py", PYTHON);
    let said = room.says("diagnostics", json!({})).await;
    assert_eq!(said, "No language server runs yet; name a file.");
    let said = room.says("symbols", json!({ "query": "value" })).await;
    assert!(!said.contains("installed"), "{said}");
    room.says("view", json!({ "file_path": "a.py" })).await;
    while !room.lsp().states()[0].state.starts_with("starting") {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let said = room.says("diagnostics", json!({})).await;
    assert_eq!(said, "it has not answered yet; ask again later");
    room.lsp().close().await;
}

#[tokio::test]
async fn a_server_that_is_starting_is_started_anew() {
    let room = room(script("echo run >> runs; cat > /dev/null", 600)).await;
    room.write("a.py", PYTHON);
    room.says("view", json!({ "file_path": "a.py" })).await;
    let runs = || std::fs::read_to_string(room.folder().join("runs")).unwrap_or_default();
    while runs().lines().count() < 1 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    room.says("lsp_restart", json!({ "name": "it" })).await;
    while runs().lines().count() < 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    room.lsp().close().await;
}

#[tokio::test]
async fn a_server_that_has_never_come_up_is_waited_for_once() {
    let config = json!({ "options": { "auto_lsp": false }, "lsp": script("cat > /dev/null", 1) });
    let room = kept(config, &TaskScope::new(), Keeping::default()).await;
    room.write("a.py", PYTHON);
    room.edits("a.py", "= 1", "= 2").await;
    let began = Instant::now();
    for value in 2..6 {
        room.edits("a.py", &format!("= {value}"), &format!("= {}", value + 1)).await;
    }
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    room.lsp().close().await;
}

#[tokio::test]
async fn where_nobody_trusts_the_project_no_server_runs_its_code() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in ["rust-analyzer", "clangd"] {
        let path = bin.join(program);
        std::fs::write(&path, format!("#!/bin/sh\necho >> ../{program}.ran; cat > /dev/null\n"))
            .unwrap();
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, all).unwrap();
    }
    let is_vouched = Arc::new(AtomicBool::new(false));
    let asked = is_vouched.clone();
    let vouched = Arc::new(move |_: &Path| asked.load(Ordering::Relaxed));
    let env = base::Env::from_iter([("PATH", format!("{}:/bin:/usr/bin", bin.display()))]);
    let keeping = Keeping { vouched, longest: Duration::from_millis(100), ..Keeping::default() };
    let lsp = Lsp::kept(Arc::default(), env, &TaskScope::new(), keeping);
    let project = folder.path().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("Cargo.toml"), "").unwrap();
    assert_eq!(lsp.fit(&project), Fit::Untrusted("rust-analyzer".to_owned()));
    std::fs::write(project.join("a.c"), "").unwrap();
    assert_eq!(lsp.fit(&project), Fit::Yes, "clangd only reads");
    let edit = |name: &str| Edited {
        path: project.join(name),
        within: project.clone(),
        before: Some(String::new()),
        after: Some("x".to_owned()),
    };
    lsp.after(&[edit("a.rs"), edit("a.c")]).await;
    let ran = |program: &str| folder.path().join(format!("{program}.ran")).exists();
    while !ran("clangd") {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!ran("rust-analyzer"));
    let states = lsp.states();
    let waits = states.iter().find(|it| it.name == "rust-analyzer").unwrap();
    assert_eq!(waits.state, "waits for trust: caiman trust");
    is_vouched.store(true, Ordering::Relaxed);
    lsp.after(&[edit("a.rs")]).await;
    while !ran("rust-analyzer") {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    lsp.close().await;
}

/// Started by the test below, in a process of its own.
#[tokio::test]
#[ignore = "a part of another test"]
async fn starts_servers_and_waits_to_be_killed() {
    let servers = json!({ "typescript": {}, "it": {
        "command": "sh", "args": ["-c", "sleep 600 & echo $! > sleeper; cat > /dev/null"], "filetypes": ["py"],
    } });
    let config = json!({ "options": { "auto_lsp": false }, "lsp": servers });
    let room = with(config, &TaskScope::new()).await;
    room.write("tsconfig.json", "{}");
    room.write("a.ts", "export const value = 1;\n");
    room.write("a.py", PYTHON);
    room.says("view", json!({ "file_path": "a.py" })).await;
    room.says("diagnostics", json!({ "file_path": "a.ts" })).await;
    let sleeper = pid_in(&room, "sleeper").await;
    println!("servers {:?}", [room.lsp().processes(), vec![sleeper]].concat());
    tokio::time::sleep(Duration::from_mins(2)).await;
}

#[tokio::test]
async fn no_server_survives_us() {
    if !has("typescript-language-server") {
        return;
    }
    let name = "lsp_trouble::starts_servers_and_waits_to_be_killed";
    let mut parent = guard::process::Command {
        program: std::env::current_exe().unwrap().display().to_string(),
        args: ["--ignored", "--exact", name, "--nocapture"].map(str::to_owned).to_vec(),
        folder: std::env::temp_dir(),
        env: base::Env::of_process(),
        cage: None,
        stdio: guard::process::Terminals::Output,
    }
    .spawn()
    .unwrap();
    let mut text = String::new();
    while !text.contains("servers [") || !text.ends_with('\n') {
        let mut buffer = [0; 512];
        let count = parent.output.as_mut().unwrap().read(&mut buffer).await.unwrap();
        assert!(count > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    let list = text.split("servers [").nth(1).unwrap().split(']').next().unwrap();
    let servers: Vec<u32> = list.split(", ").map(|id| id.parse().unwrap()).collect();
    let mut members: Vec<u32> = servers.iter().flat_map(|id| session(*id)).collect();
    assert!(members.len() >= servers.len(), "the server has a helper of its own: {members:?}");
    members.extend(servers);
    kill(parent.group());
    for id in members {
        gone_soon(id).await;
        assert!(!is_alive(id));
    }
}

/// The processes of a session.
fn session(leader: u32) -> Vec<u32> {
    let ids = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let belongs = |id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        fields.split(' ').nth(3) == Some(leader.to_string().as_str())
    };
    ids.filter(belongs).collect()
}
