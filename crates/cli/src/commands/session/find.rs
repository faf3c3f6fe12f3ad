//! Which session is meant: a whole id, its first digits, or `last`.

use std::path::Path;

use base::protocol::SessionSummary;
use store::{Place, Session, Store, project_of};

use super::text;
use crate::database::explain;
use crate::failure::Failure;

/// Stands for the newest session of the project.
pub(super) const LAST: &str = "last";
/// Candidates shown for digits that several sessions share.
const CANDIDATES: usize = 10;

/// Finds the one session that `id` means.
pub(crate) fn session(store: &Store, id: &str, cwd: &Path) -> Result<Session, Failure> {
    let found = if id == LAST { last(store, cwd)? } else { by_prefix(store, id)? };
    store.session(found.id).wait().map_err(explain)
}

/// The project of a folder, as sessions are tagged with it.
pub(super) fn project(cwd: &Path) -> String {
    project_of(cwd).to_string_lossy().into_owned()
}

fn last(store: &Store, cwd: &Path) -> Result<SessionSummary, Failure> {
    let found = store.last_session(Place::Project(project(cwd))).wait().map_err(explain)?;
    found.ok_or_else(|| {
        Failure::user(format!("there are no sessions in {} yet", project(cwd)))
            .hint("`caiman session list --all` lists those of every project")
    })
}

fn by_prefix(store: &Store, id: &str) -> Result<SessionSummary, Failure> {
    let mut found = store.sessions_with_prefix(id, CANDIDATES + 1).wait().map_err(explain)?;
    match found.len() {
        0 => Err(Failure::user(format!("no session's id begins with `{}`", text::line(id)))
            .hint("`caiman session list --all` lists them")),
        1 => Ok(found.remove(0)),
        _ => {
            let message = format!("several sessions' ids begin with `{id}`");
            let shown = found.iter().take(CANDIDATES);
            let mut failure = shown.fold(Failure::user(message), |failure, session| {
                failure.hint(text::named(session))
            });
            if found.len() > CANDIDATES {
                failure = failure.hint("… and more");
            }
            Err(failure)
        }
    }
}
