//! Cleaning, bounding and spilling.

use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn spill(dir: &TempDir) -> Spill {
    Spill::new(dir.path().join("spill"), "call_1")
}

fn clean(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut cleaner = Cleaner::default();
    cleaner.push(bytes, &mut out);
    cleaner.finish(&mut out);
    out
}

#[test]
fn shows_what_a_terminal_would_show() {
    for (written, shown) in [
        ("plain\n\ttab\n", "plain\n\ttab\n"),
        ("\x1b[1;31mred\x1b[0m \x1b[38;5;12mblue\x1b[m", "red blue"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2;0;0;0\n~~@@\x1b\\after", "after"),
        ("\x1b]never ended\nnext line", "\nnext line"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("longer line\rshort\x1b[K\n", "short\n"),
        ("Building |\rBuilding /\rBuilt     \n", "Built\n"),
        ("\x1b[2K\rfetch 1\x1b[2K\rfetch 2\n", "fetch 2\n"),
        ("spin |\x08/\x08-\x08\\ done", "spin \\ done"),
        ("man: b\x08bo\x08ol\x08ld _\x08u", "man: bold u"),
        ("windows  \r\nlines\r\r\n", "windows  \nlines\n"),
        ("bell\x07 nul\0 del\x7f vt\x0bff\x0c", "bell nul del vt\nff\n"),
        ("\x1b(B\x1b)0\x1b7\x1b8\x1b=\x1b>x", "x"),
        ("\x1b[?25l\x1b[?1049hhidden cursor\x1b[?25h", "hidden cursor"),
        ("\x1b[1;1Hone\x1b[2;1Htwo", "one\ntwo"),
        ("c1 \u{9b}31mred \u{9d}0;t\u{9c}x", "c1 red x"),
        ("ab\x1b[2DX\x1b[5GY", "Xb  Y"),
        ("cut \x1b[3", "cut "),
        ("übergröße 漢字 👩‍👩‍👧", "übergröße 漢字 👩‍👩‍👧"),
    ] {
        assert_eq!(clean(written.as_bytes()), shown, "{written:?}");
    }
}

#[test]
fn bytes_that_are_no_text_become_replacement_characters() {
    assert_eq!(clean(b"a\xff\xfeb"), "a\u{fffd}\u{fffd}b");
    assert_eq!(clean(b"cut \xe6\xbc"), "cut \u{fffd}");
    let noise: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    assert!(clean(&noise).contains("ABC"));
}

#[test]
fn a_line_without_end_is_let_go_in_pieces() {
    let mut cleaner = Cleaner::default();
    let mut out = String::new();
    for _ in 0..100 {
        cleaner.push(&[b'x'; 10_000], &mut out);
    }
    assert!(cleaner.line().len() < 4_096 && out.len() > 990_000, "{}", out.len());
    cleaner.push(b"\ry", &mut out);
    cleaner.finish(&mut out);
    assert_eq!(out.len(), 1_000_000);
}

#[test]
fn short_output_stays_whole_and_makes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut out = Bounded::new(spill(&dir));
    let text = "line\n".repeat(5_999);
    out.push(text.as_bytes());
    out.push(b"last");
    assert_eq!(out.text(), format!("{text}last"));
    assert_eq!(out.spilled(), None);
    assert!(!dir.path().join("spill").exists());
}

#[test]
fn long_output_keeps_both_ends_and_names_the_file_with_all_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut out = Bounded::new(spill(&dir));
    let lines: Vec<String> = (0..20_000).map(|n| format!("line {n}\n")).collect();
    let all = lines.concat();
    for piece in all.as_bytes().chunks(1_000) {
        out.push(piece);
    }
    out.finish();
    let text = out.text();
    assert!(text.chars().count() <= LIMIT_CHARS, "{}", text.chars().count());
    assert!(text.starts_with("line 0\nline 1\n") && text.ends_with("line 19999\n"), "{text}");
    let path = out.spilled().unwrap().to_owned();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), all);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let marker = text.lines().find(|line| line.starts_with("[…")).unwrap();
    assert!(marker.contains(&path.display().to_string()), "{marker}");
    let shown = text.lines().count() - 1;
    assert!(marker.contains(&format!("{} lines", 20_000 - shown)), "{shown} {marker}");
}

#[test]
fn a_file_that_cannot_be_made_is_said_and_stops_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("spill"), "a file where the folder should be").unwrap();
    let mut out = Bounded::new(spill(&dir));
    out.push(&b"some line\n".repeat(10_000));
    let text = out.text();
    assert!(text.contains("could not be kept"), "{text}");
    assert!(text.ends_with("some line\n"));
}

