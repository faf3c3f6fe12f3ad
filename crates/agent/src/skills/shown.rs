//! Which skills' texts the model has before it, so that none is said twice.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use base::transcript::{Piece, Seen};
use base::{Entry, EntryKind, Origin, Part, PartBody};

/// The texts of skills in a context: by name, what they hash to.
#[derive(Debug, Default)]
pub(super) struct Shown(HashMap<String, Vec<u64>>);

impl Shown {
    /// What a model sees of a branch.
    pub(super) fn of(branch: &[Entry]) -> Self {
        let mut shown = Self::default();
        for turn in Seen::of(branch).turns() {
            shown.add(&turn.parts);
        }
        shown
    }

    /// Takes in the newest entry of a branch.
    pub(super) fn see(&mut self, branch: &[Entry]) {
        let Some(newest) = branch.last() else { return };
        match &newest.kind {
            // What was there may be gone now, or back.
            EntryKind::Compaction { .. } | EntryKind::Pruned { .. } | EntryKind::Undone { .. } => {
                *self = Self::of(branch);
            }
            EntryKind::User { parts } | EntryKind::ToolResults { parts } => self.add(parts),
            EntryKind::Assistant { .. }
            | EntryKind::Notice { .. }
            | EntryKind::Prefix { .. }
            | EntryKind::ModelChange { .. }
            | EntryKind::Checkpoint { .. } => {}
        }
    }

    /// Whether the model has this text of a skill before it.
    pub(super) fn has(&self, name: &str, text: &str) -> bool {
        self.0.get(name).is_some_and(|texts| texts.contains(&hash(text)))
    }

    /// The skills whose texts are there.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    fn add(&mut self, parts: &[Part]) {
        for part in parts {
            let Origin::Skill(name) = &part.origin else { continue };
            if let Some(text) = text_of(part) {
                self.0.entry(name.clone()).or_default().push(hash(text));
            }
        }
    }
}

fn text_of(part: &Part) -> Option<&str> {
    match &part.body {
        PartBody::Text { text } => Some(text),
        PartBody::Result(result) => match result.pieces.first()? {
            Piece::Text { text } => Some(text),
            Piece::File(_) => None,
        },
        PartBody::Reasoning { .. }
        | PartBody::Call(_)
        | PartBody::File(_)
        | PartBody::Opaque { .. } => None,
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
