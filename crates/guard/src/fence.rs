//! Containment, in one place: a path becomes a [`Spot`], with every link followed, before anything is
//! compared; and a spot is opened without following links, so that what was judged is what is used.
//!
//! Every tool that touches a file goes through here, in two steps. [`Fence::locate`] says where a path
//! really leads, for the lock to judge. [`Fence::open`], [`Fence::replace`] and their kin then take that
//! real path and let the kernel refuse if any part of it has become a link in between.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

#[cfg(unix)]
mod at;
mod mount;
mod plain;
#[cfg(not(unix))]
mod portable;
mod real;

use mount::Mount;
#[cfg(not(unix))]
use portable as at;

/// The folders a session works in, and what lies around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// Where relative paths begin; canonical.
    folder: PathBuf,
    /// Folders that count as inside; canonical. The first is the workspace.
    roots: Vec<PathBuf>,
    /// The user's home, for `~`.
    home: PathBuf,
    /// The only name the folder goes by, for a session that is locked into it.
    mount: Option<Mount>,
}

/// A place on disk, as it was asked for and as it really is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// Absolute, `.` and `..` taken out, links not followed: what the user and the model see.
    pub asked: PathBuf,
    /// Where it really is: links followed; parts that do not exist yet stand as they were asked for.
    pub real: PathBuf,
    /// Whether `real` is inside the fence.
    pub inside: bool,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is; links are not followed.
    pub kind: EntryKind,
}

