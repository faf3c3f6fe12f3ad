//! Values that are secrets because of where they come from.

use base::{Env, Secret};
use regex::RegexBuilder;

use super::{Known, random};
use crate::process::is_secret_name;

/// What a known value is called where its shape says nothing.
pub(super) const NAME: &str = "secret";

/// Shorter values are found in too much that is none.
const SHORTEST_CHARS: usize = 8;
/// Longer values are no secrets but documents; the shapes find what matters in them.
const LONGEST_CHARS: usize = 8_192;

/// Everything that is masked wherever it stands; none if there is nothing.
pub(super) fn collect(env: &Env, secrets: impl IntoIterator<Item = Secret>) -> Option<Known> {
    let given = secrets.into_iter().map(|secret| secret.expose().trim().to_owned());
    let mut values: Vec<String> = given.filter(|value| is_no_plain_word(value)).collect();
    let variables = env.iter().filter(|(name, _)| is_secret_name(name));
    let variables =
        variables.map(|(_, value)| value.trim()).filter(|value| is_worth_masking(value));
    values.extend(variables.map(str::to_owned));
    let escaped: Vec<String> = values.iter().filter_map(|value| as_json(value)).collect();
    values.extend(escaped);
    // Where one value begins another, the longer one must win.
    values.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    values.dedup();
    if values.is_empty() {
        return None;
    }
    let spaced = values.iter().filter(|value| value.contains(char::is_whitespace));
    let longest_spaced = spaced.map(String::len).max().unwrap_or(0);
    let patterns: Vec<String> = values.iter().map(|value| regex::escape(value)).collect();
    let built = RegexBuilder::new(&patterns.join("|")).size_limit(256 * 1024 * 1024).build();
    match built {
        Ok(values) => Some(Known { values, longest_spaced }),
        Err(error) => unreachable!("escaped text is a pattern: {error}"),
    }
}

/// Whether a value that is known to be a secret can be masked at all: local models take any word for a key.
fn is_no_plain_word(value: &str) -> bool {
    let chars = value.chars().count();
    let is_word = value.chars().all(char::is_alphabetic) && chars < 24;
    (SHORTEST_CHARS..=LONGEST_CHARS).contains(&chars) && !is_word
}

/// Whether a variable's value can be told from ordinary text: masking `postgres` or `/run/secrets/key` everywhere
/// would hide what is no secret.
fn is_worth_masking(value: &str) -> bool {
    let chars = value.chars().count();
    if !(SHORTEST_CHARS..=LONGEST_CHARS).contains(&chars) {
        return false;
    }
    let is_path = value.starts_with(['/', '~', '.']) || value.get(1..3) == Some(":\\");
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && chars < 16;
    let is_address = value.contains("://") && !value.contains('@');
    // A passphrase is made of words too, but it is long.
    let is_words = random::is_wordy(value) && !has_digit_inside(value) && chars < 24;
    let distinct = random::distinct(value);
    !(is_path || is_number || is_address || is_words) && distinct >= 5
}

/// Whether a digit stands between letters, as it does in `hunter2x` and not in `version-2`.
fn has_digit_inside(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.windows(2).any(|pair| pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit())
}

/// The value as it stands in a JSON text, if that differs.
fn as_json(value: &str) -> Option<String> {
    let quoted = serde_json::to_string(value).ok()?;
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    (inner != value).then(|| inner.to_owned())
}
