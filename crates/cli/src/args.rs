//! The command line: one definition for parser, help, completions and man page.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// A terminal coding agent that runs with any model.
#[derive(Debug, Parser)]
#[command(name = "caiman", version, propagate_version = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    /// Work in this folder instead of the current one.
    #[arg(long, short = 'C', global = true, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do. One variant a file in `commands/`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {}
