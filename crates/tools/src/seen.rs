//! What a session has seen of a file, by content and not by clock: it never changes what it does not know.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::UNIX_EPOCH;

use guard::Spot;
use sha2::{Digest, Sha256};
use store::{ReadMark, StoreError};

use crate::tool::ToolError;
use crate::workspace::Workspace;

/// Files up to this size are known by all of their content, and can be edited.
pub(crate) const WHOLE: u64 = 50_000_000;

/// What is known of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing.
    Never,
    /// What it is now.
    Now,
    /// What it was before somebody changed it.
    Before,
}

/// A file's content in 32 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fingerprint(Vec<u8>);

impl Fingerprint {
    /// Of content at hand.
    pub(crate) fn of(content: &[u8]) -> Self {
        Self(Sha256::digest(content).to_vec())
    }

    /// Of a hash taken while the content went by.
    pub(crate) fn finish(hash: Sha256) -> Self {
        Self(hash.finalize().to_vec())
    }

    /// Of a file too large to be read for this: its size, time, beginning and end. Reading gigabytes to
    /// show a page would cost seconds, and files of this size are not edited by these tools.
    pub(crate) fn of_large(file: &mut File) -> io::Result<Self> {
        const END: u64 = 64 * 1024;
        let found = file.metadata()?;
        let changed = found.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut hash = Sha256::new();
        hash.update(found.len().to_le_bytes());
        hash.update(changed.as_nanos().to_le_bytes());
        for start in [0, found.len().saturating_sub(END)] {
            file.seek(SeekFrom::Start(start))?;
            let mut part = Vec::new();
            file.by_ref().take(END).read_to_end(&mut part)?;
            hash.update(part);
        }
        Ok(Self::finish(hash))
    }
}

/// Remembers that the session knows a file's content.
pub(crate) fn remember(
    workspace: &Workspace,
    spot: &Spot,
    print: Fingerprint,
) -> Result<(), ToolError> {
    let mark = ReadMark { hash: print.0, at: workspace.clock.now() };
    let put = workspace.store.put_read(workspace.session, path_of(spot), mark);
    put.wait().map_err(|error| forgotten(&error))
}

/// The same for content the session has just written. It is written whether or not that is remembered; if
/// not, the file has to be viewed before the next edit.
pub(crate) fn remember_written(workspace: &Workspace, spot: &Spot, content: &[u8]) {
    if let Err(error) = remember(workspace, spot, Fingerprint::of(content)) {
        tracing::warn!(%error, path = %spot.real.display(), "a written file is not remembered");
    }
}

/// Compares what the session knows of a file with what it is.
pub(crate) fn check(workspace: &Workspace, spot: &Spot, content: &[u8]) -> Result<Seen, ToolError> {
    let known = workspace.store.read_of(workspace.session, path_of(spot));
    let known = known.wait().map_err(|error| forgotten(&error))?;
    Ok(match known {
        None => Seen::Never,
        Some(mark) if mark.hash == Fingerprint::of(content).0 => Seen::Now,
        Some(_) => Seen::Before,
    })
}

/// Links to one file share what is known of it.
fn path_of(spot: &Spot) -> String {
    spot.real.display().to_string()
}

fn forgotten(error: &StoreError) -> ToolError {
    ToolError::Refused(format!("what was read of files cannot be looked up: {error}"))
}
