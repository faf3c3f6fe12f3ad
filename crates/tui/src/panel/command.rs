//! A command that is asked about, laid out so that nothing in it can be overlooked.
//!
//! Runs of blank lines and of blanks are counted instead of drawn, hidden characters are shown by their numbers, and
//! risky parts that stand far down are repeated in full at the top.

use std::fmt::Write as _;

use crate::line::Line;
use crate::look::Look;
use crate::style::{Attrs, Style};
use crate::text;
use crate::theme::Role;

/// Blanks in a row that are drawn; more are counted. Deep indentation stays as it is.
const BLANKS: usize = 24;
/// Rows of a command that are seen on any screen: a risky part below them is shown at the top as well.
const TOP_ROWS: usize = 3;

/// What is asked about, as rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    /// The rows.
    pub(super) lines: Vec<Line>,
    /// How many rows, from the first, must have been seen before a yes is offered.
    pub(super) must_see: usize,
}

impl Layout {
    /// Rows that may be answered unseen.
    pub(super) fn free(lines: Vec<Line>) -> Self {
        Self { lines, must_see: 0 }
    }
}

/// One row of the text before it is wrapped.
struct Row {
    text: String,
    is_risky: bool,
    is_count: bool,
}

/// Lays out a text with its risky parts. Without any that can be found in it, all of it counts as risky.
pub(super) fn layout(text: &str, risky: &[String], width: usize, look: &Look) -> Layout {
    let parts: Vec<&str> =
        risky.iter().map(|part| part.trim()).filter(|it| !it.is_empty()).collect();
    let mut rows = rows(text);
    let is_found = mark(&mut rows, &parts);
    if !is_found {
        for row in &mut rows {
            row.is_risky = true;
        }
    }
    let pieces: Vec<String> =
        parts.iter().flat_map(|part| part.lines()).map(|line| shown(line.trim())).collect();
    let draw = |row: &Row| draw(row, &pieces, look).wrap(width, 2);

    let drawn: Vec<(bool, Vec<Line>)> = rows.iter().map(|row| (row.is_risky, draw(row))).collect();
    let mut must_see = 0;
    let mut lines = Vec::new();
    for (is_risky, more) in drawn {
        lines.extend(more);
        if is_risky {
            must_see = lines.len();
        }
    }
    // Repeating most of the text would only make it longer.
    let is_most = parts.iter().map(|part| part.len()).sum::<usize>() * 2 >= text.trim().len();
    if must_see <= TOP_ROWS || is_most || !is_found {
        return Layout { lines, must_see };
    }

    let mut first: Vec<Line> = parts
        .iter()
        .flat_map(|part| self::rows(part))
        .flat_map(|row| draw(&Row { is_risky: true, ..row }))
        .collect();
    let must_see = first.len();
    first.push(Line::new("in the whole command:", look.theme.style(Role::Muted)));
    first.extend(lines);
    Layout { lines: first, must_see }
}

/// The text line by line, runs of blank lines counted. It is cleaned here: what is drawn later must be as wide as what
/// was wrapped.
pub(crate) fn collapsed(text: &str) -> Vec<String> {
    rows(text).into_iter().map(|row| row.text).collect()
}

fn rows(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut blank = 0;
    let count = |rows: &mut Vec<Row>, blank: usize| match blank {
        0 => {}
        1 => rows.push(Row { text: String::new(), is_risky: false, is_count: true }),
        more => {
            let text = format!("({more} blank lines)");
            rows.push(Row { text, is_risky: false, is_count: true });
        }
    };
    for line in text.split('\n') {
        if line.trim().is_empty() {
            blank += 1;
            continue;
        }
        count(&mut rows, blank);
        blank = 0;
        rows.push(Row { text: shown(line), is_risky: false, is_count: false });
    }
    rows
}

/// A line with long runs of blanks counted and hidden characters shown.
fn shown(line: &str) -> String {
    let line = line.trim_end();
    let is_blank = |c: char| c.is_whitespace() || c == '\u{2800}';
    let mut out = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        let plain = rest.find(is_blank).unwrap_or(rest.len());
        out.push_str(&rest[..plain]);
        rest = &rest[plain..];
        let end = rest.find(|c| !is_blank(c)).unwrap_or(rest.len());
        let count = rest[..end].chars().count();
        if count > BLANKS {
            let _fits = write!(out, " ({count} blanks) ");
        } else {
            out.push_str(&rest[..end]);
        }
        rest = &rest[end..];
    }
    text::clean(&out).into_owned()
}

/// Marks the rows that hold risky parts; whether every part was found.
fn mark(rows: &mut [Row], parts: &[&str]) -> bool {
    let mut found_all = !parts.is_empty();
    for part in parts {
        let wanted: Vec<String> = self::rows(part)
            .into_iter()
            .filter(|row| !row.is_count)
            .map(|row| row.text.trim().to_owned())
            .collect();
        let mut found = !wanted.is_empty();
        for line in &wanted {
            let mut is_here = false;
            for row in
                rows.iter_mut().filter(|row| !row.is_count && row.text.contains(line.as_str()))
            {
                (row.is_risky, is_here) = (true, true);
            }
            found &= is_here;
        }
        found_all &= found;
    }
    found_all
}

/// A row with its risky parts marked, so that it shows without colours, too.
fn draw(row: &Row, pieces: &[String], look: &Look) -> Line {
    let style = |role| look.theme.style(role);
    if row.is_count {
        return Line::new(row.text.as_str(), style(Role::Muted));
    }
    if row.is_risky {
        marked(&row.text, pieces, style(Role::Text), look)
    } else {
        Line::new(row.text.as_str(), style(Role::Text))
    }
}

/// A text of one row with its risky parts marked. Both must have been cleaned.
pub(super) fn marked(text: &str, risky: &[String], plain: Style, look: &Look) -> Line {
    let alarming = look.theme.style(Role::Warning).with(Attrs::BOLD | Attrs::UNDERLINE);
    let mut line = Line::EMPTY;
    let mut rest = text;
    while !rest.is_empty() {
        let parts = risky.iter().filter(|part| !part.is_empty());
        let found = parts.filter_map(|part| Some((rest.find(part.as_str())?, part.len())));
        // The first one counts; of those that begin together, the longest.
        let Some((at, length)) = found.min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length)))
        else {
            break;
        };
        line.push(&rest[..at], plain);
        line.push(&rest[at..at + length], alarming);
        rest = &rest[at + length..];
    }
    line.push(rest, plain);
    line
}
