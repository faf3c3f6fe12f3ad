//! Headers as people write them.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const KEYS: [&str; 8] =
    ["name", "description", "tools", "model", "color", "hooks", "background", "maxTurns"];

fn read(text: &str) -> Document {
    parse(text, &KEYS)
}

#[test]
fn a_strict_header_keeps_its_order_and_nested_values() {
    let document = read(
        "---\nname: reviewer\ntools: [Read, Grep]\nmaxTurns: 5\nhooks:\n  Stop:\n    - command: x\n---\nBody\n---\nmore\n",
    );
    let keys: Vec<_> = document.fields.keys().map(String::as_str).collect();
    assert_eq!(keys, ["name", "tools", "maxTurns", "hooks"]);
    assert_eq!(document.list("tools").unwrap(), ["Read", "Grep"]);
    assert_eq!(document.number("maxTurns"), Some(5));
    assert_eq!(document.fields["hooks"], json!({"Stop": [{"command": "x"}]}));
    assert_eq!(document.body, "Body\n---\nmore\n");
    assert_eq!(document.notes, []);
}

#[test]
fn almost_yaml_is_read_all_the_same() {
    let cases = [
        ("name: a\ndescription: Use when: x or y", "Use when: x or y"),
        ("name: a\ndescription: @mention first", "@mention first"),
        ("name: a\ndescription: *.rs files", "*.rs files"),
        ("name: a\ndescription: \"said \"hello\" twice\"", "said \"hello\" twice"),
        ("name: a\ndescription: \"match \\d and \\\"x\\\"\"", "match \\d and \"x\""),
        ("name:a\ndescription:no space", "no space"),
        ("name: a\ndescription: it's: fine\nmodel: sonnet", "it's: fine"),
        ("name: a\ndescription: one\n  two: three\n\tfour", "one\ntwo: three\nfour"),
        (
            "name: a\ndescription: |\n  Use: it\n\n    so\nbad: - x: [",
            "Use: it\n\n  so\nbad: - x: [",
        ),
    ];
    for (header, description) in cases {
        let document = read(&format!("---\n{header}\n---\nBody"));
        assert_eq!(document.text("name").as_deref(), Some("a"), "{header}");
        assert_eq!(document.text("description").as_deref(), Some(description), "{header}");
        assert_eq!(document.body, "Body", "{header}");
        assert!(!document.notes.is_empty(), "{header}");
    }
}

#[test]
fn one_bad_line_leaves_the_lists_beside_it_alone() {
    let document = read("---\ndescription: a: b: c\ntools:\n  - Read\n  - Bash(git log:*)\n---\n");
    assert_eq!(document.list("tools").unwrap(), ["Read", "Bash(git log:*)"]);
}

#[test]
fn byte_order_marks_carriage_returns_and_indented_fences_do_no_harm() {
    for text in [
        "\u{feff}---\r\nname: a\r\n---\r\nBody",
        "\n\n---\nname: a\n---\nBody",
        "  ---\n  name: a\n  ---\nBody",
        "---\nname: a\n  ---\nBody",
        "---   \nname: a\n--- \nBody",
    ] {
        let document = read(text);
        assert_eq!(document.text("name").as_deref(), Some("a"), "{text:?}");
        assert_eq!(document.body, "Body", "{text:?}");
    }
}

#[test]
fn a_rule_inside_a_block_does_not_close_the_header() {
    let document = read("---\ndescription: |\n  above\n  ---\n  below\nname: a\n---\nBody");
    assert_eq!(document.text("description").as_deref(), Some("above\n---\nbelow"));
    assert_eq!(document.text("name").as_deref(), Some("a"));
}

#[test]
fn colours_written_as_comments_come_back() {
    let document = read("---\nname: a\ncolor: #059669\n---\n");
    assert_eq!(document.text("color").as_deref(), Some("#059669"));
    assert_eq!(document.notes, [Note::Comment("color".into())]);
    assert_eq!(read("---\nname: a\ncolor: # none\n---\n").text("color"), None);
}

#[test]
fn what_yaml_takes_for_a_comment_or_a_number_is_what_was_written() {
    let document = read("---\nname: 1.10\ndescription: Fixes issue #12\nmodel: x # cheap\n---\n");
    assert_eq!(document.text("name").as_deref(), Some("1.10"));
    assert_eq!(document.text("description").as_deref(), Some("Fixes issue #12"));
    assert_eq!(document.text("model").as_deref(), Some("x"), "a comment beside a word stays one");
    assert_eq!(document.notes, [Note::Comment("description".into())]);
    assert_eq!(read("---\nmaxTurns: 12 # few\n---\n").number("maxTurns"), Some(12));
}

