//! Context that nears its window: old results are shortened first, then the older part of a session is
//! replaced by a summary. Both are entries of the tree; nothing is lost, and both can be undone.
//!
//! | module | does |
//! |---|---|
//! | [`prune`] | chooses the old, big results to shorten |
//! | [`plan`] | chooses what is summarised and what stays verbatim, and asks for the summary |
//! | `facts` | what code keeps, whatever the model forgets: goal, todos, files, failed commands |
//! | `render` | entries as the text a summariser reads |
//!
//! The caller walks: [`due`], or the provider says that the context is full → [`worth_trying`] → [`prune`];
//! still due → [`plan`], [`Plan::request`] for each step, [`Plan::entry`]; then [`helped`], and if it did not,
//! it says [`NO_HELP`] and leaves it at that. The same branch always gives the same bytes.

mod facts;
mod plan;
mod prune;
mod render;

use base::transcript::Seen;
use base::{Entry, EntryKind};

pub use plan::{Plan, plan};
pub use prune::prune;

use crate::tokens;

/// Windows larger than this count as large.
const LARGE_WINDOW: u64 = 200_000;
/// What must be left of a large window.
const LARGE_LEFT: u64 = 20_000;
/// What is taken for the window of a model whose window is unknown.
const UNKNOWN_WINDOW: u64 = 100_000;

/// What the user is told when compaction did not make room.
pub const NO_HELP: &str = "Compacting freed too little room: what stays (instructions, tools, the newest \
turns) nearly fills the model's window. Begin anew with /clear, or choose a model with a larger window.";

/// Whether the context nears the window. A window of 0 is unknown and never near.
pub fn due(used_tokens: u64, window: u64) -> bool {
    let left = window.saturating_sub(used_tokens);
    match window {
        0 => false,
        1..=LARGE_WINDOW => left.saturating_mul(5) <= window,
        _ => left <= LARGE_LEFT,
    }
}

/// Whether a compaction made enough room to have been worth it: a fifth.
pub fn helped(before_tokens: u64, after_tokens: u64) -> bool {
    after_tokens.saturating_mul(5) <= before_tokens.saturating_mul(4)
}

/// Whether to compact without being asked: not again before a tenth of the window is new. A compaction that
/// did not help would otherwise be repeated at every step, and one that was undone redone at once.
pub fn worth_trying(branch: &[Entry], window: u64) -> bool {
    let last = branch.iter().rposition(|entry| {
        matches!(entry.kind, EntryKind::Compaction { .. } | EntryKind::Undone { .. })
    });
    let Some(last) = last else { return true };
    let new: u64 = branch[last + 1..].iter().map(tokens::of_entry).sum();
    new >= known(window) / 10
}

/// The entry that takes the newest compaction or pruning back; none if there is none.
pub fn undo(branch: &[Entry]) -> Option<EntryKind> {
    Seen::of(branch).newest_cut.map(|entry| EntryKind::Undone { entry })
}

/// Whether something is hidden from the model that `recall` can show.
pub fn hides_something(branch: &[Entry]) -> bool {
    branch
        .iter()
        .any(|entry| matches!(entry.kind, EntryKind::Compaction { .. } | EntryKind::Pruned { .. }))
}

/// The window, or a guess where it is unknown.
fn known(window: u64) -> u64 {
    if window == 0 { UNKNOWN_WINDOW } else { window }
}

/// The last digits of an entry's id: enough to name it in one session, short enough for a prompt.
fn short_id(entry: &Entry) -> String {
    let id = entry.id.to_string();
    id[id.len() - 8..].to_owned()
}

/// A text of at most `limit` bytes: its head, and a sign that there was more.
fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_due_when_a_fifth_or_twenty_thousand_tokens_are_left() {
        for (used, window, is_due) in [
            (0, 0, false),
            (1_000_000, 0, false),
            (159_999, 200_000, false),
            (160_000, 200_000, true),
            (6_553, 8_192, false),
            (6_554, 8_192, true),
            (979_999, 1_000_000, false),
            (980_000, 1_000_000, true),
            (u64::MAX, 128_000, true),
        ] {
            assert_eq!(due(used, window), is_due, "{used} of {window}");
        }
    }

    #[test]
    fn helps_when_a_fifth_is_freed() {
        assert!(helped(100, 80) && helped(u64::MAX, 0));
        assert!(!helped(100, 81) && !helped(100, 100) && !helped(100, 200));
    }
}
