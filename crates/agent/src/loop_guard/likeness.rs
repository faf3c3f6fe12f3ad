//! When two calls or two outcomes count as the same: blanks, the order of keys, and what a clock or an
//! allocator puts into an output make no difference. Any other number does: a count that moves is progress.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value};

/// Units that make a number a duration.
const UNITS: [&str; 17] = [
    "ns", "us", "µs", "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute",
    "minutes", "h", "hour", "hours",
];

/// The same for calls that ask for the same.
pub(super) fn call_mark(name: &str, input: &Map<String, Value>) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hash_object(input, &mut hasher);
    hasher.finish()
}

/// The same for outcomes that say the same.
pub(super) fn outcome_mark(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    for word in timeless(text) {
        word.hash(&mut hasher);
    }
    hasher.finish()
}

fn hash_object(object: &Map<String, Value>, hasher: &mut DefaultHasher) {
    let mut keys: Vec<&String> = object.keys().collect();
    keys.sort();
    for key in keys {
        // What a call is for, in the model's words, is not what it does.
        if key == "description" {
            continue;
        }
        key.hash(hasher);
        hash_value(&object[key], hasher);
    }
}

fn hash_value(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Object(object) => hash_object(object, hasher),
        Value::Array(items) => items.iter().for_each(|item| hash_value(item, hasher)),
        Value::String(text) => text.split_whitespace().for_each(|word| word.hash(hasher)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string().hash(hasher),
    }
}

/// The words of a text without durations, times of day, dates and addresses of memory.
fn timeless(text: &str) -> impl Iterator<Item = &str> {
    let mut words = text.split_whitespace().peekable();
    std::iter::from_fn(move || {
        let word = words.next()?;
        if is_volatile(word) {
            return Some("");
        }
        // `0.53 s` is one duration in two words.
        if is_number(bare(word)) && words.peek().is_some_and(|next| UNITS.contains(&bare(next))) {
            words.next();
            return Some("");
        }
        Some(word)
    })
}

fn is_volatile(word: &str) -> bool {
    let word = bare(word);
    is_duration(word) || is_clock(word) || is_address(word)
}

/// The word without the marks of a sentence around it; `elapsed=3s` is `3s`.
fn bare(word: &str) -> &str {
    let word = word.rsplit_once('=').map_or(word, |(_, value)| value);
    word.trim_matches(|c: char| "()[]{},;:\"'`".contains(c)).trim_end_matches('.')
}

fn is_number(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b',')
}

/// `12ms`, `0.53s`, `1m12s`.
fn is_duration(word: &str) -> bool {
    let mut rest = word;
    while !rest.is_empty() {
        let digits =
            rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let unit = rest[digits..].find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len() - digits);
        if digits == 0 || !UNITS.contains(&&rest[digits..digits + unit]) {
            return false;
        }
        rest = &rest[digits + unit..];
    }
    !word.is_empty()
}

/// `12:30`, `12:30:59.123`, `2026-11-16`, `2026-11-16T12:30:59Z`. A line number such as `main.rs:12:30` is
/// none.
fn is_clock(word: &str) -> bool {
    let made_of = |extra: &str| word.chars().all(|c| c.is_ascii_digit() || extra.contains(c));
    let count = |mark: char| word.matches(mark).count();
    let starts = word.bytes().take(2).filter(u8::is_ascii_digit).count() == 2;
    let is_time = starts && (1..=2).contains(&count(':')) && word.len() >= 5 && made_of(":.,");
    let is_date = starts && word.len() >= 10 && count('-') >= 2 && made_of("-:.+TZ");
    is_time || is_date
}

/// `0x7f3a…`.
fn is_address(word: &str) -> bool {
    let hex = word.strip_prefix("0x").unwrap_or_default();
    hex.len() >= 6 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("not an object") };
        object
    }

    #[test]
    fn order_blanks_and_descriptions_make_no_other_call() {
        let mark = |value: Value| call_mark("bash", &object(value));
        let one = mark(json!({ "command": "cargo  test\n", "timeout": 5 }));
        let other = json!({ "timeout": 5, "description": "Run it", "command": "cargo test" });
        assert_eq!(one, mark(other));
        assert_ne!(one, mark(json!({ "command": "cargo test", "timeout": 6 })));
        assert_ne!(one, mark(json!({ "command": "cargo build", "timeout": 5 })));
    }

    #[test]
    fn clocks_make_no_other_outcome_and_counts_do() {
        for (one, other) in [
            ("finished in 0.53s", "finished in 12.01s"),
            ("finished in 0.53 s.", "finished in 1.00 s."),
            ("took (12ms)", "took (900ms)"),
            ("1m12s elapsed", "59s elapsed"),
            ("[12:30:59] error", "[12:31:07] error"),
            ("at 2026-11-16T12:30:59Z: no", "at 2026-11-17T00:00:00Z: no"),
            ("panicked at 0x7f3a12345678", "panicked at 0x55aa00112233"),
            ("elapsed=3s state=running", "elapsed=19s state=running"),
        ] {
            assert_eq!(outcome_mark(one), outcome_mark(other), "{one} | {other}");
        }
        for (one, other) in [
            ("3 passed; 2 failed", "4 passed; 1 failed"),
            ("10% done", "20% done"),
            ("downloaded 10 MB", "downloaded 12 MB"),
            ("src/main.rs:12:30", "src/main.rs:13:30"),
            ("line 12", "line 13"),
            ("exit code 1", "exit code 2"),
        ] {
            assert_ne!(outcome_mark(one), outcome_mark(other), "{one} | {other}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn any_text_is_read_to_its_end(text in "([0-9.:smhx=µ \\n-]|\\PC){0,80}") {
            prop_assert_eq!(outcome_mark(&text), outcome_mark(&format!(" {text}\n")));
        }
    }
}
