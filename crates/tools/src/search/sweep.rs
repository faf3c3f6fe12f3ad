//! A regular expression over a whole tree: one thread walks, the others search what it comes to.
//!
//! The walk is in the order in which the file system keeps names, for sorting means to read a folder to its
//! end, and the first hundred by path can be far from any match: waiting for them took five times as long
//! as `rg`. Files go to the searchers in numbered batches. As soon as an unbroken run of numbers from the
//! first on holds more matches than are wanted, all threads stop: whatever others have found lies behind
//! it. So a search cut at its limit ends early, and finds the same as long as the tree is the same. What
//! was found is put in the order of paths.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use grep_searcher::Searcher;
use guard::{Policy, protect};

use super::lines::{Hits, Query, Skip};
use super::pattern::Patterns;
use super::walk::{self, Root};
use super::{Stop, threads};

/// Files a thread takes at a time: enough to make handing over cheap, few enough to stop early.
const BATCH: usize = 16;
/// Batches the walk is ahead of the search: some, so that neither waits for the other's hiccups.
const AHEAD: usize = 16;

/// A search over a tree.
#[derive(Debug)]
pub(crate) struct Search {
    /// Where.
    pub(crate) root: Root,
    /// What for.
    pub(crate) query: Query,
    /// In which files; all if left out.
    pub(crate) include: Option<Patterns>,
    /// How many matches.
    pub(crate) limit: usize,
    /// What keeps files from being read.
    pub(crate) policy: Arc<Policy>,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Files with matches, in the order of their paths; relative to the root.
    pub(crate) files: Vec<(PathBuf, Hits)>,
    /// How many matches they hold.
    pub(crate) count: usize,
    /// Whether there are more.
    pub(crate) more: bool,
    /// Files that were left out.
    pub(crate) left_out: LeftOut,
}

/// How many files were left out, and why.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// They hold secrets, and were not asked for by name.
    pub(crate) secret: usize,
    /// A rule forbids to read them.
    pub(crate) forbidden: usize,
    /// They are not text.
    pub(crate) binary: usize,
    /// They could not be read.
    pub(crate) unreadable: usize,
}

