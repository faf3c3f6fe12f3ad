//! Background jobs: `job_output`, `job_input`, `job_kill`, and the room they live in.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use guard::process::{Command, Terminals};
use serde_json::json;
use tools::bound::Spill;
use tools::jobs::{Jobs, REMEMBERED, RUNNING, Start, StartError};

use testkit::processes::{gone_soon, is_alive};

use crate::processes::pid_in;
use crate::room::Room;

async fn background(room: &Room, command: &str) -> String {
    let input = json!({ "command": command, "run_in_background": true });
    room.call("bash", input).await.unwrap().text
}

async fn output(room: &Room, input: serde_json::Value) -> String {
    room.call("job_output", input).await.unwrap().text
}

fn shell(room: &Room, command: &str) -> Start {
    Start {
        command: Command {
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), command.to_owned()],
            folder: room.folder().to_owned(),
            env: room.workspace.env.clone(),
            cage: None,
            stdio: Terminals::Output,
        },
        title: command.to_owned(),
        spill: Spill::new(PathBuf::from("/nonexistent"), "x"),
        timeout: None,
        origin: base::Origin::Shell,
    }
}

#[tokio::test]
async fn output_comes_once_and_again_from_a_cursor() {
    let room = Room::new().await;
    let text = background(&room, "echo one; while read line; do echo \"got $line\"; done").await;
    assert_eq!(text, "one\nruns in the background as job 1; job_output shows more");
    assert!(
        output(&room, json!({ "job": 1 })).await.starts_with("no new output\n[job 1 runs since")
    );
    let text = room.call("job_input", json!({ "job": 1, "text": "two" })).await.unwrap().text;
    assert!(
        text.starts_with("got two\n[job 1 runs since") && text.ends_with("cursor 12]"),
        "{text}"
    );
    assert!(output(&room, json!({ "job": 1, "from": 0 })).await.starts_with("one\ngot two\n["));
    assert!(output(&room, json!({ "job": 1, "from": 4 })).await.starts_with("got two\n["));
    assert!(output(&room, json!({ "job": 1, "from": 999 })).await.starts_with("no new output"));
    room.call("job_input", json!({ "job": 1, "text": "\u{4}" })).await.unwrap();
    let text = output(&room, json!({ "job": 1, "wait": 30 })).await;
    assert!(text.contains("job 1 is over after") && text.contains("exit code 0"), "{text}");
    let error = room.call("job_input", json!({ "job": 1, "text": "x" })).await.unwrap_err();
    assert!(error.to_string().contains("it has ended"), "{error}");
}

#[tokio::test]
async fn waiting_ends_when_something_is_printed_when_it_ends_and_when_cancelled() {
    let room = Room::new().await;
    background(
        &room,
        "while [ ! -e a ]; do sleep 0.02; done; echo a; while [ ! -e b ]; do sleep 0.02; done",
    )
    .await;
    let before = Instant::now();
    let text = output(&room, json!({ "job": 1, "wait": 1 })).await;
    assert!(text.starts_with("no new output") && before.elapsed() >= Duration::from_millis(900));
    room.write("a", "");
    assert!(output(&room, json!({ "job": 1, "wait": 600 })).await.starts_with("a\n["));
    room.write("b", "");
    assert!(output(&room, json!({ "job": 1, "wait": true })).await.contains("is over"));
    assert!(before.elapsed() < Duration::from_secs(20));
    background(&room, "sleep 300").await;
    room.cancel.cancel();
    let error = room.call("job_output", json!({ "job": 2, "wait": 600 })).await.unwrap_err();
    assert!(matches!(error, tools::ToolError::Cancelled));
    assert!(room.workspace.jobs.get(2).unwrap().ending().is_none(), "the job itself goes on");
    room.workspace.jobs.close().await;
}

#[tokio::test]
async fn a_prompt_without_a_line_break_is_seen() {
    let room = Room::new().await;
    let text = background(&room, "printf 'Name: '; read name; echo \"Hello $name\"").await;
    assert!(text.starts_with("Name: \n"), "{text}");
    assert!(output(&room, json!({ "job": 1 })).await.starts_with("no new output"));
    let text = room.call("job_input", json!({ "job": 1, "text": "you" })).await.unwrap().text;
    assert!(text.starts_with("Name: Hello you"), "the line as it is now: {text}");
}

