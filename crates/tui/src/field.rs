//! A text of one line that is being written: a search, a key, a rule, a note.

use crate::canvas::{Canvas, Point, Rect};
use crate::key::{Code, Key, Mods};
use crate::style::Style;
use crate::text;

/// Longest text a field takes, in bytes: keys and rules are shorter, and a paste by mistake stays harmless.
const MOST_BYTES: usize = 16 * 1024;

/// Whether what is written can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shown {
    /// It can.
    #[default]
    Plain,
    /// Each character is a dot.
    Masked,
}

/// What a field did with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrote {
    /// The text is another.
    Changed,
    /// Only the caret moved, or nothing could be done.
    Moved,
    /// The field has no use for the key.
    Ignored,
}

/// A text of one line that is being written.
#[derive(Clone, Default)]
pub struct Field {
    text: String,
    /// A byte offset, always between graphemes.
    caret: usize,
    shown: Shown,
}

/// A key that is being entered must not get into a log.
impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match self.shown {
            Shown::Plain => self.text.as_str(),
            Shown::Masked => "••••",
        };
        f.debug_struct("Field").field("text", &text).field("caret", &self.caret).finish()
    }
}

impl Field {
    /// A field with a text, the caret at its end.
    pub fn new(text: &str) -> Self {
        let mut field = Self::default();
        field.insert(text);
        field
    }

    /// An empty field that hides what is written.
    pub fn masked() -> Self {
        Self { shown: Shown::Masked, ..Self::default() }
    }

    /// What is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Takes away what is written.
    pub fn clear(&mut self) {
        self.text.clear();
        self.caret = 0;
    }

    /// Puts a text in at the caret, in one line; what a terminal would obey is left out.
    pub fn insert(&mut self, text: &str) {
        let room = MOST_BYTES.saturating_sub(self.text.len());
        let flat = text.trim_matches(['\n', '\r']).replace(['\n', '\r', '\t'], " ");
        let mut safe: String = flat.chars().filter(|c| !text::is_unsafe(*c)).collect();
        safe.truncate(
            text::graphemes(&safe)
                .scan(0, |end, grapheme| {
                    *end += grapheme.len();
                    Some(*end)
                })
                .take_while(|end| *end <= room)
                .last()
                .unwrap_or(0),
        );
        self.text.insert_str(self.caret, &safe);
        self.caret += safe.len();
        self.settle();
    }

    /// A key that edits.
    pub fn key(&mut self, key: Key) -> Wrote {
        if let Some(c) = key.typed() {
            self.insert(c.encode_utf8(&mut [0; 4]));
            return Wrote::Changed;
        }
        let before = (self.text.len(), self.caret);
        match key {
            Key { code: Code::Backspace, mods: Mods::NONE | Mods::SHIFT } => {
                self.cut(self.before(self.caret), self.caret);
            }
            Key { code: Code::Delete, mods: Mods::NONE } => {
                self.cut(self.caret, self.after(self.caret));
            }
            Key { code: Code::Left, mods: Mods::NONE } => self.caret = self.before(self.caret),
            Key { code: Code::Right, mods: Mods::NONE } => self.caret = self.after(self.caret),
            Key { code: Code::Home, mods: Mods::NONE }
            | Key { code: Code::Char('a'), mods: Mods::CTRL } => self.caret = 0,
            Key { code: Code::End, mods: Mods::NONE }
            | Key { code: Code::Char('e'), mods: Mods::CTRL } => self.caret = self.text.len(),
            Key { code: Code::Char('u'), mods: Mods::CTRL } => self.cut(0, self.caret),
            Key { code: Code::Char('k'), mods: Mods::CTRL } => {
                self.cut(self.caret, self.text.len());
            }
            Key { code: Code::Char('w'), mods: Mods::CTRL }
            | Key { code: Code::Backspace, mods: Mods::ALT } => {
                self.cut(self.word_before(), self.caret);
            }
            _ => return Wrote::Ignored,
        }
        if self.text.len() == before.0 { Wrote::Moved } else { Wrote::Changed }
    }

