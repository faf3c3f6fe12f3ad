//! What a fingerprint covers.

use super::*;

fn hash(folder: &Path) -> Option<String> {
    Fingerprint::of(folder).unwrap().map(|it| it.hash)
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn every_file_that_can_run_something_counts_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(hash(folder), None);
    write(folder, "README.md", "hello");
    write(folder, ".claude/projects/x.jsonl", "log");
    assert_eq!(hash(folder), None);
    let mut seen = Vec::new();
    let names = [
        "caiman.json",
        ".crush.json",
        ".mcp.json",
        ".claude/settings.local.json",
        ".claude/hooks/deep/er/check.sh",
        ".caiman/agents/a.md",
        ".agents/skills/x/SKILL.md",
        ".claude/output-styles/terse.md",
        ".caiman/plugins/kit/hooks/run.sh",
    ];
    for name in names {
        write(folder, name, "1");
        let added = hash(folder).unwrap();
        write(folder, name, "2");
        let changed = hash(folder).unwrap();
        assert_ne!(added, changed, "{name}");
        assert!(!seen.contains(&changed), "{name}");
        seen.push(changed);
    }
    let found = Fingerprint::of(folder).unwrap().unwrap();
    assert_eq!(found.files.len(), names.len());
    write(folder, "src/main.rs", "fn main() {}");
    assert_eq!(hash(folder).as_ref(), seen.last());
}

#[test]
fn moving_text_between_files_is_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, ".caiman/hooks/a", "xy");
    write(folder, ".caiman/hooks/b", "z");
    let before = hash(folder);
    write(folder, ".caiman/hooks/a", "x");
    write(folder, ".caiman/hooks/b", "yz");
    assert_ne!(hash(folder), before);
}

#[test]
fn a_folder_is_trusted_until_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "caiman.json", "{}");
    let mut list = TrustedFolders::default();
    assert_eq!(list.state(folder).unwrap(), TrustState::Unknown);
    let trusted = TrustedFolder { hash: hash(folder).unwrap(), since: Timestamp::from_millis(1) };
    list.folders.insert(folder.to_owned(), trusted);
    assert_eq!(list.state(folder).unwrap(), TrustState::Trusted);
    write(folder, ".claude/commands/new.md", "x");
    assert_eq!(list.state(folder).unwrap(), TrustState::Changed);
}

#[test]
fn the_list_survives_a_round_trip_and_damage_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trust.json");
    assert_eq!(TrustedFolders::read(&file).unwrap(), TrustedFolders::default());
    let entry = TrustedFolder { hash: "ab".into(), since: Timestamp::from_millis(7) };
    let list = TrustedFolders {
        folders: [(PathBuf::from("/p"), entry)].into(),
        ..TrustedFolders::default()
    };
    fs::write(&file, serde_json::to_string(&list).unwrap()).unwrap();
    assert_eq!(TrustedFolders::read(&file).unwrap(), list);
    fs::write(&file, "{").unwrap();
    assert!(matches!(TrustedFolders::read(&file), Err(TrustError::Damaged { .. })));
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_recorded_without_being_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "script", "1");
    let folder = folder.path();
    fs::create_dir_all(folder.join(".caiman/hooks")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("script"), folder.join(".caiman/hooks/s"))
        .unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.join("caiman.json")).unwrap();
    std::os::unix::fs::symlink(folder, folder.join(".caiman/agents")).unwrap();
    let before = hash(folder).unwrap();
    write(outside.path(), "script", "2");
    assert_ne!(hash(folder).unwrap(), before);
}
