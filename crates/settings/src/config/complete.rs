//! Entries that lack a key they cannot do without.
//!
//! This is looked at after merging, for one file may name a model and another its effort.

use super::shape::Shape;
use super::tree::{Kind, Node, Place, push_index, push_key};

/// An entry that was dropped.
pub(super) struct Incomplete {
    pub(super) path: String,
    pub(super) place: Place,
    /// The key it lacks.
    pub(super) key: &'static str,
}

/// Drops incomplete entries from the merged settings and tells which.
pub(super) fn drop_incomplete(root: &mut Node) -> Vec<Incomplete> {
    let mut walk = Walk { path: String::new(), dropped: Vec::new() };
    walk.keep(root, Shape::root());
    walk.dropped
}

struct Walk {
    path: String,
    dropped: Vec<Incomplete>,
}

impl Walk {
    /// Whether the value may stay; what is inside it is seen to first.
    fn keep(&mut self, node: &mut Node, shape: Shape) -> bool {
        let place = node.place;
        match &mut node.kind {
            Kind::Table(entries) => {
                entries.retain(|key, inner| {
                    let end = push_key(&mut self.path, key);
                    let kept = shape.child(key).is_none_or(|shape| self.keep(inner, shape));
                    self.path.truncate(end);
                    kept
                });
                let lacking = shape
                    .keys()
                    .into_iter()
                    .find(|key| shape.requires(key) && !entries.contains_key(*key));
                let Some(key) = lacking else { return true };
                self.dropped.push(Incomplete { path: self.path.clone(), place, key });
                false
            }
            Kind::List(items) => {
                let mut index = 0;
                items.retain_mut(|item| {
                    let end = push_index(&mut self.path, index);
                    let kept = shape.items().is_none_or(|shape| self.keep(item, shape));
                    self.path.truncate(end);
                    index += 1;
                    kept
                });
                true
            }
            Kind::Null | Kind::Flag(_) | Kind::Number(_) | Kind::Text(_) => true,
        }
    }
}
