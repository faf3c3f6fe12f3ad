//! Using a canonical path where the system has no calls relative to an open folder: it is resolved once
//! more just before, which narrows the gap between look and use but does not close it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::{Entry, EntryKind, moved, refused, split};

pub(super) fn open(path: &Path) -> io::Result<File> {
    unmoved(path)?;
    plain_file(path)?;
    File::open(path)
}

pub(super) fn read_dir(path: &Path) -> io::Result<Vec<Entry>> {
    unmoved(path)?;
    let mut entries = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let found = entry.file_type()?;
        let kind = if found.is_symlink() {
            EntryKind::Link
        } else if found.is_dir() {
            EntryKind::Folder
        } else if found.is_file() {
            EntryKind::File
        } else {
            EntryKind::Special
        };
        entries.push(Entry { name: entry.file_name(), kind });
    }
    Ok(entries)
}

pub(super) fn replace(path: &Path, content: &mut dyn Read, _mode: Option<u32>) -> io::Result<()> {
    let (parent, _) = split(path)?;
    unmoved(path)?;
    fs::create_dir_all(parent)?;
    let beside = parent.join(format!(".caiman-{:08x}", std::process::id()));
    let written = File::create_new(&beside)
        .and_then(|mut file| io::copy(content, &mut file))
        .and_then(|_| match fs::metadata(path) {
            Ok(_) => plain_file(path),
            Err(_) => Ok(()),
        })
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _gone = fs::remove_file(&beside).is_ok();
    }
    written
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    unmoved(from)?;
    unmoved(to)?;
    plain_file(from)?;
    fs::create_dir_all(split(to)?.0)?;
    fs::rename(from, to)
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    unmoved(path)?;
    plain_file(path)?;
    fs::remove_file(path)
}

fn unmoved(path: &Path) -> io::Result<()> {
    match super::real::path(path) {
        Ok(real) if real == path => Ok(()),
        Ok(_) | Err(_) => Err(moved(path)),
    }
}

fn plain_file(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if found.is_file() { Ok(()) } else { Err(refused("it is not a file")) }
}
