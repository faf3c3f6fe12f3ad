//! Letters that are written by name or number.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use dom_query::Document;

/// Longest name of a letter.
const NAME_LIMIT: usize = 32;
/// Names that are remembered; there are about two thousand, and a page can make up any number.
const KNOWN_LIMIT: usize = 4_000;

/// The names that pages really use; others are looked up the slow way.
const COMMON: [(&str, &str); 40] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("hellip", "…"),
    ("mdash", "—"),
    ("ndash", "–"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("sbquo", "‚"),
    ("bdquo", "„"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("bull", "•"),
    ("middot", "·"),
    ("times", "×"),
    ("deg", "°"),
    ("euro", "€"),
    ("pound", "£"),
    ("larr", "←"),
    ("rarr", "→"),
    ("uarr", "↑"),
    ("darr", "↓"),
    ("le", "≤"),
    ("ge", "≥"),
    ("ne", "≠"),
    ("para", "¶"),
    ("sect", "§"),
    ("shy", ""),
    ("zwnj", ""),
    ("zwj", ""),
    ("ensp", " "),
    ("thinsp", " "),
];

/// A text with its letters put in.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'&', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(&rest[..at]);
        rest = one(&rest[at..], &mut out);
        next = memchr::memchr(b'&', rest.as_bytes());
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Writes what stands at the start of `text`, an `&`, and returns what follows it.
fn one<'t>(text: &'t str, out: &mut String) -> &'t str {
    let body = &text[1..];
    let length = body.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'#');
    let length = length.unwrap_or(body.len());
    let (name, after) = body.split_at(length);
    let rest = after.strip_prefix(';').unwrap_or(after);
    if let Some(letter) = name.strip_prefix('#').and_then(numbered) {
        out.push(letter);
        return rest;
    }
    if let Some((_, letters)) = COMMON.iter().find(|(common, _)| *common == name) {
        out.push_str(letters);
        return rest;
    }
    if !name.is_empty() && length <= NAME_LIMIT && after.starts_with(';') {
        out.push_str(&looked_up(name));
        return rest;
    }
    out.push('&');
    body
}

thread_local! {
    static KNOWN: RefCell<HashMap<String, String>> = RefCell::default();
}

/// What a parser makes of a name; asked once a name, for it takes a thousand times as long as the rest.
fn looked_up(name: &str) -> String {
    KNOWN.with_borrow_mut(|known| {
        if let Some(letters) = known.get(name) {
            return letters.clone();
        }
        let written = format!("&{name};");
        if known.len() >= KNOWN_LIMIT {
            return written;
        }
        let letters = Document::fragment(written).text().to_string();
        known.insert(name.to_owned(), letters.clone());
        letters
    })
}

fn numbered(digits: &str) -> Option<char> {
    let number = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    match number {
        160 => Some(' '),
        // What Windows wrote for quotes and dashes.
        145 | 146 => Some('\''),
        147 | 148 => Some('"'),
        150 => Some('–'),
        151 => Some('—'),
        0 => Some('\u{fffd}'),
        _ => Some(char::from_u32(number).unwrap_or('\u{fffd}')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_put_in_and_the_rest_stays() {
        for (text, read) in [
            ("a &amp; b &lt;c&gt;", "a & b <c>"),
            ("&#65;&#x42;&#X43;&#8364", "ABC€"),
            ("&eacute;&Omega;&nbsp;x", "éΩ x"),
            ("a=1&b=2&copy=3", "a=1&b=2©=3"),
            ("AT&T & co &unknown; &;&#;&#xfffffff;", "AT&T & co &unknown; &;&#;\u{fffd}"),
            ("&#0;&#147;q&#148;", "\u{fffd}\"q\""),
        ] {
            assert_eq!(decoded(text), read);
        }
    }
}
