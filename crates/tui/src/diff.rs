//! Changes as rows: one column or two, with line numbers, the changed words marked, and the colours of the
//! code below those of the change. Plus and minus tell it all without colours, too.

mod parse;
mod split;
mod unified;
mod word;

#[cfg(test)]
mod tests;

use base::interface::DiffMode;

use self::parse::{Change, Hunk};
use crate::code::{Language, Lexer};
use crate::line::{Line, Span};
use crate::look::Look;
use crate::style::{Color, Style};
use crate::text;
use crate::theme::Role;
use crate::transcript::row::Row;

/// From so many cells on, two columns are shown unless the user wants otherwise.
const SPLIT_FROM: usize = 140;
/// Two columns need at least so many cells, whatever the user wants.
const SPLIT_LEAST: usize = 60;

/// Rows of a unified diff of one file, which may hold several hunks.
pub fn rows(path: &str, unified: &str, cells: usize, look: &Look) -> Vec<Row> {
    let hunks = parse::hunks(unified);
    let painter = Painter { look, language: Language::of_path(path), digits: digits(&hunks) };
    let is_split = match look.diff {
        DiffMode::Auto => cells + 8 >= SPLIT_FROM,
        DiffMode::Split => cells >= SPLIT_LEAST,
        DiffMode::Unified => false,
    };
    // Of what is only added or only taken away, one side would be blank.
    let is_split = is_split && matches!(counts(unified), (1.., 1..));
    let mut rows = Vec::new();
    for (index, hunk) in hunks.iter().enumerate() {
        if index > 0 {
            let dots = if look.unicode { "⋯" } else { "..." };
            let line = format!("{}{dots}", " ".repeat(painter.digits.saturating_sub(1)));
            rows.push(Row::ours(Line::new(line, look.theme.style(Role::Faint))));
        }
        let lines = painter.paint(hunk);
        if is_split {
            rows.extend(split::rows(&lines, cells, &painter));
        } else {
            rows.extend(unified::rows(&lines, cells, &painter));
        }
    }
    rows
}

/// Lines that a unified diff adds and removes.
pub fn counts(unified: &str) -> (usize, usize) {
    let mut counts = (0, 0);
    for line in parse::hunks(unified).iter().flat_map(|hunk| &hunk.lines) {
        match line.change {
            Change::Added => counts.0 += 1,
            Change::Removed => counts.1 += 1,
            Change::Kept => {}
        }
    }
    counts
}

fn digits(hunks: &[Hunk<'_>]) -> usize {
    let most = hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| line.old.max(line.new)).max();
    most.unwrap_or(0).max(1).ilog10() as usize + 1
}

/// What is needed to draw lines of a change.
struct Painter<'a> {
    look: &'a Look,
    language: Option<&'static Language>,
    /// Cells of a line number.
    digits: usize,
}

/// A line of a change with its colours.
struct Painted {
    change: Change,
    old: usize,
    new: usize,
    spans: Vec<Span>,
}

impl Painter<'_> {
    /// Colours the lines of a hunk; old and new text are read as two texts of their own.
    fn paint(&self, hunk: &Hunk<'_>) -> Vec<Painted> {
        let mut old = Lexer::new(self.language);
        let mut new = Lexer::new(self.language);
        let cleaned: Vec<_> = hunk.lines.iter().map(|line| text::clean(line.text)).collect();
        let marks = word::marks(&hunk.lines, &cleaned);
        let mut painted = Vec::new();
        for (index, line) in hunk.lines.iter().enumerate() {
            let below = self.style(line.change);
            let text = &cleaned[index];
            let theme = &self.look.theme;
            let spans = match line.change {
                Change::Removed => old.spans(text, theme, below),
                Change::Added => new.spans(text, theme, below),
                Change::Kept => {
                    old.tokens(text);
                    new.spans(text, theme, below)
                }
            };
            // Where a change has no background it is told by the text's colour, so code has none.
            let spans = if line.change != Change::Kept && below.bg == Color::Default {
                vec![Span::new(text.clone(), below)]
            } else {
                spans
            };
            let spans = word::mark(spans, &marks[index], self.word_style(line.change));
            painted.push(Painted { change: line.change, old: line.old, new: line.new, spans });
        }
        painted
    }

    fn style(&self, change: Change) -> Style {
        let role = match change {
            Change::Added => Role::Added,
            Change::Removed => Role::Removed,
            Change::Kept => Role::Text,
        };
        self.look.theme.style(role)
    }

    fn word_style(&self, change: Change) -> Style {
        let role = match change {
            Change::Added => Role::AddedWord,
            Change::Removed => Role::RemovedWord,
            Change::Kept => Role::Text,
        };
        self.look.theme.style(role)
    }

    /// Number and sign before a line; `number` is none where a line was wrapped.
    fn gutter(&self, change: Change, number: Option<usize>) -> Vec<Span> {
        let below = self.style(change);
        let number = number.map_or_else(String::new, |number| number.to_string());
        let faint =
            Style { attrs: crate::style::Attrs::NONE, ..self.look.theme.style(Role::Faint) };
        let sign = match change {
            Change::Added => " + ",
            Change::Removed => " - ",
            Change::Kept => "   ",
        };
        vec![
            Span::new(format!("{number:>0$}", self.digits), faint.over(below)),
            Span::new(if number.is_empty() { "   " } else { sign }, below),
        ]
    }

    /// Cells of [`Painter::gutter`].
    fn gutter_cells(&self) -> usize {
        self.digits + 3
    }
}
