//! Commands run to their end for their output: credential helpers, `$(…)` in trusted settings.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use base::command::{CommandLine, RunCommand, RunError};

/// Most that is kept of a command's output: a secret or a token, not a log.
const OUTPUT_LIMIT: u64 = 1024 * 1024;
/// Most that is told of a command's complaint.
const STDERR_LIMIT: usize = 512;

/// Runs commands in their own process group, so that a time-out ends their children too.
#[derive(Debug, Clone, Copy, Default)]
pub struct Runner;

impl RunCommand for Runner {
    fn run(&self, command: &CommandLine) -> Result<String, RunError> {
        let start_error = |source| RunError::Start { program: command.program.clone(), source };
        let mut child = builder(command).spawn().map_err(start_error)?;
        if let (Some(mut pipe), Some(text)) = (child.stdin.take(), &command.stdin) {
            // A child that does not read its input is no failure of ours.
            drop(pipe.write_all(text.expose().as_bytes()));
        }
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let deadline = Instant::now() + command.timeout;
        let Some(status) = wait_until(&mut child, deadline).map_err(start_error)? else {
            kill_group(&mut child);
            return Err(RunError::TooSlow {
                program: command.program.clone(),
                limit_s: command.timeout.as_secs(),
            });
        };
        // A grandchild may hold the pipe open; the command itself has ended, so what came must do.
        let patience = Duration::from_millis(500);
        let output = stdout.recv_timeout(patience).unwrap_or_default();
        if status.success() {
            let text = String::from_utf8_lossy(&output);
            return Ok(text.trim_end_matches(['\n', '\r']).to_owned());
        }
        let complaint = stderr.recv_timeout(patience).unwrap_or_default();
        let complaint = String::from_utf8_lossy(&complaint);
        Err(RunError::Failed {
            program: command.program.clone(),
            status: status.to_string(),
            stderr: tail(complaint.trim(), STDERR_LIMIT).to_owned(),
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the sanctioned door to processes")]
fn builder(command: &CommandLine) -> Command {
    let mut builder = Command::new(&command.program);
    builder.args(&command.args).env_clear().envs(command.env.iter());
    builder.stdin(if command.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    builder.stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = &command.folder {
        builder.current_dir(folder);
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut builder, 0);
    builder
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    if let Some(pipe) = pipe {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = pipe.take(OUTPUT_LIMIT).read_to_end(&mut bytes);
            if read.is_ok() {
                drop(sender.send(bytes));
            }
        });
    }
    receiver
}

fn wait_until(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn kill_group(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // A group that has ended already needs no killing.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    }
    drop(child.kill());
    drop(child.wait());
}

fn tail(text: &str, limit: usize) -> &str {
    let mut start = text.len().saturating_sub(limit);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

#[cfg(all(test, unix))]
mod tests {
    use base::{Env, Secret};

    use super::*;

    fn env() -> Env {
        Env::from_iter([("PATH", "/usr/bin:/bin"), ("GREETING", "hello")])
    }

    #[test]
    fn gives_the_output_without_its_last_line_break() {
        let line = CommandLine::shell("echo $GREETING; echo world", &env());
        assert_eq!(Runner.run(&line).unwrap(), "hello\nworld");
    }

    #[test]
    fn hands_a_secret_over_by_stdin() {
        let mut line = CommandLine::new("cat", [], &env());
        line.stdin = Some(Secret::new("s3cret"));
        assert_eq!(Runner.run(&line).unwrap(), "s3cret");
    }

    #[test]
    fn tells_the_end_of_the_complaint() {
        let line = CommandLine::shell("echo nope >&2; exit 3", &env());
        let error = Runner.run(&line).unwrap_err().to_string();
        assert!(error.contains("nope") && error.contains('3'), "{error}");
    }

    #[test]
    fn stops_a_slow_command_and_its_children() {
        let mut line = CommandLine::shell("sleep 30 & sleep 30", &env());
        line.timeout = Duration::from_millis(100);
        let before = Instant::now();
        assert!(matches!(Runner.run(&line), Err(RunError::TooSlow { .. })));
        assert!(before.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_child_left_behind_does_not_hold_the_answer() {
        let line = CommandLine::shell("sleep 30 & echo done", &env());
        let before = Instant::now();
        drop(Runner.run(&line));
        assert!(before.elapsed() < Duration::from_secs(5));
    }
}
