//! Which session a run speaks in: a new one, the folder's newest, a named one, or a copy.

use std::path::Path;

use base::{SessionId, transcript};
use store::{NewSession, Place, Session, Store, StoreError};

use super::flags;
use crate::app::App;
use crate::commands::session::find;
use crate::database::explain;
use crate::failure::Failure;

/// The session to speak in.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Its id.
    pub(crate) id: SessionId,
    /// The folder it works in.
    pub(crate) folder: String,
    /// The tools its model has been offered last; none for a new session.
    pub(crate) tools: Vec<String>,
    /// Whether its last turn broke off.
    pub(crate) is_interrupted: bool,
}

/// Opens the session the flags name; a new one works in `folder`.
pub(crate) fn open(
    app: &App,
    place: &flags::Place,
    store: &Store,
    folder: &Path,
) -> Result<Opened, Failure> {
    let opened = match earlier(app, place, store)? {
        Some(session) if place.fork_session => fork(app, place, store, &session)?,
        Some(session) => known(store, session.summary.id, session.summary.folder)?,
        None => begin(app, place, store, folder)?,
    };
    if let Some(title) = &place.name {
        store.rename(opened.id, title.clone()).wait().map_err(explain)?;
    }
    Ok(opened)
}

/// The session the flags name, and the folder it works in; none where a new one is wanted. Its entries are
/// left alone.
pub(crate) fn named(
    app: &App,
    place: &flags::Place,
    store: &Store,
) -> Result<Option<(SessionId, String)>, Failure> {
    let Some(session) = earlier(app, place, store)? else { return Ok(None) };
    if place.fork_session {
        let copy = fork(app, place, store, &session)?;
        return Ok(Some((copy.id, copy.folder)));
    }
    Ok(Some((session.summary.id, session.summary.folder)))
}

/// The session that goes on.
fn earlier(app: &App, place: &flags::Place, store: &Store) -> Result<Option<Session>, Failure> {
    if let Some(id) = &place.session {
        return find::session(store, id, &app.cwd).map(Some);
    }
    if !place.go_on {
        return Ok(None);
    }
    let folder = app.cwd.display().to_string();
    let last = store.last_session(Place::Folder(folder.clone())).wait().map_err(explain)?;
    let last = last.ok_or_else(|| {
        Failure::user(format!("there is no session in {folder} to go on with"))
            .hint("leave out --continue to begin one; caiman session list --all shows all")
    })?;
    store.session(last.id).wait().map(Some).map_err(explain)
}

fn begin(app: &App, place: &flags::Place, store: &Store, folder: &Path) -> Result<Opened, Failure> {
    let id = new_id(place, store)?;
    // Wherever it works, it belongs to the project it was begun in: `session last` finds it there.
    let project = store::project_of(&app.cwd).display().to_string();
    let folder = folder.display().to_string();
    let new = NewSession {
        id,
        folder: folder.clone(),
        project,
        agent: place.agent.clone(),
        child_of: None,
        at: app.clock.now(),
    };
    store.create_session(new).wait().map_err(explain)?;
    Ok(Opened { id, folder, tools: Vec::new(), is_interrupted: false })
}

fn fork(app: &App, place: &flags::Place, store: &Store, from: &Session) -> Result<Opened, Failure> {
    let folder = from.summary.folder.clone();
    let id = new_id(place, store)?;
    let (project, at) = (from.project.clone(), app.clock.now());
    let new = NewSession {
        id,
        folder: folder.clone(),
        project,
        agent: from.agent.clone(),
        child_of: None,
        at,
    };
    match from.head {
        Some(head) => store.fork(from.summary.id, head, new).wait().map_err(explain)?,
        None => store.create_session(new).wait().map_err(explain)?,
    }
    known(store, id, folder)
}

/// The id of a new session: one that nobody has yet.
fn new_id(place: &flags::Place, store: &Store) -> Result<SessionId, Failure> {
    let Some(id) = place.session_id else { return Ok(SessionId::new()) };
    match store.session(id).wait() {
        Ok(_) => Err(Failure::user(format!("there is a session {id} already"))
            .hint(format!("to go on with it: caiman run --session {id}"))),
        Err(StoreError::NoSession(_)) => Ok(id),
        Err(error) => Err(explain(error)),
    }
}

fn known(store: &Store, id: SessionId, folder: String) -> Result<Opened, Failure> {
    let branch = store.branch(id).wait().map_err(explain)?;
    let (_, tools) = transcript::prefix(&branch).unwrap_or_default();
    let tools = tools.iter().map(|tool| tool.name.clone()).collect();
    Ok(Opened { id, folder, tools, is_interrupted: transcript::is_unfinished(&branch) })
}
