//! Looking for definition files on the disk: bounded, and never out of a project.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::super::{Problem, Weight};

/// Deepest folder below a definition folder that is looked into; trust looks no deeper, either.
const DEPTH_LIMIT: usize = 8;
/// Most names one look meets, and most files it takes.
const ENTRY_LIMIT: usize = 20_000;
const FILE_LIMIT: usize = 4_096;
/// Largest file that is read: a prompt of this size fills a context window.
const SIZE_LIMIT: u64 = 512 * 1024;
/// Most bytes of all files together, for all of them are kept.
const TOTAL_LIMIT: u64 = 32 * 1024 * 1024;

/// Most troubles one look tells; a hostile project must not fill the screen.
const PROBLEM_LIMIT: usize = 100;

/// What tells that a file has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    /// The file itself and its last change, which cannot be set back.
    #[cfg(unix)]
    identity: (u64, i64, i64),
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            modified: found.modified().ok(),
            size: found.len(),
            #[cfg(unix)]
            identity: (found.ino(), found.ctime(), found.ctime_nsec()),
        }
    }

    /// The stamp of a file, links followed; none where there is none.
    pub(super) fn of_file(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().as_ref().map(Self::of)
    }
}

/// Which files of a folder are definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pick {
    /// Every Markdown file.
    Markdown,
    /// `SKILL.md`; what else lies in its folder belongs to the skill.
    Skill,
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) stamp: Stamp,
    /// Whether a linked folder lies on the way, which a folder's fingerprint does not look into.
    pub(super) through_link: bool,
}

/// Someone who looks for files, with so much patience for one look.
#[derive(Debug)]
pub(super) struct Walker {
    entries_left: usize,
    files_left: usize,
    bytes_left: u64,
    pub(super) problems: Vec<Problem>,
}

impl Default for Walker {
    fn default() -> Self {
        Self {
            entries_left: ENTRY_LIMIT,
            files_left: FILE_LIMIT,
            bytes_left: TOTAL_LIMIT,
            problems: Vec::new(),
        }
    }
}

impl Walker {
    /// The definition files at or below `root`, sorted. No link is followed out of `fence`.
    pub(super) fn files(&mut self, root: &Path, pick: Pick, fence: Option<&Path>) -> Vec<Found> {
        let Ok(found) = fs::symlink_metadata(root) else { return Vec::new() };
        if !self.stays_in(root, fence) {
            return Vec::new();
        }
        let mut walk = Walk { pick, fence, entered: BTreeSet::new(), found: Vec::new() };
        let is_folder = fs::metadata(root).is_ok_and(|found| found.is_dir());
        if is_folder {
            let through_link = found.is_symlink();
            self.enter(&mut walk, &Step { folder: root.to_owned(), depth: 0, through_link });
        } else if is_definition(root, Pick::Markdown) {
            let through_link = false;
            self.take(&mut walk, root.to_owned(), through_link);
        }
        walk.found
    }

    fn enter(&mut self, walk: &mut Walk<'_>, step: &Step) {
        let mut names: Vec<_> = match fs::read_dir(&step.folder) {
            Ok(entries) => entries.flatten().take(self.entries_left).collect(),
            Err(error) => {
                return self.tell(&step.folder, format!("this folder cannot be read: {error}"));
            }
        };
        self.entries_left -= names.len();
        if self.entries_left == 0 {
            return self.tell(&step.folder, "too many files here; the rest is left out");
        }
        names.sort_by_key(fs::DirEntry::file_name);
        let skill =
            |entry: &fs::DirEntry| is_definition(Path::new(&entry.file_name()), Pick::Skill);
        if walk.pick == Pick::Skill
            && let Some(entry) = names.iter().find(|entry| skill(entry))
        {
            self.take(walk, entry.path(), step.through_link);
            // Only the folder of folders may hold other skills beside its own.
            if step.depth > 0 {
                return;
            }
        }
        for entry in names {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") || name == "node_modules" {
                continue;
            }
            self.entry(walk, step, &entry);
        }
    }

    fn entry(&mut self, walk: &mut Walk<'_>, step: &Step, entry: &fs::DirEntry) {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { return };
        let is_folder = kind.is_dir() || kind.is_symlink() && path.is_dir();
        if !is_folder {
            if walk.pick == Pick::Markdown && is_definition(&path, Pick::Markdown) {
                self.take(walk, path, step.through_link);
            }
            return;
        }
        if kind.is_symlink() {
            let Ok(target) = fs::canonicalize(&path) else { return };
            // A link to a folder above it would go round in circles.
            if !self.stays_in(&path, walk.fence) || !walk.entered.insert(target) {
                return;
            }
        }
        if step.depth >= DEPTH_LIMIT {
            return self.tell(&path, "this folder lies too deep and is left out");
        }
        let through_link = step.through_link || kind.is_symlink();
        self.enter(walk, &Step { folder: path, depth: step.depth + 1, through_link });
    }

    fn take(&mut self, walk: &mut Walk<'_>, path: PathBuf, through_link: bool) {
        // Follows a link, and asks before anybody opens: a named pipe would wait for its writer.
        let Some(found) = fs::metadata(&path).ok().filter(Metadata::is_file) else {
            return self.tell(&path, "this is not a regular file");
        };
        let is_link = || fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
        if walk.fence.is_some() && is_link() && !self.stays_in(&path, walk.fence) {
            return;
        }
        if found.len() > SIZE_LIMIT {
            return self.tell(&path, format!("this file is larger than {} KiB", SIZE_LIMIT / 1024));
        }
        if self.files_left == 0 || self.bytes_left < found.len() {
            return self.tell(&path, "too many files before this one; it is left out");
        }
        self.files_left -= 1;
        self.bytes_left -= found.len();
        walk.found.push(Found { path, stamp: Stamp::of(&found), through_link });
    }

    /// Whether a path, links followed, lies in the fence.
    pub(super) fn stays_in(&mut self, path: &Path, fence: Option<&Path>) -> bool {
        let Some(fence) = fence else { return true };
        if fs::canonicalize(path).is_ok_and(|target| target.starts_with(fence)) {
            return true;
        }
        self.tell(path, "this is a link that leaves the project");
        false
    }

    fn tell(&mut self, path: &Path, text: impl Into<String>) {
        if self.problems.len() >= PROBLEM_LIMIT {
            return;
        }
        let (file, text) = (path.to_owned(), text.into());
        self.problems.push(Problem { file, line: None, weight: Weight::Broken, text });
    }
}

struct Walk<'a> {
    pick: Pick,
    fence: Option<&'a Path>,
    /// Linked folders that were entered.
    entered: BTreeSet<PathBuf>,
    found: Vec<Found>,
}

struct Step {
    folder: PathBuf,
    depth: usize,
    through_link: bool,
}

fn is_definition(path: &Path, pick: Pick) -> bool {
    match pick {
        Pick::Markdown => path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md")),
        Pick::Skill => path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md")),
    }
}

/// What a file says; what is not text in it is replaced.
pub(super) fn text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(SIZE_LIMIT).read_to_end(&mut bytes)?;
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is UTF-16; save it as UTF-8"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
