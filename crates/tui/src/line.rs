//! Styled text: a line is a row of spans, and long ones are wrapped into several rows.

use std::sync::Arc;

use crate::style::Style;
use crate::text;

/// A stretch of text in one style, perhaps a link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span {
    /// The text; control characters never reach the screen, wherever it comes from.
    pub text: String,
    /// How it looks.
    pub style: Style,
    /// Where a click on it leads.
    pub link: Option<Arc<str>>,
}

impl Span {
    /// Text in a style.
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style, link: None }
    }
}

/// A row of styled text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// The spans, left to right.
    pub spans: Vec<Span>,
    /// What the rest of the row looks like; none leaves it as it is.
    pub fill: Option<Style>,
}

impl Line {
    /// An empty row.
    pub const EMPTY: Self = Self { spans: Vec::new(), fill: None };

    /// A row of one style.
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self { spans: vec![Span::new(text, style)], fill: None }
    }

    /// Adds a stretch of text.
    pub fn push(&mut self, text: impl Into<String>, style: Style) {
        let text = text.into();
        if !text.is_empty() {
            self.spans.push(Span::new(text, style));
        }
    }

    /// The same with a stretch of text added.
    #[must_use]
    pub fn then(mut self, text: impl Into<String>, style: Style) -> Self {
        self.push(text, style);
        self
    }

    /// Cells it takes.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| text::width(&span.text)).sum()
    }

    /// Its text without styles.
    pub fn plain(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// The same in at most `cells`, with an ellipsis where something was cut.
    #[must_use]
    pub fn cut(&self, cells: usize) -> Self {
        let mut left = cells;
        let mut out = Self { spans: Vec::new(), fill: self.fill };
        let mut spans = self.spans.iter().peekable();
        while let Some(span) = spans.next() {
            let wide = text::width(&span.text);
            // What follows needs a cell for its own ellipsis.
            let is_last = spans.peek().is_none();
            if wide < left || (wide == left && is_last) {
                out.spans.push(span.clone());
                left -= wide;
                continue;
            }
            let mut short = span.text.clone();
            if !is_last {
                short.push('…');
            }
            out.push(text::ellipsis(&short, left), span.style);
            break;
        }
        out
    }

    /// Wraps it to `cells`: at blanks where there are any, else between graphemes. Rows after the first begin
    /// with `indent` blanks. Blanks at a break are dropped.
    pub fn wrap(&self, cells: usize, indent: usize) -> Vec<Self> {
        Wrapper::new(self, cells.max(1), indent).rows()
    }
}

impl From<Vec<Span>> for Line {
    fn from(spans: Vec<Span>) -> Self {
        Self { spans, fill: None }
    }
}

/// A line on its way into rows.
struct Wrapper<'a> {
    line: &'a Line,
    cells: usize,
    indent: usize,
    rows: Vec<Line>,
    row: Line,
    used: usize,
}

impl<'a> Wrapper<'a> {
    fn new(line: &'a Line, cells: usize, indent: usize) -> Self {
        let indent = if indent + 2 <= cells { indent } else { 0 };
        Self { line, cells, indent, rows: Vec::new(), row: Line::EMPTY, used: 0 }
    }

    fn rows(mut self) -> Vec<Line> {
        let words = words(self.line);
        for word in words {
            let wide: usize = word.pieces.iter().map(|(piece, _)| text::width(piece)).sum();
            let starts_row = self.used == 0 || (!self.rows.is_empty() && self.used == self.indent);
            if word.is_blank {
                // A blank that does not fit is the break itself.
                if starts_row && !self.rows.is_empty() {
                    continue;
                }
                if self.used + wide > self.cells {
                    self.end_row();
                    continue;
                }
            } else if self.used + wide > self.cells && !starts_row {
                self.end_row();
            }
            for (piece, span) in word.pieces {
                self.put(piece, &self.line.spans[span]);
            }
        }
        self.finish()
    }

    fn put(&mut self, mut piece: &str, span: &Span) {
        while !piece.is_empty() {
            let (head, wide) = text::fit(piece, self.cells.saturating_sub(self.used));
            let (head, wide) = if head.is_empty() {
                if self.used > self.indent || (self.rows.is_empty() && self.used > 0) {
                    self.end_row();
                    continue;
                }
                // Not even one grapheme fits into a row: it is put there, and cut by whoever draws.
                let first = text::graphemes(piece).next().unwrap_or(piece);
                (first, text::width(first))
            } else {
                (head, wide)
            };
            self.push(head, span);
            self.used += wide;
            piece = &piece[head.len()..];
        }
    }

