//! Definition files: YAML between two `---` lines, and the body below.
//!
//! Agents, skills and commands are Markdown files that people write by hand and other programs read
//! leniently. [`parse`] reads them as strict YAML first; where that fails, a second reader takes line by
//! line, starting a new field only where a line begins with a key the caller knows. Text it cannot make
//! sense of stays text: nothing here fails.

mod lenient;

pub(crate) use lenient::is_spelling;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Largest header that is read as YAML; a longer one is no definition file's.
const HEADER_LIMIT: usize = 256 * 1024;

/// Fields of running text, which may look like anything.
const PROSE: [&str; 3] = ["description", "when_to_use", "initialPrompt"];
/// A field that is shown as it is written, brackets and all.
const HINT: &str = "argument-hint";

/// A definition file in its two parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// The header's fields, in the order they are written in.
    pub fields: Map<String, Value>,
    /// What follows the header.
    pub body: String,
    /// What was wrong with the header and how it was read all the same.
    pub notes: Vec<Note>,
    /// The line each field begins at, counted from one.
    pub lines: BTreeMap<String, usize>,
}

/// Something unusual about a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// It is not strict YAML and was read line by line.
    NotYaml {
        /// Why it is not.
        reason: String,
        /// The line of the file, counted from one.
        line: usize,
    },
    /// It has no closing `---`.
    Unclosed,
    /// A key is there twice; the last one counts.
    Repeated(String),
    /// A value such as `#059669`, or the end of one, is a comment to YAML; it was taken as text.
    Comment(String),
    /// A key that takes something away is indented as if it belonged to another; it was read all the same.
    Indented(String),
    /// It is larger than any definition needs and was left unread.
    TooLarge,
}

impl Document {
    /// A field as text; none where it is absent, empty, or a list or table.
    pub fn text(&self, key: &str) -> Option<String> {
        let text = match self.fields.get(key)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        (!text.is_empty()).then_some(text)
    }

    /// A field of running text. Authors who know that it must be one line write `\n` in it; a list or a table is
    /// text, too, a line each.
    pub fn prose(&self, key: &str) -> Option<String> {
        let text = match self.fields.get(key)? {
            Value::Array(items) => {
                items.iter().filter_map(item_text).collect::<Vec<_>>().join("\n")
            }
            Value::Object(fields) => {
                let line = |(key, value)| Some(format!("{key}: {}", item_text(value)?));
                fields.iter().filter_map(line).collect::<Vec<_>>().join("\n")
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => self.text(key)?,
        };
        let text = text.replace("\\n", "\n").trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// A field as a list: a YAML list, or names with commas between them. Commas in parentheses
    /// or braces, as in `Bash(git log:*, git diff:*)` and `*.{ts,tsx}`, do not part.
    pub fn list(&self, key: &str) -> Option<Vec<String>> {
        match self.fields.get(key)? {
            Value::Array(items) => Some(items.iter().filter_map(item_text).collect()),
            Value::String(text) => Some(split_at_commas(text)),
            Value::Number(_) | Value::Bool(_) => self.text(key).map(|text| vec![text]),
            Value::Null | Value::Object(_) => None,
        }
    }

    /// A field as yes or no, in any of the words people use.
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.text(key)?.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        }
    }

    /// A field as a whole number.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.text(key)?.parse().ok()
    }
}

/// Reads a definition file. `known_keys` are the fields the caller looks for; they decide where a
/// field begins when the header is not strict YAML.
pub fn parse(text: &str, known_keys: &[&str]) -> Document {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "");
    let Some(parts) = split(&text, known_keys) else {
        return Document { body: text, ..Document::default() };
    };
    let mut document = Document { body: parts.body.to_owned(), ..Document::default() };
    if !parts.is_closed {
        document.notes.push(Note::Unclosed);
    }
    if parts.header.len() > HEADER_LIMIT {
        document.notes.push(Note::TooLarge);
        return document;
    }
    let header = dedented(parts.header);
    match yaml_table(&header) {
        Ok(fields) => document.fields = fields,
        Err(NotYaml { reason, line }) => {
            document.notes.push(Note::NotYaml { reason, line: parts.line + line });
            lenient::read(&header, known_keys, &mut document);
        }
    }
    restore(&header, &mut document);
    document.lines = lines_of(&header, parts.line, &document.fields);
    document
}

/// The line each field begins at. Where a key is there twice the last one counts.
fn lines_of(header: &str, first: usize, fields: &Map<String, Value>) -> BTreeMap<String, usize> {
    let key = |line: &str| {
        let (key, _) = line.split_once(':')?;
        let key = key.trim_end().trim_matches(['"', '\'']);
        fields.contains_key(key).then(|| key.to_owned())
    };
    let numbered = header.lines().enumerate();
    numbered.filter_map(|(index, line)| Some((key(line)?, first + index))).collect()
}

struct Parts<'t> {
    header: &'t str,
    /// The line the header begins at, counted from one.
    line: usize,
    body: &'t str,
    is_closed: bool,
}

