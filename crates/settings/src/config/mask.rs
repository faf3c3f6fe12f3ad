//! What may be shown of a setting.
//!
//! Keys are masked by their type. Where keys are free (headers, variables, request fields) the name
//! tells, and in any other text whatever looks like a credential: a URL's user part, what follows
//! `Bearer` or `--token`, the well-known beginnings of keys. A bare `$VAR` is shown: it is no secret.

use std::borrow::Cow;

use serde_json::Value;

use super::expand::program_of;
use super::shape::Shape;
use super::tree::{Kind, Node};
use base::secret::mask;

/// Parts of a name that make its value a secret.
const SECRET_WORDS: [&str; 13] = [
    "APIKEY",
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "AUTH",
    "COOKIE",
    "CREDENTIAL",
    "BEARER",
    "SIGNATURE",
    "PRIVATE",
];
/// What the keys of well-known services begin with.
const SECRET_PREFIXES: [&str; 18] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "gsk_",
    "eyJ",
];
/// Shortest text with such a beginning that is taken for a key.
const KEY_LENGTH: usize = 12;

/// Most characters shown of a text. The search looks ahead at every `://`, so its cost grows with
/// the square of the length: a stranger's file must not make it long.
const SHOWN_LIMIT: usize = 1000;

/// Whether a value's surroundings say that it is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exposure {
    Plain,
    Secret,
}

impl Exposure {
    /// What a key's name says.
    pub(super) fn of_key(key: &str) -> Self {
        if is_secret_name(key) { Self::Secret } else { Self::Plain }
    }

    /// What holds for the value under `key`. Keys we have a type for speak for themselves.
    pub(super) fn below(self, shape: Option<Shape>, key: &str) -> Self {
        if shape.is_some_and(|shape| shape.property(key).is_some()) {
            return Self::Plain;
        }
        match self {
            Self::Secret => Self::Secret,
            Self::Plain => Self::of_key(key),
        }
    }
}

/// Whether a variable, header or field of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect();
    // `AUTHOR` is a person, `AUTHORIZATION` is not.
    let plain = plain.replace("AUTHORIZATION", "AUTH").replace("AUTHOR", "");
    SECRET_WORDS.iter().any(|word| plain.contains(word))
}

/// The value as it may be shown.
pub(super) fn shown(node: &Node, shape: Option<Shape>, exposure: Exposure) -> Value {
    let is_secret = exposure == Exposure::Secret || shape.is_some_and(Shape::is_secret);
    match &node.kind {
        Kind::Text(text) if is_secret => Value::String(secret(text)),
        Kind::Text(text) => Value::String(scrubbed(text)),
        Kind::Number(number) if is_secret && !number.is_u64() => Value::from("••••"),
        Kind::Null | Kind::Flag(_) | Kind::Number(_) => node.to_value(),
        Kind::List(items) => Value::Array(list(items, shape, exposure)),
        Kind::Table(entries) => {
            let pairs = entries.iter().map(|(key, inner)| {
                let below = exposure.below(shape, key);
                (key.clone(), shown(inner, shape.and_then(|shape| shape.child(key)), below))
            });
            Value::Object(pairs.collect())
        }
    }
}

/// In a list of arguments, what follows `--token` is one.
fn list(items: &[Node], shape: Option<Shape>, exposure: Exposure) -> Vec<Value> {
    let inner = shape.and_then(Shape::items);
    let mut exposed = exposure;
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        values.push(shown(item, inner, exposed));
        let announces = item.text().is_some_and(|text| {
            text.starts_with('-') && !text.contains('=') && is_secret_name(text)
        });
        exposed = if announces { Exposure::Secret } else { exposure };
    }
    values
}

/// What may be shown of a secret as written in a file.
fn secret(text: &str) -> String {
    if text.is_empty() || is_reference(text) {
        return text.to_owned();
    }
    if let Some(line) = text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')) {
        return format!("$({} …)", program_of(line));
    }
    mask(text)
}

/// Whether the text is a variable and nothing else.
fn is_reference(text: &str) -> bool {
    let braced = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    braced.or_else(|| text.strip_prefix('$')).is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The text without what looks like a credential in it, cut where nobody would read on.
pub fn scrubbed(text: &str) -> String {
    if let Some((end, _)) = text.char_indices().nth(SHOWN_LIMIT) {
        return scrubbed(&text[..end]) + "…";
    }
    let text = without_user_part(text);
    let mut shown = String::with_capacity(text.len());
    let mut after_name = false;
    for piece in text.split_inclusive(is_separator) {
        let word = piece.trim_end_matches(is_separator);
        let separators = &piece[word.len()..];
        let (masked, names_one) = scrubbed_word(word, after_name);
        shown.push_str(&masked);
        shown.push_str(separators);
        if !word.is_empty() {
            after_name = names_one;
        }
    }
    shown
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || "'\"`,;&?()|<>".contains(c)
}

/// A word as it may be shown, and whether it announces that the next one is a secret.
fn scrubbed_word(word: &str, is_announced: bool) -> (Cow<'_, str>, bool) {
    let scheme = ["bearer", "basic", "token"].iter().any(|it| word.eq_ignore_ascii_case(it));
    if scheme {
        return (word.into(), true);
    }
    if is_announced && !word.is_empty() {
        return (secret(word).into(), false);
    }
    if let Some((name, value)) = word.split_once(['=', ':'])
        && is_secret_name(name)
        && !value.starts_with("//")
    {
        if value.is_empty() {
            return (word.into(), true);
        }
        return (format!("{}{}", &word[..=name.len()], secret(value)).into(), false);
    }
    let key = SECRET_PREFIXES.iter().filter_map(|prefix| word.find(prefix)).min();
    if let Some(start) = key.filter(|start| word.len() - start >= KEY_LENGTH) {
        return (format!("{}{}", &word[..start], mask(&word[start..])).into(), false);
    }
    (word.into(), word.starts_with('-') && is_secret_name(word))
}

/// The text with the user part of each URL in it masked.
fn without_user_part(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = rest.find("://") {
        let (before, after) = rest.split_at(found + 3);
        shown.push_str(before);
        let end = user_part(after);
        let is_shown = end == 0 || is_reference(&after[..end]);
        shown.push_str(if is_shown { &after[..end] } else { "••••" });
        rest = &after[end..];
    }
    shown.push_str(rest);
    shown
}

/// How long the user part at the start of an address is.
fn user_part(address: &str) -> usize {
    let is_end = |c: char| c.is_whitespace() || "'\"`".contains(c);
    let word = address.split(is_end).next().unwrap_or_default();
    let authority = word.split(['/', '?', '#']).next().unwrap_or_default();
    // A password may hold a slash that should have been escaped: then the first part looks like
    // `user:pass`, with no port's digits after the colon.
    let port = authority.split_once(':').map_or("", |(_, port)| port);
    let is_unescaped = !port.chars().all(|c| c.is_ascii_digit());
    if is_unescaped { word } else { authority }.rfind('@').unwrap_or(0)
}

#[cfg(test)]
mod tests;
