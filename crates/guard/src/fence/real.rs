//! Where a path really leads: every link followed as the kernel follows it, `..` included.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::FenceError;

/// As many links as Linux follows.
const LINKS: usize = 40;

/// The canonical path of what exists, and the rest as it stands. `path` is absolute.
///
/// `std::fs::canonicalize` is no help for what does not exist yet: where a dangling link points is where a
/// write would go, and must be judged.
pub(super) fn path(path: &Path) -> Result<PathBuf, FenceError> {
    let mut walk = Walk { here: PathBuf::new(), ahead: parts(path), links: 0 };
    while let Some(part) = walk.ahead.pop_front() {
        walk.step(part, path)?;
    }
    Ok(walk.here)
}

/// One part of a path that is still to be walked.
enum Part {
    /// A root or drive: the walk begins anew.
    Top(OsString),
    Up,
    Down(OsString),
}

struct Walk {
    /// Canonical as far as it exists.
    here: PathBuf,
    ahead: VecDeque<Part>,
    links: usize,
}

impl Walk {
    fn step(&mut self, part: Part, whole: &Path) -> Result<(), FenceError> {
        match part {
            Part::Top(top) => self.here.push(top),
            // `here` holds no links, so its parent is what the kernel takes `..` for.
            Part::Up => drop(self.here.pop()),
            Part::Down(name) => self.down(&name, whole)?,
        }
        Ok(())
    }

    fn down(&mut self, name: &OsStr, whole: &Path) -> Result<(), FenceError> {
        let next = self.here.join(name);
        let found = match fs::symlink_metadata(&next) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.here = next;
                return Ok(());
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(FenceError::Below { path: self.here.clone() });
            }
            Err(source) => return Err(FenceError::Look { path: next, source }),
        };
        if found.is_symlink() {
            return self.follow(&next, whole);
        }
        if !found.is_dir() && self.ahead.iter().any(|part| matches!(part, Part::Down(_))) {
            return Err(FenceError::Below { path: next });
        }
        self.here.push(true_name(&self.here, name, &found).as_deref().unwrap_or(name));
        Ok(())
    }

    fn follow(&mut self, link: &Path, whole: &Path) -> Result<(), FenceError> {
        self.links += 1;
        if self.links > LINKS {
            return Err(FenceError::Circle { path: whole.to_owned() });
        }
        let target = fs::read_link(link)
            .map_err(|source| FenceError::Look { path: link.to_owned(), source })?;
        let mut ahead = parts(&target);
        ahead.append(&mut self.ahead);
        self.ahead = ahead;
        Ok(())
    }
}

fn parts(path: &Path) -> VecDeque<Part> {
    let part = |part: Component<'_>| match part {
        Component::Prefix(_) | Component::RootDir => Some(Part::Top(part.as_os_str().to_owned())),
        Component::CurDir => None,
        Component::ParentDir => Some(Part::Up),
        Component::Normal(name) => Some(Part::Down(name.to_owned())),
    };
    path.components().filter_map(part).collect()
}

/// How the folder itself spells `name`, where it finds it under another spelling too: `.GIT` is `.git` on
/// a file system that does not tell cases (or Unicode forms) apart, and must not pass for something else.
#[cfg(unix)]
fn true_name(folder: &Path, name: &OsStr, found: &fs::Metadata) -> Option<OsString> {
    use std::os::unix::fs::MetadataExt as _;

    let id = (found.dev(), found.ino());
    let same = |path: PathBuf| {
        fs::symlink_metadata(path).is_ok_and(|other| (other.dev(), other.ino()) == id)
    };
    let loose = match name.to_str() {
        Some(text) if text.is_ascii() => {
            let other = swap_case(text);
            other != text && same(folder.join(other))
        }
        // Two forms of one accented letter are too many to try: look.
        Some(_) => true,
        None => false,
    };
    if !loose {
        return None;
    }
    let names: Vec<OsString> =
        fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    if names.iter().any(|entry| entry == name) {
        return None;
    }
    names.into_iter().find(|entry| same(folder.join(entry)))
}

#[cfg(not(unix))]
fn true_name(folder: &Path, name: &OsStr, _found: &fs::Metadata) -> Option<OsString> {
    fs::canonicalize(folder.join(name)).ok()?.file_name().map(OsStr::to_owned)
}

#[cfg(unix)]
fn swap_case(text: &str) -> String {
    let swap = |letter: char| {
        if letter.is_ascii_lowercase() {
            letter.to_ascii_uppercase()
        } else {
            letter.to_ascii_lowercase()
        }
    };
    text.chars().map(swap).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A folder that does not tell cases apart would say that `.GIT` is the file `.git` is.
    #[test]
    fn another_spelling_is_taken_for_the_name_the_folder_has() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join("é"), "").unwrap();
        let spelled = |wanted: &str, real: &str| {
            let found = fs::symlink_metadata(dir.path().join(real)).unwrap();
            true_name(dir.path(), OsStr::new(wanted), &found)
        };
        assert_eq!(spelled(".GIT", ".git"), Some(".git".into()));
        assert_eq!(spelled("e\u{301}", "é"), Some("é".into()));
        assert_eq!(spelled(".git", ".git"), None);
        assert_eq!(spelled("é", "é"), None);
    }
}
