//! Work in the home folder: a command could change all files of the user there, so it does not happen by accident.

use std::fs;
use std::path::Path;

use base::protocol::Mode;

use super::flags::Place;
use crate::app::App;
use crate::failure::Failure;

/// Refuses to change files unasked in the home folder, or in one that contains it, unless that was asked for. In the
/// other modes nothing changes without a rule that says so.
pub(super) fn check(app: &App, place: &Place, mode: Mode) -> Result<(), Failure> {
    let changes_unasked = match mode {
        Mode::AcceptEdits | Mode::Bypass => true,
        Mode::Default | Mode::DontAsk | Mode::Plan => false,
    };
    if !changes_unasked || is_allowed(app, place) || !contains_home(app, &app.cwd) {
        return Ok(());
    }
    let message = format!(
        "{} is or contains your home folder, and this mode changes files unasked",
        app.cwd.display()
    );
    Err(Failure::user(message)
        .hint("start caiman in the folder of a project")
        .hint("or pass --allow-home: commands may then change most of your files"))
}

/// Whether the user wants to work there: by the flag, or by the variable, for machines whose only folder is home.
fn is_allowed(app: &App, place: &Place) -> bool {
    place.allow_home || app.env.get("CAIMAN_ALLOW_HOME").is_some_and(|value| !value.is_empty())
}

/// The warning of the interface before anything runs there; `None` elsewhere.
pub(crate) fn warning(app: &App, place: &Place) -> Option<String> {
    (contains_home(app, &app.cwd) && !is_allowed(app, place)).then(|| {
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
