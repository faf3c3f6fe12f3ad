//! Children: a session of their own, optional cage, optional terminal. The only door to processes that
//! live longer than one question.

mod desktop;
mod end;
mod env;
mod foreground;
mod keeper;
mod launch;
#[cfg(target_os = "linux")]
mod rehearse;
mod start;
mod stream;
mod terminal;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use base::Env;
use rustix::process::{Pid, Signal};

use self::start::{Running, Start};
use crate::cage::{Cage, Sweep, Swept};

pub use desktop::{beside, in_terminal};
pub use end::kill_marked;
pub use env::{child_env, child_env_with, is_secret_name};
pub use foreground::foreground;
pub use launch::harden;
#[cfg(target_os = "linux")]
pub(crate) use rehearse::rehearse;
#[cfg(target_os = "linux")]
pub(crate) use start::Supervision;
pub use stream::{Input, Output};

/// How long a child that was killed is waited for before protected places are looked at.
const SETTLING: Duration = Duration::from_millis(200);

/// A child to start.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program, looked up on the child's `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// All of its environment. A cage adds where temporary files go.
    pub env: Env,
    /// What it may do; none for anything this user may do.
    pub cage: Option<Arc<Cage>>,
    /// What its input, output and error are.
    pub stdio: Terminals,
}

/// What a child's input and output are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminals {
    /// Output and error in one pipe, in the order they were written; input closed.
    Output,
    /// The same with an input pipe.
    InputOutput,
    /// A pipe for each of the three.
    Apart,
    /// A pseudo-terminal of this size for all three.
    Pty {
        /// Columns.
        columns: u16,
        /// Rows.
        rows: u16,
    },
}

/// A running child. Dropping it kills its whole session.
#[derive(Debug)]
pub struct Child {
    inner: Running,
    group: Pid,
    /// Whether nobody of its session is left, so that its number may belong to somebody else by now.
    gone: bool,
    /// Whether the child itself has ended.
    has_ended: bool,
    terminals: Terminals,
    sweep: Option<Sweep>,
    /// What it prints, error included unless that is apart. Ends when the last process that holds it has ended.
    pub output: Option<Output>,
    /// What it complains of, where [`Command::stdio`] asked for it apart.
    pub error: Option<Output>,
    /// What it reads, where [`Command::stdio`] asked for it. Dropping it ends a pipe.
    pub input: Option<Input>,
}

/// Why a child could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The system refused.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// There is no such folder to run in.
    #[error("cannot run in {}: {source}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The cage could not be built, and running without it was not asked for.
    #[error("cannot sandbox `{program}`: {why}")]
    Cage {
        /// The program.
        program: String,
        /// What is missing.
        why: String,
    },
}

/// Our ends of a child's input and output, and its own.
struct Ends {
    output: Output,
    error: Option<Output>,
    input: Option<Input>,
    theirs: [OwnedFd; 3],
}

impl Command {
    /// Starts the child in a session of its own, which [`Child::group`] names. Needs a tokio runtime.
    pub fn spawn(self) -> Result<Child, SpawnError> {
        let start = |source| SpawnError::Start { program: self.program.clone(), source };
        check_folder(&self.folder)
            .map_err(|source| SpawnError::Folder { folder: self.folder.clone(), source })?;
        let Ends { output, error, input, theirs } = ends(self.stdio).map_err(start)?;
        let (start_of_child, sweep) = self.start(theirs)?;
        let inner = start::start(start_of_child).map_err(|failed| match failed.stage {
            Some(stage) => self.uncaged(format!("{stage}: {}", failed.error)),
            None => start(failed.error),
        })?;
        let group = inner.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let group = group.ok_or_else(|| start(io::Error::other("it has no process id")))?;
        Ok(Child {
            inner,
            group,
            gone: false,
            has_ended: false,
            terminals: self.stdio,
            sweep,
            output: Some(output),
            error,
            input,
        })
    }

    fn uncaged(&self, why: String) -> SpawnError {
        SpawnError::Cage { program: self.program.clone(), why }
    }

    fn start(&self, theirs: [OwnedFd; 3]) -> Result<(Start, Option<Sweep>), SpawnError> {
        let wrapper = self.cage.as_ref().map(|cage| cage.wrapper()).transpose();
        let wrapper = wrapper.map_err(|error| self.uncaged(error.to_string()))?.flatten();
        let (file, before) = match wrapper {
            Some(wrapper) => {
                let program = wrapper.program.clone();
                (program.clone().into(), [vec![program], wrapper.args].concat())
            }
            None => (self.found()?, Vec::new()),
        };
        let own = std::iter::once(&self.program).chain(&self.args);
        let args = before.iter().chain(own).map(OsString::from).collect();
        let mut env: Vec<(OsString, OsString)> =
            self.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        for (name, value) in self.cage.iter().flat_map(|cage| cage.variables(&self.env)) {
            env.retain(|(known, _)| known != name);
            env.push((name.into(), value.into()));
        }
        let (steps, sweep) = launch::prepare(self)?;
        let start = Start { file, args, env, folder: self.folder.clone(), theirs, steps };
        Ok((start, sweep))
    }

