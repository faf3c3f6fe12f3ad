//! The cage on Linux: Landlock and seccomp always, a mount namespace where one can be had.
//!
//! Landlock keeps writes inside and takes devices, TCP and signals to strangers away, but it cannot except a
//! place from a folder it allows, and it knows nothing of `chmod`. The namespace does both: all is
//! read-only but what is writable, with read-only or empty places mounted over what is protected or
//! hidden. Seccomp closes the doors behind which neither looks: sockets, other processes' memory, `io_uring`,
//! new namespaces.

mod filter;
mod mounts;
mod privileges;
mod probe;
mod rules;
mod system;

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use super::{Bounds, Cage, CageError, Namespace, Stage, Wrapper};
use filter::Filter;
use mounts::View;

pub(super) use probe::probe;

/// What the kernel needs to cage a child, made once for all of them.
pub(crate) struct Prepared {
    view: Option<View>,
    ruleset: OwnedFd,
    filter: Filter,
}

/// The way of one child into the cage.
pub(crate) struct Entry(Arc<Prepared>);

impl Prepared {
    /// Makes rules, filters and the plan of mounts.
    pub(super) fn new(bounds: &Bounds, namespace: Option<Namespace>) -> Result<Self, CageError> {
        if let Some(namespace) = namespace {
            return Self::with(bounds, namespace);
        }
        let status = Cage::probe();
        if !status.works {
            let why = status.items.iter().map(|item| item.how.as_str()).collect();
            return Err(CageError::Missing { why });
        }
        Self::with(bounds, status.namespace)
    }

    /// The same, without asking what this system can do.
    fn with(bounds: &Bounds, namespace: Namespace) -> Result<Self, CageError> {
        let view = View::plan(bounds, namespace)?;
        let ruleset = rules::ruleset(bounds, namespace)?;
        let filter = Filter::new(bounds.network)?;
        Ok(Self { view, ruleset, filter })
    }
}

impl Entry {
    pub(super) fn new(prepared: Arc<Prepared>) -> Self {
        Self(prepared)
    }

    /// Whether a child has to change who may look into its memory.
    pub(crate) fn changes_memory(&self) -> bool {
        self.0.view.as_ref().is_some_and(View::needs_own_files)
    }

    /// Everything but the filter. Runs in the child: system calls only.
    pub(crate) fn enter(&self, folder: &CStr) -> Result<(), (Stage, io::Error)> {
        if let Some(view) = &self.0.view {
            view.enter()?;
            // The folder we were in is still the one beneath the mounts.
            system::change_folder(folder).map_err(|error| (Stage::Mounts, error))?;
        }
        privileges::drop_all().map_err(|error| (Stage::Privileges, error))?;
        system::restrict(self.0.ruleset.as_raw_fd()).map_err(|error| (Stage::Landlock, error))
    }

    /// The filter: it forbids what the steps before needed. Runs in the child: system calls only.
    pub(crate) fn seal(&self) -> Result<(), (Stage, io::Error)> {
        self.0.filter.apply().map_err(|error| (Stage::Filter, error))
    }
}

/// No program is needed here.
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on macOS")]
pub(super) fn wrapper(_bounds: &Bounds) -> Result<Option<Wrapper>, CageError> {
    Ok(None)
}
