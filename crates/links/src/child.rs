//! A program that serves us over its input and output for as long as we live.
//!
//! It runs in a session of its own (see [`guard::process`]) and is killed with all of that session when its
//! scope closes. When we are killed ourselves, the system kills the program and a [`sentinel`] whatever the program
//! has started. Whoever has left the session is known, on Linux, by a variable that all of them inherit. What the
//! program complains of is kept, as much as somebody may want to read.

mod sentinel;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::{Env, TaskScope};
use guard::Cage;
use guard::process::{Child, Command, Input, Output, SpawnError, Terminals};
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use sentinel::Sentinel;

/// The variable by which all that a program starts is known, whatever group or session that makes for itself.
const MARK: &str = "CAIMAN_CHILD";
/// How often those who carry a mark are looked for, as long as there are any: they may start others meanwhile.
const LOOKS: usize = 50;
/// The pause between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Lines of a log that are kept.
const LINES: usize = 100;
/// Bytes of a line that are kept.
const WIDTH: usize = 500;
/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_millis(500);

/// A program to start.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its name or path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// All of its environment.
    pub env: Env,
    /// Its sandbox; `None` for anything this user may do.
    pub cage: Option<Arc<Cage>>,
    /// What it may use up.
    pub limits: Limits,
}

/// What a program, and each process it starts, may use up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory it may write to; none for as many as there are. Address space that is only set
    /// aside does not count: programs on V8 set aside far more than they use.
    pub memory_bytes: Option<u64>,
    /// Seconds of processor time over its whole life; none for no end.
    pub cpu_s: Option<u64>,
}

/// A program that runs, seen by whoever talks to it. Dropping the last clone does not end it: its scope does,
/// or [`Supervised::stop`].
#[derive(Debug, Clone)]
pub struct Supervised {
    log: Log,
    id: u32,
    stop: CancellationToken,
    ended: watch::Receiver<Option<String>>,
}

/// Our ends of a program's input and output.
#[derive(Debug)]
pub struct Pipes {
    /// What it reads.
    pub input: Input,
    /// What it answers.
    pub output: Output,
}

impl Program {
    /// Starts it; whoever closes `scope` ends it.
    pub fn start(self, scope: &TaskScope) -> Result<(Supervised, Pipes), SpawnError> {
        self.start_with(Log::default(), scope)
    }

    /// The same, with a log that others write to as well.
    pub fn start_with(
        self,
        log: Log,
        scope: &TaskScope,
    ) -> Result<(Supervised, Pipes), SpawnError> {
        let missing = |what: &str| SpawnError::Start {
            program: self.program.clone(),
            source: std::io::Error::other(format!("it has no {what}")),
        };
        let value = Uuid::new_v4().simple().to_string();
        let mark = format!("{MARK}={value}");
        // Before the program, which may start others at once.
        let sentinel = Sentinel::send(&mark, &self.env);
        let command = Command {
            program: self.program.clone(),
            args: self.args,
            folder: self.folder,
            env: self.env.with_absolute_path().with([(MARK.to_owned(), value)]),
            cage: self.cage,
            stdio: Terminals::Apart,
        };
        let mut child = command.spawn()?;
        let id = child.group();
        limit(id, self.limits);
        let input = child.input.take().ok_or_else(|| missing("input"))?;
        let output = child.output.take().ok_or_else(|| missing("output"))?;
        let error = child.error.take().ok_or_else(|| missing("error output"))?;
        let stop = scope.token().child_token();
        let (tell, ended) = watch::channel(None);
        let heard = CancellationToken::new();
        scope.spawn(keep(error, log.clone(), heard.clone().drop_guard()));
        let watched = stop.clone();
        scope.spawn_settling(async move {
            let sentinel = match sentinel {
                Some(sentinel) => sentinel.at_post(id).await,
                None => None,
            };
            let ended = watch_over(child, watched).await;
            kill_marked(&mark).await;
            if let Some(sentinel) = sentinel {
                sentinel.dismiss().await;
            }
            // What it said last may still be on its way.
            tokio::time::timeout(GRACE, heard.cancelled()).await.ok();
            tell.send_replace(Some(ended));
        });
        Ok((Supervised { log, id, stop, ended }, Pipes { input, output }))
    }
}

impl Supervised {
    /// What it has complained of.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The id of its process, group and session.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Asks it to end, and kills whoever is left soon after.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits until it has ended; says how.
    pub async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        let how = ended.wait_for(Option::is_some).await.ok().and_then(|how| how.clone());
        how.unwrap_or_else(|| "it was ended".to_owned())
    }
}

/// Waits until a program has ended, or is to end and does; says how.
async fn watch_over(mut child: Child, stop: CancellationToken) -> String {
    let ended = tokio::select! {
        ended = child.wait() => ended,
        () = stop.cancelled() => child.end(GRACE).await,
    };
    // Whoever it left behind has nobody to serve.
    child.kill();
    ended.map_or_else(|error| error.to_string(), |status| status.to_string())
}

