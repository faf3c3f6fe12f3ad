//! What a tool shows a face. A new tool adds no event and no renderer: every face renders blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transcript::File;

/// One piece of a tool's visible report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Plain text; a face may wrap and fold it.
    Text {
        /// The text.
        text: String,
    },
    /// A change to one file, or to several: [`files_of`] tells them apart.
    Diff {
        /// Path as the user knows it; of several files, how many they are.
        path: String,
        /// Unified diff. Only of several files each has its headers, `--- path` and `+++ path`.
        unified: String,
    },
    /// Rows under headings.
    Table {
        /// Column headings.
        head: Vec<String>,
        /// Rows, each as long as `head`.
        rows: Vec<Vec<String>>,
    },
    /// A picture.
    Image {
        /// Its bytes or address.
        file: File,
    },
    /// A list of things to do.
    Todos {
        /// The items, in order.
        items: Vec<Todo>,
    },
    /// A tree, such as files or running sub-agents.
    Tree {
        /// The nodes at its top.
        roots: Vec<Node>,
    },
}

/// The files of a [`Block::Diff`], each with its own diff, without headers.
pub fn files_of<'a>(path: &'a str, unified: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut files = Vec::new();
    let (mut name, mut start, mut at) = (path, 0, 0);
    // Lines that are still to come of a hunk, old and new: among them nothing is a header.
    let mut hunk = (0, 0);
    let mut header = None;
    for line in unified.split_inclusive('\n') {
        let (began, text) = (at, line.trim_end_matches('\n'));
        at += line.len();
        if hunk != (0, 0) {
            let (old, new): (usize, usize) = hunk;
            hunk = match text.as_bytes().first() {
                Some(b' ') => (old.saturating_sub(1), new.saturating_sub(1)),
                Some(b'-') => (old.saturating_sub(1), new),
                Some(b'+') => (old, new.saturating_sub(1)),
                Some(b'\\') => hunk,
                Some(_) | None => (0, 0),
            };
        } else if let Some(counts) = hunk_of(text) {
            hunk = counts;
        } else if text.starts_with("--- ") {
            header = Some(began);
            continue;
        } else if let (Some(began), Some(new)) = (header, text.strip_prefix("+++ ")) {
            if start < began {
                files.push((name, &unified[start..began]));
            }
            (name, start) = (new, at);
        }
        header = None;
    }
    files.push((name, &unified[start..]));
    files
}

/// How many lines a hunk has, old and new, by its `@@ -1,2 +3,4 @@`.
fn hunk_of(line: &str) -> Option<(usize, usize)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |span: &str| span.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?))
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    /// What to do.
    pub text: String,
    /// How far it is.
    pub state: TodoState,
}

/// How far a thing to do is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// A node of a tree block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// What the node says.
    pub label: String,
    /// What is below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Node>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_one_file_is_the_whole_diff() {
        let unified = "@@ -1 +1 @@\n--- a line that looks like a header\n+++ another\n";
        assert_eq!(files_of("a", unified), [("a", unified)]);
        assert_eq!(files_of("a", ""), [("a", "")]);
    }

    #[test]
    fn a_change_of_several_files_is_cut_at_their_headers() {
        let (one, two) =
            ("@@ -1,2 +1,2 @@\n x\n--- b\n+++ b\n", "@@ -0,0 +1 @@\n+y\n… 5 more lines\n");
        let unified = format!("--- a\n+++ a\n{one}--- b c\n+++ b c\n{two}--- d\n+++ d\n");
        assert_eq!(files_of("3 files", &unified), [("a", one), ("b c", two), ("d", "")]);
    }
}
