//! The entrance: arguments, wiring, headless run. The only crate that sees all rooms.
//!
//! | module | does |
//! |---|---|
//! | [`args`] | the command line, one definition for parser, help, completions and man page |
//! | [`app`] | what a command is given: environment, folders, settings, output |
//! | [`catalog`] | the models' catalogue, made from environment, settings and stored keys |
//! | [`wiring`] | rooms put together: the chosen model, caller, signals |
//! | [`database`] | the store, opened for a command |
//! | [`disk`] | files of the user's that commands write |
//! | [`door`] | what a face is given: the mind, opened when it is needed, and what comes before |
//! | [`commands`] | one file a command |
//! | [`failure`] | an error on its way out: kind, exit code, hints |
//! | [`log`] | the log file |
//! | [`render`] | the only writer to the terminal |

mod app;
mod args;
mod catalog;
mod commands;
mod database;
mod disk;
mod door;
mod failure;
mod log;
mod outside;
mod render;
mod wiring;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args = match args::Args::read(std::env::args_os()) {
        Ok(args) => args,
        Err(error) => return render::usage(&error),
    };
    match commands::dispatch(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => render::failure(&failure),
    }
}
