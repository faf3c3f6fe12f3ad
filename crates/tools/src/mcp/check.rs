//! Whether arguments fit a schema: what is required is there, and what is there is of its type. What a schema
//! says beyond that, the server checks itself.

use serde_json::{Map, Value};

/// How deep a schema is looked into.
const DEPTH: usize = 8;
/// Choices that are named; the schema has them all.
const CHOICES: usize = 20;

/// What is wrong with arguments, in words for a model; none where nothing is.
pub(super) fn misfit(schema: &Value, arguments: &Map<String, Value>) -> Option<String> {
    object(schema, arguments, "", DEPTH)
}

fn object(schema: &Value, fields: &Map<String, Value>, at: &str, depth: usize) -> Option<String> {
    let path = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    let required = schema.get("required").and_then(Value::as_array);
    for key in required.into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(key) {
            return Some(format!("`{}` is missing", path(key)));
        }
    }
    let known = schema.get("properties").and_then(Value::as_object);
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
        && schema.get("patternProperties").is_none();
    for (key, value) in fields {
        match known.and_then(|known| known.get(key)) {
            Some(schema) => {
                if let Some(why) = one(schema, value, &path(key), depth - 1) {
                    return Some(why);
                }
            }
            None if is_closed => return Some(format!("there is no `{}`", path(key))),
            None => {}
        }
    }
    None
}

fn one(schema: &Value, value: &Value, at: &str, depth: usize) -> Option<String> {
    if depth == 0 {
        return None;
    }
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            Vec::new()
        }
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(value, kind)) {
        return Some(format!("`{at}` must be {}", kinds.join(" or ")));
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array)
        && !choices.contains(value)
    {
        let more = if choices.len() > CHOICES { ", …" } else { "" };
        let named: Vec<String> = choices.iter().take(CHOICES).map(Value::to_string).collect();
        return Some(format!("`{at}` must be one of {}{more}", named.join(", ")));
    }
    match value {
        Value::Object(fields) => object(schema, fields, at, depth),
        Value::Array(items) => {
            let schema = schema.get("items").filter(|items| items.is_object())?;
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| one(schema, item, &format!("{at}[{index}]"), depth - 1))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|it| it.fract() == 0.0)
        }
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        // A type we do not know is the server's to check.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn found(schema: &Value, arguments: &Value) -> Option<String> {
        misfit(schema, arguments.as_object().unwrap())
    }

    #[test]
    fn what_is_missing_or_of_another_type_is_named() {
        let schema = json!({
            "type": "object", "required": ["path"], "additionalProperties": false,
            "properties": {
                "path": { "type": "string" }, "count": { "type": ["integer", "null"] },
                "kind": { "enum": ["a", "b"] },
                "edits": { "type": "array", "items": { "type": "object", "required": ["to"] } },
            },
        });
        for (arguments, why) in [
            (json!({ "path": "x" }), None),
            (json!({ "path": "x", "count": 3.0, "kind": "a", "edits": [{ "to": 1 }] }), None),
            (json!({ "path": "x", "count": null }), None),
            (json!({}), Some("`path` is missing")),
            (json!({ "path": 1 }), Some("`path` must be string")),
            (json!({ "path": "x", "count": 1.5 }), Some("`count` must be integer or null")),
            (json!({ "path": "x", "kind": "c" }), Some("`kind` must be one of \"a\", \"b\"")),
            (json!({ "path": "x", "edits": [{}] }), Some("`edits[0].to` is missing")),
            (json!({ "path": "x", "paht": 1 }), Some("there is no `paht`")),
        ] {
            assert_eq!(found(&schema, &arguments).as_deref(), why, "{arguments}");
        }
        let many: Vec<usize> = (0..1_000).collect();
        let schema = json!({ "properties": { "n": { "enum": many } } });
        let why = found(&schema, &json!({ "n": -1 })).unwrap();
        assert!(why.ends_with("18, 19, …"), "{why}");
    }

    #[test]
    fn a_schema_that_says_nothing_we_know_lets_all_pass() {
        for schema in [json!({}), json!(true), json!({ "$ref": "#/x" }), json!({ "type": "odd" })] {
            assert_eq!(found(&schema, &json!({ "a": [1, { "b": null }] })), None, "{schema}");
        }
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-c]{0,2}|required|properties|items|object|string".prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 40, 4, |inner| {
            let key = "[a-c]|type|required|properties|items|enum|additionalProperties";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(key, inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn no_schema_and_no_arguments_break_the_check(schema in anything(), value in anything()) {
            let fields = Map::from_iter([("a".to_owned(), value)]);
            let _said = misfit(&schema, &fields);
        }
    }
}
