//! Laying one file's settings over those of the files before it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::shape::Shape;
use super::tree::{Kind, Node};

/// Lays `over` on `under`: objects merge, lists are appended, anything else is replaced.
///
/// Two words of the schema change that for lists: `x-merge: replace` keeps only the later one, and
/// `x-key` merges entries that have the same key. A list item that is there already is not repeated.
pub(super) fn lay_over(under: Node, over: Node, shape: Option<Shape>) -> Node {
    let place = over.place;
    match (under.kind, over.kind) {
        (Kind::Table(under), Kind::Table(over)) => {
            Node::new(Kind::Table(lay_over_table(under, over, shape)), place)
        }
        (Kind::List(under), Kind::List(over)) if !shape.is_some_and(Shape::replaces) => {
            Node::new(Kind::List(append(under, over, shape)), place)
        }
        (_, over) => Node::new(over, place),
    }
}

fn lay_over_table(
    mut under: BTreeMap<String, Node>,
    over: BTreeMap<String, Node>,
    shape: Option<Shape>,
) -> BTreeMap<String, Node> {
    for (key, node) in over {
        let inner = shape.and_then(|shape| shape.child(&key));
        match under.entry(key) {
            Entry::Vacant(free) => {
                free.insert(node);
            }
            Entry::Occupied(mut taken) => {
                let before = std::mem::replace(taken.get_mut(), Node::empty());
                taken.insert(lay_over(before, node, inner));
            }
        }
    }
    under
}

fn append(mut under: Vec<Node>, over: Vec<Node>, shape: Option<Shape>) -> Vec<Node> {
    let key = shape.and_then(Shape::entry_key);
    let inner = shape.and_then(Shape::items);
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (index, item) in under.iter().enumerate() {
        known.extend(identity(item, key, inner).map(|name| (name, index)));
    }
    for item in over {
        match identity(&item, key, inner).map(|name| (known.get(&name).copied(), name)) {
            Some((Some(index), _)) => {
                let before = std::mem::replace(&mut under[index], Node::empty());
                under[index] = lay_over(before, item, inner);
            }
            Some((None, name)) => {
                known.insert(name, under.len());
                under.push(item);
            }
            None => under.push(item),
        }
    }
    under
}

/// What makes two items of a list the same: their key, or for plain text the text itself. In data we
/// know nothing of, all items differ.
fn identity(item: &Node, key: Option<&str>, inner: Option<Shape>) -> Option<String> {
    match (key, inner) {
        (Some(key), _) => item.table()?.get(key)?.text().map(str::to_owned),
        (None, Some(_)) => item.text().map(str::to_owned),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests;
