//! Which files are read, in which order, and whose they are.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::claude_state::{self, State};
use super::compat::Format;
use base::env::Env;
use base::paths::Paths;

/// Largest file that is read: settings are written by hand.
const SIZE_LIMIT: u64 = 1024 * 1024;
/// The same for Claude Code's state, which grows by itself.
const STATE_LIMIT: u64 = 64 * 1024 * 1024;

/// The files of one folder of a project, lowest priority first.
pub(crate) const PROJECT_FILES: [&str; 7] = [
    ".mcp.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    "crush.json",
    ".crush.json",
    "caiman.json",
    ".caiman.json",
];

/// A place where settings may be.
pub(super) struct Layer {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    /// The project's folder it lies in; none for the user's and the machine's files.
    pub(super) folder: Option<PathBuf>,
    /// What it says, where that is only a part of the file.
    pub(super) text: Option<String>,
}

/// Every place that is looked at, lowest priority first.
pub(super) fn layers(paths: &Paths, env: &Env, cwd: &Path) -> Vec<Layer> {
    let state = state(paths, env);
    let mut layers: Vec<Layer> = Vec::new();
    let mut add = |path: PathBuf, folder: Option<&PathBuf>| {
        // A home folder that is itself a project would otherwise be read twice, once as each.
        if layers.iter().any(|known| known.path == path) {
            return;
        }
        let format = format_of(&path);
        let is_state = |state: &&State| state.path == path;
        let text = state.as_ref().filter(is_state).map(State::of_user);
        layers.push(Layer { path, format, folder: folder.cloned(), text });
        // What the user has added for this folder alone goes before what everybody has here.
        if let (Format::Mcp, Some(folder), Some(state)) = (format, folder, &state) {
            let text = state.of_folder(folder);
            let layer = |text| Layer { path: state.path.clone(), format, folder: None, text };
            layers.extend(text.map(|text| layer(Some(text))));
        }
    };
    for path in user_files(paths, env) {
        add(path, None);
    }
    for folder in &project_folders(cwd) {
        for name in PROJECT_FILES {
            add(folder.join(name), Some(folder));
        }
    }
    layers
}

fn user_files(paths: &Paths, env: &Env) -> Vec<PathBuf> {
    // Crush keeps to the XDG folders on every platform.
    let crush = |variable: &str, usual: &str| {
        let folder = env.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        folder.unwrap_or_else(|| paths.home().join(usual)).join("crush/crush.json")
    };
    let claude = claude_folder(env).unwrap_or_else(|| paths.home().join(".claude"));
    vec![
        paths.system().join("caiman.json"),
        crush("XDG_CONFIG_HOME", ".config"),
        crush("XDG_DATA_HOME", ".local/share"),
        state_file(paths, env),
        claude.join("settings.json"),
        paths.config().join("caiman.json"),
    ]
}

/// Where Claude Code's files are, if the user has moved them. A relative folder would be looked for in the project
/// and so make its files the user's.
fn claude_folder(env: &Env) -> Option<PathBuf> {
    env.get("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|path| path.is_absolute())
}

fn state_file(paths: &Paths, env: &Env) -> PathBuf {
    claude_folder(env).as_deref().unwrap_or(paths.home()).join(claude_state::NAME)
}

/// Claude Code's state; none where it cannot be read.
fn state(paths: &Paths, env: &Env) -> Option<State> {
    let path = state_file(paths, env);
    let text = text_of(&path, None, STATE_LIMIT).ok()??;
    Some(State { path, text })
}

fn format_of(path: &Path) -> Format {
    match path.file_name().and_then(|name| name.to_str()) {
        Some(".mcp.json" | claude_state::NAME) => Format::Mcp,
        Some("settings.json" | "settings.local.json") => Format::Claude,
        Some(_) | None => Format::Settings,
    }
}

/// The folders of a project from its root down to `cwd`. The root is the nearest folder with a
/// `.git`; outside of any repository it is `cwd` itself.
pub fn project_folders(cwd: &Path) -> Vec<PathBuf> {
    let above: Vec<&Path> = cwd.ancestors().collect();
    let root = above.iter().position(|folder| folder.join(".git").exists()).unwrap_or(0);
    above[..=root].iter().rev().map(|folder| folder.to_path_buf()).collect()
}

/// Why a file that exists is not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("cannot read this file: {0}")]
    Io(#[from] io::Error),
    #[error("this is not a regular file")]
    NotAFile,
    #[error("this file is larger than {} KiB", .0 / 1024)]
    TooLarge(u64),
    #[error("this file is a link that leaves the project")]
    Outside,
    #[error("this file is not UTF-8 text")]
    NotText,
}

/// The text of a layer; none where there is no file.
pub(super) fn read(layer: &Layer) -> Result<Option<String>, Unreadable> {
    match &layer.text {
        Some(text) => Ok(Some(text.clone())),
        None => text_of(&layer.path, layer.folder.as_deref(), SIZE_LIMIT),
    }
}

fn text_of(path: &Path, folder: Option<&Path>, limit: u64) -> Result<Option<String>, Unreadable> {
    // Asked before opening: opening a named pipe would wait for its writer.
    let is_file = match fs::metadata(path) {
        Ok(found) => found.is_file(),
        Err(error) => return absent(path, error),
    };
    if !is_file {
        return Err(Unreadable::NotAFile);
    }
    if let Some(folder) = folder
        && !lies_in(path, folder)?
    {
        return Err(Unreadable::Outside);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Unreadable::TooLarge(limit));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| Unreadable::NotText)
}

fn absent(path: &Path, error: io::Error) -> Result<Option<String>, Unreadable> {
    let nothing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    // A link to nothing is somebody's mistake; a missing file is nobody's.
    if nothing.contains(&error.kind()) && fs::symlink_metadata(path).is_err() {
        return Ok(None);
    }
    Err(error.into())
}

/// Whether the file, links followed, lies in the folder. Only a link can lead out, so the usual file
/// costs one look.
fn lies_in(path: &Path, folder: &Path) -> io::Result<bool> {
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    if !is_link(path) && !path.parent().is_some_and(is_link) {
        return Ok(true);
    }
    Ok(fs::canonicalize(path)?.starts_with(fs::canonicalize(folder)?))
}
