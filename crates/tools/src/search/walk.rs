//! Which files there are below a folder.
//!
//! `.gitignore`, `.ignore`, `.caimanignore` and `.crushignore` count, wherever they lie; hidden files are
//! files like others, `.git` is not. No link is followed, so a walk never leaves its root; and what
//! [`guard::protect`] calls a secret place is not entered by the way, only when it was asked for itself.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use guard::{Fence, Spot, protect};
use ignore::{DirEntry, WalkBuilder, WalkState};

use super::Stop;

/// Names of ignore files besides Git's and ripgrep's own.
const IGNORE_FILES: [&str; 2] = [".caimanignore", ".crushignore"];

/// Whether `.gitignore` files count. Outside a repository they do unless they leave nothing over: such a file
/// is meant for somebody else (the folder of a Debian package can hold one, homes under Git have others).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GitIgnore {
    /// They do.
    Heeded,
    /// They do not.
    Disregarded,
}

/// A folder (or one file) to look through.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    /// Where it is.
    spot: Spot,
    /// How the user knows it; empty for the workspace itself.
    shown: PathBuf,
    /// Secret places below it.
    secrets: Arc<[PathBuf]>,
    /// Whose root it is.
    fence: Fence,
}

impl Root {
    /// The root a spot is.
    pub(crate) fn new(fence: &Fence, spot: &Spot) -> Self {
        let shown = match fence.name(spot).as_str() {
            "." => PathBuf::new(),
            name => PathBuf::from(name),
        };
        let below = |place: &PathBuf| place != &spot.real && place.starts_with(&spot.real);
        let secrets = protect::secret(fence.home()).into_iter().filter(below).collect();
        Self { spot: spot.clone(), shown, secrets, fence: fence.clone() }
    }

    /// Where it really is.
    pub(crate) fn real(&self) -> &Path {
        &self.spot.real
    }

    /// A path below it, as the lock judges it.
    pub(crate) fn spot(&self, relative: &Path) -> Spot {
        let Spot { asked, real, inside } = &self.spot;
        Spot { asked: asked.join(relative), real: real.join(relative), inside: *inside }
    }

    /// A path below it, relative to it.
    pub(crate) fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.spot.real).unwrap_or(path)
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

    /// Where a link says it leads, as the session may know it.
    pub(crate) fn shown_target(&self, target: PathBuf) -> PathBuf {
        let leaves = |part| matches!(part, Component::RootDir | Component::ParentDir);
        if target.components().any(leaves) { self.fence.shown(&target) } else { target }
    }

    /// Shows what there is to visitors, as many as there are threads, each entry to one of them. Folders come
    /// before what they hold; apart from that, the order is the file system's.
    pub(crate) fn show<V>(&self, threads: usize, stop: &Stop, mut visitor: impl FnMut() -> V)
    where
        V: FnMut(&DirEntry) + Send,
    {
        let mut show = |git| {
            let any = AtomicBool::new(false);
            self.walk(git).threads(threads).build_parallel().run(|| {
                let (mut visit, any) = (visitor(), &any);
                Box::new(move |entry| {
                    if stop.reached() {
                        return WalkState::Quit;
                    }
                    if let Ok(entry) = entry {
                        if entry.depth() > 0 || is_file(&entry) {
                            any.store(true, Ordering::Relaxed);
                        }
                        visit(&entry);
                    }
                    WalkState::Continue
                })
            });
            any.into_inner()
        };
        let seen_any = show(GitIgnore::Heeded);
        if !seen_any && !stop.reached() && !self.is_in_repository() {
            show(GitIgnore::Disregarded);
        }
    }

    /// A walk over it, not yet started.
    pub(crate) fn walk(&self, git: GitIgnore) -> WalkBuilder {
        let mut walk = WalkBuilder::new(&self.spot.real);
        // A `.gitignore` says what is not worth reading, whether or not there is a repository yet.
        walk.hidden(false).require_git(false).follow_links(false).current_dir(&self.spot.real);
        walk.git_ignore(git == GitIgnore::Heeded);
        for name in IGNORE_FILES {
            walk.add_custom_ignore_filename(name);
        }
        let root = self.clone();
        walk.filter_entry(move |entry| entry.depth() == 0 || root.enters(entry.path()));
        walk
    }

    /// Whether it lies in a Git repository.
    pub(crate) fn is_in_repository(&self) -> bool {
        self.spot.real.ancestors().any(|folder| folder.join(".git").exists())
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
            open_exactly(&self.spot.real)
        } else {
            open_exactly(&self.spot.real.join(relative))
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
