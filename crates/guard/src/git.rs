//! Every git command that Caiman runs for itself. Nothing else in the workspace starts git.
//!
//! Git runs programs that a repository names: filters, hooks, diff drivers, file system monitors. A cloned
//! repository is a stranger's, so a call of ours
//! - is pinned to the repository whose files were checked; git does not search for one itself,
//! - gets a clean environment and no settings but the repository's own, with each program switched off,
//! - is refused where settings could start a program that has no switch,
//! - runs in the sandbox, without a network. Without a sandbox it runs in trusted folders only.

mod config;
mod repository;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use base::command::{CommandLine, RunCommand};
use base::{Env, RunError};
use settings::trust::FolderTrust;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::action::Action;
use crate::cage::{Bounds, Cage, Reach};
use crate::fence::{Fence, FenceError};
use crate::policy::CageState;
use crate::process::{Child, Command, Output, SpawnError, Terminals};
use crate::runner::{Runner, find_program};

pub use repository::{ConfigRisk, Repository};

/// Most bytes that are kept of what git prints; the rest is read and dropped.
const OUTPUT_BYTES: usize = 1024 * 1024;
/// Most bytes that are kept of what git complains of.
const STDERR_BYTES: usize = 2 * 1024;
/// How long `git --version` may take.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs git for one session.
#[derive(Debug, Clone)]
pub struct Git {
    /// The user's environment; little of it reaches git.
    pub env: Env,
    /// The user's home folder, whose secrets the sandbox hides.
    pub home: PathBuf,
    /// Where the sandbox's temporary folder is made.
    pub temp: PathBuf,
    /// Whether this machine has a sandbox: [`Cage::probe`].
    pub sandbox: CageState,
    /// Whether the user trusts the project.
    pub trust: FolderTrust,
}

/// One git command.
#[derive(Debug)]
pub struct GitCall<'a> {
    /// The repository it is about.
    pub repository: &'a Repository,
    /// The command and its arguments.
    pub args: &'a [&'a str],
    /// What it may write.
    pub access: Access<'a>,
    /// What it reads from its input.
    pub input: &'a [u8],
    /// When it is killed.
    pub timeout: Duration,
}

/// What a git command may write.
#[derive(Debug, Clone, Copy)]
pub enum Access<'a> {
    /// Nothing.
    Read,
    /// These folders, which exist, with all below them.
    Write(&'a [PathBuf]),
}

