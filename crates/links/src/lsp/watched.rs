//! Files that change without us: commands make, change and delete them, and a server that wants to hear of it is told.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::documents::Stamp;

/// Most files of a project that are looked at.
const FILES: usize = 20_000;

/// What the disk says of the files of a project, those left out that it ignores.
pub(crate) type Files = HashMap<PathBuf, Stamp>;

/// Looks at the files below a folder.
pub(crate) fn look(root: &Path) -> Files {
    let walk = WalkBuilder::new(root).require_git(false).follow_links(false).build();
    let files = walk.flatten().filter_map(|entry| {
        let found = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((entry.into_path(), (found.modified().ok()?, found.len())))
    });
    files.take(FILES).collect()
}

/// What has become of the files since: 1 made, 2 changed, 3 deleted.
pub(crate) fn changes(before: &Files, now: &Files) -> Vec<(PathBuf, u8)> {
    let mut changes: Vec<(PathBuf, u8)> = Vec::new();
    for (path, stamp) in now {
        match before.get(path) {
            None => changes.push((path.clone(), 1)),
            Some(old) if old != stamp => changes.push((path.clone(), 2)),
            Some(_) => {}
        }
    }
    // Of a project that is too large some files are not seen: they may be there.
    if now.len() < FILES {
        let gone = before.keys().filter(|path| !now.contains_key(*path));
        changes.extend(gone.map(|path| (path.clone(), 3)));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_came_changed_or_went_are_told_and_ignored_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        for (name, text) in [(".gitignore", "*.log\n"), ("stays", ""), ("grows", ""), ("goes", "")]
        {
            write(name, text);
        }
        let before = look(folder.path());
        write("comes", "");
        write("a.log", "");
        write("grows", "longer");
        std::fs::remove_file(folder.path().join("goes")).unwrap();
        let mut told: Vec<(String, u8)> = changes(&before, &look(folder.path()))
            .into_iter()
            .map(|(path, kind)| (path.file_name().unwrap().to_string_lossy().into_owned(), kind))
            .collect();
        told.sort();
        assert_eq!(
            told,
            [("comes".to_owned(), 1), ("goes".to_owned(), 3), ("grows".to_owned(), 2)]
        );
    }
}
