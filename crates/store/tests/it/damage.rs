//! Damaged files: never a panic, never a lost byte of the original.

use std::fs;
use std::path::Path;

use base::SessionId;
use store::{SessionFilter, Store, StoreError};

use crate::support;

/// A sound database of about `entries` KiB, closed.
fn sound(path: &Path, entries: usize) -> SessionId {
    let store = support::open(path);
    let session = support::session(&store);
    store.append(session, support::chain(entries, 900)).wait().unwrap();
    session
}

/// Damages a database, opens it, and reads all there is.
fn survives(case: &str, damaged: &[u8]) -> Option<std::path::PathBuf> {
    let (_dir, path) = support::place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, damaged).unwrap();
    match Store::open(&path) {
        Ok(opened) => {
            if let Some(aside) = &opened.moved_aside {
                assert!(fs::read(aside).unwrap() == damaged, "{case}: bytes were lost");
                assert!(opened.store.sessions(SessionFilter::default()).wait().unwrap().is_empty());
                support::session(&opened.store);
            } else {
                read_all(&opened.store);
                // What looks sound must at least take new sessions, or say why not.
                if let Err(error) =
                    opened.store.create_session(support::new_session("/n", 1)).wait()
                {
                    assert!(matches!(error, StoreError::Corrupt { .. }), "{case}: {error}");
                }
            }
            opened.moved_aside
        }
        // Flips in the header can make it another program's file, or one of the future.
        Err(StoreError::Foreign { .. } | StoreError::Newer { .. }) => {
            assert!(fs::read(&path).unwrap() == damaged, "{case}: it was touched");
            None
        }
        Err(error) => panic!("{case}: {error}"),
    }
}

/// Reads everything; errors are fine, panics are not.
fn read_all(store: &Store) {
    for session in store.sessions(SessionFilter::default()).wait().unwrap_or_default() {
        drop(store.tree(session.id).wait());
        drop(store.branch(session.id).wait());
        drop(store.window(session.id, None, 10).wait());
    }
    drop(store.check().wait());
}

fn bytes_of_a_sound_database() -> Vec<u8> {
    let (_dir, path) = support::place();
    sound(&path, 100);
    fs::read(&path).unwrap()
}

#[test]
fn garbage_is_moved_aside() {
    for length in [1, 10, 99, 100, 511, 512, 1_000, 4_096, 102_400] {
        let noise: Vec<u8> = (1..=251).cycle().take(length).collect();
        assert!(survives(&format!("{length} bytes of noise"), &noise).is_some(), "{length}");
    }
}

#[test]
fn a_truncated_file_is_moved_aside() {
    let whole = bytes_of_a_sound_database();
    for eighth in 1..32 {
        let cut = whole.len() * eighth / 32;
        assert!(survives(&format!("cut at {cut}"), &whole[..cut]).is_some(), "cut at {cut}");
    }
    assert!(survives("one byte short", &whole[..whole.len() - 1]).is_some());
}

#[test]
fn a_zeroed_page_never_panics_and_a_zeroed_header_is_moved_aside() {
    let whole = bytes_of_a_sound_database();
    for page in 0..whole.len() / 4_096 {
        let mut damaged = whole.clone();
        damaged[page * 4_096..(page + 1) * 4_096].fill(0);
        let aside = survives(&format!("page {page} zeroed"), &damaged);
        assert!(aside.is_some() || page > 0, "page {page}");
    }
}

#[test]
fn flipped_bits_never_panic_and_lose_nothing() {
    let whole = bytes_of_a_sound_database();
    let mut at = 7_usize;
    for round in 0..60 {
        let mut damaged = whole.clone();
        for _ in 0..=round % 8 {
            at = (at * 7_919 + 12_345) % whole.len();
            damaged[at] ^= 1 << (round % 8);
        }
        survives(&format!("flips of round {round}"), &damaged);
    }
    for at in 0..100 {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        survives(&format!("header byte {at}"), &damaged);
    }
}

