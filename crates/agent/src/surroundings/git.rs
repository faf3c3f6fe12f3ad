//! The repository of a session: its branch, read from files, and a short status from git.
//!
//! Git runs before anybody has trusted the folder, so it runs through [`guard::git`] alone.

use std::path::Path;
use std::time::Duration;

use guard::git::{Access, Git as GitRunner, GitCall, Repository};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::bounded;

/// Most lines of status the model is shown.
const STATUS_LINES: usize = 20;
/// Longest line of status, in characters.
const LINE_CHARS: usize = 120;
/// Longest name of a branch, in characters.
const BRANCH_CHARS: usize = 80;
/// How long a session waits for `git status`: its first request waits with it. A repository of 10,000 files takes less
/// on a fast disk; one of 100,000 takes 250 ms, and its status is left to the model to ask for.
pub const STATUS_TIMEOUT: Duration = Duration::from_millis(30);

/// A repository at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Git {
    /// The branch, or which commit is checked out without one.
    pub branch: String,
    /// What differs from the last commit.
    pub status: Status,
}

/// What differs from the last commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Git was not asked, failed, or took too long.
    Unknown,
    /// Lines as `git status --short` prints them.
    Known {
        /// The first of them.
        lines: Vec<String>,
        /// How many more there are.
        more: usize,
    },
}

impl Git {
    /// The lines the model reads.
    pub(super) fn text(&self) -> String {
        let branch = format!("Git branch at the start: {}", self.branch);
        match &self.status {
            Status::Unknown => format!("{branch}; its status was not read"),
            Status::Known { lines, .. } if lines.is_empty() => format!("{branch}, clean"),
            Status::Known { lines, more: 0 } => format!("{branch}, with\n{}", lines.join("\n")),
            Status::Known { lines, more } => {
                format!("{branch}, with\n{}\nand {more} more", lines.join("\n"))
            }
        }
    }
}

/// A repository whose branch is known and whose status is being read.
#[derive(Debug)]
pub(super) struct GitReader {
    branch: String,
    status: JoinHandle<Status>,
    deadline: Instant,
}

impl GitReader {
    /// Reads the branch of the repository `folder` is in, and starts to read its status on another thread; `None`
    /// outside of a repository. `runner` is called on that thread, as making one may read files and start processes.
    pub(super) fn start(
        folder: &Path,
        runner: impl FnOnce() -> GitRunner + Send + 'static,
        timeout: Duration,
    ) -> Option<Self> {
        let repository = Repository::find(folder)?;
        let branch = branch(&repository.head()?)?;

        let deadline = Instant::now() + timeout;
        let runtime = tokio::runtime::Handle::current();
        let status = tokio::task::spawn_blocking(move || {
            let runner = runner();
            runtime.block_on(read_status(&repository, &runner, timeout))
        });
        Some(Self { branch, status, deadline })
    }

    /// The repository; without its status if git has not answered by the deadline.
    pub(super) async fn finish(self) -> Git {
        // Git is killed at its own timeout; nobody waits until it is gone.
        let status = match tokio::time::timeout_at(self.deadline, self.status).await {
            Ok(Ok(status)) => status,
            Ok(Err(_)) => Status::Unknown,
            Err(_) => {
                tracing::debug!("git status took too long");
                Status::Unknown
            }
        };
        Git { branch: self.branch, status }
    }
}

fn branch(head: &str) -> Option<String> {
    if let Some(name) = head.strip_prefix("ref:") {
        return Some(bounded(name.trim().trim_start_matches("refs/heads/"), BRANCH_CHARS));
    }
    let commit = head.get(..8).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some(format!("none, at commit {commit}"))
}

async fn read_status(repository: &Repository, git: &GitRunner, timeout: Duration) -> Status {
    let args = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all"];
    let call = GitCall { repository, args: &args, access: Access::Read, input: &[], timeout };
    let output = match git.run(call).await {
        Ok(output) => output,
        Err(error) => {
            tracing::debug!(%error, "no git status");
            return Status::Unknown;
        }
    };
    let mut lines = output.lines().map(|line| bounded(line, LINE_CHARS));
    let first: Vec<String> = lines.by_ref().take(STATUS_LINES).collect();
    Status::Known { lines: first, more: lines.count() }
}
