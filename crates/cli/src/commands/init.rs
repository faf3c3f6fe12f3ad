//! `caiman init`: a turn that writes the project's instruction file.

use std::path::Path;

use super::run::{self, Foreign, Limits, Lock, Pipes, Place, Voice};
use crate::app::App;
use crate::failure::Failure;

/// The flags of `caiman init`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Improve the file where there is one already.
    #[arg(long, short)]
    force: bool,

    #[command(flatten)]
    voice: Voice,

    #[command(flatten)]
    limits: Limits,

    #[command(flatten)]
    pipes: Pipes,
}

/// Has the model look around and write the file; nothing else may be changed.
pub(crate) fn run(app: &App, args: Args) -> Result<(), Failure> {
    let file = app.load_config().config.options.initialize_as;
    if app.cwd.join(&file).exists() && !args.force {
        return Err(Failure::user(format!("there is {file} already"))
            .hint("--force improves it and keeps what people wrote"));
    }
    let run = run::Args {
        prompt: vec![agent::init::prompt(&file)],
        voice: args.voice,
        place: Place::default(),
        lock: Lock { allow: vec![rule(&file)], ..Lock::default() },
        limits: args.limits,
        pipes: args.pipes,
        foreign: Foreign::default(),
    };
    run::run(app, &run)
}

/// The one file that may be written.
fn rule(file: &str) -> String {
    // A name is a pattern in a rule, anchored by a slash at the folder we work in.
    format!("Edit(/{})", Path::new(file).display())
}
