//! Files of actions and the decisions that are expected of them.

use std::path::Path;

use base::protocol::Mode;
use guard::{Policy, Taint};
use serde::{Deserialize, Serialize};

use super::Answer;
use crate::failure::Failure;
use crate::render;

/// One action and what is expected of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    action: String,
    expect: Expected,
    #[serde(default)]
    mode: Option<Mode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Allow,
    Ask,
    Deny,
}

impl Expected {
    fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// An action that is decided otherwise than expected.
#[derive(Debug, Serialize)]
struct Difference {
    action: String,
    expect: &'static str,
    decision: &'static str,
    reason: String,
}

/// Reads the cases of a file: a list, or one object a line.
pub(super) fn read(file: &Path) -> Result<Vec<Case>, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::user(format!("cannot read {}: {error}", file.display())))?;
    let broken = |what: String| {
        Failure::user(format!("{}{what}", file.display()))
            .hint(r#"a case looks like {"action": "git push", "expect": "ask"}"#)
    };
    if text.trim_start().starts_with('[') || text.lines().any(|line| line.trim() == "[") {
        return settings::jsonc::read(&text).map_err(|error| broken(format!(": {error}")));
    }
    let mut cases = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim().trim_end_matches(',');
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        let case = settings::jsonc::read(line);
        cases.push(case.map_err(|error| broken(format!(":{}: {error}", index + 1)))?);
    }
    Ok(cases)
}

/// Decides every case and prints those that differ.
pub(super) fn check(policy: &Policy, cases: &[Case], as_json: bool) -> Result<(), Failure> {
    let mut different = Vec::new();
    for case in cases {
        let mut policy = policy.clone();
        policy.mode = case.mode.unwrap_or(policy.mode);
        let answer = Answer::of(&policy, &case.action, &Taint::Clean)?;
        if answer.decision != case.expect.name() {
            different.push(Difference {
                action: answer.action,
                expect: case.expect.name(),
                decision: answer.decision,
                reason: answer.reason,
            });
        }
    }
    if as_json {
        let report = serde_json::json!({ "cases": cases.len(), "different": different });
        render::json(&report)?;
    } else {
        let rows = different.iter().map(|it| {
            format!("{:5} (not {}): {}  # {}", it.decision, it.expect, it.action, it.reason)
        });
        let summary =
            format!("cases: {}, as expected: {}", cases.len(), cases.len() - different.len());
        render::out(&render::lines(rows.chain([summary])))?;
    }
    if different.is_empty() {
        return Ok(());
    }
    Err(Failure::user(format!("decided otherwise than expected: {}", different.len()))
        .hint("caiman policy explain \"<action>\" says why"))
}
