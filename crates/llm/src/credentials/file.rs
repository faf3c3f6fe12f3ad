//! The credentials file: read whole, written whole, by one process at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{CredentialsError, Index};

/// Reads the file; a file that is not there holds nothing.
pub(super) fn read(path: &Path) -> Result<Index, CredentialsError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Index::default()),
        Err(source) => return Err(failed(path, source)),
    };
    serde_json::from_slice(&text)
        .map_err(|source| CredentialsError::Damaged { path: path.to_owned(), source })
}

/// Changes the file. Others who change it at the same time wait, and readers see old or new, never half.
pub(super) fn update(path: &Path, change: impl FnOnce(&mut Index)) -> Result<(), CredentialsError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_private_folder(folder).map_err(|source| failed(folder, source))?;
    let lock = with_ending(path, "lock");
    let guard = private(OpenOptions::new().create(true).write(true).truncate(false))
        .open(&lock)
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|source| failed(&lock, source))?;
    let mut index = read(path)?;
    change(&mut index);
    let text = serde_json::to_vec_pretty(&index)
        .map_err(|source| CredentialsError::Damaged { path: path.to_owned(), source })?;
    replace(path, &text).map_err(|source| failed(path, source))?;
    drop(guard);
    Ok(())
}

/// Makes the file unreadable for other users; tells whether it was readable.
pub(super) fn tighten(path: &Path) -> Result<bool, CredentialsError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = match fs::metadata(path) {
            Ok(facts) => facts.permissions().mode(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(source) => return Err(failed(path, source)),
        };
        if mode & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))
                .map_err(|source| failed(path, source))?;
            return Ok(true);
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(false)
}

/// Writes beside the file and renames over it. The lock is held, so one name beside it is enough;
/// what a killed process left there is thrown away.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let beside = with_ending(path, "new");
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file: File = private(OpenOptions::new().create_new(true).write(true)).open(&beside)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

fn failed(path: &Path, source: io::Error) -> CredentialsError {
    CredentialsError::File { path: path.to_owned(), source }
}
