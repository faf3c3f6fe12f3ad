//! The operating system's sandbox, made from the same lists as the policy.
//!
//! A [`Cage`] is plain [`Bounds`] until its first child starts; then what the kernel needs is made once, and
//! every child walks in by itself between fork and exec (`process::launch`). Three systems, one face:
//!
//! | module | does |
//! |---|---|
//! | `bounds` | from reach and fence to places |
//! | `linux` | Landlock, seccomp, and a mount namespace where one can be had |
//! | [`macos`] | the Seatbelt profile |
//! | `elsewhere` | nothing, and says so |
//! | `snapshot` | which of these places exist |
//! | `git` | the folders of repositories, by whatever name |
//! | `guarantees` | what holds, by what a sandbox is made of |
//! | `status` | what is enforced here, tried once |
//! | `record` | what a command began with, for the case that caiman is killed |
//! | `sweep` | what came into being in protected places although it must not |

mod bounds;
mod git;
mod guarantees;
pub mod macos;
mod record;
mod snapshot;
mod status;
mod sweep;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
use elsewhere as system;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base::Env;

use crate::fence::Fence;

pub use bounds::{Bounds, Network};
pub use guarantees::{GUARANTEES, Guarantee, Holds, Level, table};
pub use record::recover;
use snapshot::Snapshot;
pub use status::{Item, Namespace, State, Status};
pub(crate) use sweep::Sweep;
pub use sweep::Swept;
pub(crate) use system::Entry;

/// What this system enforces, once it has been tried.
static STATUS: OnceLock<Status> = OnceLock::new();

/// How far a child process may reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Reads what is not secret, writes only private temporary files, no network: what the policy takes
    /// for read-only runs like this too, so that a mistake of the analysis stays harmless.
    ReadOnly,
    /// As [`Reach::ReadOnly`], and writes the workspace, save for what is protected there.
    #[default]
    Workspace,
    /// As [`Reach::Workspace`], with the network.
    Network,
    /// Anything this user may do: no cage.
    Everything,
}

/// What caged processes may do, and, from the first child on, the kernel's half of it.
pub struct Cage {
    bounds: Bounds,
    namespace: Option<Namespace>,
    current: Mutex<Option<Current>>,
}

/// The kernel's half, made for the places that exist.
struct Current {
    prepared: Arc<system::Prepared>,
    snapshot: Snapshot,
}

/// Why a cage cannot be built.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CageError {
    /// This system has none.
    #[error("this system has no sandbox: {why}")]
    Missing {
        /// What is missing.
        why: String,
    },
    /// The folder for temporary files cannot be made.
    #[error("cannot make {}: {source}", folder.display())]
    Temporary {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// The system refused a part of it.
    #[error("{part}: {why}")]
    Part {
        /// Which part.
        part: Stage,
        /// What the system said.
        why: String,
    },
}

/// The steps into a cage, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A view of the file system of its own.
    Namespace,
    /// Read-only and hidden places in it.
    Mounts,
    /// Capabilities given up.
    Privileges,
    /// The Landlock ruleset.
    Landlock,
    /// The system call filters.
    Filter,
}

/// A program that cages what it is given to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrapper {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
}

impl Cage {
    /// A cage with these bounds, by the best means this system has.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, namespace: None, current: Mutex::default() }
    }

    /// The same with one kind of namespace, whatever this system would choose. For those who want to know
    /// what the weaker kinds are worth.
    #[must_use]
    pub fn by(mut self, namespace: Namespace) -> Self {
        self.namespace = Some(namespace);
        self
    }

    /// The cage for a reach; none for [`Reach::Everything`]. `temp` is the session's own folder for
    /// temporary files, made when first needed. To be kept: making it anew for every child costs. Whoever
    /// keeps keys elsewhere than everybody takes [`Bounds::for_reach`] and adds the place.
    pub fn for_reach(reach: Reach, fence: &Fence, temp: &Path) -> Option<Arc<Self>> {
        Bounds::for_reach(reach, fence, temp).map(|bounds| Arc::new(Self::new(bounds)))
    }

    /// What this system enforces; tried once, with a child.
    pub fn probe() -> &'static Status {
        STATUS.get_or_init(system::probe)
    }

    /// The same, if it has been tried already: nobody has to wait for that.
    pub fn probed() -> Option<&'static Status> {
        STATUS.get()
    }

    /// What it allows.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The steps of one child into the cage, and what to look at when it has ended.
    pub(crate) fn entry(&self) -> Result<(Entry, Sweep), CageError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let usable = current.take().filter(|it| it.prepared.has_room() && it.snapshot.is_current());
        let usable = match usable {
            Some(usable) => usable,
            None => self.prepare()?,
        };
        let sweep = Sweep::begin(&usable.snapshot, &self.bounds);
        Ok((Entry::new(current.insert(usable).prepared.clone()), sweep))
    }

    fn prepare(&self) -> Result<Current, CageError> {
        make_temp(&self.bounds.temp)?;
        let snapshot = Snapshot::take(&self.bounds.protected, &self.bounds.hidden);
        let prepared = Arc::new(system::Prepared::new(&self.bounds, self.namespace)?);
        Ok(Current { prepared, snapshot })
    }

    /// The program that cages, where the system has one.
    pub(crate) fn wrapper(&self) -> Result<Option<Wrapper>, CageError> {
        system::wrapper(&self.bounds)
    }

    /// Variables of caged children: where temporary files go. Go cannot build without a cache it can
    /// write, so it gets one there.
    pub(crate) fn variables(&self, env: &Env) -> Vec<(&'static str, PathBuf)> {
        let temp = &self.bounds.temp;
        let mut variables = vec![("TMPDIR", temp.clone())];
        if env.get("GOCACHE").is_none() {
            variables.push(("GOCACHE", temp.join("go-build")));
        }
        variables
    }
}

impl fmt::Debug for Cage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cage").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for Linux's sandbox"))]
impl Stage {
    const ALL: [Self; 5] =
        [Self::Namespace, Self::Mounts, Self::Privileges, Self::Landlock, Self::Filter];

    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Namespace => 1,
            Self::Mounts => 2,
            Self::Privileges => 3,
            Self::Landlock => 4,
            Self::Filter => 5,
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.byte() == byte)
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Namespace => "the mount namespace",
            Self::Mounts => "the mounts",
            Self::Privileges => "the capabilities",
            Self::Landlock => "Landlock",
            Self::Filter => "seccomp",
        })
    }
}

/// Makes the session's folder for temporary files, for this user only. A link or somebody else's folder
/// of that name is refused.
fn make_temp(folder: &Path) -> Result<(), CageError> {
    let error =
        |source| CageError::Temporary { folder: folder.to_owned(), source: Arc::new(source) };
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), 0o700);
    builder.create(folder).map_err(error)?;
    let found = fs::symlink_metadata(folder).map_err(error)?;
    let ours = std::os::unix::fs::MetadataExt::uid(&found) == rustix::process::geteuid().as_raw();
    if found.is_dir() && ours {
        return Ok(());
    }
    Err(error(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to somebody else")))
}
