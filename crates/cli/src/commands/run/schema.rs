//! `--output-schema`: an answer that must be JSON of a given shape.

use std::path::Path;

use base::{Origin, Part, PartBody};
use jsonschema::Validator;
use serde_json::Value;

use super::flags::Pipes;
use crate::failure::Failure;

/// How often a misfit is sent back to the model.
pub(crate) const RETRIES: u32 = 2;
/// Faults of one answer told to the model, at most: more would drown the first.
const FAULTS: usize = 10;
/// Most that is told of one fault: a fault quotes the value it is about.
const FAULT_CHARS: usize = 300;

/// A shape the answer must have.
#[derive(Debug)]
pub(crate) struct Schema {
    text: String,
    validator: Validator,
}

impl Schema {
    /// The schema the flags name, if any.
    pub(crate) fn of(pipes: &Pipes, cwd: &Path) -> Result<Option<Self>, Failure> {
        if let Some(file) = &pipes.output_schema {
            let path = cwd.join(file);
            let text = std::fs::read_to_string(&path).map_err(|error| {
                Failure::user(format!("cannot read the schema {}: {error}", path.display()))
            })?;
            return Self::parse(&text, &path.display().to_string()).map(Some);
        }
        pipes.json_schema.as_ref().map(|text| Self::parse(text, "--json-schema")).transpose()
    }

    /// Reads a schema; `place` is where it stands, for the error.
    fn parse(text: &str, place: &str) -> Result<Self, Failure> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| Failure::user(format!("{place} is not JSON: {error}")))?;
        let validator = jsonschema::validator_for(&value).map_err(|error| {
            let at = error.instance_path().to_string();
            let at = if at.is_empty() { "its top".to_owned() } else { at };
            Failure::user(format!("{place} is not a JSON Schema: at {at}: {error}"))
        })?;
        Ok(Self { text: value.to_string(), validator })
    }

    /// What follows the prompt.
    pub(crate) fn request(&self) -> Part {
        let text = format!(
            "When the work is done, answer with one JSON value and nothing else: no words around it, no \
             code fence. It must fit this JSON Schema:\n{}",
            self.text
        );
        Part::new(PartBody::Text { text }, Origin::System)
    }

    /// The answer as JSON, or what is wrong with it.
    pub(crate) fn check(&self, answer: &str) -> Result<Value, String> {
        let text = bare(answer);
        if text.is_empty() {
            return Err("there was no text".to_owned());
        }
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let faults: Vec<String> = self
            .validator
            .iter_errors(&value)
            .take(FAULTS)
            .map(|fault| fault_line(&fault))
            .collect();
        if faults.is_empty() { Ok(value) } else { Err(faults.join("\n")) }
    }
}

/// What the model is told about an answer that does not fit.
pub(crate) fn correction(faults: &str) -> Part {
    let text = format!(
        "Your answer does not fit the JSON Schema:\n{faults}\n\
         Send the whole corrected JSON value, and nothing else."
    );
    Part::new(PartBody::Text { text }, Origin::System)
}

fn fault_line(fault: &jsonschema::ValidationError<'_>) -> String {
    let at = fault.instance_path().to_string();
    let words: String = fault.to_string().chars().take(FAULT_CHARS).collect();
    if at.is_empty() { format!("- {words}") } else { format!("- at {at}: {words}") }
}

/// The answer without the code fence some models cannot leave out.
fn bare(answer: &str) -> &str {
    let text = answer.trim();
    let Some(inside) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else {
        return text;
    };
    let is_label = |label: &str| label.chars().all(char::is_alphanumeric);
    match inside.split_once('\n') {
        Some((label, body)) if is_label(label.trim()) => body.trim(),
        Some(_) | None => inside.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINT: &str = r#"{"type":"object","required":["x"],
        "properties":{"x":{"type":"integer"}},"additionalProperties":false}"#;

    fn point() -> Schema {
        Schema::parse(POINT, "test").unwrap()
    }

    #[test]
    fn an_answer_fits_with_or_without_a_fence() {
        for answer in
            ["{\"x\":1}", " \n{\"x\":1}\n", "```json\n{\"x\":1}\n```", "```\n{\"x\":1}```"]
        {
            assert_eq!(point().check(answer), Ok(serde_json::json!({ "x": 1 })), "{answer}");
        }
    }

    #[test]
    fn a_misfit_is_told_by_its_place() {
        for (answer, word) in [
            ("{\"x\":\"one\"}", "at /x"),
            ("{\"y\":1}", "\"x\" is a required property"),
            ("Sure! {\"x\":1}", "not JSON"),
            ("", "no text"),
            ("```", "not JSON"),
        ] {
            let faults = point().check(answer).unwrap_err();
            assert!(faults.contains(word), "{answer}: {faults}");
        }
    }

    #[test]
    fn a_bad_schema_is_refused_by_its_place() {
        for (text, word) in
            [("{", "line 1"), (r#"{"properties":{"a":{"type":"wat"}}}"#, "/properties/a")]
        {
            let failure = Schema::parse(text, "shape.json").unwrap_err();
            assert!(failure.message.contains(word), "{}", failure.message);
            assert!(failure.message.starts_with("shape.json"), "{}", failure.message);
        }
    }
}
