//! The best way to place letters in a text.
//!
//! Letter by letter, every place that has it is scored from the best place for the letter before: right before
//! it, or further away less the gap. Only places that have the letter are looked at, so that a text costs a
//! glance at each character and a few steps for each letter it holds.

/// For every letter found.
pub(super) const LETTER: i32 = 16;
/// For a letter right after the one before it: more than any beginning, so that runs stay together.
pub(super) const CONSECUTIVE: i32 = 14;
/// For the first letter of the text or of a part of a path.
const PATH_START: i32 = 10;
/// For the first letter of a word.
const WORD_START: i32 = 8;
/// For a letter of the file name.
const IN_NAME: i32 = 4;
/// For a letter typed in the very case it has.
const SAME_CASE: i32 = 1;

/// Where letters can stand, letter after letter.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    spots: Vec<Spot>,
}

/// A letter at a place, with all letters before it in the best way.
#[derive(Debug, Clone, Copy)]
struct Spot {
    place: usize,
    score: i32,
    /// The spot of the letter before; itself for the first.
    before: usize,
}

impl Table {
    /// Places all letters; gives the best score, and the spot of the last letter to trace it from. `plain` is
    /// the text as letters are held against it.
    pub(super) fn align<C>(
        &mut self,
        letters: &[C],
        text: &[C],
        plain: &[C],
    ) -> Option<(i32, usize)>
    where
        C: Copy + PartialEq + Into<char>,
    {
        let mut rest = plain.iter();
        if !letters.iter().all(|letter| rest.any(|it| it == letter)) {
            return None;
        }
        self.spots.clear();
        let name = name_start(text);
        let mut above = 0..0;
        for (row, letter) in letters.iter().enumerate() {
            let begin = self.spots.len();
            let from = self.spots.get(above.start).map_or(0, |spot| spot.place + 1);
            let mut near = above.clone();
            // The best spot so far, its place added to its score: each step away costs one.
            let mut far: Option<(i32, usize)> = None;
            for (step, it) in plain[from..].iter().enumerate() {
                if it != letter {
                    continue;
                }
                let place = from + step;
                while let Some(spot) = self.spots.get(near.start).filter(|_| !near.is_empty())
                    && spot.place < place
                {
                    let reach = spot.score.saturating_add(distance(spot.place));
                    if far.is_none_or(|(best, _)| reach > best) {
                        far = Some((reach, near.start));
                    }
                    near.start += 1;
                }
                let start = start_bonus(text, place);
                let worth = LETTER + start + bonus(text, place, name, (*letter).into());
                let (score, before) = match (row, far) {
                    // Where a match begins says the most.
                    (0, _) => (start, self.spots.len()),
                    (_, None) => continue,
                    (_, Some((reach, spot))) => {
                        self.run_or_gap(near.start - 1, place, (reach - distance(place - 1), spot))
                    }
                };
                self.spots.push(Spot { place, score: worth + score, before });
            }
            above = begin..self.spots.len();
        }
        let last = above.max_by_key(|spot| self.spots[*spot].score)?;
        Some((self.spots[last].score, last))
    }

    /// The spot to come from: the one right before a place if that is as good, else the best further away.
    fn run_or_gap(&self, nearest: usize, place: usize, far: (i32, usize)) -> (i32, usize) {
        let spot = self.spots[nearest];
        let run = spot.score.saturating_add(CONSECUTIVE);
        if spot.place + 1 == place && run >= far.0 { (run, nearest) } else { far }
    }

    /// The places of all letters, from the last one's spot back.
    pub(super) fn trace(&self, last: usize) -> Vec<usize> {
        let mut spot = last;
        let mut places = vec![self.spots[spot].place];
        while self.spots[spot].before != spot {
            spot = self.spots[spot].before;
            places.push(self.spots[spot].place);
        }
        places.reverse();
        places
    }
}

fn distance(places: usize) -> i32 {
    i32::try_from(places).unwrap_or(i32::MAX)
}

/// Where the last part of a path begins; a slash at its end is part of it.
pub(super) fn name_start<C: Copy + Into<char>>(text: &[C]) -> usize {
    let body = text.len().saturating_sub(1);
    text[..body].iter().rposition(|it| (*it).into() == '/').map_or(0, |slash| slash + 1)
}

/// What a letter is worth at a place besides being there and beginning something.
pub(super) fn bonus<C: Copy + Into<char>>(
    text: &[C],
    place: usize,
    name: usize,
    letter: char,
) -> i32 {
    let in_name = if place >= name { IN_NAME } else { 0 };
    let same_case = if text[place].into() == letter { SAME_CASE } else { 0 };
    in_name + same_case
}

/// What a place is worth as a beginning.
pub(super) fn start_bonus<C: Copy + Into<char>>(text: &[C], place: usize) -> i32 {
    let Some(before) = place.checked_sub(1).map(|before| text[before].into()) else {
        return PATH_START;
    };
    let here: char = text[place].into();
    // Most letters follow a small one.
    let is_start = match before {
        'a'..='z' => here.is_uppercase(),
        '/' => return PATH_START,
        _ if before.is_lowercase() => here.is_uppercase(),
        _ => !before.is_alphanumeric() && here.is_alphanumeric(),
    };
    if is_start { WORD_START } else { 0 }
}
