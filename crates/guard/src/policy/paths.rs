//! Which places a command's words mean.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use super::repository::discover;
use crate::fence::{Fence, Spot};
use crate::shell::{Meaning, Script, Simple, Word};

/// Most folders a line may wander through before we lose track.
const MOST_FOLDERS: usize = 8;
/// Most files a pattern is held against.
const MOST_FILES: usize = 2_000;

/// The folders that a line's relative paths may begin in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Folders {
    /// One of these.
    Known(Vec<PathBuf>),
    /// It goes where only running it would tell.
    Lost,
}

impl Folders {
    /// Follows every `cd` of a line that starts in `start`.
    pub(super) fn of(script: &Script, start: &Path, fence: &Fence) -> Self {
        let mut folders = vec![start.to_owned()];
        for command in script.all_commands() {
            match command.program_name() {
                Some("cd") => {}
                Some("pushd" | "popd") => return Self::Lost,
                Some(_) | None => continue,
            }
            let operands: Vec<&Word> = command
                .arguments()
                .iter()
                .filter(|it| it.plain().is_none_or(|it| !matches!(it, "-P" | "-L" | "--" | "-e")))
                .collect();
            let target = match operands.as_slice() {
                [] => "~",
                [one] if is_top_of_repository(one) => {
                    let tops =
                        folders.iter().filter_map(|it| discover(it)?.parent().map(Path::to_owned));
                    let tops: Vec<PathBuf> = tops.collect();
                    folders.extend(tops);
                    continue;
                }
                [one] => match one.plain() {
                    Some(text) if text != "-" => text,
                    Some(_) | None => return Self::Lost,
                },
                [_, _, ..] => return Self::Lost,
            };
            let new: Vec<PathBuf> =
                folders.iter().map(|folder| join(folder, target, fence)).collect();
            folders.extend(new);
            folders.sort();
            folders.dedup();
            if folders.len() > MOST_FOLDERS {
                return Self::Lost;
            }
        }
        Self::Known(folders)
    }

    /// The places a path may be; none if that cannot be told.
    pub(super) fn locate(&self, path: &str, fence: &Fence) -> Option<Vec<Spot>> {
        let anchored = path.starts_with('/') || path == "~" || path.starts_with("~/");
        match self {
            Self::Lost if !anchored => None,
            Self::Lost => fence.locate(path).ok().map(|spot| vec![spot]),
            Self::Known(folders) => {
                folders.iter().map(|folder| fence.locate(join(folder, path, fence)).ok()).collect()
            }
        }
    }
}

/// `$(git rev-parse --show-toplevel)`, which is known without running it.
fn is_top_of_repository(word: &Word) -> bool {
    word.raw.trim_matches('"') == "$(git rev-parse --show-toplevel)"
}

fn join(folder: &Path, path: &str, fence: &Fence) -> PathBuf {
    match path.strip_prefix('~') {
        Some("") => fence.home().to_owned(),
        Some(rest) if rest.starts_with('/') => fence.home().join(&rest[1..]),
        Some(_) | None => folder.join(path),
    }
}

/// What a command's words name.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Places its words may mean. Many are no paths at all; that does no harm.
    pub(super) spots: Vec<Spot>,
    /// Whether a word may name a place that only running it would tell.
    pub(super) unknown: bool,
}

/// The places that a command's arguments name.
pub(super) fn named(command: &Simple, folders: &Folders, fence: &Fence) -> Named {
    #[cfg(test)]
    crate::counted::count(|counts| counts.lookups += 1);
    let mut all = Named::default();
    for word in command.arguments() {
        let texts = match &word.meaning {
            Meaning::Plain(text) => candidates(text),
            Meaning::Pattern(text) => {
                let mut texts = candidates(text);
                match (folders, expand(text, folders, fence)) {
                    (Folders::Known(_), Some(files)) => texts.extend(files),
                    (Folders::Known(_) | Folders::Lost, _) => all.unknown = true,
                }
                texts
            }
            Meaning::Number => continue,
            Meaning::Anchored(_) | Meaning::Unknown(_) => {
                all.unknown = true;
                continue;
            }
        };
        for text in texts {
            match folders.locate(&text, fence) {
                Some(spots) => all.spots.extend(spots),
                // A word too long for a path, or with a null, names none.
                None => all.unknown |= *folders == Folders::Lost,
            }
        }
    }
    all
}

/// The paths that may hide in a word: `x`, `--file=x`, `-fx`, `@x`, `HEAD:x`, `if=x`.
fn candidates(word: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut push = |text: &str| {
        let text = text.trim_start_matches('@');
        if !text.is_empty() && text.len() < 4_096 && !text.contains('\0') {
            all.push(text.to_owned());
        }
    };
    if word.starts_with('-') {
        if !word.starts_with("--") && word.is_char_boundary(2.min(word.len())) {
            push(&word[2.min(word.len())..]);
        }
    } else {
        push(word);
    }
    for mark in ['=', ':'] {
        if let Some((_, rest)) = word.split_once(mark) {
            push(rest);
        }
    }
    all
}

/// The files that fit a pattern now; none if there are too many to tell.
fn expand(pattern: &str, folders: &Folders, fence: &Fence) -> Option<Vec<String>> {
    let Folders::Known(folders) = folders else { return None };
    let mut found = Vec::new();
    let mut budget = MOST_FILES;
    for folder in folders {
        let full = join(folder, pattern, fence);
        let mut bases = vec![PathBuf::from("/")];
        for part in full.components().skip(1) {
            let name = part.as_os_str().to_string_lossy();
            let mut next = Vec::new();
            for base in bases {
                if !name.contains(['*', '?', '[']) {
                    next.push(base.join(name.as_ref()));
                    continue;
                }
                let glob = GlobBuilder::new(&name).literal_separator(true).build().ok()?;
                let glob = glob.compile_matcher();
                for entry in std::fs::read_dir(&base).into_iter().flatten().flatten() {
                    budget = budget.checked_sub(1)?;
                    if glob.is_match(entry.file_name()) {
                        next.push(entry.path());
                    }
                }
            }
            bases = next;
        }
        found.extend(bases.into_iter().map(|path| path.to_string_lossy().into_owned()));
    }
    Some(found)
}

/// Whether a place is one for temporary files.
pub(super) fn is_temporary(path: &Path) -> bool {
    path.starts_with("/tmp") || path.starts_with("/var/tmp")
}
