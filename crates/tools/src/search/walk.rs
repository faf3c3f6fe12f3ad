//! Which files there are below a folder.
//!
//! `.gitignore`, `.ignore`, `.caimanignore` and `.crushignore` count, wherever they lie; hidden files are
//! files like others, `.git` is not. No link is followed, so a walk never leaves its root; and what
//! [`guard::protect`] calls a secret place is not entered by the way, only when it was asked for itself.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use guard::{Fence, Spot, protect};
use ignore::{DirEntry, WalkBuilder};

/// Names of ignore files besides Git's and ripgrep's own.
const IGNORE_FILES: [&str; 2] = [".caimanignore", ".crushignore"];

/// A folder (or one file) to look through.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    /// Where it really is.
    real: PathBuf,
    /// How the user knows it; empty for the workspace itself.
    shown: PathBuf,
    /// Secret places below it.
    secrets: Arc<[PathBuf]>,
}

impl Root {
    /// The root a spot is.
    pub(crate) fn new(fence: &Fence, spot: &Spot) -> Self {
        let real = spot.real.clone();
        let shown = match fence.name(spot).as_str() {
            "." => PathBuf::new(),
            name => PathBuf::from(name),
        };
        let below = |place: &PathBuf| place != &real && place.starts_with(&real);
        let secrets = protect::secret(fence.home()).into_iter().filter(below).collect();
        Self { real, shown, secrets }
    }

    /// Where it really is.
    pub(crate) fn real(&self) -> &Path {
        &self.real
    }

    /// A path below it, relative to it.
    pub(crate) fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.real).unwrap_or(path)
    }

    /// A path below it, as the user knows it.
    pub(crate) fn name(&self, relative: &Path) -> String {
        let path = if relative.as_os_str().is_empty() {
            self.shown.clone()
        } else {
            self.shown.join(relative)
        };
        if path.as_os_str().is_empty() { ".".to_owned() } else { path.display().to_string() }
    }

    /// A walk over it, not yet ordered or started.
    pub(crate) fn walk(&self) -> WalkBuilder {
        let mut walk = self.bare_walk();
        walk.git_ignore(self.heeds_git());
        let root = self.clone();
        walk.filter_entry(move |entry| entry.depth() == 0 || root.enters(entry.path()));
        walk
    }

    fn bare_walk(&self) -> WalkBuilder {
        let mut walk = WalkBuilder::new(&self.real);
        // A `.gitignore` says what is not worth reading, whether or not there is a repository yet.
        walk.hidden(false).require_git(false).follow_links(false).current_dir(&self.real);
        for name in IGNORE_FILES {
            walk.add_custom_ignore_filename(name);
        }
        walk
    }

    /// Whether `.gitignore` files count. Outside a repository they do unless they leave nothing over: such
    /// a file is meant for somebody else (Debian's linux-source holds one, homes under Git have others).
    fn heeds_git(&self) -> bool {
        if self.real.ancestors().any(|folder| folder.join(".git").exists()) {
            return true;
        }
        let Ok(mut entries) = fs::read_dir(&self.real) else { return true };
        let mut matchers = self.bare_walk().build_matchers();
        let mut empty = true;
        let kept = entries.any(|entry| {
            let Ok(entry) = entry else { return false };
            empty = false;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name();
            !matchers.iter_mut().any(|matcher| matcher.matched(&name, is_folder).is_ignore())
        });
        kept || empty
    }

    /// Whether a walk may show `path` and go below it, ignore files apart.
    pub(crate) fn enters(&self, path: &Path) -> bool {
        path.file_name() != Some(OsStr::new(".git"))
            && !self.secrets.iter().any(|secret| secret == path)
    }

    /// Opens a file below it, or the file it is. A link that took a folder's place since the walk is not
    /// followed, and a pipe does not block.
    pub(crate) fn open(&self, relative: &Path) -> io::Result<File> {
        // Joined with nothing, a file's path would end in a slash.
        if relative.as_os_str().is_empty() {
            open_exactly(&self.real)
        } else {
            open_exactly(&self.real.join(relative))
        }
    }
}

/// Whether a walk has come to an ordinary file.
pub(crate) fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

#[cfg(target_os = "linux")]
fn open_exactly(path: &Path) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;

    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    // The root is canonical, so no part of the whole path may be a link.
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, path, flags, Mode::empty(), resolve) {
        Ok(file) => Ok(File::from(file)),
        // Kernels before 5.6, and sandboxes that do not know the call.
        Err(Errno::NOSYS | Errno::PERM) => open_plain(path),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_exactly(path: &Path) -> io::Result<File> {
    open_plain(path)
}

/// Opens a file unless the file itself is a link.
#[cfg(unix)]
fn open_plain(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};

    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    Ok(File::from(open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_plain(path: &Path) -> io::Result<File> {
    File::open(path)
}
