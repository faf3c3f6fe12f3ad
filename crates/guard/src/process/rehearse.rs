//! A child that walks into a sandbox and goes no further: whether this kernel lets it.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::launch::Steps;
use super::start::{self, Start};
use crate::cage::Entry;

/// Sends a child into the sandbox that `entry` leads to. It is to become a folder, which no kernel runs: every
/// step before that has then been taken.
pub(crate) fn rehearse(entry: Entry) -> io::Result<()> {
    let nothing = || File::open("/dev/null").map(Into::into);
    let start = Start {
        file: PathBuf::from("/"),
        args: vec!["/".into()],
        env: Vec::new(),
        folder: PathBuf::from("/"),
        theirs: [nothing()?, nothing()?, nothing()?],
        steps: Steps::into(entry)?,
    };
    match start::try_start(start) {
        Err(failed) if failed.stage.is_none() && is_refusal(&failed.error) => Ok(()),
        Err(failed) => Err(match failed.stage {
            Some(stage) => io::Error::other(format!("{stage}: {}", failed.error)),
            None => failed.error,
        }),
        Ok(()) => Ok(()),
    }
}

/// What the kernel says to whoever wants to run a folder.
fn is_refusal(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EACCES)
}
