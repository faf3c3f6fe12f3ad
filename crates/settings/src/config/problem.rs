//! What is wrong in a settings file, and where.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::path::PathBuf;

use serde::Serialize;

use base::visible::visible_line;

/// One thing wrong in one place. The rest of the settings is loaded all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; 0 when the file as a whole is meant.
    pub line: u32,
    /// The column in characters, from 1; 0 when the file as a whole is meant.
    pub column: u32,
    /// The setting, such as `providers.local.models[2].id`; empty for the file as a whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; everything counts as written.
    Note,
    /// A setting has no effect.
    Warning,
    /// A setting or a file could not be read.
    Error,
}

impl Severity {
    /// The word put before a message.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("{}: {}", self.severity.as_str(), self.file.display());
        if self.line > 0 {
            write!(text, ":{}:{}", self.line, self.column)?;
        }
        if !self.path.is_empty() {
            write!(text, ": {}", self.path)?;
        }
        write!(text, ": {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(text, " ({hint})")?;
        }
        f.write_str(&printable(&text))
    }
}

/// One line of text without what could move the cursor or turn the writing direction: keys and values
/// of a stranger's project are shown before anybody trusts it.
pub fn printable(text: &str) -> Cow<'_, str> {
    visible_line(text)
}

/// Collects the problems of one file, up to a limit: a hostile file must not cost time or memory.
pub(super) struct Problems {
    file: PathBuf,
    list: Vec<Problem>,
    more: usize,
}

/// Most characters told of a path.
const PATH_LIMIT: usize = 200;
/// Most problems told about one file.
pub(super) const LIMIT: usize = 100;

impl Problems {
    pub(super) fn of(file: PathBuf) -> Self {
        Self { file, list: Vec::new(), more: 0 }
    }

    /// Whether further problems are only counted, so that nobody need compose their text.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= LIMIT
    }

    pub(super) fn push(&mut self, severity: Severity, at: At<'_>, message: impl Into<String>) {
        self.push_hinted(severity, at, message, None);
    }

    pub(super) fn push_hinted(
        &mut self,
        severity: Severity,
        at: At<'_>,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        if self.is_full() {
            self.more += 1;
            return;
        }
        self.list.push(Problem {
            severity,
            file: self.file.clone(),
            line: at.line,
            column: at.column,
            path: shortened(at.path),
            message: message.into(),
            hint,
        });
    }

    pub(super) fn into_list(mut self) -> Vec<Problem> {
        if self.more > 0 {
            self.list.push(Problem {
                severity: Severity::Warning,
                file: self.file,
                line: 0,
                column: 0,
                path: String::new(),
                message: format!("{} more problems are not listed", self.more),
                hint: None,
            });
        }
        self.list
    }
}

/// A path as it is told: a key may be as long as its file.
fn shortened(path: &str) -> String {
    match path.char_indices().nth(PATH_LIMIT) {
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path.to_owned(),
    }
}

/// Where in a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) path: &'a str,
}

impl At<'_> {
    /// The file as a whole.
    pub(super) const FILE: At<'static> = At { line: 0, column: 0, path: "" };
}
