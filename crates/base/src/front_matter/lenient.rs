//! Headers that are almost YAML: `description: Use when: …`, `tools: *`, a stray quote.
//!
//! The header is cut before every line that begins with a known key. Each piece is then read as YAML on
//! its own, so one bad line costs only itself; a piece that is not YAML is text.

use serde_json::Value;

use super::{Document, Note, yaml_table};

/// Reads the header into the document.
pub(super) fn read(header: &str, known_keys: &[&str], document: &mut Document) {
    for piece in pieces(header, known_keys) {
        let value = match yaml_table(&piece.source) {
            Ok(mut fields) if fields.len() == 1 => fields.remove(piece.key),
            Ok(_) | Err(_) => None,
        };
        let value = value.unwrap_or_else(|| Value::from(plain_text(&piece)));
        if document.fields.insert(piece.key.to_owned(), value).is_some() {
            document.notes.push(Note::Repeated(piece.key.to_owned()));
        }
    }
}

/// The known key a line begins with.
pub(super) fn key_of<'k>(line: &str, known_keys: &[&'k str]) -> Option<&'k str> {
    let (key, _) = line.split_once(':')?;
    let key = key.trim_end().trim_matches(['"', '\'']);
    known_keys.iter().copied().find(|known| *known == key)
}

struct Piece<'h, 'k> {
    key: &'k str,
    /// What follows the key on its line.
    first: &'h str,
    /// The lines up to the next key.
    more: Vec<&'h str>,
    /// All of it, as written.
    source: String,
}

fn pieces<'h, 'k>(header: &'h str, known_keys: &[&'k str]) -> Vec<Piece<'h, 'k>> {
    let mut pieces: Vec<Piece<'h, 'k>> = Vec::new();
    for line in header.lines() {
        if let Some(key) = key_of(line, known_keys) {
            let first = line.split_once(':').map_or("", |(_, rest)| rest).trim();
            pieces.push(Piece { key, first, more: Vec::new(), source: format!("{line}\n") });
        } else if let Some(piece) = pieces.last_mut() {
            piece.more.push(line);
            piece.source.push_str(line);
            piece.source.push('\n');
        }
    }
    pieces
}

fn plain_text(piece: &Piece<'_, '_>) -> String {
    let is_block = matches!(piece.first, "|" | "|-" | "|+" | ">" | ">-" | ">+");
    let more = piece.more.iter().map(|line| if is_block { *line } else { line.trim() });
    let lines: Vec<&str> = std::iter::once(piece.first).filter(|_| !is_block).chain(more).collect();
    let text = if is_block { shifted(&lines) } else { lines.join("\n") };
    let text = text.trim();
    let within = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    match (within('"'), within('\'')) {
        (Some(inner), _) => inner.replace("\\\"", "\""),
        (None, Some(inner)) => inner.replace("''", "'"),
        (None, None) => text.to_owned(),
    }
}

/// The lines of a block without the indentation of its first one.
fn shifted(lines: &[&str]) -> String {
    let indent_of = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let indent = lines.iter().find(|line| !line.trim().is_empty()).map_or(0, |it| indent_of(it));
    let cut = |line: &&str| line[indent_of(line).min(indent)..].to_owned();
    lines.iter().map(cut).collect::<Vec<_>>().join("\n")
}
