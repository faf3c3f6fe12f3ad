//! The behaviours of the edit engine, by name.

use proptest::prelude::*;

use super::*;

fn edit<'a>(old: &'a str, new: &'a str) -> Wish<'a> {
    Wish { old, new, scope: Scope::One }
}

fn every<'a>(old: &'a str, new: &'a str) -> Wish<'a> {
    Wish { old, new, scope: Scope::All }
}

fn applied(content: impl AsRef<[u8]>, wish: Wish<'_>) -> Vec<u8> {
    match apply_all(content.as_ref(), &[wish]) {
        Ok(outcome) => outcome.bytes,
        Err(failures) => panic!("{}", failures[0].misfit),
    }
}

fn text(content: impl AsRef<[u8]>, wish: Wish<'_>) -> String {
    String::from_utf8(applied(content, wish)).unwrap()
}

fn misfit(content: impl AsRef<[u8]>, wish: Wish<'_>) -> Misfit {
    apply_all(content.as_ref(), &[wish]).unwrap_err().remove(0).misfit
}

fn tolerance(content: &str, wish: Wish<'_>) -> Tolerance {
    apply_all(content.as_bytes(), &[wish]).unwrap().fits[0].1
}

#[test]
fn an_exact_match_is_replaced() {
    assert_eq!(text("a b c", edit("b", "B")), "a B c");
    assert_eq!(text("a b c", edit("b ", "")), "a c");
    assert_eq!(tolerance("a b c", edit("b", "B")), Tolerance::None);
}

#[test]
fn a_match_must_be_unique() {
    let found = misfit("x = 1\ny = 2\nx = 1\n", edit("x = 1", "x = 3"));
    assert_eq!(found, Misfit::Ambiguous { lines: vec![1, 3] });
    assert!(found.to_string().contains("fits 2 places (line 1, line 3)"), "{found}");
}

#[test]
fn matches_that_overlap_are_not_unique() {
    assert_eq!(misfit("aaa", edit("aa", "b")), Misfit::Ambiguous { lines: vec![1, 1] });
    assert_eq!(text("aaaa", every("aa", "b")), "bb");
}

#[test]
fn replace_all_replaces_all() {
    let outcome = apply_all(b"a.a.a", &[every("a", "bb")]).unwrap();
    assert_eq!(outcome.bytes, b"bb.bb.bb");
    assert_eq!(outcome.fits, [(3, Tolerance::None)]);
}

#[test]
fn nothing_and_the_same_are_refused() {
    assert_eq!(misfit("a", edit("", "b")), Misfit::Empty);
    assert_eq!(misfit("a", edit("a", "a")), Misfit::Same);
    assert_eq!(misfit("a\r\nb", edit("a\r\nb", "a\nb")), Misfit::Same);
}

#[test]
fn crlf_files_keep_their_endings() {
    let file = "one\r\ntwo\r\nthree\r\n";
    assert_eq!(text(file, edit("one\ntwo", "1\n2\n2.5")), "1\r\n2\r\n2.5\r\nthree\r\n");
    assert_eq!(text(file, edit("one\r\ntwo", "1\r\n2")), "1\r\n2\r\nthree\r\n");
    assert_eq!(text(file, edit("two\n", "")), "one\r\nthree\r\n");
    assert_eq!(text(file, edit("\ntwo", "")), "one\r\nthree\r\n");
    assert_eq!(text(file, edit("two", "two\nmore")), "one\r\ntwo\r\nmore\r\nthree\r\n");
}

#[test]
fn lf_files_keep_theirs_when_the_model_writes_crlf() {
    assert_eq!(text("one\ntwo\n", edit("one\r\ntwo\r\n", "1\r\n2\r\n")), "1\n2\n");
}

#[test]
fn mixed_endings_stay_on_lines_the_edit_does_not_change() {
    let file = "a\r\nb\nc\r\nd\n";
    assert_eq!(text(file, edit("a\nb\nc", "a\nB\nc")), "a\r\nB\nc\r\nd\n");
    assert_eq!(text(file, edit("d", "D")), "a\r\nb\nc\r\nD\n");
}

#[test]
fn matches_are_counted_across_endings() {
    let file = "a\nb\n\na\r\nb\r\n";
    assert_eq!(misfit(file, edit("a\nb", "x")), Misfit::Ambiguous { lines: vec![1, 4] });
    assert_eq!(text(file, every("a\nb", "x")), "x\n\nx\r\n");
}

