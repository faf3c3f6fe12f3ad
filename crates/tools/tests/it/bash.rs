//! `bash`, with real shells and processes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base::{Block, Origin};
use guard::{Action, Cage, Reach};
use serde_json::json;
use tools::{Progress, ToolError};

use testkit::processes::{gone_soon, is_alive};

use crate::processes::pid_in;
use crate::room::Room;

/// What the slowest machine may take where a quick one takes nothing.
const SLOW: Duration = Duration::from_secs(10);

async fn bash(room: &Room, command: &str) -> String {
    room.call("bash", json!({ "command": command })).await.unwrap().text
}

#[tokio::test]
async fn gives_output_and_errors_in_order_and_the_exit_code() {
    let room = Room::new().await;
    let output =
        room.call("bash", json!({ "command": "echo a; echo b >&2; echo c; exit 3" })).await;
    let output = output.unwrap();
    assert_eq!(output.text, "a\nb\nc\nexit code 3");
    assert_eq!(output.origin, Origin::Shell);
    assert_eq!(bash(&room, "true").await, "no output");
    assert_eq!(bash(&room, "false").await, "no output\nexit code 1");
    assert_eq!(bash(&room, "kill -9 $$").await, "no output\nended by SIGKILL");
    assert_eq!(bash(&room, "exit 137").await, "no output\nexit code 137 (SIGKILL)");
}

#[tokio::test]
async fn each_call_is_a_fresh_shell_without_start_up_files() {
    let room = Room::new().await;
    for file in [".bashrc", ".profile", ".bash_profile"] {
        std::fs::write(room.folder().with_file_name("home").join(file), "echo start-up").unwrap();
    }
    room.write("sub/here.txt", "");
    assert_eq!(bash(&room, "cd sub && X=1 && export X && ls").await, "here.txt");
    let here = room.folder().display().to_string();
    assert_eq!(bash(&room, "echo \"$PWD [$X] $TERM\"").await, format!("{here} [] dumb"));
    assert_eq!(bash(&room, "exec echo replaced").await, "replaced");
    assert_eq!(bash(&room, "-x").await.lines().next_back(), Some("exit code 127"));
    assert_eq!(bash(&room, "false | true").await, "no output");
}

#[tokio::test]
async fn runs_in_the_folder_it_is_told() {
    let room = Room::new().await;
    room.write("a b/c.txt", "");
    let input = json!({ "command": "ls", "working_dir": "a b" });
    assert_eq!(room.call("bash", input).await.unwrap().text, "c.txt");
    let input = json!({ "command": "ls", "working_dir": "nowhere" });
    let error = room.call("bash", input).await.unwrap_err().to_string();
    assert!(error.contains("nowhere"), "{error}");
}

#[tokio::test]
async fn says_what_the_lock_must_judge() {
    let room = Room::new().await;
    let tool = room.registry.get("bash").unwrap().clone();
    let input = json!({ "command": "curl x", "uncaged": "true", "why": "needs the network" });
    let call = tool.clone().prepare(input.as_object().unwrap().clone()).unwrap();
    let actions = call.actions(&room.workspace).unwrap();
    let [Action::Run { command, folder, uncaged: true }] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert_eq!((command.as_str(), folder.real.as_path()), ("curl x", room.folder()));
    let Some(Block::Text { text }) = call.preview(&room.ctx()).await else { panic!("no preview") };
    assert!(text.contains("curl x") && text.contains("needs the network"), "{text}");
    for command in ["  ", "echo \0"] {
        let call = tool.clone().prepare(json!({ "command": command }).as_object().unwrap().clone());
        let error = call.unwrap().actions(&room.workspace).unwrap_err();
        assert!(matches!(error, ToolError::Arguments(_)), "{error}");
    }
}

#[tokio::test]
async fn the_title_is_the_description_or_the_first_line() {
    let room = Room::new().await;
    let tool = room.registry.get("bash").unwrap().clone();
    let title = |input: serde_json::Value| {
        tool.clone().prepare(input.as_object().unwrap().clone()).unwrap().title()
    };
    assert_eq!(title(json!({ "command": "ls", "description": "List files" })), "List files");
    assert_eq!(title(json!({ "command": "one\ntwo" })), "one");
    assert_eq!(title(json!({ "command": "é".repeat(200) })).chars().count(), 81);
}

#[tokio::test]
async fn who_reads_the_input_finds_its_end() {
    let room = Room::new().await;
    let before = Instant::now();
    assert_eq!(bash(&room, "cat; read x; echo \"<$x>\"").await, "<>");
    assert!(before.elapsed() < SLOW);
}