#[test]
fn the_file_has_a_cap() {
    let dir = tempfile::tempdir().unwrap();
    let mut out = Bounded::new(spill(&dir).capped(1024 * 1024));
    for _ in 0..300 {
        out.push(&b"123456789\n".repeat(1_000));
    }
    assert!(out.text().contains("the first 1 MB are in"), "{}", out.text());
    assert_eq!(out.spilled().unwrap().metadata().unwrap().len(), 1024 * 1024);
    assert!(out.since(2_900_000).contains("left out"));
}

#[test]
fn a_call_cannot_choose_where_its_file_goes_or_take_another_ones() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("spill");
    let victim = dir.path().join("victim");
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(&victim, folder.join("______victim.txt")).unwrap();
    let mut out = Bounded::new(Spill::new(folder.clone(), "../../victim"));
    out.push(&b"x\n".repeat(30_000));
    assert_eq!(out.spilled(), Some(folder.join("______victim-2.txt").as_path()));
    assert!(!victim.exists());
}

#[test]
fn a_reader_comes_back_for_what_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let mut out = Bounded::new(spill(&dir));
    out.push(b"one\n");
    let mark = out.end();
    out.push(b"two\nPassword: ");
    assert_eq!(out.since(mark), "two\nPassword: ");
    assert_eq!(out.line(), "Password: ");
    out.push(&"é\n".repeat(40_000).into_bytes());
    let near = out.end() - 60;
    assert_eq!(out.since(near), "é\n".repeat(20));
    assert_eq!(out.since(near + 1).chars().count(), 39, "a cut character is left out");
    let medium = out.end() - 3 * 9_000;
    assert_eq!(out.since(medium), "é\n".repeat(9_000), "older than memory, read from the file");
    let far = out.since(mark);
    assert!(far.starts_with("two\nPassword: é\n") && far.contains("bytes left out"), "{far}");
    assert!(far.chars().count() <= LIMIT_CHARS);
}

#[test]
fn shows_the_last_lines() {
    let dir = tempfile::tempdir().unwrap();
    let mut out = Bounded::new(spill(&dir));
    assert_eq!(out.last_lines(8), "");
    out.push(b"one\ntwo\nthree\nfo");
    assert_eq!(out.last_lines(2), "three\nfo");
    out.push(&b"x".repeat(100_000));
    assert!(out.last_lines(8).len() <= 2_000);
    out.push(b"\nend\n");
    assert!(out.last_lines(8).ends_with("\nend"));
}

#[test]
fn a_text_that_is_all_there_is_bounded_too() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(bounded("short", spill(&dir)), "short");
    let text = bounded(&"many words ".repeat(10_000), spill(&dir));
    assert!(text.chars().count() <= LIMIT_CHARS && text.contains("left out"));
}

/// Text with what terminals act on, and bytes that are no text.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[a-z0-9 äß漢👍]{0,40}".prop_map(String::into_bytes),
        2 => Just(b"\n".to_vec()),
        1 => "(\r|\x08|\x1b\\[[0-9;]{0,3}[KGCDmH]|\x1b\\]0;t\x07|\x1bPx\x1b\\\\|\r\n|\t)".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..12),
        1 => "[x-z]{500,6000}".prop_map(String::into_bytes),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_chunking_gives_the_same_result(
        bytes in output(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let at_once = {
            let mut out = Bounded::with_limit(Spill::new(dir.path().join("a"), "x"), 1_000);
            out.push(&bytes);
            out.finish();
            out.text()
        };
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let mut out = Bounded::with_limit(Spill::new(dir.path().join("b"), "x"), 1_000);
        for pair in cuts.windows(2) {
            out.push(&bytes[pair[0]..pair[1]]);
        }
        out.finish();
        let in_pieces = out.text();
        prop_assert!(in_pieces.chars().count() <= 1_000);
        prop_assert!(!in_pieces.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
        let same_place = at_once.replace(&format!("{}/a/", dir.path().display()), "")
            == in_pieces.replace(&format!("{}/b/", dir.path().display()), "");
        prop_assert!(same_place, "{at_once:?} {in_pieces:?}");
        if let Some(path) = out.spilled() {
            prop_assert_eq!(std::fs::read_to_string(path).unwrap(), clean(&bytes));
        }
    }

    #[test]
    fn any_offset_can_be_read_from(bytes in output(), from in any::<prop::sample::Index>()) {
        let dir = tempfile::tempdir().unwrap();
        let mut out = Bounded::with_limit(spill(&dir), 1_000);
        out.push(&bytes);
        out.finish();
        let all = clean(&bytes);
        let from = from.index(all.len() + 1);
        let rest = &all[all.ceil_char_boundary(from)..];
        let text = out.since(from as u64);
        prop_assert!(text.chars().count() <= 1_000);
        if rest.chars().count() <= 1_000 {
            prop_assert_eq!(text, rest);
        } else {
            prop_assert!(text.contains("left out"));
        }
    }
}
