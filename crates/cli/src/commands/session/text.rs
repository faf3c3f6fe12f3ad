//! Text of sessions on its way to a terminal.

use base::protocol::SessionSummary;
use base::visible::visible;
use base::{SessionId, Timestamp};
use jiff::tz::TimeZone;

/// Digits of an id shown at least, so that today's habits work tomorrow.
const ID_DIGITS: usize = 8;

/// Text with hidden characters shown by their numbers, other than line breaks and tabs: a transcript holds what web
/// pages and commands said, and must neither steer the terminal it is printed on nor hide anything.
pub(crate) fn plain(text: &str) -> String {
    visible(text).into_owned()
}

/// One line of harmless text.
pub(crate) fn line(text: &str) -> String {
    plain(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// One line of at most `limit` characters.
pub(crate) fn short(text: &str, limit: usize) -> String {
    let line = line(text);
    if line.chars().count() <= limit {
        return line;
    }
    line.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}

/// A session in a sentence: id and title.
pub(crate) fn named(session: &SessionSummary) -> String {
    format!("{}  {}", session.id, title(session, 60))
}

/// A session's title, or what stands for it.
pub(crate) fn title(session: &SessionSummary, limit: usize) -> String {
    session.title.as_deref().map_or_else(|| "(untitled)".to_owned(), |title| short(title, limit))
}

/// The first digits of an id, in the id's own spelling: as many as tell it apart, and a few at least.
pub(crate) fn short_id(id: SessionId, distinct_digits: usize) -> String {
    let mut left = distinct_digits.max(ID_DIGITS);
    let id = id.to_string();
    let kept = id.chars().take_while(|&character| {
        let keep = left > 0;
        left = left.saturating_sub(usize::from(character != '-'));
        keep
    });
    kept.collect()
}

/// A moment on the user's clock.
pub(crate) fn moment(at: Timestamp, zone: &TimeZone) -> String {
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    zone.to_datetime(at).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Rows as columns under headings; all but the first `left` columns are right-aligned.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>], left: usize) -> String {
    let mut lines: Vec<Vec<String>> = vec![head.iter().map(ToString::to_string).collect()];
    lines.extend_from_slice(rows);
    let width = |column: usize| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| {
            if at < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        let row = cells.collect::<Vec<_>>().join("  ");
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_cannot_steer_the_terminal() {
        assert_eq!(
            plain("a\x1b]0;title\x07b\u{9b}2Jc\nd\te"),
            "a<U+001B>]0;title<U+0007>b<U+009B>2Jc\nd\te"
        );
        assert_eq!(line(" two\nlines\r\n"), "two lines");
        assert_eq!(short("abcdef", 4), "abc…");
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["a".into(), "1".into()], vec!["bcd".into(), "10".into()]];
        assert_eq!(table(&["k", "n"], &rows, 1), "k     n\na     1\nbcd  10\n");
    }
}
