//! A decision with its reason, and how two of them become one.

use std::ops::Range;

use serde::Serialize;

use super::reason::Reason;
use crate::cage::Reach;
use crate::rule::Rule;

/// Most rules that one answer may store.
pub(super) const MOST_GRANTS: usize = 5;

/// What may happen to a call. The later, the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It runs.
    Allow,
    /// Somebody must say yes first.
    Ask,
    /// It does not run.
    Deny,
}

/// A decision with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// Why: the first reason for this decision.
    pub reason: Reason,
    /// Further reasons for the same decision.
    pub also: Vec<Reason>,
    /// The narrowest rules that would have allowed it: what a yes beyond this call stores. At most five;
    /// none where it is asked every time.
    pub grants: Vec<Rule>,
    /// The parts of the call that make it ask; also where the mode denies what would be asked.
    pub blame: Vec<BlamedPart>,
    /// How far a process it starts may reach.
    pub reach: Reach,
}

/// A part of a call that makes it ask: a part of a command, a path, a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlamedPart {
    /// The part as it is written in the call.
    pub text: String,
    /// Where it is in the command, in bytes; none if the call is no command.
    pub span: Option<Range<usize>>,
}

impl Verdict {
    fn new(decision: Decision, reason: Reason) -> Self {
        Self {
            decision,
            reason,
            also: Vec::new(),
            grants: Vec::new(),
            blame: Vec::new(),
            reach: Reach::ReadOnly,
        }
    }

    pub(super) fn allow(reason: Reason) -> Self {
        Self::new(Decision::Allow, reason)
    }

    pub(super) fn ask(reason: Reason) -> Self {
        Self::new(Decision::Ask, reason)
    }

    pub(super) fn deny(reason: Reason) -> Self {
        Self::new(Decision::Deny, reason)
    }

    /// The decision of a rule in the list `list`.
    pub(super) fn by_rule(list: Decision, rule: &Rule) -> Self {
        Self::new(list, Reason::Rule { rule: rule.clone(), list })
    }

    /// The rule that decided, if one did.
    #[must_use]
    pub fn rule(&self) -> Option<&Rule> {
        self.reason.rule()
    }

    /// Whether untrusted content in the context is a reason to ask.
    #[must_use]
    pub fn asks_because_of_taint(&self) -> bool {
        self.decision == Decision::Ask
            && std::iter::once(&self.reason).chain(&self.also).any(Reason::is_taint)
    }

    /// The texts of the parts that make it ask.
    #[must_use]
    pub fn blamed_texts(&self) -> Vec<String> {
        self.blame.iter().map(|part| part.text.clone()).collect()
    }

    pub(super) fn granting(mut self, grants: Vec<Rule>) -> Self {
        self.grants = grants;
        self
    }

    /// Names the parts to blame, if it asks. A part of one that is named already says nothing more.
    pub(super) fn blaming(mut self, parts: impl IntoIterator<Item = BlamedPart>) -> Self {
        if self.decision == Decision::Ask {
            for part in parts {
                if !self.blame.iter().any(|known| known.contains(&part)) {
                    self.blame.push(part);
                }
            }
        }
        self
    }

    pub(super) fn reaching(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// The stricter of two, with the reasons, grants and parts to blame of both.
    pub(super) fn and(self, other: Self) -> Self {
        let reach = widest(self.reach, other.reach);
        // A rule that lifts one question is of no use while another cannot be lifted.
        let hopeless =
            [&self, &other].iter().any(|it| it.decision != Decision::Allow && it.grants.is_empty());
        let mut grants = self.grants.clone();
        grants.extend(other.grants.iter().filter(|it| !self.grants.contains(it)).cloned());
        if hopeless || grants.len() > MOST_GRANTS {
            grants.clear();
        }
        let is_stricter = other.decision > self.decision;
        let (mut strict, weak) = if is_stricter { (other, self) } else { (self, other) };
        if strict.decision == weak.decision && strict.decision != Decision::Allow {
            strict.also.extend(std::iter::once(weak.reason).chain(weak.also));
        }
        let mut verdict = strict.blaming(weak.blame);
        verdict.grants = grants;
        verdict.reach = reach;
        verdict
    }
}

impl BlamedPart {
    fn contains(&self, other: &Self) -> bool {
        let holds = |(own, other): (&Range<usize>, &Range<usize>)| {
            own.start <= other.start && other.end <= own.end
        };
        self.text == other.text || self.span.as_ref().zip(other.span.as_ref()).is_some_and(holds)
    }
}

/// The wider of two reaches.
fn widest(one: Reach, other: Reach) -> Reach {
    let rank = |reach| match reach {
        Reach::ReadOnly => 0,
        Reach::Workspace => 1,
        Reach::Network => 2,
        Reach::Everything => 3,
    };
    if rank(other) > rank(one) { other } else { one }
}
