//! One definition file on the table: its fields, taken one by one, and what is odd about them.
//!
//! What a reader takes is gone from the sheet, so what is left at the end is what we know nothing of.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{Home, Hooks, Problem, Weight};
use crate::front_matter::{self, Document, Note, is_spelling};
use base::model::Effort;

/// Longest name: it is shown in lists and sent with every request.
const NAME_CHARS: usize = 128;

/// A definition that is being read.
pub(super) struct Sheet {
    document: Document,
    home: Home,
    problems: Vec<Problem>,
    /// The line at which the header stops being strict YAML.
    trouble: Option<usize>,
}

/// What is left of a sheet once all known fields are taken.
pub(super) struct Rest {
    /// The text below the header.
    pub(super) body: String,
    /// Fields nobody took.
    pub(super) more: Map<String, Value>,
    /// Where the definition comes from.
    pub(super) home: Home,
    /// What is wrong with it.
    pub(super) problems: Vec<Problem>,
}

impl Sheet {
    /// Reads a file's text. Words of several parts are known in all their spellings.
    pub(super) fn open(text: &str, home: Home, keys: &[&str]) -> Self {
        let document = front_matter::parse(text, keys);
        let mut sheet = Self { document, home, problems: Vec::new(), trouble: None };
        for note in std::mem::take(&mut sheet.document.notes) {
            sheet.add_note(note);
        }
        sheet.respell(keys);
        sheet
    }

    /// A definition that comes as fields and text.
    pub(super) fn of(fields: Map<String, Value>, body: String, home: Home, keys: &[&str]) -> Self {
        let document = Document { fields, body, ..Document::default() };
        let mut sheet = Self { document, home, problems: Vec::new(), trouble: None };
        sheet.respell(keys);
        sheet
    }

    fn add_note(&mut self, note: Note) {
        let (line, text) = match note {
            Note::NotYaml { reason, line } => {
                self.trouble = Some(line);
                (
                    Some(line),
                    format!("the header is not strict YAML and was read line by line: {reason}"),
                )
            }
            Note::Unclosed => (Some(1), "the header has no closing `---`".to_owned()),
            Note::Repeated(key) => {
                (self.line(&key), format!("`{key}` is there twice; the last one counts"))
            }
            Note::Comment(key) => (
                self.line(&key),
                format!("`#` in `{key}` begins a comment in YAML and was taken as text; quote it"),
            ),
            Note::Indented(key) => {
                (self.line(&key), format!("`{key}` is indented; it counts as if it were not"))
            }
            Note::TooLarge => {
                let text = "the header is larger than 256 KiB and was not read";
                return self.tell(Weight::Broken, Some(1), text);
            }
        };
        self.tell(Weight::Note, line, text);
    }

    /// Gives fields such as `allowed_tools` and `allowedTools` the name `allowed-tools`.
    fn respell(&mut self, keys: &[&str]) {
        for key in keys {
            if self.document.fields.contains_key(*key) {
                continue;
            }
            let mut written = self.document.fields.keys();
            let Some(other) = written.find(|it| is_spelling(it, key)).cloned() else { continue };
            if let Some(value) = self.document.fields.shift_remove(&other) {
                let line = self.line(&other);
                self.document.fields.insert((*key).to_owned(), value);
                self.document.lines.extend(line.map(|line| ((*key).to_owned(), line)));
                self.tell(Weight::Note, line, format!("`{other}` is read as `{key}`"));
            }
        }
    }

    /// The line at which the header stops being strict YAML, if it does.
    pub(super) fn trouble(&self) -> Option<usize> {
        self.trouble
    }

    /// Where the definition comes from.
    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    /// The text below the header.
    pub(super) fn body(&self) -> &str {
        &self.document.body
    }

    /// Whether a field is there.
    pub(super) fn has(&self, key: &str) -> bool {
        self.document.fields.contains_key(key)
    }

    /// The line a field begins at.
    pub(super) fn line(&self, key: &str) -> Option<usize> {
        self.document.lines.get(key).copied()
    }

    /// Tells something about a field; the definition is used all the same.
    pub(super) fn note(&mut self, key: &str, text: impl Into<String>) {
        let line = self.line(key);
        self.tell(Weight::Note, line, text);
    }

