//! The store, opened for a command, and its errors on their way out.

use std::fs;
use std::io;

use store::{Store, StoreError};

use crate::app::App;
use crate::failure::{Failure, Kind};
use crate::render;

/// The store, or none where no database has been made yet: looking must not make one.
pub(crate) fn open_existing(app: &App) -> Result<Option<Store>, Failure> {
    let path = app.paths.database();
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Ok(_) | Err(_) => open(app).map(Some),
    }
}

/// The store, made if need be. Tells the user when a damaged one was moved aside, and which answers
/// a killed process had left half written.
pub(crate) fn open(app: &App) -> Result<Store, Failure> {
    let (store, notes) = opened(app)?;
    for note in notes {
        render::note(&note);
    }
    Ok(store)
}

/// The same, with what the user must be told. Blocks.
pub(crate) fn opened(app: &App) -> Result<(Store, Vec<String>), Failure> {
    let opened = Store::open(&app.paths.database()).map_err(explain)?;
    let damaged = opened.moved_aside.iter().map(|aside| {
        let aside = aside.display();
        format!("warning: the database was damaged; it is kept as {aside} and a new one was begun")
    });
    let recovered = opened.store.recover().wait().map_err(explain)?;
    let recovered = recovered.iter().map(|recovered| {
        format!("note: an interrupted answer of session {} was recovered", recovered.session)
    });
    let notes = damaged.chain(recovered).collect();
    Ok((opened.store, notes))
}

/// There is nothing to look at.
pub(crate) fn no_sessions() -> Failure {
    Failure::user("there are no sessions yet").hint("start one with `caiman run \"…\"`")
}

/// A store's error, with its kind.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
pub(crate) fn explain(error: StoreError) -> Failure {
    let kind = match &error {
        StoreError::NoSession(_)
        | StoreError::NoEntry { .. }
        | StoreError::SessionExists(_)
        | StoreError::EntryExists { .. }
        | StoreError::TooLarge { .. }
        | StoreError::TooMuch { .. }
        | StoreError::KeyTooLong { .. } => Kind::User,
        StoreError::Place { .. }
        | StoreError::Folder { .. }
        | StoreError::Denied { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::Full { .. }
        | StoreError::Corrupt { .. }
        | StoreError::Stuck { .. }
        | StoreError::Foreign { .. }
        | StoreError::Newer { .. }
        | StoreError::Busy { .. }
        | StoreError::Unreadable { .. } => Kind::Config,
        StoreError::OldSqlite { .. }
        | StoreError::Migration { .. }
        | StoreError::Sql { .. }
        | StoreError::Closed
        | StoreError::Encode { .. } => Kind::Internal,
    };
    Failure::new(kind, error.to_string())
}
