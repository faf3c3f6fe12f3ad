//! Patches in the form codex gave them: files added, deleted, changed and moved in one text.
//!
//! ```text
//! *** Begin Patch
//! *** Update File: src/a.rs
//! *** Move to: src/b.rs
//! @@ fn main() {
//!  a line that stays
//! -a line that goes
//! +a line that comes
//! *** Add File: notes.txt
//! +its only line
//! *** Delete File: old.txt
//! *** End Patch
//! ```
//!
//! Lines to change are looked for from the last change on: exactly, then without blanks at their ends, then
//! with blanks ignored, then with typography ignored. The last two must be unique. Three things are
//! otherwise than in codex:
//! - A patch that fails late leaves nothing changed (its scenario 015 keeps what came before the failure):
//!   a model that is told of a failure should not have to find out what was done.
//! - Lines that stay keep the file's own bytes, and a file without a line ending at its end stays so.
//! - Lines added under `@@ heading` alone go below the heading, not to the end of the file.

mod parse;
mod place;

pub(crate) use parse::parse;
pub(crate) use place::place;
#[cfg(test)]
use {parse::PatchError, place::PlaceError};

use crate::target::Target;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) path: Target,
    pub(crate) deed: Deed,
}

/// What is done to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It is made, or replaced whole.
    Add { content: String },
    /// It is deleted.
    Delete,
    /// Parts of it change, and perhaps its name.
    Update { to: Option<Target>, chunks: Vec<Chunk> },
}

/// One change in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Lines above it that say where to look, outermost first.
    pub(crate) headings: Vec<String>,
    /// Its lines before: those that stay and those that go.
    pub(crate) old: Vec<String>,
    /// Its lines after: those that stay and those that come.
    pub(crate) new: Vec<String>,
    pub(crate) anchor: Anchor,
}

/// Where in a file a chunk may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Anchor {
    #[default]
    Anywhere,
    /// At its end, if it fits there.
    End,
}

#[cfg(test)]
mod tests;
