//! How things stand in a folder before anything is said. No network, no key, no store.

use std::fs;
use std::path::{Path, PathBuf};

use base::protocol::{ModelChoice, Place, Trust};
use llm::catalog::{Catalog, Size};
use settings::Sources;

use super::Shared;
use crate::app::App;
use crate::catalog;
use crate::commands::{run, trust};
use crate::failure::Failure;

/// How a folder stands.
pub(super) fn of(shared: &Shared, folder: &Path) -> Result<Place, Failure> {
    let folder = real(folder)?;
    let sources = Sources { cwd: folder.clone(), ..shared.app.sources() };
    let settings = settings::load(&sources).config;
    let (catalog, _) = catalog::made(&shared.app, &settings);
    let (state, files) = trust::standing(&shared.app, &folder)?;
    let wants_init = agent::init::wants(&folder, &shared.app.paths);
    Ok(Place {
        branch: branch(&folder),
        trust: state,
        untrusted: files.iter().map(|file| below(file, &folder)).collect(),
        model: model(&catalog, shared.flags.voice.model.as_deref()),
        is_model_named: shared.flags.voice.model.is_some() || settings.models.large.is_some(),
        mode: run::mode(&shared.flags.lock, &settings),
        init: wants_init.then(|| settings.options.initialize_as.clone()),
        folder: folder.display().to_string(),
    })
}

/// Gives or refuses trust to a folder.
pub(super) fn trust(app: &App, folder: &Path, answer: Trust) -> Result<(), Failure> {
    trust::answer(app, &real(folder)?, answer)
}

fn real(folder: &Path) -> Result<PathBuf, Failure> {
    fs::canonicalize(folder)
        .map_err(|error| Failure::user(format!("cannot look into {}: {error}", folder.display())))
}

/// The model that will answer, if that shows without asking a server.
fn model(catalog: &Catalog, named: Option<&str>) -> Option<ModelChoice> {
    let model = match named {
        Some(text) => catalog.find(text).ok()?,
        None => catalog.default_model(Size::Large).ok()?,
    };
    let provider = catalog.provider(&model.provider).ok()?;
    Some(catalog::choice(&provider, &catalog.entry(&model).ok()?))
}

fn below(file: &Path, folder: &Path) -> String {
    file.strip_prefix(folder).unwrap_or(file).display().to_string()
}

/// The branch a folder's repository is on; the beginning of the commit where it is on none.
fn branch(folder: &Path) -> Option<String> {
    let git = folder.ancestors().map(|above| above.join(".git")).find(|git| git.exists())?;
    let git = if git.is_dir() { git } else { linked(&git)? };
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let head = head.trim();
    match head.strip_prefix("ref: ") {
        Some(name) => Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()),
        None => head.get(..8).map(str::to_owned),
    }
}

/// The folder that the `.git` file of a worktree or submodule names.
fn linked(file: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    let named = text.trim().strip_prefix("gitdir: ")?;
    Some(file.parent()?.join(named))
}
