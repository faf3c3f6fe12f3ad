//! Reading and placing patches.

use proptest::prelude::*;

use super::*;

fn patched(content: &str, body: &str) -> Result<String, PlaceError> {
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch\n");
    let Deed::Update { chunks, .. } = parse(&text).unwrap().remove(0).deed else {
        panic!("{text}")
    };
    Ok(String::from_utf8(place(content.as_bytes(), &chunks)?.bytes).unwrap())
}

fn refused(text: &str) -> PatchError {
    parse(text).unwrap_err()
}

#[test]
fn wrappers_are_taken_off() {
    let bare = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    let plain = parse(bare).unwrap();
    for (before, after) in [
        ("<<'EOF'\n", "\nEOF\n"),
        ("apply_patch <<EOF\n", "\nEOF"),
        ("cat <<\"PATCH\" | apply_patch\n", "\nPATCH\n"),
        ("```diff\n", "\n```"),
        ("````\n", "\n````"),
        ("\n\n", "\n\n"),
    ] {
        assert_eq!(parse(&format!("{before}{bare}{after}")).unwrap(), plain);
    }
    assert_eq!(parse(&bare.replace('\n', "\r\n")).unwrap(), plain);
    assert_eq!(parse(&bare.replace(": a", ":  `a` ")).unwrap(), plain);
}

#[test]
fn what_is_no_patch_is_refused_with_its_line() {
    assert_eq!(refused("hello"), PatchError::NoBegin);
    assert_eq!(refused("hello\n*** Begin Patch\n*** End Patch"), PatchError::NoBegin);
    assert_eq!(refused("*** Begin Patch\n*** Delete File: a\n"), PatchError::NoEnd);
    assert_eq!(refused("*** Begin Patch\n*** End Patch\nand then some"), PatchError::NoEnd);
    assert_eq!(refused("*** Begin Patch\n*** End Patch"), PatchError::Empty);
    assert_eq!(
        refused("*** Begin Patch\n*** Delete File:\n*** End Patch"),
        PatchError::NoPath { line: 2 }
    );
    let sign = refused("*** Begin Patch\n*** Add File: a\n+x\ny\n*** End Patch");
    assert!(matches!(sign, PatchError::NoSign { line: 4, .. }), "{sign}");
    let sign = refused("*** Begin Patch\n*** Update File: a\n@@\n-x\n?y\n*** End Patch");
    assert!(matches!(sign, PatchError::NoSign { line: 5, .. }), "{sign}");
    let none = refused("*** Begin Patch\n*** Update File: a\n@@\n x\n*** End Patch");
    assert!(matches!(none, PatchError::NoLines { line: 3, .. }), "{none}");
}

#[test]
fn a_move_alone_is_a_patch() {
    let sections =
        parse("*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch").unwrap();
    let deed = Deed::Update { to: Some("b".to_owned().into()), chunks: Vec::new() };
    assert_eq!(sections, [Section { path: "a".to_owned().into(), deed }]);
}

#[test]
fn headings_say_which_of_two_is_meant() {
    let file = "class A:\n  def f():\n    x\nclass B:\n  def f():\n    x\n";
    let after = "class A:\n  def f():\n    x\nclass B:\n  def f():\n    y\n";
    assert_eq!(patched(file, "@@ class B:\n@@ def f():\n-    x\n+    y").unwrap(), after);
    assert_eq!(patched(file, "@@ -4,3 +4,3 @@ class B:\n-    x\n+    y").unwrap(), after);
    assert_eq!(
        patched(file, "@@ class C:\n-    x\n+    y").unwrap_err(),
        PlaceError::NoHeading("class C:".into())
    );
}

#[test]
fn added_lines_go_below_their_heading() {
    assert_eq!(patched("a\nb\nc\n", "@@ b\n+x").unwrap(), "a\nb\nx\nc\n");
    assert_eq!(patched("a\nb\nc\n", "@@\n+x").unwrap(), "a\nb\nc\nx\n");
    assert_eq!(patched("", "@@\n+x").unwrap(), "x\n");
}

#[test]
fn the_end_of_the_file_anchors() {
    let file = "x\ny\nx\n";
    assert_eq!(patched(file, "@@\n-x\n+z\n*** End of File").unwrap(), "x\ny\nz\n");
    assert_eq!(patched(file, "@@\n-x\n+z").unwrap(), "z\ny\nx\n");
    assert_eq!(patched(file, "@@\n-y\n+z\n*** End of File").unwrap(), "x\nz\nx\n");
}

