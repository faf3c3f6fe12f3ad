//! The lines of one file that match a regular expression, with ripgrep's own engine.

use std::fs::File;
use std::io::{self, Read};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use super::Stop;
use crate::tool::ToolError;

/// Characters shown of a line.
const LINE_LIMIT: usize = 500;
/// Characters shown before a match that is far out in a long line.
const LEAD: usize = 100;
/// Lines shown of one match that spans many.
const SPAN_LIMIT: usize = 20;
/// Memory one file may take: a line, or with `multiline` the file. Beyond it a file is skipped.
const HEAP_LIMIT: usize = 64 << 20;
/// Memory a compiled pattern may take.
const PATTERN_LIMIT: usize = 10 << 20;

/// What to look for.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    matcher: RegexMatcher,
    context: usize,
    span: Span,
}

/// How a pattern is meant.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meaning {
    /// Whether the pattern is text, not a regular expression.
    pub(crate) literal: bool,
    /// Whether case does not matter.
    pub(crate) any_case: bool,
    /// Whether a match may span lines.
    pub(crate) span: Span,
    /// Lines to show around a match.
    pub(crate) context: usize,
}

/// How far a match may reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Span {
    /// Within a line.
    #[default]
    Line,
    /// Over several lines; `.` matches the end of a line too.
    Lines,
}

/// What was found in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hits {
    /// Matching lines and those around them, in order.
    pub(crate) lines: Vec<Line>,
    /// How many matches `lines` holds.
    pub(crate) count: usize,
    /// Whether the file has more.
    pub(crate) more: bool,
}

/// A line to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its number in the file, from 1.
    pub(crate) number: u64,
    /// Why it is shown.
    pub(crate) role: Role,
    /// Its text, cut where it is too long.
    pub(crate) text: String,
}

/// Why a line is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A match begins here.
    Match,
    /// It belongs to the match that began above.
    Rest,
    /// It lies near a match.
    Context,
}

/// Why a file was not searched to its end.
#[derive(Debug)]
pub(crate) enum Skip {
    /// It is not text.
    Binary,
    /// It cannot be read, or a line of it does not fit in memory.
    Unreadable,
}

impl Query {
    /// Reads a pattern.
    pub(crate) fn new(pattern: &str, meaning: Meaning) -> Result<Self, ToolError> {
        if pattern.is_empty() {
            return Err(ToolError::Arguments("`pattern` is empty; say what to look for".into()));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .size_limit(PATTERN_LIMIT)
            .case_insensitive(meaning.any_case)
            .fixed_strings(meaning.literal);
        match meaning.span {
            Span::Line => builder.line_terminator(Some(b'\n')),
            Span::Lines => builder.dot_matches_new_line(true),
        };
        let matcher = builder.build(pattern).map_err(|error| explain(pattern, &error))?;
        Ok(Self { matcher, context: meaning.context, span: meaning.span })
    }

    /// A searcher for this query; one a thread, for it keeps its buffers.
    pub(crate) fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .before_context(self.context)
            .after_context(self.context)
            .multi_line(self.span == Span::Lines)
            .heap_limit(Some(HEAP_LIMIT))
            .build()
    }

    /// Searches a file for its first `limit` matches.
    pub(crate) fn search(
        &self,
        searcher: &mut Searcher,
        file: File,
        limit: usize,
        stop: &Stop,
    ) -> Result<Hits, Skip> {
        let mut sink =
            Collect { matcher: &self.matcher, limit, hits: Hits::default(), binary: false };
        let read = searcher.search_reader(&self.matcher, Stoppable { file, stop }, &mut sink);
        match read {
            Ok(()) if sink.binary => Err(Skip::Binary),
            Ok(()) => Ok(sink.hits),
            Err(_) => Err(Skip::Unreadable),
        }
    }
}

/// A file that ends when the search does, however large it is.
struct Stoppable<'s> {
    file: File,
    stop: &'s Stop,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.reached() {
            return Err(io::Error::other("stopped"));
        }
        self.file.read(buffer)
    }
}

struct Collect<'q> {
    matcher: &'q RegexMatcher,
    limit: usize,
    hits: Hits,
    binary: bool,
}

