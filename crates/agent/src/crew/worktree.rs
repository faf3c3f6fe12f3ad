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

/// The commit a worktree was made of: a name of git's that only this worktree has, so that it is known after a
/// restart, too, and whatever the agent commits.
const BASE: &str = "refs/worktree/base";

/// A worktree of an agent's own.
pub(super) struct Worktree {
    repository: PathBuf,
    /// Its top.
    top: PathBuf,
    /// Where in it the agent works: where its parent does in the repository.
    within: PathBuf,
}

/// What an agent has left in its worktree.
struct Left {
    commits: String,
    diff: String,
}

/// Whether a session has worked in a worktree of its own.
pub(super) fn is_of(mind: &Mind, row: &store::Session) -> bool {
    Path::new(&row.summary.folder).starts_with(place(mind, row.summary.id))
}

fn place(mind: &Mind, session: SessionId) -> PathBuf {
    mind.paths.data().join("worktrees").join(session.to_string())
}

impl Worktree {
    /// Makes one of the repository's newest commit for a session that works in `folder`; one that is there from
    /// its last task stays as it is.
    pub(super) async fn open(
        mind: &Mind,
        folder: &Path,
        session: SessionId,
    ) -> Result<Self, ToolError> {
        let refused = |why| {
            ToolError::Refused(format!(
                "This agent works in a git worktree, and none could be made: {why}"
            ))
        };
        let top = place(mind, session);
        let within = git(mind, folder, &["rev-parse", "--show-prefix"]).await.map_err(refused)?;
        let within = PathBuf::from(within.trim());
        let opened = Self { repository: folder.to_owned(), top, within };
        if !opened.top.join(".git").exists() {
            opened.make(mind).await.map_err(refused)?;
        }
        // A folder without files is in no commit.
        std::fs::create_dir_all(opened.top.join(&opened.within))
            .map_err(|error| refused(error.to_string()))?;
        Ok(opened)
    }

    async fn make(&self, mind: &Mind) -> Result<(), String> {
        let top = self.top.display().to_string();
        // By force: git may still know of one that somebody has removed.
        let add = ["worktree", "add", "--force", "--detach", &top];
        git(mind, &self.repository, &add).await?;
        git(mind, &self.top, &["update-ref", BASE, "HEAD"]).await?;
        Ok(())
    }

    /// The folder the agent works in.
    pub(super) fn folder(&self) -> String {
        self.top.join(&self.within).display().to_string()
    }

    /// What was changed in it, in words for the parent; one without a change is removed.
    pub(super) async fn finish(self, mind: &Mind) -> String {
        let top = self.top.display();
        let Left { commits, diff } = match self.left(mind).await {
            Ok(Some(left)) => left,
            Ok(None) => return "\n\nIt changed nothing in its worktree.".to_owned(),
            Err(why) => return format!("\n\nIts worktree {top} cannot be compared: {why}"),
        };
        let mut short: String = diff.chars().take(DIFF_CHARS).collect();
        if short.len() < diff.len() {
            short.push_str("\n… (cut; see the worktree)");
        }
        let commits = if commits.is_empty() { commits } else { format!("Commits:\n{commits}\n") };
        format!("\n\nIts changes are in the git worktree {top}.\n{commits}```diff\n{short}\n```")
    }

    /// Where changes are kept, in words for the user; none if there are none, and it is removed.
    pub(super) async fn kept(self, mind: &Mind) -> Option<String> {
        let left = self.left(mind).await;
        let is_kept = !matches!(left, Ok(None));
        is_kept.then(|| format!("What it changed is in the git worktree {}.", self.top.display()))
    }

    /// What was committed and changed since it was made; one without either is removed.
    async fn left(&self, mind: &Mind) -> Result<Option<Left>, String> {
        let own = |args: &'static [&'static str]| git(mind, &self.top, args);
        // New files are part of a diff only once git knows that they are meant to be added.
        drop(own(&["add", "--all", "--intent-to-add"]).await);
        let diff = own(&["diff", "--no-ext-diff", BASE]).await?;
        let commits = own(&["log", "--oneline", "HEAD", "--not", BASE]).await?;
        if diff.trim().is_empty() && commits.trim().is_empty() {
            let top = self.top.display().to_string();
            drop(git(mind, &self.repository, &["worktree", "remove", "--force", &top]).await);
            return Ok(None);
        }
        Ok(Some(Left { commits, diff }))
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
