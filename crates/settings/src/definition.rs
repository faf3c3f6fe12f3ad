//! Definition files: agents, skills, commands, output styles and plugins, as people write them.
//!
//! Each kind has a file of its own that says what a definition holds and reads one from text. Nothing here
//! fails: what cannot be used is left out and told as a [`Problem`], with file and line.
//!
//! | module | holds |
//! |---|---|
//! | [`agent`] | custom agents, as Claude Code reads them |
//! | [`skill`] | skills: `SKILL.md` |
//! | [`command`] | custom slash commands |
//! | [`style`] | output styles |
//! | [`plugin`] | plugin folders |
//! | [`shelf`] | where all of them are found; what changed is read again |

pub mod agent;
pub mod command;
mod hooks;
pub mod plugin;
mod sheet;
pub mod shelf;
pub mod skill;
pub mod style;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

pub use agent::Agent;
pub use hooks::hooks;
pub use plugin::Plugin;
pub use shelf::{Definitions, Places, Shelf, Trust};
pub use skill::Skill;
pub use style::Style;

use crate::config::{Hook, printable};

/// Hooks by the name of their event.
pub type Hooks = BTreeMap<String, Vec<Hook>>;

/// Whose a definition is. The earlier wins where two have one name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The command line's, for this run only.
    Flag,
    /// The project's, nearest folder first.
    Project,
    /// The user's own.
    User,
    /// A plugin's, by its name.
    Plugin(String),
    /// Ours.
    BuiltIn,
}

impl Source {
    /// The source in a word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Project => "project",
            Self::User => "user",
            Self::Plugin(_) => "plugin",
            Self::BuiltIn => "builtin",
        }
    }
}

/// Whether what a definition wants to run may run: hooks, servers, command substitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is the user's, or its folder is trusted.
    Trusted,
    /// Its folder is not trusted: its words count, its commands do not run.
    Untrusted,
}

/// A definition's place and standing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Whose it is.
    pub source: Source,
    /// The file; none for what the command line or we ourselves define.
    pub file: Option<PathBuf>,
    /// Whether what it wants to run may run.
    pub standing: Standing,
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Flag => f.write_str("command line")?,
            Source::Plugin(name) => write!(f, "plugin {name}")?,
            Source::BuiltIn => f.write_str("built in")?,
            Source::Project | Source::User => f.write_str(self.source.as_str())?,
        }
        match self.standing {
            Standing::Trusted => Ok(()),
            Standing::Untrusted => f.write_str(", not trusted"),
        }
    }
}

/// What is wrong with a definition file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from one; none where it concerns the whole file.
    pub line: Option<usize>,
    /// Whether the definition is used all the same.
    pub weight: Weight,
    /// What is wrong, and what to do about it.
    pub text: String,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// The definition is used; something in it was read leniently or has no effect.
    Note,
    /// The definition cannot be used.
    Broken,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.weight {
            Weight::Note => "note",
            Weight::Broken => "error",
        };
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        let text = format!("{word}: {}{line}: {}", self.file.display(), self.text);
        f.write_str(&printable(&text))
    }
}

/// A name as a file or folder may have it: letters and digits in lower case, hyphens between them.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_alphanumeric() {
            slug.extend(c.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_never_leads_anywhere() {
        for (name, expected) in [
            ("Backend Architect", "backend-architect"),
            ("SRE (Site Reliability)", "sre-site-reliability"),
            ("../../etc", "etc"),
            ("a/b\\c", "a-b-c"),
            ("Größe", "größe"),
            ("..", ""),
        ] {
            assert_eq!(slug(name), expected);
        }
    }
}
