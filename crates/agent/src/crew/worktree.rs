//! A copy of the repository for an agent to work in: a git worktree in the user's state folder.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base::{CommandLine, RunCommand, SessionId};
use guard::Runner;
use tools::ToolError;

use crate::mind::Mind;
use crate::surroundings::HARMLESS;

/// How long git may take to make a copy.
const PATIENCE: Duration = Duration::from_mins(2);
/// Longest diff that a report holds, in characters.
const DIFF_CHARS: usize = 20_000;

/// A worktree of an agent's own.
pub(super) struct Worktree {
    repository: PathBuf,
    folder: PathBuf,
}

impl Worktree {
    /// Makes one of the repository's newest commit.
    pub(super) async fn make(
        mind: &Mind,
        folder: &Path,
        session: SessionId,
    ) -> Result<Self, ToolError> {
        let place = mind.paths.data().join("worktrees").join(session.to_string());
        let made = Self { repository: folder.to_owned(), folder: place };
        let target = made.folder();
        let made_it = git(mind, folder, &["worktree", "add", "--detach", &target]).await;
        made_it.map_err(|why| {
            ToolError::Refused(format!(
                "This agent works in a git worktree, and none could be made: {why}"
            ))
        })?;
        Ok(made)
    }

    /// Its folder.
    pub(super) fn folder(&self) -> String {
        self.folder.display().to_string()
    }

    /// What was changed in it, in words; one without a change is removed.
    pub(super) async fn finish(self, mind: &Mind) -> String {
        let own = |args: &'static [&'static str]| git(mind, &self.folder, args);
        // New files are part of a diff only once git knows that they are meant to be added.
        drop(own(&["add", "--all", "--intent-to-add"]).await);
        let diff = match own(&["diff", "--no-ext-diff", "HEAD"]).await {
            Ok(diff) => diff,
            Err(why) => {
                return format!("\n\nIts worktree {} cannot be compared: {why}", self.folder());
            }
        };
        let commits = own(&["log", "--oneline", "HEAD", "--not", "--branches"]).await;
        let commits = commits.unwrap_or_default();
        if diff.trim().is_empty() && commits.trim().is_empty() {
            let folder = self.folder();
            drop(git(mind, &self.repository, &["worktree", "remove", "--force", &folder]).await);
            return "\n\nIt changed nothing in its worktree.".to_owned();
        }
        let mut short: String = diff.chars().take(DIFF_CHARS).collect();
        if short.len() < diff.len() {
            short.push_str("\n… (cut; see the worktree)");
        }
        let folder = self.folder();
        let commits = if commits.is_empty() { commits } else { format!("Commits:\n{commits}\n") };
        format!("\n\nIts changes are in the git worktree {folder}.\n{commits}```diff\n{short}\n```")
    }
}

/// Runs git; nothing of the repository's own runs with it.
async fn git(mind: &Mind, folder: &Path, args: &[&str]) -> Result<String, String> {
    let args = HARMLESS.iter().chain(args).map(|arg| (*arg).to_owned());
    let mut command = CommandLine::new("git", args, &mind.env);
    command.folder = Some(folder.to_owned());
    command.timeout = PATIENCE;
    let running = tokio::task::spawn_blocking(move || Runner.run(&command));
    match running.await {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("git broke off".to_owned()),
    }
}
