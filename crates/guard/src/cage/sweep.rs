//! Protected places that do not exist cannot be covered, so a caged process can make them. What it made is
//! set aside, under a name that no program obeys, and told.
//!
//! Nobody can tell who made a file. In the short time of a command it was the command; in the hours of a
//! server it may have been the user, and then it is told but left alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a child may have run so that what came into being is taken for its work.
const ATTRIBUTED: Duration = Duration::from_mins(2);

/// The protected places that did not exist when a child began.
#[derive(Debug)]
pub(crate) struct Sweep {
    absent: Vec<PathBuf>,
    begun: Instant,
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
    /// Notes which of the places do not exist.
    pub(crate) fn begin(places: &[PathBuf]) -> Self {
        let absent = places.iter().filter(|place| !exists(place)).cloned().collect();
        Self { absent, begun: Instant::now() }
    }

    /// Sets aside those that exist now. Renamed, not deleted: the user may have made one meanwhile.
    pub(crate) fn run(&self) -> Vec<Swept> {
        let is_brief = self.begun.elapsed() <= ATTRIBUTED;
        let aside = |place: &PathBuf| if is_brief { set_aside(place) } else { None };
        let made = self.absent.iter().filter(|place| exists(place));
        made.map(|place| Swept { place: place.clone(), aside: aside(place) }).collect()
    }
}

fn exists(place: &Path) -> bool {
    fs::symlink_metadata(place).is_ok()
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
        let sweep = Sweep::begin(&places);
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
        let mut sweep = Sweep::begin(std::slice::from_ref(&place));
        let Some(long_ago) = Instant::now().checked_sub(ATTRIBUTED * 2) else { return };
        sweep.begun = long_ago;
        fs::create_dir(&place).unwrap();
        assert_eq!(sweep.run(), [Swept { place: place.clone(), aside: None }]);
        assert!(place.is_dir());
    }
}
