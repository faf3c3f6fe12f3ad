//! The manual of all settings, made from their definition.

use serde_json::Value;

use super::HOOK_EVENTS;
use super::shape::{Form, Shape, Trust};

/// What the manual says before it lists the settings.
const OPENING: &str = include_str!("reference/opening.md");

/// The manual of all settings, as Markdown. `docs/configuration.md` is this text.
pub fn reference() -> String {
    let mut manual = Manual { text: OPENING.to_owned(), seen: Vec::new() };
    for (key, shape) in Shape::root().properties() {
        if key != "$schema" {
            let trust = shape.trust().unwrap_or(Trust::Ignored);
            manual.section(&Place { path: key.to_owned(), shape, trust });
        }
    }
    manual.text
}

struct Manual {
    text: String,
    seen: Vec<Shape>,
}

/// A place in the settings and what it inherits.
struct Place {
    path: String,
    shape: Shape,
    trust: Trust,
}

impl Place {
    fn child(&self, name: &str, shape: Shape) -> Self {
        let path = format!("{}{name}", self.path);
        Self { path, shape, trust: shape.trust().unwrap_or(self.trust) }
    }

    /// The objects at or below this place whose keys deserve a table of their own.
    fn object(self) -> Option<Self> {
        match self.shape.form() {
            Form::Table if !self.shape.properties().is_empty() => Some(self),
            Form::Table => {
                self.shape.entries().and_then(|inner| self.child(".<name>", inner).object())
            }
            Form::List => self.shape.items().and_then(|inner| self.child("[]", inner).object()),
            Form::Any
            | Form::Text
            | Form::Flag
            | Form::Integer { .. }
            | Form::Number
            | Form::Choice(_) => None,
        }
    }
}

impl Manual {
    fn section(&mut self, place: &Place) {
        self.line(&format!("\n## `{}`\n", place.path));
        self.line(&format!("{}{}", place.shape.description(), trust_note(place.trust)));
        if place.path == "hooks" {
            self.line(&format!("\nEvents: `{}`.", HOOK_EVENTS.join("`, `")));
        }
        let place = Place { path: place.path.clone(), shape: place.shape, trust: place.trust };
        if let Some(object) = place.object() {
            self.table(&object);
        }
    }

    /// A table of an object's keys, then one for each object among them.
    fn table(&mut self, object: &Place) {
        let mut inner = Vec::new();
        self.line(&format!("\n`{}`:\n\n| key | type | default | meaning |", object.path));
        self.line("|---|---|---|---|");
        for (key, shape) in object.shape.properties() {
            let place = object.child(&format!(".{key}"), shape);
            let need = if object.shape.requires(key) { " **Required.**" } else { "" };
            let differs = place.trust != object.trust;
            let trust = if differs { trust_note(place.trust) } else { "" };
            let meaning = format!(
                "{}{need}{}{}{trust}",
                one_line(shape.description()),
                choices(shape),
                if shape.is_expanded() { " Expanded when used." } else { "" }
            );
            let meaning = meaning.replace('|', "\\|");
            self.line(&format!("| `{key}` | {} | {} | {meaning} |", kind(shape), default(shape)));
            inner.extend(place.object());
        }
        let entries = object.shape.entries();
        inner.extend(entries.and_then(|shape| object.child(".<name>", shape).object()));
        for place in inner {
            // Quirks and selected models occur in several places: the first is enough.
            if !self.seen.iter().any(|known| known.is_same_type(place.shape)) {
                self.seen.push(place.shape);
                self.table(&place);
            }
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

fn kind(shape: Shape) -> String {
    match shape.form() {
        Form::Any => "any".to_owned(),
        Form::Text if shape.is_secret() => "secret".to_owned(),
        Form::Text | Form::Choice(_) => "text".to_owned(),
        Form::Flag => "true or false".to_owned(),
        Form::Integer { .. } => "whole number".to_owned(),
        Form::Number => "number".to_owned(),
        Form::List => {
            shape.items().map_or("list".to_owned(), |inner| format!("list of {}", kind(inner)))
        }
        Form::Table => "object".to_owned(),
    }
}

fn default(shape: Shape) -> String {
    match shape.default() {
        Some(Value::String(text)) if text.is_empty() => String::new(),
        Some(value @ (Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
            format!("`{value}`")
        }
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => String::new(),
    }
}

fn choices(shape: Shape) -> String {
    let shape = if shape.form() == Form::List { shape.items().unwrap_or(shape) } else { shape };
    let Form::Choice(names) = shape.form() else { return String::new() };
    let docs = shape.choice_docs();
    let one = |name: &&str| {
        let meaning = docs.iter().find(|(known, _)| known == name).map_or("", |(_, text)| *text);
        let meaning = one_line(meaning);
        match meaning.trim_end_matches('.') {
            "" => format!("`{name}`"),
            meaning => format!("`{name}` ({meaning})"),
        }
    };
    format!(" One of {}.", names.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn trust_note(trust: Trust) -> &'static str {
    match trust {
        Trust::Ignored => " *Needs a trusted folder.*",
        Trust::Partly => " *Needs a trusted folder, except where a key says otherwise.*",
        Trust::Inside => " *From an untrusted folder only paths that stay inside it.*",
        Trust::Narrowing => " *From an untrusted folder only to narrow.*",
        Trust::Allowed => " *Any project may set this.*",
        Trust::Covered => "",
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