#[test]
fn the_byte_order_mark_stays_and_the_first_line_can_be_edited() {
    assert_eq!(text("\u{feff}one\ntwo\n", edit("one\n", "1\n")), "\u{feff}1\ntwo\n");
    assert_eq!(text("\u{feff}one\n", edit("\u{feff}one", "\u{feff}1")), "\u{feff}1\n");
    assert_eq!(text("\u{feff}  one\n", edit("\tone\n", "\tx\n")), "\u{feff}  x\n");
}

#[test]
fn the_end_of_the_file_stays_with_or_without_a_line_feed() {
    assert_eq!(text("a\nb", edit("b", "c")), "a\nc");
    assert_eq!(text("a\nb\n", edit("b", "c")), "a\nc\n");
    assert_eq!(text("a\n\tb", edit("  b", "  b\n  c")), "a\n\tb\n\tc");
    assert_eq!(text("a\n\tb", edit("  b\n", "  c\n")), "a\n\tc");
}

#[test]
fn bytes_that_are_not_utf8_stay() {
    let file = b"caf\xe9 = 1\nother = 2\n\xff\xfe tail\n";
    assert_eq!(
        applied(file, edit("other = 2", "other = 3")),
        b"caf\xe9 = 1\nother = 3\n\xff\xfe tail\n"
    );
}

#[test]
fn old_encodings_are_written_as_they_are_read() {
    let file = b"// cr\xe8me br\xfbl\xe9e, d\xe9j\xe0 vu\nx = 1\n";
    assert_eq!(
        applied(file, edit("crème", "thé")),
        b"// th\xe9 br\xfbl\xe9e, d\xe9j\xe0 vu\nx = 1\n"
    );
    assert_eq!(
        applied(file, edit("x = 1", "x = 'é'")),
        b"// cr\xe8me br\xfbl\xe9e, d\xe9j\xe0 vu\nx = '\xe9'\n"
    );
    assert_eq!(misfit(file, edit("x = 1", "x = '鰐'")), Misfit::Unwritable("windows-1252"));
}

#[test]
fn a_stray_byte_does_not_make_utf8_old() {
    let file = b"name = \"gr\xc3\xb6\xc3\x9fer\"\nbad = \"\xe9\"\n";
    let after = applied(file, edit("größer", "kürzer"));
    assert_eq!(
        after,
        "name = \"kürzer\"\nbad = \"".bytes().chain(*b"\xe9\"\n").collect::<Vec<_>>()
    );
}

#[test]
fn wide_text_can_be_edited() {
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let file = wide("\u{feff}one\r\ntwo\r\n");
    assert_eq!(applied(&file, edit("one\ntwo", "eins\nzwei")), wide("\u{feff}eins\r\nzwei\r\n"));
}

const TABS: &str = "fn a() {\n\tif x {\n\t\tone();\n\t}\n}\n";

#[test]
fn spaces_for_tabs_are_put_right_and_said() {
    let wish = edit(
        "    if x {\n        one();\n    }",
        "    if x {\n        one();\n        two();\n    }",
    );
    assert_eq!(text(TABS, wish), "fn a() {\n\tif x {\n\t\tone();\n\t\ttwo();\n\t}\n}\n");
    assert_eq!(tolerance(TABS, wish), Tolerance::Blanks);
}

#[test]
fn tabs_for_spaces_are_put_right() {
    let file = "def a():\n    if x:\n        one()\n";
    let wish = edit("\tif x:\n\t\tone()", "\tif y:\n\t\tone()\n\t\tfor z in y:\n\t\t\ttwo()");
    let after = "def a():\n    if y:\n        one()\n        for z in y:\n            two()\n";
    assert_eq!(text(file, wish), after);
}

#[test]
fn two_spaces_become_four() {
    let file = "class A {\n    void b() {\n        c();\n    }\n}\n";
    let wish =
        edit("  void b() {\n    c();\n  }", "  void b() {\n    if (d) {\n      c();\n    }\n  }");
    let after =
        "class A {\n    void b() {\n        if (d) {\n            c();\n        }\n    }\n}\n";
    assert_eq!(text(file, wish), after);
}

