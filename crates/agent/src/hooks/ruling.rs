//! What all handlers of one event say together: deny beats ask beats allow.

use guard::Decision;
use serde_json::{Map, Value};
use settings::HookFailure;

use super::handler::Handler;
use super::lasting::Lasting;
use super::said::{Change, Said};

/// What comes of an event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ruling {
    /// The strictest decision; none if nobody decided.
    pub decision: Option<Decision>,
    /// The reasons of those who decided so.
    pub reason: Option<String>,
    /// Changes of the call's input, in the order of the handlers.
    changes: Vec<Change>,
    /// What shall hold beyond the call.
    pub lasting: Lasting,
    /// What the call's result shall be.
    pub output: Option<String>,
    /// What the model should know.
    pub context: Vec<String>,
    /// What the user should know: messages, and failures.
    pub messages: Vec<String>,
    /// Why the turn shall end.
    pub halt: Option<String>,
    /// What the session shall be called.
    pub title: Option<String>,
    /// What the user says first.
    pub first_words: Option<String>,
}

impl Ruling {
    /// Takes what one more handler said.
    pub fn take(&mut self, handler: &Handler, said: Said) {
        let (mut said, label) = (said, handler.label());
        if let Some(failure) = said.failure.take() {
            self.messages.push(format!("the {} hook `{label}`: {failure}", handler.occasion));
            if handler.hook.fail == HookFailure::Closed {
                said.decision = Some(Decision::Deny);
                said.reason = Some(format!("the hook `{label}` could not judge it: {failure}"));
            }
        }
        if !handler.may_allow() {
            said.decision = said.decision.filter(|decision| *decision != Decision::Allow);
        }
        if said.decision == Some(Decision::Deny) && said.reason.is_none() {
            said.reason = Some(format!("the hook `{label}` says no"));
        }
        if said.decision > self.decision {
            self.decision = said.decision;
            self.reason = said.reason;
        } else if said.decision.is_some() && said.decision == self.decision {
            self.reason = joined(self.reason.take(), said.reason);
        }
        self.changes.extend(said.input);
        let left = said.lasting.left.drain(..);
        self.messages
            .extend(left.map(|what| format!("the {} hook `{label}`: {what}", handler.occasion)));
        self.lasting.extend(said.lasting);
        self.output = said.output.or(self.output.take());
        self.context.extend(said.context);
        self.messages.extend(said.message);
        let unsaid = || format!("the hook `{label}` ended the turn");
        let halt = said.halt.map(|why| if why.is_empty() { unsaid() } else { why });
        self.halt = joined(self.halt.take(), halt);
        self.title = said.title.or(self.title.take());
        self.first_words = joined(self.first_words.take(), said.first_words);
    }

    /// Why it shall not happen, if it shall not.
    pub fn no(&self) -> Option<&str> {
        (self.decision == Some(Decision::Deny)).then(|| self.reason.as_deref().unwrap_or_default())
    }

    /// What they want to happen to a call, and why: whoever ends the turn forbids the call that it is about.
    pub fn wish(&self) -> Option<(Decision, String)> {
        if let Some(why) = &self.halt {
            return Some((Decision::Deny, why.clone()));
        }
        Some((self.decision?, self.reason.clone().unwrap_or_default()))
    }

    /// The input as the handlers want it; none if they leave it as it is.
    pub fn changed(&self, input: &Map<String, Value>) -> Option<Map<String, Value>> {
        if self.changes.is_empty() {
            return None;
        }
        let mut fields = input.clone();
        for change in &self.changes {
            match change {
                Change::Whole(whole) => fields.clone_from(whole),
                Change::Fields(more) => fields.extend(more.clone()),
            }
        }
        Some(fields)
    }
}

fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) if one.is_empty() => Some(other),
        (Some(one), Some(other)) if other.is_empty() || one == other => Some(one),
        (Some(one), Some(other)) => Some(format!("{one}\n{other}")),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use settings::{Config, Hook};

    use super::*;
    use crate::hooks::{Handlers, Occasion};

    fn handler(fail: HookFailure) -> Arc<Handler> {
        let hook = Hook { command: "check".to_owned(), fail, ..Hook::default() };
        let mut config = Config::default();
        config.hooks.insert("PreToolUse".to_owned(), vec![hook]);
        Handlers::new(&config, &[]).0.of(Occasion::PreToolUse)[0].clone()
    }

    fn ruling(saids: impl IntoIterator<Item = Said>) -> Ruling {
        let mut ruling = Ruling::default();
        saids.into_iter().for_each(|said| ruling.take(&handler(HookFailure::Open), said));
        ruling
    }

    fn decides(decision: Option<Decision>, reason: &str) -> Said {
        Said { decision, reason: Some(reason.to_owned()), ..Said::default() }
    }

    #[test]
    fn the_reasons_are_those_of_the_strictest() {
        let said = [
            decides(Some(Decision::Allow), "fine"),
            decides(Some(Decision::Deny), "no"),
            decides(Some(Decision::Ask), "hm"),
            decides(Some(Decision::Deny), "never"),
        ];
        assert_eq!(ruling(said).no(), Some("no\nnever"));
    }

    #[test]
    fn a_failure_is_a_no_only_where_it_fails_closed() {
        let failed = || Said { failure: Some("too slow".to_owned()), ..Said::default() };
        assert_eq!(ruling([failed()]).decision, None);
        let mut closed = Ruling::default();
        closed.take(&handler(HookFailure::Closed), failed());
        assert!(closed.no().unwrap().contains("`check` could not judge it: too slow"));
        assert_eq!(closed.messages.len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_strictest_decides_whatever_the_order(words in prop::collection::vec(0..4_u8, 0..6)) {
            let decision = |word: &u8| match word {
                0 => None,
                1 => Some(Decision::Allow),
                2 => Some(Decision::Ask),
                _ => Some(Decision::Deny),
            };
            let said = words.iter().map(|word| decides(decision(word), "r"));
            prop_assert_eq!(ruling(said).decision, words.iter().filter_map(decision).max());
        }
    }
}
