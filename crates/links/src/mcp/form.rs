//! A server's question to the user: from the schema it sends to fields that can be shown.
//!
//! The schema is foreign: whatever it holds becomes fields, or none. What is no kind we know becomes a text.

use serde_json::Value;

use super::talk::{Choice, Elicitation, Field, Kind};

/// Fields of a form that are shown.
const FIELDS: usize = 64;
/// Choices of a field that are shown.
const CHOICES: usize = 256;
/// Bytes of a text that are shown.
const TEXT: usize = 4 << 10;

/// What a server wants the user to do; none where it is no question we could ask.
pub(super) fn elicitation(params: &Value) -> Option<Elicitation> {
    let message = clipped(params.get("message")?.as_str()?);
    match params.get("mode").and_then(Value::as_str) {
        Some("url") => {
            let url = url::Url::parse(params.get("url")?.as_str()?).ok()?;
            // Whatever else the system opens is not a page.
            matches!(url.scheme(), "http" | "https").then_some(Elicitation::Page { message, url })
        }
        Some("form") | None => {
            let fields = fields(params.get("requestedSchema").unwrap_or(&Value::Null));
            Some(Elicitation::Form { message, fields })
        }
        Some(_) => None,
    }
}

/// The fields of a schema, in its order.
pub(super) fn fields(schema: &Value) -> Vec<Field> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let required: Vec<&str> = texts(schema.get("required"));
    let field = |(name, schema): (&String, &Value)| Field {
        name: name.clone(),
        title: text(schema, "title").unwrap_or_else(|| clipped(name)),
        description: text(schema, "description").unwrap_or_default(),
        required: required.contains(&name.as_str()),
        default: schema.get("default").filter(|value| !value.is_null()).cloned(),
        kind: kind(schema),
    };
    properties.iter().take(FIELDS).map(field).collect()
}

fn kind(schema: &Value) -> Kind {
    let number = |name: &str| schema.get(name).and_then(Value::as_f64);
    let letters = |name: &str| schema.get(name).and_then(Value::as_u64);
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => Kind::Switch,
        Some(kind @ ("number" | "integer")) => Kind::Number {
            whole: kind == "integer",
            least: number("minimum"),
            most: number("maximum"),
        },
        Some("array") => Kind::SomeOf(choices(schema.get("items").unwrap_or(&Value::Null))),
        Some(_) | None => {
            let choices = choices(schema);
            if choices.is_empty() {
                let format = text(schema, "format");
                Kind::Text { least: letters("minLength"), most: letters("maxLength"), format }
            } else {
                Kind::OneOf(choices)
            }
        }
    }
}

/// The choices of a schema: with titles of their own, with titles beside them, or without.
fn choices(schema: &Value) -> Vec<Choice> {
    let choices = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
    if let Some(choices) = choices {
        let choice = |item: &Value| {
            let value = item.get("const")?.as_str()?.to_owned();
            let title = text(item, "title").unwrap_or_else(|| clipped(&value));
            Some(Choice { value, title })
        };
        return choices.iter().filter_map(choice).take(CHOICES).collect();
    }
    let (values, names) = (texts(schema.get("enum")), texts(schema.get("enumNames")));
    let titles = if names.len() == values.len() { &names } else { &values };
    let choice = |(value, title): (&&str, &&str)| Choice {
        value: (*value).to_owned(),
        title: clipped(title),
    };
    values.iter().zip(titles).take(CHOICES).map(choice).collect()
}

fn texts(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn text(schema: &Value, name: &str) -> Option<String> {
    Some(clipped(schema.get(name)?.as_str()?)).filter(|text| !text.is_empty())
}

/// A text to show.
fn clipped(text: &str) -> String {
    super::menu::shown(text, TEXT)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn choice(value: &str, title: &str) -> Choice {
        Choice { value: value.to_owned(), title: title.to_owned() }
    }

    #[test]
    fn every_kind_of_field_is_known() {
        let schema = json!({ "type": "object", "required": ["mail"], "properties": {
            "mail": { "type": "string", "title": "E-mail", "format": "email", "maxLength": 9 },
            "age": { "type": "integer", "minimum": 0, "maximum": 150, "default": 42 },
            "weight": { "type": "number", "minimum": 0.5 },
            "news": { "type": "boolean", "default": true },
            "plain": { "type": "string", "enum": ["a", "b"] },
            "named": { "type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"] },
            "titled": { "type": "string", "oneOf": [{ "const": "a", "title": "Ah" }] },
            "some": { "type": "array", "items": { "type": "string", "enum": ["x", "y"] } },
            "some_titled": { "type": "array", "items": { "anyOf": [{ "const": "x", "title": "Ex" }] } },
        }});
        let fields = fields(&schema);
        let kinds: Vec<Kind> = fields.iter().map(|field| field.kind.clone()).collect();
        assert_eq!(
            kinds,
            [
                Kind::Text { least: None, most: Some(9), format: Some("email".to_owned()) },
                Kind::Number { whole: true, least: Some(0.0), most: Some(150.0) },
                Kind::Number { whole: false, least: Some(0.5), most: None },
                Kind::Switch,
                Kind::OneOf(vec![choice("a", "a"), choice("b", "b")]),
                Kind::OneOf(vec![choice("a", "A"), choice("b", "B")]),
                Kind::OneOf(vec![choice("a", "Ah")]),
                Kind::SomeOf(vec![choice("x", "x"), choice("y", "y")]),
                Kind::SomeOf(vec![choice("x", "Ex")]),
            ]
        );
        assert_eq!((fields[0].title.as_str(), fields[0].required), ("E-mail", true));
        assert_eq!((fields[1].required, &fields[1].default), (false, &Some(json!(42))));
    }

    #[test]
    fn only_pages_are_opened() {
        let page = |url: &str| elicitation(&json!({ "mode": "url", "message": "m", "url": url }));
        assert!(matches!(page("https://example.com/a"), Some(Elicitation::Page { .. })));
        for url in ["file:///etc/passwd", "javascript:alert(1)", "vscode://x", "", "nonsense"] {
            assert_eq!(page(url), None, "{url}");
        }
        assert_eq!(elicitation(&json!({ "mode": "telepathy", "message": "m" })), None);
        assert_eq!(elicitation(&json!({ "requestedSchema": {} })), None);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let word = prop::sample::select(vec![
            "type",
            "string",
            "array",
            "integer",
            "enum",
            "enumNames",
            "oneOf",
            "const",
            "title",
            "items",
            "anyOf",
            "properties",
            "required",
            "default",
            "minimum",
            "minLength",
            "x",
        ]);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            word.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 64, 8, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::vec((word.clone(), inner), 0..8).prop_map(|pairs| {
                    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn any_schema_becomes_fields(schema in any_json()) {
            let named = json!({ "properties": { "field": schema.clone() }, "required": schema.clone() });
            prop_assert_eq!(fields(&named).len(), 1);
            prop_assert!(fields(&schema).len() <= FIELDS);
        }
    }
}
