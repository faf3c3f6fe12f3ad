//! Which instruction files are looked for, and in which order: the machine's, the user's, then the
//! project's from its root down to the session's folder. What comes later lies nearer and counts more.

use std::fs;
use std::path::{Path, PathBuf};

use base::{Env, Paths};
use settings::Options;

use super::Scope;

/// Files of one folder of a project, in order. A slash at the end names a folder of rules. Those that
/// other programs read come first, ours last; personal ones after shared ones.
const IN_FOLDER: [&str; 15] = [
    ".github/copilot-instructions.md",
    ".cursorrules",
    ".cursor/rules/",
    "GEMINI.md",
    "CRUSH.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    ".claude/rules/",
    "AGENTS.md",
    "CAIMAN.md",
    "GEMINI.local.md",
    "CRUSH.local.md",
    "CLAUDE.local.md",
    "AGENTS.local.md",
    "CAIMAN.local.md",
];
/// What a folder of instructions may hold.
const ENDINGS: [&str; 3] = ["md", "mdc", "txt"];
/// How deep and how much a folder of instructions is looked into.
const DEPTH: usize = 4;
const FILES: usize = 100;

/// A file that may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) scope: Scope,
    /// Whether it may have a header that says for which files it is.
    pub(super) is_rule: bool,
}

/// Every file to look for, in the order of the prompt. `folders` go from the project's root down to the
/// session's.
pub(super) fn all(
    folders: &[PathBuf],
    paths: &Paths,
    env: &Env,
    options: &Options,
) -> Vec<Candidate> {
    let (home, mut all) = (paths.home(), Vec::new());
    for path in users(paths, env) {
        all.push(Candidate { path, scope: Scope::User, is_rule: false });
    }
    let claude_rules = claude_folder(home, env).join("rules");
    all.extend(below(&claude_rules).into_iter().map(|path| rule(path, Scope::User)));
    for path in &options.global_context_paths {
        named(&home.join(untilded(path, home)), Scope::User, &mut all);
    }
    for folder in folders {
        all.extend(in_folder(folder));
    }
    for path in &options.context_paths {
        if let Some(place) = placed(path, home, folders) {
            let inside = folders.first().is_some_and(|root| place.starts_with(root));
            named(&place, if inside { Scope::Project } else { Scope::User }, &mut all);
        }
    }
    all
}

/// The instruction files that one folder of a project has.
pub(super) fn in_folder(folder: &Path) -> Vec<Candidate> {
    let mut found = Vec::new();
    for name in IN_FOLDER {
        if let Some(rules) = name.strip_suffix('/') {
            let rules = below(&folder.join(rules));
            found.extend(rules.into_iter().map(|path| rule(path, Scope::Project)));
        } else {
            // A spelling that is a dangling link must not hide another one.
            let path = variants(name).map(|name| folder.join(name)).find(|path| path.exists());
            let candidate = |path| Candidate { path, scope: Scope::Project, is_rule: false };
            found.extend(path.map(candidate));
        }
    }
    found
}

/// The ways people write a name: as it is, in small letters, with one capital. Only the first that is there
/// counts.
fn variants(name: &str) -> impl Iterator<Item = String> {
    let (folder, file) = name.rsplit_once('/').map_or(("", name), |(at, file)| (at, file));
    let (stem, rest) = file.split_once('.').unwrap_or((file, ""));
    let shouted = stem.len() > 1 && stem.bytes().all(|byte| byte.is_ascii_uppercase());
    let small = stem.to_ascii_lowercase();
    let capital = format!("{}{}", &stem[..stem.len().min(1)], small.get(1..).unwrap_or_default());
    let others = if shouted { vec![small, capital] } else { Vec::new() };
    let whole = move |stem: String| Path::new(folder).join(format!("{stem}.{rest}"));
    let all: Vec<String> = std::iter::once(name.to_owned())
        .chain(others.into_iter().map(|stem| whole(stem).display().to_string()))
        .collect();
    all.into_iter()
}

fn users(paths: &Paths, env: &Env) -> Vec<PathBuf> {
    let home = paths.home();
    let absolute = |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    vec![
        paths.system().join("AGENTS.md"),
        home.join(".gemini/GEMINI.md"),
        home.join(".codex/AGENTS.md"),
        config.join("crush/CRUSH.md"),
        claude_folder(home, env).join("CLAUDE.md"),
        config.join("AGENTS.md"),
        paths.config().join("AGENTS.md"),
        paths.config().join("CAIMAN.md"),
    ]
}

fn claude_folder(home: &Path, env: &Env) -> PathBuf {
    let moved = env.get("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    moved.unwrap_or_else(|| home.join(".claude"))
}

fn rule(path: PathBuf, scope: Scope) -> Candidate {
    Candidate { path, scope, is_rule: true }
}

/// A file, or what a folder holds.
fn named(path: &Path, scope: Scope, all: &mut Vec<Candidate>) {
    if path.is_dir() {
        all.extend(below(path).into_iter().map(|path| rule(path, scope)));
    } else {
        all.push(Candidate { path: path.to_owned(), scope, is_rule: false });
    }
}

/// Where a path of the settings is: in the session's folder, else at the project's root.
fn placed(path: &str, home: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = untilded(path, home);
    let near = folders.last()?.join(&path);
    if near.exists() { Some(near) } else { Some(folders.first()?.join(path)) }
}

fn untilded(path: &str, home: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(path),
    }
}

/// The instruction files below a folder, sorted by path. Links to folders are not followed.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut waiting = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten().take(FILES * 10) {
            let (path, kind) = (entry.path(), entry.file_type());
            if kind.is_ok_and(|kind| kind.is_dir()) {
                if depth < DEPTH {
                    waiting.push((path, depth + 1));
                }
            } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|e| ending == *e)) {
                files.push(path);
            }
        }
    }
    files.sort();
    files.truncate(FILES);
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_capitals_is_looked_for_in_three_spellings() {
        let spelt = |name| variants(name).collect::<Vec<_>>();
        assert_eq!(spelt("AGENTS.md"), ["AGENTS.md", "agents.md", "Agents.md"]);
        assert_eq!(spelt("CRUSH.local.md"), ["CRUSH.local.md", "crush.local.md", "Crush.local.md"]);
        let below = [".claude/CLAUDE.md", ".claude/claude.md", ".claude/Claude.md"];
        assert_eq!(spelt(".claude/CLAUDE.md"), below);
        assert_eq!(spelt(".cursorrules"), [".cursorrules"]);
    }
}
