//! The entrance: arguments, wiring, headless run. The only crate that sees all rooms.
//!
//! | module | does |
//! |---|---|
//! | [`args`] | the command line, one definition for parser, help, completions and man page |
//! | [`app`] | what a command is given: environment, folders, settings, output |
//! | [`commands`] | one file a command |
//! | [`failure`] | an error on its way out: kind, exit code, hints |
//! | [`render`] | the only writer to the terminal |

mod app;
mod args;
mod commands;
mod failure;
mod render;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return render::usage(&error),
    };
    match app::App::new(&args).and_then(|app| commands::dispatch(&app, args.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => render::failure(&failure),
    }
}
