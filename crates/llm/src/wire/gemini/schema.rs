//! JSON Schema to the part of it that Gemini's `parameters` knows.

use serde_json::{Map, Value, json};

/// References are followed this deep; what goes deeper is recursive.
const DEEPEST: usize = 32;

/// Fields that mean the same on both sides.
const KEPT: [&str; 11] = [
    "description",
    "pattern",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "nullable",
];
const FORMATS: [&str; 5] = ["int32", "int64", "float", "double", "date-time"];

/// The schema in Gemini's own form; none if that form cannot say it.
pub(super) fn restrict(schema: &Value) -> Option<Value> {
    Restrict { root: schema }.schema(schema, 0)
}

struct Restrict<'a> {
    root: &'a Value,
}

impl Restrict<'_> {
    fn schema(&self, schema: &Value, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        let schema = schema.as_object()?;
        if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
            let mut found = self.schema(self.root.pointer(path.strip_prefix('#')?)?, depth + 1)?;
            if let Some(description) = schema.get("description") {
                found["description"] = description.clone();
            }
            return Some(found);
        }
        let merged = self.merge_all_of(schema, depth)?;
        let schema = merged.as_ref().unwrap_or(schema);
        if let Some(choices) = choices(schema) {
            return self.any_of(schema, &choices, depth);
        }
        let mut out = Map::new();
        for key in KEPT {
            if let Some(value) = schema.get(key) {
                out.insert(key.to_owned(), value.clone());
            }
        }
        let format = schema.get("format").filter(|format| FORMATS.iter().any(|one| *format == one));
        out.extend(format.map(|format| ("format".to_owned(), format.clone())));
        enumerate(schema, &mut out);
        let kind = kind(schema)?;
        out.insert("type".to_owned(), json!(kind.to_ascii_uppercase()));
        match kind {
            "object" => self.object(schema, &mut out, depth)?,
            "array" => {
                let items = self.schema(schema.get("items")?, depth + 1)?;
                out.insert("items".to_owned(), items);
            }
            _ => {}
        }
        Some(Value::Object(out))
    }

    /// An object without named properties is free-form, which Gemini's form refuses.
    fn object(
        &self,
        schema: &Map<String, Value>,
        out: &mut Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        let properties = schema.get("properties")?.as_object().filter(|some| !some.is_empty())?;
        let mut restricted = Map::new();
        for (name, property) in properties {
            restricted.insert(name.clone(), self.schema(property, depth + 1)?);
        }
        let required = schema.get("required").and_then(Value::as_array);
        let required: Vec<&Value> = required
            .into_iter()
            .flatten()
            .filter(|name| name.as_str().is_some_and(|name| restricted.contains_key(name)))
            .collect();
        if !required.is_empty() {
            out.insert("required".to_owned(), json!(required));
        }
        out.insert("properties".to_owned(), Value::Object(restricted));
        Some(())
    }

    /// A choice. `null` among the choices is a field of its own, and nothing may stand beside `anyOf`.
    fn any_of(
        &self,
        schema: &Map<String, Value>,
        choices: &[Value],
        depth: usize,
    ) -> Option<Value> {
        let is_null = |choice: &&Value| choice.get("type") == Some(&json!("null"));
        let nullable = choices.iter().any(|choice| is_null(&choice));
        let description = schema.get("description");
        let mut restricted = Vec::new();
        for choice in choices.iter().filter(|choice| !is_null(choice)) {
            let mut choice = self.schema(choice, depth + 1)?;
            if choice.get("anyOf").is_none() {
                if nullable {
                    choice["nullable"] = json!(true);
                }
                if let Some(description) = description.filter(|_| choice["description"].is_null()) {
                    choice["description"] = description.clone();
                }
            }
            restricted.push(choice);
        }
        // Indexing to look for the description has left an explicit nothing behind.
        for choice in &mut restricted {
            if let Some(fields) = choice.as_object_mut() {
                fields.retain(|_, value| !value.is_null());
            }
        }
        match restricted.len() {
            0 => None,
            1 => restricted.pop(),
            _ => Some(json!({ "anyOf": restricted })),
        }
    }

    /// `allOf`, laid into one schema; the inner none says that there is no `allOf`.
    #[expect(clippy::option_option, reason = "the outer none is a schema that cannot be said")]
    fn merge_all_of(
        &self,
        schema: &Map<String, Value>,
        depth: usize,
    ) -> Option<Option<Map<String, Value>>> {
        let Some(all) = schema.get("allOf").and_then(Value::as_array) else { return Some(None) };
        let mut merged = schema.clone();
        merged.shift_remove("allOf");
        for one in all {
            let target = match one.get("$ref").and_then(Value::as_str) {
                Some(path) if depth < DEEPEST => self.root.pointer(path.strip_prefix('#')?)?,
                Some(_) => return None,
                None => one,
            };
            for (key, value) in target.as_object()? {
                match (merged.get_mut(key), value) {
                    (Some(Value::Object(below)), Value::Object(above)) => {
                        below.extend(above.clone());
                    }
                    (Some(Value::Array(below)), Value::Array(above)) => below.extend(above.clone()),
                    (Some(_), _) => {}
                    (None, _) => {
                        merged.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        Some(Some(merged))
    }
}

/// The choices of `anyOf`, `oneOf`, or a list of types.
fn choices(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    if let Some(choices) = schema.get("anyOf").or(schema.get("oneOf")).and_then(Value::as_array) {
        return Some(choices.clone());
    }
    let kinds = schema.get("type")?.as_array()?;
    let one = |kind: &Value| {
        let mut choice = schema.clone();
        choice.insert("type".to_owned(), kind.clone());
        Value::Object(choice)
    };
    Some(kinds.iter().map(one).collect())
}

/// The type, said or implied.
fn kind(schema: &Map<String, Value>) -> Option<&str> {
    if let Some(kind) = schema.get("type").and_then(Value::as_str) {
        return (kind != "null").then_some(kind);
    }
    let values = schema.get("enum").and_then(Value::as_array);
    let one = schema.get("const").or_else(|| values.and_then(|values| values.first()));
    match one {
        Some(Value::String(_)) => Some("string"),
        Some(Value::Bool(_)) => Some("boolean"),
        Some(Value::Number(_)) => Some("number"),
        None if schema.contains_key("properties") => Some("object"),
        None if schema.contains_key("items") => Some("array"),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => None,
    }
}

/// Allowed values. Gemini lists only text; others are told in the description.
fn enumerate(schema: &Map<String, Value>, out: &mut Map<String, Value>) {
    let single = || schema.get("const").map(|value| vec![value.clone()]);
    let listed = schema.get("enum").and_then(Value::as_array).cloned();
    let Some(values) = listed.or_else(single) else { return };
    let (nulls, values): (Vec<Value>, Vec<Value>) = values.into_iter().partition(Value::is_null);
    if !nulls.is_empty() {
        out.insert("nullable".to_owned(), json!(true));
    }
    if values.iter().all(Value::is_string) {
        out.insert("enum".to_owned(), Value::Array(values));
        return;
    }
    let list: Vec<String> = values.iter().map(Value::to_string).collect();
    let said = out.get("description").and_then(Value::as_str).unwrap_or_default();
    let said = format!("{said} One of: {}.", list.join(", "));
    out.insert("description".to_owned(), json!(said.trim_start()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gemini_does_not_know_is_said_in_its_own_words() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "gone"],
            "properties": {
                "path": {"$ref": "#/$defs/Path", "description": "Which file."},
                "limit": {"type": ["integer", "null"], "format": "uint32", "minimum": 0},
                "mode": {"const": "fast"},
                "level": {"enum": [1, 2]},
                "either": {"oneOf": [{"type": "string"}, {"type": "integer"}], "description": "Both."},
                "names": {"type": "array", "items": {"type": "string", "title": "Name"}},
            },
            "$defs": {"Path": {"type": "string", "examples": ["a"]}},
        });
        let expected = json!({
            "type": "OBJECT",
            "required": ["path"],
            "properties": {
                "path": {"type": "STRING", "description": "Which file."},
                "limit": {"type": "INTEGER", "minimum": 0, "nullable": true},
                "mode": {"type": "STRING", "enum": ["fast"]},
                "level": {"type": "NUMBER", "description": "One of: 1, 2."},
                "either": {"anyOf": [
                    {"type": "STRING", "description": "Both."},
                    {"type": "INTEGER", "description": "Both."},
                ]},
                "names": {"type": "ARRAY", "items": {"type": "STRING"}},
            },
        });
        assert_eq!(restrict(&schema).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_said_is_left_to_plain_json_schema() {
        let recursive = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
        assert_eq!(restrict(&recursive), None);
        let free = json!({"type": "object", "properties": {"env": {"type": "object"}}});
        assert_eq!(restrict(&free), None);
        let tuple = json!({"type": "object", "properties": {"pair": {"type": "array"}}});
        assert_eq!(restrict(&tuple), None);
    }
}
