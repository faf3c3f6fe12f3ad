//! Carrying out vi's orders.

use std::ops::Range;

use super::super::Composer;
use super::super::buffer::{Run, Select, next, previous};
use super::super::keys::{Edit, Target};
use super::super::motion::{Class, Words, class, line_end, line_start, line_text, skip};
use super::order::{Act, Find, Motion, Operator, Order, Over, Place};
use super::reach::{Reach, object, span, target};
use super::{Mode, Register};

/// Bytes that are put in at once at most, whatever the count.
const MOST_PUT_BYTES: usize = 1 << 20;

impl Composer {
    /// Carries an order out.
    pub(super) fn obey(&mut self, order: Order) {
        let Order { count, act } = order;
        let is_change = act.is_change();
        if is_change {
            self.buffer.hold();
        }
        let times = count.unwrap_or(1);
        match act {
            Act::Go(motion) => self.follow(motion, count),
            Act::Operate(operator, over) => self.operate(operator, over, count),
            Act::Insert(place) => self.start_insert(place),
            Act::Put(place) => self.put_register(place, times),
            Act::Replace(c) => {
                self.rewrite(times, |_| c.to_string());
                let (text, caret) = (self.buffer.text(), self.buffer.caret());
                self.step_to(previous(text, caret).max(line_start(text, caret)));
            }
            Act::SwapCase => self.rewrite(times, swap_case),
            Act::Join => (1..times.max(2)).for_each(|_| self.join()),
            Act::Undo => (0..times).for_each(|_| {
                self.buffer.undo();
            }),
            Act::Repeat => return self.repeat(),
        }
        self.finish(is_change);
    }

    /// Moves the caret without anything else.
    pub(super) fn step_to(&mut self, at: usize) {
        self.buffer.move_to(at, Select::Drop);
        self.goal = None;
    }

    /// Moves the caret from behind the line's last grapheme onto it.
    pub(in crate::composer) fn stay_on_line(&mut self) {
        let (text, caret) = (self.buffer.text(), self.buffer.caret());
        if caret == line_end(text, caret) && caret > line_start(text, caret) {
            self.buffer.move_to(previous(text, caret), Select::Drop);
        }
    }

    fn finish(&mut self, is_change: bool) {
        let Some(vi) = self.vi.as_mut().filter(|vi| vi.is_normal()) else { return };
        let recorded = vi.recorded.take();
        if is_change {
            vi.repeated = recorded.unwrap_or_default();
            self.buffer.release();
        }
        self.stay_on_line();
    }

    /// Does the last change again: its keys are typed once more.
    fn repeat(&mut self) {
        let Some(vi) = &mut self.vi else { return };
        vi.recorded = None;
        for key in std::mem::take(&mut vi.repeated) {
            self.vi_key(key);
        }
    }

    fn follow(&mut self, motion: Motion, count: Option<usize>) {
        if matches!(motion, Motion::Up | Motion::Down) {
            let row = if motion == Motion::Up { Target::Up } else { Target::Down };
            for _ in 0..count.unwrap_or(1) {
                self.perform(Edit::Go(row), Select::Drop);
            }
        } else if let Some(motion) = self.resolved(motion)
            && let Some(target) = target(self.buffer.text(), self.buffer.caret(), motion, count)
        {
            self.step_to(target.at);
        }
    }

    /// The motion with the character that is meant; one that is named is remembered.
    fn resolved(&mut self, motion: Motion) -> Option<Motion> {
        let vi = self.vi.as_mut()?;
        if let Motion::Find(find) = motion {
            vi.find = Some(find);
            return Some(motion);
        }
        if !matches!(motion, Motion::Again | Motion::AgainBack) {
            return Some(motion);
        }
        let find = vi.find?;
        let is_back = find.is_back != (motion == Motion::AgainBack);
        Some(Motion::Find(Find { is_back, is_again: true, ..find }))
    }

    fn operate(&mut self, operator: Operator, over: Over, count: Option<usize>) {
        let Some((range, is_lines)) = self.part(operator, over, count) else {
            // Nothing to change is no reason to put text in.
            return;
        };
        let text = self.buffer.text()[range.clone()].to_owned();
        if let Some(vi) = &mut self.vi {
            vi.register = Register { text, is_lines };
        }
        match operator {
            Operator::Yank if is_lines => {}
            Operator::Yank => self.step_to(range.start),
            Operator::Delete if is_lines => self.delete_lines(range),
            Operator::Delete => {
                self.buffer.delete(range, Run::Alone);
            }
            Operator::Change => {
                self.buffer.move_to(range.start, Select::Drop);
                self.buffer.delete(range, Run::Alone);
                self.begin_typing();
            }
        }
        self.goal = None;
    }

