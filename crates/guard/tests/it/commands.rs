//! Shell lines: what only reads, what does more, what cannot be told.

mod table;

use guard::shell;
use proptest::prelude::*;
use table::TOPICS;

use crate::parsers;

fn reads(line: &str) -> Result<(), String> {
    let script = shell::parse(line).map_err(|unclear| unclear.to_string())?;
    script.read_only().map_err(|why| why.to_string())
}

#[test]
fn every_line_of_the_table_gets_its_verdict() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for topic in TOPICS {
        for line in topic.reads {
            count += 1;
            if let Err(why) = reads(line) {
                wrong.push(format!("{}: asked about {line:?}: {why}", topic.name));
            }
        }
        for line in topic.asks {
            count += 1;
            if reads(line).is_ok() {
                wrong.push(format!("{}: took for a reader: {line:?}", topic.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 350, "{count}");
}

#[test]
fn what_wrappers_run_is_seen() {
    for (line, inner) in [
        ("sudo rm -rf x", "rm -rf x"),
        ("timeout 5 env A=b nice rm x", "rm x"),
        ("bash -c 'cd a && rm x'", "rm x"),
        ("find . -name a -exec rm {} \\;", "rm {}"),
        ("ls | xargs -n1 rm", "rm …"),
        ("watch 'rm x'", "rm x"),
        ("eval 'rm x'", "rm x"),
        ("ssh host rm x", "rm x"),
        ("trap 'rm x' EXIT", "rm x"),
        ("echo $(echo $(rm x))", "rm x"),
        ("f() { rm x; }; f", "rm x"),
        ("busybox rm x", "rm x"),
        ("su -c 'rm x'", "rm x"),
    ] {
        let script = shell::parse(line).unwrap();
        let texts: Vec<String> = script.all_commands().iter().map(|it| it.text()).collect();
        assert!(texts.iter().any(|text| text == inner), "{line}: {texts:?}");
    }
}

#[test]
fn what_cannot_be_told_is_said_to_be_unclear() {
    for line in [
        "coproc ls",
        "ls() { :; }",
        "echo \"unclosed",
        "cat <> x",
        "eval \"$X\"",
        "bash -c \"$X\"",
        "timeout $T ls",
        "l\\\ns",
        "ls\u{a0}-l",
        "echo ${!x}",
        "echo ${x@P}",
    ] {
        assert!(shell::parse(line).is_err(), "{line}");
    }
    let long = format!("echo {}", "a".repeat(shell::LONGEST_BYTES));
    assert!(shell::parse(&long).is_err());
    let deep = format!("{}ls{}", "$(".repeat(300), ")".repeat(300));
    assert!(shell::parse(&format!("echo {deep}")).is_err());
    let shells = (0..8).fold("ls".to_owned(), |line, _| format!("eval {}", quote(&line)));
    assert!(shell::parse(&shells).is_err());
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Pieces that lines are made of, so that random ones are often nearly right.
fn piece() -> impl Strategy<Value = String> {
    let known = [
        "ls", "rm", "git", "log", "-c", "$(", ")", "`", "'", "\"", ";", "&&", "|", "&", ">", "<",
        "<<", "EOF", "\n", " ", "{", "}", ",", "$", "${", "x", "=", "\\", "*", "[[", "]]", "if",
        "then", "fi", "do", "done", "for", "in", "case", "esac", "eval", "sh", "find", "-exec",
        "xargs", "#", "~", "((", "))", "é", "\0", "sed", "s/a/b/", "awk", "time", "!", "function",
        "()", "<(", "@P", "env", "A=b",
    ];
    prop_oneof![
        8 => proptest::sample::select(known.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_get_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        parsers::shell_line(&bytes);
        parsers::rule(&bytes);
    }

    #[test]
    fn any_text_gets_an_answer(text in ".{0,80}") {
        parsers::shell_line(text.as_bytes());
        drop(shell::fragments(&text));
    }

    #[test]
    fn any_nearly_right_line_gets_an_answer(pieces in proptest::collection::vec(piece(), 0..24)) {
        parsers::shell_line(pieces.concat().as_bytes());
        parsers::shell_line(pieces.join(" ").as_bytes());
    }

    #[test]
    fn a_writer_makes_every_line_it_joins_a_writer(
        index in 0..10_usize,
        joint in proptest::sample::select(vec!["; ", " && ", " || ", " | ", " & ", "\n"]),
        before in any::<bool>(),
    ) {
        let reader = TOPICS[0].reads[index * 5];
        let line = if before { format!("rm x{joint}{reader}") } else { format!("{reader}{joint}rm x") };
        prop_assert!(reads(&line).is_err(), "{line}");
        prop_assert!(reads(&format!("echo $({line})")).is_err(), "{line}");
    }
}
