//! Many files searched at once, with the result that one thread would have had.
//!
//! The walk is in the order of paths. A thread takes the next few files from it, searches them, and hands
//! in what it found under their number. As soon as an unbroken run of numbers from the first on holds more
//! matches than are wanted, all threads stop: whatever the others have found lies behind it. So the first
//! hundred matches are always the same hundred, and a search for a common word ends at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use grep_searcher::Searcher;
use guard::protect;
use ignore::Walk;

use super::lines::{Hits, Query, Skip};
use super::pattern::Patterns;
use super::walk::{self, Root};
use super::{Stop, threads};

/// Files a thread takes at a time: enough to make the walk's lock cheap, few enough to stop early.
const BATCH: usize = 16;

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
    /// They are not text.
    pub(crate) binary: usize,
    /// They could not be read.
    pub(crate) unreadable: usize,
}

impl Search {
    /// Runs it.
    pub(crate) fn run(&self, stop: &Stop) -> Found {
        let files = self.root.walk().sort_by_file_name(Ord::cmp).build();
        let files = Mutex::new(Files { walk: files, taken: 0 });
        let results = Mutex::new(Results::default());
        std::thread::scope(|scope| {
            for _ in 1..threads() {
                scope.spawn(|| self.work(&files, &results, stop));
            }
            self.work(&files, &results, stop);
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.into_found(self.limit)
    }

    fn work(&self, files: &Mutex<Files>, results: &Mutex<Results>, stop: &Stop) {
        let mut searcher = self.query.searcher();
        let mut batch = Vec::with_capacity(BATCH);
        while !stop.reached() {
            let number = {
                let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
                files.take(self, &mut batch, stop)
            };
            let Some(number) = number else { return };
            let part = self.search(&mut searcher, &batch, stop);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            if results.hand_in(number, part) > self.limit {
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
            if !relative.as_os_str().is_empty() && is_environment(path) {
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

/// The walk, shared by the threads.
struct Files {
    walk: Walk,
    taken: usize,
}

impl Files {
    /// Fills `batch` with the next files and gives its number; none at the end.
    fn take(&mut self, search: &Search, batch: &mut Vec<PathBuf>, stop: &Stop) -> Option<usize> {
        batch.clear();
        for entry in self.walk.by_ref() {
            if stop.reached() {
                return None;
            }
            let Ok(entry) = entry else { continue };
            if walk::is_file(&entry) && search.wants(entry.path()) {
                batch.push(entry.into_path());
                if batch.len() == BATCH {
                    break;
                }
            }
        }
        if batch.is_empty() {
            return None;
        }
        self.taken += 1;
        Some(self.taken - 1)
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
