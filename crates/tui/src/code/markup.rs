//! Languages of tags: HTML, XML and their kin; and those whose lines tell by their beginning what they are.

use super::{State, Tokens};
use crate::theme::Role;

/// Reads one line and returns what the next begins in.
pub(super) fn line(line: &str, state: State, out: &mut Tokens) -> State {
    let mut rest = line;
    let mut state = state;
    while !rest.is_empty() {
        let (length, role, next) = match state {
            State::Comment(_) => match rest.find("-->") {
                Some(end) => (end + 3, Role::Comment, State::Plain),
                None => (rest.len(), Role::Comment, state),
            },
            State::Tag => in_tag(rest),
            State::Plain | State::Quote(_) | State::Raw(_) => in_text(rest),
        };
        out.push(length, role);
        rest = &rest[length..];
        state = next;
    }
    state
}

fn in_text(rest: &str) -> (usize, Role, State) {
    if rest.starts_with("<!--") {
        return (4, Role::Comment, State::Comment(1));
    }
    if let Some(name) = rest.strip_prefix('<') {
        let is_name =
            |c: char| c.is_alphanumeric() || matches!(c, '/' | '!' | '?' | '-' | ':' | '.' | '_');
        let length = name.find(|c| !is_name(c)).map_or(rest.len(), |end| end + 1);
        return (length, Role::Keyword, State::Tag);
    }
    if rest.starts_with('&')
        && let Some(end) = rest.find(';').filter(|end| *end <= 10)
    {
        return (end + 1, Role::Number, State::Plain);
    }
    let first = rest.chars().next().map_or(1, char::len_utf8);
    let length = rest[first..].find(['<', '&']).map_or(rest.len(), |end| first + end);
    (length, Role::Text, State::Plain)
}

fn in_tag(rest: &str) -> (usize, Role, State) {
    let first = rest.chars().next().unwrap_or(' ');
    match first {
        '>' => (1, Role::Keyword, State::Plain),
        '/' | '?' => (1, Role::Keyword, State::Tag),
        '"' | '\'' => {
            let length = rest[1..].find(first).map_or(rest.len(), |end| end + 2);
            (length, Role::String, State::Tag)
        }
        c if c.is_alphabetic() || matches!(c, '@' | ':' | '_') => {
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | ':' | '.' | '_' | '@');
            let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            (length, Role::Type, State::Tag)
        }
        c => (c.len_utf8(), Role::Text, State::Tag),
    }
}

/// What a line of a diff is.
pub(super) fn diff_line(line: &str) -> Role {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'd', b'i', b'f', b'f', ..] => {
            Role::Strong
        }
        [b'+', ..] => Role::Added,
        [b'-', ..] => Role::Removed,
        [b'@', b'@', ..] => Role::Accent,
        _ => Role::Text,
    }
}

/// What a line of Markdown is.
pub(super) fn markdown_line(line: &str) -> Role {
    let text = line.trim_start();
    if text.starts_with('#') {
        Role::Strong
    } else if text.starts_with('>') || text.starts_with("```") || text.starts_with("~~~") {
        Role::Comment
    } else {
        Role::Text
    }
}

/// What a line of a log is.
pub(super) fn log_line(line: &str) -> Role {
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if has(&["ERROR", "FATAL", "error:", "panicked"]) {
        Role::Bad
    } else if has(&["WARN", "warning:"]) {
        Role::Warning
    } else {
        Role::Text
    }
}
