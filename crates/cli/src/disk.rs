//! Files of the user's that commands write: settings and the list of trusted folders.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file so that a reader sees the old or the new one, never half of it. A new one is seen by
/// nobody but the user; an old one keeps its rights and, where it is a link, its place.
pub(crate) fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = fs::canonicalize(file);
    let file = target.as_deref().unwrap_or(file);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let draft = file.with_extension(format!("{}.tmp", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut open| {
        open.write_all(bytes)?;
        if let Ok(before) = fs::metadata(file) {
            fs::set_permissions(&draft, before.permissions())?;
        }
        open.sync_all()?;
        fs::rename(&draft, file)
    });
    if written.is_err() {
        // The draft may not exist; the first error is the one to tell.
        fs::remove_file(&draft).ok();
    }
    written
}
