//! The cage on Linux: Landlock and seccomp always, namespaces for mounts, processes and IPC where they can be had.
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
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Bounds, Cage, CageError, Namespace, Stage, Wrapper};
use filter::{Filter, Others};
use mounts::View;

use crate::process::Supervision;

pub(super) use probe::probe;

/// What the kernel needs to cage a child, made once for all of them.
pub(crate) struct Prepared {
    namespace: Namespace,
    view: Option<View>,
    ruleset: OwnedFd,
    filter: Filter,
    uses: AtomicU32,
}

/// How many children one ruleset serves. Each adds rules for what is mounted for it alone, and all rules are copied
/// for every child.
const USES: u32 = 64;

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

    /// Whether another child can use it; counts that child.
    pub(super) fn has_room(&self) -> bool {
        self.uses.fetch_add(1, Ordering::Relaxed) < USES
    }

    /// The same, without asking what this system can do.
    fn with(bounds: &Bounds, namespace: Namespace) -> Result<Self, CageError> {
        let view = View::plan(bounds, namespace)?;
        let ruleset = rules::ruleset(bounds, namespace)?;
        let others = match namespace {
            Namespace::Privileged | Namespace::User => Others::Hidden,
            Namespace::None => Others::Visible,
        };
        let filter = Filter::new(bounds.network, others)?;
        Ok(Self { namespace, view, ruleset, filter, uses: AtomicU32::new(0) })
    }
}

impl Entry {
    pub(super) fn new(prepared: Arc<Prepared>) -> Self {
        Self(prepared)
    }

    /// How a child and its descendants are held together.
    pub(crate) fn supervision(&self) -> Supervision {
        match self.0.namespace {
            Namespace::Privileged => Supervision::Namespace,
            Namespace::User => Supervision::UserNamespace,
            Namespace::None => Supervision::Subreaper,
        }
    }

    /// Says who we are in a new user namespace. Runs in the child: system calls only.
    pub(crate) fn become_user(&self) -> Result<(), (Stage, io::Error)> {
        let view = self.0.view.as_ref();
        view.map_or(Ok(()), View::become_user).map_err(|error| (Stage::Namespace, error))
    }

    /// Everything but the filter. Runs in the child: system calls only.
    pub(crate) fn enter(&self, folder: &CStr) -> Result<(), (Stage, io::Error)> {
        if let Some(view) = &self.0.view {
            view.enter()?;
            rules::add_private(self.0.ruleset.as_raw_fd(), view)
                .map_err(|error| (Stage::Landlock, error))?;
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
