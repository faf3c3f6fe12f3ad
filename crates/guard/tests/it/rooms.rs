//! Rooms: private while they are used, gone when they are not, also after a kill.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base::{Clock, Env};
use guard::Room;
use guard::room::sweep;

/// Names the temporary folder to the process that holds a room.
const HOLD_IN: &str = "CAIMAN_TEST_HOLD_A_ROOM_IN";

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Another process that holds a room, and the room's folder.
struct Holder {
    process: Child,
    folder: PathBuf,
}

impl Holder {
    fn start(temp: &Path) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the process under test is this test itself")]
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "rooms::holds_a_room_until_it_is_killed", "--nocapture"])
            .env(HOLD_IN, temp)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let folder = lines.find_map(|line| {
            let line = line.unwrap();
            line.split_once("holding ").map(|(_, folder)| PathBuf::from(folder))
        });
        Self { process, folder: folder.unwrap() }
    }

    fn kill(mut self) -> PathBuf {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.folder
    }
}

#[test]
fn holds_a_room_until_it_is_killed() {
    let env = Env::of_process();
    let Some(temp) = env.get(HOLD_IN) else { return };
    let room = Room::new(Path::new(temp)).unwrap();
    fs::write(room.folder().join("page.md"), "page").unwrap();
    println!("holding {}", room.folder().display());
    loop {
        std::thread::park();
    }
}

#[test]
fn a_room_is_private_unpredictable_and_gone_when_dropped() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = (Room::new(temp.path()).unwrap(), Room::new(temp.path()).unwrap());
    assert_ne!(one.folder(), other.folder());
    for folder in [one.folder(), one.folder().parent().unwrap()] {
        assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    }
    let fence = one.fence().unwrap();
    fence.replace(&fence.locate("/home/agent/a/page.md").unwrap(), b"page").unwrap();
    assert!(one.folder().join("a/page.md").exists());
    assert!(names(one.folder()) == ["a"], "the lock is not the session's to see");
    symlink("/etc", one.folder().join("link")).unwrap();
    drop(one);
    assert_eq!(names(temp.path()).len(), 1);
    assert!(Path::new("/etc/passwd").exists());
    drop(other);
    assert!(names(temp.path()).is_empty());
}

#[test]
fn a_room_is_gone_after_a_panic_too() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().to_owned();
    let ended = std::thread::spawn(move || {
        let room = Room::new(&path).unwrap();
        fs::write(room.folder().join("x"), "x").unwrap();
        panic!("on purpose, with {}", room.folder().exists());
    });
    assert!(ended.join().is_err());
    assert!(names(temp.path()).is_empty());
}

#[test]
fn the_next_start_removes_what_a_killed_process_left() {
    let temp = tempfile::tempdir().unwrap();
    let clock = Clock::system();
    let (dies, lives) = (Holder::start(temp.path()), Holder::start(temp.path()));
    let own = Room::new(temp.path()).unwrap();
    assert_eq!(sweep(temp.path(), &clock), 0, "all three are in use");
    let left = dies.kill();
    assert!(left.join("page.md").exists(), "nobody could clean up");
    assert_eq!(sweep(temp.path(), &clock), 1);
    assert!(!left.exists() && lives.folder.exists() && own.folder().exists());
    lives.kill();
    assert_eq!((sweep(temp.path(), &clock), sweep(temp.path(), &clock)), (1, 0));
    assert_eq!(names(temp.path()).len(), 1);
}

#[test]
fn a_sweep_touches_only_rooms() {
    let temp = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("kept"), "x").unwrap();
    symlink(elsewhere.path(), temp.path().join("caiman-room-link")).unwrap();
    fs::write(temp.path().join("caiman-room-file"), "x").unwrap();
    fs::create_dir(temp.path().join("caiman-something")).unwrap();
    fs::create_dir(temp.path().join("caiman-new-room-1")).unwrap();
    let half_removed = temp.path().join("caiman-room-half");
    fs::create_dir_all(half_removed.join("home")).unwrap();
    symlink(elsewhere.path(), half_removed.join("home/link")).unwrap();
    let clock = Clock::system();
    assert_eq!(sweep(temp.path(), &clock), 1);
    assert!(!half_removed.exists() && elsewhere.path().join("kept").exists());
    assert_eq!(names(temp.path()).len(), 4);
    // What somebody began to make an hour ago is never finished.
    let later = Clock::fixed(clock.now());
    later.advance(Duration::from_hours(2));
    assert_eq!(sweep(temp.path(), &later), 1);
    assert_eq!(sweep(&temp.path().join("not-there"), &later), 0);
}
