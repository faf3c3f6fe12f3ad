//! What a handler wants to hold beyond the one call it was asked about: `updatedPermissions`.
//!
//! A hook's yes is no more than a user's: rules that allow, for the session, and a mode that still asks.

use base::protocol::Mode;
use guard::Rule;
use serde_json::{Map, Value};

/// What shall hold from now on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lasting {
    /// Rules that allow, until the session ends.
    pub rules: Vec<Rule>,
    /// How questions are answered from now on.
    pub mode: Option<Mode>,
    /// What was asked for and is not done, in words for the user.
    pub left: Vec<String>,
}

impl Lasting {
    /// Reads the changes a handler asks for.
    pub(super) fn read(updates: &[Value]) -> Self {
        let mut lasting = Self::default();
        for update in updates {
            let word = |name: &str| update.get(name).and_then(Value::as_str).unwrap_or_default();
            let (kind, destination) = (word("type"), word("destination"));
            match (kind, word("behavior"), destination) {
                ("addRules", "allow", "session") => lasting.add(update.get("rules")),
                ("setMode", _, "session") => lasting.switch(update.get("mode")),
                _ => {
                    lasting.left.push(format!("`{kind}` for `{destination}` is not done by hooks"));
                }
            }
        }
        lasting
    }

    /// Takes what another handler wants, too.
    pub(super) fn extend(&mut self, other: Self) {
        self.rules.extend(other.rules);
        self.mode = other.mode.or(self.mode);
        self.left.extend(other.left);
    }

    fn add(&mut self, rules: Option<&Value>) {
        for rule in rules.and_then(Value::as_array).into_iter().flatten() {
            let text = rule.as_object().map(text_of).unwrap_or_default();
            match Rule::parse(&text) {
                Ok(rule) if rule.unused().is_none() && !rule.is_unanchored() => {
                    self.rules.push(rule);
                }
                Ok(_) | Err(_) => self.left.push(format!("the rule `{text}` cannot be used")),
            }
        }
    }

    fn switch(&mut self, mode: Option<&Value>) {
        match mode.and_then(|word| serde_json::from_value(word.clone()).ok()) {
            Some(mode @ (Mode::Default | Mode::AcceptEdits | Mode::Plan | Mode::DontAsk)) => {
                self.mode = Some(mode);
            }
            Some(Mode::Bypass) | None => {
                let word = mode.and_then(Value::as_str).unwrap_or_default();
                self.left.push(format!("the mode `{word}` is not set by hooks"));
            }
        }
    }
}

/// A rule as Claude Code writes it, in one word: tool and content apart.
fn text_of(rule: &Map<String, Value>) -> String {
    let word = |name: &str| rule.get(name).and_then(Value::as_str).unwrap_or_default();
    match word("ruleContent") {
        "" => word("toolName").to_owned(),
        content => format!("{}({content})", word("toolName")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_and_modes_of_the_session_are_taken_and_the_rest_is_told() {
        let allow = |rules: Value, destination: &str| json!({ "type": "addRules", "behavior": "allow", "destination": destination, "rules": rules });
        let one = json!([{ "toolName": "Bash", "ruleContent": "npm test:*" }]);
        let lasting = Lasting::read(&[
            allow(one.clone(), "session"),
            allow(one, "userSettings"),
            allow(json!([{ "toolName": "*" }, {}, 5]), "session"),
            json!({ "type": "setMode", "mode": "acceptEdits", "destination": "session" }),
            json!({ "type": "setMode", "mode": "bypassPermissions", "destination": "session" }),
            json!({ "type": "removeRules", "destination": "session" }),
            json!("odd"),
        ]);
        let rules: Vec<String> = lasting.rules.iter().map(ToString::to_string).collect();
        assert_eq!(
            (rules, lasting.mode),
            (vec!["Bash(npm test:*)".to_owned()], Some(Mode::AcceptEdits))
        );
        assert_eq!(lasting.left.len(), 7, "{:#?}", lasting.left);
    }
}
