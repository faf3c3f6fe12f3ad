//! The architecture check: arrows between rooms point down, and no file is forgotten.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::unread;

/// Which room may use which. A room that is not here must be added here first.
const ARROWS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("settings", &["base"]),
    ("llm", &["base", "settings"]),
    ("store", &["base"]),
    ("guard", &["base", "settings"]),
    ("tui", &["base"]),
    ("links", &["base", "settings", "guard"]),
    ("gateway", &["base", "store"]),
    ("tools", &["base", "settings", "guard", "store", "links"]),
    ("agent", &["base", "settings", "llm", "store", "guard", "links", "tools"]),
    (
        "cli",
        &["base", "settings", "llm", "store", "guard", "tui", "links", "gateway", "tools", "agent"],
    ),
    ("testkit", &["base", "settings"]),
    ("xtask", &["base", "settings"]),
];

/// Folders of plug-ins: each file must be named in the list beside its folder, not only compiled.
const PLUGINS: &[&str] = &[
    "tools/src/builtin",
    "llm/src/wire",
    "agent/src/commands",
    "gateway/src/channels",
    "cli/src/commands",
];

/// Everything that is wrong with the house under `root`, one line each.
pub(crate) fn check(root: &Path) -> Result<Vec<String>> {
    let crates = root.join("crates");
    let mut findings = Vec::new();
    for room in folders(&crates)? {
        let name = file_name(&room);
        let manifest = room.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)
            .with_context(|| format!("cannot read {}", manifest.display()))?;
        findings.extend(bad_arrows(&name, &text)?);
        for source in [room.join("src"), room.join("tests/it"), room.join("benches")] {
            findings.extend(forgotten_files(&source)?);
        }
    }
    findings.extend(unread::check(&crates)?);
    for folder in PLUGINS {
        findings.extend(unlisted_plugins(&crates.join(folder))?);
    }
    Ok(findings)
}

fn bad_arrows(room: &str, manifest: &str) -> Result<Vec<String>> {
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == room) else {
        return Ok(vec![format!(
            "room `{room}` is not in the table of arrows (xtask/src/house.rs)"
        )]);
    };
    let manifest: Table = manifest.parse().with_context(|| format!("Cargo.toml of {room}"))?;
    let mut findings = Vec::new();
    for (section, used) in uses(&manifest) {
        let for_tests = section.ends_with("dev-dependencies");
        for other in used {
            let fine = allowed.contains(&other.as_str()) || (for_tests && other == "testkit");
            if !fine {
                findings.push(format!("room `{room}` may not use `{other}` ([{section}])"));
            }
        }
    }
    Ok(findings)
}

/// Every dependency section of a manifest, with the rooms it names.
fn uses(manifest: &Table) -> Vec<(String, Vec<String>)> {
    const SECTIONS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let mut found = Vec::new();
    let mut collect = |prefix: &str, table: &Table| {
        for section in SECTIONS {
            if let Some(Value::Table(entries)) = table.get(section) {
                let rooms: Vec<String> = entries
                    .iter()
                    .map(|(name, entry)| renamed(name, entry))
                    .filter(|name| ARROWS.iter().any(|(room, _)| room == name))
                    .collect();
                found.push((format!("{prefix}{section}"), rooms));
            }
        }
    };
    collect("", manifest);
    if let Some(Value::Table(targets)) = manifest.get("target") {
        for (target, table) in targets {
            if let Value::Table(table) = table {
                collect(&format!("target.{target}."), table);
            }
        }
    }
    found
}

/// The real name of a dependency that may have been renamed or given by path.
fn renamed(name: &str, entry: &Value) -> String {
    let field = |key| entry.get(key).and_then(Value::as_str);
    let by_path = field("path").map(|path| file_name(Path::new(path)));
    field("package").map(str::to_owned).or(by_path).unwrap_or_else(|| name.to_owned())
}

