//! Text that is typed into running jobs.

use base::protocol::Mode;
use guard::{Action, Decision, JobText, Reach, Taint, Verdict};

use crate::room::{Room, tainted};

/// Text for a job that was started by `command` in the workspace's sandbox.
fn text(room: &Room, command: &str, text: &str) -> JobText {
    JobText {
        command: command.to_owned(),
        folder: room.spot("."),
        reach: Reach::Workspace,
        terminal: false,
        before: String::new(),
        text: text.to_owned(),
    }
}

fn judge(room: &Room, text: JobText, taint: &Taint) -> Verdict {
    room.decide("job_input", Action::Type(text), taint)
}

#[test]
fn deny_rules_hold_for_every_line_that_is_typed() {
    for mode in [Mode::Default, Mode::AcceptEdits, Mode::Bypass, Mode::DontAsk] {
        let room = Room::new().mode(mode).allow(&["Bash"]).deny(&["Bash(rm:*)"]);
        for typed in ["rm x\n", "ls\nrm x\n", "rm x", "  rm x\n", "cd src; rm x\n", "/bin/rm x\n"] {
            for command in ["sh", "bash -i", "env FOO=1 bash", "python3", "ssh host"] {
                let verdict = judge(&room, text(&room, command, typed), &Taint::Clean);
                assert_eq!(verdict.decision, Decision::Deny, "{mode:?} {command}: {typed:?}");
            }
        }
        let verdict = judge(&room, text(&room, "sh", "ls\n"), &Taint::Clean);
        assert_eq!(verdict.decision, Decision::Allow, "{mode:?}: {}", verdict.reason);
    }
}

#[test]
fn a_denied_command_typed_in_pieces_is_denied() {
    let room = Room::new().mode(Mode::Bypass).deny(&["Bash(rm:*)"]);
    for (before, typed) in [("r", "m x\n"), ("ls\nr", "m x\n"), ("r\\\n", "m x\n"), ("rm", " x\n")]
    {
        let typed = JobText { before: before.to_owned(), ..text(&room, "sh", typed) };
        let verdict = judge(&room, typed.clone(), &Taint::Clean);
        assert_eq!(verdict.decision, Decision::Deny, "{typed:?}");
    }
}

#[test]
fn a_line_that_a_document_seems_to_hold_is_denied_all_the_same() {
    let room = Room::new().mode(Mode::Bypass).deny(&["Bash(rm:*)"]);
    // `head` takes the line that begins the document away from the shell.
    let before = "head -n1 >/dev/null\ncat <<'EOF'\n".to_owned();
    let typed = JobText { before, ..text(&room, "sh", "rm x\n") };
    assert_eq!(judge(&room, typed, &Taint::Clean).decision, Decision::Deny);
}

#[test]
fn characters_that_edit_the_line_are_asked_about_and_pass_no_deny_rule() {
    let keys = [
        "xx\u{7f}\u{7f}rm x\n",
        "l\u{8}rm x\n",
        "\u{1b}[A\n",
        "r\t\n",
        "!!\n",
        "^ls^rm\n",
        "r\u{4}",
    ];
    for typed in keys {
        let room = Room::new().allow(&["Bash"]);
        let job = JobText { terminal: true, ..text(&room, "bash", typed) };
        assert_eq!(judge(&room, job.clone(), &Taint::Clean).decision, Decision::Ask, "{typed:?}");
        let room = Room::new().mode(Mode::Bypass).deny(&["Bash(rm:*)"]);
        assert_eq!(judge(&room, job, &Taint::Clean).decision, Decision::Deny, "{typed:?}");
    }
}

#[test]
fn the_interrupt_and_the_end_of_the_input_are_not_asked_about() {
    let room = Room::new();
    let keys = |text: JobText| JobText { reach: Reach::Everything, terminal: true, ..text };
    for key in ["\u{3}", "\u{4}", "\n"] {
        let verdict = judge(&room, keys(text(&room, "bash", key)), &tainted());
        assert_eq!(verdict.decision, Decision::Allow, "{key:?}");
    }
    let flushed = JobText { before: "r".to_owned(), ..keys(text(&room, "bash", "\u{4}")) };
    assert_eq!(judge(&room, flushed, &tainted()).decision, Decision::Ask);
}

#[test]
fn text_for_a_shell_is_asked_about_like_a_command() {
    let room = Room::new();
    assert_eq!(judge(&room, text(&room, "sh", "ls\n"), &Taint::Clean).decision, Decision::Allow);
    let verdict = judge(&room, text(&room, "sh", "touch x\n"), &Taint::Clean);
    assert_eq!(verdict.decision, Decision::Ask);
    assert_eq!(verdict.blamed_texts(), ["touch x"]);
    let room = Room::new().allow(&["Bash(touch:*)"]);
    let verdict = judge(&room, text(&room, "sh", "touch x\n"), &Taint::Clean);
    assert_eq!(verdict.decision, Decision::Allow);
    let room = Room::new().ask(&["Bash(ls:*)"]);
    assert_eq!(judge(&room, text(&room, "sh", "ls\n"), &Taint::Clean).decision, Decision::Ask);
}

#[test]
fn earlier_text_counts_for_what_a_shell_does_later() {
    let room = Room::new();
    let before = "ls() { touch x; }\n".to_owned();
    let typed = JobText { before, ..text(&room, "sh", "ls\n") };
    assert_eq!(judge(&room, typed, &Taint::Clean).decision, Decision::Ask);
}

#[test]
fn a_tainted_context_asks_about_anything_but_reading() {
    let room = Room::new().mode(Mode::AcceptEdits).allow(&["Bash"]);
    for (command, typed, decision) in [
        ("sh", "ls\n", Decision::Allow),
        ("sh", "touch x\n", Decision::Ask),
        ("python3", "print(1)\n", Decision::Ask),
        ("cat", "hello\n", Decision::Ask),
    ] {
        let verdict = judge(&room, text(&room, command, typed), &tainted());
        assert_eq!(verdict.decision, decision, "{command}: {typed}");
    }
}

#[test]
fn a_job_outside_the_sandbox_is_always_asked_about() {
    for reach in [Reach::Everything, Reach::Network] {
        let room = Room::new().mode(Mode::AcceptEdits).allow(&["Bash", "job_input"]);
        for command in ["bash", "python3"] {
            let typed = JobText { reach, ..text(&room, command, "ls\n") };
            let verdict = judge(&room, typed, &Taint::Clean);
            assert_eq!(verdict.decision, Decision::Ask, "{command}");
            assert!(verdict.grants.is_empty(), "{command}");
        }
    }
}

#[test]
fn a_program_in_the_sandbox_may_be_typed_into() {
    for mode in [Mode::Default, Mode::AcceptEdits, Mode::DontAsk] {
        let room = Room::new().mode(mode);
        let verdict = judge(&room, text(&room, "python3 -i", "x = 1\n"), &Taint::Clean);
        assert_eq!(verdict.decision, Decision::Allow, "{mode:?}: {}", verdict.reason);
    }
}

#[test]
fn nothing_is_changed_through_a_job_while_planning() {
    let room = Room::new().mode(Mode::Plan);
    for (command, typed, decision) in [
        ("sh", "touch x\n", Decision::Deny),
        ("python3", "open('x', 'w')\n", Decision::Deny),
        ("sh", "ls\n", Decision::Allow),
    ] {
        let verdict = judge(&room, text(&room, command, typed), &Taint::Clean);
        assert_eq!(verdict.decision, decision, "{command}: {typed}");
    }
}
