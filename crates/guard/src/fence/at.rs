//! Using a canonical path without following links: folders are opened so that the kernel refuses a link
//! anywhere in them, and files are reached by name from the open folder.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use rustix::fs::{self, Access, AtFlags, Dir, FileType, Gid, Mode, OFlags, RawMode, Stat, Uid};
use rustix::io::Errno;

use super::{Entry, EntryKind, moved, refused, split};

/// How a folder is opened that is only a place to start from.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(CAREFUL);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(CAREFUL);

const CAREFUL: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

pub(super) fn open(path: &Path) -> io::Result<File> {
    let (parent, name) = split(path)?;
    let folder = open_folder(parent)?;
    // Looked at before it is opened, because opening a device can do something; and after, because it can
    // have changed. A pipe nobody writes to must not hold us.
    plain_file(&look(&folder, name, path)?.ok_or(Errno::NOENT)?)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | CAREFUL;
    let file = fs::openat(&folder, name, flags, Mode::empty())
        .map_err(|error| if error == Errno::LOOP { moved(path) } else { error.into() })?;
    plain_file(&fs::fstat(&file)?)?;
    Ok(file.into())
}

pub(super) fn read_dir(path: &Path) -> io::Result<Vec<Entry>> {
    let folder = open_folder(path)?;
    let listed =
        fs::openat(&folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | CAREFUL, Mode::empty())?;
    let mut entries = Vec::new();
    for entry in Dir::new(listed)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let mut kind = entry.file_type();
        if kind == FileType::Unknown {
            match fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => kind = FileType::from_raw_mode(found.st_mode),
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            }
        }
        let name = OsStr::from_bytes(name.to_bytes()).to_owned();
        entries.push(Entry { name, kind: entry_kind(kind) });
    }
    Ok(entries)
}

pub(super) fn replace(path: &Path, content: &mut dyn Read, mode: Option<u32>) -> io::Result<()> {
    let (parent, name) = split(path)?;
    let folder = make_folder(parent)?;
    let old = look(&folder, name, path)?;
    if let Some(old) = &old {
        plain_file(old)?;
        // A rename would not ask the file itself whether it may be written.
        fs::accessat(&folder, name, Access::WRITE_OK, AtFlags::empty())?;
    }
    let mut beside = Beside::new(&folder)?;
    io::copy(content, &mut beside.file)?;
    beside.file.flush()?;
    if let Some(old) = old {
        beside.dress(&old)?;
    }
    if let Some(mode) = mode {
        beside.allow((mode & 0o1777) as RawMode)?;
    }
    beside.rename(name)
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let (from_parent, from_name) = split(from)?;
    let (to_parent, to_name) = split(to)?;
    let from_folder = open_folder(from_parent)?;
    plain_file(&look(&from_folder, from_name, from)?.ok_or(Errno::NOENT)?)?;
    let to_folder = make_folder(to_parent)?;
    if let Some(there) = look(&to_folder, to_name, to)? {
        plain_file(&there)?;
    }
    Ok(fs::renameat(&from_folder, from_name, &to_folder, to_name)?)
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    let (parent, name) = split(path)?;
    let folder = open_folder(parent)?;
    plain_file(&look(&folder, name, path)?.ok_or(Errno::NOENT)?)?;
    Ok(fs::unlinkat(&folder, name, AtFlags::empty())?)
}

/// A file that is being written beside the one it will replace; gone if it never does.
struct Beside<'a> {
    folder: &'a OwnedFd,
    name: OsString,
    file: File,
    placed: bool,
}

