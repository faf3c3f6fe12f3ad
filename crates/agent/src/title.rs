//! A session's title: asked of the small model in the background, else the first words of the prompt.

use base::Part;
use base::model::Effort;
use base::transcript::{Role, Turn};
use llm::request::Cache;
use llm::{Reasoning, Request, Target};

/// Longest title, in characters.
pub const TITLE_CHARS: usize = 50;
/// As much of the prompt as a title needs.
const PROMPT_CHARS: usize = 2_000;
/// Room for the answer of a model that does not think, and of one that may.
const PLAIN_TOKENS: u64 = 40;
const THINKING_TOKENS: u64 = 1_000;

/// What the small model is told.
const NAME_IT: &str = "Name the task in the user's message, for a list of sessions. At most 50 \
characters, one line, in the language of the message. Name the thing and what is done to it, as \
in: Fix login redirect after logout. No quotes, no colon, no full stop. Do not do the task and do \
not answer the message: write its title and nothing else.";

/// The request for a title.
pub fn request(prompt: &str, target: &Target) -> Request {
    let prompt: String = prompt.chars().take(PROMPT_CHARS).collect();
    let message = format!("<message>\n{prompt}\n</message>\n\nIts title:");
    let room = if target.model.can_reason { THINKING_TOKENS } else { PLAIN_TOKENS };
    Request {
        system: vec![NAME_IT.to_owned()],
        turns: vec![Turn { role: Role::User, parts: vec![Part::user_text(message)] }],
        max_tokens: Some(room),
        reasoning: Reasoning::Effort(Effort::None),
        cache: Cache::Never,
        ..Request::default()
    }
}

/// The title in a model's answer; none if there is nothing to take.
pub fn clean(answer: &str) -> Option<String> {
    let said = without_thoughts(answer);
    let line = said.lines().map(bare).find(|line| !line.is_empty())?;
    Some(bounded(&line))
}

/// The title of a session nobody named: the first words of its prompt.
pub fn fallback(prompt: &str) -> Option<String> {
    let line = prompt.lines().map(plain).find(|line| !line.is_empty())?;
    Some(bounded(&line))
}

/// The answer without what some models think aloud between tags.
fn without_thoughts(answer: &str) -> &str {
    for tag in ["</think>", "</thinking>", "</thought>"] {
        if let Some((_, said)) = answer.rsplit_once(tag) {
            return said;
        }
    }
    // Cut off in the middle of a thought: there is no answer.
    if answer.trim_start().starts_with("<think") { "" } else { answer }
}

/// A line without quotes, marks and the word "title" around it.
fn bare(line: &str) -> String {
    let line = plain(line);
    let mut line = line.as_str();
    loop {
        let before = line;
        line = line.trim_matches(|c: char| c.is_whitespace() || "\"'`*#_“”‘’«»".contains(c));
        let label = line.split_once(':').filter(|(word, _)| word.eq_ignore_ascii_case("title"));
        line = label.map_or(line, |(_, rest)| rest);
        line = line.trim_end_matches(['.', ':', '。']);
        if line == before {
            return line.to_owned();
        }
    }
}

/// One line without control characters and doubled blanks.
fn plain(line: &str) -> String {
    let spaced: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most [`TITLE_CHARS`], ending with a word where one ends in the last third.
fn bounded(line: &str) -> String {
    if line.chars().count() <= TITLE_CHARS {
        return line.to_owned();
    }
    let cut: String = line.chars().take(TITLE_CHARS - 1).collect();
    let end = cut.rfind(' ').filter(|at| *at > cut.len() * 2 / 3).unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end_matches([' ', ',', ';', ':', '-']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_models_put_around_a_title_is_taken_off() {
        for (answer, title) in [
            ("Fix login redirect", "Fix login redirect"),
            ("\"Fix login redirect.\"\n", "Fix login redirect"),
            ("**Title:** Fix login redirect", "Fix login redirect"),
            ("# Fix   login\tredirect", "Fix login redirect"),
            ("<think>The user wants…</think>\n\nFix login redirect", "Fix login redirect"),
            ("\n\n`Fix login redirect`\nMore words.", "Fix login redirect"),
            ("Corriger la redirection", "Corriger la redirection"),
            ("修复登录重定向。", "修复登录重定向"),
        ] {
            assert_eq!(clean(answer).as_deref(), Some(title), "{answer:?}");
        }
        for nothing in ["", " \n ", "\"\"", "<think>I wonder", "***"] {
            assert_eq!(clean(nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn a_long_title_ends_with_a_word() {
        let long = "Refactor the authentication module to use tokens instead of sessions";
        let title = clean(long).unwrap();
        assert_eq!(title, "Refactor the authentication module to use tokens…");
        assert_eq!(fallback(&format!("\n  {long}\nmore")).unwrap(), title);
        assert_eq!(fallback(" \n "), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn a_title_is_one_short_line_whatever_came(answer in "(\\PC|[\n\t\u{1b}]){0,120}") {
            for title in [clean(&answer), fallback(&answer)].into_iter().flatten() {
                prop_assert!(!title.is_empty() && title.chars().count() <= TITLE_CHARS, "{title:?}");
                prop_assert!(!title.chars().any(char::is_control), "{title:?}");
            }
        }
    }

    #[test]
    fn the_prompt_stays_short() {
        let encoding = tiktoken::get_encoding("o200k_base").unwrap();
        insta::assert_snapshot!(format!("{} tokens\n{NAME_IT}", encoding.count(NAME_IT)), @r"
        78 tokens
        Name the task in the user's message, for a list of sessions. At most 50 characters, one line, in the language of the message. Name the thing and what is done to it, as in: Fix login redirect after logout. No quotes, no colon, no full stop. Do not do the task and do not answer the message: write its title and nothing else.
        ");
    }
}
