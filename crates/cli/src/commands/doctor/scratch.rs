//! A folder for the checks, in the temporary folder and for this user only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder; removed when dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes one under a name nobody has.
    pub(super) fn new() -> io::Result<Self> {
        let parent = fs::canonicalize(std::env::temp_dir())?;
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        for number in 0..100 {
            let folder = parent.join(format!("caiman-doctor-{}-{number}", std::process::id()));
            match builder.create(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self(folder)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes a file in it, folders included.
    pub(super) fn write(&self, below: &str, text: &str) -> io::Result<()> {
        let path = self.0.join(below);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed lies in the temporary folder, for its owner only.
        fs::remove_dir_all(&self.0).ok();
    }
}