impl<'a> Beside<'a> {
    fn new(folder: &'a OwnedFd) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | CAREFUL;
        loop {
            let name: OsString = format!(".caiman-{:016x}", RandomState::new().hash_one(0)).into();
            // The mode a new file has: the user's mask decides.
            match fs::openat(folder, &name, flags, Mode::from_raw_mode(0o666)) {
                Ok(file) => return Ok(Self { folder, name, file: file.into(), placed: false }),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Gives it what the old file has. Set-user and set-group bits are not kept: the kernel drops them
    /// too when a file is written.
    fn dress(&self, old: &Stat) -> io::Result<()> {
        let (user, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        let now = fs::fstat(&self.file)?;
        // Only root may give files away; a group may be one of ours, and is worth the try.
        if now.st_uid != old.st_uid && rustix::process::geteuid().is_root() {
            fs::fchown(&self.file, Some(user), Some(group))?;
        } else if now.st_gid != old.st_gid {
            let _kept = fs::fchown(&self.file, None, Some(group)).is_ok();
        }
        self.allow(old.st_mode)
    }

    /// Sets the permission bits. How wide a mode is differs between systems.
    fn allow(&self, mode: RawMode) -> io::Result<()> {
        Ok(fs::fchmod(&self.file, Mode::from_raw_mode(mode & 0o1777))?)
    }

    fn rename(mut self, name: &OsStr) -> io::Result<()> {
        fs::renameat(self.folder, &self.name, self.folder, name)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        if !self.placed {
            let _gone = fs::unlinkat(self.folder, &self.name, AtFlags::empty()).is_ok();
        }
    }
}

/// What a name in an open folder is; none if it is not there, an error if it is a link.
fn look(folder: &OwnedFd, name: &OsStr, path: &Path) -> io::Result<Option<Stat>> {
    made_by_kernel(folder)?;
    match fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Symlink => {
            Err(moved(path))
        }
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn plain_file(found: &Stat) -> io::Result<()> {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
        FileType::Fifo => Err(refused("it is a named pipe, not a file")),
        FileType::Socket => Err(refused("it is a socket, not a file")),
        FileType::CharacterDevice | FileType::BlockDevice => {
            Err(refused("it is a device, not a file"))
        }
        FileType::Symlink | FileType::Unknown => Err(refused("it is not a file")),
    }
}

fn entry_kind(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => EntryKind::Special,
    }
}

/// Refuses what the kernel makes up as it is read: `/proc` holds our own environment and memory, and some
/// of its files never end. Asked of the file system, because it can be mounted anywhere.
#[cfg(target_os = "linux")]
fn made_by_kernel(folder: &OwnedFd) -> io::Result<()> {
    const SYSFS_MAGIC: fs::FsWord = 0x6265_6572;

    let kind = fs::fstatfs(folder)?.f_type;
    if kind == fs::PROC_SUPER_MAGIC || kind == SYSFS_MAGIC {
        return Err(refused(
            "it is made up by the kernel (proc, sys), not a file; a command can read it",
        ));
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn made_by_kernel(_folder: &OwnedFd) -> io::Result<()> {
    Ok(())
}

/// Opens a folder by its canonical path; a link anywhere in it is an error.
fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    match at_once(path) {
        Some(opened) => opened,
        None => step_by_step(path, Missing::Fails),
    }
}

/// The same for a folder that may not exist yet.
fn make_folder(path: &Path) -> io::Result<OwnedFd> {
    match open_folder(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            step_by_step(path, Missing::IsMade)
        }
        opened => opened,
    }
}

/// Asks the kernel to do it in one go; none where it cannot (before Linux 5.6, or under a filter).
#[cfg(target_os = "linux")]
fn at_once(path: &Path) -> Option<io::Result<OwnedFd>> {
    use rustix::fs::ResolveFlags;

    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // `NOFOLLOW` would make a link in the last place "not a folder" instead of a link.
    let flags = FOLDER.difference(OFlags::NOFOLLOW);
    match fs::openat2(fs::CWD, path, flags, Mode::empty(), resolve) {
        Ok(folder) => Some(Ok(folder)),
        Err(Errno::NOSYS | Errno::PERM) => None,
        Err(Errno::LOOP) => Some(Err(moved(path))),
        Err(error) => Some(Err(error.into())),
    }
}

#[cfg(not(target_os = "linux"))]
fn at_once(_path: &Path) -> Option<io::Result<OwnedFd>> {
    None
}

/// What to do with a folder that is not there.
#[derive(Clone, Copy)]
enum Missing {
    Fails,
    IsMade,
}

fn step_by_step(path: &Path, missing: Missing) -> io::Result<OwnedFd> {
    let mut here = fs::open("/", FOLDER, Mode::empty())?;
    for part in path.components() {
        match part {
            Component::RootDir => {}
            Component::Normal(name) => here = step(&here, name, missing, path)?,
            Component::Prefix(_) | Component::CurDir | Component::ParentDir => {
                return Err(refused("it is not a canonical path"));
            }
        }
    }
    Ok(here)
}

fn step(folder: &OwnedFd, name: &OsStr, missing: Missing, path: &Path) -> io::Result<OwnedFd> {
    let enter = || fs::openat(folder, name, FOLDER, Mode::empty());
    let entered = match (enter(), missing) {
        (Err(Errno::NOENT), Missing::IsMade) => {
            match fs::mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => enter(),
                Err(error) => Err(error),
            }
        }
        (entered, Missing::IsMade | Missing::Fails) => entered,
    };
    match entered {
        // Systems do not agree on which of the two a link is.
        Err(Errno::LOOP | Errno::NOTDIR) => {
            look(folder, name, path)?;
            Err(Errno::NOTDIR.into())
        }
        entered => Ok(entered?),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn step_by_step_is_as_careful_as_the_kernel() {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir_all(root.join("real/deep")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        symlink(root.join("real"), root.join("link")).unwrap();
        for open in [open_folder as fn(&Path) -> _, |path| step_by_step(path, Missing::Fails)] {
            assert!(open(&root.join("real/deep")).is_ok());
            let kind = |path: &str| open(&root.join(path)).unwrap_err().kind();
            assert_eq!(kind("link/deep"), io::ErrorKind::Other);
            assert_eq!(kind("link"), io::ErrorKind::Other);
            assert_eq!(kind("file"), io::ErrorKind::NotADirectory);
            assert_eq!(kind("none"), io::ErrorKind::NotFound);
        }
        assert!(step_by_step(&root.join("link/new"), Missing::IsMade).is_err());
        assert!(!root.join("real/new").exists());
    }
}
