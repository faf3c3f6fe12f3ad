//! What may have been meant by a path that leads nowhere.

use std::path::{Path, PathBuf};

use guard::{EntryKind, Spot};
use ignore::WalkBuilder;

use super::shown_name;
use crate::workspace::Workspace;

/// Suggestions given, at most.
const GIVEN: usize = 3;
/// Names looked at, at most: a hint is not worth more.
const LOOKED_AT: usize = 20_000;

/// Files whose names are like the one asked for: in the same folder, or the same name elsewhere. Only
/// inside the fence; what lies outside is nobody's to list.
pub(crate) fn near_misses(workspace: &Workspace, spot: &Spot) -> Vec<String> {
    let (true, Some(name)) = (spot.inside, spot.real.file_name()) else { return Vec::new() };
    let name = shown_name(name);
    let mut found = like_it_here(workspace, spot, &name);
    if found.len() < GIVEN {
        found.extend(same_name_elsewhere(workspace, spot));
    }
    let mut given: Vec<String> = Vec::new();
    for path in found {
        let path = name_of(workspace, &path);
        if given.len() < GIVEN && !given.contains(&path) {
            given.push(path);
        }
    }
    given
}

fn name_of(workspace: &Workspace, path: &Path) -> String {
    match path.strip_prefix(workspace.fence.folder()) {
        Ok(below) => below.display().to_string(),
        Err(_) => workspace.fence.shown(path).display().to_string(),
    }
}

fn like_it_here(workspace: &Workspace, spot: &Spot, name: &str) -> Vec<PathBuf> {
    let Some(folder) = spot.real.parent() else { return Vec::new() };
    if !workspace.fence.roots().iter().any(|root| folder.starts_with(root)) {
        return Vec::new();
    }
    let here = Spot { asked: folder.to_owned(), real: folder.to_owned(), inside: true };
    let Ok(entries) = workspace.fence.read_dir(&here) else { return Vec::new() };
    let wanted = stem_and_end(name);
    let slips = (wanted.0.chars().count() / 3).clamp(1, 3);
    let mut near: Vec<(usize, PathBuf)> = Vec::new();
    for entry in entries.into_iter().take(LOOKED_AT) {
        if entry.kind == EntryKind::Special {
            continue;
        }
        let there = stem_and_end(&shown_name(&entry.name));
        if there.0.chars().count().abs_diff(wanted.0.chars().count()) > slips {
            continue;
        }
        let distance = distance(&there.0, &wanted.0);
        if distance <= slips {
            near.push((distance + usize::from(there.1 != wanted.1), folder.join(entry.name)));
        }
    }
    near.sort();
    near.into_iter().map(|(_, path)| path).collect()
}

/// A file name in lower case, in two parts: nobody slips in `.rs`.
fn stem_and_end(name: &str) -> (String, String) {
    let name = name.to_lowercase();
    match name.rsplit_once('.') {
        Some((stem, end)) if !stem.is_empty() => (stem.to_owned(), end.to_owned()),
        Some(_) | None => (name, String::new()),
    }
}

/// Files of that name anywhere in the workspace; those first whose folders are the same from below.
fn same_name_elsewhere(workspace: &Workspace, spot: &Spot) -> Vec<PathBuf> {
    let walk = WalkBuilder::new(workspace.fence.folder()).follow_links(false).build();
    let mut found: Vec<PathBuf> = walk
        .take(LOOKED_AT)
        .filter_map(|entry| Some(entry.ok()?.into_path()))
        .filter(|path| path.file_name() == spot.real.file_name())
        .collect();
    let alike = |path: &PathBuf| {
        let (one, other) = (path.components().rev(), spot.real.components().rev());
        one.zip(other).take_while(|(one, other)| one == other).count()
    };
    found.sort_by_key(|path| (std::cmp::Reverse(alike(path)), path.clone()));
    found
}

/// How many letters must be put in, left out, changed or swapped to make one name of the other.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, wanted) in other.iter().enumerate() {
            let changed = row[j] + usize::from(letter != wanted);
            let mut best = changed.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *letter == other[j - 1] && one[i - 1] == *wanted {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_slips_of_the_finger() {
        assert_eq!(distance("main.rs", "main.rs"), 0);
        assert_eq!(distance("mian.rs", "main.rs"), 1);
        assert_eq!(distance("mai.rs", "main.rs"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