#[tokio::test]
async fn an_interpreter_in_a_terminal_answers() {
    let room = Room::new().await;
    let input = json!({ "command": "python3 -i -q", "terminal": true, "run_in_background": true });
    let text = room.call("bash", input).await.unwrap().text;
    assert!(text.contains("job 1"), "{text}");
    room.call("job_output", json!({ "job": 1, "wait": 30 })).await.unwrap();
    let mut text =
        room.call("job_input", json!({ "job": 1, "text": "print(6 * 7)" })).await.unwrap().text;
    for _ in 0..50 {
        if text.contains("42") {
            break;
        }
        text += &output(&room, json!({ "job": 1, "wait": 1 })).await;
    }
    assert!(text.contains("42"), "{text}");
    room.call("job_input", json!({ "job": 1, "text": "\u{4}" })).await.unwrap();
    let job = room.workspace.jobs.get(1).unwrap();
    tokio::time::timeout(Duration::from_secs(10), job.ended()).await.unwrap();
}

#[tokio::test]
async fn a_foreground_command_has_no_input_to_type_into() {
    let room = Room::new().await;
    let input = json!({ "command": "sleep 300", "auto_background_after": 1 });
    room.call("bash", input).await.unwrap();
    let error =
        room.call("job_input", json!({ "job": 1, "text": "x" })).await.unwrap_err().to_string();
    assert!(error.contains("its input is closed"), "{error}");
    room.workspace.jobs.close().await;
}

#[tokio::test]
async fn an_unknown_job_names_the_known_ones() {
    let room = Room::new().await;
    let error = room.call("job_output", json!({ "job": 9 })).await.unwrap_err().to_string();
    assert_eq!(error, "there is no job 9; jobs: there are none");
    background(&room, "sleep 300").await;
    let error = room.call("job_kill", json!({ "job": "nine" })).await.unwrap_err().to_string();
    assert!(error.contains("no job's number"), "{error}");
    let error = room.call("job_kill", json!({ "job": "job 9" })).await.unwrap_err().to_string();
    assert_eq!(error, "there is no job 9; jobs: 1 (sleep 300)");
    let text = room.call("job_kill", json!({ "job_id": 1 })).await.unwrap().text;
    assert!(text.contains("job 1 is over") && text.contains("SIGINT"), "{text}");
    assert!(output(&room, json!({ "job": 1 })).await.contains("job 1 is over"), "still known");
}

#[tokio::test]
async fn closing_leaves_no_process_not_even_a_stubborn_one() {
    let room = Room::new().await;
    let stubborn = "trap '' INT TERM HUP; echo $$ > stubborn; while :; do sleep 0.1; done";
    background(&room, stubborn).await;
    background(&room, "sleep 300 & echo $! > child; wait").await;
    let (stubborn, child) = (pid_in(&room, "stubborn").await, pid_in(&room, "child").await);
    let before = Instant::now();
    room.workspace.jobs.close().await;
    assert!(before.elapsed() < Duration::from_secs(8), "{:?}", before.elapsed());
    assert!(!is_alive(stubborn) && !is_alive(child));
    let error = room.call("bash", json!({ "command": "true" })).await.unwrap_err().to_string();
    assert!(error.contains("closing"), "{error}");
}

#[tokio::test]
async fn dropping_the_jobs_kills_them() {
    let room = Room::new().await;
    let jobs = Jobs::default();
    jobs.start(shell(&room, "echo $$ > pid; exec sleep 300")).unwrap();
    let pid = pid_in(&room, "pid").await;
    drop(jobs);
    gone_soon(pid).await;
}

#[tokio::test]
async fn only_running_jobs_count_and_old_ones_are_forgotten() {
    let room = Room::new().await;
    let jobs = Jobs::default();
    for _ in 0..REMEMBERED + 5 {
        let job = jobs.start(shell(&room, "echo hi")).unwrap();
        jobs.keep(&job);
        job.gone().await;
    }
    assert_eq!(jobs.list().len(), REMEMBERED);
    assert!(jobs.get(5).is_none());
    assert_eq!(jobs.get(6).unwrap().text(), "hi\n");
    let running: Vec<_> =
        (0..RUNNING).map(|_| jobs.start(shell(&room, "exec sleep 300")).unwrap()).collect();
    let error = jobs.start(shell(&room, "true")).unwrap_err();
    assert!(matches!(error, StartError::TooMany), "{error}");
    running[0].end();
    running[0].gone().await;
    jobs.start(shell(&room, "true")).unwrap();
    jobs.close().await;
    assert!(running.iter().all(|job| job.ending().is_some()));
}
