//! Rows that only moved: the terminal can move them itself, which takes a few bytes instead of a screenful.

use crate::canvas::{Canvas, Cell};

/// How far rows are looked for: a new line or two, or a turn of the wheel.
const FARTHEST: u16 = 5;

/// Rows that must be saved from being written for it to be worth while.
const WORTH: u16 = 4;

/// Rows that moved together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shift {
    /// The first row that changes.
    pub(super) top: u16,
    /// The row below the last.
    pub(super) bottom: u16,
    /// How far.
    pub(super) by: u16,
    /// Where to.
    pub(super) way: Way,
}

/// Where rows moved to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Up,
    Down,
}

/// Finds the move that leaves the least to be written; none if it is not worth while.
pub(super) fn find<'a>(old: impl Fn(u16) -> &'a [Cell], new: &Canvas) -> Option<Shift> {
    let height = new.area().height;
    let changed: Vec<bool> = (0..height).map(|y| old(y) != new.row(y)).collect();
    if changed.iter().filter(|is| **is).count() < usize::from(WORTH) {
        return None;
    }
    let mut best: Option<(u16, Shift)> = None;
    for by in 1..=FARTHEST.min(height / 2) {
        for way in [Way::Up, Way::Down] {
            let from = |y: u16| match way {
                Way::Up => y.checked_add(by).filter(|from| *from < height),
                Way::Down => y.checked_sub(by),
            };
            let fits = |y: u16| from(y).is_some_and(|from| is_alike(old(from), new.row(y)));
            let Some((start, end, saved)) = longest_run(height, &changed, fits) else { continue };
            let (top, bottom) = match way {
                Way::Up => (start, end + by),
                Way::Down => (start - by, end),
            };
            if saved >= WORTH && best.is_none_or(|(most, _)| saved > most) {
                best = Some((saved, Shift { top, bottom, by, way }));
            }
        }
    }
    best.map(|(_, shift)| shift)
}

/// The rows one after the other that fit and of which most changed: the first, the one below the last, and how
/// many of them changed.
fn longest_run(
    height: u16,
    changed: &[bool],
    fits: impl Fn(u16) -> bool,
) -> Option<(u16, u16, u16)> {
    let mut best: Option<(u16, u16, u16)> = None;
    let (mut start, mut saved) = (0, 0);
    for y in 0..height {
        if !fits(y) {
            (start, saved) = (y + 1, 0);
            continue;
        }
        saved += u16::from(changed[usize::from(y)]);
        if best.is_none_or(|(_, _, most)| saved > most) {
            best = Some((start, y + 1, saved));
        }
    }
    best
}

/// Whether two rows have so much in common that the rest is written cheaply; a pane at the side may differ.
fn is_alike(old: &[Cell], new: &[Cell]) -> bool {
    let mut left = new.len() / 4;
    for (old, new) in old.iter().zip(new) {
        if old != new {
            if left == 0 {
                return false;
            }
            left -= 1;
        }
    }
    true
}
