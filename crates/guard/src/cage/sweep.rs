//! Protected places that do not exist cannot be covered, so a caged process can make them. What it made is
//! set aside, under a name that no program obeys, and told.
//!
//! Nobody can tell who made a file. In the short time of a command it was the command; in the hours of a
//! server it may have been the user, and then it is told but left alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Bounds;
use super::record::Record;
use super::snapshot::{Snapshot, exists, stamp};
use crate::protect;

/// How long a child may have run so that what came into being is taken for its work.
const ATTRIBUTED: Duration = Duration::from_mins(2);

/// The protected places that did not exist when a child began.
#[derive(Debug)]
pub(crate) struct Sweep {
    absent: Arc<[PathBuf]>,
    /// The folders above them, and when each last changed.
    above: Vec<(PathBuf, (i64, i64, u64))>,
    /// Folders whose files are protected by how their names end, and those that were there.
    by_ending: Vec<(PathBuf, Vec<PathBuf>)>,
    begun: Instant,
    /// Says on disk that somebody still has to look; gone with this.
    _record: Option<Record>,
}

/// A protected place that a command made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    /// The place.
    pub place: PathBuf,
    /// Where it is now; none where it is still there, because it may be the user's or cannot be moved.
    pub aside: Option<PathBuf>,
}

impl Sweep {
    /// Begins with places of which a snapshot knows that they do not exist, and the folders of the workspace.
    pub(super) fn begin(snapshot: &Snapshot, bounds: &Bounds) -> Self {
        let above = snapshot.above_absent.iter();
        let by_ending = |folder: &PathBuf| (folder.clone(), protect::protected_by_ending(folder));
        Self {
            absent: snapshot.absent.clone(),
            above: above.map(|folder| (folder.clone(), stamp(folder))).collect(),
            by_ending: bounds.workspace().map(by_ending).collect(),
            begun: Instant::now(),
            _record: record(snapshot, bounds),
        }
    }

    /// Sets aside those that exist now. Renamed, not deleted: the user may have made one meanwhile.
    pub(crate) fn run(&self) -> Vec<Swept> {
        if self.above.iter().all(|(folder, then)| stamp(folder) == *then) && !self.has_more() {
            return Vec::new();
        }
        let is_brief = self.begun.elapsed() <= ATTRIBUTED;
        let aside = |place: &Path| if is_brief { set_aside(place) } else { None };
        let made = self.absent.iter().filter(|place| exists(place)).cloned();
        let made: Vec<PathBuf> = made.chain(self.new_by_ending()).collect();
        made.into_iter().map(|place| Swept { aside: aside(&place), place }).collect()
    }

    fn has_more(&self) -> bool {
        !self.new_by_ending().is_empty()
    }

    fn new_by_ending(&self) -> Vec<PathBuf> {
        let now = |(folder, then): &(PathBuf, Vec<PathBuf>)| {
            let mut found = protect::protected_by_ending(folder);
            found.retain(|place| !then.contains(place));
            found
        };
        self.by_ending.iter().flat_map(now).collect()
    }
}

/// A record of what is absent; none where nothing can be written, or where it cannot be kept.
fn record(snapshot: &Snapshot, bounds: &Bounds) -> Option<Record> {
    let folder = bounds.records.as_ref().filter(|_| !bounds.writable.is_empty())?;
    let begun = Record::begin(folder, snapshot);
    begun.inspect_err(|error| tracing::debug!(%error, "no record of a command")).ok()
}

/// Sets aside those of `places` that exist.
pub(super) fn set_all_aside(places: &[PathBuf]) -> Vec<Swept> {
    let made = places.iter().filter(|place| exists(place));
    made.map(|place| Swept { place: place.clone(), aside: set_aside(place) }).collect()
}

fn set_aside(place: &Path) -> Option<PathBuf> {
    let name = place.file_name()?.to_string_lossy();
    let name = name.trim_start_matches('.');
    let free = (1..1000)
        .map(|number| place.with_file_name(format!("{name}.held-{number}")))
        .find(|aside| !exists(aside))?;
    fs::rename(place, &free).ok()?;
    Some(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_into_being_is_set_aside_and_what_was_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        let places = [".git", ".caiman", ".mcp.json"].map(|name| dir.path().join(name));
        fs::create_dir(&places[0]).unwrap();
        let sweep = Sweep::begin(&Snapshot::take(&places, &[]), &Bounds::default());
        assert_eq!(sweep.run(), []);
        std::os::unix::fs::symlink("/etc", &places[1]).unwrap();
        let aside = dir.path().join("caiman.held-1");
        let swept = Swept { place: places[1].clone(), aside: Some(aside.clone()) };
        assert_eq!(sweep.run(), [swept]);
        assert!(places[0].is_dir() && !exists(&places[1]) && exists(&aside));
        fs::write(&places[1], "again").unwrap();
        assert_eq!(sweep.run()[0].aside, Some(dir.path().join("caiman.held-2")));
    }

    #[test]
    fn what_may_be_the_users_is_told_and_left() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join(".vscode");
        let snapshot = Snapshot::take(std::slice::from_ref(&place), &[]);
        let mut sweep = Sweep::begin(&snapshot, &Bounds::default());
        let Some(long_ago) = Instant::now().checked_sub(ATTRIBUTED * 2) else { return };
        sweep.begun = long_ago;
        fs::create_dir(&place).unwrap();
        assert_eq!(sweep.run(), [Swept { place: place.clone(), aside: None }]);
        assert!(place.is_dir());
    }
}