/// Parts header and body. A line of `---` that is indented like the opening one closes; where there
/// is none, an indented differently one does, for then it cannot belong to a text in the header.
fn split<'t>(text: &'t str, known_keys: &[&str]) -> Option<Parts<'t>> {
    let start = text.len() - text.trim_start().len();
    let start = text[..start].rfind('\n').map_or(0, |line_break| line_break + 1);
    let (opening, rest) = text[start..].split_once('\n')?;
    if opening.trim() != "---" {
        return None;
    }
    let line = text[..start].matches('\n').count() + 2;
    let indent = opening.len() - opening.trim_start().len();
    let mut offset = 0;
    let mut other = None;
    for row in rest.split_inclusive('\n') {
        let end = offset + row.len();
        if row.trim() == "---" {
            let parts =
                Parts { header: &rest[..offset], line, body: &rest[end..], is_closed: true };
            if row.len() - row.trim_start().len() == indent {
                return Some(parts);
            }
            other.get_or_insert(parts);
        }
        offset = end;
    }
    other.or_else(|| unclosed(rest, line, known_keys))
}

/// A header nobody closed ends at its first empty line, if it begins with a known key.
fn unclosed<'t>(rest: &'t str, line: usize, known_keys: &[&str]) -> Option<Parts<'t>> {
    lenient::key_of(rest.lines().next()?.trim_start(), known_keys)?;
    let end = rest.find("\n\n").map_or(rest.len(), |end| end + 1);
    Some(Parts { header: &rest[..end], line, body: &rest[end..], is_closed: false })
}

/// The header without the indentation all its lines share.
fn dedented(header: &str) -> String {
    let filled = header.lines().filter(|line| !line.trim().is_empty());
    let indent = filled.map(|line| line.len() - line.trim_start_matches(' ').len()).min();
    let Some(indent) = indent.filter(|indent| *indent > 0) else { return header.to_owned() };
    let lines = header.lines().map(|line| line.get(indent..).unwrap_or_default());
    lines.fold(String::with_capacity(header.len()), |text, line| text + line + "\n")
}

/// Why a text is not strict YAML, and how many lines below its first.
struct NotYaml {
    reason: String,
    line: usize,
}

/// Strict YAML, within a budget that no definition file comes near.
fn yaml(text: &str) -> Result<Value, NotYaml> {
    let budget = serde_saphyr::budget! {
        max_depth: 32,
        max_nodes: 20_000,
        max_events: 50_000,
        max_anchors: 50,
        max_aliases: 50,
        max_documents: 1,
        max_total_scalar_bytes: HEADER_LIMIT,
    };
    let options = serde_saphyr::options! {
        budget: budget,
        // `no` is a word, not a refusal; the reader of a field decides what counts as one.
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let line = error.location().and_then(|place| usize::try_from(place.line()).ok());
        let mut reason = error.to_string();
        // Its lines count from the header, which nobody sees.
        if let Some(end) = reason.rfind(" at line ") {
            reason.truncate(end);
        }
        NotYaml { reason, line: line.unwrap_or(1).saturating_sub(1) }
    })
}

fn yaml_table(text: &str) -> Result<Map<String, Value>, NotYaml> {
    match yaml(text)? {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(NotYaml { reason: "it is not a list of fields".to_owned(), line: 0 })
        }
    }
}

/// Gives values back as they are written where YAML sees something else: `color: #059669` and `Fixes #12` are
/// comments to it, `name: 007` and `1.10` are numbers, `[WIP]` is a list.
fn restore(header: &str, document: &mut Document) {
    for line in header.lines() {
        let Some((key, written)) = line.split_once(':') else { continue };
        let written = written.trim();
        let restored = match document.fields.get(key) {
            Some(Value::Null) => {
                let colour = written.split_whitespace().next().unwrap_or_default();
                if is_colour(colour) {
                    document.fields.insert(key.to_owned(), Value::from(colour));
                    document.notes.push(Note::Comment(key.to_owned()));
                }
                false
            }
            Some(Value::String(read)) => {
                let rest = written.strip_prefix(read.as_str()).filter(|_| is_prose(key));
                rest.is_some_and(|rest| rest.trim_start().starts_with('#'))
            }
            Some(Value::Number(number)) => {
                let digits = written.split(" #").next().unwrap_or_default().trim_end();
                if number.to_string() != digits {
                    document.fields.insert(key.to_owned(), Value::from(digits));
                }
                false
            }
            Some(Value::Array(_) | Value::Object(_)) => {
                let is_text = is_prose(key) || is_spelling(key, HINT);
                if is_text && written.starts_with(['[', '{']) && written.ends_with([']', '}']) {
                    document.fields.insert(key.to_owned(), Value::from(written));
                }
                false
            }
            Some(Value::Bool(_)) | None => false,
        };
        if restored {
            document.fields.insert(key.to_owned(), Value::from(written));
            document.notes.push(Note::Comment(key.to_owned()));
        }
    }
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        matches!(digits.len(), 3 | 4 | 6 | 8) && digits.chars().all(|c| c.is_ascii_hexdigit())
    })
}

fn is_prose(key: &str) -> bool {
    PROSE.iter().any(|prose| is_spelling(key, prose))
}

fn item_text(item: &Value) -> Option<String> {
    match item {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn split_at_commas(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut open = 0_usize;
    for c in text.chars() {
        match c {
            '(' | '{' => open += 1,
            ')' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        match (c, open) {
            (',', 0) => items.push(String::new()),
            _ => items.last_mut().into_iter().for_each(|item| item.push(c)),
        }
    }
    let trimmed = items.iter().map(|item| item.trim().to_owned());
    trimmed.filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests;
