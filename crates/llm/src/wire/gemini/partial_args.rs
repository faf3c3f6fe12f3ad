//! Arguments that come in pieces: each names a place by JSON path and brings text or a value.

use serde_json::{Map, Value};

/// Deeper or longer than this no schema is; a piece that says otherwise is dropped.
const MOST_STEPS: usize = 64;
const LONGEST_LIST: usize = 10_000;

/// Arguments so far.
#[derive(Debug)]
pub(super) struct PartialArgs(Value);

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl PartialArgs {
    /// Starts with what came whole: an object, or text where a gateway passes on what a model of
    /// another make wrote.
    pub(super) fn begin(args: Option<Value>) -> Self {
        Self(args.unwrap_or_else(|| Value::Object(Map::new())))
    }

    /// Adds a piece such as `{"jsonPath": "$.city", "stringValue": "Flor"}`.
    pub(super) fn add(&mut self, piece: &Value) {
        let Some(steps) = piece["jsonPath"].as_str().and_then(steps) else { return };
        let mut place = &mut self.0;
        for step in steps {
            place = match step {
                Step::Key(key) => entry(place, key),
                Step::Index(at) => item(place, at),
            };
        }
        if let Some(text) = piece["stringValue"].as_str() {
            if let Value::String(so_far) = place {
                so_far.push_str(text);
            } else {
                *place = Value::String(text.to_owned());
            }
        } else if let Some(value) =
            ["numberValue", "boolValue"].iter().find_map(|key| piece.get(*key))
        {
            *place = value.clone();
        }
    }

    /// The arguments as JSON, or as the text they came in.
    pub(super) fn finish(self) -> String {
        match self.0 {
            Value::String(text) => text,
            json @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => json.to_string(),
        }
    }
}

/// Reads `$.a.b[0]['c']`.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            steps.push(Step::Key(&name[..end]));
            rest = &name[end..];
        } else {
            let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
            let quoted = inside.trim_matches(['\'', '"']);
            steps.push(match inside.parse() {
                Ok(at) if at < LONGEST_LIST => Step::Index(at),
                Ok(_) => return None,
                Err(_) => Step::Key(quoted),
            });
            rest = after;
        }
    }
    (steps.len() <= MOST_STEPS).then_some(steps)
}

fn entry<'a>(value: &'a mut Value, key: &str) -> &'a mut Value {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    &mut value[key]
}

fn item(value: &mut Value, at: usize) -> &mut Value {
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    if let Value::Array(items) = value
        && items.len() <= at
    {
        items.resize(at + 1, Value::Null);
    }
    &mut value[at]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_add_up_to_arguments() {
        let mut args = PartialArgs::begin(None);
        for piece in [
            json!({"jsonPath": "$.city", "stringValue": "Flor"}),
            json!({"jsonPath": "$.city", "stringValue": "ence"}),
            json!({"jsonPath": "$.days[1].n", "numberValue": 3}),
            json!({"jsonPath": "$['odd.key']", "boolValue": true}),
            json!({"jsonPath": "$.none", "nullValue": "NULL_VALUE"}),
            json!({"jsonPath": "$.days[99999999999]", "numberValue": 1}),
            json!({"jsonPath": "no path"}),
        ] {
            args.add(&piece);
        }
        let expected =
            json!({"city": "Florence", "days": [null, {"n": 3}], "odd.key": true, "none": null});
        assert_eq!(serde_json::from_str::<Value>(&args.finish()).unwrap(), expected);
    }
}
