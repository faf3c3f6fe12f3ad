//! The text that is written, its caret and selection, and what undo knows of it.
//!
//! Every change goes through [`Buffer::replace`], which keeps the caret between graphemes, writes the step
//! down for undo, and notes what must be laid out again.

#[cfg(test)]
mod tests;

use std::ops::Range;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::marks::is_mark;

/// Changes that undo knows at most.
const MOST_CHANGES: usize = 1_000;
/// Bytes that undo keeps at most.
const MOST_BYTES: usize = 8 << 20;

/// What kind of change it is: those of one run are undone together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Run {
    /// A change of its own.
    #[default]
    Alone,
    /// A character was typed.
    Typing,
    /// A character was deleted.
    Deleting,
}

/// Whether moving the caret selects what it moves over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Select {
    /// It does.
    Extend,
    /// It ends a selection.
    Drop,
}

/// What has changed since the text was laid out: `start..old_end` was there, `start..new_end` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dirty {
    /// Where it begins.
    pub(super) start: usize,
    /// Its end in the text that was laid out.
    pub(super) old_end: usize,
    /// Its end now.
    pub(super) new_end: usize,
}

/// One change, with all it takes to do it backwards.
#[derive(Debug, Clone)]
struct Change {
    step: u64,
    at: usize,
    removed: String,
    inserted: String,
    caret_before: usize,
    caret_after: usize,
}

/// The text.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    text: String,
    caret: usize,
    anchor: Option<usize>,
    done: Vec<Change>,
    undone: Vec<Change>,
    kept_bytes: usize,
    step: u64,
    run: Run,
    held: bool,
    dirty: Option<Dirty>,
    version: u64,
}

impl Buffer {
    /// The text, marks as they are.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where the caret is, in bytes; always between graphemes.
    pub(super) fn caret(&self) -> usize {
        self.caret
    }

    /// Counts the changes.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// What is selected, if anything is.
    pub(super) fn selection(&self) -> Option<Range<usize>> {
        let anchor = self.anchor.filter(|anchor| *anchor != self.caret)?;
        Some(anchor.min(self.caret)..anchor.max(self.caret))
    }

    /// What has changed since it was asked for last.
    pub(super) fn take_dirty(&mut self) -> Option<Dirty> {
        self.dirty.take()
    }

    /// Moves the caret, to the end of the grapheme if it would be inside one.
    pub(super) fn move_to(&mut self, at: usize, select: Select) {
        match select {
            Select::Extend => self.anchor = self.anchor.or(Some(self.caret)),
            Select::Drop => self.anchor = None,
        }
        self.caret = snap(&self.text, at);
        self.run = Run::Alone;
    }

    /// Puts text in at the caret, in place of what is selected.
    pub(super) fn insert(&mut self, text: &str, run: Run) {
        let range = self.selection().unwrap_or(self.caret..self.caret);
        self.replace(range, text, run);
    }

    /// Deletes a part and returns it.
    pub(super) fn delete(&mut self, range: Range<usize>, run: Run) -> String {
        let gone = self.text[range.clone()].to_owned();
        if !gone.is_empty() {
            self.replace(range, "", run);
        }
        gone
    }

    /// Puts a text in place of a part; the caret is behind it then.
    pub(super) fn replace(&mut self, range: Range<usize>, text: &str, run: Run) {
        self.anchor = None;
        if range.is_empty() && text.is_empty() {
            return;
        }
        let joins = run != Run::Alone && run == self.run && !self.starts_word(run, text);
        if !joins && !self.held {
            self.step += 1;
        }
        self.run = run;
        self.forget_undone();
        let caret_before = self.caret;
        let removed = self.splice(range.clone(), text);
        self.caret = snap(&self.text, range.start + text.len());
        self.note(Change {
            step: self.step,
            at: range.start,
            removed,
            inserted: text.to_owned(),
            caret_before,
            caret_after: self.caret,
        });
    }

    /// From here to [`Buffer::release`] all changes are one step for undo.
    pub(super) fn hold(&mut self) {
        if !self.held {
            self.step += 1;
            self.held = true;
        }
    }

    /// Ends what [`Buffer::hold`] began.
    pub(super) fn release(&mut self) {
        self.held = false;
        self.run = Run::Alone;
    }

    /// Takes the last step back; whether there was one.
    pub(super) fn undo(&mut self) -> bool {
        let Some(step) = self.done.last().map(|change| change.step) else { return false };
        while let Some(change) = self.done.pop_if(|change| change.step == step) {
            self.splice(change.at..change.at + change.inserted.len(), &change.removed);
            self.caret = change.caret_before;
            self.undone.push(change);
        }
        self.settle();
        true
    }

    /// Does the step again that was taken back last; whether there was one.
    pub(super) fn redo(&mut self) -> bool {
        let Some(step) = self.undone.last().map(|change| change.step) else { return false };
        while let Some(change) = self.undone.pop_if(|change| change.step == step) {
            self.splice(change.at..change.at + change.removed.len(), &change.inserted);
            self.caret = change.caret_after;
            self.done.push(change);
        }
        self.settle();
        true
    }