#[test]
fn a_block_written_at_the_wrong_depth_is_moved_to_the_right_one() {
    let file = "mod a {\n    fn b() {\n        c();\n    }\n}\n";
    let wish = edit("fn b() {\n    c();\n}", "fn b() {\n    c();\n    d();\n}\n\nfn e() {}");
    let after = "mod a {\n    fn b() {\n        c();\n        d();\n    }\n\n    fn e() {}\n}\n";
    assert_eq!(text(file, wish), after);
}

#[test]
fn new_lines_that_are_indented_right_already_stay() {
    let wish = edit("    if x {\n        one();\n    }", "\tif x {\n\t\ttwo();\n\t}");
    assert_eq!(text(TABS, wish), TABS.replace("one", "two"));
}

#[test]
fn a_shallower_line_than_any_in_the_match_is_moved_too() {
    let file = "a:\n\tb:\n\t\tc\n\t\td\n";
    assert_eq!(
        text(file, edit("    c\n    d", "    c\n  x\n    d")),
        "a:\n\tb:\n\t\tc\n\tx\n\t\td\n"
    );
}

#[test]
fn lines_kept_by_a_tolerant_edit_keep_their_own_blanks() {
    let file = "\tlet  a   =  1; \n\tlet b = 2;\n";
    let wish = edit("  let a = 1;\n  let b = 2;", "  let a = 1;\n  let b = 3;");
    assert_eq!(text(file, wish), "\tlet  a   =  1; \n\tlet b = 3;\n");
}

#[test]
fn blanks_at_line_ends_do_not_matter() {
    assert_eq!(text("one  \ntwo\t\n", edit("one\ntwo\n", "1\n2\n")), "1\n2\n");
}

#[test]
fn a_tolerant_match_must_be_unique_too() {
    let file = "if a {\n\tx();\n}\nif b {\n\t\tx();\n}\n";
    assert_eq!(misfit(file, edit("  x();\n", "  y();\n")), Misfit::Ambiguous { lines: vec![2, 5] });
}

#[test]
fn part_of_a_line_is_never_matched_loosely() {
    let found = misfit("let total  = a + b;\n", edit("total = a", "sum = a"));
    assert!(matches!(found, Misfit::Missing { .. }), "{found}");
}

#[test]
fn typography_is_forgiven_last() {
    for (file, old) in [
        ("say(“hi”) – it’s\n", "say(\"hi\") - it's\n"),
        ("a\u{a0}b\u{3000}c\n", "a b c\n"),
        ("ｆｕｌｌ（width）\n", "full(width)\n"),
        ("e\u{fb03}cient…\n", "efficient...\n"),
        ("x \u{2212} y\n", "x - y\n"),
    ] {
        assert_eq!(text(file, edit(old, "done\n")), "done\n");
        assert_eq!(tolerance(file, edit(old, "done\n")), Tolerance::Typography);
    }
    let file = "“one”\n“two”\n";
    assert_eq!(text(file, edit("\"one\"\n\"two\"", "\"one\"\nthree")), "“one”\nthree\n");
}

#[test]
fn a_block_is_never_matched_by_its_ends_alone() {
    let file = "fn a() {\n    one();\n    two();\n    three();\n}\n";
    let found = misfit(file, edit("fn a() {\n    four();\n    five();\n    six();\n}", "x"));
    assert!(matches!(found, Misfit::Missing { .. }), "{found}");
}

#[test]
fn blank_lines_alone_are_never_matched_loosely() {
    assert!(matches!(misfit("a\n\nb\n", edit("\n \n", "x")), Misfit::Missing { .. }));
}

#[test]
fn a_miss_shows_the_nearest_lines_with_their_blanks() {
    let file = "fn main() {\n\tlet total = price * count; \n\tprint(total);\n}\n";
    let found = misfit(file, edit("let totals = price * count", "x")).to_string();
    assert!(found.contains("2\t→let total = price * count;·\n"), "{found}");
    let found =
        misfit(file, edit("    let total = price * count;\n    show(total);", "x")).to_string();
    assert!(found.contains("2\t→let total = price * count;·\n3\t→print(total);\n"), "{found}");
}

