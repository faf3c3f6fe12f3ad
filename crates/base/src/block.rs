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
    /// A change to one file.
    Diff {
        /// Path as the user knows it.
        path: String,
        /// Unified diff, without file headers.
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