#[tokio::test]
async fn a_child_left_behind_with_the_pipe_does_not_hold_the_call() {
    let room = Room::new().await;
    let before = Instant::now();
    let text = bash(&room, "sleep 300 & echo $! > pid; echo started").await;
    // 100 ms after the shell has ended, on a machine that has time.
    assert!(before.elapsed() < Duration::from_secs(2), "{:?}", before.elapsed());
    let pid = pid_in(&room, "pid").await;
    assert!(text.starts_with("started\n") && text.contains("as job 1"), "{text}");
    assert!(is_alive(pid));
    let text = room.call("job_kill", json!({ "job": 1 })).await.unwrap().text;
    assert!(text.contains("job 1 is over"), "{text}");
    gone_soon(pid).await;
}

#[tokio::test]
async fn a_child_left_behind_that_writes_elsewhere_ends_with_the_session() {
    let room = Room::new().await;
    let text = bash(&room, "sleep 300 > log 2>&1 & echo $! > pid").await;
    let pid = pid_in(&room, "pid").await;
    assert!(text.contains("as job 1") && is_alive(pid), "{text}");
    room.workspace.jobs.close().await;
    gone_soon(pid).await;
}

#[tokio::test]
async fn a_timeout_ends_what_never_stops() {
    let room = Room::new().await;
    let before = Instant::now();
    let input = json!({ "command": "echo $$ > pid; yes", "timeout": 1 });
    let text = room.call("bash", input).await.unwrap().text;
    assert!(before.elapsed() < SLOW, "{:?}", before.elapsed());
    assert!(text.starts_with("y\ny\n") && text.contains("left out"), "{}", &text[..200]);
    assert!(text.ends_with("killed: it took longer than 1 s"), "{}", &text[text.len() - 200..]);
    gone_soon(pid_in(&room, "pid").await).await;
}

#[tokio::test]
async fn who_ignores_the_interrupt_is_killed_after_the_grace() {
    let room = Room::new().await;
    let command = "trap '' INT; echo $$ > pid; while :; do sleep 0.1; done";
    let before = Instant::now();
    let input = json!({ "command": command, "timeout": 1 });
    room.call("bash", input).await.unwrap();
    let took = before.elapsed();
    assert!(took >= Duration::from_secs(3) && took < SLOW, "{took:?}");
    gone_soon(pid_in(&room, "pid").await).await;
}

