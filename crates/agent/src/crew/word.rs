//! A word of an agent's list of tools: `Read`, `mcp__github`, `Bash(git log:*)`.

use guard::rule::names;
use guard::{Rule, Rules};

/// What a word means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Our tools behind it; none where nobody knows it.
    pub(super) tools: Vec<String>,
    pub(super) part: Part,
}

/// How much of its tools a word means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// All they do.
    Whole,
    /// What a rule covers.
    Some(Rule),
    /// Its brackets say nothing that can be held; why.
    Unclear(String),
}

impl Word {
    /// Reads a word.
    pub(super) fn read(word: &str) -> Self {
        let (name, has_brackets) = match word.split_once('(') {
            Some((name, _)) => (name.trim(), true),
            None => (word.trim(), false),
        };
        let tools = ours(name);
        let part = if has_brackets { part(word, &tools) } else { Part::Whole };
        Self { tools, part }
    }

    /// The rule that says which part of its tools it means.
    pub(super) fn into_rule(self) -> Option<Rule> {
        match self.part {
            Part::Some(rule) => Some(rule),
            Part::Whole | Part::Unclear(_) => None,
        }
    }
}

/// Whether a word means every tool.
pub(super) fn is_all(word: &str) -> bool {
    matches!(word.trim().to_ascii_lowercase().as_str(), "*" | "all" | "all tools")
}

fn part(word: &str, tools: &[String]) -> Part {
    let rule = match Rule::parse(word) {
        Ok(rule) => rule,
        Err(error) => return Part::Unclear(error.why),
    };
    if let Some(why) = rule.unused() {
        return Part::Unclear(why.to_owned());
    }
    if tools.iter().all(|tool| rule.narrows(tool)) {
        return Part::Some(rule);
    }
    let all = Rules { deny: vec![rule], ..Rules::default() };
    if tools.iter().all(|tool| all.removes(tool)) {
        Part::Whole
    } else {
        Part::Unclear("it narrows nothing".to_owned())
    }
}

/// Our tools behind a name.
fn ours(name: &str) -> Vec<String> {
    match name.strip_prefix("mcp__") {
        Some(server) if !server.contains("__") => vec![format!("mcp_{server}_*")],
        Some(_) | None => names::ours(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_that_say_nothing_are_told_from_those_that_narrow() {
        for (word, tools, part) in [
            ("Read", vec!["view"], "whole"),
            ("Bash(*)", vec!["bash"], "whole"),
            ("Bash(git log:*)", vec!["bash"], "some"),
            ("Agent(a, b)", vec!["agent"], "some"),
            ("Edit(docs/**)", vec!["edit", "apply_patch"], "some"),
            ("Bash(git log:*, Read", vec!["bash"], "unclear"),
            ("Bash()", vec!["bash"], "unclear"),
            ("Write(docs/**)", vec!["write"], "unclear"),
            (
                "WebFetch(example.com)",
                vec!["fetch", "web_fetch", "agentic_fetch", "download"],
                "unclear",
            ),
            ("mcp__git", vec!["mcp_git_*"], "whole"),
            ("mcp__git(x)", vec!["mcp_git_*"], "unclear"),
            ("mcp__*", vec!["mcp_*_*"], "whole"),
            ("Teleport", vec![], "whole"),
        ] {
            let read = Word::read(word);
            assert_eq!(read.tools, tools, "{word}");
            let found = match read.part {
                Part::Whole => "whole",
                Part::Some(_) => "some",
                Part::Unclear(_) => "unclear",
            };
            assert_eq!(found, part, "{word}");
        }
    }
}
