//! Commands run to their end for their output: credential helpers, `$(…)` in trusted settings.
//!
//! Programs are looked up in absolute folders of `PATH` only, so that the folder we run in never decides which one
//! runs.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use base::Env;
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
        let env = command.env.with_absolute_path();
        let program = find_program(&command.program, &env, None);
        let program = program.ok_or_else(|| start_error(io::ErrorKind::NotFound.into()))?;
        let mut child = builder(&program, command, &env).spawn().map_err(start_error)?;
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
fn builder(program: &Path, command: &CommandLine, env: &Env) -> Command {
    let mut builder = Command::new(program);
    builder.args(&command.args).env_clear().envs(env.iter());
    builder.stdin(if command.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    builder.stdout(Stdio::piped()).stderr(Stdio::piped());
    match (&command.folder, env.avoided()) {
        (Some(folder), _) => drop(builder.current_dir(folder)),
        // The folder we were started in is the project's, and many programs run what they find there.
        (None, Some(_)) => drop(builder.current_dir("/").env("PYTHONSAFEPATH", "1")),
        (None, None) => {}
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut builder, 0);
    builder
}

/// The file of a program: the first that can be run on the `PATH` of `env`, which holds absolute folders, and that is
/// not inside `avoided`, links followed. A name with a slash is taken as it is.
pub(crate) fn find_program(name: &str, env: &Env, avoided: Option<&Path>) -> Option<PathBuf> {
    if name.contains(std::path::MAIN_SEPARATOR) {
        return Some(PathBuf::from(name));
    }
    let is_inside = |file: &Path| {
        let real = std::fs::canonicalize(file);
        avoided.is_some_and(|folder| real.is_ok_and(|real| real.starts_with(folder)))
    };
    let mut files = std::env::split_paths(env.get("PATH")?).map(|folder| folder.join(name));
    files.find(|file| file.is_absolute() && is_program(file) && !is_inside(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(file);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
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
    fn a_program_of_the_folder_it_runs_in_is_not_found() {
        let dir = tempfile::tempdir().unwrap();
        let planted = dir.path().join("bin/cat");
        std::fs::create_dir(dir.path().join("bin")).unwrap();
        std::fs::write(&planted, "#!/bin/sh\necho planted\n").unwrap();
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&planted, all).unwrap();
        std::fs::copy(&planted, dir.path().join("cat")).unwrap();
        let inside = dir.path().join("bin").display().to_string();
        for path in ["./bin:/usr/bin:/bin", ":/usr/bin:/bin", ".:/bin:/usr/bin", "bin", &inside] {
            let env = Env::from_iter([("PATH", path)]).avoiding(dir.path());
            for mut line in
                [CommandLine::new("cat", [], &env), CommandLine::shell("cat </dev/null", &env)]
            {
                line.folder = Some(dir.path().to_owned());
                assert_eq!(Runner.run(&line).unwrap(), "", "{path}");
            }
        }
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
