//! Settings that nothing reads: a documented switch must do something.
//!
//! A setting counts as read where some code takes the field of its name from a value (`options.debug`), tests left
//! out. That is a search in the text: a dead setting with a common name can pass, one with a name of its own cannot.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;
use settings::schema;

use crate::house::rust_files;

/// Settings whose field has another name in the code.
const RENAMED: [(&str, &str); 1] = [("async", "background")];
/// Settings that are not read yet, with what will read them. One that is read must leave this list.
const PLANNED: [(&str, &str); 1] = [("fallbacks", "the route to other models when one fails")];

/// The settings that no code under `crates` reads, one line each.
pub(crate) fn check(crates: &Path) -> Result<Vec<String>> {
    let mut code = String::new();
    for file in rust_files(crates)? {
        if is_test(&file) {
            continue;
        }
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        // What follows is the file's own tests.
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        code.push_str(&without_texts(text));
        code.push('\n');
    }
    Ok(keys(schema()).into_iter().filter_map(|key| finding(&code, &key)).collect())
}

/// What is wrong with a setting.
fn finding(code: &str, key: &str) -> Option<String> {
    let field = RENAMED.iter().find(|(name, _)| *name == key).map_or(key, |(_, field)| field);
    let is_planned = PLANNED.iter().any(|(name, _)| *name == key);
    match (is_read(code, field), is_planned) {
        (true, false) | (false, true) => None,
        (false, false) => {
            Some(format!("setting `{key}` is read by no code: make it work or remove it"))
        }
        (true, true) => {
            Some(format!("setting `{key}` is read now: take it off the list of planned ones"))
        }
    }
}

/// Code without its comments and its string literals.
fn without_texts(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    for line in code.lines() {
        let mut is_text = false;
        let mut before = ' ';
        for character in line.chars() {
            match character {
                // A quote that is a character literal, or escaped, opens and closes nothing.
                '"' if before != '\'' && before != '\\' => is_text = !is_text,
                '/' if before == '/' && !is_text => break,
                _ if !is_text => kept.push(character),
                _ => {}
            }
            before = if before == '\\' && character == '\\' { ' ' } else { character };
        }
        kept.push('\n');
    }
    kept
}

fn is_test(file: &Path) -> bool {
    file.components()
        .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "benches" | "testkit")))
        || file.file_name().is_some_and(|name| name == "tests.rs")
}

/// The name of every property in a schema.
fn keys(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(table) => {
                if let Some(Value::Object(properties)) = table.get("properties") {
                    // `$schema` is for editors.
                    found.extend(properties.keys().filter(|key| !key.starts_with('$')).cloned());
                }
                open.extend(table.values());
            }
            Value::Array(values) => open.extend(values),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

/// Whether some code takes a field of this name.
fn is_read(code: &str, key: &str) -> bool {
    let access = format!(".{key}");
    code.match_indices(&access).any(|(at, _)| {
        let rest = code[at + access.len()..].chars().next().unwrap_or(' ');
        !rest.is_alphanumeric() && !matches!(rest, '_' | '(' | '!')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_only_a_struct_names_is_unread() {
        let code = "pub struct Options { pub debug: bool, pub dead: bool }\n\
                    fn start(options: &Options) { if options.debug { log() } self.dead() }\n\
                    tracing.dead!(); options.dead_line";
        assert!(is_read(code, "debug"));
        assert!(!is_read(code, "dead"));
        let said = r#"say("see options.dead \" options.dead"); // options.dead"#;
        assert!(!is_read(&without_texts(said), "dead"));
        assert_eq!(
            finding("x.fallbacks;", "fallbacks").map(|text| text.contains("read now")),
            Some(true)
        );
        assert!(finding(code, "dead").is_some() && finding("hook.background;", "async").is_none());
    }

    #[test]
    fn every_setting_is_read() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(check(&crates).unwrap(), [] as [&str; 0]);
    }
}
