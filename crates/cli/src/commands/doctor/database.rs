//! The database: a copy of it is opened and every page read, because opening moves a damaged one aside and
//! brings an old one up to date.

use std::fs;
use std::io;
use std::path::Path;

use store::{Store, StoreError};

use super::scratch::Scratch;
use super::{Check, Section};
use crate::app::App;

/// Larger ones are not copied.
const LIMIT_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Looks at the database.
pub(super) fn section(app: &App) -> Section {
    Section { name: "database", checks: vec![check(&app.paths.database())] }
}

fn check(path: &Path) -> Check {
    let shown = path.display();
    let size = match fs::metadata(path) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Check::good(format!("none yet; the first session makes {shown}"));
        }
        Err(error) => {
            return Check::failed(format!("cannot look at {shown}: {error}"), "mend its rights");
        }
    };
    if size > LIMIT_BYTES {
        return Check::warning(
            format!("{shown} is too large to be checked ({} MB)", size / 1_000_000),
            "sqlite3 caiman.db 'PRAGMA integrity_check'",
        );
    }
    // A copy made while another caiman writes can be torn, so damage must be seen twice.
    match look(path).or_else(|_| look(path)) {
        Ok(()) => Check::good(format!("{shown} is sound ({} kB)", size / 1000)),
        Err(why) => Check::failed(
            format!("{shown}: {why}"),
            "the next start keeps the file aside and begins a new one; keep a copy if in doubt",
        ),
    }
}

fn look(path: &Path) -> Result<(), String> {
    let copy = copy(path).map_err(|error| format!("cannot be copied: {error}"))?;
    let opened = Store::open(&copy.path().join("caiman.db")).map_err(|it| plain(&it, &copy))?;
    if opened.moved_aside.is_some() {
        return Err("it is damaged".to_owned());
    }
    opened.store.check().wait().map_err(|error| plain(&error, &copy))
}

/// The error without the copy's place in it.
fn plain(error: &StoreError, copy: &Scratch) -> String {
    error.to_string().replace(&format!("{}/", copy.path().display()), "")
}

fn copy(path: &Path) -> io::Result<Scratch> {
    let copy = Scratch::new()?;
    fs::copy(path, copy.path().join("caiman.db"))?;
    let mut journal = path.as_os_str().to_owned();
    journal.push("-wal");
    match fs::copy(journal, copy.path().join("caiman.db-wal")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(_) | Err(_) => Ok(copy),
    }
}