    /// Draws it into the first row of `area` and returns where the caret is; `hint` is shown while it is empty.
    /// A text that does not fit is shown around the caret.
    pub fn draw(
        &self,
        canvas: &mut Canvas,
        area: Rect,
        hint: (&str, Style),
        style: Style,
    ) -> Option<Point> {
        if area.width == 0 || area.height == 0 {
            return None;
        }
        if self.text.is_empty() {
            canvas.text(area, hint.0, hint.1);
            return Some(Point { x: area.x, y: area.y });
        }
        let (text, caret) = self.visible();
        let room = usize::from(area.width).saturating_sub(1);
        let mut start = 0;
        let mut used = text::width(&text[..caret]);
        for grapheme in text::graphemes(&text[..caret]) {
            if used <= room {
                break;
            }
            used -= text::grapheme_width(grapheme);
            start += grapheme.len();
        }
        canvas.text(area, &text[start..], style);
        Some(Point { x: area.x + u16::try_from(used).unwrap_or(0), y: area.y })
    }

    /// What may be seen of the text, and where the caret is in it.
    fn visible(&self) -> (String, usize) {
        match self.shown {
            Shown::Plain => (self.text.clone(), self.caret),
            Shown::Masked => {
                let dots = |text: &str| "•".repeat(text::graphemes(text).count());
                let before = dots(&self.text[..self.caret]);
                let caret = before.len();
                (before + &dots(&self.text[self.caret..]), caret)
            }
        }
    }

    fn cut(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.caret = from;
        self.settle();
    }

    /// What was put together may have made one grapheme of two: the caret goes behind it.
    fn settle(&mut self) {
        let mut end = 0;
        for grapheme in text::graphemes(&self.text) {
            if end >= self.caret {
                break;
            }
            end += grapheme.len();
        }
        self.caret = end;
    }

    fn before(&self, at: usize) -> usize {
        at - text::graphemes(&self.text[..at]).next_back().map_or(0, str::len)
    }

    fn after(&self, at: usize) -> usize {
        at + text::graphemes(&self.text[at..]).next().map_or(0, str::len)
    }

    fn word_before(&self) -> usize {
        let head = self.text[..self.caret].trim_end();
        head.rfind(char::is_whitespace)
            .map_or(0, |blank| blank + head[blank..].chars().next().map_or(0, char::len_utf8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_key() -> impl Strategy<Value = Key> {
        let texts = [
            "a",
            "space",
            "日",
            "\u{301}",
            "backspace",
            "delete",
            "left",
            "right",
            "home",
            "end",
            "ctrl+u",
            "ctrl+k",
            "ctrl+w",
            "ctrl+a",
            "ctrl+e",
            "alt+x",
            "up",
        ];
        prop::sample::select(texts.to_vec()).prop_map(|text| text.parse().unwrap())
    }

    #[test]
    fn edits_by_word_and_grapheme() {
        let mut field = Field::new("one two\nthree");
        assert_eq!(field.text(), "one two three");
        assert_eq!(field.key(Key::ctrl('w')), Wrote::Changed);
        assert_eq!(field.text(), "one two ");
        field.insert("e\u{301}");
        assert_eq!(field.key(Key::plain(Code::Backspace)), Wrote::Changed);
        assert_eq!(field.text(), "one two ");
        assert_eq!(field.key(Key::plain(Code::Left)), Wrote::Moved);
        assert_eq!(field.key(Key::plain(Code::Up)), Wrote::Ignored);
    }

    #[test]
    fn what_is_masked_is_never_drawn_or_printed() {
        let mut field = Field::masked();
        field.insert("sk-secret");
        let mut canvas = Canvas::new(20, 1);
        field.draw(&mut canvas, Rect::sized(20, 1), ("", Style::PLAIN), Style::PLAIN);
        assert_eq!(canvas.plain(), "•••••••••");
        assert!(!format!("{field:?}").contains("secret"));
    }

    proptest! {
        #[test]
        fn the_caret_stays_between_graphemes_and_on_the_row(
            keys in prop::collection::vec(any_key(), 0..40),
            paste in "\\PC{0,6}",
            width in 0u16..12,
        ) {
            let mut field = Field::default();
            for (index, key) in keys.into_iter().enumerate() {
                field.key(key);
                if index == 5 {
                    field.insert(&paste);
                }
                let starts: Vec<usize> = text::graphemes(&field.text)
                    .scan(0, |at, grapheme| { *at += grapheme.len(); Some(*at) })
                    .collect();
                prop_assert!(field.caret == 0 || starts.contains(&field.caret));
                let mut canvas = Canvas::new(width, 1);
                let area = Rect::sized(width, 1);
                let caret = field.draw(&mut canvas, area, ("search", Style::PLAIN), Style::PLAIN);
                prop_assert!(caret.is_none_or(|point| area.contains(point)));
            }
        }
    }
}
