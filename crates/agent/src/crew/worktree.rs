//! A copy of the repository for an agent to work in: a git worktree in the user's state folder.
//!
//! The agent may write anything there, a repository with settings of its own included. So git runs through
//! [`guard::git`] alone, pinned to the worktree's own git folder as it was before the agent began, and it never looks
//! into repositories inside the worktree.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base::SessionId;
use guard::git::{Access, Git, GitCall, Repository};
use tools::ToolError;

use crate::mind::Mind;

/// How long git may take to make a copy.
const GIT_TIMEOUT: Duration = Duration::from_mins(2);
/// Longest diff that a report holds, in characters.
const DIFF_CHARS: usize = 20_000;

/// The commit a worktree was made of: a name of git's that only this worktree has, so that it is known after a
/// restart, too, and whatever the agent commits.
const BASE: &str = "refs/worktree/base";

/// The file mode by which git lists a repository inside another.
const REPOSITORY_MODE: &str = "160000";

/// A worktree of an agent's own.
pub(super) struct Worktree {
    git: Git,
    /// Its own repository, as it was before the agent began.
    own: Repository,
    /// Where in it the agent works: where its parent does in the repository.
    within: PathBuf,
}

/// What an agent has left in its worktree.
struct Left {
    commits: String,
    diff: String,
    /// Repositories inside the worktree, which git is not asked about.
    nested: Vec<String>,
}

/// Whether a session has worked in a worktree of its own.
pub(super) fn is_of(mind: &Mind, row: &store::Session) -> bool {
    Path::new(&row.summary.folder).starts_with(place(mind, row.summary.id))
}

/// Whether the worktree of a session is still there.
pub(super) fn exists(mind: &Mind, session: SessionId) -> bool {
    place(mind, session).join(".git").exists()
}

fn place(mind: &Mind, session: SessionId) -> PathBuf {
    mind.paths.data().join("worktrees").join(session.to_string())
}

impl Worktree {
    /// Makes one of the repository's newest commit for a session that works in `folder`; one that is there from
    /// its last task stays as it is.
    pub(super) async fn open(
        mind: &Arc<Mind>,
        folder: &Path,
        session: SessionId,
    ) -> Result<Self, ToolError> {
        let opened = Self::try_open(mind, folder, session).await;
        opened.map_err(|why| {
            ToolError::Refused(format!(
                "This agent works in a git worktree, and none could be made: {why}"
            ))
        })
    }

    async fn try_open(mind: &Arc<Mind>, folder: &Path, session: SessionId) -> Result<Self, String> {
        let repository =
            Repository::find(folder).ok_or("the folder is not in a git repository".to_owned())?;
        repository.check().map_err(|risk| risk.to_string())?;
        let (shared, at) = (mind.clone(), folder.to_owned());
        let git = tokio::task::spawn_blocking(move || shared.git(&at)).await;
        let git = git.map_err(|error| error.to_string())?;

        let real = fs::canonicalize(folder).map_err(|error| error.to_string())?;
        let within = real.strip_prefix(repository.top()).map_err(|error| error.to_string())?;
        let top = place(mind, session);
        if !exists(mind, session) {
            make(&git, &repository, &top).await.inspect_err(|_| {
                // Only if git has put nothing there.
                fs::remove_dir(&top).ok();
            })?;
        }
        let own = own_repository(&repository, &top)?;
        if !exists_base(&git, &own).await {
            let args = ["update-ref", BASE, "HEAD"];
            write(&git, &own, &args, &[]).await?;
        }
        // A folder without files is in no commit.
        fs::create_dir_all(own.top().join(within)).map_err(|error| error.to_string())?;
        Ok(Self { git, own, within: within.to_owned() })
    }

    /// The folder the agent works in.
    pub(super) fn folder(&self) -> String {
        self.own.top().join(&self.within).display().to_string()
    }

    /// What was changed in it, in words for the parent; one without a change is removed.
    pub(super) async fn finish(self) -> String {
        let top = self.own.top().display();
        let Left { commits, diff, nested } = match self.left().await {
            Ok(Some(left)) => left,
            Ok(None) => return "\n\nIt changed nothing in its worktree.".to_owned(),
            Err(why) => return format!("\n\nIts worktree {top} cannot be compared: {why}"),
        };
        let mut short: String = diff.chars().take(DIFF_CHARS).collect();
        if short.len() < diff.len() {
            short.push_str("\n… (cut; see the worktree)");
        }
        let commits = if commits.is_empty() { commits } else { format!("Commits:\n{commits}\n") };
        let nested = match nested.as_slice() {
            [] => String::new(),
            names => format!("Repositories in it, not compared: {}\n", names.join(", ")),
        };
        format!(
            "\n\nIts changes are in the git worktree {top}.\n{commits}{nested}```diff\n{short}\n```"
        )
    }

    /// Where changes are kept, in words for the user; `None` if there are none, and it is removed.
    pub(super) async fn kept(self) -> Option<String> {
        let left = self.left().await;
        let is_kept = !matches!(left, Ok(None));
        let top = self.own.top().display();
        is_kept.then(|| format!("What it changed is in the git worktree {top}."))
    }