    /// Tells something.
    pub(super) fn tell(&mut self, weight: Weight, line: Option<usize>, text: impl Into<String>) {
        let file = match &self.home.file {
            Some(file) => file.clone(),
            None => PathBuf::from("--agents"),
        };
        self.problems.push(Problem { file, line, weight, text: text.into() });
    }

    /// Takes a field as it is.
    pub(super) fn value(&mut self, key: &str) -> Option<Value> {
        self.document.fields.shift_remove(key).filter(|value| !value.is_null())
    }

    /// Takes a field that is one line of text.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        let text = self.document.text(key);
        self.taken(key, text, "text")
    }

    /// Takes a field of running text.
    pub(super) fn prose(&mut self, key: &str) -> Option<String> {
        let text = self.document.prose(key);
        self.taken(key, text, "text")
    }

    /// Takes a field that says yes or no.
    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        let flag = self.document.flag(key);
        self.taken(key, flag, "`true` or `false`")
    }

    /// Takes a list of words, with commas between them or not.
    pub(super) fn list(&mut self, key: &str) -> Option<Vec<String>> {
        let list = self.document.list(key);
        self.taken(key, list, "a list")
    }

    /// Takes a list of names: tools, skills, arguments. In a text without commas spaces part them; an item of a
    /// list is a name with all its words, such as `Azure MCP/search`.
    pub(super) fn names(&mut self, key: &str) -> Option<Vec<String>> {
        let is_list = matches!(self.document.fields.get(key), Some(Value::Array(_)));
        if let Some(Value::String(text)) = self.document.fields.get(key)
            && let Some((within, rest)) = bracketed(text)
        {
            let (within, rest) = (within.to_owned(), rest.chars().take(40).collect::<String>());
            self.note(key, format!("`{rest}` stands behind the list in `{key}` and is left out"));
            self.document.fields.insert(key.to_owned(), Value::from(within));
        }
        // Put together first: a YAML list parts `Agent(a,b)` at its comma.
        let text = self.list(key)?.join(",");
        let named = split_names(&text, |c| c == ',');
        match named.as_slice() {
            [one] if !is_list => Some(split_names(one, char::is_whitespace)),
            _ => Some(named),
        }
    }

    /// Takes opencode's table of tools, each with yes or no: those it has, or none for all, and those taken
    /// away. What cannot be understood gives no tool.
    pub(super) fn switched_tools(
        &mut self,
        key: &str,
    ) -> Option<(Option<Vec<String>>, Vec<String>)> {
        let Some(Value::Object(table)) = self.document.fields.get(key) else { return None };
        if !table.values().all(Value::is_boolean) {
            self.note(key, format!("`{key}` should be a list; it gives no tool"));
            drop(self.value(key));
            return Some((Some(Vec::new()), Vec::new()));
        }
        let (on, off): (Vec<_>, Vec<_>) =
            table.iter().partition(|(_, flag)| flag.as_bool() == Some(true));
        let names = |flags: Vec<(&String, &Value)>| -> Vec<String> {
            flags.into_iter().map(|(tool, _)| tool.clone()).collect()
        };
        let (on, mut off) = (names(on), names(off));
        // What is only switched off leaves the others on.
        let is_list = off.is_empty() || off.iter().any(|tool| tool == "*");
        off.retain(|tool| tool != "*");
        drop(self.value(key));
        Some((is_list.then_some(on), off))
    }

    /// Takes a list of tools; none for all of them.
    pub(super) fn tools(&mut self, key: &str) -> Option<Vec<String>> {
        let written = self.document.text(key).unwrap_or_default().to_lowercase();
        if ["all", "all tools", "any"].contains(&written.as_str()) {
            self.note(key, format!("`{key}: {written}` means every tool; leave it out"));
            self.value(key);
            return None;
        }
        self.names(key).filter(|names| !names.iter().any(|name| name == "*"))
    }

    /// Takes a field with a few possible values.
    pub(super) fn choice<T>(
        &mut self,
        key: &str,
        read: impl Fn(&str) -> Option<T>,
        wanted: &str,
    ) -> Option<T> {
        let text = self.text(key)?;
        let choice = read(text.trim());
        if choice.is_none() {
            let text: String = text.chars().take(40).collect();
            self.note(
                key,
                format!("`{key}` is `{text}`, but should be {wanted}; it has no effect"),
            );
        }
        choice
    }

    /// Takes how hard the model thinks: a level, or a share of 100.
    pub(super) fn effort(&mut self, key: &str) -> Option<Effort> {
        let read = |text: &str| {
            let named = Effort::ALL.into_iter().find(|it| it.as_str().eq_ignore_ascii_case(text));
            named.or_else(|| text.parse().ok().map(effort_of_share))
        };
        self.choice(key, read, "low, medium, high, xhigh, max or a number up to 100")
    }

    /// Takes hooks; those that cannot be used are told.
    pub(super) fn hooks(&mut self, key: &str) -> Hooks {
        let line = self.line(key);
        let Some(value) = self.value(key) else { return Hooks::new() };
        let (hooks, troubles) = super::hooks(&value);
        for trouble in troubles {
            self.tell(Weight::Note, line, trouble);
        }
        hooks
    }

    /// What may follow a name, as help shows it. `[file]` is a list to YAML.
    pub(super) fn hint(&mut self, key: &str) -> Option<String> {
        match self.document.fields.get(key) {
            Some(Value::Array(_)) => self.list(key).map(|items| format!("[{}]", items.join(", "))),
            Some(_) | None => self.text(key),
        }
    }

    /// What is left.
    pub(super) fn rest(self) -> Rest {
        let Document { fields, body, .. } = self.document;
        Rest { body, more: fields, home: self.home, problems: self.problems }
    }

    /// Gives up; only what is wrong is left.
    pub(super) fn broken(mut self, line: Option<usize>, text: impl Into<String>) -> Vec<Problem> {
        self.tell(Weight::Broken, line, text);
        self.problems
    }

    fn taken<T>(&mut self, key: &str, read: Option<T>, wanted: &str) -> Option<T> {
        let written = self.document.fields.shift_remove(key);
        let is_blank = |value: &Value| match value {
            Value::Null => true,
            Value::String(text) => text.trim().is_empty(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
        };
        if read.is_none() && written.is_some_and(|value| !is_blank(&value)) {
            self.note(key, format!("`{key}` should be {wanted}; it has no effect"));
        }
        read
    }
}

