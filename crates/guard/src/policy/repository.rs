//! Whether git, run in a folder, reads the repository of the session. Another one has settings of its own, which may
//! name programs that git starts.

use std::path::{Path, PathBuf};

use super::Judge;
use super::line::Known;
use super::paths::Folders;
use crate::shell::Simple;

impl Judge<'_> {
    /// A git command of the line that may read another repository than the session's.
    pub(super) fn foreign_repository<'k>(&self, known: &'k Known) -> Option<&'k Simple> {
        let own: Vec<Option<PathBuf>> =
            self.fence.roots().iter().map(|root| discover(root)).collect();
        let is_foreign = |command: &&Simple| {
            let Some(folders) = self.folders_of(command, &known.folders) else { return true };
            folders.iter().any(|folder| {
                let found = discover(folder);
                let is_inside = self.fence.roots().iter().any(|root| folder.starts_with(root));
                if found.is_some() { !own.contains(&found) } else { !is_inside }
            })
        };
        let git = |it: &&Simple| it.program_name() == Some("git");
        known.script.all_commands().into_iter().filter(git).find(is_foreign)
    }

    /// The folders a git command may run in; none if that is not known.
    fn folders_of(&self, command: &Simple, folders: &Folders) -> Option<Vec<PathBuf>> {
        let Folders::Known(start) = folders else { return None };
        let mut folders = start.clone();
        let mut words = command.arguments().iter();
        while let Some(word) = words.next() {
            let text = word.plain().unwrap_or_default();
            if !text.starts_with('-') {
                break;
            }
            if text == "-C" {
                let target = words.next()?.plain()?;
                let spots = Folders::Known(folders).locate(target, self.fence)?;
                folders = spots.into_iter().map(|spot| spot.real).collect();
            }
        }
        Some(folders)
    }
}

/// The git folder that git finds from a folder: the first above it that has a `.git` or is one itself.
pub(super) fn discover(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find_map(|above| {
        let own = above.join(".git");
        if own.symlink_metadata().is_ok() {
            return Some(own);
        }
        let is_bare = ["objects", "refs"].iter().all(|it| above.join(it).is_dir())
            && above.join("HEAD").symlink_metadata().is_ok();
        is_bare.then(|| above.to_owned())
    })
}