/// What a name in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it leads.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// Why a path cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FenceError {
    /// It is not a path a file can have.
    #[error("`{path}` is not a usable path: {why}")]
    Bad {
        /// What was asked for.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The system refused to look.
    #[error("cannot look at {}: {source}", path.display())]
    Look {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A part of it that should be a folder is a file.
    #[error("{} is a file, so nothing can be below it", path.display())]
    Below {
        /// The part that is a file.
        path: PathBuf,
    },
    /// Its links lead in a circle, or are too many.
    #[error("the links of {} lead in a circle", path.display())]
    Circle {
        /// The path.
        path: PathBuf,
    },
    /// A session that is locked into a folder asked for something elsewhere.
    #[error("forbidden request: `{path}` is not in {}, and nothing else can be reached", folder.display())]
    Forbidden {
        /// What was asked for.
        path: String,
        /// The folder, by the name the session knows.
        folder: PathBuf,
    },
    /// It is no longer what was judged.
    #[error("{} changed while it was being opened; it may be a link now", path.display())]
    Moved {
        /// The path.
        path: PathBuf,
    },
}

impl Fence {
    /// A fence around `folder` and `more`. All must exist.
    pub fn new(folder: &Path, more: &[PathBuf], home: &Path) -> io::Result<Self> {
        let folder = canonical(folder)?;
        let mut roots = vec![folder.clone()];
        for root in more {
            roots.push(canonical(root)?);
        }
        Ok(Self { folder, roots, home: home.to_owned(), mount: None })
    }

    /// A fence around the folder `real`, for a session that knows it as `shown` and knows nothing else:
    /// relative paths and those below `shown` lead into it, all others are forbidden requests. What comes
    /// out of this fence, errors too, never names the real folder; only [`Spot::real`] does.
    pub fn confined(real: &Path, shown: &Path) -> io::Result<Self> {
        let folder = canonical(real)?;
        let (roots, mount) = (vec![folder.clone()], Mount::new(shown));
        Ok(Self { folder, roots, home: shown.to_owned(), mount: Some(mount) })
    }

    /// The workspace folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All folders that count as inside; the workspace first.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The user's home.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Whether the session is locked into the folder and knows it by another name.
    pub fn is_confined(&self) -> bool {
        self.mount.is_some()
    }

    /// The forbidden requests so far, of this fence and its clones; the first thousand.
    pub fn refused(&self) -> Vec<String> {
        self.mount.as_ref().map(Mount::refused).unwrap_or_default()
    }

    /// A real path as the session may know it. Confined, what lies outside is only its last part.
    pub fn shown(&self, real: &Path) -> PathBuf {
        match &self.mount {
            None => real.to_owned(),
            Some(mount) => mount.shown(&self.folder, real),
        }
    }

    /// Finds out what a path means. Nothing is opened; the path need not exist.
    pub fn locate(&self, path: impl AsRef<Path>) -> Result<Spot, FenceError> {
        let path = path.as_ref();
        if let Some(mount) = &self.mount {
            return self.locate_inside(path, mount);
        }
        plain::check(path)?;
        let whole = self.absolute(path);
        let real = real::path(&whole)?;
        let inside = self.roots.iter().any(|root| real.starts_with(root));
        Ok(Spot { asked: without_dots(&whole), real, inside })
    }

    fn locate_inside(&self, path: &Path, mount: &Mount) -> Result<Spot, FenceError> {
        let inner = plain::check(path).ok().and_then(|()| mount.enter(path));
        let inner = inner.ok_or_else(|| mount.refuse(path))?;
        // Joined with nothing, a path would end in a slash.
        let is_folder = inner.as_os_str().is_empty();
        let below = |folder: &Path| if is_folder { folder.to_owned() } else { folder.join(&inner) };
        let asked = below(mount.name());
        match real::path(&below(&self.folder)) {
            Ok(real) if real.starts_with(&self.folder) => Ok(Spot { asked, real, inside: true }),
            Err(FenceError::Below { path }) if path.starts_with(&self.folder) => {
                Err(FenceError::Below { path: mount.shown(&self.folder, &path) })
            }
            Ok(_) | Err(_) => Err(mount.refuse(path)),
        }
    }

    /// A spot's path as the user knows it: relative inside the workspace, else absolute.
    pub fn name(&self, spot: &Spot) -> String {
        let short = spot.asked.strip_prefix(&self.folder).unwrap_or(&spot.asked);
        let short = if short.as_os_str().is_empty() { Path::new(".") } else { short };
        short.display().to_string()
    }

    /// Opens the file a spot is for reading, without following any link. Never waits: what is not a plain
    /// file (a folder, a pipe, a device, a file the kernel makes up) is refused by name.
    pub fn open(&self, spot: &Spot) -> io::Result<File> {
        at::open(&spot.real).map_err(|error| self.told(error, spot))
    }

    /// Lists the folder a spot is, sorted by name, without following any link.
    pub fn read_dir(&self, spot: &Spot) -> io::Result<Vec<Entry>> {
        let read = at::read_dir(&spot.real);
        let mut entries = read.map_err(|error| self.told(error, spot))?;
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    /// Writes a whole file in place of what the spot is (or makes it, folders included): beside it first,
    /// then renamed over it. An existing file's permissions stay, its owner too where the system lets us;
    /// other hard links to it keep the old content.
    pub fn replace(&self, spot: &Spot, bytes: &[u8]) -> io::Result<()> {
        self.replace_from(spot, &mut &*bytes)
    }

    /// Like [`Fence::replace`], with content of any length.
    pub fn replace_from(&self, spot: &Spot, content: &mut dyn Read) -> io::Result<()> {
        at::replace(&spot.real, content, None).map_err(|error| self.told(error, spot))
    }

    /// Like [`Fence::replace`], with permissions of its own (as `chmod` takes them) where the system has any.
    pub fn restore(&self, spot: &Spot, bytes: &[u8], mode: u32) -> io::Result<()> {
        let restored = at::replace(&spot.real, &mut &*bytes, Some(mode));
        restored.map_err(|error| self.told(error, spot))
    }

    /// Moves the file `from` is to where `to` is, folders included; a file that is there gives way.
    pub fn rename(&self, from: &Spot, to: &Spot) -> io::Result<()> {
        at::rename(&from.real, &to.real).map_err(|error| self.told(error, to))
    }

    /// Deletes the file a spot is.
    pub fn remove(&self, spot: &Spot) -> io::Result<()> {
        at::remove(&spot.real).map_err(|error| self.told(error, spot))
    }

    /// An error of the system in words the session may read: ours name the real path.
    fn told(&self, error: io::Error, spot: &Spot) -> io::Error {
        let ours = error.get_ref().and_then(|inner| inner.downcast_ref::<FenceError>());
        if self.is_confined() && ours.is_some() { moved(&spot.asked) } else { error }
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("~") {
            Ok(rest) => self.home.join(rest),
            Err(_) => self.folder.join(path),
        }
    }
}

fn canonical(path: &Path) -> io::Result<PathBuf> {
    real::path(&fs::canonicalize(path)?).map_err(io::Error::other)
}

/// The path without `.` and `..`, links not looked at.
fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// What happens when a path is a link by the time it is used.
fn moved(path: &Path) -> io::Error {
    io::Error::other(FenceError::Moved { path: path.to_owned() })
}

/// What happens when a path is not a plain file.
fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// A path as its folder and its name; `/` has no name, and is a folder.
fn split(path: &Path) -> io::Result<(&Path, &std::ffi::OsStr)> {
    path.parent().zip(path.file_name()).ok_or_else(|| io::ErrorKind::IsADirectory.into())
}