/// Why a git command did not run, or failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The repository's settings may start programs.
    #[error("{0}")]
    Risk(#[from] ConfigRisk),
    /// There is neither trust nor a sandbox.
    #[error("this system has no sandbox, and the folder is not trusted; `caiman trust` trusts it")]
    NoSandbox,
    /// No absolute entry of `PATH` outside the repository holds git.
    #[error("git is not installed in any absolute folder of PATH outside the repository")]
    NotInstalled,
    /// The sandbox's temporary folder could not be made.
    #[error("cannot prepare a sandbox for git: {0}")]
    Sandbox(io::Error),
    /// It could not be started.
    #[error(transparent)]
    Start(#[from] SpawnError),
    /// Its output could not be read.
    #[error("cannot read the output of git: {0}")]
    Output(io::Error),
    /// It ended with an error.
    #[error("git failed ({status}): {stderr}")]
    Failed {
        /// How it ended.
        status: String,
        /// What it complained of, at most 2 KiB.
        stderr: String,
    },
    /// It took too long and was killed.
    #[error("git took longer than {} s and was stopped", .0.as_secs_f32())]
    TooSlow(Duration),
}

impl Git {
    /// Runs a command to its end and returns what it printed. Needs a tokio runtime.
    pub async fn run(&self, call: GitCall<'_>) -> Result<String, GitError> {
        if self.sandbox == CageState::Missing && self.trust == FolderTrust::Untrusted {
            return Err(GitError::NoSandbox);
        }
        call.repository.check()?;

        let env = self.env.avoiding(call.repository.top()).with_absolute_path();
        let program = find_program("git", &env, Some(call.repository.top()));
        let program = program.ok_or(GitError::NotInstalled)?;
        let scratch = Scratch::new(&self.temp).map_err(GitError::Sandbox)?;
        let args = config::overrides(&self.env, &self.home);
        let args = args.into_iter().chain(call.args.iter().map(|arg| (*arg).to_owned()));
        let command = Command {
            program: program.display().to_string(),
            args: args.collect(),
            folder: call.repository.top().to_owned(),
            env: config::environment(&env, call.repository),
            cage: self.cage(&call, scratch.path())?,
            stdio: Terminals::Apart,
        };

        let work = async { collect(command.spawn()?, call.input).await.map_err(GitError::Output) };
        // Dropping the work kills git and all it has started.
        let ended = tokio::time::timeout(call.timeout, work).await;
        let ended = ended.map_err(|_| GitError::TooSlow(call.timeout))??;
        if ended.status.success() {
            return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
        }
        let stderr = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        Err(GitError::Failed { status: ended.status.to_string(), stderr })
    }

    /// The sandbox of a call; `None` where this machine has none.
    fn cage(&self, call: &GitCall<'_>, temp: &Path) -> Result<Option<Arc<Cage>>, GitError> {
        if self.sandbox == CageState::Missing {
            return Ok(None);
        }
        let mut more = call.repository.git_folders();
        if let Access::Write(folders) = call.access {
            more.extend_from_slice(folders);
        }
        let fence = Fence::new(call.repository.top(), &more, &self.home);
        let fence = fence.map_err(GitError::Sandbox)?;
        let bounds = Bounds::for_reach(Reach::ReadOnly, &fence, temp);
        let Some(mut bounds) = bounds else { return Err(GitError::NoSandbox) };
        if let Access::Write(folders) = call.access {
            let real: io::Result<Vec<PathBuf>> =
                folders.iter().map(std::fs::canonicalize).collect();
            bounds.writable = real.map_err(GitError::Sandbox)?;
            // Nothing else can be written, and these may lie inside a protected place: `.git` is one.
            bounds.protected.clear();
        }
        Ok(Some(Arc::new(Cage::new(bounds))))
    }
}

/// What making a worktree for the workspace of `fence` does: it changes the repository's git folder.
pub fn worktree_change(fence: &Fence) -> Result<Action, FenceError> {
    let repository = Repository::find(fence.folder());
    let top = repository.as_ref().map_or(fence.folder(), Repository::top);
    fence.locate(top.join(".git")).map(Action::Edit)
}

/// The version of the git that would run for a workspace. Blocking; asks no repository.
pub fn version(env: &Env, workspace: &Path) -> Result<String, RunError> {
    let env = env.avoiding(workspace).with_absolute_path();
    let missing =
        || RunError::Start { program: "git".to_owned(), source: io::ErrorKind::NotFound.into() };
    let program = find_program("git", &env, Some(workspace)).ok_or_else(missing)?;
    let env = config::clean(&env);
    let mut line = CommandLine::new(program.display().to_string(), ["--version".to_owned()], &env);
    line.folder = Some("/".into());
    line.timeout = VERSION_TIMEOUT;
    Runner.run(&line)
}

/// How a git command ended.
struct Ended {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

async fn collect(mut child: Child, input: &[u8]) -> io::Result<Ended> {
    let (stdin, stdout, stderr) = (child.input.take(), child.output.take(), child.error.take());
    let feed = async move {
        if let Some(mut stdin) = stdin {
            // Git may end before it has read everything.
            stdin.write_all(input).await.ok();
        }
    };
    let ((), stdout, stderr) =
        tokio::join!(feed, keep(stdout, OUTPUT_BYTES), keep(stderr, STDERR_BYTES));
    let status = child.wait().await?;
    Ok(Ended { status, stdout: stdout?, stderr: stderr? })
}

async fn keep(output: Option<Output>, limit: usize) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let Some(mut output) = output else { return Ok(kept) };
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let count = output.read(&mut buffer).await?;
        if count == 0 {
            return Ok(kept);
        }
        let space = limit.saturating_sub(kept.len());
        kept.extend_from_slice(&buffer[..count.min(space)]);
    }
}

/// A private folder for temporary files of one call, removed with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(within: &Path) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // A stranger may have taken a name, never all of them.
        for _ in 0..100 {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = within.join(format!("caiman-git-{}-{number}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // An empty folder that stays in the temporary folder does no harm.
        std::fs::remove_dir_all(&self.0).ok();
    }
}
