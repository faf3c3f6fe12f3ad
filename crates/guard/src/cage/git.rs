//! The folders of a repository, by whatever name: `.git` may be a file that names another folder, which may name a
//! third, and the configuration may name folders of hooks and more files of configuration.

use std::fs;
use std::path::{Path, PathBuf};

/// Most folders directly in a workspace that are looked at for repositories of their own.
const NESTED_LIMIT: usize = 512;
/// Longest file of git's that is read.
const FILE_LIMIT: u64 = 256 * 1024;
/// How deep configuration may include configuration.
const INCLUDE_DEPTH: usize = 5;

/// What git obeys in a workspace folder and one level below it, besides `.git` itself: none of it lies above the
/// folder.
pub(super) fn obeyed(root: &Path, home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    repository(root, home, &mut found);
    for folder in folders(root) {
        let git = folder.join(".git");
        if exists(&git) {
            found.push(git);
        }
        repository(&folder, home, &mut found);
    }
    for settings in [home.join(".gitconfig"), home.join(".config/git/config")] {
        configuration(&settings, root, home, INCLUDE_DEPTH, &mut found);
    }
    found.sort();
    found.dedup();
    // Who has all of the workspace for hooks wants to work in it all the same.
    found.retain(|place| !root.starts_with(place));
    found
}

/// What belongs to the repository whose work tree is `tree`.
fn repository(tree: &Path, home: &Path, found: &mut Vec<PathBuf>) {
    let git = tree.join(".git");
    let folder = match fs::metadata(&git) {
        Ok(it) if it.is_dir() => fs::canonicalize(&git).ok(),
        Ok(_) => named_in(&git, "gitdir:").map(|named| real(&tree.join(named))),
        Err(_) if is_bare(tree) => {
            found.extend(["config", "hooks", "info", "config.worktree"].map(|it| tree.join(it)));
            Some(tree.to_owned())
        }
        Err(_) => None,
    };
    let Some(folder) = folder else { return };
    let common = named_in(&folder.join("commondir"), "").map(|named| real(&folder.join(named)));
    for folder in [Some(folder), common].into_iter().flatten() {
        if folder != tree {
            found.push(folder.clone());
        }
        for file in ["config", "config.worktree"] {
            configuration(&folder.join(file), tree, home, INCLUDE_DEPTH, found);
        }
    }
}

/// Adds the hooks and the further files that a file of configuration names.
fn configuration(file: &Path, tree: &Path, home: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Some(text) = read(file) else { return };
    let mut section = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.split([']', ' ', '"']).next().unwrap_or_default().to_lowercase();
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim().trim_matches('"');
        match (section.as_str(), key.trim().to_lowercase().as_str()) {
            // Git takes it from where hooks run: the top of the work tree.
            ("core", "hookspath") => found.push(real(&resolved(value, tree, home))),
            ("include" | "includeif", "path") if depth > 0 => {
                let beside = file.parent().unwrap_or(tree);
                let more = real(&resolved(value, beside, home));
                configuration(&more, tree, home, depth - 1, found);
                found.push(more);
            }
            _ => {}
        }
    }
}

fn resolved(value: &str, from: &Path, home: &Path) -> PathBuf {
    match value.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => from.join(value),
    }
}

/// The path that a file of one line names.
fn named_in(file: &Path, before: &str) -> Option<PathBuf> {
    let text = read(file)?;
    let named = text.lines().next()?.trim().strip_prefix(before)?.trim();
    (!named.is_empty()).then(|| PathBuf::from(named))
}

fn read(file: &Path) -> Option<String> {
    let found = fs::metadata(file).ok()?;
    if !found.is_file() || found.len() > FILE_LIMIT {
        return None;
    }
    fs::read(file).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether git takes a folder itself for a repository.
fn is_bare(folder: &Path) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|part| exists(&folder.join(part)))
}

fn folders(root: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).take(NESTED_LIMIT)
}

/// The path without links and dots, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|above| {
        let real = fs::canonicalize(above).ok()?;
        let below = path.strip_prefix(above).ok()?;
        // Joined with nothing, the path of a file would end like that of a folder.
        Some(if below.as_os_str().is_empty() { real } else { real.join(below) })
    });
    existing.unwrap_or_else(|| path.to_owned())
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        for (path, text) in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        (dir, root)
    }

    fn below(root: &Path) -> Vec<String> {
        let found = obeyed(&root.join("w"), &root.join("home"));
        let name = |it: &PathBuf| it.strip_prefix(root).unwrap().display().to_string();
        found.iter().map(name).collect()
    }

    #[test]
    fn a_git_file_leads_to_the_folder_and_to_the_common_one() {
        let (_dir, root) = tree(&[
            ("w/.git", "gitdir: ./.bare/worktrees/x\n"),
            ("w/.bare/worktrees/x/commondir", "../..\n"),
            ("w/.bare/config", "[core]\n\tbare = true\n"),
        ]);
        assert_eq!(below(&root), ["w/.bare", "w/.bare/worktrees/x"]);
    }

    #[test]
    fn hooks_and_included_files_are_found_wherever_they_are_named() {
        let (_dir, root) = tree(&[
            ("w/.git/config", "[CORE]\n hooksPath = tools/hooks\n[include]\npath = ../more\n"),
            ("w/more", "[core]\n\thookspath=\"other\"\n"),
            ("w/sub/.git/config", "[core]\nhooksPath = ../shared\n"),
            ("home/.gitconfig", "[core]\nhooksPath = .team\n"),
        ]);
        let expected =
            ["w/.git", "w/.team", "w/more", "w/other", "w/shared", "w/sub/.git", "w/tools/hooks"];
        assert_eq!(below(&root), expected);
    }

    #[test]
    fn a_bare_repository_keeps_its_configuration_and_hooks() {
        let (_dir, root) = tree(&[("w/HEAD", "x"), ("w/objects/x", ""), ("w/refs/x", "")]);
        assert_eq!(below(&root), ["w/config", "w/config.worktree", "w/hooks", "w/info"]);
    }

    #[test]
    fn a_workspace_that_is_its_own_folder_of_hooks_can_still_be_worked_in() {
        let (_dir, root) = tree(&[("w/.git/config", "[core]\nhooksPath = .\n")]);
        assert_eq!(below(&root), ["w/.git"]);
    }
}
