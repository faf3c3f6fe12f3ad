//! Deletes that are asked about in every mode: the system, the home folder, the workspace or what is above it.

use std::path::{Component, Path};

use super::Judge;
use super::denials::{may_hide_commands, may_run_operands};
use super::line::{Known, Line};
use super::paths::{Folders, is_temporary};
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

/// Programs that delete what they are given.
const DELETES: &[&str] = &["rm", "rmdir", "shred", "unlink"];

impl Judge<'_> {
    /// What a critical delete of the line would delete, and the command that does it if that is known.
    pub(super) fn critical<'l>(&self, line: &'l Line<'_>) -> Option<(String, Option<&'l Simple>)> {
        let Ok(known) = &line.parsed else {
            return self.critical_fragment(&line.command).map(|target| (target, None));
        };
        let commands = known.script.all_commands();
        let moves = commands.iter().copied().any(changes_folder);
        let found: Vec<(String, &Simple)> = commands
            .into_iter()
            .filter_map(|command| Some((self.deleted_by(command, known, moves)?, command)))
            .collect();
        // The command that deletes, not a wrapper around it.
        let own = found.iter().position(|(_, command)| deletes(command)).unwrap_or_default();
        if let Some((target, command)) = found.into_iter().nth(own) {
            return Some((target, Some(command)));
        }
        let may_hide = may_hide_commands(&known.script);
        let hidden = may_hide.then(|| self.critical_fragment(&line.command)).flatten();
        hidden.map(|target| (target, None))
    }

    /// What a command would delete that is critical; `moves` if another command of the line changes the folder.
    fn deleted_by(&self, command: &Simple, known: &Known, moves: bool) -> Option<String> {
        let is_unknown =
            command.program().is_none() && command.words.iter().any(is_recursive_option);
        if deletes(command) && moves && command.words.iter().any(is_recursive_option) {
            return command.words.last().map(|word| word.raw.clone());
        }
        if deletes(command) || is_unknown {
            return self.deleted(&command.words, known);
        }
        if command.program_name() == Some("find") {
            return self.found_and_deleted(command, known);
        }
        // An unknown program may run the rest of its words.
        let start = command.words.iter().skip(1).position(|it| {
            it.plain().is_some_and(|it| DELETES.contains(&it.rsplit('/').next().unwrap_or(it)))
        })?;
        let runs = may_run_operands(command) && command.read_only().is_err();
        runs.then(|| self.deleted(&command.words[start + 1..], known)).flatten()
    }

    /// A critical operand in any piece of a line that may be a command. What a recursive delete gets from an expansion
    /// may be any folder.
    fn critical_fragment(&self, line: &str) -> Option<String> {
        let expands = line.contains(['$', '`']);
        shell::fragments(line).iter().find_map(|fragment| {
            let mut words = fragment.split(' ');
            words.next().filter(|it| DELETES.contains(it))?;
            let rest: Vec<&str> = words.collect();
            let is_recursive = rest.iter().any(|it| it.starts_with('-') && it.contains(['r', 'R']));
            if expands && is_recursive {
                return Some(fragment.clone());
            }
            rest.into_iter().find(|word| self.is_critical(word, &Folders::Lost)).map(str::to_owned)
        })
    }

    /// The first critical operand of a command that deletes.
    fn deleted(&self, words: &[Word], known: &Known) -> Option<String> {
        let is_recursive = words.iter().any(is_recursive_option);
        let is_critical = |word: &&Word| match &word.meaning {
            // A variable may have any of the values that the line gives it.
            Meaning::Anchored(_) if word.variable().is_some() => {
                self.may_be_critical(word, known, is_recursive)
            }
            // Of an anchored word the beginning is known, and decides.
            Meaning::Plain(text) | Meaning::Pattern(text) | Meaning::Anchored(text) => {
                self.is_critical(text, &known.folders)
            }
            Meaning::Number => false,
            Meaning::Unknown(rest) => {
                // An empty variable leaves what stands around it.
                (!rest.is_empty() && self.is_critical(rest, &known.folders))
                    || self.may_be_critical(word, known, is_recursive)
            }
        };
        words.iter().skip(1).find(is_critical).map(|word| word.raw.clone())
    }

    /// The first critical start point of a `find` that deletes what it finds. A test by name or age is enough for the
    /// workspace, but not for the system.
    fn found_and_deleted(&self, command: &Simple, known: &Known) -> Option<String> {
        const TESTS: &[&str] = &[
            "-name",
            "-iname",
            "-path",
            "-ipath",
            "-regex",
            "-iregex",
            "-wholename",
            "-lname",
            "-mtime",
            "-mmin",
            "-newer",
            "-empty",
            "-size",
            "-atime",
            "-ctime",
        ];
        let words: Vec<&str> = command.arguments().iter().filter_map(Word::plain).collect();
        let deletes = |it: &&str| DELETES.contains(&it.rsplit('/').next().unwrap_or(it));
        if !words.contains(&"-delete") && !words.iter().any(deletes) {
            return None;
        }
        let is_tested = words.iter().any(|it| TESTS.contains(it));
        let starts: Vec<&Word> = command
            .arguments()
            .iter()
            .take_while(|it| it.plain().is_none_or(|text| !text.starts_with(['-', '(', '!'])))
            .collect();
        let is_critical = |text: &str| {
            let whole = self.is_critical(text, &known.folders);
            let is_inside = || {
                let spots = known.folders.locate(text, self.fence).unwrap_or_default();
                spots.iter().all(|spot| spot.inside)
            };
            whole && !(is_tested && is_inside())
        };
        if starts.is_empty() {
            return is_critical(".").then(|| ".".to_owned());
        }
        let hit = |word: &&&Word| match &word.meaning {
            Meaning::Plain(text) | Meaning::Pattern(text) | Meaning::Anchored(text) => {
                is_critical(text)
            }
            Meaning::Number => false,
            Meaning::Unknown(_) => word.variable().is_none(),
        };
        starts.iter().find(hit).map(|word| word.raw.clone())
    }

    /// Whether a word of unknown value may be a critical folder: a variable if the line gives it such a value,
    /// anything else (the output of a command, words of `xargs`) if the folder would go with all below it.
    fn may_be_critical(&self, word: &Word, known: &Known, is_recursive: bool) -> bool {
        let Some(name) = word.variable() else {
            return is_recursive || word.raw.starts_with('~');
        };
        if is_recursive && matches!(name, "HOME" | "PWD" | "OLDPWD") {
            return true;
        }
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
        let Some(spots) = folders.locate(&base, self.fence) else {
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

/// Whether a wrapper runs its command in another folder: `env -C`, `sudo -D`.
fn changes_folder(command: &Simple) -> bool {
    let options: &[&str] = match command.program_name() {
        Some("env") => &["-C", "--chdir"],
        Some("sudo") => &["-D", "--chdir"],
        Some(_) | None => return false,
    };
    let texts = command.arguments().iter().filter_map(Word::plain);
    texts.into_iter().any(|text| options.iter().any(|it| text.starts_with(it)))
}

fn deletes(command: &Simple) -> bool {
    command.program_name().is_some_and(|name| DELETES.contains(&name))
}

fn is_recursive_option(word: &Word) -> bool {
    match word.plain() {
        Some(text) if text.starts_with("--") => text.len() > 2 && "--recursive".starts_with(text),
        Some(text) => text.starts_with('-') && text.contains(['r', 'R']),
        None => false,
    }
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
        ["dev", "shm", ..] => false,
        ["proc" | "sys" | "dev", ..]
        | []
        | [_]
        | ["usr", "local", _]
        | ["var", "lib" | "log" | "cache", _] => true,
        [first, _] => DEEP_SYSTEM.contains(first),
        [_, _, _, ..] => false,
    }
}
