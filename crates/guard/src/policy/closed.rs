//! Files that a deny rule closes, found on disk: for commands that read whole folders, and for the cage.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::{Judge, Policy};
use crate::fence::Spot;
use crate::protect;
use crate::rule::{Kind, Rule};
use crate::shell::Simple;

/// What was found below a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closed {
    /// Files and folders that may not be read.
    pub places: Vec<PathBuf>,
    /// Whether the search ended before all was seen.
    pub cut_short: bool,
}

/// Which files a search goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// All of them.
    Everything,
    /// Those that are neither hidden nor ignored.
    Visible,
}

/// Folders of other people's code, and of git, where no environment of the user's own is kept.
const OTHERS_FOLDERS: &[&str] = &["node_modules", ".git"];

/// Most files that are looked at for one command.
const MOST_ENTRIES: usize = 20_000;

impl Policy {
    /// What below a folder a deny rule keeps from being read. Without such rules nothing is looked at. Links
    /// are not followed.
    pub fn closed_below(&self, folder: &Path, depth: Depth) -> Closed {
        self.judge().closed_below(folder, depth)
    }

    /// Files below a folder that hold secrets for a program's environment, such as `.env`, and that no rule of the
    /// user's opens. The folders nearest to the top are looked at first, so that a limit cuts off what is deepest. Links
    /// are not followed.
    pub fn environment_files(&self, folder: &Path) -> Closed {
        self.judge().environment_files(folder)
    }

    /// Whether there is any deny rule about files.
    pub fn closes_some(&self) -> bool {
        self.judge().closes_some()
    }

    /// Whether a deny rule keeps a place from being read.
    pub fn closes(&self, spot: &Spot) -> bool {
        self.judge().closes(spot)
    }
}

impl Judge<'_> {
    pub(super) fn closed_below(&self, folder: &Path, depth: Depth) -> Closed {
        let mut closed = Closed::default();
        if !self.closes_some() {
            return closed;
        }
        #[cfg(test)]
        crate::counted::count(|counts| counts.walks += 1);
        let walk = WalkBuilder::new(folder)
            .standard_filters(depth == Depth::Visible)
            .follow_links(false)
            .build();
        for (count, entry) in walk.enumerate() {
            if count >= MOST_ENTRIES {
                closed.cut_short = true;
                break;
            }
            let Ok(entry) = entry else { continue };
            let path = entry.path();
            let real = if entry.path_is_symlink() {
                fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
            } else {
                path.to_owned()
            };
            let spot = Spot { asked: path.to_owned(), real, inside: true };
            if self.closes(&spot) {
                closed.places.push(path.to_owned());
            }
        }
        closed
    }

    fn environment_files(&self, folder: &Path) -> Closed {
        let mut closed = Closed::default();
        let mut folders = VecDeque::from([folder.to_owned()]);
        let mut count = 0;
        while let Some(folder) = folders.pop_front() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                count += 1;
                if count > MOST_ENTRIES {
                    closed.cut_short = true;
                    return closed;
                }
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    if !OTHERS_FOLDERS.contains(&entry.file_name().to_string_lossy().as_ref()) {
                        folders.push_back(path);
                    }
                } else if protect::is_environment_file(&path) {
                    let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
                    let spot = Spot { asked: path.clone(), real, inside: true };
                    if self.allows_secret(&spot).is_none() {
                        closed.places.push(path);
                    }
                }
            }
        }
        closed
    }

    fn closes_some(&self) -> bool {
        self.rules.deny.iter().any(Rule::is_about_files)
    }

    fn closes(&self, spot: &Spot) -> bool {
        self.rules.deny.iter().any(|rule| self.forbids(rule, Kind::Read, spot))
    }
}

/// How a reader goes through folders, if it does.
pub(super) fn reading_depth(command: &Simple) -> Option<Depth> {
    let flag = |letters: &[char], long: &[&str]| {
        command.arguments().iter().filter_map(|it| it.plain()).any(|text| {
            match text.strip_prefix("--") {
                Some(name) => long.iter().any(|it| it.starts_with(name) && !name.is_empty()),
                None => text.starts_with('-') && text.contains(letters),
            }
        })
    };
    match command.program_name()? {
        "grep" | "egrep" | "fgrep" => {
            let deep =
                flag(&['r', 'R', 'd'], &["recursive", "dereference-recursive", "directories"]);
            deep.then_some(Depth::Everything)
        }
        "diff" => flag(&['r'], &["recursive"]).then_some(Depth::Everything),
        "rg" if flag(&['u', '.'], &["hidden", "no-ignore", "unrestricted"]) => {
            Some(Depth::Everything)
        }
        "rg" => Some(Depth::Visible),
        _ => None,
    }
}