#[test]
fn the_first_of_two_exact_places_is_taken_and_the_other_named() {
    let chunk = Chunk { old: vec!["x".into()], new: vec!["z".into()], ..Chunk::default() };
    let placed = place(b"x\ny\nx\n", &[chunk]).unwrap();
    assert_eq!(placed.bytes, b"z\ny\nx\n");
    assert!(placed.notes[0].contains("also stand at line 3"), "{}", placed.notes[0]);
}

#[test]
fn lines_that_stay_keep_their_bytes_and_lines_that_come_their_indent() {
    let file = "fn a() {\n\tone();  \n\ttwo();\n}\n";
    let body = "@@\n     one();\n-    two();\n+    three();\n+    if x {\n+        four();\n+    }";
    let after = "fn a() {\n\tone();  \n\tthree();\n\tif x {\n\t\tfour();\n\t}\n}\n";
    assert_eq!(patched(file, body).unwrap(), after);
}

#[test]
fn a_loose_match_must_be_unique() {
    let file = "{\n\tx\n}\n{\n\t\tx\n}\n";
    assert!(matches!(patched(file, "@@\n-  x\n+  y"), Err(PlaceError::Ambiguous(_))));
}

#[test]
fn typography_is_forgiven_last() {
    assert_eq!(patched("it’s – “so”\nb\n", "@@\n-it's - \"so\"\n+done\n b").unwrap(), "done\nb\n");
}

#[test]
fn a_file_without_an_ending_at_its_end_stays_so() {
    assert_eq!(patched("a\nb", "@@\n-b\n+c").unwrap(), "a\nc");
    assert_eq!(patched("a\nb", "@@\n+c").unwrap(), "a\nb\nc");
    assert_eq!(patched("a\nb", "@@\n a\n+x\n b").unwrap(), "a\nx\nb");
}

#[test]
fn wide_text_and_marks_stay() {
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let chunk = Chunk { old: vec!["one".into()], new: vec!["1".into()], ..Chunk::default() };
    let placed = place(&wide("\u{feff}one\r\ntwo\r\n"), std::slice::from_ref(&chunk)).unwrap();
    assert_eq!(placed.bytes, wide("\u{feff}1\r\ntwo\r\n"));
    let placed = place("\u{feff}one\n".as_bytes(), &[chunk]).unwrap();
    assert_eq!(placed.bytes, "\u{feff}1\n".as_bytes());
}

#[test]
fn a_miss_shows_what_was_wanted_and_what_is_there() {
    let error =
        patched("let a = 1;\nlet b = 2;\n", "@@\n let a = 1;\n-let b = 3;\n+x").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("not found:\nlet a = 1;\nlet b = 3;\n"), "{text}");
    assert!(text.contains("1\tlet a = 1;\n2\tlet b = 2;"), "{text}");
}

/// A patch from one content to another, as a careful model would write it.
fn patch_between(before: &str, after: &str) -> String {
    let diff = similar::TextDiff::from_lines(before, after);
    let mut body = String::new();
    for change in diff.iter_all_changes() {
        let sign = match change.tag() {
            similar::ChangeTag::Equal => ' ',
            similar::ChangeTag::Delete => '-',
            similar::ChangeTag::Insert => '+',
        };
        body.push(sign);
        body.push_str(change.value());
    }
    format!("@@\n{}\n*** End of File", body.trim_end_matches('\n'))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_patch_made_from_two_contents_leads_from_one_to_the_other(
        before in prop::collection::vec("[a-d ]{0,3}x", 1..10), after in prop::collection::vec("[a-d ]{0,3}y", 0..10),
        keep in prop::collection::vec(any::<bool>(), 10),
    ) {
        let whole = |lines: &[String]| lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
        let kept = before.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(line, _)| line.clone());
        let after: Vec<String> = kept.chain(after).collect();
        let (before, after) = (whole(&before), whole(&after));
        prop_assume!(before != after);
        let found = patched(&before, &patch_between(&before, &after));
        prop_assert_eq!(found.unwrap(), after);
    }

    #[test]
    fn never_panics(text in "(\\*\\*\\* (Begin Patch|End Patch|Add File: a|Update File: b|Move to: c|End of File)\n|@@( x)?\n|[-+ ]?[xy]?\n|é\n){0,12}", content in "[xy\r\n]{0,12}") {
        let wrapped = format!("*** Begin Patch\n{text}*** End Patch\n");
        for text in [&text, &wrapped] {
            for section in parse(text).into_iter().flatten() {
                if let Deed::Update { chunks, .. } = section.deed {
                    let _either = place(content.as_bytes(), &chunks).is_ok();
                }
            }
        }
    }
}
