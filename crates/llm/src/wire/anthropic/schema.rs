//! Tool schemas as Claude and Nova take them: an object at the root, no choice between objects.

use serde_json::{Map, Value};

/// The schema with `type: object` at its root and root-level `allOf`, `anyOf` and `oneOf` folded into
/// one object. A single tool of that kind would have every request of the session refused.
///
/// The folded schema allows more than the original did; whoever runs the tool checks anyway.
pub(in crate::wire) fn plain_object(schema: &Value) -> Value {
    let mut root = schema.as_object().cloned().unwrap_or_default();
    for (word, required) in
        [("allOf", Required::Union), ("anyOf", Required::Common), ("oneOf", Required::Common)]
    {
        if let Some(Value::Array(branches)) = root.shift_remove(word) {
            fold(&mut root, &branches, required);
        }
    }
    root.insert("type".into(), "object".into());
    root.entry("properties").or_insert_with(|| Map::new().into());
    root.into()
}

/// Which fields a folded schema requires.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Required {
    /// What any branch requires.
    Union,
    /// What all branches require.
    Common,
}

fn fold(root: &mut Map<String, Value>, branches: &[Value], rule: Required) {
    let branches: Vec<Map<String, Value>> =
        branches.iter().filter_map(|branch| resolve(root, branch).as_object().cloned()).collect();
    let mut properties = match root.shift_remove("properties") {
        Some(Value::Object(properties)) => properties,
        Some(_) | None => Map::new(),
    };
    for branch in &branches {
        if let Some(Value::Object(more)) = branch.get("properties") {
            for (name, value) in more {
                properties.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
    }
    root.insert("properties".into(), properties.into());
    let demanded = |branch: &Map<String, Value>| names(branch.get("required"));
    let mut required = names(root.get("required"));
    let candidates: Vec<String> = branches.iter().flat_map(demanded).collect();
    for name in candidates {
        let wanted = match rule {
            Required::Union => true,
            Required::Common => branches.iter().all(|branch| demanded(branch).contains(&name)),
        };
        if wanted && !required.contains(&name) {
            required.push(name);
        }
    }
    if !required.is_empty() {
        root.insert("required".into(), required.into());
    }
}

/// Follows one local reference, such as `#/$defs/Point`.
fn resolve<'a>(root: &'a Map<String, Value>, branch: &'a Value) -> &'a Value {
    let target = branch.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix("#/"));
    let Some((section, name)) = target.and_then(|path| path.split_once('/')) else {
        return branch;
    };
    root.get(section).and_then(|section| section.get(name)).unwrap_or(branch)
}

fn names(required: Option<&Value>) -> Vec<String> {
    let names = required.and_then(Value::as_array).into_iter().flatten();
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plain_schema_stays_as_it_is() {
        let schema = json!({
            "type": "object",
            "properties": { "path": { "anyOf": [{ "type": "string" }, { "type": "null" }] } },
            "required": ["path"],
        });
        assert_eq!(plain_object(&schema), schema);
    }

    #[test]
    fn a_choice_at_the_root_becomes_one_object_that_requires_what_all_choices_require() {
        let schema = json!({
            "$defs": { "ById": {
                "type": "object",
                "properties": { "id": { "type": "integer" }, "dry": { "type": "boolean" } },
                "required": ["id", "dry"],
            }},
            "oneOf": [
                { "$ref": "#/$defs/ById" },
                { "properties": { "name": { "type": "string" } }, "required": ["name", "dry"] },
            ],
        });
        let plain = plain_object(&schema);
        let fields: Vec<_> = plain["properties"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["id", "dry", "name"]);
        assert_eq!(plain["required"], json!(["dry"]));
        assert_eq!(plain["type"], "object");
        assert!(plain.get("oneOf").is_none());
    }

    #[test]
    fn what_is_no_object_at_all_becomes_an_empty_one() {
        let empty = json!({ "type": "object", "properties": {} });
        assert_eq!(plain_object(&Value::Null), empty);
        assert_eq!(plain_object(&json!({})), json!({ "type": "object", "properties": {} }));
    }
}
