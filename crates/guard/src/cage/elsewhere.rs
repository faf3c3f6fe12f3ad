//! The cage on systems without Landlock: macOS cages by a program, the others not at all.

use std::ffi::CStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{Bounds, CageError, Item, Namespace, Stage, State, Status, Wrapper, macos};

/// Nothing has to be made beforehand.
pub(crate) struct Prepared;

/// A child has no steps to take.
pub(crate) struct Entry;

impl Prepared {
    pub(super) fn new(_bounds: &Bounds, _namespace: Option<Namespace>) -> Result<Self, CageError> {
        if cfg!(target_os = "macos") { Ok(Self) } else { Err(missing()) }
    }

    pub(super) fn has_room(&self) -> bool {
        true
    }
}

impl Entry {
    pub(super) fn new(_prepared: Arc<Prepared>) -> Self {
        Self
    }

    pub(crate) fn enter(&self, _folder: &CStr) -> Result<(), (Stage, io::Error)> {
        Ok(())
    }

    pub(crate) fn seal(&self) -> Result<(), (Stage, io::Error)> {
        Ok(())
    }
}

/// The program that cages.
pub(super) fn wrapper(bounds: &Bounds) -> Result<Option<Wrapper>, CageError> {
    if !cfg!(target_os = "macos") {
        return Err(missing());
    }
    let args = vec!["-p".to_owned(), macos::profile(bounds), "--".to_owned()];
    Ok(Some(Wrapper { program: macos::PROGRAM.to_owned(), args }))
}

/// What is enforced: on macOS what its program does, elsewhere nothing.
pub(super) fn probe() -> Status {
    let works = cfg!(target_os = "macos") && Path::new(macos::PROGRAM).exists();
    let item = |what, state| Item { what, state, how: "Seatbelt".to_owned() };
    let items = if works {
        vec![
            item("writes stay in the workspace and temporary folders", State::Enforced),
            item("protected places are read-only", State::Enforced),
            item("secret places cannot be read", State::Enforced),
            item("no network", State::Enforced),
        ]
    } else {
        vec![item("commands are caged", State::Missing)]
    };
    Status { works, landlock_abi: 0, namespace: Namespace::None, items }
}

fn missing() -> CageError {
    CageError::Missing { why: "commands run with all of your rights here".to_owned() }
}
