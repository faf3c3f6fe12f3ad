//! What a repository says of itself: its branch, read from its files, and a short status.
//!
//! `git status` runs in folders nobody has vouched for yet, and a repository's own settings can name
//! programs that git then starts. Those it can be told to leave out are left out; a repository that could
//! still start one is not asked.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::{CommandLine, Env, RunCommand};

use super::bounded;

/// Most lines of status the model is shown.
const STATUS_LINES: usize = 20;
/// Longest line of status, in characters.
const LINE_CHARS: usize = 120;
/// Longest name of a branch, in characters.
const BRANCH_CHARS: usize = 80;
/// How long git may think.
const PATIENCE: Duration = Duration::from_secs(1);
/// Largest of git's small files that is read.
const FILE_LIMIT: u64 = 256 * 1024;
/// Settings that lie over the repository's own, so that a status starts nothing and reaches nothing.
pub(crate) const HARMLESS: [&str; 10] = [
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.allow=never",
    "-c",
    "core.quotePath=true",
    "-c",
    "submodule.recurse=false",
];

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
pub(super) fn look(folder: &Path, env: &Env, run: &dyn RunCommand) -> Option<Git> {
    let place = folder.ancestors().map(|above| above.join(".git")).find(|path| path.exists())?;
    let own = git_folder(&place)?;
    let branch = branch(&own)?;
    let status = if may_start_programs(&own) { None } else { status(folder, env, run) };
    Some(Git { branch, status: status.unwrap_or(Status::Unknown) })
}

/// The folder a `.git` is or names: worktrees and submodules have a file there.
fn git_folder(place: &Path) -> Option<PathBuf> {
    if place.is_dir() {
        return Some(place.to_owned());
    }
    let text = small_file(place)?;
    let named = text.trim().strip_prefix("gitdir:")?.trim();
    Some(place.parent()?.join(named))
}

fn branch(own: &Path) -> Option<String> {
    let head = small_file(&own.join("HEAD"))?;
    let head = head.trim();
    if let Some(name) = head.strip_prefix("ref:") {
        return Some(bounded(name.trim().trim_start_matches("refs/heads/"), BRANCH_CHARS));
    }
    let commit = head.get(..8).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some(format!("none, at commit {commit}"))
}

/// Whether the repository's own settings could make a status start a program: content filters have no
/// switch, and an included file may hold one.
fn may_start_programs(own: &Path) -> bool {
    let shared = small_file(&own.join("commondir")).map(|named| own.join(named.trim()));
    let files = [own.join("config"), own.join("config.worktree")];
    let shared = shared.iter().map(|folder| folder.join("config"));
    files.into_iter().chain(shared).filter(|path| path.exists()).any(|path| {
        let settings = small_file(&path).map(|text| text.to_ascii_lowercase());
        settings.is_none_or(|text| text.contains("filter") || text.contains("include"))
    })
}

fn status(folder: &Path, env: &Env, run: &dyn RunCommand) -> Option<Status> {
    let words = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all"];
    let args = HARMLESS.iter().chain(&words).map(|word| (*word).to_owned());
    let quiet = [
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("LC_ALL", "C"),
    ];
    let env = env.with(quiet.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let mut command = CommandLine::new("git", args, &env);
    command.folder = Some(folder.to_owned());
    command.timeout = PATIENCE;
    let output = run.run(&command).ok()?;
    let mut lines = output.lines().map(|line| bounded(line, LINE_CHARS));
    let first: Vec<String> = lines.by_ref().take(STATUS_LINES).collect();
    Some(Status::Known { lines: first, more: lines.count() })
}

/// A small text file; none where there is none, or it is something else.
fn small_file(path: &Path) -> Option<String> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let read = File::open(path).ok()?.take(FILE_LIMIT + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= FILE_LIMIT).then_some(text)
}
