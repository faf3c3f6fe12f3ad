//! What keys do in a text, as Emacs and readline have taught them.

use std::ops::Range;

use super::Composer;
use super::buffer::{Run, Select, next, previous};
use super::kills::Way;
use super::motion::{chunk_start, line_end, line_start, word_end, word_start};
use crate::key::{Code, Key, Mods};

/// Something a key does to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    /// Moves the caret.
    Go(Target),
    /// Deletes from the caret to there.
    Delete(Target),
    /// The same, into the kill ring.
    Cut(Target),
    /// Puts the newest cut in.
    Put,
    /// Puts an older one in its place.
    PutOlder,
    /// Exchanges the graphemes around the caret.
    Transpose,
    /// Takes the last step back.
    Undo,
    /// Does it again.
    Redo,
}

impl Edit {
    /// Whether it moves by rows: beyond the first and the last one others may have a use for the key.
    pub(super) fn is_vertical(self) -> bool {
        matches!(self, Self::Go(Target::Up | Target::Down))
    }
}

/// A place, seen from the caret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// A grapheme to the left.
    Left,
    /// A grapheme to the right.
    Right,
    /// The beginning of the word before.
    WordStart,
    /// The end of the word behind.
    WordEnd,
    /// The beginning of what stands between blanks.
    ChunkStart,
    /// The beginning of the line.
    LineStart,
    /// The end of the line.
    LineEnd,
    /// The beginning of the text.
    Start,
    /// The end of the text.
    End,
    /// The row above.
    Up,
    /// The row below.
    Down,
}

/// What a key does, and whether it selects on its way.
pub(super) fn edit(key: Key) -> Option<(Edit, Select)> {
    let is_char = matches!(key.code, Code::Char(_));
    let (key, select) = if key.mods.has(Mods::SHIFT) && !is_char {
        (Key { mods: key.mods.without(Mods::SHIFT), ..key }, Select::Extend)
    } else {
        (key, Select::Drop)
    };
    Some((named(&key.to_string())?, select))
}

fn named(key: &str) -> Option<Edit> {
    Some(match key {
        "left" | "ctrl+b" => Edit::Go(Target::Left),
        "right" | "ctrl+f" => Edit::Go(Target::Right),
        "up" => Edit::Go(Target::Up),
        "down" => Edit::Go(Target::Down),
        "home" | "ctrl+a" | "super+left" => Edit::Go(Target::LineStart),
        "end" | "ctrl+e" | "super+right" => Edit::Go(Target::LineEnd),
        "alt+b" | "ctrl+left" | "alt+left" => Edit::Go(Target::WordStart),
        "alt+f" | "ctrl+right" | "alt+right" => Edit::Go(Target::WordEnd),
        "ctrl+home" | "alt+<" | "super+up" => Edit::Go(Target::Start),
        "ctrl+end" | "alt+>" | "super+down" => Edit::Go(Target::End),
        "backspace" | "ctrl+h" => Edit::Delete(Target::Left),
        "delete" | "ctrl+d" => Edit::Delete(Target::Right),
        "ctrl+w" => Edit::Cut(Target::ChunkStart),
        "alt+backspace" | "ctrl+backspace" | "ctrl+alt+h" => Edit::Cut(Target::WordStart),
        "alt+d" | "alt+delete" | "ctrl+delete" => Edit::Cut(Target::WordEnd),
        "ctrl+u" | "super+backspace" => Edit::Cut(Target::LineStart),
        "ctrl+k" => Edit::Cut(Target::LineEnd),
        "ctrl+y" => Edit::Put,
        "alt+y" => Edit::PutOlder,
        "ctrl+t" => Edit::Transpose,
        "ctrl+_" | "ctrl+-" | "ctrl+/" | "ctrl+7" | "super+z" => Edit::Undo,
        "alt+_" | "alt+/" | "ctrl+Z" | "ctrl+shift+z" | "super+Z" | "super+shift+z" => Edit::Redo,
        _ => return None,
    })
}

impl Composer {
    /// Does what a key says; whether it changed anything.
    pub(super) fn perform(&mut self, edit: Edit, select: Select) -> bool {
        let before = self.moment();
        if !edit.is_vertical() {
            self.goal = None;
        }
        match edit {
            Edit::Go(target) => self.go(target, select),
            Edit::Delete(target) => {
                let range = self.reach(target);
                self.buffer.delete(range, Run::Deleting);
            }
            Edit::Cut(target) => self.cut(target),
            Edit::Put => self.put(),
            Edit::PutOlder => self.put_older(),
            Edit::Transpose => self.transpose(),
            Edit::Undo => {
                self.buffer.undo();
            }
            Edit::Redo => {
                self.buffer.redo();
            }
        }
        before != self.moment()
    }

