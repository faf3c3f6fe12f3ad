//! The kill ring: what was cut, newest first, to be put in again.

use std::collections::VecDeque;
use std::ops::Range;

use super::marks::is_mark;

/// Texts kept at most.
const MOST: usize = 30;

/// Which way a cut went from the caret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Towards the end.
    Forward,
    /// Towards the beginning.
    Backward,
}

/// The kill ring.
#[derive(Debug, Default)]
pub(super) struct Kills {
    ring: VecDeque<String>,
    chained_at: Option<u64>,
    put: Option<Put>,
}

/// A text that was put in: the next older one can take its place.
#[derive(Debug, Clone)]
struct Put {
    index: usize,
    range: Range<usize>,
    version: u64,
}

impl Kills {
    /// Keeps what was cut. What is cut right after another cut joins it; `keystroke` counts keys.
    pub(super) fn cut(&mut self, text: String, way: Way, keystroke: u64) {
        if text.is_empty() {
            return;
        }
        let chained = self.chained_at.is_some_and(|last| last + 1 == keystroke);
        self.chained_at = Some(keystroke);
        match self.ring.front_mut().filter(|_| chained) {
            Some(front) if way == Way::Forward => front.push_str(&text),
            Some(front) => front.insert_str(0, &text),
            None => {
                self.ring.push_front(text);
                self.ring.truncate(MOST);
            }
        }
    }

    /// The newest text.
    pub(super) fn newest(&self) -> Option<&str> {
        self.ring.front().map(String::as_str)
    }

    /// Notes where the newest text was put in, at which version of the buffer.
    pub(super) fn was_put(&mut self, range: Range<usize>, version: u64) {
        self.put = Some(Put { index: 0, range, version });
    }

    /// The text that comes in place of the one put in last, and where that is; none if the buffer has
    /// changed since.
    pub(super) fn older(&mut self, version: u64) -> Option<(Range<usize>, String)> {
        let put = self.put.as_mut().filter(|put| put.version == version)?;
        put.index = (put.index + 1) % self.ring.len().max(1);
        let text = self.ring.get(put.index)?.clone();
        let range = put.range.clone();
        put.range.end = range.start + text.len();
        put.version = version + 1;
        Some((range, text))
    }

    /// Forgets texts with marks in them: the marks are about to go.
    pub(super) fn drop_marks(&mut self) {
        self.ring.retain(|text| !text.contains(is_mark));
        self.put = None;
    }
}