impl Search {
    /// Runs it.
    pub(crate) fn run(&self, stop: &Stop) -> Found {
        let results = Mutex::new(Results::default());
        let (sender, receiver) = sync_channel(AHEAD);
        std::thread::scope(|scope| {
            // Only searchers hold on to the receiver: when they are gone, the walk cannot wait for them.
            let receiver = Arc::new(Mutex::new(receiver));
            for _ in 0..threads() {
                let (receiver, results) = (receiver.clone(), &results);
                scope.spawn(move || self.work(&receiver, results, stop));
            }
            drop(receiver);
            self.walk(&sender, stop);
            drop(sender);
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.into_found(self.limit)
    }

    /// Hands the files of the tree to the searchers.
    fn walk(&self, sender: &SyncSender<Batch>, stop: &Stop) {
        let number = AtomicUsize::new(0);
        self.root.show(1, stop, || {
            let mut batch = Filling { files: Vec::new(), number: &number, sender, stop };
            move |entry| {
                if walk::is_file(entry) && self.wants(entry.path()) {
                    batch.add(entry.path().to_owned());
                }
            }
        });
    }

    fn work(&self, batches: &Mutex<Receiver<Batch>>, results: &Mutex<Results>, stop: &Stop) {
        let mut searcher = self.query.searcher();
        loop {
            let next = batches.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(batch) = next else { return };
            let part = self.search(&mut searcher, &batch.files, stop);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            if results.hand_in(batch.number, part) > self.limit {
                stop.enough();
            }
        }
    }

    fn search(&self, searcher: &mut Searcher, batch: &[PathBuf], stop: &Stop) -> Part {
        let mut part = Part::default();
        for path in batch {
            if stop.reached() {
                break;
            }
            let relative = self.root.relative(path);
            let is_by_the_way = !relative.as_os_str().is_empty();
            // Before it is searched: whether a forbidden file has a match is a secret, too.
            if is_by_the_way && self.policy.closes(&self.root.spot(relative)) {
                part.left_out.forbidden += 1;
                continue;
            }
            if is_by_the_way && is_environment(path) {
                part.left_out.secret += 1;
                continue;
            }
            let Ok(file) = self.root.open(relative) else {
                part.left_out.unreadable += 1;
                continue;
            };
            match self.query.search(searcher, file, self.limit, stop) {
                Ok(hits) if hits.count > 0 => {
                    part.count += hits.count + usize::from(hits.more);
                    part.files.push((relative.to_owned(), hits));
                }
                Ok(_) => {}
                Err(Skip::Binary) => part.left_out.binary += 1,
                Err(Skip::Unreadable) => part.left_out.unreadable += 1,
            }
        }
        part
    }

    fn wants(&self, path: &Path) -> bool {
        let relative = self.root.relative(path);
        relative.as_os_str().is_empty()
            || self.include.as_ref().is_none_or(|include| include.is_match(relative))
    }
}

/// Whether a file holds secrets for a program's environment, by its name alone: secret *places* are not
/// walked at all.
fn is_environment(path: &Path) -> bool {
    // The whole check folds letters of any script; few names can be meant.
    let name = path.file_name().map(std::ffi::OsStr::as_encoded_bytes).unwrap_or_default();
    name.first().is_some_and(|first| *first == b'.' || !first.is_ascii())
        && protect::is_secret(path, Path::new("/nobody"))
}

/// A few files, to be searched by one thread.
struct Batch {
    number: usize,
    files: Vec<PathBuf>,
}

/// The batch that the walk is filling; the last one goes out when the walk ends.
struct Filling<'w> {
    files: Vec<PathBuf>,
    number: &'w AtomicUsize,
    sender: &'w SyncSender<Batch>,
    stop: &'w Stop,
}

impl Filling<'_> {
    fn add(&mut self, file: PathBuf) {
        self.files.push(file);
        if self.files.len() == BATCH {
            self.send();
        }
    }

    fn send(&mut self) {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let batch = Batch { number, files: std::mem::take(&mut self.files) };
        if self.sender.send(batch).is_err() {
            self.stop.enough();
        }
    }
}

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        if !self.files.is_empty() {
            self.send();
        }
    }
}

/// What one batch gave.
#[derive(Debug, Default)]
struct Part {
    files: Vec<(PathBuf, Hits)>,
    count: usize,
    left_out: LeftOut,
}

/// What all batches gave, and how far they are complete.
#[derive(Debug, Default)]
struct Results {
    parts: BTreeMap<usize, Part>,
    /// All batches before this one are in.
    complete: usize,
    /// Matches in those.
    count: usize,
}

impl Results {
    /// Takes a batch's part, and returns how many matches the complete batches hold.
    fn hand_in(&mut self, number: usize, part: Part) -> usize {
        self.parts.insert(number, part);
        while let Some(part) = self.parts.get(&self.complete) {
            self.count += part.count;
            self.complete += 1;
        }
        self.count
    }

    fn into_found(self, limit: usize) -> Found {
        let mut found = Found::default();
        for part in self.parts.into_values() {
            found.left_out.secret += part.left_out.secret;
            found.left_out.forbidden += part.left_out.forbidden;
            found.left_out.binary += part.left_out.binary;
            found.left_out.unreadable += part.left_out.unreadable;
            for (path, mut hits) in part.files {
                let room = limit - found.count;
                if hits.count > room {
                    cut(&mut hits, room);
                }
                found.more |= hits.more;
                found.count += hits.count;
                if hits.count > 0 {
                    found.files.push((path, hits));
                }
            }
        }
        found.files.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        found
    }
}

/// Keeps the first `room` matches of a file.
fn cut(hits: &mut Hits, room: usize) {
    let mut seen = 0;
    let end = hits.lines.iter().position(|line| {
        seen += usize::from(line.role == super::lines::Role::Match);
        seen > room
    });
    hits.lines.truncate(end.unwrap_or(hits.lines.len()));
    hits.count = room;
    hits.more = true;
}
