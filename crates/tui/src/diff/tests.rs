//! Changes as they are seen.

use base::interface::DiffMode;
use proptest::prelude::*;

use super::*;
use crate::style::Attrs;
use crate::transcript::row::copied;
use crate::transcript::sample;

const CHANGE: &str = "--- a/x.rs\n+++ b/x.rs\n@@ -9,4 +9,5 @@ fn head()\n fn main() {\n-    let a = old(1);\n+    let a = new(1);\n+    more();\n }\n@@ -40 +41 @@\n-x\n+y\n\\ No newline at end of file\n";

fn look(diff: DiffMode) -> Look {
    let mut look = sample::look();
    look.diff = diff;
    look.theme.set(Role::AddedWord, Style::PLAIN.with(Attrs::UNDERLINE));
    look
}

fn shown(unified: &str, cells: usize, diff: DiffMode) -> String {
    let rows = rows("x.rs", unified, cells, &look(diff));
    rows.iter().map(|row| row.line.plain().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn one_column_has_numbers_signs_and_hunks_apart() {
    insta::assert_snapshot!(shown(CHANGE, 60, DiffMode::Auto), @r#"
     9   fn main() {
    10 -     let a = old(1);
    10 +     let a = new(1);
    11 +     more();
    12   }
     ⋯
    40 - x
    41 + y
    "#);
    assert_eq!(counts(CHANGE), (3, 2));
}

#[test]
fn two_columns_pair_what_was_with_what_is() {
    insta::assert_snapshot!(shown(CHANGE, 70, DiffMode::Split), @r#"
     9   fn main() {                  │ 9   fn main() {
    10 -     let a = old(1);          │10 +     let a = new(1);
                                      │11 +     more();
    11   }                            │12   }
     ⋯
    40 - x                            │41 + y
    "#);
}

#[test]
fn changed_words_are_marked() {
    let rows = rows("x.rs", CHANGE, 60, &look(DiffMode::Unified));
    let marked = |row: &Row| -> String {
        let underlined = |span: &&Span| span.style.attrs.has(Attrs::UNDERLINE);
        row.line.spans.iter().filter(underlined).map(|span| span.text.as_str()).collect()
    };
    assert_eq!(marked(&rows[2]), "new");
    assert_eq!(marked(&rows[3]), "");
}

#[test]
fn a_copy_has_no_numbers_and_no_wrapping() {
    let long = format!("@@ -1 +1 @@\n-a\n+{}", "word ".repeat(20));
    let rows = rows("x.txt", &long, 30, &look(DiffMode::Unified));
    assert_eq!(
        copied(rows.iter(), (0, u16::MAX)),
        format!("-a\n+{}", "word ".repeat(20).trim_end())
    );
}

#[test]
fn a_copy_of_two_columns_is_of_one_of_them() {
    let rows = rows("x.rs", CHANGE, 70, &look(DiffMode::Split));
    let after = "fn main() {\n    let a = new(1);\n    more();\n}";
    assert_eq!(copied(rows[..4].iter(), (0, u16::MAX)), after);
    assert_eq!(copied(rows[..4].iter(), (5, u16::MAX)), "fn main() {\n    let a = old(1);\n}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_is_a_diff_that_fits(
        text in "([-+ @\\\\]{1,3}[a-z日 \t]{0,30}\n|@@ -[0-9]{1,18},3 \\+[0-9]{1,3} @@\n){0,20}",
        cells in 20usize..90,
        split in any::<bool>(),
    ) {
        let diff = if split { DiffMode::Split } else { DiffMode::Unified };
        for row in rows("a.py", &text, cells, &look(diff)) {
            prop_assert!(row.line.width() <= cells.max(44), "{:?}", row.line.plain());
        }
    }
}
