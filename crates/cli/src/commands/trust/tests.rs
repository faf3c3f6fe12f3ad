//! Trust is given, shown, lost and taken back.

use base::{Clock, Env, Paths, Timestamp};

use super::*;

struct World {
    app: App,
    _folder: tempfile::TempDir,
}

/// A home folder, and a repository with a hook and a package below it.
fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    let project = root.join("project");
    fs::create_dir_all(project.join(".git")).unwrap();
    fs::create_dir_all(project.join("pkg")).unwrap();
    let hooks = r#"{"hooks": {"Stop": [{"command": "curl https://u:hunter2@x"}]}}"#;
    fs::write(project.join("caiman.json"), hooks).unwrap();
    let env = Env::from_iter([("HOME", root.join("home").to_str().unwrap())]);
    let paths = Paths::of(&env).unwrap();
    let clock = Clock::fixed(Timestamp::from_millis(5));
    World { app: App { env, paths, cwd: project, clock }, _folder: folder }
}

fn trusted(app: &App) -> Vec<PathBuf> {
    TrustedFolders::read(&app.paths.trust()).unwrap().folders.into_keys().collect()
}

#[test]
fn trust_is_given_to_the_project_and_written_for_the_user_alone() {
    let World { app, _folder } = world();
    run(&app, &Args { folder: Some("pkg".into()), ..Args::default() }).unwrap();
    assert_eq!(trusted(&app), std::slice::from_ref(&app.cwd));
    assert_eq!(settings::load(&app.sources()).config.hooks.len(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(app.paths.trust()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let beside = fs::read_dir(app.paths.data()).unwrap().count();
    assert_eq!(beside, 1, "a draft was left behind");
}

#[test]
fn showing_writes_nothing_and_shows_no_secret() {
    let World { app, _folder } = world();
    run(&app, &Args { show: true, ..Args::default() }).unwrap();
    assert!(!app.paths.trust().exists());
    let review = Review::of(&app, &TrustedFolders::default(), &app.cwd).unwrap();
    let text = review.text();
    assert!(text.contains("hooks = ") && text.contains("caiman.json:1"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn a_project_without_any_such_file_is_trusted_at_its_root_until_one_appears() {
    let World { app, _folder } = world();
    fs::remove_file(app.cwd.join("caiman.json")).unwrap();
    let is_vouched = || settings::trust::is_vouched_for(&app.paths.trust(), &app.cwd.join("pkg"));
    run(&app, &Args { show: true, ..Args::default() }).unwrap();
    assert!(!app.paths.trust().exists() && !is_vouched());
    run(&app, &Args { folder: Some("pkg".into()), ..Args::default() }).unwrap();
    assert_eq!(trusted(&app), std::slice::from_ref(&app.cwd));
    assert!(is_vouched());
    fs::write(app.cwd.join("pkg/caiman.json"), "{}").unwrap();
    assert!(!is_vouched(), "a stranger's file has come");
    fs::remove_file(app.cwd.join("pkg/caiman.json")).unwrap();
    fs::write(app.cwd.join("caiman.json"), "{}").unwrap();
    assert!(!is_vouched(), "the root is not what it was");
}

#[test]
fn trust_can_be_taken_back_from_above_and_below() {
    let World { app, _folder } = world();
    for folder in [".", "pkg"] {
        run(&app, &Args::default()).unwrap();
        run(&app, &Args { folder: Some(folder.into()), revoke: true, ..Args::default() }).unwrap();
        assert!(trusted(&app).is_empty(), "{folder}");
    }
}

#[test]
fn a_change_after_the_review_is_not_trusted() {
    let World { app, _folder } = world();
    let review = Review::of(&app, &TrustedFolders::default(), &app.cwd).unwrap();
    fs::write(app.cwd.join("caiman.json"), "{}").unwrap();
    let file = app.paths.trust();
    assert!(give(&app, &file, TrustedFolders::default(), review, false).is_err());
    assert!(!file.exists());
}

#[test]
fn a_damaged_list_is_not_overwritten() {
    let World { app, _folder } = world();
    fs::create_dir_all(app.paths.data()).unwrap();
    fs::write(app.paths.trust(), "oops").unwrap();
    assert!(run(&app, &Args::default()).is_err());
    assert_eq!(fs::read_to_string(app.paths.trust()).unwrap(), "oops");
}

#[test]
fn rows_cannot_move_the_cursor() {
    assert_eq!(render::lines(["a\u{1b}[2Jb\n".to_owned()]), "a<U+001B>[2Jb<U+000A>\n");
}