impl Sink for Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.hits.count == self.limit {
            self.hits.more = true;
            return Ok(false);
        }
        self.hits.count += 1;
        let first = found.line_number().unwrap_or_default();
        for (offset, line) in (0..).zip(found.lines().take(SPAN_LIMIT)) {
            let (role, start) = match offset {
                0 => (Role::Match, self.matcher.find(line).ok().flatten().map(|m| m.start())),
                _ => (Role::Rest, None),
            };
            let text = shown(line, start.unwrap_or(0));
            self.hits.lines.push(Line { number: first + offset, role, text });
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, near: &SinkContext<'_>) -> Result<bool, io::Error> {
        let number = near.line_number().unwrap_or_default();
        let text = shown(near.bytes(), 0);
        self.hits.lines.push(Line { number, role: Role::Context, text });
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }
}

/// A line's text, cut around byte `start` if it is long.
fn shown(line: &[u8], start: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LINE_LIMIT {
        return String::from_utf8_lossy(line).into_owned();
    }
    let from = if start + LEAD <= LINE_LIMIT { 0 } else { start - LEAD };
    // No character is longer than four bytes; the rest of the line need not be decoded.
    let to = line.len().min(from + 4 * LINE_LIMIT);
    let text = String::from_utf8_lossy(&line[from..to]);
    let mut cut: String = text.chars().take(LINE_LIMIT).collect();
    if from > 0 {
        cut = format!("…{}", cut.trim_start_matches(char::REPLACEMENT_CHARACTER));
    }
    if to < line.len() || text.chars().nth(LINE_LIMIT).is_some() {
        cut = format!("{}…", cut.trim_end_matches(char::REPLACEMENT_CHARACTER));
    }
    cut
}

/// What is wrong with a pattern, where, and what to do.
fn explain(pattern: &str, error: &grep_regex::Error) -> ToolError {
    if matches!(error.kind(), grep_regex::ErrorKind::NotAllowed(_)) {
        let text = "the pattern holds an end of line: set `multiline`";
        return ToolError::Arguments(text.to_owned());
    }
    ToolError::Arguments(match regex_syntax_position(pattern) {
        Some((column, why)) => format!(
            "the pattern is not a regular expression: {why} at character {column}. \
             Escape it, or set `literal_text`"
        ),
        None => format!("{error}. Set `literal_text` to look for plain text"),
    })
}

/// Where and why a pattern cannot be parsed.
fn regex_syntax_position(pattern: &str) -> Option<(usize, String)> {
    let regex::Error::Syntax(text) = regex::Regex::new(pattern).err()? else { return None };
    // The report shows the pattern, and below it a `^` under the place; the reason comes last.
    let marked = text.lines().find(|line| line.trim_start().starts_with('^'))?;
    let column = marked.chars().take_while(|c| *c == ' ').count().checked_sub(4)? + 1;
    let why = text.lines().last()?.trim().trim_start_matches("error: ").to_owned();
    Some((column, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(pattern: &str) -> String {
        Query::new(pattern, Meaning::default()).unwrap_err().to_string()
    }

    #[test]
    fn a_bad_pattern_is_told_where_it_is_bad() {
        let text = why("foo(bar");
        assert!(text.contains("unclosed group at character 4"), "{text}");
        assert!(text.contains("literal_text"), "{text}");
        assert!(why("*a").contains("at character 1"), "{}", why("*a"));
        assert!(why("a\\nb").contains("multiline"), "{}", why("a\\nb"));
        assert!(why("").contains("empty"));
        assert!(why("(a{900}){900}").contains("literal_text"));
    }

    #[test]
    fn long_lines_are_cut_around_the_match_and_never_inside_a_character() {
        assert_eq!(shown(b"short\r\n", 0), "short");
        let long = "é".repeat(2_000);
        let cut = shown(long.as_bytes(), 0);
        assert_eq!(cut.chars().count(), LINE_LIMIT + 1);
        assert!(cut.ends_with("é…"));
        let far = format!("{}needle{}", "é".repeat(3_000), "é".repeat(3_000));
        for shift in 0..2 {
            let cut = shown(far.as_bytes(), 6_000 + shift);
            assert!(cut.starts_with("…é") && cut.contains("needle") && cut.ends_with("é…"));
            assert!(!cut.contains(char::REPLACEMENT_CHARACTER));
        }
    }
}