async fn kill_marked(mark: &str) {
    for _ in 0..LOOKS {
        if guard::process::kill_marked(mark) == 0 {
            return;
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

async fn keep(mut error: Output, log: Log, _heard: DropGuard) {
    let mut chunk = vec![0; 4096];
    while let Ok(count @ 1..) = error.read(&mut chunk).await {
        log.push(&chunk[..count]);
    }
}

/// Sets what a process may use up, as soon as it runs. What it starts later inherits it.
#[cfg(target_os = "linux")]
fn limit(id: u32, limits: Limits) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    let wanted = [(Resource::Data, limits.memory_bytes), (Resource::Cpu, limits.cpu_s)];
    for (resource, most) in wanted {
        if most.is_some() {
            let limit = Rlimit { current: most, maximum: most };
            if let Err(error) = prlimit(pid, resource, limit) {
                tracing::debug!(%error, id, ?resource, "a limit could not be set");
            }
        }
    }
}

/// Only Linux lets one process limit another.
#[cfg(not(target_os = "linux"))]
fn limit(_id: u32, _limits: Limits) {}

/// The last lines a program complained of. A clone is the same log.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Lines>>);

#[derive(Debug, Default)]
struct Lines {
    whole: VecDeque<String>,
    begun: Vec<u8>,
    /// The last whole line that is not a note of ours.
    said: Option<String>,
}

impl Log {
    /// Adds bytes as they come.
    pub fn push(&self, bytes: &[u8]) {
        let mut lines = self.lock();
        for &byte in bytes {
            match byte {
                b'\n' => lines.end(),
                _ if lines.begun.len() < WIDTH => lines.begun.push(byte),
                _ => {}
            }
        }
    }

    /// Adds a line of our own.
    pub fn note(&self, line: &str) {
        let mut lines = self.lock();
        lines.end();
        lines.keep(text(&line.as_bytes()[..line.len().min(WIDTH)]));
    }

    /// What the program itself said last.
    pub fn last_said(&self) -> Option<String> {
        let lines = self.lock();
        let begun = Some(text(&lines.begun)).filter(|line| !line.is_empty());
        begun.or_else(|| lines.said.clone())
    }

    /// The lines, newest last.
    pub fn lines(&self) -> Vec<String> {
        let lines = self.lock();
        let begun = (!lines.begun.is_empty()).then(|| text(&lines.begun));
        lines.whole.iter().cloned().chain(begun).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn end(&mut self) {
        let line = text(&self.begun);
        self.begun.clear();
        if !line.is_empty() {
            self.said = Some(line.clone());
            self.keep(line);
        }
    }

    fn keep(&mut self, line: String) {
        self.whole.push_back(line);
        if self.whole.len() > LINES {
            self.whole.pop_front();
        }
    }
}

/// A line without what a terminal would obey.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars()
        .filter(|letter| !letter.is_control() || *letter == '\t')
        .collect::<String>()
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program {
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), script.to_owned()],
            folder: std::env::temp_dir(),
            env: Env::of_process(),
            cage: None,
            limits: Limits::default(),
        }
    }

    #[tokio::test]
    async fn a_program_speaks_and_its_complaints_are_kept() {
        let scope = TaskScope::new();
        let (child, mut pipes) = shell("echo trouble >&2; echo hello").start(&scope).unwrap();
        let mut said = String::new();
        pipes.output.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "hello\n");
        assert_eq!(child.ended().await, "exit status: 0");
        scope.join().await;
        assert_eq!(child.log().lines(), ["trouble"]);
    }

    #[tokio::test]
    async fn closing_the_scope_ends_it_and_what_it_started() {
        let scope = TaskScope::new();
        let script = "sleep 1000 & echo $!; setsid sleep 1000 & echo $!; echo; wait";
        let (child, mut pipes) = shell(script).start(&scope).unwrap();
        let mut said = String::new();
        while !said.ends_with("\n\n") {
            said.push(char::from(pipes.output.read_u8().await.unwrap()));
        }
        let ids: Vec<u32> = said.lines().filter_map(|line| line.parse().ok()).collect();
        assert_eq!(ids.len(), 2);
        scope.close().await;
        child.ended().await;
        for id in ids {
            testkit::processes::gone_soon(id).await;
        }
    }

    #[tokio::test]
    async fn a_program_of_the_folder_it_runs_in_is_not_taken_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let shadow = folder.path().join("sh");
        std::fs::write(&shadow, "#!/bin/sh\necho theirs\n").unwrap();
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&shadow, all).unwrap();
        let path = [("PATH".to_owned(), ".:/bin:/usr/bin".to_owned())];
        let env = Env::of_process().with(path);
        let program =
            Program { folder: folder.path().to_owned(), env, ..shell("sh -c 'echo ours'") };
        let scope = TaskScope::new();
        let (_child, mut pipes) = program.start(&scope).unwrap();
        let mut said = String::new();
        pipes.output.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "ours\n");
        scope.close().await;
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_limit_holds_for_what_it_starts_too() {
        let scope = TaskScope::new();
        let limits = Limits { memory_bytes: Some(512 << 20), cpu_s: Some(77) };
        let script = "read go; sh -c 'ulimit -t; ulimit -d'";
        let program = Program { limits, ..shell(script) };
        let (_child, mut pipes) = program.start(&scope).unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut pipes.input, b"go\n").await.unwrap();
        let mut said = String::new();
        pipes.output.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, format!("77\n{}\n", 512 << 10));
        scope.close().await;
    }

    #[test]
    fn a_log_keeps_the_end_and_is_bounded() {
        let log = Log::default();
        for line in 0..1_000 {
            log.push(format!("line {line}\x1b[31m\n").as_bytes());
        }
        log.note("a note of ours");
        assert_eq!(log.last_said().unwrap(), "line 999[31m");
        log.push(&vec![b'x'; 100_000]);
        assert_eq!(log.last_said().unwrap().len(), WIDTH);
        let lines = log.lines();
        assert_eq!(lines.len(), LINES + 1);
        assert_eq!(lines[LINES - 2..LINES], ["line 999[31m", "a note of ours"]);
        assert_eq!(lines[LINES].len(), WIDTH);
    }
}
