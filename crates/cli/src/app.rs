//! What a command is given: environment, folders, clock.

use std::path::PathBuf;

use base::{Clock, Env, Paths};

use crate::args::Args;
use crate::failure::Failure;

/// What a command is given. Settings and store are opened by the commands that need them.
#[derive(Debug)]
pub(crate) struct App {
    /// The environment, taken once.
    pub(crate) env: Env,
    /// The user's folders.
    pub(crate) paths: Paths,
    /// The folder we work in, absolute.
    pub(crate) cwd: PathBuf,
    /// The clock.
    pub(crate) clock: Clock,
}

impl App {
    /// Takes environment and folders; touches no disk beyond the working folder.
    pub(crate) fn new(args: &Args) -> Result<Self, Failure> {
        let env = Env::of_process();
        let paths = Paths::of(&env).map_err(|error| Failure::config(error.to_string()))?;
        let here = args.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
        let cwd = std::fs::canonicalize(&here).map_err(|error| {
            Failure::user(format!("cannot work in {}: {error}", here.display()))
                .hint("name an existing folder with --cwd")
        })?;
        Ok(Self { env, paths, cwd, clock: Clock::system() })
    }
}
