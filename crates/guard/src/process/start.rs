//! The start of a child, and the wait for its end. Two ways, one face: [`start`] and [`Running`].

#[cfg(target_os = "linux")]
mod borrowed;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod running;
#[cfg(target_os = "linux")]
mod supervised;
#[cfg(target_os = "linux")]
use borrowed as system;

#[cfg(not(target_os = "linux"))]
mod copied;
#[cfg(not(target_os = "linux"))]
use copied as system;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use super::launch::Steps;
use crate::cage::Stage;

#[cfg(not(target_os = "linux"))]
pub(super) use copied::Running;
#[cfg(target_os = "linux")]
pub(super) use running::Running;
#[cfg(target_os = "linux")]
pub(crate) use supervised::Supervision;
pub(super) use system::{prepare_thread, start};

/// Starts a sandboxed child that is expected to fail on its last step; should it start, it is killed. Needs no
/// runtime.
#[cfg(target_os = "linux")]
pub(super) fn try_start(start: Start) -> Result<(), Failed> {
    let Some(kind) = start.steps.supervision() else { return Ok(()) };
    supervised::start(start, kind).map(supervised::Supervisor::end_and_wait)
}

/// All that is needed to start a child.
pub(super) struct Start {
    /// The program's file.
    pub(super) file: PathBuf,
    /// Its name and its arguments.
    pub(super) args: Vec<OsString>,
    /// Its variables.
    pub(super) env: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub(super) folder: PathBuf,
    /// Its input, output and error.
    pub(super) theirs: [OwnedFd; 3],
    /// What it does before it becomes the program.
    pub(super) steps: Steps,
}

/// Why a child has not become the program.
#[derive(Debug)]
pub(super) struct Failed {
    /// The step into the cage that failed, if it was one.
    pub(super) stage: Option<Stage>,
    /// What the system said.
    pub(super) error: io::Error,
}

#[cfg(target_os = "linux")]
impl Failed {
    /// The namespaces of a sandboxed child could not be made.
    fn of_namespace(error: io::Error) -> Self {
        Self { stage: Some(Stage::Namespace), error }
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self { stage: None, error }
    }
}
