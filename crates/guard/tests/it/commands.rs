//! Command lines and their verdicts, by class, through the public decision.

mod generated;
mod options;
pub(crate) mod tables;

use std::io::Write as _;

use base::protocol::Mode;
use guard::{Decision, Rule, Taint, shell};
use proptest::prelude::*;

use crate::parsers;
use crate::room::{Room, tainted};
use Decision::{Allow, Ask, Deny};

/// At most this share of harmless lines may be asked about.
const FALSE_POSITIVES_PERCENT: usize = 5;

/// Lines with the wrong verdict, by class.
#[derive(Default)]
struct Report {
    wrong: Vec<(String, Vec<String>)>,
    count: usize,
}

impl Report {
    /// Judges the lines of a class; `judge` returns what is wrong with a verdict, or nothing.
    fn check(&mut self, class: &str, lines: &[String], judge: impl Fn(&str) -> Option<String>) {
        let wrong: Vec<String> = lines
            .iter()
            .filter_map(|line| judge(line).map(|why| format!("  {line:?}  {why}")))
            .collect();
        self.count += lines.len();
        if !wrong.is_empty() {
            self.wrong.push((format!("{class}: {} of {}", wrong.len(), lines.len()), wrong));
        }
    }

    fn wrong_lines(&self) -> usize {
        self.wrong.iter().map(|(_, lines)| lines.len()).sum()
    }

    fn text(&self) -> String {
        let sections =
            self.wrong.iter().map(|(class, lines)| format!("{class}\n{}", lines.join("\n")));
        let sections: Vec<String> = sections.collect();
        format!("{} of {} lines\n{}", self.wrong_lines(), self.count, sections.join("\n"))
    }

    fn assert_none_wrong(&self) {
        assert!(self.wrong.is_empty(), "{}", self.text());
    }

    fn assert_few_wrong(&self) {
        if !self.wrong.is_empty() {
            say(&format!("asked about without need: {}\n", self.text()));
        }
        let most = self.count * FALSE_POSITIVES_PERCENT / 100;
        assert!(self.wrong_lines() <= most, "at most {most} may be wrong: {}", self.text());
    }
}

/// Says everything that is wrong before the first assertion ends the test.
fn assert_both(asks: &Report, allows: &Report) {
    if !asks.wrong.is_empty() && !allows.wrong.is_empty() {
        say(&format!("asked about without need: {}\n", allows.text()));
    }
    asks.assert_none_wrong();
    allows.assert_few_wrong();
}

/// What is wrong if the line does not get this decision.
fn expect(room: &Room, wanted: Decision, taint: &Taint) -> impl Fn(&str) -> Option<String> {
    move |line| {
        let verdict = room.decide("bash", room.command(line), taint);
        (verdict.decision != wanted)
            .then(|| format!("wanted {wanted:?}, got {:?}: {}", verdict.decision, verdict.reason))
    }
}

/// What is wrong if the line is allowed, with a sandbox or without one.
fn expect_question<'a>(
    rooms: &'a [Room],
    taint: &'a Taint,
) -> impl Fn(&str) -> Option<String> + 'a {
    move |line| {
        let allows =
            |room: &&Room| room.decide("bash", room.command(line), taint).decision == Allow;
        rooms.iter().find(allows).map(|room| format!("is allowed ({:?})", room.policy.cage))
    }
}

/// Prints whatever the harness captures or not.
pub(crate) fn say(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).ok();
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn both_rooms() -> [Room; 2] {
    [Room::new(), Room::new().uncaged()]
}

#[test]
fn the_tables_are_large_enough() {
    let count = |sections: Vec<tables::Section>| tables::lines(sections).len();
    for (class, lines, least) in [
        ("harmless", count(tables::harmless()), 1_000),
        ("hostile", count(tables::hostile()), 1_800),
        ("wrapped", count(tables::wrapped()), 300),
        ("rules", count(tables::rule_covered()), 180),
        ("denied", count(tables::denied()), 380),
        ("critical", count(tables::critical()), 200),
        ("tainted", count(tables::tainted()), 120),
    ] {
        assert!(lines >= least, "{class}: {lines}");
    }
}

#[test]
fn hostile_lines_are_never_allowed() {
    let rooms = both_rooms();
    let mut report = Report::default();
    for section in tables::hostile() {
        report.check(section.title, &section.lines, expect_question(&rooms, &Taint::Clean));
    }
    report.assert_none_wrong();
}

#[test]
fn wrapped_lines_are_never_allowed() {
    let rooms = both_rooms();
    let mut report = Report::default();
    for section in tables::wrapped() {
        report.check(section.title, &section.lines, expect_question(&rooms, &Taint::Clean));
    }
    report.check("generated", &generated::wrapped(), expect_question(&rooms, &Taint::Clean));
    report.assert_none_wrong();
}

#[test]
fn generated_lines_are_never_allowed() {
    let rooms = both_rooms();
    let mut report = Report::default();
    let harmless = tables::lines(tables::harmless());
    for (class, lines) in [
        ("expansions", generated::expansions()),
        ("assignments", generated::assignments()),
        ("values of options", generated::option_values()),
        ("joined lines", generated::joined(&harmless)),
    ] {
        report.check(class, &lines, expect_question(&rooms, &Taint::Clean));
    }
    report.assert_none_wrong();
}

