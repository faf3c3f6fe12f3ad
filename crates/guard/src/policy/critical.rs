//! Deletes that are asked about in every mode: the system, the home folder, the workspace or what is above it.

use std::path::{Component, Path};

use super::Policy;
use super::paths::{Folders, is_temporary};
use super::run::{Known, Line};
use crate::shell::{self, Meaning, Simple, Word};

/// Folders of the system whose own folders belong to it as well.
const DEEP_SYSTEM: &[&str] = &[
    "usr",
    "etc",
    "var",
    "boot",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "bin",
    "sbin",
    "opt",
    "home",
    "Users",
    "mnt",
    "media",
    "srv",
    "System",
    "Library",
    "Applications",
    "private",
    "Volumes",
    "nix",
];

impl Policy {
    /// What a critical `rm` or `rmdir` of the line would delete.
    pub(super) fn critical(&self, line: &Line<'_>, known: Option<&Known<'_>>) -> Option<String> {
        let Some(known) = known else {
            let folders = Folders::Lost;
            return shell::fragments(line.command).iter().find_map(|fragment| {
                let mut words = fragment.split(' ');
                words.next().filter(|it| matches!(*it, "rm" | "rmdir" | "shred" | "unlink"))?;
                words.find(|word| self.is_critical(word, &folders)).map(str::to_owned)
            });
        };
        known.script.all_commands().into_iter().filter(|it| deletes(it)).find_map(|command| {
            let is_recursive = is_recursive(command);
            let operand = |word: &&Word| match &word.meaning {
                Meaning::Plain(text) | Meaning::Pattern(text) => {
                    self.is_critical(text, &known.folders)
                }
                // It begins with what is known, so that much decides.
                Meaning::Anchored(text) => self.is_critical(text, &known.folders),
                Meaning::Number => false,
                Meaning::Unknown(rest) => {
                    // An empty variable leaves what stands around it.
                    (!rest.is_empty() && self.is_critical(rest, &known.folders))
                        || self.may_be_critical(word, known, is_recursive)
                }
            };
            command.arguments().iter().find(operand).map(|word| word.raw.clone())
        })
    }

    /// Whether a word of unknown value may be a critical folder: a variable if the line gives it such a value,
    /// anything else (the output of a command, words of `xargs`) if the folder would go with all below it.
    fn may_be_critical(&self, word: &Word, known: &Known<'_>, is_recursive: bool) -> bool {
        let Some(name) = plain_variable(&word.raw) else {
            return is_recursive || word.raw.starts_with('~');
        };
        let set = known.script.assignments.iter().filter(|it| it.name == name);
        set.into_iter().any(|it| match &it.value.meaning {
            Meaning::Plain(text) | Meaning::Pattern(text) | Meaning::Anchored(text) => {
                self.is_critical(text, &known.folders)
            }
            Meaning::Number | Meaning::Unknown(_) => false,
        })
    }

    fn is_critical(&self, text: &str, folders: &Folders) -> bool {
        if text.starts_with('-') || text.is_empty() {
            return false;
        }
        let base = before_wildcard(text);
        let Some(spots) = folders.locate(&base, &self.fence) else {
            return matches!(base.as_str(), "." | "..") || base.starts_with("../");
        };
        let home = self.fence.home();
        spots.iter().any(|spot| {
            [&spot.asked, &spot.real].iter().any(|path| {
                self.fence.roots().iter().any(|root| root.starts_with(path))
                    || home.starts_with(path)
                    || is_system(path)
            })
        })
    }
}

/// The name of the variable that a word is, in quotes or not.
fn plain_variable(raw: &str) -> Option<&str> {
    let bare = raw.trim_matches('"').trim_end_matches('/');
    let name = bare.strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(name);
    let is_name = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    (is_name && !name.is_empty()).then_some(name)
}

fn deletes(command: &Simple) -> bool {
    matches!(command.program_name(), Some("rm" | "rmdir" | "shred" | "unlink"))
}

fn is_recursive(command: &Simple) -> bool {
    command.arguments().iter().any(|word| match word.plain() {
        Some(text) if text.starts_with("--") => "--recursive".starts_with(text),
        Some(text) => text.starts_with('-') && text.contains(['r', 'R']),
        None => false,
    })
}

/// The folder that is deleted as a whole or emptied: a path without its end that fits every name in it. `build/*.o`
/// stands for itself, `build/*` and `build/[a-z]*` stand for `build`.
fn before_wildcard(text: &str) -> String {
    let mut kept = String::new();
    for (at, part) in text.split('/').enumerate() {
        if fits_any_name(part) {
            break;
        }
        if at > 0 {
            kept.push('/');
        }
        kept.push_str(part);
    }
    match kept.as_str() {
        "" if text.starts_with('/') => "/".to_owned(),
        "" => ".".to_owned(),
        _ => kept,
    }
}

/// Whether a part of a path is a pattern without a letter of its own: `*`, `?*`, `**`, `[a-z]*`, `.*`.
fn fits_any_name(part: &str) -> bool {
    if !part.contains(['*', '?', '[']) {
        return false;
    }
    let mut in_class = false;
    part.chars().all(|letter| {
        match letter {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        in_class || matches!(letter, '*' | '?' | ']' | '.' | '{' | '}' | ',' | '!')
    })
}

/// Whether a path is a folder of the system: directly below the root, or directly below a folder that belongs to the
/// system as a whole.
fn is_system(path: &Path) -> bool {
    if is_temporary(path) && path != Path::new("/tmp") && path != Path::new("/var/tmp") {
        return false;
    }
    let parts: Vec<&str> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => None,
        })
        .collect();
    match parts.as_slice() {
        [] | [_] => true,
        ["usr", "local", _] | ["var", "lib" | "log" | "cache", _] => true,
        [first, _] => DEEP_SYSTEM.contains(first),
        [_, _, _, ..] => false,
    }
}
