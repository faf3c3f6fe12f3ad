//! The one way tools change files: what a file was is on disk before it changes, so that it can be brought
//! back ([`crate::past`]).
//!
//! Commands change files on their own; what those were nobody knows.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};

use guard::{Fence, Spot};
use store::{Changing, ContentHash, FILE_LIMIT_BYTES, Moment, Need, Was};

use crate::workspace::Workspace;

/// The mode of a file on systems that have none.
#[cfg(not(unix))]
const MODE: u32 = 0o644;

impl Workspace {
    /// [`Fence::replace`], once what was there is kept; by the editor we work in, if it takes it.
    pub(crate) fn replace(&self, spot: &Spot, bytes: &[u8]) -> io::Result<()> {
        self.keep(spot, Some(ContentHash::of(bytes)))?;
        if self.is_written_by_editor(spot, bytes)? {
            return Ok(());
        }
        self.fence.replace(spot, bytes)
    }

    /// The same with all of a file's content, from its beginning.
    pub(crate) fn replace_from(&self, spot: &Spot, content: &mut File) -> io::Result<()> {
        content.rewind()?;
        self.keep(spot, Some(ContentHash::of_all(content)?))?;
        content.rewind()?;
        self.fence.replace_from(spot, content)
    }

    /// [`Fence::rename`], once what was at both places is kept.
    pub(crate) fn rename(&self, from: &Spot, to: &Spot) -> io::Result<()> {
        let moved = ContentHash::of_all(&mut self.fence.open(from)?)?;
        self.keep(from, None)?;
        self.keep(to, Some(moved))?;
        self.fence.rename(from, to)
    }

    /// [`Fence::remove`], once what was there is kept.
    pub(crate) fn remove(&self, spot: &Spot) -> io::Result<()> {
        self.keep(spot, None)?;
        self.fence.remove(spot)
    }

    /// Keeps what a file is, if it was not kept since the last prompt. What lies outside the workspace is
    /// nobody's to bring back, and a locked-in session's folder goes with it.
    fn keep(&self, spot: &Spot, leaves: Option<ContentHash>) -> io::Result<()> {
        if !spot.inside || self.fence.is_confined() {
            return Ok(());
        }
        let Some(path) = spot.real.to_str().map(str::to_owned) else {
            tracing::warn!(path = %spot.real.display(), "a file with such a name cannot be kept");
            return Ok(());
        };
        let change = Changing { path, leaves, at: self.clock.now() };
        let lost = |error| {
            io::Error::other(format!("what it was cannot be kept, so it stays as it is: {error}"))
        };
        match self.store.note_change(self.session, change.clone()).wait().map_err(lost)? {
            Need::Nothing => Ok(()),
            Need::State => {
                let was = look(&self.fence, spot)?;
                let keeping = self.store.keep_state(self.session, Moment::Prompt, change, was);
                keeping.wait().map_err(lost)
            }
        }
    }
}

/// What a file is now.
pub(crate) fn look(fence: &Fence, spot: &Spot) -> io::Result<Was> {
    let file = match fence.open(spot) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Was::Absent),
        Err(error) => return Err(error),
    };
    let found = file.metadata()?;
    let mut content = Vec::new();
    if found.len() <= FILE_LIMIT_BYTES {
        file.take(FILE_LIMIT_BYTES + 1).read_to_end(&mut content)?;
    }
    let size = found.len().max(content.len() as u64);
    if size > FILE_LIMIT_BYTES {
        return Ok(Was::TooLarge { size });
    }
    Ok(Was::File { content, mode: mode(&found) })
}

#[cfg(unix)]
fn mode(found: &std::fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;

    found.permissions().mode() & 0o1777
}

#[cfg(not(unix))]
fn mode(_: &std::fs::Metadata) -> u32 {
    MODE
}