#[tokio::test]
async fn a_cancelled_call_returns_at_once_and_leaves_no_process() {
    let room = Room::new().await;
    let command =
        "echo $$ > shell; (sleep 300 & echo $! > child; wait) & (trap '' INT; sleep 300) & wait";
    let call = room.call("bash", json!({ "command": command }));
    let cancel = async {
        let pids = (pid_in(&room, "shell").await, pid_in(&room, "child").await);
        room.cancel.cancel();
        (Instant::now(), pids)
    };
    let (result, (cancelled, (shell, child))) = futures::join!(call, cancel);
    assert!(cancelled.elapsed() < Duration::from_millis(500), "{:?}", cancelled.elapsed());
    assert!(matches!(result, Err(ToolError::Cancelled)), "{result:?}");
    gone_soon(child).await;
    gone_soon(shell).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_no_process() {
    let room = Room::new().await;
    let input = json!({ "command": "echo $$ > pid; exec sleep 300" });
    tokio::select! {
        _ = room.call("bash", input) => panic!("it sleeps"),
        pid = pid_in(&room, "pid") => assert!(is_alive(pid)),
    }
    gone_soon(pid_in(&room, "pid").await).await;
}

#[tokio::test]
async fn a_long_command_goes_on_in_the_background() {
    let room = Room::new().await;
    let command = "echo first; while [ ! -e go ]; do sleep 0.05; done; echo second";
    let input = json!({ "command": command, "auto_background_after": 1 });
    let text = room.call("bash", input).await.unwrap().text;
    assert!(text.starts_with("first\nmoved to the background as job 1 after 1 s"), "{text}");
    room.write("go", "");
    let text = room.call("job_output", json!({ "job": "1", "wait": 30 })).await.unwrap().text;
    assert!(text.starts_with("second\n"), "{text}");
}

#[tokio::test]
async fn a_background_command_that_fails_at_once_says_so_at_once() {
    let room = Room::new().await;
    let input = json!({ "command": "nosuchprogram", "run_in_background": true });
    let text = room.call("bash", input).await.unwrap().text;
    assert!(text.ends_with("exit code 127"), "{text}");
    assert!(room.workspace.jobs.list().is_empty());
}

#[tokio::test]
async fn a_terminal_is_one() {
    let room = Room::new().await;
    let command = "test -t 0 && test -t 1 && test -t 2 && stty size && echo $TERM";
    let text =
        room.call("bash", json!({ "command": command, "terminal": true })).await.unwrap().text;
    assert_eq!(text, "40 120\nxterm-256color");
    assert_eq!(bash(&room, "test -t 1 || echo none").await, "none");
}

#[tokio::test]
async fn binary_output_is_shown_as_far_as_it_is_text() {
    let room = Room::new().await;
    let bytes: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    room.write("binary", bytes);
    let text = bash(&room, "cat binary; printf '\\xff\\xfe end'").await;
    assert!(text.ends_with("\u{fffd}\u{fffd} end") && text.chars().count() <= 30_000);
    assert!(!text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')));
}

#[tokio::test]
async fn progress_shows_the_last_lines() {
    let room = Room::new().await;
    let shown: Arc<Mutex<Vec<String>>> = Arc::default();
    let mut ctx = room.ctx();
    let sink = shown.clone();
    ctx.progress = Progress::new(move |block| {
        if let Block::Text { text } = block {
            sink.lock().unwrap().push(text);
        }
    });
    let tool = room.registry.get("bash").unwrap().clone();
    let command = "echo TOKEN=9f8e7d6c5b4a39281706f5e4; sleep 0.5; \
        for i in $(seq 30); do echo line $i; done; sleep 0.5; echo end; sleep 0.5";
    let input = json!({ "command": command });
    let call = tool.prepare(input.as_object().unwrap().clone()).unwrap();
    call.run(&ctx).await.unwrap();
    let shown = shown.lock().unwrap();
    assert!(shown.iter().all(|text| text.lines().count() <= 8), "{shown:?}");
    assert!(shown.iter().any(|text| text == "TOKEN=[masked: secret]"), "{shown:?}");
    assert!(shown.iter().any(|text| text.ends_with("line 30")), "{shown:?}");
    assert!(shown.last().unwrap().ends_with("line 30\nend"), "{shown:?}");
    assert!(shown.len() <= 16, "{}", shown.len());
}

#[tokio::test]
async fn a_caged_command_that_is_refused_gets_a_hint() {
    let room = Room::new().await;
    let temp = room.folder().with_file_name("temp");
    std::fs::create_dir(&temp).unwrap();
    let mut ctx = room.ctx();
    ctx.cage = Cage::for_reach(Reach::Workspace, &room.workspace.fence, &temp);
    let run = async |command: &str| {
        let tool = room.registry.get("bash").unwrap().clone();
        let input = json!({ "command": command });
        tool.prepare(input.as_object().unwrap().clone()).unwrap().run(&ctx).await.unwrap().text
    };
    assert_eq!(run("echo x > inside && cat inside").await, "x");
    let text = run("echo x > /etc/caiman-was-here").await;
    assert!(text.contains("uncaged"), "{text}");
    assert!(!run("echo Permission denied").await.contains("uncaged"), "it worked");
    assert!(!bash(&room, "echo Permission denied; false").await.contains("uncaged"), "no cage");
}

/// Resident pages of this process, in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[tokio::test]
async fn a_hundred_megabytes_of_output_cost_little_memory() {
    let room = Room::new().await;
    bash(&room, "echo warm").await;
    let before = resident();
    let text = bash(&room, "yes 'a line of output, as long as most are' | head -c 100000000").await;
    let grown = resident().saturating_sub(before);
    assert!(grown < 20_000_000, "{grown} bytes");
    assert!(text.chars().count() <= 30_000 && text.contains("left out"));
    let name = text.split("all of it is in ").nth(1).unwrap().split(" …]").next().unwrap();
    assert_eq!(std::fs::metadata(name).unwrap().len(), 100_000_000);
}

#[tokio::test]
async fn a_thousand_commands_leak_nothing() {
    let room = Room::new().await;
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    for _ in 0..125 {
        let calls = (0..8).map(|_| bash(&room, "true"));
        futures::future::join_all(calls).await;
    }
    // Other tests of this binary open files too, but not hundreds.
    assert!(open() < before + 100, "{before} {}", open());
    assert!(crate::processes::zombies() < 20, "{}", crate::processes::zombies());
    assert!(room.workspace.jobs.list().is_empty());
}
