//! The tree itself: entries by id, and the branch that ends in one of them.

use std::collections::HashMap;

use super::Entry;
use crate::id::EntryId;

/// Why entries do not form a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// An entry follows one that is not there.
    #[error("entry {entry} follows {parent}, which is missing")]
    MissingParent {
        /// The entry.
        entry: EntryId,
        /// What it claims to follow.
        parent: EntryId,
    },
    /// The same id twice.
    #[error("entry {0} is there twice")]
    Duplicate(EntryId),
    /// The asked-for entry is not there.
    #[error("there is no entry {0}")]
    NotFound(EntryId),
}

/// A session's entries, indexed by id. It only grows.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    entries: Vec<Entry>,
    place: HashMap<EntryId, usize>,
}

impl Tree {
    /// Builds a tree from entries in the order they were appended; a parent stands before its children.
    pub fn from_entries(entries: impl IntoIterator<Item = Entry>) -> Result<Self, TreeError> {
        let mut tree = Self::default();
        for entry in entries {
            tree.append(entry)?;
        }
        Ok(tree)
    }

    /// Adds an entry below one that is already there, or a new root.
    pub fn append(&mut self, entry: Entry) -> Result<(), TreeError> {
        if let Some(parent) = entry.parent.filter(|parent| !self.place.contains_key(parent)) {
            return Err(TreeError::MissingParent { entry: entry.id, parent });
        }
        if self.place.insert(entry.id, self.entries.len()).is_some() {
            return Err(TreeError::Duplicate(entry.id));
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Every entry, in the order of appending.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// One entry.
    pub fn get(&self, id: EntryId) -> Option<&Entry> {
        self.place.get(&id).map(|&at| &self.entries[at])
    }

    /// The path from the root to `head`. Parents stand before children, so it always ends.
    pub fn branch(&self, head: EntryId) -> Result<Vec<&Entry>, TreeError> {
        let mut path = Vec::new();
        let mut next = Some(head);
        while let Some(id) = next {
            let entry = self.get(id).ok_or(TreeError::NotFound(id))?;
            path.push(entry);
            next = entry.parent;
        }
        path.reverse();
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::model::{ModelRef, StopReason, Usage};
    use crate::transcript::{EntryKind, Part};

    fn entry(parent: Option<&Entry>, kind: EntryKind) -> Entry {
        let parent = parent.map(|entry| entry.id);
        Entry { id: EntryId::new(), parent, at: Timestamp::default(), kind }
    }

    fn user(text: &str) -> EntryKind {
        EntryKind::User { parts: vec![Part::user_text(text)] }
    }

    fn assistant(text: &str) -> EntryKind {
        EntryKind::Assistant {
            parts: vec![Part::assistant_text(text)],
            model: ModelRef::new("demo", "tour"),
            stop: StopReason::Done,
            usage: Usage::default(),
        }
    }

    #[test]
    fn a_fork_shares_its_stem_and_nothing_else() {
        let first = entry(None, user("a"));
        let left = entry(Some(&first), assistant("left"));
        let right = entry(Some(&first), assistant("right"));
        let tree = Tree::from_entries([first.clone(), left, right.clone()]).unwrap();
        assert_eq!(tree.branch(right.id).unwrap(), vec![&first, &right]);
    }

    #[test]
    fn a_child_without_its_parent_is_refused() {
        let lost = entry(None, user("a"));
        let child = entry(Some(&lost), user("b"));
        let error = Tree::from_entries([child.clone()]).unwrap_err();
        assert_eq!(error, TreeError::MissingParent { entry: child.id, parent: lost.id });
        let error = Tree::from_entries([lost.clone(), lost.clone()]).unwrap_err();
        assert_eq!(error, TreeError::Duplicate(lost.id));
    }

    #[test]
    fn an_entry_survives_json() {
        let notice = entry(None, EntryKind::Notice { text: "hi".into(), class: None });
        let json = serde_json::to_string(&notice).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&json).unwrap(), notice);
    }
}