    /// The part that an order is about, and whether it is whole lines.
    fn part(
        &mut self,
        operator: Operator,
        over: Over,
        count: Option<usize>,
    ) -> Option<(Range<usize>, bool)> {
        let caret = self.buffer.caret();
        match over {
            Over::Object(extent, what) => {
                Some((object(self.buffer.text(), caret, extent, what)?, false))
            }
            Over::Lines => {
                let text = self.buffer.text();
                let down = count.filter(|count| *count > 1).map(|count| count - 1);
                let last = down.and_then(|down| target(text, caret, Motion::Down, Some(down)));
                let end = line_end(text, last.map_or(caret, |last| last.at));
                Some((line_start(text, caret)..end, true))
            }
            Over::Motion(motion) => {
                let motion = self.resolved(motion)?;
                let text = self.buffer.text();
                let is_on_word = class(text, caret).is_some_and(|class| class != Class::Blank);
                // Vi's own exception: the blank behind a word is not changed with it.
                if let Motion::Word(words) = motion
                    && operator == Operator::Change
                    && is_on_word
                {
                    let range = change_word(text, caret, words, count.unwrap_or(1));
                    return Some((range, false));
                }
                let target = target(text, caret, motion, count)?;
                let range = span(text, caret, motion, target);
                let is_lines = target.reach == Reach::Lines;
                (is_lines || !range.is_empty() || operator == Operator::Change)
                    .then_some((range, is_lines))
            }
        }
    }

    fn delete_lines(&mut self, lines: Range<usize>) {
        let text = self.buffer.text();
        let range = match (lines.start.checked_sub(1), lines.end < text.len()) {
            (_, true) => lines.start..lines.end + 1,
            (Some(before), false) => before..lines.end,
            (None, false) => lines,
        };
        let start = range.start;
        self.buffer.delete(range, Run::Alone);
        let text = self.buffer.text();
        let at = line_text(text, start.min(text.len()));
        self.step_to(at);
    }

    fn start_insert(&mut self, place: Place) {
        let (text, caret) = (self.buffer.text(), self.buffer.caret());
        let (start, end) = (line_start(text, caret), line_end(text, caret));
        match place {
            Place::Before => {}
            Place::Behind => self.step_to(next(text, caret).min(end)),
            Place::LineStart => self.step_to(line_text(text, caret)),
            Place::LineEnd => self.step_to(end),
            Place::Above => {
                self.buffer.replace(start..start, "\n", Run::Alone);
                self.step_to(start);
            }
            Place::Below => self.buffer.replace(end..end, "\n", Run::Alone),
        }
        self.begin_typing();
    }

    fn begin_typing(&mut self) {
        if let Some(vi) = &mut self.vi {
            vi.mode = Mode::Insert;
        }
    }

    fn put_register(&mut self, place: Place, times: usize) {
        let Some(vi) = &self.vi else { return };
        let Register { text: put, is_lines } = &vi.register;
        let times = times.min(MOST_PUT_BYTES / put.len().max(1)).max(1);
        let (text, caret) = (self.buffer.text(), self.buffer.caret());
        let (start, end) = (line_start(text, caret), line_end(text, caret));
        let is_before = place == Place::Before;
        match (*is_lines, is_before) {
            (true, true) => {
                let put = format!("{put}\n").repeat(times);
                self.buffer.replace(start..start, &put, Run::Alone);
                self.step_to(line_text(self.buffer.text(), start));
            }
            (true, false) => {
                let put = format!("\n{put}").repeat(times);
                self.buffer.replace(end..end, &put, Run::Alone);
                self.step_to(line_text(self.buffer.text(), end + 1));
            }
            (false, _) if put.is_empty() => {}
            (false, _) => {
                let at = if is_before { caret } else { next(text, caret).min(end) };
                let put = put.repeat(times);
                self.buffer.replace(at..at, &put, Run::Alone);
                let last = previous(self.buffer.text(), self.buffer.caret());
                self.step_to(last);
            }
        }
    }

    /// Puts something in place of each of so many graphemes, if the line has them.
    fn rewrite(&mut self, times: usize, with: impl Fn(&str) -> String) {
        let (text, caret) = (self.buffer.text(), self.buffer.caret());
        let end = line_end(text, caret);
        let (mut at, mut fresh) = (caret, String::new());
        for _ in 0..times {
            if at >= end {
                break;
            }
            let after = next(text, at);
            fresh.push_str(&with(&text[at..after]));
            at = after;
        }
        if !fresh.is_empty() {
            self.buffer.replace(caret..at, &fresh, Run::Alone);
        }
    }

    /// Joins the line with the next, with one blank between them.
    fn join(&mut self) {
        let (text, caret) = (self.buffer.text(), self.buffer.caret());
        let end = line_end(text, caret);
        if end == text.len() {
            return;
        }
        let blank = |class| class == Class::Blank;
        let after = skip(text, end + 1, blank).min(line_end(text, end + 1));
        let needs_blank = end > line_start(text, caret) && after < line_end(text, after);
        let gap = if needs_blank { " " } else { "" };
        self.buffer.replace(end..after, gap, Run::Alone);
        self.step_to(end);
    }
}

/// From the caret to the end of so many words.
fn change_word(text: &str, caret: usize, words: Words, times: usize) -> Range<usize> {
    // On a word's last grapheme its end is here, not at the next word's.
    let ends_here = words.class(text, next(text, caret)) != words.class(text, caret)
        || class(text, caret) == Some(Class::Mark);
    let left = if ends_here { times - 1 } else { times };
    let motion = Motion::End(words);
    let last = (left > 0).then(|| target(text, caret, motion, Some(left))).flatten();
    caret..next(text, last.map_or(caret, |last| last.at))
}

fn swap_case(grapheme: &str) -> String {
    let swap = |c: char| -> String {
        if c.is_uppercase() { c.to_lowercase().collect() } else { c.to_uppercase().collect() }
    };
    grapheme.chars().map(swap).collect()
}
