//! `caiman completions`: a completion script for a shell.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args;
use crate::failure::Failure;
use crate::render;

/// Print a completion script, for example `caiman completions bash > /etc/bash_completion.d/caiman`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell.
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::Args::command(), "caiman", &mut script);
    render::out(&String::from_utf8_lossy(&script))
}