/// Source files no `mod` line reaches: they are not compiled, and nobody notices.
fn forgotten_files(source: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in rust_files(source)? {
        let (name, folder) = (stem(&file), file.parent().unwrap_or(source));
        if file_name(&file) == "mod.rs" {
            findings.push(format!("{}: module files are `foo.rs`, not `mod.rs`", file.display()));
            continue;
        }
        let is_root = folder == source && matches!(name.as_str(), "lib" | "main");
        // Each benchmark is a target of its own; so is each file in `bin`.
        if is_root || file_name(source) == "benches" || file_name(folder) == "bin" {
            continue;
        }
        let parents = if folder == source {
            vec![source.join("lib.rs"), source.join("main.rs")]
        } else {
            vec![folder.with_extension("rs")]
        };
        let declared = parents.iter().filter_map(|path| fs::read_to_string(path).ok());
        if !declared.into_iter().any(|text| declares(&text, &name)) {
            findings.push(format!("{}: no `mod {name};` names this file", file.display()));
        }
    }
    Ok(findings)
}

/// Plug-ins that are compiled but not in their list.
fn unlisted_plugins(folder: &Path) -> Result<Vec<String>> {
    let list = folder.with_extension("rs");
    let Ok(text) = fs::read_to_string(&list) else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    for file in rust_files(folder)?.into_iter().filter(|file| file.parent() == Some(folder)) {
        let name = stem(&file);
        if !text.contains(&format!("{name}::")) {
            findings.push(format!("{}: not listed in {}", file.display(), list.display()));
        }
    }
    Ok(findings)
}

fn declares(text: &str, module: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim();
        let after_pub = line.strip_prefix("pub").map_or(line, |rest| {
            let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
            rest.map_or(line.trim_start_matches("pub"), |(_, after)| after)
        });
        after_pub.trim_start() == format!("mod {module};")
    })
}

fn folders(root: &Path) -> Result<BTreeSet<PathBuf>> {
    let entries = fs::read_dir(root).with_context(|| format!("cannot list {}", root.display()))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    Ok(paths.filter(|path| path.join("Cargo.toml").is_file()).collect())
}

pub(crate) fn rust_files(root: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_house_stands() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        assert_eq!(check(&root).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn an_upward_arrow_is_found_however_it_is_written() {
        for manifest in [
            "[dependencies]\nagent.workspace = true",
            "[build-dependencies]\nagent = { path = \"../agent\" }",
            "[dependencies]\nmind = { path = \"../agent\", package = \"agent\" }",
            "[target.'cfg(unix)'.dependencies]\nagent = { workspace = true }",
            "[dev-dependencies]\nagent.workspace = true",
        ] {
            let findings = bad_arrows("llm", manifest).unwrap();
            assert_eq!(findings.len(), 1, "{manifest}");
            assert!(findings[0].contains("`llm` may not use `agent`"), "{findings:?}");
        }
    }

    #[test]
    fn testkit_serves_tests_only() {
        assert!(
            bad_arrows("llm", "[dev-dependencies]\ntestkit.workspace = true").unwrap().is_empty()
        );
        assert_eq!(bad_arrows("llm", "[dependencies]\ntestkit.workspace = true").unwrap().len(), 1);
    }

    #[test]
    fn a_forgotten_file_and_an_unlisted_plugin_are_found() {
        let house = tempfile::tempdir().unwrap();
        let source = house.path().join("src");
        fs::create_dir_all(source.join("wire")).unwrap();
        fs::write(source.join("lib.rs"), "pub(crate) mod wire;\n").unwrap();
        fs::write(source.join("wire.rs"), "mod chat;\nmod gemini;\nfn f() { chat::f() }\n")
            .unwrap();
        for file in ["wire/chat.rs", "wire/gemini.rs", "wire/lost.rs"] {
            fs::write(source.join(file), "").unwrap();
        }
        let forgotten = forgotten_files(&source).unwrap();
        assert!(forgotten.len() == 1 && forgotten[0].contains("lost"), "{forgotten:?}");
        let unlisted = unlisted_plugins(&source.join("wire")).unwrap();
        assert!(unlisted.len() == 2 && unlisted[0].contains("gemini"), "{unlisted:?}");
    }
}
