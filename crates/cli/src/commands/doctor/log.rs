//! The log: where it is, and whether it can be written.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use super::{Check, Section};
use crate::app::App;
use crate::log;

/// Names the log file.
pub(super) fn section(app: &App) -> Section {
    Section { name: "log", checks: vec![check(&log::path(&app.paths))] }
}

fn check(path: &Path) -> Check {
    let shown = path.display();
    match OpenOptions::new().append(true).open(path) {
        Ok(_) => {
            let size = fs::metadata(path).map_or(0, |found| found.len());
            Check::good(format!("{shown} ({} kB; `options.debug` writes more)", size / 1000))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Check::good(format!("none yet; the first line makes {shown}"))
        }
        Err(error) => Check::warning(
            format!("{shown} cannot be written: {error}"),
            "make it a file of yours that you may write, or remove it",
        ),
    }
}