#[test]
fn damage_met_at_run_time_names_the_file_and_the_next_opening_moves_it_aside() {
    let (_dir, path) = support::place();
    let session = sound(&path, 3_000);
    let mut bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > 1024 * 1024, "too small to skip the look at every page");
    let half = bytes.len() / 2;
    bytes[half..].fill(0xa5);
    fs::write(&path, &bytes).unwrap();

    let error = support::open(&path).branch(session).wait().unwrap_err();
    assert!(matches!(&error, StoreError::Corrupt { path: named, .. } if *named == path), "{error}");
    let opened = Store::open(&path).unwrap();
    assert_eq!(fs::read(opened.moved_aside.unwrap()).unwrap(), bytes);
}

#[test]
fn a_file_another_process_has_open_is_not_moved_under_it() {
    let (_dir, path) = support::place();
    sound(&path, 1);
    fs::write(&path, [0x5a; 8_192]).unwrap();
    let other_process = fs::File::open(path.with_file_name("caiman.db-lock")).unwrap();
    other_process.lock_shared().unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), [0x5a; 8_192]);
    other_process.unlock().unwrap();
    assert!(Store::open(&path).unwrap().moved_aside.is_some());
}

#[test]
fn a_suspicion_that_proves_wrong_is_dropped() {
    let (_dir, path) = support::place();
    sound(&path, 1);
    let suspicion = path.with_file_name("caiman.db-suspect");
    fs::write(&suspicion, "").unwrap();
    drop(support::open(&path));
    assert!(!suspicion.exists());
}

#[test]
fn two_damaged_files_keep_two_names() {
    let (_dir, path) = support::place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut names = Vec::new();
    for noise in ["first noise", "second noise"] {
        fs::write(&path, noise).unwrap();
        let opened = Store::open(&path).unwrap();
        drop(opened.store);
        let aside = opened.moved_aside.unwrap();
        assert_eq!(fs::read_to_string(&aside).unwrap(), noise);
        assert!(aside.to_string_lossy().contains("caiman.db.corrupt-"), "{}", aside.display());
        names.push(aside);
    }
    assert!(names[0] != names[1] && names[0].exists());
}

#[test]
fn a_wal_without_its_database_goes_aside_with_it() {
    let (_dir, path) = support::place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, [0x5a; 8_192]).unwrap();
    fs::write(path.with_file_name("caiman.db-wal"), [7; 5_000]).unwrap();
    let aside = Store::open(&path).unwrap().moved_aside.unwrap();
    let wal = format!("{}-wal", aside.display());
    assert_eq!(fs::read(wal).unwrap(), vec![7; 5_000]);
}

/// A small file system of its own, gone when dropped.
#[cfg(target_os = "linux")]
struct SmallDisk(tempfile::TempDir);

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "only these programs make and remove a file system")]
impl SmallDisk {
    fn new() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(dir.path());
        let mounted = mount.status().is_ok_and(|status| status.success());
        if !mounted {
            let line = b"SKIPPED: no file system can be mounted here\n";
            std::io::Write::write_all(&mut std::io::stderr(), line).unwrap();
        }
        mounted.then_some(Self(dir))
    }
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "only these programs make and remove a file system")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        std::process::Command::new("umount").arg("-l").arg(self.0.path()).status().ok();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_called_full_at_every_step() {
    let Some(disk) = SmallDisk::new() else { return };
    let path = disk.0.path().join("caiman.db");
    let store = support::open(&path);
    let session = support::session(&store);
    let filler = disk.0.path().join("filler");
    // Full, but for what the file system rounds up.
    fs::write(&filler, vec![1; 1 << 20]).ok();
    let error = store.append(session, support::chain(200, 900)).wait().unwrap_err();
    assert!(error.to_string().starts_with("the disk is full:"), "{error}");
    drop(store);
    // Even the first page of the log has no room now.
    match Store::open(&path)
        .map(|opened| opened.store.append(session, support::chain(200, 900)).wait())
    {
        Ok(Ok(())) => panic!("there is no room"),
        Ok(Err(error)) | Err(error) => {
            assert!(error.to_string().starts_with("the disk is full:"), "{error}");
        }
    }
    fs::remove_file(&filler).unwrap();
    let store = support::open(&path);
    store.append(session, support::chain(3, 900)).wait().unwrap();
}
