use proptest::prelude::*;

use super::super::buffer::{Buffer, Run, Select};
use super::super::marks::{Content, Marks};
use super::*;

fn wrapped(text: &str, cells: usize) -> Vec<String> {
    let marks = Marks::default();
    let mut rows = Rows::default();
    rows.update(Measure { text, marks: &marks, cells }, None);
    rows.rows.iter().map(|row| text[row.start..row.end].to_owned()).collect()
}

#[test]
fn wraps_behind_blanks_and_keeps_them() {
    assert_eq!(wrapped("the quick brown fox", 10), ["the quick ", "brown fox"]);
    assert_eq!(wrapped("hello world", 5), ["hello ", "world"]);
    assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
    assert_eq!(wrapped("a abcdefghij", 4), ["a ", "abcd", "efgh", "ij"]);
    assert_eq!(wrapped("日本語です", 4), ["日本", "語で", "す"]);
    assert_eq!(wrapped("ab日本", 4), ["ab日", "本"]);
    assert_eq!(wrapped("", 4), [""]);
    assert_eq!(wrapped("a\n\nb\n", 4), ["a", "", "b", ""]);
    assert_eq!(wrapped("full ", 4), ["full ", ""]);
    assert_eq!(wrapped("a     b", 3), ["a   ", "  b"]);
}

#[test]
fn a_mark_is_as_wide_as_its_label_and_never_wider_than_a_row() {
    let mut marks = Marks::default();
    let mark = marks.add(Content::Pasted("x\n".repeat(20))).unwrap();
    let text = format!("see {mark}!");
    let mut rows = Rows::default();
    let measure = Measure { text: &text, marks: &marks, cells: 22 };
    rows.update(measure, None);
    assert_eq!(rows.count(), 2);
    assert_eq!(rows.place(measure, text.len()), (1, "[pasted 20 lines #1]!".len()));
    let measure = Measure { cells: 10, ..measure };
    rows.update(measure, None);
    assert_eq!(rows.place(measure, text.len() - 1), (2, 0));
}

#[test]
fn places_and_bytes_find_each_other() {
    let text = "one two\nthree\tx";
    let marks = Marks::default();
    let mut rows = Rows::default();
    let measure = Measure { text, marks: &marks, cells: 20 };
    rows.update(measure, None);
    assert_eq!(rows.place(measure, 4), (0, 4));
    assert_eq!(rows.place(measure, 14), (1, 8));
    assert_eq!(rows.byte_at(measure, 1, 6), 13);
    assert_eq!(rows.byte_at(measure, 0, 99), 7);
    assert_eq!(rows.byte_at(measure, 9, 0), text.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_patched_layout_is_a_fresh_one(
        edits in prop::collection::vec((0usize..60, 0usize..60, "[ab 日\t\n!/👩é\u{10F000}]{0,12}"), 1..12),
        every in 1usize..4,
        cells in 1usize..12,
    ) {
        let mut marks = Marks::default();
        marks.add(Content::Pasted("y".repeat(2_000)));
        let mut buffer = Buffer::default();
        let mut rows = Rows::default();
        for (index, (a, b, text)) in edits.into_iter().enumerate() {
            buffer.move_to(a.min(buffer.text().len()), Select::Drop);
            buffer.move_to(b.min(buffer.text().len()), Select::Extend);
            buffer.insert(&text, Run::Alone);
            if index % every == 0 {
                let dirty = buffer.take_dirty();
                let measure = Measure { text: buffer.text(), marks: &marks, cells };
                rows.update(measure, dirty);
                let mut fresh = Rows::default();
                fresh.update(measure, None);
                prop_assert_eq!(&rows.rows, &fresh.rows, "{:?}", buffer.text());
            }
        }
    }

    #[test]
    fn rows_hold_every_byte_and_fit(text in "[ab 日\n👩é\u{301}!]{0,40}", cells in 2usize..12) {
        let marks = Marks::default();
        let mut rows = Rows::default();
        let measure = Measure { text: &text, marks: &marks, cells };
        rows.update(measure, None);
        let mut at = 0;
        for (index, row) in rows.rows.iter().enumerate() {
            prop_assert!(row.start == at || text[at..].starts_with('\n') && row.start == at + 1);
            at = row.end;
            let shown = text[row.start..row.end].trim_end();
            let lead = usize::from(index == 0 && text.starts_with('!'));
            prop_assert!(crate::text::width(shown) <= cells + lead, "{shown:?}");
        }
        prop_assert_eq!(at, text.len());
        let mut at = 0;
        while at < text.len() {
            let (row, column) = rows.place(measure, at);
            let found = rows.byte_at(measure, row, column);
            let (again, same) = rows.place(measure, found);
            prop_assert_eq!((again, same), (row, column));
            at = next(&text, at);
        }
    }
}
