//! Arguments made up from a schema: as few as it allows, as plain as it allows.

use serde_json::{Map, Value, json};

/// How deep a schema is followed; one that refers to itself has no end.
const DEPTH: u32 = 12;
/// Most letters or items that are made up.
const MOST: u64 = 1000;

/// Arguments that fit the schema of a tool: what must be there, and defaults.
pub(super) fn arguments(schema: &Value) -> Map<String, Value> {
    let made = Maker { root: schema }.value(schema, DEPTH);
    made.as_object().cloned().unwrap_or_default()
}

/// A text of a format and a length.
pub(super) fn text(format: Option<&str>, least: Option<u64>, most: Option<u64>) -> String {
    let plain = match format {
        Some("uri" | "url" | "iri" | "uri-reference") => "https://example.com/",
        Some("email" | "idn-email") => "somebody@example.com",
        Some("date") => "2026-01-01",
        Some("date-time") => "2026-01-01T00:00:00Z",
        Some("time") => "00:00:00Z",
        Some("duration") => "P1D",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        Some("hostname" | "idn-hostname") => "example.com",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("json-pointer") => "/a",
        Some("regex") => "a",
        Some(_) | None => "test",
    };
    let least = least.unwrap_or(0).min(MOST);
    let padded = plain.chars().chain(std::iter::repeat('x'));
    let count = (plain.chars().count() as u64).max(least).min(most.unwrap_or(u64::MAX));
    padded.take(usize::try_from(count).unwrap_or(0)).collect()
}

struct Maker<'a> {
    root: &'a Value,
}

impl Maker<'_> {
    fn value(&self, schema: &Value, depth: u32) -> Value {
        let Some(fields) = schema.as_object() else { return json!("test") };
        let Some(below) = depth.checked_sub(1) else { return Value::Null };
        for key in ["const", "default"] {
            if let Some(value) = fields.get(key) {
                return value.clone();
            }
        }
        for key in ["enum", "examples"] {
            if let Some(value) = fields.get(key).and_then(|list| list.get(0)) {
                return value.clone();
            }
        }
        if let Some(found) = fields.get("$ref").and_then(Value::as_str).and_then(|it| self.find(it))
        {
            return self.value(found, below);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(first) = fields.get(key).and_then(|list| list.get(0)) {
                return joined(self.own(fields, below), self.value(first, below));
            }
        }
        let parts = fields.get("allOf").and_then(Value::as_array).into_iter().flatten();
        parts.fold(self.own(fields, below), |made, part| joined(made, self.value(part, below)))
    }

    /// A value for what a schema says by itself.
    fn own(&self, schema: &Map<String, Value>, depth: u32) -> Value {
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        let count = |key: &str| schema.get(key).and_then(Value::as_u64);
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => {
                let item = schema.get("items").unwrap_or(&Value::Null);
                let items = count("minItems").unwrap_or(0).min(MOST);
                (0..items).map(|_| self.value(item, depth)).collect()
            }
            "integer" => {
                json!(whole(number("minimum"), number("exclusiveMinimum"), number("maximum")))
            }
            "number" => match (number("minimum"), number("exclusiveMinimum"), number("maximum")) {
                (Some(least), _, _) => json!(least),
                (None, Some(above), _) => json!(above + 0.5),
                (None, None, Some(most)) => json!(most.min(1.0)),
                (None, None, None) => json!(1),
            },
            "boolean" => json!(false),
            "null" => Value::Null,
            _ => {
                let format = schema.get("format").and_then(Value::as_str);
                text(format, count("minLength"), count("maxLength")).into()
            }
        }
    }

    fn object(&self, schema: &Map<String, Value>, depth: u32) -> Value {
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let mut made = Map::new();
        let known = schema.get("properties").and_then(Value::as_object);
        for (name, property) in known.into_iter().flatten() {
            if required.contains(&name.as_str()) || property.get("default").is_some() {
                made.insert(name.clone(), self.value(property, depth));
            }
        }
        for name in required {
            made.entry(name).or_insert_with(|| json!("test"));
        }
        Value::Object(made)
    }

    /// What a reference within the schema means. Nothing is fetched for one that leads out of it.
    fn find(&self, reference: &str) -> Option<&Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }
}

