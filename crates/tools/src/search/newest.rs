//! The newest files that match a pattern: many walk, each keeps its own best, the best of all are kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use ignore::{DirEntry, WalkState};

use super::pattern::Patterns;
use super::walk::Root;
use super::{Stop, threads};

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
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The newest, newest first; of equal age in the order of their paths. Relative to the root.
    pub(crate) paths: Vec<PathBuf>,
    /// How many there are in all.
    pub(crate) total: usize,
}

/// Finds the newest matches below `root`.
pub(crate) fn newest(root: &Root, wanted: &Wanted, stop: &Stop) -> Found {
    let best = Mutex::new(Best::new(wanted.limit));
    root.walk().threads(threads()).build_parallel().run(|| {
        let mut mine = Share { best: Best::new(wanted.limit), all: &best };
        Box::new(move |entry| {
            if stop.reached() {
                return WalkState::Quit;
            }
            if let Ok(entry) = entry {
                mine.best.consider(root, wanted, &entry);
            }
            WalkState::Continue
        })
    });
    best.into_inner().unwrap_or_else(PoisonError::into_inner).into_found()
}

/// The newest entries seen, and how many matched.
struct Best {
    limit: usize,
    total: usize,
    // The oldest is on top, to give way.
    kept: BinaryHeap<Reverse<(SystemTime, Reverse<PathBuf>)>>,
}

impl Best {
    fn new(limit: usize) -> Self {
        Self { limit, total: 0, kept: BinaryHeap::new() }
    }

    fn consider(&mut self, root: &Root, wanted: &Wanted, entry: &DirEntry) {
        let Some(kind) = entry.file_type() else { return };
        let fits = match wanted.kind {
            Kind::Files => !kind.is_dir(),
            Kind::Folders => kind.is_dir(),
        };
        let relative = root.relative(entry.path());
        if !fits || relative.as_os_str().is_empty() || !wanted.patterns.is_match(relative) {
            return;
        }
        self.total += 1;
        let changed = entry.metadata().ok().and_then(|data| data.modified().ok());
        self.keep(changed.unwrap_or(SystemTime::UNIX_EPOCH), Reverse(relative.to_owned()));
    }

    fn keep(&mut self, changed: SystemTime, path: Reverse<PathBuf>) {
        let entry = Reverse((changed, path));
        if self.kept.len() < self.limit {
            self.kept.push(entry);
        } else if let Some(mut oldest) = self.kept.peek_mut()
            && entry < *oldest
        {
            *oldest = entry;
        }
    }

    fn into_found(self) -> Found {
        let paths = self.kept.into_sorted_vec();
        let paths = paths.into_iter().map(|Reverse((_, Reverse(path)))| path).collect();
        Found { paths, total: self.total }
    }
}

/// One thread's share, added to all when the thread is done.
struct Share<'a> {
    best: Best,
    all: &'a Mutex<Best>,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.total += self.best.total;
        for Reverse((changed, path)) in self.best.kept.drain() {
            all.keep(changed, path);
        }
    }
}
