//! A private folder for a session that is locked into it, gone when the session is.
//!
//! A room is a folder of our own in the one for temporary files: a lock file, and beside it the folder the
//! session sees. Its owner holds the lock as long as it lives. When it dies without a word the kernel lets
//! go of the lock, and the next start ([`sweep`]) finds a room that nobody holds.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::{Clock, Timestamp};

use crate::fence::Fence;

/// What the session takes its folder for.
pub const SHOWN: &str = "/home/agent";

const PREFIX: &str = "caiman-room-";
/// What a room is called until its lock is held.
const UNFINISHED: &str = "caiman-new-room-";
/// How long a room may take to be finished before it counts as abandoned.
const FINISHED_BY: Duration = Duration::from_hours(1);
const LOCK: &str = "lock";
const HOME: &str = "home";

/// A private folder, removed with all that is in it when dropped.
#[derive(Debug)]
pub struct Room {
    place: PathBuf,
    folder: PathBuf,
    /// Locked until it is closed.
    _lock: File,
}

impl Room {
    /// Makes a room in `temp`, the folder for temporary files. Nobody else can look into it or guess its
    /// name.
    pub fn new(temp: &Path) -> io::Result<Self> {
        let temp = fs::canonicalize(temp)?;
        let random = unguessable();
        let unfinished = temp.join(format!("{UNFINISHED}{random}"));
        let place = temp.join(format!("{PREFIX}{random}"));
        make_private(&unfinished)?;
        // Renamed once it is locked: a sweep in between must not take it for abandoned.
        let made = furnish(&unfinished).and_then(|lock| {
            fs::rename(&unfinished, &place)?;
            Ok(lock)
        });
        match made {
            Ok(lock) => Ok(Self { folder: place.join(HOME), place, _lock: lock }),
            Err(error) => {
                remove(&unfinished);
                Err(error)
            }
        }
    }

    /// The real folder. The session that lives in it must never read its name.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The fence of a session that knows the room as [`SHOWN`].
    pub fn fence(&self) -> io::Result<Fence> {
        Fence::confined(&self.folder, Path::new(SHOWN))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        remove(&self.place);
    }
}

/// Removes the rooms in `temp` whose owners died without a word, and says how many. Rooms in use, those
/// of other users and whatever else has such a name stay.
pub fn sweep(temp: &Path, clock: &Clock) -> usize {
    let Ok(entries) = fs::read_dir(temp) else { return 0 };
    let abandoned = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let name = path.file_name()?.to_str()?;
        let is_over = if name.starts_with(PREFIX) {
            is_ours(&path) && !is_held(&path)
        } else if name.starts_with(UNFINISHED) {
            is_ours(&path) && is_old(&path, clock)
        } else {
            false
        };
        is_over.then_some(path)
    });
    abandoned.filter(|path| remove(path)).count()
}

/// Puts a lock, which is held, and the session's folder into a new room.
fn furnish(place: &Path) -> io::Result<File> {
    let lock = OpenOptions::new().write(true).create_new(true).open(place.join(LOCK))?;
    lock.try_lock()?;
    make_private(&place.join(HOME))?;
    Ok(lock)
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// 128 bits that nobody knows: the keys of each hash come from the system.
fn unguessable() -> String {
    let half = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", half(), half())
}

/// Whether a place is a real folder of this user.
fn is_ours(place: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(place) else { return false };
    #[cfg(unix)]
    let mine = std::os::unix::fs::MetadataExt::uid(&found) == rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    let mine = true;
    found.is_dir() && mine
}

/// Whether a finished room's owner lives. One without a lock was left half removed.
fn is_held(place: &Path) -> bool {
    let lock = place.join(LOCK);
    match fs::symlink_metadata(&lock) {
        Ok(found) if found.is_file() => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
        // Not made by us, or not to be looked at: better left alone.
        Ok(_) | Err(_) => return true,
    }
    match OpenOptions::new().write(true).open(&lock).map(|file| file.try_lock()) {
        Ok(Ok(())) => false,
        Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) | Err(_) => true,
    }
}

fn is_old(place: &Path, clock: &Clock) -> bool {
    let changed = fs::symlink_metadata(place).and_then(|found| found.modified());
    let age = changed.ok().and_then(|at| {
        let at = at.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(clock.now().since(Timestamp::from_millis(i64::try_from(at.as_millis()).ok()?)))
    });
    age.is_some_and(|age| age > FINISHED_BY)
}

/// Removes a room; links in it are removed, not followed.
fn remove(place: &Path) -> bool {
    match fs::remove_dir_all(place) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => {
            tracing::warn!(%error, place = %place.display(), "a room is left behind");
            false
        }
    }
}