    /// What was committed and changed since it was made; one without either is removed.
    async fn left(&self) -> Result<Option<Left>, String> {
        let mut nested = self.announce_new_files().await?;
        nested.extend(self.known_repositories().await?);
        let diff =
            ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all"];
        let diff = self.read(&[&diff[..], &[BASE]].concat()).await?;
        let log = ["log", "--oneline", "--no-color", "--no-decorate", "--no-show-signature"];
        let commits = self.read(&[&log[..], &["HEAD", "--not", BASE]].concat()).await?;
        let commits = commits.trim_end().to_owned();
        if diff.trim().is_empty() && commits.is_empty() && nested.is_empty() {
            self.remove().await;
            return Ok(None);
        }
        Ok(Some(Left { commits, diff: diff.trim_end().to_owned(), nested }))
    }

    /// Tells git of new files, which only then are part of a diff. Returns the repositories among them: git would
    /// look into one that it knows of, with that one's settings.
    async fn announce_new_files(&self) -> Result<Vec<String>, String> {
        let listed = self.read(&["ls-files", "--others", "--exclude-standard", "-z"]).await?;
        let new = listed.split('\0').filter(|name| !name.is_empty());
        let (nested, files): (Vec<&str>, Vec<&str>) = new.partition(|name| name.ends_with('/'));
        if !files.is_empty() {
            let args = ["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"];
            write(&self.git, &self.own, &args, files.join("\0").as_bytes()).await?;
        }
        Ok(nested.into_iter().map(str::to_owned).collect())
    }

    /// Repositories that the agent has made known to git. Only the index is compared, so git does not look into them.
    async fn known_repositories(&self) -> Result<Vec<String>, String> {
        let args =
            ["diff", "--cached", "--raw", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let args = [&args[..], &["--ignore-submodules=none", BASE]].concat();
        let listed = self.read(&args).await?;
        let mut fields = listed.split('\0');
        let mut found = Vec::new();
        while let (Some(modes), Some(name)) = (fields.next(), fields.next()) {
            if modes.contains(REPOSITORY_MODE) {
                found.push(name.to_owned());
            }
        }
        Ok(found)
    }

    async fn read(&self, args: &[&str]) -> Result<String, String> {
        run(&self.git, &self.own, args, (Access::Read, &[])).await
    }

    /// Removes it and what the repository keeps of it. Without git: they are nothing but files.
    async fn remove(&self) {
        let folders = [self.own.top().to_owned(), self.own.git_dir().to_owned()];
        let removing = tokio::task::spawn_blocking(move || {
            for folder in folders {
                if let Err(error) = fs::remove_dir_all(&folder) {
                    tracing::warn!(%error, folder = %folder.display(), "a worktree stays");
                }
            }
        });
        // A task that panicked has removed what it could.
        removing.await.ok();
    }
}

/// Makes a worktree in `top`, a folder that no other session uses.
async fn make(git: &Git, repository: &Repository, top: &Path) -> Result<(), String> {
    let common = repository.common_dir().map_err(|risk| risk.to_string())?;
    let listed = common.join("worktrees");
    create_private(top).map_err(|error| format!("{}: {error}", top.display()))?;
    create_private(&listed).map_err(|error| format!("{}: {error}", listed.display()))?;
    // A link would let git write where it leads.
    if !fs::symlink_metadata(&listed).is_ok_and(|found| found.is_dir()) {
        return Err(format!("{} is not a folder", listed.display()));
    }

    let name = top.display().to_string();
    // By force: git may still know of one that somebody has removed.
    let args = ["worktree", "add", "--force", "--detach", &name];
    let writable = [top.to_owned(), listed];
    run(git, repository, &args, (Access::Write(&writable), &[])).await.map(drop)
}

fn create_private(folder: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The worktree's own repository; refused if it is not one of `repository`'s worktrees any more.
fn own_repository(repository: &Repository, top: &Path) -> Result<Repository, String> {
    let changed = || format!("{} is not a worktree of this repository any more", top.display());
    let own = Repository::find(top).ok_or_else(changed)?;
    let common = repository.common_dir().map_err(|risk| risk.to_string())?;
    let is_listed = own.git_dir().parent() == Some(&common.join("worktrees"));
    let real = fs::canonicalize(top).map_err(|error| error.to_string())?;
    if own.top() != real || !is_listed || own.common_dir() != Ok(common) {
        return Err(changed());
    }
    own.check().map_err(|risk| risk.to_string())?;
    Ok(own)
}

async fn exists_base(git: &Git, own: &Repository) -> bool {
    let args = ["rev-parse", "--quiet", "--verify", BASE];
    run(git, own, &args, (Access::Read, &[])).await.is_ok()
}

/// Runs a command that writes nothing but the worktree's own git folder, and objects: git keeps an empty one for files
/// that are meant to be added.
async fn write(git: &Git, own: &Repository, args: &[&str], input: &[u8]) -> Result<String, String> {
    let common = own.common_dir().map_err(|risk| risk.to_string())?;
    let objects = common.join("objects");
    // A link would let git write where it leads.
    if !fs::symlink_metadata(&objects).is_ok_and(|found| found.is_dir()) {
        return Err(format!("{} is not a folder", objects.display()));
    }
    let writable = [own.git_dir().to_owned(), objects];
    run(git, own, args, (Access::Write(&writable), input)).await
}

async fn run(
    git: &Git,
    repository: &Repository,
    args: &[&str],
    (access, input): (Access<'_>, &[u8]),
) -> Result<String, String> {
    let call = GitCall { repository, args, access, input, timeout: GIT_TIMEOUT };
    git.run(call).await.map_err(|error| error.to_string())
}
