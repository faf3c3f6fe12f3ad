//! Characters that a reader cannot see, or that change how other text is read, shown as such.
//!
//! Models, tools, web pages, servers and file names may hold escape sequences, bidirectional overrides and invisible
//! letters. Everything that is shown to a person goes through this module: `<U+202E>` stands for the character.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Joins emoji into one; anywhere else it is only invisible.
const JOINER: char = '\u{200D}';

/// Whether a character must not reach a reader as it is: a terminal obeys it, it turns the direction of other text, or
/// nothing is seen of it. Line breaks and tabs are among them; joiners inside emoji are not (see [`visible`]).
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}' | '\u{200C}' | '\u{200E}' | '\u{200F}'
            | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
            | '\u{FE00}'..='\u{FE0D}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// The text with every hidden character shown as `<U+202E>`. Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| needs_care(c) && !matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(escaped(text, None, |c, next| {
        matches!(c, '\n' | '\t') || c == '\r' && next == Some('\n')
    }))
}

/// The same for text that must stay in one line: line breaks and tabs are shown, too.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(needs_care) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(escaped(text, None, |_, _| false))
}

/// The text with only those characters shown that turn the direction of other text, for output that must keep every
/// other byte: with them, source code reads differently from what a compiler sees.
pub fn visible_direction(text: &str) -> Cow<'_, str> {
    let turns = |c: char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    if !text.contains(turns) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if turns(c) {
            let _fits = write!(out, "<U+{:04X}>", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// JSON in which hidden characters are `\u202e` escapes. A parser reads the same values.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    // Those below U+0020 are layout here; inside strings JSON has them escaped already.
    let is_odd = |c: char| !c.is_ascii_control() && needs_care(c) || c == '\u{7F}';
    if !json.contains(is_odd) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_odd(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _fits = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Text that arrives in pieces, each made [`visible`].
#[derive(Debug, Clone, Default)]
pub struct VisibleStream {
    last: Option<char>,
    /// A character at the end of a piece that means something only with the next one.
    held: Option<char>,
}

impl VisibleStream {
    /// The next piece, as it is shown.
    pub fn push(&mut self, piece: &str) -> String {
        let mut text: String = self.held.take().into_iter().chain(piece.chars()).collect();
        if text.ends_with([JOINER, '\r']) {
            self.held = text.pop();
        }
        self.shown(&text)
    }

    /// What was held back for a next piece that does not come.
    pub fn finish(&mut self) -> String {
        let text: String = self.held.take().into_iter().collect();
        let shown = self.shown(&text);
        self.last = None;
        shown
    }

    fn shown(&mut self, text: &str) -> String {
        let keeps = |c, next| matches!(c, '\n' | '\t') || c == '\r' && next == Some('\n');
        let shown = escaped(text, self.last, keeps);
        self.last = text.chars().next_back().or(self.last);
        shown
    }
}

/// Whether a character is hidden, at least in some places.
fn needs_care(c: char) -> bool {
    is_hidden(c) || matches!(c, JOINER | '\u{FE0E}' | '\u{FE0F}')
}

fn escaped(text: &str, before: Option<char>, keeps: impl Fn(char, Option<char>) -> bool) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut last = before;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let is_shown = match c {
            JOINER => !(last.is_some_and(ends_emoji) && next.is_some_and(is_emoji)),
            // Whether the character before is drawn as text or as a picture.
            '\u{FE0E}' | '\u{FE0F}' => {
                !last.is_some_and(|last| is_emoji(last) || matches!(last, '0'..='9' | '#' | '*'))
            }
            c => is_hidden(c) && !keeps(c, next),
        };
        if is_shown {
            let _fits = write!(out, "<U+{:04X}>", u32::from(c));
        } else {
            out.push(c);
        }
        last = Some(c);
    }
    out
}

fn ends_emoji(c: char) -> bool {
    is_emoji(c) || c == '\u{FE0F}'
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}'
        | '\u{1F000}'..='\u{1FAFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown_by_their_number() {
        for (text, shown) in [
            ("plain ünï 日本", "plain ünï 日本"),
            ("a\u{202e}b", "a<U+202E>b"),
            ("\u{1b}[31mred", "<U+001B>[31mred"),
            ("a\u{200b}\u{200f}\u{61c}\u{feff}", "a<U+200B><U+200F><U+061C><U+FEFF>"),
            ("rm\u{200d}x", "rm<U+200D>x"),
            ("x\u{fe0f}", "x<U+FE0F>"),
            ("tag\u{e0041}", "tag<U+E0041>"),
            ("one\rtwo\r\nthree\tfour", "one<U+000D>two\r\nthree\tfour"),
            (
                "👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
                "👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
            ),
        ] {
            assert_eq!(visible(text), shown, "{text:?}");
            assert_eq!(visible(&visible(text)), shown, "{text:?}");
        }
        assert_eq!(visible_line("a\nb\tc"), "a<U+000A>b<U+0009>c");
    }

    #[test]
    fn every_bidirectional_and_zero_width_character_is_shown() {
        let ranges = ['\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}', '\u{200b}'..='\u{200f}'];
        let more = ['\u{61c}', '\u{feff}', '\u{7f}', '\u{9b}', '\u{0}', '\u{7}', '\u{2028}'];
        for c in ranges.into_iter().flatten().chain(more) {
            let text = format!("a{c}b");
            assert_eq!(visible(&text), format!("a<U+{:04X}>b", u32::from(c)));
        }
    }

    #[test]
    fn json_keeps_its_meaning() {
        let value = serde_json::json!({ "a\u{202e}": "x\u{200d}\u{feff}\u{e0041}\n\u{1b}\u{7f}é" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let safe = visible_json(&text);
        assert!(!safe.contains(|c: char| needs_care(c) && c != '\n'), "{safe}");
        assert!(safe.contains("\\u202e"), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }

    #[test]
    fn text_in_pieces_is_shown_like_text_in_one() {
        let text = "👩\u{200d}👧\r\nx\u{200d}\ry\u{202e}z\u{200d}";
        let mut stream = VisibleStream::default();
        let mut shown = String::new();
        for c in text.chars() {
            shown += &stream.push(&c.to_string());
        }
        shown += &stream.finish();
        assert_eq!(shown, visible(text));
    }
}
