//! Rules that skills and commands bring: a folder that can be read, and terms that hold until the user's
//! next word.

use std::sync::Arc;

use base::EntryId;
use guard::{Rule, Rules};

use crate::live::{Live, lock};

/// What is lent until the user's next word, and what comes with a word that is still to be heard.
#[derive(Debug, Default)]
pub(crate) struct Lent {
    now: Rules,
    with: Option<(EntryId, Rules)>,
}

impl Live {
    /// Lets places be read, from now on.
    pub(crate) fn open_to_reading(&self, rules: Vec<Rule>) {
        let mut policy = lock(&self.policy);
        for rule in rules {
            if !policy.rules.allow.contains(&rule) {
                Arc::make_mut(&mut policy).rules.allow.push(rule);
            }
        }
    }

    /// Adds rules that hold until the user's next word.
    pub(crate) fn lend(&self, rules: Rules) {
        if rules == Rules::default() {
            return;
        }
        self.change_rules(|held| {
            held.allow.extend(rules.allow.iter().cloned());
            held.deny.extend(rules.deny.iter().cloned());
        });
        let lent = &mut lock(&self.lent).now;
        lent.allow.extend(rules.allow);
        lent.deny.extend(rules.deny);
    }

    /// Lends rules once a prompt is heard: hooks may see it first.
    pub(crate) fn lend_with(&self, prompt: EntryId, rules: Rules) {
        lock(&self.lent).with = Some((prompt, rules));
    }

    /// A prompt is heard: what was lent before is taken back, and what comes with it is lent.
    pub(crate) fn hear(&self, prompt: EntryId) {
        self.take_back();
        let with = lock(&self.lent).with.take_if(|(waits_for, _)| *waits_for == prompt);
        if let Some((_, rules)) = with {
            self.lend(rules);
        }
    }

    fn take_back(&self) {
        let lent = std::mem::take(&mut lock(&self.lent).now);
        if lent == Rules::default() {
            return;
        }
        self.change_rules(|held| {
            take_out(&mut held.allow, &lent.allow);
            take_out(&mut held.deny, &lent.deny);
        });
    }

    fn change_rules(&self, change: impl FnOnce(&mut Rules)) {
        change(&mut Arc::make_mut(&mut lock(&self.policy)).rules);
        // A cage hides what deny rules close.
        lock(&self.cages).clear();
    }
}

/// Takes each of `lent` out of `rules` once: what the user has allowed meanwhile stays.
fn take_out(rules: &mut Vec<Rule>, lent: &[Rule]) {
    for rule in lent {
        if let Some(at) = rules.iter().position(|held| held == rule) {
            rules.remove(at);
        }
    }
}
