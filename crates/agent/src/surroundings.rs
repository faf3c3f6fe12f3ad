//! Where a session works, as the model is told: folder, platform, date, repository. Taken once a session,
//! so that what a request begins with stays the same.

mod git;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::{Clock, Env, Timestamp};
use guard::git::Git as GitRunner;
use jiff::tz::TimeZone;

use git::GitReader;
pub use git::{Git, STATUS_TIMEOUT, Status};

/// What the lines begin with.
pub(crate) const FIRST: &str = "Folder: ";

/// Where a session works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The folder.
    pub folder: PathBuf,
    /// The operating system.
    pub platform: &'static str,
    /// The user's shell, by name; none where the environment does not tell.
    pub shell: Option<String>,
    /// The day, as `2026-11-16`.
    pub date: String,
    /// The repository; none outside of one.
    pub git: Option<Git>,
}

/// Surroundings of which all is known but the repository's status.
#[derive(Debug)]
pub struct SurroundingsReader {
    known: Surroundings,
    git: Option<GitReader>,
}

impl SurroundingsReader {
    /// Reads what files tell, and starts `git status` on another thread. Needs a tokio runtime.
    pub fn start(
        folder: &Path,
        env: &Env,
        clock: &Clock,
        runner: impl FnOnce() -> GitRunner + Send + 'static,
        timeout: Duration,
    ) -> Self {
        let git = GitReader::start(folder, runner, timeout);
        Self { known: without_git(folder, env, clock), git }
    }

    /// The surroundings, with the status if git has answered within the timeout since the start.
    pub async fn finish(self) -> Surroundings {
        let git = match self.git {
            Some(reader) => Some(reader.finish().await),
            None => None,
        };
        Surroundings { git, ..self.known }
    }
}

/// All but the repository: starts nothing and reads no files.
fn without_git(folder: &Path, env: &Env, clock: &Clock) -> Surroundings {
    let shell = env.get("SHELL").and_then(|path| Path::new(path).file_name()?.to_str());
    Surroundings {
        folder: folder.to_owned(),
        platform: std::env::consts::OS,
        shell: shell.map(|name| bounded(name, 20)),
        date: day(clock.now(), env),
        git: None,
    }
}

/// The user's calendar day: a date that jumps at midnight in Greenwich confuses everybody else.
pub(crate) fn day(at: Timestamp, env: &Env) -> String {
    let named = env.get("TZ").and_then(|name| TimeZone::get(name).ok());
    let zone = named.unwrap_or_else(TimeZone::system);
    let moment = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    moment.to_zoned(zone).date().to_string()
}

/// One line of at most `limit` characters: names on disk are other people's texts.
fn bounded(text: &str, limit: usize) -> String {
    let printable = text.chars().map(|c| if c.is_control() { '?' } else { c });
    let mut line: String = printable.take(limit).collect();
    if text.chars().nth(limit).is_some() {
        line.push('…');
    }
    line
}

impl Surroundings {
    /// The lines the model reads.
    pub fn text(&self) -> String {
        let folder = bounded(&self.folder.display().to_string(), 400);
        let mut text = format!("{FIRST}{folder}\nPlatform: {}", self.platform);
        if let Some(shell) = &self.shell {
            // Writing to a string cannot fail.
            write!(text, ", shell {shell}").ok();
        }
        write!(text, "\nDate: {}", self.date).ok();
        match &self.git {
            None => text.push_str("\nNot a git repository."),
            Some(git) => {
                text.push('\n');
                text.push_str(&git.text());
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_is_the_users_day() {
        let evening = Timestamp::from_millis(1_794_870_000_000);
        let at = |zone: &str| day(evening, &Env::from_iter([("TZ", zone)]));
        assert_eq!(at("UTC"), "2026-11-16");
        assert_eq!(at("Asia/Tokyo"), "2026-11-17");
    }
}
