//! The newest files that match a pattern, or some of them where there are too many to tell.
//!
//! Which are the newest shows only when all are seen. On a large tree that takes a hundred times as long as
//! finding a hundred, so a walk that has found more than are wanted goes on only as far as [`PATIENCE`]:
//! then it shows what it has by path, and says so.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use ignore::DirEntry;

use super::pattern::Patterns;
use super::walk::Root;
use super::{Stop, threads};

/// How many names a walk looks at for the newest, once there are enough matches: some two milliseconds.
const PATIENCE: usize = 2_000;

/// What to look for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Patterns for paths relative to the root.
    pub(crate) patterns: Patterns,
    /// Files or folders.
    pub(crate) kind: Kind,
    /// Most results to keep.
    pub(crate) limit: usize,
}

/// What a pattern is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Files, and links by their own name.
    Files,
    /// Folders.
    Folders,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// At most as many as were wanted, relative to the root.
    pub(crate) paths: Vec<PathBuf>,
    /// How many matches were seen.
    pub(crate) seen: usize,
    /// Which of them `paths` are.
    pub(crate) choice: Choice,
}

/// Which matches are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The newest, newest first; of equal age in the order of their paths.
    Newest,
    /// Those that were met first, in the order of their paths: the walk ended before all were seen.
    MetFirst,
}

/// Finds the newest matches below `root`.
pub(crate) fn newest(root: &Root, wanted: &Wanted, stop: &Stop) -> Found {
    let all = Mutex::new(Vec::new());
    let (names, matches) = (AtomicUsize::new(0), AtomicUsize::new(0));
    root.show(threads(), stop, || {
        let mut share = Share { paths: Vec::new(), all: &all };
        let (names, matches) = (&names, &matches);
        move |entry| {
            let relative = root.relative(entry.path());
            if wanted.is_met_by(entry, relative) {
                share.paths.push(relative.to_owned());
                matches.fetch_add(1, Ordering::Relaxed);
            }
            if names.fetch_add(1, Ordering::Relaxed) >= PATIENCE
                && matches.load(Ordering::Relaxed) > wanted.limit
            {
                stop.enough();
            }
        }
    });
    let paths = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    let choice = if stop.had_enough() { Choice::MetFirst } else { Choice::Newest };
    Found::choose(root, paths, wanted.limit, choice)
}

impl Wanted {
    fn is_met_by(&self, entry: &DirEntry, relative: &Path) -> bool {
        let Some(kind) = entry.file_type() else { return false };
        let fits = match self.kind {
            Kind::Files => !kind.is_dir(),
            Kind::Folders => kind.is_dir(),
        };
        fits && !relative.as_os_str().is_empty() && self.patterns.is_match(relative)
    }
}

impl Found {
    fn choose(root: &Root, mut paths: Vec<PathBuf>, limit: usize, choice: Choice) -> Self {
        let seen = paths.len();
        match choice {
            Choice::Newest => paths.sort_by_cached_key(|path| {
                let changed = fs::symlink_metadata(root.real().join(path));
                let changed = changed.and_then(|data| data.modified());
                (Reverse(changed.unwrap_or(SystemTime::UNIX_EPOCH)), path.clone())
            }),
            Choice::MetFirst => {
                // Thousands, of which few are wanted.
                if seen > limit {
                    paths.select_nth_unstable(limit);
                    paths.truncate(limit);
                }
                paths.sort_unstable();
            }
        }
        paths.truncate(limit);
        Self { paths, seen, choice }
    }
}

/// One thread's share, added to all when the thread is done.
struct Share<'a> {
    paths: Vec<PathBuf>,
    all: &'a Mutex<Vec<PathBuf>>,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.paths);
    }
}
