//! When two lines count as the same.

use std::borrow::Cow;

/// What two lines may differ in and still be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tolerance {
    /// Nothing.
    None,
    /// Blanks at their ends.
    Trailing,
    /// Blanks anywhere.
    Blanks,
    /// Blanks, and how quotes, dashes, spaces and wide letters are drawn.
    Typography,
}

/// What a line is compared by.
pub(crate) fn key(line: &[u8], tolerance: Tolerance) -> Cow<'_, [u8]> {
    match tolerance {
        Tolerance::None => Cow::Borrowed(line),
        Tolerance::Trailing => Cow::Borrowed(line.trim_ascii_end()),
        Tolerance::Blanks => narrow(line),
        Tolerance::Typography => match std::str::from_utf8(line) {
            Ok(text) if !text.is_ascii() => {
                let mut plain = String::with_capacity(text.len());
                text.chars().for_each(|letter| type_plainly(letter, &mut plain));
                Cow::Owned(narrow(plain.as_bytes()).into_owned())
            }
            Ok(_) | Err(_) => narrow(line),
        },
    }
}

/// Without blanks at the ends, and with one space for each run of blanks inside.
fn narrow(line: &[u8]) -> Cow<'_, [u8]> {
    let line = line.trim_ascii();
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let wide = |pair: &[u8]| pair.iter().all(blank) || pair.contains(&b'\t');
    if !line.windows(2).any(wide) {
        return Cow::Borrowed(line);
    }
    let mut out = Vec::with_capacity(line.len());
    for word in line.split(blank).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(b' ');
        }
        out.extend_from_slice(word);
    }
    Cow::Owned(out)
}

/// A letter as a keyboard would give it: what models write where a file has something finer.
fn type_plainly(letter: char, out: &mut String) {
    let text = match letter {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{00b4}' => "'",
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{00ab}' | '\u{00bb}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => "-",
        '\u{00a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => " ",
        '\u{200b}' | '\u{2060}' | '\u{feff}' => "",
        '\u{2026}' => "...",
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        // Full-width forms lie in the order of ASCII.
        '\u{ff01}'..='\u{ff5e}' => {
            out.extend(char::from_u32(u32::from(letter) - 0xff01 + 0x21));
            return;
        }
        _ => {
            out.push(letter);
            return;
        }
    };
    out.push_str(text);
}
