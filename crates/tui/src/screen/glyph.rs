//! How far terminals agree about a glyph's width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How far the cursor's place is known after a glyph was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// All terminals agree.
    Full,
    /// It is known while more of the same kind follow: lines and blocks, which come in long runs. A jump after
    /// each would cost more than it is worth; one after the run is made.
    InRuns,
    /// Terminals disagree: the cursor is placed anew before anything else is written.
    None,
}

/// How far terminals agree about a glyph's width.
pub(super) fn trust(glyph: &str) -> Trust {
    let mut chars = glyph.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => match c {
            '\u{2500}'..='\u{259F}' => Trust::InRuns,
            // Punctuation and symbols that are wide in some fonts and settings; letters whose width is
            // "ambiguous" as well are left out, or each of a Greek or Russian text would cost a jump.
            '\u{2010}'..='\u{2BFF}' if c.width() != c.width_cjk() => Trust::None,
            '\u{2300}'..='\u{23FF}' | '\u{2600}'..='\u{27BF}' | '\u{2B00}'..='\u{2BFF}' => {
                Trust::None
            }
            '\u{E000}'..='\u{F8FF}' | '\u{1F000}'.. => Trust::None,
            _ => Trust::Full,
        },
        _ => Trust::None,
    }
}

/// Cells that a terminal may write on when it is given a glyph: one that knows no clusters shows each of their
/// parts.
pub(super) fn reach(glyph: &str, wide: usize) -> usize {
    if glyph.len() == 1 {
        return wide;
    }
    let parts: usize = glyph.chars().map(|c| c.width().unwrap_or(0)).sum();
    parts.max(glyph.width()).max(wide)
}

/// The part of a glyph that stays within so many cells in any terminal: at a row's end the parts of a cluster
/// might be shown in the next row.
pub(super) fn within(glyph: &str, cells: usize) -> &str {
    let first = glyph.chars().next().map_or(0, char::len_utf8);
    if reach(glyph, 0) <= cells { glyph } else { &glyph[..first] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_terminals_agree_about_is_trusted() {
        for (glyph, expected) in [
            ("a", Trust::Full),
            ("ж", Trust::Full),
            ("日", Trust::Full),
            ("─", Trust::InRuns),
            ("●", Trust::None),
            ("…", Trust::None),
            ("👍", Trust::None),
            ("e\u{301}", Trust::None),
            ("👩‍👩‍👧", Trust::None),
        ] {
            assert_eq!(trust(glyph), expected, "{glyph}");
        }
        assert_eq!(reach("👩‍👩‍👧", 2), 6);
    }
}
