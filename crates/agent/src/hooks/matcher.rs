//! What a hook applies to: everything, names, or a pattern.

use fancy_regex::{Regex, RegexBuilder};
use guard::rule::names;

/// How often a pattern may try again: names are short, and one that needs more is not meant well.
const BACKTRACKS: usize = 10_000;

/// What an event is about, as matchers see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// A tool, by our name for it.
    Tool(&'a str),
    /// A word of the event's own: a source, a trigger, an agent's name.
    Word(&'a str),
    /// Nothing: matchers say nothing here.
    Nothing,
}

/// What a hook applies to.
#[derive(Debug, Clone)]
pub(super) enum Matcher {
    Everything,
    /// Nobody can read what is meant, so everything is.
    Unreadable,
    /// Any of these names.
    Names(Vec<String>),
    /// Whatever the pattern is found in.
    Pattern(Regex),
}

impl Matcher {
    /// Reads a matcher: nothing or `*` is everything, plain words are names, anything else is a pattern, as
    /// JavaScript has them, that may be found anywhere in the name.
    pub(super) fn parse(text: Option<&str>) -> Result<Self, Box<fancy_regex::Error>> {
        let text = text.map(str::trim).unwrap_or_default();
        if text.is_empty() || text == "*" {
            return Ok(Self::Everything);
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
        if text.chars().all(plain) {
            let words = text.split(['|', ',']).map(str::trim).filter(|word| !word.is_empty());
            return Ok(Self::Names(words.map(str::to_owned).collect()));
        }
        let pattern = RegexBuilder::new(text).backtrack_limit(BACKTRACKS).build();
        pattern.map(Self::Pattern).map_err(Box::new)
    }

    /// Whether the event's subject is meant. A tool may be called by any name the alias table has for it.
    pub(super) fn matches(&self, subject: Subject<'_>) -> bool {
        match (self, subject) {
            (Self::Everything | Self::Unreadable, _) | (_, Subject::Nothing) => true,
            (Self::Names(words), Subject::Word(word)) => words.iter().any(|known| known == word),
            (Self::Names(words), Subject::Tool(tool)) => words.iter().any(|word| is(word, tool)),
            (Self::Pattern(pattern), Subject::Word(word)) => is_found(pattern, word),
            (Self::Pattern(pattern), Subject::Tool(tool)) => {
                let names = names::spellings(tool);
                let mut found = names.iter().map(|name| is_found(pattern, name));
                // What a name must not have, none of a tool's names may have.
                let is_about_absence =
                    ["(?!", "(?<!"].iter().any(|it| pattern.as_str().contains(it));
                if is_about_absence { found.all(|it| it) } else { found.any(|it| it) }
            }
        }
    }
}

/// Whether a pattern is found in a name; one that gives up on it might be.
fn is_found(pattern: &Regex, name: &str) -> bool {
    pattern.is_match(name).unwrap_or(true)
}

fn is(word: &str, tool: &str) -> bool {
    word == tool
        || names::ours(word).iter().any(|known| known == tool)
        || names::spellings(tool).iter().any(|name| name == word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(matcher: &str, tool: &str) -> bool {
        Matcher::parse(Some(matcher)).unwrap().matches(Subject::Tool(tool))
    }

    #[test]
    fn names_lists_patterns_and_stars_mean_what_they_mean_elsewhere() {
        for (matcher, tool, expected) in [
            ("", "bash", true),
            ("*", "bash", true),
            ("Bash", "bash", true),
            ("bash", "bash", true),
            ("exec", "bash", true),
            ("Bas", "bash", false),
            ("Edit|Write", "write", true),
            ("Edit, Write", "write", true),
            ("Edit|Write", "view", false),
            ("Edit", "apply_patch", true),
            ("Task", "agent", true),
            ("Agent", "agent", true),
            ("^Agent$", "agent", true),
            ("Web.*", "fetch", true),
            ("mcp__.*", "mcp_github_list_issues", true),
            ("mcp__github__list_issues", "mcp_github_list_issues", true),
            ("mcp__memory__.*", "mcp_github_list_issues", false),
            ("^Read$", "view", true),
            ("^Rea$", "view", false),
            (".*", "anything", true),
            ("^(?!mcp__).*", "bash", true),
            ("^(?!mcp__).*", "mcp__git__list", false),
            ("(a*)*b", "bash", true),
        ] {
            assert_eq!(matches(matcher, tool), expected, "{matcher} {tool}");
        }
        let words = Matcher::parse(Some("^(?!auto).*")).unwrap();
        assert!(words.matches(Subject::Word("manual")) && !words.matches(Subject::Word("auto")));
        assert!(Matcher::parse(Some("(")).is_err());
        let manual = Matcher::parse(Some("manual")).unwrap();
        assert!(manual.matches(Subject::Word("manual")) && !manual.matches(Subject::Word("auto")));
        assert!(manual.matches(Subject::Nothing));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_matcher_breaks_and_a_name_always_matches_itself(text in ".{0,40}", name in "[a-z_]{1,20}") {
            if let Ok(matcher) = Matcher::parse(Some(&text)) {
                matcher.matches(Subject::Tool(&name));
                matcher.matches(Subject::Word(&name));
            }
            prop_assert!(matches(&name, &name));
            let list = format!("x|{name}");
            prop_assert!(matches(&list, &name));
        }
    }
}
