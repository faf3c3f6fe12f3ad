//! JSON with comments and trailing commas, for files that people write.

use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why a text is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct JsoncError(String);

/// Reads a value.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, JsoncError> {
    jsonc_parser::parse_to_serde_value(text, &jsonc_parser::ParseOptions::default())
        .map_err(|error| JsoncError(error.to_string()))
}

/// The text with one value set; comments and layout stay. Tables on the way that are not there are made.
pub fn set(text: &str, path: &[&str], value: &Value) -> Result<String, JsoncError> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = CstRootNode::parse(text, &jsonc_parser::ParseOptions::default())
        .map_err(|error| JsoncError(error.to_string()))?;
    let no_table = |key: &str| JsoncError(format!("{key} is not an object"));
    let mut table = root.object_value().ok_or_else(|| no_table("the whole"))?;
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    for key in above {
        table = table.object_value_or_create(key).ok_or_else(|| no_table(key))?;
    }
    match table.get(last) {
        Some(known) => known.set_value(input(value)),
        None => drop(table.append(last, input(value))),
    }
    Ok(root.to_string())
}

/// The text without one value; comments and layout stay. None where the value is not there.
pub fn remove(text: &str, path: &[&str]) -> Result<Option<String>, JsoncError> {
    let root = CstRootNode::parse(text, &jsonc_parser::ParseOptions::default())
        .map_err(|error| JsoncError(error.to_string()))?;
    let Some((last, above)) = path.split_last() else { return Ok(None) };
    let mut table = root.object_value();
    for key in above {
        table = table.and_then(|table| table.object_value(key));
    }
    let Some(known) = table.and_then(|table| table.get(last)) else { return Ok(None) };
    known.remove();
    Ok(Some(root.to_string()))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => CstInputValue::Object(
            fields.iter().map(|(key, value)| (key.clone(), input(value))).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_set_among_comments() {
        let text =
            "{\n  // mine\n  \"agents\": {\n    \"a b\": { \"model\": \"x\" }, // his\n  },\n}\n";
        let text = set(text, &["agents", "a b", "disabled"], &json!(true)).unwrap();
        let text = set(&text, &["agents", "new", "disabled"], &json!(true)).unwrap();
        let text = set(&text, &["agents", "a b", "disabled"], &json!(false)).unwrap();
        assert!(text.contains("// mine") && text.contains("// his"), "{text}");
        let expected = json!({"agents": {
            "a b": {"model": "x", "disabled": false}, "new": {"disabled": true}}});
        assert_eq!(read::<Value>(&text).unwrap(), expected, "{text}");
        assert_eq!(
            read::<Value>(&set("", &["a"], &json!([1, "x"])).unwrap()).unwrap(),
            json!({"a": [1, "x"]})
        );
        assert!(set("[]", &["a"], &json!(1)).is_err());
        assert!(set(r#"{"a": 5}"#, &["a", "b"], &json!(1)).is_err());
        assert!(set("{", &["a"], &json!(1)).is_err());
    }

    #[test]
    fn a_value_is_removed_among_comments() {
        let text = "{\n  // mine\n  \"mcp\": { \"a\": {}, \"b\": 1 }, // his\n  \"x\": 2\n}\n";
        let less = remove(text, &["mcp", "a"]).unwrap().unwrap();
        assert!(less.contains("// mine") && less.contains("// his"), "{less}");
        assert_eq!(read::<Value>(&less).unwrap(), json!({"mcp": {"b": 1}, "x": 2}));
        for path in [["mcp", "c"], ["x", "a"], ["y", "a"]] {
            assert_eq!(remove(text, &path).unwrap(), None);
        }
        assert!(remove("{", &["a"]).is_err());
        assert_eq!(remove("", &["a"]).unwrap(), None);
    }

    #[test]
    fn comments_and_trailing_commas_are_read_over() {
        let list: Vec<u8> = read("// two\n[1, /* and */ 2,]").unwrap();
        assert_eq!(list, [1, 2]);
        assert!(read::<Vec<u8>>("[1").is_err());
    }

    proptest::proptest! {
        #[test]
        fn what_was_set_is_read_back(outer in "\\PC{0,12}", inner in "\\PC{0,12}", text in "(?s).{0,12}") {
            let before = "{ /* x */ \"kept\": [1, 2], }";
            let after = set(before, &[&outer, &inner], &json!(text));
            if outer == "kept" {
                proptest::prop_assert!(after.is_err());
            } else {
                let after = after.unwrap();
                let read = read::<Value>(&after).unwrap();
                proptest::prop_assert_eq!(&read[&outer][&inner], &json!(text));
                proptest::prop_assert_eq!(&read["kept"], &json!([1, 2]));
                let less = remove(&after, &[&outer, &inner]).unwrap().unwrap();
                let less = super::read::<Value>(&less).unwrap();
                proptest::prop_assert_eq!(less, json!({outer: {}, "kept": [1, 2]}));
            }
        }
    }
}
