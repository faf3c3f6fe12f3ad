//! The only writer to the terminal.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use serde::Serialize;

use crate::failure::{Failure, Kind};

/// Prints text to standard output. A reader that has gone (`| head`) ends us quietly.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Kind::Internal, format!("cannot write to standard output: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a value as indented JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::new(Kind::Internal, format!("cannot write JSON: {error}")))?;
    out(&(text + "\n"))
}

/// Prints a line to standard error: warnings and progress.
pub(crate) fn note(line: &str) {
    drop(writeln!(io::stderr().lock(), "{line}"));
}

/// Prints a failure and gives its exit code.
pub(crate) fn failure(failure: &Failure) -> ExitCode {
    drop(io::stderr().lock().write_all(failure.text().as_bytes()));
    ExitCode::from(failure.kind.exit_code())
}

/// Prints help and version to standard output, a usage error to standard error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    drop(error.print());
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        _ => ExitCode::from(Kind::User.exit_code()),
    }
}
