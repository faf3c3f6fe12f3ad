//! Text as a terminal shows it: graphemes, their width in cells, and what must never reach the screen.

use std::borrow::Cow;

use base::visible::{is_hidden, visible_line};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Cells from one tab stop to the next.
const TAB: usize = 4;

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

/// Whether a character must not be written to a terminal: it would be obeyed, it would turn what is read around,
/// or nobody would see it.
pub fn is_unsafe(c: char) -> bool {
    is_hidden(c)
}

/// A text of one row that is safe to show: tabs become blanks up to the next stop, and any other hidden character is
/// shown by its number, as `<U+202E>`.
pub fn clean(text: &str) -> Cow<'_, str> {
    let text = text.trim_end_matches('\r');
    if !text.contains('\t') {
        return visible_line(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, piece) in text.split('\t').enumerate() {
        if at > 0 {
            let blanks = TAB - width(&out) % TAB;
            out.extend(std::iter::repeat_n(' ', blanks));
        }
        out.push_str(&visible_line(piece));
    }
    Cow::Owned(out)
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
            ("\u{1b}[31mred\u{1b}[0m", "<U+001B>[31mred<U+001B>[0m"),
            ("a\u{1b}]0;title\u{7}b", "a<U+001B>]0;title<U+0007>b"),
            ("a\u{1b}]52;c;ZXZpbA==", "a<U+001B>]52;c;ZXZpbA=="),
            ("\u{9b}2Jx", "<U+009B>2Jx"),
            ("a\tb", "a   b"),
            ("one\rtwo\r", "one<U+000D>two"),
            ("bell\u{7}", "bell<U+0007>"),
            ("\u{202e}evil", "<U+202E>evil"),
            ("\u{1b}", "<U+001B>"),
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
