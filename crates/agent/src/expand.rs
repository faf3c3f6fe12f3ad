//! The texts of skills and commands, with what was said put in.
//!
//! Pure: a body becomes [`Piece`]s, once. Text is final, a file is still to be read and a command still to
//! be run, by [`crate::skills`]. What is put in is never looked at again: an argument that looks like a
//! placeholder, a file or a command stays the text it is.
//!
//! | in the body | becomes |
//! |---|---|
//! | `$ARGUMENTS` | all that was said |
//! | `$ARGUMENTS[N]` | one word of it, counted from zero |
//! | `$N` | one word of it, counted from one; from zero in a body that uses `$0` |
//! | `$name` | the word of a declared argument |
//! | `${CLAUDE_SESSION_ID}`, `${CAIMAN_SKILL_DIR}` … | a [`Variables`] |
//! | `\$1` | `$1` |
//! | `@path` | the file, below the text |
//! | `` !`command` `` at a line's start or after a blank, ```` ```! ```` blocks | what the command prints |

mod scan;
mod words;

use std::path::Path;

pub use words::words;

use scan::Scan;

/// A body to expand, and the names of its arguments.
#[derive(Debug, Clone, Copy)]
pub struct Template<'a> {
    /// The body, as it was written.
    pub body: &'a str,
    /// Names of its arguments, in order.
    pub names: &'a [String],
}

/// What `${CLAUDE_…}` and `${CAIMAN_…}` stand for: names without that beginning, and values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables(Vec<(&'static str, String)>);

impl Variables {
    /// The same with one more.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    /// The same with a place on disk.
    #[must_use]
    pub fn with_place(self, name: &'static str, place: &Path) -> Self {
        self.with(name, place.display().to_string())
    }

    /// The value of a whole name, such as `CLAUDE_SKILL_DIR`.
    fn get(&self, name: &str) -> Option<&str> {
        let short = name.strip_prefix("CLAUDE_").or_else(|| name.strip_prefix("CAIMAN_"))?;
        self.0.iter().find(|(known, _)| *known == short).map(|(_, value)| value.as_str())
    }

    /// All of them under both names, for the environment of a command.
    pub fn environment(&self) -> Vec<(String, String)> {
        let both = |(name, value): &(&'static str, String)| {
            ["CLAUDE", "CAIMAN"].map(|maker| (format!("{maker}_{name}"), value.clone()))
        };
        self.0.iter().flat_map(both).collect()
    }
}

/// A part of an expanded body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text, as the model reads it.
    Text(String),
    /// A file that is meant: what stands behind the `@`.
    File(String),
    /// A command whose output takes its place.
    Command(Line),
}

/// A command line of a body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// What the shell reads. Values that a shell could take for more than words are named, not written.
    pub text: String,
    /// The values that are named.
    pub values: Vec<(String, String)>,
}

/// Puts `arguments` and variables into a body. Arguments a body has no place for are added at its end.
pub fn expand(template: Template<'_>, arguments: &str, variables: &Variables) -> Vec<Piece> {
    let arguments = arguments.trim();
    let words = words(arguments);
    let mut scan = Scan::new(template, arguments, &words, variables);
    let mut read = scan.run();
    if read.counts_from_zero {
        scan.count_from_zero();
        read = scan.run();
    }
    let mut pieces = read.pieces;
    if !read.takes_arguments && !arguments.is_empty() {
        add(&mut pieces, &format!("\n\nARGUMENTS: {arguments}"));
    }
    pieces
}

/// Adds text to the end.
fn add(pieces: &mut Vec<Piece>, text: &str) {
    if text.is_empty() {
        return;
    }
    match pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(text),
        Some(Piece::File(_) | Piece::Command(_)) | None => {
            pieces.push(Piece::Text(text.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests;
