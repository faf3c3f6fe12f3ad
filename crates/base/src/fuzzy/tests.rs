use proptest::prelude::*;

use super::align::{CONSECUTIVE, bonus, name_start, start_bonus};
use super::*;

fn ranked<'a>(typed: &str, texts: &[&'a str]) -> Vec<&'a str> {
    let best = Pattern::new(typed).best(texts.iter().copied(), texts.len());
    best.into_iter().map(|number| texts[number]).collect()
}

/// The text with the letters that were found in brackets.
fn marked(typed: &str, text: &str) -> String {
    let found = Pattern::new(typed).find(text).unwrap();
    let mark = |(at, letter): (usize, char)| {
        if found.positions.contains(&at) { format!("[{letter}]") } else { letter.to_string() }
    };
    text.char_indices().map(mark).collect()
}

#[test]
fn the_likelier_text_comes_first() {
    let cases: [(&str, &[&str]); 8] = [
        ("lane", &["agent/lane.rs", "agent/lane/notes.rs", "agent/tests/planes.rs"]),
        ("ses", &["engine/session.rs", "some/extra/stuff.rs"]),
        ("cr", &["Cargo.rs", "src/carrot.txt"]),
        ("sm", &["src/main.rs", "assume.rs"]),
        ("fb", &["FooBar.java", "fixable.java"]),
        ("go on", &["go-on.md", "gorgon.md"]),
        ("lookup", &["lookup.rs", "lookup_all.rs", "l/o/o/k/u/p.rs"]),
        ("readme", &["README.md", "docs/README.md", "really/advanced/me.md"]),
    ];
    for (typed, expected) in cases {
        let mut mixed = expected.to_vec();
        mixed.reverse();
        assert_eq!(ranked(typed, &mixed), expected, "{typed}");
    }
}

#[test]
fn the_letters_are_marked_where_they_mean_most() {
    assert_eq!(marked("ses", "src/engine/session.rs"), "src/engine/[s][e][s]sion.rs");
    assert_eq!(marked("sm", "assume/src_main"), "assume/[s]rc_[m]ain");
    assert_eq!(marked("größe", "die Größe"), "die [G][r][ö][ß][e]");
    assert_eq!(marked("lk", "agent/lookup/"), "agent/[l]oo[k]up/");
}

#[test]
fn an_upper_case_letter_makes_case_count() {
    assert!(Pattern::new("Main").find("src/main.rs").is_none());
    assert!(Pattern::new("Main").find("src/Main.java").is_some());
    assert!(Pattern::new("main").find("src/MAIN.C").is_some());
}

#[test]
fn a_huge_text_is_matched_all_the_same() {
    let huge = format!("{}needle{}", "hay/".repeat(40_000), "hay".repeat(40_000));
    let found = Pattern::new("needle").find(&huge).unwrap();
    assert_eq!(found.positions.len(), 6);
    assert!(Pattern::new("needles!").find(&huge).is_none());
}

/// Whether the letters stand in the text in their order, the plain way.
fn is_subsequence(typed: &str, text: &str) -> bool {
    let mut rest = text.chars().map(folded);
    let mut letters = typed.chars().filter(|letter| !letter.is_whitespace()).map(folded);
    letters.all(|letter| rest.any(|it| it == letter))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn fits_exactly_what_holds_the_letters_in_order(
        typed in "[a-c ./é]{0,5}",
        text in "[a-cA-C/._ éß日]{0,24}",
    ) {
        let pattern = Pattern::new(&typed);
        let score = pattern.score(&text, &mut Scratch::default());
        prop_assert_eq!(score.is_some(), is_subsequence(&typed, &text));
        prop_assert_eq!(pattern.find(&text).map(|found| found.score), score);
        if score.is_some() {
            prop_assert!(pattern.may_fit(mask(&text)));
        }
    }

    #[test]
    fn positions_are_in_order_and_hold_the_letters(
        typed in "[a-d]{1,5}",
        text in "[a-dA-D/._é]{0,24}",
    ) {
        let Some(found) = Pattern::new(&typed).find(&text) else { return Ok(()) };
        let letters = found.positions.iter().map(|at| text[*at..].chars().next().unwrap());
        let letters: String = letters.map(folded).collect();
        prop_assert_eq!(letters, typed);
        prop_assert!(found.positions.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn no_other_way_to_place_the_letters_scores_more(
        typed in "[ab]{1,3}",
        text in "[abA/_]{0,9}",
    ) {
        let pattern = Pattern::new(&typed);
        let best = pattern.score(&text, &mut Scratch::default());
        prop_assert_eq!(best, dearest(&pattern, &text));
    }

    #[test]
    fn anything_may_be_typed(typed in any::<String>(), text in any::<String>()) {
        let found = Pattern::new(&typed).find(&text);
        let places = found.map(|found| found.positions).unwrap_or_default();
        prop_assert!(places.iter().all(|at| text.is_char_boundary(*at)));
    }
}

/// The best score of all ways, by trying all of them.
fn dearest(pattern: &Pattern, text: &str) -> Option<i32> {
    fn go(
        pattern: &Pattern,
        text: &[char],
        row: usize,
        from: usize,
        before: Option<usize>,
    ) -> Option<i32> {
        let Some(letter) = pattern.letters.get(row) else { return Some(0) };
        let ways = (from..text.len()).filter(|place| pattern.fits(*letter, text[*place]));
        let worth = ways.filter_map(|place| {
            let rest = go(pattern, text, row + 1, place + 1, Some(place))?;
            let here = LETTER + bonus(text, place, name_start(text), *letter);
            let here = here + start_bonus(text, place);
            let joined = match before {
                None => start_bonus(text, place),
                Some(before) if before + 1 == place => CONSECUTIVE,
                Some(before) => -i32::try_from(place - before - 1).unwrap(),
            };
            Some(here + joined + rest)
        });
        worth.max()
    }
    go(pattern, &text.chars().collect::<Vec<_>>(), 0, 0, None)
}
