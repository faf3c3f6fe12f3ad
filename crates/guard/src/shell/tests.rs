//! What a line comes to: words, redirects, folders.

use super::*;

fn words(line: &str) -> Vec<Meaning> {
    let script = parse(line).unwrap();
    script.commands[0].words.iter().map(|word| word.meaning.clone()).collect()
}

fn plain(text: &str) -> Meaning {
    Meaning::Plain(text.to_owned())
}

#[test]
fn quotes_and_escapes_come_off_words() {
    assert_eq!(
        words(r#"l's' "a b" c\ d $'\x41\n' "e\"\\f" ''"#),
        ["ls", "a b", "c d", "A\n", "e\"\\f", ""].map(plain)
    );
    assert_eq!(words("ls ~/x $HOME/y \"$HOME\"/z"), ["ls", "~/x", "~/y", "~/z"].map(plain));
    assert_eq!(words("ls \"~/x\" \\~"), ["ls", "./~/x", "./~"].map(plain));
}

#[test]
fn braces_become_several_words() {
    assert_eq!(words("ls a{b,c}d{e,f}"), ["ls", "abde", "abdf", "acde", "acdf"].map(plain));
    assert_eq!(words("ls {x} HEAD@{1} {a,b"), ["ls", "{x}", "HEAD@{1}", "{a,b"].map(plain));
    assert_eq!(words("ls {a{b,c}"), ["ls", "{ab", "{ac"].map(plain));
    assert_eq!(words("ls {1..9}")[1], Meaning::Number);
    assert!(matches!(words("ls {a..z}x")[1], Meaning::Unknown(_)));
}

#[test]
fn what_shows_only_at_run_time_is_a_hole_in_a_word() {
    assert_eq!(words("ls $X/a")[1], Meaning::Unknown("/a".to_owned()));
    assert_eq!(words("ls \"$X\"")[1], Meaning::Unknown(String::new()));
    assert_eq!(words("ls *.rs")[1], Meaning::Pattern("*.rs".to_owned()));
    assert_eq!(words("ls '*.rs'")[1], plain("*.rs"));
    assert!(matches!(words("ls ~root/x")[1], Meaning::Unknown(_)));
}

#[test]
fn words_after_a_redirect_belong_to_the_command() {
    let script = parse("echo a > b c 2>&1 < d").unwrap();
    assert_eq!(script.commands[0].text(), "echo a c");
    let targets: Vec<_> =
        script.redirects.iter().map(|it| (it.direction, &*it.target.raw)).collect();
    assert_eq!(targets, [(Direction::Out, "b"), (Direction::In, "d")]);
    let script = parse("> out rm -rf x").unwrap();
    assert_eq!(script.commands[0].text(), "rm -rf x");
}

#[test]
fn texts_for_rules_differ_only_in_quotes() {
    let script = parse("/bin/'rm'   \"-rf\"  'a b'").unwrap();
    let command = &script.commands[0];
    assert_eq!(command.text(), "/bin/'rm' \"-rf\" 'a b'");
    assert_eq!(command.plain_text(), "/bin/rm -rf 'a b'");
    assert_eq!(command.bare_text(), "rm -rf a b");
}

#[test]
fn lines_that_did_harm_in_a_real_bash_are_not_read_only() {
    for line in [
        "cat <<EOF\n$x\nEOF | x='a[$(./x)]'; sort b.txt",
        "cat <<EOF\n$HOME\nEOF; cat <<'EOF'\nEO\\\nF\n./x\nEOF",
        "cat <<EOF\na\nEOF # not the end\n$(./x)\nEOF",
        "xxd x -o | head -20",
        "xxd x -p",
        "xargs builtin echo x",
        "env read | sort",
        "find . -exec cd {} \\;",
        "timeout 5 command ls",
        "objdump -tfi -- a.txt x",
    ] {
        let is_proven = parse(line).is_ok_and(|script| script.read_only().is_ok());
        assert!(!is_proven, "{line}");
    }
    for line in ["cat <<EOF\nhi\nEOF", "cat <<-EOF\n\thi\n\tEOF\nls", "xxd -p -l 16 x", "env ls"] {
        let is_proven = parse(line).is_ok_and(|script| script.read_only().is_ok());
        assert!(is_proven, "{line}");
    }
}
