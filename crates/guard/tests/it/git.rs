//! Only `guard::git` starts git.

use std::path::{Path, PathBuf};

/// The sources of all crates, without their tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_test = ["tests", "benches", "target"].contains(&name.as_str());
        if path.is_dir() && !is_test {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

#[test]
fn no_other_place_starts_git() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    sources(crates, &mut files);
    assert!(files.len() > 100, "{} files", files.len());
    let ways = ["Command::new(", "CommandLine::new(", "program:", "find_program(", "version(app,"];
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_ours = file.ends_with("guard/src/git.rs");
        for way in ways {
            let starts = [format!("{way}\"git\""), format!("{way} \"git\"")];
            let starts = starts.iter().any(|start| text.contains(start.as_str()));
            assert!(is_ours || !starts, "{} starts git: use guard::git", file.display());
        }
        let shells = ["shell(\"git ", "shell(format!(\"git "];
        let in_shell = shells.iter().any(|shell| text.contains(shell));
        assert!(!in_shell, "{} starts git in a shell: use guard::git", file.display());
    }
}
