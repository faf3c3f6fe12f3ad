//! Text as a terminal shows it: graphemes, their width in cells, and what must never reach the screen.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Cells from one tab stop to the next.
const TAB: usize = 4;

/// What stands for a character that a terminal would obey instead of show.
pub const HIDDEN: &str = "\u{FFFD}";

/// Graphemes of a text: what a reader counts as one character.
pub fn graphemes(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.graphemes(true)
}

/// Cells a grapheme takes: 1 or 2, or 0 for one that has no width of its own.
pub fn grapheme_width(grapheme: &str) -> usize {
    match grapheme.as_bytes() {
        [byte] => usize::from((0x20..0x7f).contains(byte)),
        _ => grapheme.width().min(2),
    }
}

/// Cells a text takes in one row.
pub fn width(text: &str) -> usize {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return text.len();
    }
    graphemes(text).map(grapheme_width).sum()
}

/// Whether a character must not be written to a terminal: it would be obeyed, or it would turn what is read
/// around, as bidirectional overrides do.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}' | '\u{2028}' | '\u{2029}')
}

/// A text of one row that is safe to show: escape sequences are taken out whole, tabs become blanks up to
/// the next stop, and any other character that a terminal would obey becomes a replacement mark.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '\u{1b}' || c == '\u{9b}' || c == '\u{9d}' || c == '\u{90}' {
            rest = &rest[sequence_length(rest)..];
            continue;
        }
        match c {
            '\t' => {
                let blanks = TAB - width(&out) % TAB;
                out.extend(std::iter::repeat_n(' ', blanks));
            }
            '\r' => {}
            c if is_unsafe(c) => out.push_str(HIDDEN),
            c => out.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    Cow::Owned(out)
}

/// Bytes of the escape sequence a text begins with; an unfinished one ends with the text.
fn sequence_length(text: &str) -> usize {
    let mut chars = text.char_indices();
    let kind = match chars.next().map(|(_, c)| c) {
        Some('\u{9b}') => '[',
        Some('\u{9d}') => ']',
        Some('\u{90}') => 'P',
        Some(_) => match chars.next() {
            Some((_, c)) => c,
            None => return text.len(),
        },
        None => return 0,
    };
    let end_of =
        |found: Option<(usize, char)>| found.map_or(text.len(), |(at, c)| at + c.len_utf8());
    match kind {
        '[' => end_of(chars.find(|(_, c)| ('\u{40}'..='\u{7e}').contains(c))),
        ']' | 'P' | 'X' | '^' | '_' => {
            let mut escaped = false;
            end_of(chars.find(|&(_, c)| {
                let ends = c == '\u{7}' || c == '\u{9c}' || (escaped && c == '\\');
                escaped = c == '\u{1b}';
                ends
            }))
        }
        ' '..='/' => end_of(chars.find(|(_, c)| !(' '..='/').contains(c))),
        _ => end_of(Some((kind_at(text), kind))),
    }
}

/// Where the second character of a two-character sequence stands.
fn kind_at(text: &str) -> usize {
    text.char_indices().nth(1).map_or(0, |(at, _)| at)
}

/// The longest beginning of a text that fits into `cells`, and the cells it takes.
pub fn fit(text: &str, cells: usize) -> (&str, usize) {
    let (mut end, mut used) = (0, 0);
    for grapheme in graphemes(text) {
        let wide = grapheme_width(grapheme);
        if used + wide > cells {
            break;
        }
        used += wide;
        end += grapheme.len();
    }
    (&text[..end], used)
}

/// A text cut to `cells`, with an ellipsis where something was cut.
pub fn ellipsis(text: &str, cells: usize) -> Cow<'_, str> {
    if width(text) <= cells {
        return Cow::Borrowed(text);
    }
    if cells == 0 {
        return Cow::Borrowed("");
    }
    let (head, _) = fit(text, cells - 1);
    Cow::Owned(format!("{head}…"))
}

/// A folder as a shell's prompt shows it.
pub(crate) fn below_home(folder: &str, home: &str) -> String {
    let home = home.trim_end_matches('/');
    match folder.strip_prefix(home).filter(|_| !home.is_empty()) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        Some(_) | None => folder.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn widths_are_those_of_a_terminal() {
        for (text, cells) in
            [("abc", 3), ("日本", 4), ("e\u{301}", 1), ("👩‍👩‍👧", 2), ("", 0), ("ﷺ", 1)]
        {
            assert_eq!(width(text), cells, "{text}");
        }
    }

    #[test]
    fn nothing_a_terminal_would_obey_is_left() {
        let table = [
            ("plain", "plain"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("a\u{1b}]0;title\u{7}b", "ab"),
            ("a\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "alink"),
            ("a\u{1b}]52;c;ZXZpbA==", "a"),
            ("\u{9b}2Jx", "x"),
            ("a\tb", "a   b"),
            ("one\rtwo", "onetwo"),
            ("bell\u{7}", "bell\u{FFFD}"),
            ("\u{202e}evil", "\u{FFFD}evil"),
            ("\u{1b}(Bx", "x"),
            ("\u{1b}", ""),
            ("\u{1b}c!", "!"),
        ];
        for (dirty, safe) in table {
            assert_eq!(clean(dirty), safe, "{dirty:?}");
        }
    }

    proptest! {
        #[test]
        fn cleaned_text_is_safe_and_stays_so(text in "\\PC*|[\\x00-\\x7f\u{80}-\u{9f}\u{202e}a-z]*") {
            let once = clean(&text).into_owned();
            prop_assert!(!once.chars().any(is_unsafe));
            prop_assert_eq!(clean(&once).into_owned(), once);
        }

        #[test]
        fn what_fits_fits(text in "\\PC*", cells in 0usize..40) {
            let (head, used) = fit(&text, cells);
            prop_assert!(used <= cells);
            prop_assert_eq!(width(head), used);
            prop_assert!(width(&ellipsis(&text, cells)) <= cells);
        }
    }
}
