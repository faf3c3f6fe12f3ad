//! Which old results are shortened. They are most of what fills a window, and the model has long used
//! what it needed of them.

use std::collections::HashMap;

use base::transcript::{CallResult, Part, Piece, SHORT_BYTES, Seen};
use base::{CallId, Entry, EntryKind};

use super::known;
use crate::tokens;

/// The entry that shortens old, big results; none if that would free less than a twentieth of the window.
/// The newest results stay whole: a fifth of the window, and in any case those of the last step.
pub fn prune(branch: &[Entry], window: u64) -> Option<EntryKind> {
    let window = known(window);
    let stays = (window / 5).min(40_000);
    let worth = (window / 20).min(10_000);
    let seen = Seen::of(branch);
    let named = count_ids(branch);
    let last_step = seen.entries.iter().rposition(|entry| !results(entry).is_empty())?;
    let (mut newer, mut freed, mut calls) = (0, 0, Vec::new());
    for (at, entry) in seen.entries.iter().enumerate().rev() {
        for result in results(entry).into_iter().rev() {
            let size = tokens::of_result(result);
            newer += size;
            // Some providers count their ids anew in each answer: such a name would hit the wrong result.
            let is_unique = named.get(&result.call) == Some(&1);
            let is_old = at < last_step && newer > stays;
            if is_old && is_unique && is_long(result) && !seen.is_shortened(&result.call, at) {
                freed += size.saturating_sub(SHORT_BYTES as u64 / 4);
                calls.push(result.call.clone());
            }
        }
    }
    calls.reverse();
    (freed >= worth).then_some(EntryKind::Pruned { calls })
}

fn is_long(result: &CallResult) -> bool {
    result.pieces.iter().any(|piece| match piece {
        Piece::Text { text } => text.len() > SHORT_BYTES,
        Piece::File(_) => true,
    })
}

fn count_ids(branch: &[Entry]) -> HashMap<&CallId, usize> {
    let mut named = HashMap::new();
    for result in branch.iter().flat_map(results) {
        *named.entry(&result.call).or_default() += 1;
    }
    named
}

/// The results in an entry.
fn results(entry: &Entry) -> Vec<&CallResult> {
    entry.kind.parts().iter().filter_map(Part::as_result).collect()
}