#[test]
fn a_miss_with_nothing_like_it_says_so() {
    let found = misfit("alpha\nbeta\n", edit("qqqq(zzzz)", "x")).to_string();
    assert_eq!(found, "old_string was not found, nor anything like it");
}

#[test]
fn line_numbers_copied_from_view_are_named_as_such() {
    let file = "fn a() {\n\tone();\n}\n";
    assert_eq!(misfit(file, edit("1\tfn a() {\n2\t\tone();", "x")), Misfit::Numbered);
    assert!(matches!(misfit(file, edit("1\tfn b() {", "x")), Misfit::Missing { .. }));
}

#[test]
fn edits_follow_each_other_and_all_failures_are_told() {
    let wishes = [edit("a", "b"), edit("nope", "x"), edit("b", "c"), edit("also not", "y")];
    let failures = apply_all(b"a\n", &wishes).unwrap_err();
    assert_eq!(failures.iter().map(|failure| failure.number).collect::<Vec<_>>(), [2, 4]);
    let outcome = apply_all(b"a\n", &[edit("a", "b"), edit("b", "c")]).unwrap();
    assert_eq!(outcome.bytes, b"c\n");
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        4 => "[ \t]{0,4}[a-c(){};]{0,6}[ \t]{0,2}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    let ending = prop::sample::select(vec![b"\n".as_slice(), b"\r\n", b"\r", b""]);
    (text, ending).prop_map(|(mut text, ending)| {
        text.extend_from_slice(ending);
        text
    })
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    let mark = prop::sample::select(vec![b"".as_slice(), b"\xef\xbb\xbf"]);
    (mark, prop::collection::vec(line(), 0..12))
        .prop_map(|(mark, lines)| [mark, &lines.concat()].concat())
}

fn few() -> ProptestConfig {
    ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(few())]

    /// Whatever is taken out of a file and changed: all before and all after it is as it was.
    #[test]
    fn bytes_outside_the_match_are_untouched(
        file in file(), at in 0..100usize, length in 1..30usize, new in "[a-z\n ]{0,12}",
    ) {
        // A model does not cut a line ending in two.
        let splits = |at: usize| file[..at].ends_with(b"\r") && file[at..].starts_with(b"\n");
        let start = at.clamp(mark_length(&file), file.len());
        let start = start - usize::from(splits(start));
        let end = (start + length).min(file.len());
        let end = end + usize::from(splits(end));
        let edit = Edit { old: &file[start..end], new: new.as_bytes(), scope: Scope::One };
        if let Ok(done) = apply(&file, &edit) {
            prop_assert_eq!(done.tolerance, Tolerance::None);
            prop_assert!(done.bytes.starts_with(&file[..start]));
            prop_assert!(done.bytes.ends_with(&file[end..]));
            prop_assert!(done.bytes.len() >= start + file.len() - end);
        }
    }

    /// A model that got the blanks wrong: lines outside the match, and those it kept, are as they were.
    #[test]
    fn a_tolerant_edit_touches_only_the_lines_it_changes(
        before in prop::collection::vec(line(), 0..5), after in prop::collection::vec(line(), 0..5),
        indent in "[ \t]{0,6}", crlf in any::<bool>(),
    ) {
        let end: &[u8] = if crlf { b"\r\n" } else { b"\n" };
        let (head, tail) = ([before.concat(), b"\n".to_vec()].concat(), after.concat());
        let block = [indent.as_bytes(), b"keep  it", end, indent.as_bytes(), b"change it", end].concat();
        let file = [head.clone(), block, tail.clone()].concat();
        let wish = edit("   keep it \n   change it \n", "   keep it \n   changed\n");
        if let Ok(done) = apply_all(&file, &[wish]) {
            let kept = [indent.as_bytes(), b"keep  it", end].concat();
            prop_assert!(done.bytes.starts_with(&[head, kept].concat()));
            prop_assert!(done.bytes.ends_with(&tail));
        }
    }

    #[test]
    fn never_panics(file in file(), old in "[a-c \t\r\n{}]{0,10}", new in "[a-c \t\r\n{}]{0,10}", all in any::<bool>()) {
        let scope = if all { Scope::All } else { Scope::One };
        if let Err(failures) = apply_all(&file, &[Wish { old: &old, new: &new, scope }]) {
            prop_assert!(!failures[0].misfit.to_string().is_empty());
        }
    }
}
