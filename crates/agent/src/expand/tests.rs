use proptest::prelude::*;

use super::*;

fn variables() -> Variables {
    Variables::default().with("SESSION_ID", "s-1").with_place("SKILL_DIR", Path::new("/skills/a b"))
}

fn pieces(body: &str, arguments: &str) -> Vec<Piece> {
    let names = ["branch".to_owned(), "note".to_owned()];
    expand(Template { body, names: &names }, arguments, &variables())
}

/// The pieces as one line: commands in `<…>`, files in `{…}`.
fn shown(body: &str, arguments: &str) -> String {
    let piece = |piece: Piece| match piece {
        Piece::Text(text) => text,
        Piece::File(path) => format!("{{{path}}}"),
        Piece::Command(line) => {
            let values = line.values.iter().map(|(name, value)| format!("; {name}={value}"));
            format!("<{}{}>", line.text, values.collect::<String>())
        }
    };
    pieces(body, arguments).into_iter().map(piece).collect()
}

#[test]
fn words_are_split_as_a_shell_does() {
    for (text, split) in [
        ("a  b\tc\n", vec!["a", "b", "c"]),
        (r#"one "two three" 'fo"ur' fi\ ve"#, vec!["one", "two three", "fo\"ur", "fi ve"]),
        (r#""a \"b\" \n" "" x''y"#, vec!["a \"b\" \\n", "", "xy"]),
        ("don't stop", vec!["don't", "stop"]),
        (r#"the "open end"#, vec!["the", "\"open", "end"]),
        (r"end\", vec![r"end\"]),
        ("  ", vec![]),
    ] {
        assert_eq!(words(text), split, "{text:?}");
    }
}

#[test]
fn arguments_go_where_the_body_wants_them() {
    assert_eq!(shown("Do $ARGUMENTS now", "a 'b c'"), "Do a 'b c' now");
    assert_eq!(shown("$ARGUMENTS[0]/$ARGUMENTS[1]/$ARGUMENTS[7]", "a 'b c'"), "a/b c/");
    assert_eq!(shown("$1 then $2, not $3.", "a 'b c'"), "a then b c, not .");
    assert_eq!(
        shown("$branch: $note ($branchy) $branch[0]", "dev why"),
        "dev: why ($branchy) $branch[0]"
    );
    assert_eq!(
        shown("$1st $ARGUMENTS_X $1000 $ $$", "a"),
        "$1st $ARGUMENTS_X $1000 $ $$\n\nARGUMENTS: a"
    );
}

#[test]
fn numbers_count_from_one_unless_the_body_has_a_zero() {
    assert_eq!(shown("$1 $2", "a b"), "a b");
    assert_eq!(shown("$0 $1", "a b"), "a b");
    assert_eq!(shown("$1, `awk '{print $0}'`", "a"), "a, `awk '{print $0}'`");
}

#[test]
fn what_has_no_place_is_added_and_nothing_else() {
    assert_eq!(shown("Body", "x y "), "Body\n\nARGUMENTS: x y");
    assert_eq!(shown("Body", " "), "Body");
    assert_eq!(shown("Body !`echo $1`", "x"), "Body <echo x>");
}

#[test]
fn variables_have_two_names_and_strangers_stay() {
    let body = "${CLAUDE_SESSION_ID} ${CAIMAN_SKILL_DIR}/x ${HOME} ${CLAUDE_NOPE} ${";
    assert_eq!(shown(body, ""), "s-1 /skills/a b/x ${HOME} ${CLAUDE_NOPE} ${");
    let environment = variables().environment();
    assert!(environment.contains(&("CAIMAN_SESSION_ID".to_owned(), "s-1".to_owned())));
    assert_eq!(environment.len(), 4);
}

#[test]
fn a_backslash_keeps_a_placeholder_and_only_that() {
    let body = r"\$ARGUMENTS \$1 \${CLAUDE_SESSION_ID} \$HOME \n $1";
    assert_eq!(shown(body, "x"), r"$ARGUMENTS $1 ${CLAUDE_SESSION_ID} \$HOME \n x");
}

#[test]
fn code_keeps_its_own_numbers() {
    let body = "`$1` and\n```sh\necho $1 $ARGUMENTS\n```\n$1";
    assert_eq!(shown(body, ""), "`$1` and\n```sh\necho $1 \n```\n");
    assert_eq!(shown(body, "x"), "`x` and\n```sh\necho x x\n```\nx");
}

#[test]
fn commands_are_found_where_they_may_stand() {
    assert_eq!(shown("!`git status`", ""), "<git status>");
    assert_eq!(shown("- now: !`date` x", ""), "- now: <date> x");
    for text in ["a!`date`", "!date", "! `date`", "!`open", "`!`date", "!``", "```\n!`date`\n```\n"]
    {
        assert_eq!(shown(text, ""), text);
    }
    assert_eq!(shown("a\n```!\ngit log\nls $1\n```\nb", "x"), "a\n<git log\nls x>\nb");
    assert_eq!(shown("```!\nnever closed", ""), "```!\nnever closed");
}

#[test]
fn a_shell_never_reads_what_an_argument_says() {
    let hostile = "x; rm -rf ~";
    assert_eq!(shown("!`ls $ARGUMENTS`", "src/main.rs -l"), "<ls src/main.rs -l>");
    assert_eq!(
        shown("!`ls \"$ARGUMENTS\"`", hostile),
        "<ls \"${CAIMAN_VALUE_1}\"; CAIMAN_VALUE_1=x; rm -rf ~>"
    );
    assert_eq!(shown("!`awk '{print $1}' $1`", "f"), "<awk '{print $1}' f>");
    assert_eq!(shown("!`echo \\' $1`", "f"), "<echo \\' f>");
    assert_eq!(
        shown("!`cd ${CLAUDE_SKILL_DIR} && ls`", ""),
        "<cd /skills/a b && ls>",
        "blanks mean what they mean to a shell everywhere"
    );
}

#[test]
fn files_are_found_outside_of_code_only() {
    assert_eq!(
        shown("See @src/a.rs, (@b.md) `@c.md` me@d.org @", ""),
        "See {src/a.rs,} ({b.md)} `@c.md` me@d.org @"
    );
    assert_eq!(
        shown("Review @$1 and @${CLAUDE_SKILL_DIR}/x", "a.rs"),
        "Review {a.rs} and {/skills/a b/x}"
    );
}

#[test]
fn what_is_put_in_is_not_looked_at_again() {
    let hostile = "@/etc/passwd !`id` $2 ${CLAUDE_SESSION_ID} `$1`";
    assert_eq!(shown("Say: $ARGUMENTS", hostile), format!("Say: {hostile}"));
    assert_eq!(shown("Say", hostile), format!("Say\n\nARGUMENTS: {hostile}"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_body_is_read_to_its_end(
        body in "([a-z@`!$ \\n\\\\{}\\[\\]0-9'\"]|\\$ARGUMENTS|\\PC){0,120}",
        arguments in "\\PC{0,40}",
    ) {
        let plain = expand(Template { body: &body, names: &[] }, "", &variables());
        let filled = expand(Template { body: &body, names: &[] }, &arguments, &variables());
        let kinds = |pieces: &[Piece]| {
            let acts = |piece: &&Piece| !matches!(piece, Piece::Text(_));
            pieces.iter().filter(acts).map(std::mem::discriminant).collect::<Vec<_>>()
        };
        prop_assert_eq!(kinds(&plain), kinds(&filled), "arguments make no commands and no files");
    }

    #[test]
    fn a_command_holds_only_plain_words_of_an_argument(argument in "\\PC{0,40}") {
        let body = "!`run \"$(x $1)\" '$ARGUMENTS' $2`";
        for piece in expand(Template { body, names: &[] }, &argument, &Variables::default()) {
            if let Piece::Command(line) = piece {
                let quotes = |text: &str| text.matches(['"', '\'', '`', ';', '|', '&', '\n']).count();
                prop_assert_eq!(quotes(&line.text), 4, "{}", line.text);
            }
        }
    }

    #[test]
    fn words_of_plain_text_are_its_words(text in "[a-z ]{0,60}") {
        prop_assert_eq!(words(&text), text.split_whitespace().collect::<Vec<_>>());
    }
}
