//! The one list of the face: a search line, rows in groups, a preview beside them where there is room.
//!
//! A pane gives it rows and draws into the preview's place; keys, the mouse, search and scrolling are here.

mod draw;
mod frame;

use std::cmp::Reverse;

use base::fuzzy::{Pattern, Scratch};

use crate::canvas::Rect;
use crate::field::{Field, Wrote};
use crate::key::{Button, Code, Key, Mods, Mouse, MouseKind};
use crate::theme::Role;

pub(crate) use draw::Side;
pub(crate) use frame::{Framed, footer, frame};

/// How much more a fit in a title counts than one in a note.
const TITLE_BONUS: i32 = 100;

/// One row of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// The heading it stands under; rows of one group follow each other.
    pub group: String,
    /// What stands before it: a mark of a cell or two, or nothing.
    pub mark: String,
    /// What it is; searched first.
    pub title: String,
    /// What is to be said of it; searched, too.
    pub note: String,
    /// What stands at the right: a key, a price, an age.
    pub extra: String,
    /// What its title looks like; none is ordinary text.
    pub role: Option<Role>,
    /// Whether it is shown whatever is searched for: somebody else has found it.
    pub is_pinned: bool,
}

impl Row {
    /// A row with a title.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The same under a heading.
    #[must_use]
    pub fn under(mut self, group: impl Into<String>) -> Self {
        self.group = group.into();
        self
    }

    /// The same with something said of it.
    #[must_use]
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// The same with something at the right.
    #[must_use]
    pub fn with(mut self, extra: impl Into<String>) -> Self {
        self.extra = extra.into();
        self
    }

    /// The same with a mark before it.
    #[must_use]
    pub fn marked(mut self, mark: impl Into<String>) -> Self {
        self.mark = mark.into();
        self
    }

    /// The same, shown whatever is searched for, after what fits.
    #[must_use]
    pub fn pinned(mut self) -> Self {
        self.is_pinned = true;
        self
    }

    /// The same in another look.
    #[must_use]
    pub fn looking(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }
}

/// Whether there is something to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stock {
    /// It is being looked up.
    Loading,
    /// It is here; the words are shown where there is nothing.
    Ready(&'static str),
    /// It could not be looked up.
    Failed(String),
}

/// What a picker did with a key or a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picked {
    /// It has no use for it.
    Ignored,
    /// Nothing that its pane must know.
    Taken,
    /// Another row is chosen.
    Moved,
    /// Something else is searched for.
    Searched,
    /// The chosen row is to be taken.
    Chosen,
    /// The user wants to leave.
    Left,
}

/// A list to choose from.
#[derive(Debug)]
pub struct Picker<T> {
    title: &'static str,
    rows: Vec<(Row, T)>,
    field: Field,
    stock: Stock,
    /// The rows that fit, by their number, best first.
    shown: Vec<usize>,
    /// The search that they fit; none if the rows are others since.
    filtered: Option<String>,
    /// Rows and headings in all.
    lines: usize,
    chosen: usize,
    top: usize,
    list: Rect,
    /// Rows of the screen and the shown rows they hold, as they were drawn last.
    hits: Vec<(u16, usize)>,
    keeps_order: bool,
    notes_first: bool,
}

impl<T> Picker<T> {
    /// A list that is being looked up.
    pub fn new(title: &'static str) -> Self {
        Self {
            title,
            rows: Vec::new(),
            field: Field::default(),
            stock: Stock::Loading,
            shown: Vec::new(),
            filtered: None,
            lines: 0,
            chosen: 0,
            top: 0,
            list: Rect::default(),
            hits: Vec::new(),
            keeps_order: false,
            notes_first: false,
        }
    }