#[test]
fn harmless_lines_run_unasked_in_the_sandbox() {
    let room = Room::new();
    let mut report = Report::default();
    for section in tables::harmless() {
        report.check(section.title, &section.lines, expect(&room, Allow, &Taint::Clean));
    }
    report.assert_few_wrong();
}

#[test]
fn only_programs_without_dangerous_options_run_unasked_without_a_sandbox() {
    let room = Room::new().uncaged();
    let (mut asks, mut allows) = (Report::default(), Report::default());
    for section in tables::no_sandbox() {
        let (report, wanted) =
            if section.title == "asks" { (&mut asks, Ask) } else { (&mut allows, Allow) };
        report.check(section.title, &section.lines, expect(&room, wanted, &Taint::Clean));
    }
    assert_both(&asks, &allows);
}

/// Checks sections titled `ask RULE` and `allow RULE`.
fn check_allow_rules(sections: Vec<tables::Section>, taint: &Taint) {
    let (mut asks, mut allows) = (Report::default(), Report::default());
    for section in sections {
        let (wanted, rule) = section.title.split_once(' ').unwrap();
        if wanted == "ask" {
            let rooms = both_rooms().map(|room| room.allow(&[rule]));
            asks.check(section.title, &section.lines, expect_question(&rooms, taint));
        } else {
            let room = Room::new().allow(&[rule]);
            allows.check(section.title, &section.lines, expect(&room, Allow, taint));
        }
    }
    assert_both(&asks, &allows);
}

#[test]
fn an_allow_rule_covers_only_what_it_names() {
    check_allow_rules(tables::rule_covered(), &Taint::Clean);
}

#[test]
fn options_that_run_programs_are_asked_about_while_tainted() {
    check_allow_rules(tables::tainted(), &tainted());
}

#[test]
fn an_allow_rule_covers_no_assignment_that_changes_what_runs() {
    let rooms = both_rooms().map(|room| room.allow(&["Bash(make:*)"]));
    let named = |line: String| line.replace(" ls", " make").replace("git status", "make");
    let lines: Vec<String> = generated::assignments().into_iter().map(named).collect();
    let mut report = Report::default();
    report.check("assignments", &lines, expect_question(&rooms, &Taint::Clean));
    report.assert_none_wrong();
}

#[test]
fn deny_rules_see_through_everything() {
    let (mut denied, mut kept) = (Report::default(), Report::default());
    for section in tables::denied() {
        let (wanted, rule) = section.title.split_once(' ').unwrap();
        for mode in [Mode::Bypass, Mode::Default] {
            let room = Room::new().mode(mode).deny(&[rule]);
            let class = format!("{mode:?} {}", section.title);
            match wanted {
                "deny" => denied.check(&class, &section.lines, expect(&room, Deny, &Taint::Clean)),
                // What runs is only known when it runs, so the line must at least ask.
                "hidden" => denied.check(&class, &section.lines, |line| {
                    let verdict = room.run(line);
                    (verdict.decision == Allow).then(|| verdict.reason.to_string())
                }),
                _ => kept.check(&class, &section.lines, |line| {
                    let verdict = room.run(line);
                    (verdict.decision == Deny).then(|| verdict.reason.to_string())
                }),
            }
        }
    }
    for (rule, command) in [("Bash(touch:*)", "touch pwn"), ("Bash(git push:*)", "git push")] {
        let room = Room::new().mode(Mode::Bypass).deny(&[rule]);
        let lines = generated::wrapped_around(&[command]);
        denied.check(&format!("wrapped {command}"), &lines, expect(&room, Deny, &Taint::Clean));
    }
    assert!(denied.wrong.is_empty() && kept.wrong.is_empty(), "{}\n{}", denied.text(), kept.text());
}

#[test]
fn bypass_asks_about_critical_deletes() {
    let room = Room::new().mode(Mode::Bypass);
    let (mut asks, mut allows) = (Report::default(), Report::default());
    for section in tables::critical() {
        let (report, wanted) =
            if section.title == "asks" { (&mut asks, Ask) } else { (&mut allows, Allow) };
        report.check(section.title, &section.lines, expect(&room, wanted, &Taint::Clean));
    }
    assert_both(&asks, &allows);
}

#[test]
fn lines_that_cannot_be_parsed_are_asked_about() {
    let room = Room::new();
    let long = format!("echo {}", "a".repeat(shell::LONGEST_BYTES));
    let deep = format!("echo {}ls{}", "$(".repeat(300), ")".repeat(300));
    let shells = (0..8).fold("ls".to_owned(), |line, _| format!("eval {}", quote(&line)));
    let braces = format!("echo {}", "{a,b}".repeat(40));
    for line in [long, deep, shells] {
        assert_eq!(room.run(&line).decision, Ask, "{line}");
    }
    // Any answer is right here, as long as there is one.
    drop(room.run(&braces));
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
}

#[test]
fn random_rules_and_tables_never_panic() {
    let lines = tables::lines(tables::hostile());
    for rule in ["Bash(git:*)", "Bash(find:*)", "Bash(*)", "Bash"] {
        let mut room = Room::new().mode(Mode::AcceptEdits);
        room.policy.rules.allow.push(Rule::parse(rule).unwrap());
        for line in lines.iter().step_by(7) {
            drop(room.run(line));
        }
    }
}
