//! The manual is complete, up to date, and its schema has no word the checker would pass over.

use std::path::Path;

use serde_json::Value;

use super::*;

#[test]
fn the_manual_in_docs_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    if base::Env::of_process().get("CAIMAN_UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, reference()).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == reference(),
        "docs/configuration.md is out of date: CAIMAN_UPDATE_DOCS=1 cargo test -p base --lib manual"
    );
}

#[test]
fn every_key_has_a_meaning_and_is_in_the_manual() {
    fn walk(shape: Shape, path: &str, keys: &mut Vec<String>) {
        for (key, inner) in shape.properties() {
            let path = format!("{path}.{key}");
            assert!(!inner.description().is_empty(), "{path} has no doc comment");
            keys.push(key.to_owned());
            walk(inner, &path, keys);
        }
        for inner in shape.entries().into_iter().chain(shape.items()) {
            walk(inner, path, keys);
        }
    }
    let mut keys = Vec::new();
    walk(Shape::root(), "", &mut keys);
    assert!(keys.len() > 150, "only {} keys", keys.len());
    let text = reference();
    for key in keys.iter().filter(|key| *key != "$schema") {
        assert!(text.contains(&format!("`{key}`")), "{key} is missing");
    }
}

#[test]
fn the_schema_has_no_word_the_checker_does_not_know() {
    const KNOWN: [&str; 26] = [
        "$schema",
        "$defs",
        "$ref",
        "title",
        "description",
        "type",
        "properties",
        "required",
        "items",
        "additionalProperties",
        "propertyNames",
        "anyOf",
        "oneOf",
        "enum",
        "const",
        "default",
        "format",
        "minimum",
        "maximum",
        "x-trust",
        "x-merge",
        "x-key",
        "x-expand",
        "x-aliases",
        "uniqueItems",
        "examples",
    ];
    fn walk(schema: &Value, path: &str) {
        let Some(words) = schema.as_object() else { return };
        for (word, value) in words {
            assert!(KNOWN.contains(&word.as_str()), "{path}: {word}");
            match (word.as_str(), value) {
                ("properties" | "$defs", Value::Object(inner)) => {
                    for (key, it) in inner {
                        walk(it, &format!("{path}.{key}"));
                    }
                }
                ("anyOf" | "oneOf", Value::Array(options)) => {
                    for option in options {
                        walk(option, path);
                    }
                }
                ("items" | "additionalProperties", it) => walk(it, path),
                _ => {}
            }
        }
    }
    walk(super::super::schema(), "");
}

#[test]
fn trust_words_are_spelt_right() {
    let text = super::super::schema().to_string();
    for found in text.split("\"x-trust\":\"").skip(1) {
        let word = found.split('"').next().unwrap();
        let known = ["allowed", "ignored", "partly", "inside", "narrowing"];
        assert!(known.contains(&word), "{word}");
    }
}
