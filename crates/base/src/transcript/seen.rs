//! What a model sees of a branch: compactions, prunings and their undoing applied.

use std::collections::{HashMap, HashSet};

use super::{CallResult, Entry, EntryKind, Origin, Part, PartBody, Piece, Role, Turn};
use crate::id::{CallId, EntryId};

/// A text of a result up to this long is shown whole, pruned or not.
pub const SHORT_BYTES: usize = 1_200;
/// What stays of a longer one at its beginning: what was found, the first error.
const HEAD_BYTES: usize = 700;
/// What stays at its end: the exit line, the last error.
const TAIL_BYTES: usize = 300;

/// What of a branch a model sees.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// What stands for the entries that are no longer shown.
    pub summary: Option<&'a str>,
    /// The entries that are shown, in order.
    pub entries: Vec<&'a Entry>,
    /// The newest compaction or pruning that counts: what an undo takes back.
    pub newest_cut: Option<EntryId>,
    /// Where in `entries` each pruned call's newest pruning stands; results before it are shortened.
    pruned: HashMap<&'a CallId, usize>,
}

impl<'a> Seen<'a> {
    /// Applies what the branch says about itself. An undone entry counts no longer; that goes for an
    /// undoing, too.
    pub fn of(branch: impl IntoIterator<Item = &'a Entry>) -> Self {
        let branch: Vec<&Entry> = branch.into_iter().collect();
        let mut undone: HashSet<EntryId> = HashSet::new();
        let mut seen =
            Self { summary: None, entries: Vec::new(), newest_cut: None, pruned: HashMap::new() };
        let mut from = 0;
        for (at, entry) in branch.iter().enumerate().rev() {
            if undone.contains(&entry.id) {
                continue;
            }
            match &entry.kind {
                EntryKind::Undone { entry: taken_back } => {
                    undone.insert(*taken_back);
                }
                EntryKind::Compaction { summary, keep_from } if seen.summary.is_none() => {
                    seen.newest_cut.get_or_insert(entry.id);
                    seen.summary = Some(summary);
                    let kept = keep_from.and_then(|id| branch.iter().position(|e| e.id == id));
                    from = kept.map_or(at, |kept| kept.min(at));
                }
                EntryKind::Pruned { calls } => {
                    seen.newest_cut.get_or_insert(entry.id);
                    for call in calls {
                        seen.pruned.entry(call).or_insert(at);
                    }
                }
                EntryKind::Compaction { .. }
                | EntryKind::User { .. }
                | EntryKind::Assistant { .. }
                | EntryKind::ToolResults { .. }
                | EntryKind::Notice { .. }
                | EntryKind::Prefix { .. }
                | EntryKind::ModelChange { .. }
                | EntryKind::Checkpoint { .. } => {}
            }
        }
        seen.entries = branch[from..].to_vec();
        seen.pruned.values_mut().for_each(|at| *at = at.saturating_sub(from));
        seen
    }

    /// Whether the result of `call` in `entries[at]` is shown shortened.
    pub fn is_shortened(&self, call: &CallId, at: usize) -> bool {
        self.pruned.get(call).is_some_and(|pruned_at| at < *pruned_at)
    }

    /// The conversation: notices, model changes and checkpoints are left out, neighbours of one role
    /// are joined.
    pub fn turns(&self) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        if let Some(summary) = self.summary {
            let text = PartBody::Text { text: summary.to_owned() };
            say(&mut turns, Role::User, vec![Part::new(text, Origin::System)]);
        }
        for (at, entry) in self.entries.iter().enumerate() {
            match &entry.kind {
                EntryKind::User { parts } => say(&mut turns, Role::User, parts.clone()),
                EntryKind::Assistant { parts, .. } => {
                    say(&mut turns, Role::Assistant, parts.clone());
                }
                EntryKind::ToolResults { parts } => {
                    let shown = parts.iter().map(|part| self.shown(part, at)).collect();
                    say(&mut turns, Role::User, shown);
                }
                EntryKind::Notice { .. }
                | EntryKind::Compaction { .. }
                | EntryKind::Pruned { .. }
                | EntryKind::Undone { .. }
                | EntryKind::Prefix { .. }
                | EntryKind::ModelChange { .. }
                | EntryKind::Checkpoint { .. } => {}
            }
        }
        turns
    }

    fn shown(&self, part: &Part, at: usize) -> Part {
        match &part.body {
            PartBody::Result(result) if self.is_shortened(&result.call, at) => {
                Part { body: PartBody::Result(shortened(result)), ..part.clone() }
            }
            PartBody::Result(_)
            | PartBody::Text { .. }
            | PartBody::Reasoning { .. }
            | PartBody::Call(_)
            | PartBody::File(_)
            | PartBody::Opaque { .. } => part.clone(),
        }
    }
}

/// What a model sees of a branch, as a conversation.
pub fn turns<'a>(branch: impl IntoIterator<Item = &'a Entry>) -> Vec<Turn> {
    Seen::of(branch).turns()
}

fn say(turns: &mut Vec<Turn>, role: Role, mut parts: Vec<Part>) {
    match turns.last_mut() {
        Some(last) if last.role == role => last.parts.append(&mut parts),
        Some(_) | None => turns.push(Turn { role, parts }),
    }
}

/// A result whose long texts are cut in the middle and whose files are named only.
fn shortened(result: &CallResult) -> CallResult {
    let id = result.call.as_str();
    let piece = |piece: &Piece| match piece {
        Piece::Text { text } if text.len() > SHORT_BYTES => {
            let head = &text[..boundary_below(text, HEAD_BYTES)];
            let tail = &text[boundary_below(text, text.len() - TAIL_BYTES)..];
            let left_out = text.len() - head.len() - tail.len();
            let text =
                format!("{head}\n[{left_out} bytes left out; recall id {id:?} has them]\n{tail}");
            Piece::Text { text }
        }
        Piece::Text { .. } => piece.clone(),
        Piece::File(file) => {
            let text = format!("[{} left out; recall id {id:?} has it]", file.media_type);
            Piece::Text { text }
        }
    };
    CallResult { pieces: result.pieces.iter().map(piece).collect(), ..result.clone() }
}

/// The greatest place up to `at` where a character begins.
fn boundary_below(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests;
