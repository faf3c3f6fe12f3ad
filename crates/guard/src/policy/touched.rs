//! The files a command line touches: by redirects, and by what its words name.

use std::path::{Path, PathBuf};

use base::protocol::Mode;

use super::closed;
use super::line::Known;
use super::paths::{Folders, Named, is_temporary};
use super::{CageState, Decision, Judge, Reason, Verdict};
use crate::action::Taint;
use crate::fence::Spot;
use crate::rule::Rule;
use crate::shell::{self, Direction, Meaning, Redirect, Simple};

impl Judge<'_> {
    /// What is said about the file that a redirect names.
    pub(super) fn judge_redirect(
        &self,
        tool: &str,
        redirect: &Redirect,
        known: &Known,
        taint: &Taint,
    ) -> Option<Verdict> {
        let caged = self.cage == CageState::Works;
        let target = || redirect.target.raw.clone();
        if shell::is_network(&redirect.target) {
            return Some(Verdict::ask(Reason::OpensConnection { target: target() }));
        }
        let text = match &redirect.target.meaning {
            Meaning::Plain(text) if is_terminal(text) => return None,
            Meaning::Plain(text) => text,
            // The cage holds what cannot be told before it runs.
            Meaning::Pattern(_) | Meaning::Number | Meaning::Anchored(_) | Meaning::Unknown(_)
                if caged && matches!(self.mode, Mode::AcceptEdits | Mode::Plan) =>
            {
                return None;
            }
            // So it does with secrets, unless a rule says more.
            Meaning::Pattern(_) | Meaning::Number | Meaning::Anchored(_) | Meaning::Unknown(_)
                if caged && redirect.direction == Direction::In && !self.has_file_rules() =>
            {
                return None;
            }
            Meaning::Pattern(_) | Meaning::Number | Meaning::Anchored(_) | Meaning::Unknown(_) => {
                return Some(Verdict::ask(Reason::UnknownTarget { target: target() }));
            }
        };
        let Some(spots) = known.folders.locate(text, self.fence) else {
            return Some(Verdict::ask(Reason::UnknownFolder { target: target() }));
        };
        let mut verdicts = spots.iter().filter_map(|spot| match redirect.direction {
            Direction::In if is_system(&spot.real) => None,
            Direction::In => Some(self.judge_read(tool, spot)),
            Direction::Out
                if caged
                    && self.mode == Mode::AcceptEdits
                    && !spot.inside
                    && is_temporary(&spot.real) =>
            {
                None
            }
            Direction::Out => Some(self.judge_edit(tool, spot, taint)),
        });
        let first = verdicts.next()?;
        Some(verdicts.fold(first, Verdict::and))
    }

    /// What is said about secrets, and other people's places, that a command of a line names.
    pub(super) fn judge_paths<'k>(
        &self,
        command: &Simple,
        named: impl Fn() -> &'k Named,
        known: &Known,
    ) -> Option<Verdict> {
        let reads = command.read_only().is_ok();
        let name = command.program_name().unwrap_or_default();
        if reads && !opens_files(name) {
            return None;
        }
        let named = named();
        let secret = |spot: &&Spot| self.is_secret(spot) && self.allows_secret(spot).is_none();
        if let Some(spot) = named.spots.iter().find(secret) {
            let path = self.fence.name(spot);
            return Some(Verdict::ask(Reason::MayHoldSecrets { path }));
        }
        // What does more than read has been asked about, or the cage holds it.
        if !reads {
            return None;
        }
        let home = self.fence.home();
        let elsewhere = |spot: &&Spot| {
            let above = recurses(name) && home.starts_with(&spot.real);
            !spot.inside && (spot.real.starts_with(home) || above)
        };
        let outside = named.spots.iter().filter(elsewhere).map(|it| self.judge_read("bash", it));
        if let Some(verdict) = outside.into_iter().find(|it| it.decision != Decision::Allow) {
            return Some(verdict);
        }
        if named.unknown && (self.has_file_rules() || self.cage == CageState::Missing) {
            return Some(Verdict::ask(Reason::UnknownFiles));
        }
        self.judge_folders(command, &named.spots, known)
    }

    /// Whether a deny or ask rule is about files.
    fn has_file_rules(&self) -> bool {
        self.rules.deny.iter().chain(&self.rules.ask).any(Rule::is_about_files)
    }

    /// A reader that goes through folders meets the files a rule closes.
    fn judge_folders(&self, command: &Simple, spots: &[Spot], known: &Known) -> Option<Verdict> {
        let depth = closed::reading_depth(command)?;
        let mut folders: Vec<&Path> =
            spots.iter().map(|spot| spot.real.as_path()).filter(|path| path.is_dir()).collect();
        match &known.folders {
            Folders::Known(start) if folders.is_empty() => {
                folders.extend(start.iter().map(PathBuf::as_path));
            }
            Folders::Known(_) | Folders::Lost => {}
        }
        for folder in folders {
            let found = self.closed_below(folder, depth);
            if let Some(place) = found.places.first() {
                let path = place.strip_prefix(self.fence.folder()).unwrap_or(place);
                let path = path.display().to_string();
                return Some(Verdict::ask(Reason::ReadsDeniedFile { path }));
            }
            if found.cut_short {
                return Some(Verdict::ask(Reason::TooManyFiles));
            }
        }
        None
    }

    /// A command that does more than read and names a place that others obey later.
    pub(super) fn find_persistent<'k>(&self, known: &'k Known) -> Option<&'k Simple> {
        let writing = known.script.all_commands();
        let index = known.commands(self.fence).position(|(command, named)| {
            command.read_only().is_err()
                && named().spots.iter().any(|spot| self.is_persistent(spot))
        })?;
        writing.get(index).copied()
    }
}

/// Readers that do not open what they name.
fn opens_files(program: &str) -> bool {
    ![
        "echo", "printf", "ls", "stat", "basename", "dirname", "realpath", "readlink", "test", "[",
        "[[",
    ]
    .iter()
    .chain(&["which", "whereis", "type", "cd", "true", "false", ":", "seq", "expr", "sleep", "du"])
    .any(|it| *it == program)
}

fn recurses(program: &str) -> bool {
    ["grep", "egrep", "fgrep", "rg", "find", "fd", "fdfind", "tree"].contains(&program)
}

fn is_terminal(path: &str) -> bool {
    ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero"]
        .contains(&path)
}

/// Places that hold nothing of anybody.
fn is_system(path: &Path) -> bool {
    ["/usr", "/etc/os-release", "/dev/urandom", "/dev/random"].iter().any(|it| path.starts_with(it))
}