    /// What changes with every key that does something.
    fn moment(&self) -> (u64, usize, Option<Range<usize>>) {
        (self.buffer.version(), self.buffer.caret(), self.buffer.selection())
    }

    fn go(&mut self, target: Target, select: Select) {
        match target {
            Target::Up => self.go_up(select),
            Target::Down => self.go_down(select),
            Target::Left
            | Target::Right
            | Target::WordStart
            | Target::WordEnd
            | Target::ChunkStart
            | Target::LineStart
            | Target::LineEnd
            | Target::Start
            | Target::End => self.buffer.move_to(self.find(target), select),
        }
    }

    /// Moves up by a row, or to what was said before if there is none above.
    fn go_up(&mut self, select: Select) {
        let (row, _) = self.place();
        let is_walking = self.history.is_walking(self.buffer.version(), self.buffer.caret());
        if select == Select::Drop && (row == 0 || is_walking) {
            let draft = self.buffer.text().to_owned();
            if let Some(prompt) = self.history.older(&draft) {
                self.recall(&prompt);
                return;
            }
        }
        if row > 0 {
            self.go_to_row(row - 1, select);
        }
    }

    /// Moves down by a row, or back towards the draft if there is none below.
    fn go_down(&mut self, select: Select) {
        let (row, _) = self.place();
        let is_last = row + 1 >= self.rows.count();
        let is_walking = self.history.is_walking(self.buffer.version(), self.buffer.caret());
        if select == Select::Drop
            && (is_last || is_walking)
            && let Some(prompt) = self.history.newer()
        {
            self.recall(&prompt);
        } else if !is_last {
            self.go_to_row(row + 1, select);
        }
    }

    fn recall(&mut self, prompt: &str) {
        let all = 0..self.buffer.text().len();
        self.buffer.replace(all, prompt, Run::Alone);
        self.history.arrive(self.buffer.version(), self.buffer.caret());
        self.goal = None;
        self.popup.close_for(self.buffer.text(), self.buffer.caret());
    }

    fn go_to_row(&mut self, row: usize, select: Select) {
        let (_, column) = self.place();
        let column = *self.goal.get_or_insert(column);
        let at = self.rows.byte_at(self.measure(), row, column);
        self.buffer.move_to(at, select);
    }

    fn find(&self, target: Target) -> usize {
        let (text, caret) = (self.buffer.text(), self.buffer.caret());
        match target {
            Target::Left => previous(text, caret),
            Target::Right => next(text, caret),
            Target::WordStart => word_start(text, caret),
            Target::WordEnd => word_end(text, caret),
            Target::ChunkStart => chunk_start(text, caret),
            Target::LineStart => line_start(text, caret),
            Target::LineEnd => line_end(text, caret),
            Target::Start => 0,
            Target::End => text.len(),
            Target::Up | Target::Down => caret,
        }
    }

    /// From the caret to a target; what is selected comes first. At a line's edge its new line is meant.
    fn reach(&self, target: Target) -> Range<usize> {
        if let Some(selected) = self.buffer.selection() {
            return selected;
        }
        let (text, caret) = (self.buffer.text(), self.buffer.caret());
        let there = match (target, self.find(target)) {
            (Target::LineEnd, there) if there == caret => next(text, caret),
            (Target::LineStart, there) if there == caret => previous(text, caret),
            (_, there) => there,
        };
        caret.min(there)..caret.max(there)
    }

    fn cut(&mut self, target: Target) {
        let range = self.reach(target);
        let way = if range.start < self.buffer.caret() { Way::Backward } else { Way::Forward };
        let text = self.buffer.delete(range, Run::Alone);
        self.kills.cut(text, way, self.keystroke);
    }

    fn put(&mut self) {
        let Some(text) = self.kills.newest().map(str::to_owned) else { return };
        let start = self.buffer.selection().map_or(self.buffer.caret(), |range| range.start);
        self.buffer.insert(&text, Run::Alone);
        self.kills.was_put(start..start + text.len(), self.buffer.version());
    }

    fn put_older(&mut self) {
        if let Some((range, text)) = self.kills.older(self.buffer.version()) {
            self.buffer.replace(range, &text, Run::Alone);
        }
    }

    fn transpose(&mut self) {
        let (text, caret) = (self.buffer.text(), self.buffer.caret());
        let middle = if caret == line_end(text, caret) { previous(text, caret) } else { caret };
        let (start, end) = (previous(text, middle), next(text, middle));
        let parts = (&text[start..middle], &text[middle..end]);
        if parts.0.is_empty() || parts.0 == "\n" || parts.1.is_empty() {
            return;
        }
        let swapped = format!("{}{}", parts.1, parts.0);
        self.buffer.replace(start..end, &swapped, Run::Alone);
    }
}
