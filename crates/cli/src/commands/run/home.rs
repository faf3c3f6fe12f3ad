//! Work in the home folder: a command could change everything of the user's there, so nobody gets there by accident.

use std::fs;
use std::path::Path;

use super::flags::Place;
use crate::app::App;
use crate::failure::Failure;

/// Refuses to work in the home folder, or in one that contains it, unless that was asked for.
pub(super) fn check(app: &App, place: &Place) -> Result<(), Failure> {
    if place.allow_home || !contains_home(app, &app.cwd) {
        return Ok(());
    }
    let message = format!("{} is or contains your home folder", app.cwd.display());
    Err(Failure::user(message)
        .hint("start caiman in the folder of a project")
        .hint("or pass --allow-home; commands may then change most of your files"))
}

/// What the user is told in the interface before anything runs there; `None` elsewhere.
pub(crate) fn warning(app: &App) -> Option<String> {
    contains_home(app, &app.cwd).then(|| {
        format!(
            "warning: you work in {}, which is or contains your home folder. Commands and edits may change most of \
             your files there. Start caiman in the folder of a project instead.",
            app.cwd.display()
        )
    })
}

fn contains_home(app: &App, folder: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(app.paths.home()).starts_with(real(folder))
}
