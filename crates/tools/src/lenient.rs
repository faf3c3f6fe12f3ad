//! Arguments as models really send them: numbers and switches as text, lists as JSON in a text.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A whole number that is not negative, also as text or with a fraction; none for null or an empty text.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(from)?;
    let number = match &value {
        Value::Null => return Ok(None),
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_f64(),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let whole = number.filter(|number| (0.0..=1e15).contains(number));
    let whole =
        whole.ok_or_else(|| D::Error::custom(format!("{value} is no number to use here")))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked"
    )]
    Ok(Some(whole.ceil() as u64))
}

/// A switch, also as text or as 0 and 1; off for null.
pub(crate) fn switch<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    let value = Value::deserialize(from)?;
    let text = match &value {
        Value::Null => return Ok(false),
        Value::Bool(on) => return Ok(*on),
        Value::String(text) => text.trim().to_ascii_lowercase(),
        Value::Number(number) => number.to_string(),
        Value::Array(_) | Value::Object(_) => String::new(),
    };
    match text.as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" | "" => Ok(false),
        _ => Err(D::Error::custom(format!("{value} is neither true nor false"))),
    }
}

/// A switch that may be left open.
pub(crate) fn maybe_switch<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    switch(from).map(Some)
}

/// A list, also as JSON in a text, or one item without a list around it.
pub(crate) fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let items = match Value::deserialize(from)? {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(items)) => items,
            Ok(_) | Err(_) => vec![Value::String(text)],
        },
        one @ (Value::Bool(_) | Value::Number(_) | Value::Object(_)) => vec![one],
    };
    items.into_iter().map(|item| serde_json::from_value(item).map_err(D::Error::custom)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_come_as_text_too() {
        for (sent, read) in [
            (json!(5), Some(5)),
            (json!("5"), Some(5)),
            (json!(0.5), Some(1)),
            (json!(null), None),
            (json!(""), None),
        ] {
            assert_eq!(number(sent).unwrap(), read);
        }
        for sent in [json!(-1), json!("soon"), json!([1]), json!(1e300)] {
            assert!(number(sent).is_err());
        }
    }

    #[test]
    fn switches_and_lists_come_as_text_too() {
        assert!(switch(json!("True")).unwrap() && !switch(json!(0)).unwrap());
        assert!(switch(json!("maybe")).is_err());
        let read = |sent| list::<_, String>(sent).unwrap();
        assert_eq!(read(json!(["a", "b"])), ["a", "b"]);
        assert_eq!(read(json!("[\"a\"]")), ["a"]);
        assert_eq!(read(json!("a")), ["a"]);
        assert!(list::<_, u8>(json!(["a"])).is_err());
    }
}
