//! Where a part of a command is in the line that it comes from.

use super::verdict::BlamedPart;
use crate::shell::{Simple, Word};

/// A command as it is written in the line; word by word where something is between its words, and nothing where
/// its words are not in the line.
pub(super) fn command_in(line: &str, command: &Simple) -> Vec<BlamedPart> {
    let words: Vec<&str> = command.words.iter().map(|word| word.raw.as_str()).collect();
    let Some(first) = words.first().filter(|first| !first.is_empty()) else { return Vec::new() };
    let whole = line.match_indices(first).find_map(|(start, _)| {
        let mut end = start + first.len();
        for word in &words[1..] {
            let rest = &line[end..];
            let gap = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            rest[gap..].strip_prefix(word)?;
            end += gap + word.len();
        }
        Some(start..end)
    });
    match whole {
        Some(span) => vec![BlamedPart { text: line[span.clone()].to_owned(), span: Some(span) }],
        None => words.into_iter().filter_map(|word| text_in(line, word)).collect(),
    }
}

/// A word as it is written in the line, if it is there.
pub(super) fn word_in(line: &str, word: &Word) -> Option<BlamedPart> {
    text_in(line, &word.raw)
}

/// The line as a whole, without blanks around it.
pub(super) fn whole(line: &str) -> BlamedPart {
    let text = line.trim();
    let start = line.len() - line.trim_start().len();
    BlamedPart { text: text.to_owned(), span: Some(start..start + text.len()) }
}

fn text_in(line: &str, text: &str) -> Option<BlamedPart> {
    let start = line.find(text).filter(|_| !text.is_empty())?;
    Some(BlamedPart { text: text.to_owned(), span: Some(start..start + text.len()) })
}
