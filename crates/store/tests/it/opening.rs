//! Opening: places that work, places that do not, files that are not ours.

use std::fs;

use store::{Store, StoreError};

use crate::support;

#[test]
#[cfg(unix)]
fn folder_and_files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let (_dir, path) = support::place();
    let store = support::open(&path);
    support::session(&store);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = file.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_clean_close_leaves_one_file_and_its_lock() {
    let (_dir, path) = support::place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path.with_file_name("caiman.db-live-of-a-killed-process"), "").unwrap();
    support::session(&support::open(&path));
    let mut names: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["caiman.db", "caiman.db-lock"]);
}

#[test]
fn a_folder_in_its_place_is_named_and_left_alone() {
    let (_dir, path) = support::place();
    fs::create_dir_all(&path).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(&error, StoreError::Folder { path: named } if *named == path), "{error}");
    assert!(path.is_dir());
}

#[test]
fn a_file_where_the_folder_should_be_is_an_error_that_names_it() {
    let (_dir, path) = support::place();
    fs::write(path.parent().unwrap(), "in the way").unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(error.to_string().contains(&*path.parent().unwrap().to_string_lossy()), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_place_that_cannot_be_written_is_an_error_that_names_it() {
    let error = Store::open(std::path::Path::new("/proc/caiman/caiman.db")).unwrap_err();
    assert!(error.to_string().contains("/proc/caiman"), "{error}");
}

#[test]
fn a_database_of_the_future_is_refused_and_not_touched() {
    let (_dir, path) = support::place();
    support::session(&support::open(&path));
    support::raw(&path).pragma_update(None, "user_version", 9_999).unwrap();
    let before = fs::read(&path).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 9_999, .. }), "{error}");
    assert!(error.to_string().contains("update caiman"));
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn a_database_of_another_program_is_refused_and_not_touched() {
    let (_dir, path) = support::place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    support::raw(&path).execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    let before = fs::read(&path).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn an_empty_file_is_a_new_database() {
    let (_dir, path) = support::place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "").unwrap();
    support::session(&support::open(&path));
}

#[test]
fn opening_is_quick_and_needs_no_write_when_nothing_changed() {
    let (_dir, path) = support::place();
    support::session(&support::open(&path));
    let before = fs::read(&path).unwrap();
    drop(support::open(&path));
    assert!(fs::read(&path).unwrap() == before, "opening and closing changed the file");
}
