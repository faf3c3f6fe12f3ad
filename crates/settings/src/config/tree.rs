//! JSON values that know the file and line they were written in, read from text with comments.

use std::collections::BTreeMap;

use jsonc_parser::ast;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Number, Value};

use super::problem::{At, Problems, Severity};

/// Deepest nesting that is read: ours needs eight; deeper ones are an accident or an attack.
const DEPTH_LIMIT: usize = 64;

/// A value and where it was written. It has no `Debug`: it may be a secret.
#[derive(Clone, PartialEq)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) place: Place,
}

/// What a value is. Tables are sorted, so that merging and showing them is deterministic.
#[derive(Clone, PartialEq)]
pub(super) enum Kind {
    Null,
    Flag(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Table(BTreeMap<String, Node>),
}

/// Where a value was written: the file's number in load order, and the position in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: usize,
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Place {
    pub(super) fn at(self, path: &str) -> At<'_> {
        At { line: self.line, column: self.column, path }
    }
}

impl Node {
    pub(super) fn new(kind: Kind, place: Place) -> Self {
        Self { kind, place }
    }

    pub(super) fn empty() -> Self {
        Self::new(Kind::Table(BTreeMap::new()), Place::default())
    }

    /// What the value is called in a message.
    pub(super) fn noun(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Flag(_) => "true or false",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "text",
            Kind::List(_) => "a list",
            Kind::Table(_) => "an object",
        }
    }

    pub(super) fn table(&self) -> Option<&BTreeMap<String, Self>> {
        match &self.kind {
            Kind::Table(entries) => Some(entries),
            Kind::Null | Kind::Flag(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) => None,
        }
    }

    pub(super) fn table_mut(&mut self) -> Option<&mut BTreeMap<String, Self>> {
        match &mut self.kind {
            Kind::Table(entries) => Some(entries),
            Kind::Null | Kind::Flag(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            Kind::Null | Kind::Flag(_) | Kind::Number(_) | Kind::List(_) | Kind::Table(_) => None,
        }
    }

    /// The plain value.
    pub(super) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Flag(flag) => Value::Bool(*flag),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Kind::Table(entries) => {
                let pairs = entries.iter().map(|(key, node)| (key.clone(), node.to_value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    /// Takes the value at a path out of the tree.
    pub(super) fn remove(&mut self, path: &[Step]) -> Option<Self> {
        let (last, parents) = path.split_last()?;
        let mut node = self;
        for step in parents {
            node = match (step, &mut node.kind) {
                (Step::Key(key), Kind::Table(entries)) => entries.get_mut(key)?,
                (Step::Index(index), Kind::List(items)) => items.get_mut(*index)?,
                (Step::Key(_) | Step::Index(_), _) => return None,
            };
        }
        match (last, &mut node.kind) {
            (Step::Key(key), Kind::Table(entries)) => entries.remove(key),
            (Step::Index(index), Kind::List(items)) if *index < items.len() => {
                Some(items.remove(*index))
            }
            (Step::Key(_) | Step::Index(_), _) => None,
        }
    }
}

/// One step on the way to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The text is not JSON; the problem has been told.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// Reads a file's text; none when it holds nothing but space and comments. Comments and trailing
/// commas are fine; anything else must be JSON.
pub(super) fn parse(
    text: &str,
    file: usize,
    problems: &mut Problems,
) -> Result<Option<Node>, Broken> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(text, &CollectOptions::default(), &options) {
        Ok(parsed) => {
            let mut reader = Reader { lines: Lines::of(text), file, problems };
            Ok(parsed.value.and_then(|value| reader.node(value, &mut String::new(), 0)))
        }
        Err(error) => {
            // Counted as everywhere else: the parser's own count takes a lone `\r` for a line.
            let (line, column) = Lines::of(text).position(error.range().start);
            let at = At { line, column, path: "" };
            let message =
                format!("this is not valid JSON: {}", lower_first(&error.kind().to_string()));
            let hint = "nothing of this file is used until it is fixed".to_owned();
            problems.push_hinted(Severity::Error, at, message, Some(hint));
            Err(Broken)
        }
    }
}

struct Reader<'a, 't> {
    lines: Lines<'t>,
    file: usize,
    problems: &'a mut Problems,
}

impl Reader<'_, '_> {
    fn node(&mut self, value: ast::Value<'_>, path: &mut String, depth: usize) -> Option<Node> {
        let place = self.place(range_of(&value).start);
        if depth > DEPTH_LIMIT {
            let message = format!("nested deeper than {DEPTH_LIMIT} levels");
            self.problems.push(Severity::Error, place.at(path), message);
            return None;
        }
        let kind = match value {
            ast::Value::NullKeyword(_) => Kind::Null,
            ast::Value::BooleanLit(literal) => Kind::Flag(literal.value),
            ast::Value::StringLit(literal) => Kind::Text(literal.value.into_owned()),
            ast::Value::NumberLit(literal) => {
                let Ok(number) = literal.value.parse() else {
                    self.problems.push(Severity::Error, place.at(path), "this number is too large");
                    return None;
                };
                Kind::Number(number)
            }
            ast::Value::Array(array) => Kind::List(self.items(array, path, depth)),
            ast::Value::Object(object) => Kind::Table(self.entries(object, path, depth)),
        };
        Some(Node::new(kind, place))
    }

    fn items(&mut self, array: ast::Array<'_>, path: &mut String, depth: usize) -> Vec<Node> {
        let mut items = Vec::with_capacity(array.elements.len());
        for (index, element) in array.elements.into_iter().enumerate() {
            let end = push_index(path, index);
            items.extend(self.node(element, path, depth + 1));
            path.truncate(end);
        }
        items
    }

    fn entries(
        &mut self,
        object: ast::Object<'_>,
        path: &mut String,
        depth: usize,
    ) -> BTreeMap<String, Node> {
        let mut entries = BTreeMap::new();
        for property in object.properties {
            // Asked for before the value's own: positions must rise.
            let place = self.place(property.range.start);
            let key = property.name.into_string();
            let end = push_key(path, &key);
            if let Some(node) = self.node(property.value, path, depth + 1)
                && entries.insert(key, node).is_some()
            {
                let message = "this key is here twice; the last one counts";
                self.problems.push(Severity::Warning, place.at(path), message);
            }
            path.truncate(end);
        }
        entries
    }

    fn place(&mut self, offset: usize) -> Place {
        let (line, column) = self.lines.position(offset);
        Place { file: self.file, line, column }
    }
}

/// Adds `.key` to a path and returns the length to cut it back to.
pub(super) fn push_key(path: &mut String, key: &str) -> usize {
    let end = path.len();
    if end > 0 {
        path.push('.');
    }
    path.push_str(key);
    end
}

/// Adds `[index]` to a path and returns the length to cut it back to.
pub(super) fn push_index(path: &mut String, index: usize) -> usize {
    let end = path.len();
    path.push('[');
    path.push_str(&index.to_string());
    path.push(']');
    end
}

fn range_of(value: &ast::Value<'_>) -> jsonc_parser::common::Range {
    match value {
        ast::Value::NullKeyword(literal) => literal.range,
        ast::Value::BooleanLit(literal) => literal.range,
        ast::Value::StringLit(literal) => literal.range,
        ast::Value::NumberLit(literal) => literal.range,
        ast::Value::Array(array) => array.range,
        ast::Value::Object(object) => object.range,
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Line and column of positions that are mostly asked for in rising order: each step counts only
/// what lies between, so a file of one long line costs no more than any other.
struct Lines<'t> {
    text: &'t str,
    offset: usize,
    line: u32,
    column: u32,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, offset: 0, line: 1, column: 1 }
    }

    fn position(&mut self, offset: usize) -> (u32, u32) {
        if offset < self.offset {
            *self = Self::of(self.text);
        }
        for c in self.text.get(self.offset..offset).unwrap_or_default().chars() {
            if c == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.offset = offset;
        (self.line, self.column)
    }
}
