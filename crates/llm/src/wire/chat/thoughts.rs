//! What a model shows of its thinking, and what must go back to it word for word.

use serde_json::{Map, Value, json};

use super::chunk::Message;
use crate::delta::Delta;
use crate::reading::parts::{Parts, Prose};

/// The sidecar's key for the field that thoughts came in.
pub(super) const FIELD: &str = "field";
/// The sidecar's key for structured thoughts (`OpenRouter` and its kin).
pub(super) const DETAILS: &str = "reasoning_details";
/// The sidecar's key for a sealed thought beside plain text (Copilot).
pub(super) const OPAQUE: &str = "reasoning_opaque";

/// The thoughts of one answer.
#[derive(Debug, Default)]
pub(super) struct Thoughts {
    details: Vec<Value>,
    opaque: Option<Value>,
    field: Option<&'static str>,
    /// The parts that hold thoughts; the first carries the details of all.
    parts: Vec<usize>,
}

impl Thoughts {
    /// The readable thought in `message`, and the field it stands in.
    pub(super) fn readable<'a>(message: &'a Message<'_>) -> Option<(&'static str, &'a str)> {
        [
            ("reasoning_content", &message.reasoning_content),
            ("reasoning", &message.reasoning),
            ("reasoning_text", &message.reasoning_text),
        ]
        .into_iter()
        .find_map(|(field, text)| Some((field, text.some()?)))
    }

    /// Takes structured thoughts. Returns their text, for where there is no readable field.
    pub(super) fn take_details(&mut self, details: Vec<Value>) -> String {
        let mut text = String::new();
        for detail in details {
            let prose = [detail.get("text"), detail.get("summary")];
            text.extend(prose.into_iter().flatten().filter_map(Value::as_str));
            self.merge(detail);
        }
        text
    }

    /// Takes a sealed thought.
    pub(super) fn take_opaque(&mut self, opaque: Value) {
        self.opaque = Some(opaque);
    }

    /// Notes that a thought went into `part`; marks the part as its maker's own.
    pub(super) fn landed(&mut self, field: &'static str, part: usize, out: &mut Vec<Delta>) {
        if self.parts.last() != Some(&part) {
            self.parts.push(part);
            self.field.get_or_insert(field);
            out.push(Delta::Sidecar { part, data: json!({ FIELD: field }) });
        }
    }

    /// Makes sure that sealed thoughts without any text have a part, at the place they came.
    pub(super) fn anchor(&mut self, parts: &mut Parts, out: &mut Vec<Delta>) {
        let sealed = !self.details.is_empty() || self.opaque.is_some();
        if sealed && self.parts.is_empty() {
            let part = parts.prose_part(Prose::Thought, out);
            self.landed(DETAILS, part, out);
        }
    }

    /// Hands over what must go back word for word.
    pub(super) fn finish(&mut self, out: &mut Vec<Delta>) {
        let Some(&part) = self.parts.first() else { return };
        let mut data = Map::new();
        if !self.details.is_empty() {
            data.insert(DETAILS.to_owned(), Value::Array(std::mem::take(&mut self.details)));
        }
        if let Some(opaque) = self.opaque.take() {
            data.insert(OPAQUE.to_owned(), opaque);
        }
        if !data.is_empty() {
            data.insert(FIELD.to_owned(), json!(self.field));
            out.push(Delta::Sidecar { part, data: Value::Object(data) });
        }
    }

    /// Joins a streamed detail to the one it continues: the maker wants whole blocks back.
    fn merge(&mut self, detail: Value) {
        if let Some(last) = self.details.last_mut()
            && continues(last, &detail)
            && let (Value::Object(last), Value::Object(detail)) = (&mut *last, &detail)
        {
            for (key, value) in detail {
                join(last, key, value);
            }
            return;
        }
        self.details.push(detail);
    }
}

/// Whether `next` is more of `last`. Encrypted blocks always come whole.
fn continues(last: &Value, next: &Value) -> bool {
    let same = |key: &str| last.get(key) == next.get(key);
    let id_fits = same("id") || next.get("id").is_none_or(Value::is_null);
    let signed = last.get("signature").is_some_and(Value::is_string);
    let ended = signed && next.get("text").is_some_and(|text| text != "");
    let prose = ["reasoning.text", "reasoning.summary"];
    let kind = next.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| prose.contains(&kind))
        && same("type")
        && same("index")
        && id_fits
        && !ended
}

fn join(into: &mut Map<String, Value>, key: &str, value: &Value) {
    match (into.get_mut(key), value) {
        (_, Value::Null) => {}
        (Some(Value::String(so_far)), Value::String(more)) if matches!(key, "text" | "summary") => {
            so_far.push_str(more);
        }
        (Some(slot), value) => *slot = value.clone(),
        (None, value) => {
            into.insert(key.to_owned(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streamed_details_are_put_together_and_sealed_ones_stay_apart() {
        let mut thoughts = Thoughts::default();
        let stream = [
            json!({"type": "reasoning.text", "text": "Let", "index": 0}),
            json!({"type": "reasoning.text", "text": " me", "index": 0}),
            json!({"type": "reasoning.text", "signature": "s1", "index": 0}),
            json!({"type": "reasoning.text", "text": "Second", "index": 0}),
            json!({"type": "reasoning.encrypted", "data": "x", "index": 1}),
            json!({"type": "reasoning.encrypted", "data": "y", "index": 1}),
        ];
        let text: String = stream.into_iter().map(|one| thoughts.take_details(vec![one])).collect();
        assert_eq!(text, "Let meSecond");
        assert_eq!(
            Value::Array(thoughts.details),
            json!([
                {"type": "reasoning.text", "text": "Let me", "index": 0, "signature": "s1"},
                {"type": "reasoning.text", "text": "Second", "index": 0},
                {"type": "reasoning.encrypted", "data": "x", "index": 1},
                {"type": "reasoning.encrypted", "data": "y", "index": 1},
            ])
        );
    }
}
