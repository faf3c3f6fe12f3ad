//! Whether a program is installed, without starting it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base::Env;
use tokio::time::Instant;

use super::catalog::Spec;

/// How long an answer holds: somebody may install a server while we run.
const HOLDS: Duration = Duration::from_secs(30);

/// Programs that were looked for.
#[derive(Debug)]
pub(crate) struct Programs {
    folders: Vec<PathBuf>,
    toolchains: Option<PathBuf>,
    known: Mutex<HashMap<String, (bool, Instant)>>,
}

impl Programs {
    pub(crate) fn new(env: &Env) -> Self {
        let absolute = env.with_absolute_path();
        let folders = std::env::split_paths(absolute.get("PATH").unwrap_or("/bin:/usr/bin"));
        let folders = folders.collect();
        let rustup = env.get("RUSTUP_HOME").map(PathBuf::from);
        let rustup = rustup.or_else(|| Some(Path::new(env.get("HOME")?).join(".rustup")));
        let toolchains = rustup.map(|home| home.join("toolchains"));
        Self { folders, toolchains, known: Mutex::default() }
    }

    /// Whether a server can be started.
    pub(crate) fn has(&self, spec: &Spec) -> bool {
        let command = spec.command.as_str();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((found, at)) = known.get(command)
            && at.elapsed() < HOLDS
        {
            return *found;
        }
        let found = self.look(command, spec.least_version);
        known.insert(command.to_owned(), (found, Instant::now()));
        found
    }

    fn look(&self, command: &str, least: Option<u64>) -> bool {
        if command.contains('/') {
            return is_program(Path::new(command));
        }
        let file = self.folders.iter().map(|folder| folder.join(command)).find(|it| is_program(it));
        file.is_some_and(|file| {
            let is_new = least.is_none_or(|least| version(&file).is_some_and(|it| it >= least));
            is_new && (!is_rustup(&file) || self.has_component(command))
        })
    }

    /// Rustup puts a stand-in on the path for what it has not installed.
    fn has_component(&self, command: &str) -> bool {
        let Some(toolchains) = &self.toolchains else { return false };
        let Ok(entries) = std::fs::read_dir(toolchains) else { return false };
        entries.flatten().any(|entry| is_program(&entry.path().join("bin").join(command)))
    }
}

/// The main version of the npm package a program comes with.
fn version(file: &Path) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Package {
        version: String,
    }
    let real = std::fs::canonicalize(file).ok()?;
    // The program is in `bin` or `lib` of its package.
    let package = real.parent()?.parent()?.join("package.json");
    let package: Package = serde_json::from_slice(&std::fs::read(package).ok()?).ok()?;
    package.version.split('.').next()?.parse().ok()
}

fn is_rustup(file: &Path) -> bool {
    let real = std::fs::canonicalize(file).unwrap_or_default();
    real.file_name().is_some_and(|name| name == "rustup")
        || file.with_file_name("rustup").metadata().is_ok_and(|stand_in| same_file(&stand_in, file))
}

#[cfg(unix)]
fn same_file(one: &std::fs::Metadata, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    other.metadata().is_ok_and(|other| (one.dev(), one.ino()) == (other.dev(), other.ino()))
}

#[cfg(not(unix))]
fn same_file(_one: &std::fs::Metadata, _other: &Path) -> bool {
    false
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}
