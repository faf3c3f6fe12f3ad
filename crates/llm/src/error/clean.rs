//! What a person may see of a provider's words.

/// A provider's explanation is cut after so many characters; the longest useful ones have ~600.
const LIMIT_CHARS: usize = 1_000;

/// How keys begin. What follows them is hidden, since some providers repeat the key they refuse.
const KEY_STARTS: &[&str] = &[
    "sk-",
    "sk_",
    "rk-",
    "pk-",
    "AIza",
    "gsk_",
    "xai-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "hf_",
    "AKIA",
    "ASIA",
    "eyJ",
    "csk-",
    "pplx-",
    "nvapi-",
    "fw_",
    "tgp_",
    "r8_",
    "ya29.",
];

/// A key has at least so many characters after its beginning, or stars in their place.
const KEY_CHARS: usize = 8;

/// One bounded line: no control characters, no keys.
pub(super) fn message(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(LIMIT_CHARS * 4));
    let mut written = 0;
    for word in text.split_whitespace() {
        if written > 0 {
            line.push(' ');
        }
        let visible: String = word.chars().filter(|c| !is_hidden(*c)).collect();
        line.push_str(&without_keys(&visible));
        written += visible.chars().count() + 1;
        if written > LIMIT_CHARS {
            break;
        }
    }
    match line.char_indices().nth(LIMIT_CHARS) {
        Some((end, _)) => {
            line.truncate(end);
            line.push('…');
            line
        }
        None => line,
    }
}

/// Control characters, and those that turn the direction of what follows.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn without_keys(word: &str) -> String {
    let mut shown = String::with_capacity(word.len());
    let mut rest = word;
    while !rest.is_empty() {
        let at_word_start = !shown.ends_with(|c: char| c.is_alphanumeric());
        let start = KEY_STARTS.iter().find(|start| at_word_start && rest.starts_with(**start));
        let secret = start.map_or(0, |start| {
            rest[start.len()..].bytes().take_while(|byte| is_key_byte(*byte)).count()
        });
        match start {
            Some(start) if secret >= KEY_CHARS => {
                shown.push_str(start);
                shown.push_str("••••");
                rest = &rest[start.len() + secret..];
            }
            Some(_) | None => {
                let mut chars = rest.chars();
                shown.extend(chars.next());
                rest = chars.as_str();
            }
        }
    }
    shown
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'*')
}