#[test]
fn keys_nobody_knows_belong_to_no_other_field() {
    let bad = "description: Use when: x";
    for header in [
        format!("team: core\nname: a\nowner: bob\n{bad}\ntools: Read, Grep\nnotes: uses Bash"),
        format!("name: a\n{bad}\ntools: *\nCreated by: bob\nmodel: sonnet\nsee: \"it: [\""),
    ] {
        let document = read(&format!("---\n{header}\n---\n"));
        assert_eq!(document.text("name").as_deref(), Some("a"), "{header}");
        assert_eq!(document.text("description").as_deref(), Some("Use when: x"), "{header}");
        let tools = document.list("tools").unwrap();
        assert!(tools == ["Read", "Grep"] || tools == ["*"], "{tools:?}");
        assert!(document.text("model").is_none_or(|model| model == "sonnet"), "{header}");
    }
    let document = read(&format!("---\nname: a\n{bad}\nmax-turns: 3\n---\n"));
    assert_eq!(document.number("max-turns"), Some(3), "another spelling ends a text, too");
    let document = read(&format!("---\n{bad}\nNote: y\nuser: \"z\"\nname: a\n---\n"));
    let whole = "Use when: x\nNote: y\nuser: \"z\"";
    assert_eq!(document.text("description").as_deref(), Some(whole));
}

#[test]
fn fields_are_read_in_the_form_that_is_asked_for() {
    let document = read(
        "---\nname: 007\ndescription: one\\n\\ntwo\ntools: Read, Bash(a, b:*),, Grep\nbackground: no\n---\n",
    );
    assert_eq!(document.prose("description").as_deref(), Some("one\n\ntwo"));
    assert_eq!(document.list("tools").unwrap(), ["Read", "Bash(a, b:*)", "Grep"]);
    assert_eq!(document.flag("background"), Some(false));
    assert_eq!(document.flag("description"), None);
    assert_eq!(document.text("name").as_deref(), Some("007"));
    assert_eq!(document.text("model"), None);
}

#[test]
fn repeated_keys_and_unclosed_headers_are_noted() {
    let document = read("---\nname: a\nname: b\n---\nBody");
    assert_eq!(document.text("name").as_deref(), Some("b"));
    assert!(document.notes.contains(&Note::Repeated("name".into())));
    let document = read("---\nname: a\nmodel: b\n\nBody");
    assert_eq!(document.text("model").as_deref(), Some("b"));
    assert!(document.notes.contains(&Note::Unclosed));
    assert_eq!(document.body.trim(), "Body");
    for plain in ["", "# Title\n---\nname: a\n---", "---", "---\nnot a field\n\ntext"] {
        assert!(read(plain).fields.is_empty(), "{plain}");
        assert_eq!(read(plain).body, plain);
    }
}

#[test]
fn fields_and_troubles_know_their_lines() {
    let document = read("\n---\nname: a\ndescription: |\n  name: b\ntools: Read\n---\n");
    let lines: Vec<_> = document.lines.iter().map(|(key, line)| (key.as_str(), *line)).collect();
    assert_eq!(lines, [("description", 4), ("name", 3), ("tools", 6)]);
    let document = read("---\nname: a\ndescription: Use when: now\n---\n");
    assert!(matches!(document.notes[..], [Note::NotYaml { line: 3, .. }]), "{document:?}");
    assert_eq!(document.lines["description"], 3);
}

#[test]
fn bombs_are_stopped() {
    let mut header = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (last, next) in ('a'..='y').zip('b'..='z') {
        let aliases = vec![format!("*{last}"); 6].join(",");
        header.extend([&next.to_string(), ": &", &next.to_string(), " [", &aliases, "]\n"]);
    }
    let document = read(&format!("---\nname: bomb\n{header}---\n"));
    assert!(matches!(document.notes[0], Note::NotYaml { .. }));
    let deep = "[".repeat(100_000);
    assert!(!read(&format!("---\nname: {deep}\n---\n")).notes.is_empty());
}

proptest! {
    #[test]
    fn never_panics(text in "(?s).{0,200}", header in "[-a-z:#'\"\\[\\]{}|>&*!%@, \t\n]{0,120}") {
        let _: Document = read(&text);
        let _: Document = read(&format!("---\n{header}\n---\n{text}"));
        let _: Document = read(&format!("---\nname: {header}\ndescription: {text}"));
    }

    #[test]
    fn a_line_nobody_knows_changes_no_other_field(
        key in "[a-z][a-z_]{2,11}",
        value in "[ -~]{0,30}",
        after in 0_usize..5,
    ) {
        prop_assume!(!KEYS.contains(&key.as_str()));
        let fields = ["name: a", "tools: Read, Bash(git log:*)", "model: sonnet", "hooks:", "  Stop: [x]"];
        let header = |lines: &[&str]| format!("---\n{}\ndescription: Use when: x\n---\nBody", lines.join("\n"));
        let mut lines = fields.to_vec();
        let unknown = format!("{key}: {value}");
        // Not between a key and what belongs to it.
        lines.insert(if after == 4 { 5 } else { after }, &unknown);
        let (plain, more) = (read(&header(&fields)), read(&header(&lines)));
        for known in KEYS {
            prop_assert_eq!(plain.fields.get(known), more.fields.get(known), "{}", unknown);
        }
        prop_assert_eq!(plain.body, more.body);
    }

    #[test]
    fn plain_fields_come_back_as_written(value in "[A-Za-z][A-Za-z0-9 .,-]{0,40}[A-Za-z]", body in "[a-z \n]{0,40}") {
        let reserved = ["true", "false", "null", "inf", "nan"];
        prop_assume!(!reserved.contains(&value.to_lowercase().as_str()));
        let document = read(&format!("---\nname: a\ndescription: {value}\n---\n{body}"));
        prop_assert_eq!(document.text("description"), Some(value));
        prop_assert_eq!(document.body, body);
    }
}
