//! What was there when a sandboxed command began, written down until it has ended.
//!
//! A command that ends is followed by a look at the protected places. If caiman is killed, nobody looks: the record of
//! the command is still there then, unlocked, and the next session in that folder does it ([`recover`]).

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::snapshot::{Snapshot, exists};
use super::sweep::{Swept, set_all_aside};

const ENDING: &str = "json";
/// Most records that are looked at.
const LIMIT: usize = 1000;

/// The record of one running command; removed when dropped, which is after the last look.
#[derive(Debug)]
pub(crate) struct Record {
    file: PathBuf,
    /// Locked until it is closed, so that others know that the command is looked after.
    _lock: File,
}

#[derive(Debug, Serialize, Deserialize)]
struct Written {
    absent: Vec<PathBuf>,
}

impl Record {
    /// Writes a record into `folder`, which is made if need be.
    pub(super) fn begin(folder: &Path, snapshot: &Snapshot) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let file = folder.join(format!("{}-{number}.{ENDING}", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut lock = match options.open(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(folder)?;
                options.open(&file)?
            }
            opened => opened?,
        };
        lock.try_lock()?;
        let written = Written { absent: snapshot.absent.to_vec() };
        lock.write_all(&serde_json::to_vec(&written)?)?;
        Ok(Self { file, _lock: lock })
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // A record that stays is looked at by the next session.
        fs::remove_file(&self.file).ok();
    }
}

/// Looks at what commands made in protected places below `roots` and nobody looked at since, because caiman was killed
/// while they ran. `folder` is where the records are.
pub fn recover(folder: &Path, roots: &[PathBuf]) -> Vec<Swept> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(LIMIT);
    let records = entries.map(|entry| entry.path());
    let records = records.filter(|path| path.extension().is_some_and(|it| it == ENDING));
    records.flat_map(|record| recover_one(&record, roots)).collect()
}

fn recover_one(record: &Path, roots: &[PathBuf]) -> Vec<Swept> {
    let Ok(file) = File::open(record) else { return Vec::new() };
    match file.try_lock() {
        Ok(()) => {}
        // Its command still runs.
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return Vec::new(),
    }
    let written = fs::read(record).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let Some(Written { absent }) = written else {
        // Half a record says nothing.
        fs::remove_file(record).ok();
        return Vec::new();
    };
    let is_here = |place: &PathBuf| roots.iter().any(|root| place.starts_with(root));
    let (here, elsewhere): (Vec<_>, Vec<_>) = absent.into_iter().partition(is_here);
    let swept = set_all_aside(&here);
    if elsewhere.iter().any(|place| exists(place)) {
        let rest = Written { absent: elsewhere };
        if let Ok(text) = serde_json::to_vec(&rest) {
            fs::write(record, text).ok();
        }
    } else {
        fs::remove_file(record).ok();
    }
    swept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_made_while_nobody_looked_is_set_aside_at_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        let (root, records) = (dir.path().join("work"), dir.path().join("records"));
        fs::create_dir(&root).unwrap();
        let places = [root.join(".claude"), root.join(".envrc")];
        let record = Record::begin(&records, &Snapshot::take(&places, &[])).unwrap();
        fs::write(&places[1], "evil").unwrap();
        // Its command runs: its own session will look.
        assert_eq!(recover(&records, std::slice::from_ref(&root)), []);
        // As if we had been killed.
        let kept = fs::read(&record.file).unwrap();
        let file = record.file.clone();
        drop(record);
        fs::write(&file, kept).unwrap();
        assert_eq!(recover(&records, &[dir.path().join("other")]), []);
        let aside = Some(root.join("envrc.held-1"));
        let swept = Swept { place: places[1].clone(), aside };
        assert_eq!(recover(&records, std::slice::from_ref(&root)), [swept]);
        assert!(!places[1].exists() && !file.exists());
        assert_eq!(recover(&records, &[root]), []);
    }

    #[test]
    fn a_command_that_was_looked_after_leaves_no_record() {
        let dir = tempfile::tempdir().unwrap();
        drop(Record::begin(dir.path(), &Snapshot::take(&[], &[])).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
