//! Headers that are almost YAML: `description: Use when: …`, `tools: *`, a stray quote.
//!
//! The header is cut before every line that begins with a key. Each piece is then read as YAML on its own, so
//! one bad line costs only itself; a piece that is not YAML is text. Running text may hold lines such as
//! `Note: …` and `user: "…"`, so in it only a known key begins a new piece, or a plain word right below a first
//! line that is whole.

use serde_json::Value;

use super::{Document, Note, is_prose, yaml_table};

/// Longest key that nobody knows.
const KEY_CHARS: usize = 40;
/// Words that begin the lines of a dialogue, which running text may hold.
const SPEAKERS: [&str; 10] = [
    "user",
    "assistant",
    "context",
    "commentary",
    "example",
    "examples",
    "note",
    "system",
    "human",
    "ai",
];
/// Fields that take something away, which must not be lost to a wrong indentation.
const NARROWING: [&str; 2] = ["tools", "disallowedTools"];

/// Reads the header into the document.
pub(super) fn read(header: &str, known_keys: &[&str], document: &mut Document) {
    for piece in pieces(header, known_keys) {
        let value = piece.read(&piece.source).or_else(|| piece.read(&untabbed(&piece.source)?));
        let value = value.unwrap_or_else(|| Value::from(plain_text(&piece)));
        if document.fields.insert(piece.key.to_owned(), value).is_some() {
            document.notes.push(Note::Repeated(piece.key.to_owned()));
        }
    }
    for key in NARROWING.iter().filter(|key| known_keys.contains(key)) {
        let value = |line: &str| {
            let (written, rest) = parted(line.trim_start())?;
            (written == *key && !rest.trim().is_empty()).then(|| rest.trim().to_owned())
        };
        if !document.fields.contains_key(*key)
            && let Some(value) = header.lines().find_map(value)
        {
            document.fields.insert((*key).to_owned(), Value::from(value));
            document.notes.push(Note::Indented((*key).to_owned()));
        }
    }
}

/// The known key a line begins with, as it is written there.
pub(super) fn key_of<'h>(line: &'h str, known_keys: &[&str]) -> Option<&'h str> {
    let (key, _) = parted(line)?;
    known_keys.iter().any(|known| is_spelling(key, known)).then_some(key)
}

/// Whether a key is a known one in another spelling: `allowed_tools` and `allowedTools` are `allowed-tools`.
/// A single word has one spelling only, for many a text has a line that begins with `Tools:`.
pub(crate) fn is_spelling(written: &str, known: &str) -> bool {
    let is_compound = |key: &str| key.contains(|c: char| c == '-' || c == '_' || c.is_uppercase());
    let plain = |key: &str| {
        let letters = key.chars().filter(|c| !matches!(c, '-' | '_'));
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    written == known || is_compound(written) && is_compound(known) && plain(written) == plain(known)
}

/// The key a line begins with, whether or not anybody knows it.
fn any_key(line: &str) -> Option<&str> {
    let (key, rest) = parted(line)?;
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ' ');
    let is_key = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(is_plain)
        && key.chars().count() <= KEY_CHARS
        && (rest.is_empty() || rest.starts_with(char::is_whitespace));
    is_key.then_some(key)
}

/// A line's key, without quotes, and what follows its colon.
fn parted(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    Some((key.trim_end().trim_matches(['"', '\'']), rest))
}

struct Piece<'h> {
    key: &'h str,
    /// What follows the key on its line.
    first: &'h str,
    /// The lines up to the next key.
    more: Vec<&'h str>,
    /// All of it, as written.
    source: String,
}

impl Piece<'_> {
    /// Its value, if it is YAML.
    fn read(&self, source: &str) -> Option<Value> {
        let mut fields = yaml_table(source).ok().filter(|fields| fields.len() == 1)?;
        fields.remove(self.key)
    }

    /// Whether running text is whole with its first line, so that a word below it which nobody knows may be a key.
    fn ends_before(&self, key: &str) -> bool {
        let is_plain =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        let is_whole = || self.read(&self.source).is_some_and(|value| value.is_string());
        self.more.is_empty() && key.chars().all(is_plain) && !SPEAKERS.contains(&key) && is_whole()
    }
}

/// A text whose lists are indented with tabs, which YAML does not take, with blanks; none if there are none.
fn untabbed(source: &str) -> Option<String> {
    let is_item = |line: &str| line.starts_with('\t') && line.trim_start().starts_with("- ");
    if !source.lines().skip(1).all(is_item) || !source.contains('\t') {
        return None;
    }
    Some(source.lines().map(|line| line.replace('\t', "  ") + "\n").collect())
}

fn pieces<'h>(header: &'h str, known_keys: &[&str]) -> Vec<Piece<'h>> {
    let mut pieces: Vec<Piece<'h>> = Vec::new();
    for line in header.lines() {
        let in_prose = pieces.last().filter(|piece| is_prose(piece.key));
        let any = || any_key(line).filter(|key| in_prose.is_none_or(|it| it.ends_before(key)));
        if let Some(key) = key_of(line, known_keys).or_else(any) {
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

fn plain_text(piece: &Piece<'_>) -> String {
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
