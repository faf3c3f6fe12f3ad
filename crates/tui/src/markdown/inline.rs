//! Text in a line: addresses and places in files that become links although nobody marked them.

use crate::line::Span;
use crate::look::Look;
use crate::style::Style;
use crate::text;
use crate::theme::Role;

/// A text as spans in a style: bare addresses and `path:line` are links.
pub fn linked(plain: &str, style: Style, look: &Look) -> Vec<Span> {
    let plain = text::clean(plain);
    let mut spans: Vec<Span> = Vec::new();
    let mut begun = 0;
    let mut at = 0;
    for word in plain.split_inclusive(' ') {
        let word_start = at;
        at += word.len();
        let opening = word.find("http").unwrap_or_else(|| {
            word.len() - word.trim_start_matches(['(', '[', '<', '"', '\'', '`', '*']).len()
        });
        let (start, shown) = (word_start + opening, trimmed(&word[opening..]));
        if !(is_address(shown) || is_place(shown)) {
            continue;
        }
        if begun < start {
            spans.push(Span::new(&plain[begun..start], style));
        }
        let link = super::address(shown);
        let style = look.theme.style(Role::Link).over(style);
        spans.push(Span { text: shown.to_owned(), style, link });
        begun = start + shown.len();
    }
    if begun < plain.len() {
        spans.push(Span::new(&plain[begun..], style));
    }
    spans
}

/// A word without the punctuation of the sentence around it.
fn trimmed(word: &str) -> &str {
    let word = word.trim_end_matches([
        ' ', '(', '<', '>', '"', '\'', '`', '[', ']', '.', ',', ';', ':', '!', '?',
    ]);
    let opened = word.matches('(').count();
    if word.ends_with(')') && word.matches(')').count() > opened {
        return word.trim_end_matches(')').trim_end_matches(['.', ',', ';', '"']);
    }
    word
}

fn is_address(word: &str) -> bool {
    let rest = word.strip_prefix("https://").or_else(|| word.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '['))
}

/// Whether a word is a place in a file, such as `src/main.rs:12` or `main.rs:12:5`.
fn is_place(word: &str) -> bool {
    let mut parts = word.split(':');
    let Some(path) = parts.next() else { return false };
    let numbers: Vec<&str> = parts.collect();
    let are_numbers = matches!(numbers.len(), 1 | 2)
        && numbers.iter().all(|number| {
            (1..=7).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
        });
    let has_ending = path.rsplit_once('.').is_some_and(|(stem, ending)| {
        (1..=10).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !stem.is_empty()
    });
    are_numbers && has_ending
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_places_are_links() {
        let table = [
            ("see https://a.b/c_(d), then", Some("https://a.b/c_(d)")),
            ("(https://a.b/c).", Some("https://a.b/c")),
            ("at src/main.rs:12.", Some("src/main.rs:12")),
            ("`lib.rs:3:14`", Some("lib.rs:3:14")),
            ("at 12:30 or 3.5:1", None),
            ("http:// and std::fmt", None),
        ];
        let look = crate::transcript::sample::look();
        for (text, link) in table {
            let spans = linked(text, Style::PLAIN, &look);
            let found = spans.iter().find_map(|span| span.link.as_deref());
            assert_eq!(found, link, "{text}");
            let whole: String = spans.iter().map(|span| span.text.as_str()).collect();
            assert_eq!(whole, text);
        }
    }
}
