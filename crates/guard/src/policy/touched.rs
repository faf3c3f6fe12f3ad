//! The files a command line touches: by redirects, and by what its words name.

use std::path::{Path, PathBuf};

use base::protocol::Mode;

use super::closed;
use super::paths::{self, Folders, is_temporary};
use super::run::Known;
use super::{CageState, Decision, Policy, Verdict};
use crate::action::Taint;
use crate::fence::Spot;
use crate::rule::Rule;
use crate::shell::{self, Direction, Meaning, Redirect, Simple};

impl Policy {
    /// What is said about the files that redirects name.
    pub(super) fn redirects_standing(
        &self,
        tool: &str,
        known: &Known<'_>,
        taint: &Taint,
    ) -> Vec<Verdict> {
        let all = known.script.all_redirects().into_iter();
        all.filter_map(|redirect| self.redirect_standing(tool, redirect, known, taint)).collect()
    }

    pub(super) fn redirect_standing(
        &self,
        tool: &str,
        redirect: &Redirect,
        known: &Known<'_>,
        taint: &Taint,
    ) -> Option<Verdict> {
        let caged = self.cage == CageState::Works;
        let raw = &redirect.target.raw;
        if shell::is_network(&redirect.target) {
            return Some(Verdict::ask(format!("{raw} is a connection")));
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
                return Some(Verdict::ask(format!(
                    "the target of `{raw}` is only known when the command runs"
                )));
            }
        };
        let Some(spots) = known.folders.locate(text, &self.fence) else {
            return Some(Verdict::ask(format!(
                "the folder of `{raw}` is only known when the command runs"
            )));
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

    /// What is said about secrets, and other people's places, that a line names.
    pub(super) fn secrets_standing(&self, known: &Known<'_>) -> Option<Verdict> {
        known.script.all_commands().into_iter().find_map(|it| self.reads_standing(it, known))
    }

    pub(super) fn reads_standing(&self, command: &Simple, known: &Known<'_>) -> Option<Verdict> {
        let named = paths::named(command, &known.folders, &self.fence);
        let reads = command.read_only().is_ok();
        let name = command.program_name().unwrap_or_default();
        if reads && !opens_files(name) {
            return None;
        }
        let secret = |spot: &&Spot| self.is_secret(spot) && self.allows_secret(spot).is_none();
        if let Some(spot) = named.spots.iter().find(secret) {
            return Some(Verdict::ask(format!("{} may hold secrets", self.fence.name(spot))));
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
            return Some(Verdict::ask("which files it reads is only known when the command runs"));
        }
        self.closed_standing(command, &named.spots, known)
    }

    /// Whether a deny or ask rule is about files.
    fn has_file_rules(&self) -> bool {
        self.rules.deny.iter().chain(&self.rules.ask).any(Rule::is_about_files)
    }

    /// A reader that goes through folders meets the files a rule closes.
    fn closed_standing(
        &self,
        command: &Simple,
        spots: &[Spot],
        known: &Known<'_>,
    ) -> Option<Verdict> {
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
                let name = place.strip_prefix(self.fence.folder()).unwrap_or(place).display();
                let why = format!(
                    "it would also read {name}, which a rule forbids; name the files to read"
                );
                return Some(Verdict::ask(why));
            }
            if found.cut_short {
                let why = "it reads too many files to tell whether a rule forbids one";
                return Some(Verdict::ask(why));
            }
        }
        None
    }

    /// Whether a command that does more than read names a place that others obey later.
    pub(super) fn names_persistent(&self, known: &Known<'_>) -> bool {
        known.script.all_commands().into_iter().filter(|it| it.read_only().is_err()).any(|it| {
            let named = paths::named(it, &known.folders, &self.fence);
            named.spots.iter().any(|spot| self.is_persistent(spot))
        })
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
