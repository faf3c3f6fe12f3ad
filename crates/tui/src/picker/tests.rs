//! Lists: what fits, what is chosen, what is on the screen.

use super::testing::{click, key, look};
use super::*;
use crate::canvas::Canvas;
use proptest::prelude::*;

const HINTS: [(&str, &str); 2] = [("enter", "take"), ("esc", "close")];

fn fruit() -> Picker<usize> {
    let rows = [
        ("sour", "lemon", "yellow"),
        ("sour", "lime", "green"),
        ("sweet", "melon", "a big one"),
        ("sweet", "mango", "日本の宮崎"),
        ("", "plain water", ""),
    ];
    let row = |(index, (group, title, note)): (usize, (&str, &str, &str))| {
        (Row::new(title).under(group).noted(note).with(format!("{index} kg")), index)
    };
    let mut picker = Picker::new("fruit");
    picker.set(rows.into_iter().enumerate().map(row).collect(), "no fruit");
    picker
}

fn drawn<T>(picker: &mut Picker<T>, width: u16, height: u16, side: Side) -> Canvas {
    let mut canvas = Canvas::new(width, height);
    let area = Rect::sized(width, height);
    let drawn = picker.draw(&mut canvas, area, (&HINTS, side), &look());
    assert!(drawn.caret.is_none_or(|at| area.contains(at)));
    canvas
}

fn search<T>(picker: &mut Picker<T>, text: &str) {
    for c in text.chars() {
        picker.key(Key::plain(Code::Char(c)));
    }
}

