//! Which project a folder belongs to.

use std::path::{Path, PathBuf};

/// The root of the project `folder` is in: the nearest folder, itself included, that holds `.git`; without
/// one, the folder itself.
pub fn project_of(folder: &Path) -> PathBuf {
    let root = folder.ancestors().find(|ancestor| ancestor.join(".git").exists());
    root.unwrap_or(folder).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_begins_where_git_does() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("repo/src/deep");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(project_of(&deep), deep);
        std::fs::create_dir(dir.path().join("repo/.git")).unwrap();
        assert_eq!(project_of(&deep), dir.path().join("repo"));
    }
}