    /// The program's file: the first that can be run on the child's `PATH`. Looked for here, because a look
    /// costs less than a start that fails, and a long `PATH` has many.
    fn found(&self) -> Result<PathBuf, SpawnError> {
        if self.program.contains('/') {
            return Ok(PathBuf::from(&self.program));
        }
        let path = self.env.get("PATH").unwrap_or("/bin:/usr/bin");
        let mut files =
            std::env::split_paths(path).map(|folder| self.folder.join(folder).join(&self.program));
        files.find(|file| is_program(file)).ok_or_else(|| SpawnError::Start {
            program: self.program.clone(),
            source: io::Error::from_raw_os_error(libc::ENOENT),
        })
    }
}

fn is_program(file: &Path) -> bool {
    let found = std::fs::metadata(file);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// A child that cannot go to its folder fails as if there were no program.
fn check_folder(folder: &Path) -> io::Result<()> {
    let is_folder = std::fs::metadata(folder)?.is_dir();
    if is_folder { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

fn ends(terminals: Terminals) -> io::Result<Ends> {
    match terminals {
        Terminals::Output | Terminals::InputOutput | Terminals::Apart => {
            let (reader, writer) = io::pipe()?;
            let (stdin, input) = if terminals == Terminals::Output {
                (File::open("/dev/null")?.into(), None)
            } else {
                let (theirs, ours) = io::pipe()?;
                (theirs.into(), Some(Input::pipe(ours.into())?))
            };
            let (complaints, error) = if terminals == Terminals::Apart {
                let (ours, theirs) = io::pipe()?;
                (theirs, Some(Output::pipe(ours.into())?))
            } else {
                (writer.try_clone()?, None)
            };
            let theirs = [stdin, writer.into(), complaints.into()];
            Ok(Ends { output: Output::pipe(reader.into())?, error, input, theirs })
        }
        Terminals::Pty { columns, rows } => {
            let terminal::Pair { ours, theirs } = terminal::open(columns, rows)?;
            let input = Some(Input::terminal(ours.try_clone()?)?);
            let output = Output::terminal(ours)?;
            let theirs = [theirs.try_clone()?, theirs.try_clone()?, theirs];
            Ok(Ends { output, error: None, input, theirs })
        }
    }
}

impl Child {
    /// The id of the child, of its process group and of its session.
    pub fn group(&self) -> u32 {
        self.group.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits until the child itself has ended; whoever it left behind may live on. Can be dropped and
    /// called again.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.inner.wait().await?;
        self.has_ended = true;
        let is_empty = self.inner.is_empty();
        let is_empty = is_empty.unwrap_or_else(|| !end::has_members(self.group, self.terminals));
        self.gone = self.gone || is_empty;
        Ok(status)
    }

    /// Waits until nothing is left of a sandboxed child, descendants in other sessions included. Never returns
    /// for a child without a sandbox: nobody can tell what became of its descendants.
    pub async fn all_ended(&mut self) -> io::Result<()> {
        self.inner.all_ended().await?;
        self.gone = true;
        Ok(())
    }

    /// Whether nobody of its session was left when [`Child::wait`] last returned; for a sandboxed child, whether
    /// none of its descendants was.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// Asks the whole group to end, as Ctrl-C would.
    pub fn interrupt(&self) {
        if !self.gone && self.may_signal_group() {
            end::signal(self.group, Signal::INT);
        }
    }

    /// Ends the whole session, at once; in a sandbox, every descendant.
    pub fn kill(&self) {
        if !self.gone && !self.inner.end_all() {
            end::signal(self.group, Signal::KILL);
        }
    }

    /// Whether the number of the group is still its own. The supervisor of a sandboxed child takes it off the books
    /// while descendants elsewhere live on.
    fn may_signal_group(&self) -> bool {
        !self.has_ended || !self.inner.is_supervised()
    }

    /// Interrupts, waits at most `grace`, then kills whoever is left and takes the child off the system's
    /// books.
    pub async fn end(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        self.interrupt();
        // What matters is whether it has ended by now; its status comes with the last wait.
        drop(tokio::time::timeout(grace, self.wait()).await);
        self.kill();
        self.wait().await
    }

    /// Lets go of a child that has ended: whoever it left behind lives on.
    pub fn release(mut self) {
        self.gone = true;
    }

    /// Tells the child's terminal its new size. Nothing without a terminal.
    pub fn resize(&self, columns: u16, rows: u16) -> io::Result<()> {
        self.output.as_ref().map_or(Ok(()), |output| output.resize(columns, rows))
    }

    /// Sets aside what came into being in protected places while the child ran, and tells what. To be
    /// called when it has ended; dropping the child does the same in silence.
    pub fn sweep(&mut self) -> Vec<Swept> {
        let swept = self.sweep.as_ref().map(Sweep::run).unwrap_or_default();
        if self.gone {
            // Nobody is left who could make more.
            self.sweep = None;
        }
        swept
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
        if self.sweep.is_some() && !self.gone {
            // Until the last one has ended, it may make what is about to be looked for.
            self.inner.settle(SETTLING);
        }
        for swept in self.sweep() {
            tracing::warn!(place = %swept.place.display(), "a command made a protected place");
        }
    }
}