#[test]
fn rows_stand_in_groups_until_something_is_searched() {
    let mut picker = fruit();
    insta::assert_snapshot!(drawn(&mut picker, 40, 10, Side::Nothing).plain(), @r"
    fruit 5
    › search
    sour
    › lemon        yellow             0 kg
      lime         green              1 kg
    sweet
      melon        a big one          2 kg
      mango        日本の宮崎         3 kg
      plain water                     4 kg
    enter take · esc close
    ");
    search(&mut picker, "lm");
    insta::assert_snapshot!(drawn(&mut picker, 40, 10, Side::Nothing).plain(), @r"
    fruit 2/5
    › lm
    › lemon  yellow                   0 kg
      lime   green                    1 kg





    enter take · esc close
    ");
    let canvas = drawn(&mut picker, 40, 10, Side::Nothing);
    let style = |x| canvas.cell(crate::canvas::Point { x, y: 2 }).unwrap().style;
    assert!(style(3).attrs.has(crate::style::Attrs::UNDERLINE), "the letters that fit are marked");
    assert!(!style(4).attrs.has(crate::style::Attrs::UNDERLINE));
}

#[test]
fn the_preview_has_room_from_100_columns_on() {
    let mut picker = fruit();
    let mut room = |width, side| {
        let mut canvas = Canvas::new(width, 30);
        picker.draw(&mut canvas, Rect::sized(width, 30), (&HINTS, side), &look()).preview
    };
    assert_eq!(room(99, Side::List), None);
    assert!(room(100, Side::List).is_some_and(|room| room.width > 40));
    assert!(room(60, Side::Preview).is_some_and(|room| room.width > 50));
    assert_eq!(room(100, Side::Nothing), None);
}

#[test]
fn every_word_must_fit_and_what_others_found_stays() {
    let mut picker = fruit();
    search(&mut picker, "sweet mel");
    assert_eq!(picker.chosen(), Some(&2));
    search(&mut picker, " x");
    assert_eq!(picker.chosen(), None);
    assert_eq!(picker.key(key("enter")), Picked::Taken);
    assert!(drawn(&mut picker, 40, 10, Side::Nothing).plain().contains("nothing fits"));
    picker.set(vec![(Row::new("by meaning").pinned(), 9), (Row::new("sweet melon x"), 8)], "");
    assert_eq!(picker.shown, [1, 0]);
}

#[test]
fn what_is_missing_is_told() {
    let mut picker: Picker<()> = Picker::new("things");
    assert!(drawn(&mut picker, 40, 10, Side::Nothing).plain().contains("loading…"));
    picker.fail("the agent is gone".to_owned());
    assert!(drawn(&mut picker, 40, 10, Side::Nothing).plain().contains("the agent is gone"));
    picker.set(Vec::new(), "no things yet");
    assert!(drawn(&mut picker, 40, 10, Side::Nothing).plain().contains("no things yet"));
}

#[test]
fn keys_and_the_mouse_move_the_choice() {
    let mut picker = fruit();
    drawn(&mut picker, 40, 10, Side::Nothing);
    let table = [
        ("down", 1),
        ("up", 0),
        ("up", 4),
        ("down", 0),
        ("end", 4),
        ("home", 0),
        ("pagedown", 4),
        ("pageup", 0),
        ("ctrl+n", 1),
        ("ctrl+p", 0),
    ];
    for (name, expected) in table {
        assert_eq!(picker.key(key(name)), Picked::Moved);
        assert_eq!(picker.chosen(), Some(&expected), "{name}");
    }
    assert_eq!(picker.mouse(click(5, 4)), Picked::Moved, "the second fruit");
    assert_eq!(picker.chosen(), Some(&1));
    assert_eq!(picker.mouse(click(5, 4)), Picked::Chosen);
    assert_eq!(picker.mouse(click(5, 2)), Picked::Taken, "a heading");
    assert_eq!(picker.key(key("enter")), Picked::Chosen);
    assert_eq!(picker.key(key("esc")), Picked::Left);
    assert_eq!(picker.key(key("f5")), Picked::Ignored);
}

#[test]
fn a_frame_costs_the_same_for_a_hundred_rows_and_ten_thousand() {
    let made = |count: usize| {
        let row = |index: usize| {
            let title = format!("src/module_{}/file_{index}.rs", index % 97);
            (Row::new(title).under(format!("group {}", index / 50)), index)
        };
        let mut picker = Picker::new("files");
        picker.set((0..count).map(row).collect(), "");
        picker
    };
    let (mut few, mut many) = (made(100), made(10_000));
    // The best of many frames, taken in turns: what else the machine does must not decide.
    let mut best = [std::time::Duration::MAX; 2];
    for round in 0..40 {
        for (picker, best) in [&mut few, &mut many].into_iter().zip(&mut best) {
            picker.key(key(if round % 2 == 0 { "end" } else { "home" }));
            let begin = std::time::Instant::now();
            drawn(picker, 120, 40, Side::Nothing);
            *best = begin.elapsed().min(*best);
        }
    }
    assert!(best[1] < best[0] * 2, "{best:?}");
    search(&mut many, "mod9file77");
    assert_eq!(many.chosen().map(|index| index.to_string().contains("77")), Some(true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn narrowing_a_search_finds_what_searching_at_once_finds(
        titles in prop::collection::vec("[abAB ]{0,5}", 0..20),
        search in "[abA ]{0,5}",
        in_order in any::<bool>(),
    ) {
        let made = || {
            let picker = Picker::new("any");
            let mut picker = if in_order { picker.in_order() } else { picker };
            let rows = titles.iter().enumerate();
            picker.set(rows.map(|(index, title)| (Row::new(title).noted("b"), index)).collect(), "");
            picker
        };
        let (mut step_by_step, mut at_once) = (made(), made());
        for c in search.chars() {
            step_by_step.key(Key::plain(Code::Char(c)));
        }
        at_once.paste(&search);
        prop_assert_eq!(step_by_step.shown, at_once.shown);
    }

    #[test]
    fn the_choice_is_always_on_the_screen(
        groups in prop::collection::vec("[ab]?", 0..40),
        keys in prop::collection::vec(prop::sample::select(vec!["up", "down", "end", "home", "pagedown", "a", "backspace"]), 0..30),
        (width, height) in (0u16..130, 0u16..40),
    ) {
        let rows = groups.iter().enumerate();
        let rows = rows.map(|(index, group)| (Row::new(format!("a{index} 日本")).under(group), index));
        let mut picker = Picker::new("any");
        picker.set(rows.collect(), "none");
        for name in keys {
            picker.key(key(name));
            drawn(&mut picker, width, height, Side::List);
            if picker.list.height > 0 && picker.chosen().is_some() {
                prop_assert!(picker.hits.iter().any(|(_, shown)| *shown == picker.chosen));
            }
        }
    }
}