    /// The same, with rows that stay in their order when they are searched.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        self.keeps_order = true;
        self
    }

    /// The same, with notes that matter more than what stands at the right where there is not room for both.
    #[must_use]
    pub fn notes_first(mut self) -> Self {
        self.notes_first = true;
        self
    }

    /// Gives it rows; `nothing` is shown where there are none. The choice stays at its place.
    pub fn set(&mut self, rows: Vec<(Row, T)>, nothing: &'static str) {
        let groups = rows.chunk_by(|one, other| one.0.group == other.0.group);
        let headings =
            groups.filter(|rows| rows.first().is_some_and(|row| !row.0.group.is_empty()));
        self.lines = rows.len() + headings.count();
        self.rows = rows;
        self.filtered = None;
        self.stock = Stock::Ready(nothing);
        self.filter();
    }

    /// What it waits for could not be looked up.
    pub fn fail(&mut self, why: String) {
        self.stock = Stock::Failed(why);
    }

    /// What is searched for.
    pub fn search(&self) -> &str {
        self.field.text()
    }

    /// The chosen row's worth.
    pub fn chosen(&self) -> Option<&T> {
        let index = self.shown.get(self.chosen)?;
        self.rows.get(*index).map(|(_, worth)| worth)
    }

    /// All rows' worth.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.rows.iter().map(|(_, worth)| worth)
    }

    /// Chooses the first row for which `is` holds.
    pub fn choose(&mut self, is: impl Fn(&T) -> bool) {
        let found = self.shown.iter().position(|index| is(&self.rows[*index].1));
        self.chosen = found.unwrap_or(self.chosen);
    }

    /// A key.
    pub fn key(&mut self, key: Key) -> Picked {
        let page = i64::from(self.list.height.max(2) - 1);
        match key {
            Key { code: Code::Up, mods: Mods::NONE }
            | Key { code: Code::Char('p'), mods: Mods::CTRL } => self.go(-1),
            Key { code: Code::Down, mods: Mods::NONE }
            | Key { code: Code::Char('n'), mods: Mods::CTRL } => self.go(1),
            Key { code: Code::PageUp, mods: Mods::NONE } => self.go(-page),
            Key { code: Code::PageDown, mods: Mods::NONE } => self.go(page),
            Key { code: Code::Home, mods: Mods::NONE | Mods::CTRL } => self.go(i64::MIN),
            Key { code: Code::End, mods: Mods::NONE | Mods::CTRL } => self.go(i64::MAX),
            Key { code: Code::Enter, mods: Mods::NONE } if self.chosen().is_some() => {
                Picked::Chosen
            }
            Key { code: Code::Enter, mods: Mods::NONE } => Picked::Taken,
            Key { code: Code::Esc, mods: Mods::NONE }
            | Key { code: Code::Char('c'), mods: Mods::CTRL } => Picked::Left,
            _ => match self.field.key(key) {
                Wrote::Changed => self.searched(),
                Wrote::Moved => Picked::Taken,
                Wrote::Ignored => Picked::Ignored,
            },
        }
    }

    /// Pasted text: it is searched for.
    pub fn paste(&mut self, text: &str) -> Picked {
        self.field.insert(text);
        self.searched()
    }

    /// The mouse: the wheel moves the choice, a click chooses, a click on the chosen row takes it.
    pub fn mouse(&mut self, mouse: Mouse) -> Picked {
        match mouse.kind {
            MouseKind::WheelUp => self.go(-3),
            MouseKind::WheelDown => self.go(3),
            MouseKind::Down(Button::Left) if self.list.contains(mouse.at) => {
                let hit = self.hits.iter().find(|(y, _)| *y == mouse.at.y).map(|(_, shown)| *shown);
                match hit {
                    Some(shown) if shown == self.chosen => Picked::Chosen,
                    Some(shown) => {
                        self.chosen = shown;
                        Picked::Moved
                    }
                    None => Picked::Taken,
                }
            }
            MouseKind::Down(_) | MouseKind::Up(_) | MouseKind::Drag(_) => Picked::Ignored,
        }
    }

    fn searched(&mut self) -> Picked {
        (self.chosen, self.top) = (0, 0);
        self.filter();
        Picked::Searched
    }

    fn go(&mut self, by: i64) -> Picked {
        let last = i64::try_from(self.shown.len()).unwrap_or(i64::MAX) - 1;
        let now = i64::try_from(self.chosen).unwrap_or(0);
        // One step beyond an end goes around; longer ones stop there.
        let next = match by {
            -1 if now == 0 => last,
            1 if now >= last => 0,
            by => now.saturating_add(by),
        };
        self.chosen = usize::try_from(next.clamp(0, last.max(0))).unwrap_or(0);
        Picked::Moved
    }

    /// Finds the rows that fit the search; each of its words must fit somewhere in a row.
    fn filter(&mut self) {
        let search = self.field.text().to_owned();
        let words: Vec<Pattern> = search.split_whitespace().map(Pattern::new).collect();
        let mut scratch = Scratch::default();
        let mut found: Vec<(i32, usize)> = Vec::new();
        let mut try_row = |index: usize| {
            if let Some(score) = score(&self.rows[index].0, &words, &mut scratch) {
                found.push((score, index));
            }
        };
        // What does not fit the beginning of a search does not fit all of it.
        match &self.filtered {
            Some(before) if search.starts_with(before) => {
                self.shown.iter().copied().for_each(&mut try_row);
            }
            Some(_) | None => (0..self.rows.len()).for_each(&mut try_row),
        }
        if words.is_empty() || self.keeps_order {
            found.sort_unstable_by_key(|(_, index)| *index);
        } else {
            found.sort_unstable_by_key(|(score, index)| (Reverse(*score), *index));
        }
        self.shown = found.into_iter().map(|(_, index)| index).collect();
        self.chosen = self.chosen.min(self.shown.len().saturating_sub(1));
        self.filtered = Some(search);
    }
}

/// How well a row fits some words; none if one of them fits nowhere in it.
fn score(row: &Row, words: &[Pattern], scratch: &mut Scratch) -> Option<i32> {
    let mut sum = 0;
    for word in words {
        let title = word.score(&row.title, scratch).map(|score| score + TITLE_BONUS);
        let fit = title.or_else(|| word.score(&row.note, scratch));
        match fit.or_else(|| word.score(&row.group, scratch)) {
            Some(score) => sum += score,
            None if row.is_pinned => {}
            None => return None,
        }
    }
    Some(if row.is_pinned { i32::MIN } else { sum })
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
