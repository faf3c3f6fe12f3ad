//! The settings: which files count, and what is wrong in them.

use settings::{FileState, Severity};

use super::{Check, Section};
use crate::app::App;

/// Looks at the settings of the working folder.
pub(super) fn section(app: &App) -> Section {
    let loaded = settings::load(&app.sources());
    let read = loaded.files.iter().filter(|file| file.state == FileState::Read).count();
    let mut checks = vec![Check::good(match read {
        0 => "no settings files; the defaults count".to_owned(),
        1 => "1 settings file".to_owned(),
        read => format!("{read} settings files"),
    })];
    checks.extend(loaded.problems.iter().map(|problem| {
        let fix = problem.hint.clone().unwrap_or_else(|| "caiman config check".to_owned());
        match problem.severity {
            Severity::Note => Check::good(problem.to_string()),
            Severity::Warning => Check::warning(problem.to_string(), fix),
            Severity::Error => Check::failed(problem.to_string(), fix),
        }
    }));
    Section { name: "settings", checks }
}