/// The type of a schema; the first of several that is not null.
fn kind(schema: &Map<String, Value>) -> &str {
    let named = match schema.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.clone().find(|kind| *kind != "null").or_else(|| kinds.next())
        }
        Some(_) | None => None,
    };
    let guessed = || {
        let has = |key: &str| schema.contains_key(key);
        if has("properties") || has("required") || has("allOf") || has("anyOf") || has("oneOf") {
            "object"
        } else if has("items") {
            "array"
        } else {
            "string"
        }
    };
    named.unwrap_or_else(guessed)
}

fn whole(least: Option<f64>, above: Option<f64>, most: Option<f64>) -> i64 {
    let number = match (least, above) {
        (Some(least), _) => least.ceil(),
        (None, Some(above)) => above.floor() + 1.0,
        (None, None) => most.map_or(1.0, |most| most.floor().min(1.0)),
    };
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and saturates")]
    {
        number as i64
    }
}

/// Both, where both are objects; else the one that says more.
fn joined(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            one.extend(other);
            Value::Object(one)
        }
        (Value::Object(one), other) if one.is_empty() => other,
        (one, _) => one,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fits(schema: &Value) {
        let made = Value::Object(arguments(schema));
        let checked = jsonschema::validate(schema, &made);
        assert!(checked.is_ok(), "{made} for {schema}: {checked:?}");
    }

    #[test]
    fn what_is_made_up_fits_the_schema() {
        fits(&json!({"type": "object"}));
        fits(
            &json!({"type": "object", "required": ["a", "b", "c", "d", "e", "f", "g", "h"], "properties": {
            "a": {"type": "string", "minLength": 9, "maxLength": 9},
            "b": {"type": "integer", "exclusiveMinimum": 4},
            "c": {"type": "number", "maximum": -3},
            "d": {"enum": ["x", "y"]},
            "e": {"type": "array", "minItems": 2, "items": {"type": "boolean"}},
            "f": {"$ref": "#/$defs/there"},
            "g": {"anyOf": [{"type": "null"}, {"type": "string"}]},
            "h": {"type": ["null", "integer"]},
            "left_out": {"type": "string"},
            "by_default": {"type": "integer", "default": 7},
        }, "$defs": {"there": {"type": "object", "required": ["z"], "properties": {"z": {"const": 3}}}}}),
        );
        fits(&json!({"allOf": [
            {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
            {"type": "object", "required": ["b"], "properties": {"b": {"type": "boolean"}}},
        ]}));
        let made = arguments(&json!({"properties": {"by": {"default": 7}, "not": {}}}));
        assert_eq!(Value::Object(made), json!({"by": 7}));
    }

    #[test]
    fn a_schema_without_end_has_one() {
        let schema =
            json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}});
        assert!(arguments(&schema).contains_key("a"));
        let schema = json!({"$ref": "https://example.com/schema.json"});
        assert_eq!(arguments(&schema), Map::new());
    }

    fn schemas() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            (0u64..9, 0u64..9).prop_map(|(least, more)| {
                json!({"type": "string", "minLength": least, "maxLength": least + more})
            }),
            (-9i64..9, 0i64..9).prop_map(|(least, more)| {
                json!({"type": "integer", "minimum": least, "maximum": least + more})
            }),
            (-9i64..9).prop_map(|most| json!({"type": "number", "maximum": most})),
            Just(json!({"type": "boolean"})),
            Just(json!({"type": "string", "format": "email"})),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                (prop::collection::vec(inner.clone(), 0..4)).prop_map(|all| {
                    let named = all.into_iter().enumerate();
                    let named: Map<_, _> = named.map(|(at, it)| (format!("p{at}"), it)).collect();
                    let required: Vec<&String> = named.keys().step_by(2).collect();
                    json!({"type": "object", "required": required, "properties": named})
                }),
                (inner, 0u64..3).prop_map(|(item, count)| {
                    json!({"type": "array", "items": item, "minItems": count})
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_plain_schema_is_satisfied(schema in schemas()) {
            fits(&json!({"type": "object", "required": ["it"], "properties": {"it": schema}}));
        }

        #[test]
        fn any_json_is_a_schema_that_does_no_harm(text in "\\PC{0,80}") {
            if let Ok(schema) = serde_json::from_str::<Value>(&text) {
                arguments(&schema);
            }
        }
    }
}
