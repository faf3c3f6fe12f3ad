//! Which places were there when a sandbox was planned, and whether that still holds.
//!
//! A sandbox names hundreds of places of which few exist. Looking at each of them for every command would cost half a
//! millisecond. A place comes into being by a change of the folder it is to be in, so those folders are looked
//! at instead: some twenty.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Seconds and nanoseconds of a folder's last change, and which folder it is.
type Stamp = (i64, i64, u64);

/// What was there when a sandbox was planned.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// The nearest folder that exists above each place that does not.
    watched: Vec<(PathBuf, Stamp)>,
    /// Protected places that did not exist.
    pub(super) absent: Arc<[PathBuf]>,
    /// Folders whose changes could have made one of `absent`.
    pub(super) above_absent: Arc<[PathBuf]>,
}

impl Snapshot {
    /// Looks at all places.
    pub(super) fn take(protected: &[PathBuf], hidden: &[PathBuf]) -> Self {
        let mut watched = BTreeMap::new();
        // Stamps come first: what changes while we look is noticed by the next command.
        for place in protected.iter().chain(hidden) {
            let folder = nearest_folder(place);
            let stamp = stamp(&folder);
            watched.entry(folder).or_insert(stamp);
        }
        let absent: Vec<PathBuf> = protected.iter().filter(|it| !exists(it)).cloned().collect();
        let above: BTreeSet<PathBuf> = absent.iter().map(|place| nearest_folder(place)).collect();
        Self {
            watched: watched.into_iter().collect(),
            absent: absent.into(),
            above_absent: above.into_iter().collect(),
        }
    }

    /// Whether no place can have come or gone since.
    pub(super) fn is_current(&self) -> bool {
        self.watched.iter().all(|(folder, then)| stamp(folder) == *then)
    }
}

/// The folder that has to change for a place to come, or to go.
fn nearest_folder(place: &Path) -> PathBuf {
    let mut above = place.ancestors().skip(1);
    let found = above.find(|folder| fs::metadata(folder).is_ok_and(|found| found.is_dir()));
    found.unwrap_or(Path::new("/")).to_owned()
}

/// When a folder last changed; all zeros where it cannot be looked at.
pub(super) fn stamp(folder: &Path) -> Stamp {
    fs::metadata(folder).map_or((0, 0, 0), |it| (it.ctime(), it.ctime_nsec(), it.ino()))
}

pub(super) fn exists(place: &Path) -> bool {
    fs::symlink_metadata(place).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change = fn(&Path);

    #[test]
    fn a_place_that_comes_or_goes_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("home/.config")).unwrap();
        let protected = [root.join("work/.git"), root.join(".vscode")];
        let hidden = [root.join("home/.config/gh/hosts.yml"), root.join("home/.ssh")];
        let changes: [(&str, Change); 3] = [
            ("home/.ssh", |it| fs::create_dir(it).unwrap()),
            ("home/.config/gh", |it| fs::create_dir(it).unwrap()),
            ("home/.ssh", |it| fs::remove_dir(it).unwrap()),
        ];
        for (place, change) in changes {
            let snapshot = Snapshot::take(&protected, &hidden);
            assert!(snapshot.is_current());
            assert_eq!(snapshot.absent.as_ref(), protected.as_slice());
            // The kernel's clock for files may stand still for some milliseconds.
            let before = stamp(root.join(place).parent().unwrap());
            let scratch = root.join(place).with_file_name("scratch");
            while stamp(scratch.parent().unwrap()) == before {
                fs::write(&scratch, "").unwrap();
                fs::remove_file(&scratch).unwrap();
            }
            change(&root.join(place));
            assert!(!snapshot.is_current(), "{place}");
        }
    }
}
