//! Where each value of the merged settings came from.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::mask::{self, Exposure};
use super::shape::Shape;
use super::tree::{Kind, Node, push_index, push_key};

/// Where each value came from.
#[derive(Clone)]
pub struct Origins {
    pub(super) root: Node,
    pub(super) files: Vec<PathBuf>,
}

/// Where one value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
}

/// One value that somebody has set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Leaf {
    /// The setting, such as `options.tui.compact_mode`.
    pub path: String,
    /// Its value, secrets masked.
    pub value: Value,
    /// Where it came from.
    #[serde(flatten)]
    pub origin: Origin,
}

impl Origins {
    /// The merged settings as somebody may see them: secrets masked.
    pub fn shown(&self) -> Value {
        mask::shown(&self.root, Some(Shape::root()), Exposure::Plain)
    }

    /// Every value that somebody has set, secrets masked.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        let top = Level { node: &self.root, shape: Some(Shape::root()), exposure: Exposure::Plain };
        self.collect(top, &mut String::new(), &mut leaves);
        leaves
    }

    /// Where the value at a path such as `models.large.model` came from.
    pub fn of(&self, path: &str) -> Option<Origin> {
        self.leaves().into_iter().find(|leaf| leaf.path == path).map(|leaf| leaf.origin)
    }

    fn collect(&self, at: Level<'_>, path: &mut String, leaves: &mut Vec<Leaf>) {
        match &at.node.kind {
            Kind::Table(entries) if !entries.is_empty() => {
                for (key, node) in entries {
                    let end = push_key(path, key);
                    let shape = at.shape.and_then(|shape| shape.child(key));
                    let exposure = at.exposure.below(at.shape, key);
                    self.collect(Level { node, shape, exposure }, path, leaves);
                    path.truncate(end);
                }
            }
            // The mask of a list's item may depend on the item before it.
            Kind::List(items) if items.iter().all(|item| item.text().is_some()) => {
                let masked = mask::shown(at.node, at.shape, at.exposure);
                for (index, item) in items.iter().enumerate() {
                    let end = push_index(path, index);
                    leaves.push(self.leaf(path, masked.get(index).cloned(), item));
                    path.truncate(end);
                }
                if items.is_empty() {
                    leaves.push(self.leaf(path, Some(masked), at.node));
                }
            }
            Kind::List(items) => {
                let shape = at.shape.and_then(Shape::items);
                for (index, node) in items.iter().enumerate() {
                    let end = push_index(path, index);
                    self.collect(Level { node, shape, exposure: at.exposure }, path, leaves);
                    path.truncate(end);
                }
            }
            Kind::Table(_) if path.is_empty() => {}
            Kind::Null | Kind::Flag(_) | Kind::Number(_) | Kind::Text(_) | Kind::Table(_) => {
                let value = mask::shown(at.node, at.shape, at.exposure);
                leaves.push(self.leaf(path, Some(value), at.node));
            }
        }
    }

    fn leaf(&self, path: &str, value: Option<Value>, node: &Node) -> Leaf {
        let file = self.files.get(node.place.file).cloned().unwrap_or_default();
        let origin = Origin { file, line: node.place.line };
        Leaf { path: path.to_owned(), value: value.unwrap_or_default(), origin }
    }
}

impl fmt::Debug for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origins").field("files", &self.files).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy)]
struct Level<'a> {
    node: &'a Node,
    shape: Option<Shape>,
    exposure: Exposure,
}
