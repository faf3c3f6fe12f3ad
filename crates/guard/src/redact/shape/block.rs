//! Private keys in PEM: a line that begins them, base64, a line that ends them.

use std::ops::Range;

use super::Found;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";
const NAME: &str = "private key";
/// Longest name between the dashes.
const LABEL_BYTES: usize = 48;
/// Longest key that is looked for.
const KEY_BYTES: usize = 64 * 1024;
/// A line of a key is 64 or 76 characters long; a code that only names the dashes has nothing like it.
const LINE_CHARS: usize = 32;

/// The key that begins at `start`: what stands between its first and its last line, or up to where it is cut.
pub(super) fn begun(text: &str, start: usize) -> Option<Found> {
    let body = label_end(text, start + BEGIN.len())?;
    found(text, body, body + body_length(&text[body..]))
}

/// The key that ends at `start`, where its beginning was cut off.
pub(super) fn ended(text: &str, start: usize) -> Option<Found> {
    label_end(text, start + END.len())?;
    let window = &text[text.ceil_char_boundary(start.saturating_sub(KEY_BYTES))..start];
    let key = window.rfind(|c: char| !is_key_char(c) || c == '-').map_or(0, |at| at + 1);
    let key = window.ceil_char_boundary(key);
    found(text, start - window.len() + key, start)
}

/// The last key that begins before `at`: from its first line to where it ends, or may go on.
pub(in crate::redact) fn last_before(text: &str, at: usize) -> Option<Range<usize>> {
    let start = text[..at].rfind(BEGIN)?;
    let end = match label_end(text, start + BEGIN.len()) {
        Some(body) => body + body_length(&text[body..]),
        None => text.len().min(start + BEGIN.len() + LABEL_BYTES),
    };
    Some(start..end)
}

/// How far what follows a label can be a key: to the dashes, or to what no key has in it.
fn body_length(text: &str) -> usize {
    let window = &text[..text.floor_char_boundary(KEY_BYTES)];
    let dashes = window.find(DASHES).unwrap_or(window.len());
    window[..dashes].find(|c: char| !is_key_char(c)).unwrap_or(dashes)
}

/// The end of a label that says private key, dashes included.
fn label_end(text: &str, start: usize) -> Option<usize> {
    let window = &text[start..text.floor_char_boundary(start + LABEL_BYTES)];
    let (label, _) = window.split_once(DASHES)?;
    label.contains("PRIVATE KEY").then_some(start + label.len() + DASHES.len())
}

fn found(text: &str, start: usize, end: usize) -> Option<Found> {
    let body = &text[start..end];
    let longest = body.split(|c: char| !is_base64(c)).map(str::len).max().unwrap_or(0);
    if longest < LINE_CHARS {
        return None;
    }
    // The line breaks around it stay, also where they are written as `\n`.
    let is_break = |text: &str| text.starts_with("\\n") || text.starts_with("\\r");
    let mut first = start + body.len() - body.trim_start().len();
    while is_break(&text[first..end]) {
        first += 2;
    }
    let mut last = start + body.trim_end().len();
    while last >= first + 2 && is_break(&text[last - 2..last]) {
        last -= 2;
    }
    (first < last).then_some(Found { place: first..last, name: NAME })
}

/// What a key's lines and its headers are made of, also where line breaks are written as `\n`.
fn is_key_char(c: char) -> bool {
    is_base64(c) || c.is_ascii_whitespace() || matches!(c, '\\' | ':' | ',' | '-')
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')
}