    /// Empties it, and forgets what undo knew.
    pub(super) fn clear(&mut self) {
        let version = self.version + 1;
        let dirty = Dirty { start: 0, old_end: self.text.len(), new_end: 0 };
        let dirty = Some(merge(self.dirty, dirty));
        *self = Self { dirty, version, ..Self::default() };
    }

    /// Whether what is typed begins a word after a blank: undo goes word by word.
    fn starts_word(&self, run: Run, text: &str) -> bool {
        let is_blank_before = self.text[..self.caret].ends_with(char::is_whitespace);
        run == Run::Typing && is_blank_before && !text.starts_with(char::is_whitespace)
    }

    fn settle(&mut self) {
        self.anchor = None;
        self.run = Run::Alone;
        self.step += 1;
    }

    fn splice(&mut self, range: Range<usize>, text: &str) -> String {
        let removed = self.text[range.clone()].to_owned();
        self.text.replace_range(range.clone(), text);
        self.version += 1;
        let new_end = range.start + text.len();
        let dirty = Dirty { start: range.start, old_end: range.end, new_end };
        self.dirty = Some(merge(self.dirty, dirty));
        removed
    }

    fn note(&mut self, change: Change) {
        self.kept_bytes += change.removed.len() + change.inserted.len();
        if let Some(last) = self.done.last_mut()
            && last.step == change.step
            && last.at + last.inserted.len() == change.at
            && change.removed.is_empty()
        {
            last.inserted.push_str(&change.inserted);
            last.caret_after = change.caret_after;
        } else {
            self.done.push(change);
        }
        while self.done.len() > MOST_CHANGES
            || (self.kept_bytes > MOST_BYTES && self.done.len() > 1)
        {
            let gone = self.done.remove(0);
            self.kept_bytes -= gone.removed.len() + gone.inserted.len();
        }
    }

    fn forget_undone(&mut self) {
        for change in self.undone.drain(..) {
            self.kept_bytes -= change.removed.len() + change.inserted.len();
        }
    }
}

/// Two changes, one after the other, as one.
fn merge(first: Option<Dirty>, then: Dirty) -> Dirty {
    let Some(first) = first else { return then };
    let beyond = then.old_end.saturating_sub(first.new_end);
    let end = first.new_end + beyond;
    Dirty {
        start: first.start.min(then.start),
        old_end: first.old_end + beyond,
        new_end: end - then.old_end + then.new_end,
    }
}

/// The end of the grapheme that begins at `at`; a mark is a grapheme of its own.
pub(super) fn next(text: &str, at: usize) -> usize {
    if is_plain(text, at) && is_plain(text, at + 1) {
        return at + 1;
    }
    let Some(grapheme) = text[at..].graphemes(true).next() else { return at };
    let is_first_mark = grapheme.starts_with(is_mark);
    let own = grapheme.char_indices().skip(1).find(|(_, c)| is_first_mark || is_mark(*c));
    at + own.map_or(grapheme.len(), |(end, _)| end)
}

/// The beginning of the grapheme that ends at `at`.
pub(super) fn previous(text: &str, at: usize) -> usize {
    if at > 1 && is_plain(text, at - 1) && is_plain(text, at - 2) {
        return at - 1;
    }
    let before = &text[..at];
    match before.chars().next_back() {
        None => 0,
        Some(c) if c == '\n' || is_mark(c) => at - c.len_utf8(),
        Some(_) => {
            let start = stretch(text, at).start;
            at - text[start..at].graphemes(true).next_back().map_or(0, str::len)
        }
    }
}

/// The nearest place between graphemes, at `at` or behind it.
pub(super) fn snap(text: &str, at: usize) -> usize {
    let at = text.ceil_char_boundary(at);
    if at > 0 && is_plain(text, at - 1) && is_plain(text, at) {
        return at;
    }
    let around = stretch(text, at);
    let inside = &text[around.clone()];
    let mut cursor = GraphemeCursor::new(at - around.start, inside.len(), true);
    if cursor.is_boundary(inside, 0).unwrap_or(true) {
        return at;
    }
    cursor.next_boundary(inside, 0).ok().flatten().map_or(around.end, |end| around.start + end)
}

/// Whether a printable ASCII character stands at a byte: between two of them a grapheme always ends.
fn is_plain(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(|byte| (0x20..0x7f).contains(byte))
}

/// The stretch around `at` without a mark or a new line in it: graphemes do not reach beyond.
fn stretch(text: &str, at: usize) -> Range<usize> {
    let parts = |c: char| c == '\n' || is_mark(c);
    let start = text[..at].rfind(parts).map_or(0, |before| next_char(text, before));
    let end = text[at..].find(parts).map_or(text.len(), |behind| at + behind);
    start..end
}

fn next_char(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(at, |c| at + c.len_utf8())
}