    fn push(&mut self, text: &str, span: &Span) {
        if let Some(last) = self.row.spans.last_mut()
            && last.style == span.style
            && last.link == span.link
        {
            last.text.push_str(text);
            return;
        }
        let (style, link) = (span.style, span.link.clone());
        self.row.spans.push(Span { text: text.to_owned(), style, link });
    }

    fn end_row(&mut self) {
        trim_end(&mut self.row);
        self.row.fill = self.line.fill;
        self.rows.push(std::mem::take(&mut self.row));
        self.used = self.indent;
        if self.indent > 0 {
            let style = self.line.fill.unwrap_or_default();
            self.row.push(" ".repeat(self.indent), style);
        }
    }

    fn finish(mut self) -> Vec<Line> {
        let is_only_indent = !self.rows.is_empty() && self.row.plain().trim().is_empty();
        if !is_only_indent {
            self.row.fill = self.line.fill;
            self.rows.push(self.row);
        }
        self.rows
    }
}

/// A run of blanks or of other graphemes, in pieces of one span each.
struct Word<'a> {
    pieces: Vec<(&'a str, usize)>,
    is_blank: bool,
}

/// Words of a line; after a wide grapheme a line may break, as it does in Chinese and Japanese.
fn words(line: &Line) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let mut breaks = false;
    for (span, text) in line.spans.iter().enumerate().map(|(index, span)| (index, &span.text)) {
        let mut start = 0;
        let mut at = 0;
        for grapheme in text::graphemes(text) {
            let is_blank = grapheme.chars().all(char::is_whitespace);
            let is_wide = text::grapheme_width(grapheme) > 1;
            let joins = words.last().is_some_and(|word| word.is_blank == is_blank);
            if !joins || breaks || (is_wide && !is_blank) {
                if start < at
                    && let Some(word) = words.last_mut()
                {
                    word.pieces.push((&text[start..at], span));
                }
                start = at;
                words.push(Word { pieces: Vec::new(), is_blank });
            }
            breaks = is_wide;
            at += grapheme.len();
        }
        if start < at
            && let Some(word) = words.last_mut()
        {
            word.pieces.push((&text[start..at], span));
        }
    }
    words
}

fn trim_end(line: &mut Line) {
    while let Some(last) = line.spans.last_mut() {
        let kept = last.text.trim_end().len();
        last.text.truncate(kept);
        if kept > 0 {
            return;
        }
        line.spans.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrapped(text: &str, cells: usize, indent: usize) -> Vec<String> {
        let rows = Line::new(text, Style::PLAIN).wrap(cells, indent);
        rows.iter().map(Line::plain).collect()
    }

    #[test]
    fn wraps_at_blanks_and_inside_words_that_are_too_long() {
        assert_eq!(wrapped("the quick brown fox", 10, 0), ["the quick", "brown fox"]);
        assert_eq!(wrapped("the quick brown fox", 10, 2), ["the quick", "  brown", "  fox"]);
        assert_eq!(wrapped("abcdefghij", 4, 0), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("", 4, 0), [""]);
        assert_eq!(wrapped("日本語です", 4, 0), ["日本", "語で", "す"]);
        assert_eq!(wrapped("  keeps indent", 40, 0), ["  keeps indent"]);
        assert_eq!(wrapped("👍 \u{301}", 2, 0), ["👍", " \u{301}"]);
    }

    #[test]
    fn styles_survive_a_break() {
        let bold = Style::PLAIN.with(crate::style::Attrs::BOLD);
        let line = Line::new("one ", Style::PLAIN).then("two three", bold);
        let rows = line.wrap(7, 0);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].spans[1], Span::new("two", bold));
        assert_eq!(rows[1].spans[0], Span::new("three", bold));
    }

    proptest! {
        #[test]
        fn rows_fit_and_lose_nothing_but_blanks(
            texts in prop::collection::vec("[a-z 日é\u{301}👍]{0,12}", 0..6),
            cells in 2usize..20,
            indent in 0usize..3,
        ) {
            let line = Line::from(texts.iter().map(|t| Span::new(t.clone(), Style::PLAIN)).collect::<Vec<_>>());
            let rows = line.wrap(cells, indent);
            prop_assert!(rows.iter().all(|row| row.width() <= cells));
            let squeeze = |text: String| text.split_whitespace().collect::<String>();
            let all: String = rows.iter().map(Line::plain).collect();
            prop_assert_eq!(squeeze(all), squeeze(line.plain()));
        }
    }
}
