//! The repository of a session: its branch, read from files, and a short status from git.
//!
//! Git runs before anybody has trusted the folder, so it runs through [`guard::git`] alone.

use std::path::Path;
use std::time::Duration;

use guard::git::{Access, Git as GitRunner, GitCall, Repository};

use super::bounded;

/// Most lines of status the model is shown.
const STATUS_LINES: usize = 20;
/// Longest line of status, in characters.
const LINE_CHARS: usize = 120;
/// Longest name of a branch, in characters.
const BRANCH_CHARS: usize = 80;
/// How long `git status` may take: the first request waits for it.
const STATUS_TIMEOUT: Duration = Duration::from_secs(1);

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
    /// Git was not asked, or took too long.
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
            Status::Unknown => branch,
            Status::Known { lines, .. } if lines.is_empty() => format!("{branch}, clean"),
            Status::Known { lines, more: 0 } => format!("{branch}, with\n{}", lines.join("\n")),
            Status::Known { lines, more } => {
                format!("{branch}, with\n{}\nand {more} more", lines.join("\n"))
            }
        }
    }
}

/// The repository `folder` is in.
pub(super) async fn look(folder: &Path, git: &GitRunner) -> Option<Git> {
    let repository = Repository::find(folder)?;
    let branch = branch(&repository.head()?)?;
    let status = status(&repository, git).await;
    Some(Git { branch, status })
}

fn branch(head: &str) -> Option<String> {
    if let Some(name) = head.strip_prefix("ref:") {
        return Some(bounded(name.trim().trim_start_matches("refs/heads/"), BRANCH_CHARS));
    }
    let commit = head.get(..8).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some(format!("none, at commit {commit}"))
}

async fn status(repository: &Repository, git: &GitRunner) -> Status {
    let args = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all"];
    let call = GitCall {
        repository,
        args: &args,
        access: Access::Read,
        input: &[],
        timeout: STATUS_TIMEOUT,
    };
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
