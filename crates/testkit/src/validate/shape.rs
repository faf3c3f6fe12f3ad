//! Checks that several wires share: fields, names, schemas, base64, seals.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::{Map, Value};

use super::{Rules, Turns, Violation};

/// Collects violations; the checks are methods so that each reads as one line where it is used.
#[derive(Debug, Default)]
pub(super) struct Report {
    found: Vec<Violation>,
}

impl Report {
    pub(super) fn add(&mut self, path: &str, message: impl Into<String>) {
        self.found.push(Violation::new(path, message));
    }

    pub(super) fn done(self) -> Vec<Violation> {
        self.found
    }

    /// Adds `message` unless `holds`.
    pub(super) fn require(&mut self, holds: bool, path: &str, message: &str) {
        if !holds {
            self.add(path, message);
        }
    }

    /// The value as an object; complains otherwise.
    pub(super) fn object<'v>(&mut self, value: &'v Value, path: &str) -> &'v Map<String, Value> {
        static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
        value.as_object().unwrap_or_else(|| {
            self.add(path, "must be an object");
            &EMPTY
        })
    }

    /// The value as a list with something in it; complains otherwise.
    pub(super) fn list<'v>(&mut self, value: Option<&'v Value>, path: &str) -> &'v [Value] {
        match value.and_then(Value::as_array) {
            Some(list) if !list.is_empty() => list,
            Some(_) => {
                self.add(path, "must not be empty");
                &[]
            }
            None => {
                self.add(path, "must be a list");
                &[]
            }
        }
    }

    /// The value as a text with something in it; complains otherwise.
    pub(super) fn text<'v>(&mut self, value: Option<&'v Value>, path: &str) -> &'v str {
        match value.and_then(Value::as_str) {
            Some("") => {
                self.add(path, "must not be empty");
                ""
            }
            Some(text) => text,
            None => {
                self.add(path, "must be a string");
                ""
            }
        }
    }

    /// A text that is more than white space.
    pub(super) fn visible_text(&mut self, value: Option<&Value>, path: &str) {
        let text = self.text(value, path);
        if !text.is_empty() && text.trim().is_empty() {
            self.add(path, "must be more than white space");
        }
    }

    /// The user begins, and nobody speaks twice in a row.
    pub(super) fn takes_turns(
        &mut self,
        role: &str,
        before: Option<&str>,
        rules: &Rules,
        path: &str,
    ) {
        match (rules.turns, before) {
            (Turns::Any, _) => {}
            (Turns::Alternate, None) => {
                self.require(role == "user", path, "the first turn must be the user's");
            }
            (Turns::Alternate, Some(before)) => {
                self.require(before != role, path, "turns must alternate");
            }
        }
    }

    /// Fields the wire does not know.
    pub(super) fn known_fields(&mut self, object: &Map<String, Value>, known: &[&str], path: &str) {
        for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
            self.add(&join(path, key), "is no field of this wire");
        }
    }

    /// A number between two bounds, if it is there.
    pub(super) fn number_between(
        &mut self,
        object: &Map<String, Value>,
        field: &str,
        low: f64,
        high: f64,
    ) {
        if let Some(value) = object.get(field).filter(|value| !value.is_null()) {
            let fits = value.as_f64().is_some_and(|number| (low..=high).contains(&number));
            self.require(fits, field, &format!("must be a number from {low} to {high}"));
        }
    }

    /// A name of a tool: charset and length.
    pub(super) fn tool_name(&mut self, name: &str, longest: usize, extra: &str, path: &str) {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || extra.contains(c);
        if name.len() > longest || !name.chars().all(fits) {
            self.add(path, format!("`{name}` is no name for a tool here"));
        }
    }

    /// An id: letters, digits, `_` and `-`, at most `longest`.
    pub(super) fn plain_id(&mut self, id: &str, longest: usize, path: &str) {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if id.is_empty() || id.len() > longest || !id.chars().all(fits) {
            self.add(
                path,
                format!("`{id}` is no id here (letters, digits, _ and -, at most {longest})"),
            );
        }
    }

    /// A tool's schema: an object of type `object`.
    pub(super) fn object_schema(&mut self, schema: Option<&Value>, path: &str) {
        let kind = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str);
        let fits = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("object"));
        self.require(fits, path, "must be a JSON Schema of type object");
        if let Some(properties) = schema.and_then(|schema| schema.get("properties")) {
            self.require(properties.is_object(), &join(path, "properties"), "must be an object");
        }
        let required = schema.and_then(|schema| schema.get("required"));
        if let Some(required) = required {
            let names = required.as_array().is_some_and(|all| all.iter().all(Value::is_string));
            self.require(names, &join(path, "required"), "must be a list of names");
        }
    }

    /// Names that must be different.
    pub(super) fn unique<'v>(
        &mut self,
        names: impl IntoIterator<Item = &'v str>,
        path: &str,
        what: &str,
    ) {
        let mut seen = BTreeSet::new();
        for name in names {
            if !seen.insert(name) {
                self.add(path, format!("{what} `{name}` is there twice"));
            }
        }
    }

    /// Base64 with something in it.
    pub(super) fn base64(&mut self, value: Option<&Value>, path: &str) {
        let text = self.text(value, path);
        let fits = STANDARD.decode(text).is_ok() || URL_SAFE.decode(text).is_ok();
        self.require(fits, path, "must be base64");
    }

    /// A signature or encrypted thought: there, and handed out by this provider.
    pub(super) fn seal(&mut self, value: Option<&Value>, rules: &Rules, path: &str) {
        let seal = self.text(value, path);
        let foreign = rules.issued.as_ref().is_some_and(|issued| !issued.holds(seal));
        if !seal.is_empty() && foreign {
            self.add(path, "was not handed out by this provider");
        }
    }

    /// A picture or document: an address over HTTP, or a `data:` URL with base64.
    pub(super) fn address(&mut self, value: Option<&Value>, media: &[&str], path: &str) {
        let url = self.text(value, path);
        let Some(data) = url.strip_prefix("data:") else {
            let fits = url.starts_with("https://") || url.starts_with("http://");
            self.require(fits, path, "must be an http(s) or data URL");
            return;
        };
        let Some((kind, bytes)) = data.split_once(";base64,") else {
            self.add(path, "must be a base64 data URL");
            return;
        };
        self.require(media.contains(&kind), path, "has a media type this wire does not take");
        let fits = !bytes.is_empty() && STANDARD.decode(bytes).is_ok();
        self.require(fits, path, "must hold base64");
    }
}

/// Media types of pictures that every wire takes.
pub(super) const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// A path one field deeper.
pub(super) fn join(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

/// A path one place deeper.
pub(super) fn at(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

/// A field as text; empty when it is not there.
pub(super) fn word<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}
