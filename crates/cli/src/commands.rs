//! One file a command; each has an `Args` and a `run`.

use crate::app::App;
use crate::args::Command;
use crate::failure::Failure;

/// Runs what was asked for.
pub(crate) fn dispatch(_app: &App, command: Command) -> Result<(), Failure> {
    match command {}
}
