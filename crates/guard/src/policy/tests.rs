use std::fs;

use super::*;
use crate::counted::{self, Counts};

/// A policy for an empty workspace with rules about files in every list.
fn policy(folder: &std::path::Path) -> Policy {
    let (work, home) = (folder.join("work"), folder.join("home"));
    fs::create_dir(&work).unwrap();
    fs::create_dir(&home).unwrap();
    let parsed = |text: &str| vec![Rule::parse(text).unwrap()];
    Policy {
        rules: Rules {
            allow: parsed("Bash(make:*)"),
            ask: parsed("Read(plans/**)"),
            deny: parsed("Read(keys/**)"),
        },
        mode: Mode::Default,
        fence: Fence::new(&work, &[], &home).unwrap(),
        cage: CageState::Works,
        bounds: Vec::new(),
    }
}

fn counts_of(policy: &Policy, line: &str, taint: &Taint) -> (Decision, Counts) {
    let folder = policy.fence.locate(".").unwrap();
    let action = Action::Run { command: line.to_owned(), folder, uncaged: false };
    counted::take();
    let verdict = policy.decide("bash", &[action], taint);
    (verdict.decision, counted::take())
}

#[test]
fn one_decision_walks_a_command_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut policy = policy(dir.path());
    let tainted = Taint::From("a page".to_owned());
    for (line, taint, lookups, walks) in [
        ("make a", &Taint::Clean, 1, 0),
        ("cat a && touch b; rm c > out", &Taint::Clean, 3, 0),
        ("cat a && touch b; rm c > out", &tainted, 3, 0),
        ("grep -r x . && touch b", &Taint::Clean, 2, 1),
        ("sh -c 'touch a; touch b'", &tainted, 3, 0),
    ] {
        let (_, counts) = counts_of(&policy, line, taint);
        assert_eq!(counts, Counts { parses: 1, lookups, walks }, "{line} {taint:?}");
    }

    // What limits a sub-agent is held against the same analysis.
    let rules = vec![Rule::parse("Bash(make:*)").unwrap()];
    policy.bounds.push(Bound { agent: "builder".to_owned(), rules });
    let (decision, counts) = counts_of(&policy, "make a && cat b", &Taint::Clean);
    assert_eq!(decision, Decision::Allow);
    assert_eq!(counts, Counts { parses: 1, lookups: 2, walks: 0 });
}
