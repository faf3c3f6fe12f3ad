//! The command line: one definition for parser, help, completions and man page.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::commands::{completions, config, login, logout, models, run, session, stats, trust};

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
pub(crate) enum Command {
    Run(run::Args),
    /// List, show, rename, delete and export sessions.
    #[command(visible_alias = "sessions", alias = "s")]
    Session(session::Args),
    /// Show what models were used for, and what it cost.
    Stats(stats::Args),
    /// List models: by default those of providers you have a key for.
    Models(models::Args),
    /// Store a provider's key, or list where each key comes from.
    Login(login::Args),
    /// Forget a stored key.
    Logout(logout::Args),
    /// Show, check and explain settings.
    Config(config::Args),
    /// Let a project run what its files say: hooks, servers, commands.
    Trust(trust::Args),
    Completions(completions::Args),
    /// Print the manual page, in roff; `caiman man | man -l -` shows it.
    Man,
}