/// Whether a name can be typed after a slash: one word, without what means something in a path.
pub(super) fn is_word(name: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | '\\' | ':');
    !name.is_empty()
        && !name.starts_with(['-', '.'])
        && !name.contains(is_odd)
        && name.chars().count() <= NAME_CHARS
}

/// What is wrong with an agent's name, by Claude Code's rules and ours.
pub(super) fn name_trouble(name: &str) -> Option<&'static str> {
    if name.contains(':') {
        Some("the name must not contain `:`, which stands after a plugin's name")
    } else if name.starts_with('-') {
        Some("the name must not begin with `-`")
    } else if name.contains(char::is_control) {
        Some("the name must be one line of text")
    } else if name.chars().count() > NAME_CHARS {
        Some("the name must not be longer than 128 characters")
    } else {
        None
    }
}

/// The first line of a text that says something, without the marks of headings and lists.
pub(super) fn first_line(body: &str) -> Option<String> {
    let plain = body.lines().map(|line| line.trim().trim_start_matches(['#', '>', '*', '-', ' ']));
    plain.map(str::trim).find(|line| line.contains(char::is_alphanumeric)).map(str::to_owned)
}

fn effort_of_share(share: u64) -> Effort {
    match share {
        0 => Effort::None,
        1..=25 => Effort::Low,
        26..=50 => Effort::Medium,
        51..=75 => Effort::High,
        76..=90 => Effort::Xhigh,
        91.. => Effort::Max,
    }
}

/// The list a text begins with, and what stands behind it; none where nothing does.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim().strip_prefix('[')?;
    let mut open = 1_usize;
    let end = inner.char_indices().find(|(_, c)| {
        open = match c {
            '[' => open + 1,
            ']' => open - 1,
            _ => open,
        };
        open == 0
    });
    let (end, _) = end?;
    Some((&inner[..end], inner[end + 1..].trim())).filter(|(_, rest)| !rest.is_empty())
}

/// Parts names where `between` says, outside of parentheses, and takes stray quotes and brackets off.
fn split_names(text: &str, between: impl Fn(char) -> bool) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut open = 0_usize;
    for c in text.chars() {
        match c {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 && between(c) {
            names.push(String::new());
        } else if let Some(name) = names.last_mut() {
            name.push(c);
        }
    }
    let bare = names.iter().map(|name| name.trim_matches(['"', '\'', '`', '[', ']']).trim());
    bare.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
