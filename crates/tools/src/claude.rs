//! Calls as Claude Code's wrappers and hooks know them: its inputs, its structured results. Its names are
//! in [`guard::rule::names`].

use base::Block;
use base::protocol::Mode;
use base::transcript::{CallResult, File, FileSource, Outcome, Part, PartBody, Piece};
use guard::rule::names;
use serde_json::{Map, Value, json};

/// A call's input, with the fields Claude Code gives that tool.
pub fn input(tool: &str, input: &Map<String, Value>) -> Value {
    let mut fields = input.clone();
    match tool {
        "bash" => {
            if let Some(seconds) = fields.get("timeout").and_then(Value::as_u64) {
                fields.insert("timeout".to_owned(), json!(seconds.saturating_mul(1000)));
            }
        }
        "view" | "edit" | "multiedit" | "write" => rename(&mut fields, "path", "file_path"),
        "grep" => rename(&mut fields, "include", "glob"),
        "job_output" => rename(&mut fields, "job", "bash_id"),
        "job_kill" => rename(&mut fields, "job", "shell_id"),
        "agent" => rename(&mut fields, "agent", "subagent_type"),
        "todos" => {
            let todos = fields.get_mut("todos").and_then(Value::as_array_mut);
            for todo in todos.into_iter().flatten().filter_map(Value::as_object_mut) {
                rename(todo, "active_form", "activeForm");
            }
        }
        _ => {}
    }
    Value::Object(fields)
}

/// An input with Claude Code's fields, with those the tool has here: the way back from [`input`].
pub fn ours(tool: &str, input: Map<String, Value>) -> Map<String, Value> {
    let mut fields = input;
    match tool {
        "bash" => {
            if let Some(ms) = fields.get("timeout").and_then(Value::as_u64) {
                fields.insert("timeout".to_owned(), json!(ms.div_ceil(1000)));
            }
        }
        "grep" => rename(&mut fields, "glob", "include"),
        "job_output" => rename(&mut fields, "bash_id", "job"),
        "job_kill" => rename(&mut fields, "shell_id", "job"),
        "agent" => rename(&mut fields, "subagent_type", "agent"),
        _ => {}
    }
    fields
}

/// What a call did, as Claude Code tells it beside the text for the model. `shown` is what faces show of it.
pub fn result(result: &CallResult, input: &Map<String, Value>, shown: Option<&Block>) -> Value {
    let text = text_of(result);
    if result.outcome == Outcome::Failed {
        return json!(format!("Error: {text}"));
    }
    let field = |name: &str| input.get(name).cloned().unwrap_or_default();
    let path = || if input.contains_key("file_path") { field("file_path") } else { field("path") };
    match result.name.as_str() {
        "bash" => json!({
            "stdout": text, "stderr": "", "interrupted": false, "isImage": false,
            "noOutputExpected": false,
        }),
        "edit" => json!({
            "filePath": path(),
            "oldString": field("old_string"),
            "newString": field("new_string"),
            "structuredPatch": patch(shown),
            "userModified": false,
            "replaceAll": input.get("replace_all").is_some_and(|all| all == true),
        }),
        "multiedit" => json!({
            "filePath": path(), "edits": field("edits"), "structuredPatch": patch(shown),
            "userModified": false,
        }),
        "write" => json!({
            "type": if is_new(shown) { "create" } else { "update" }, "filePath": path(), "content": field("content"),
            "structuredPatch": patch(shown),
        }),
        "view" => json!({
            "type": "text",
            "file": {
                "filePath": path(),
                "content": text,
                "numLines": text.lines().count(),
                "startLine": input.get("offset").and_then(Value::as_u64).unwrap_or(0).max(1),
            },
        }),
        "todos" => json!({ "oldTodos": [], "newTodos": field("todos") }),
        _ => json!(text),
    }
}

/// Claude Code's word for a mode.
pub fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "default",
        Mode::AcceptEdits => "acceptEdits",
        Mode::Plan => "plan",
        Mode::DontAsk => "dontAsk",
        Mode::Bypass => "bypassPermissions",
    }
}

/// The text a call gave the model.
pub fn text_of(result: &CallResult) -> String {
    let text = |piece: &Piece| match piece {
        Piece::Text { text } => Some(text.clone()),
        Piece::File(_) => None,
    };
    result.pieces.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// A part as a content block of the Messages API; none for what has none.
pub fn block(part: &Part) -> Option<Value> {
    match &part.body {
        PartBody::Text { text } => Some(json!({ "type": "text", "text": text })),
        PartBody::Reasoning { text } => {
            Some(json!({ "type": "thinking", "thinking": text, "signature": "" }))
        }
        PartBody::Call(call) => Some(json!({
            "type": "tool_use",
            "id": call.id,
            "name": names::claude(&call.name),
            "input": input(&call.name, &call.input.value),
        })),
        PartBody::Result(_) | PartBody::File(_) | PartBody::Opaque { .. } => None,
    }
}

/// A result's content: plain text, or blocks where there is more than text.
pub fn content(pieces: &[Piece]) -> Value {
    let block = |piece: &Piece| match piece {
        Piece::Text { text } => json!({ "type": "text", "text": text }),
        Piece::File(File { media_type, source, .. }) => {
            let source = match source {
                FileSource::Base64(data) => {
                    json!({ "type": "base64", "media_type": media_type, "data": data })
                }
                FileSource::Url(url) => json!({ "type": "url", "url": url }),
            };
            let kind = if media_type.starts_with("image/") { "image" } else { "document" };
            json!({ "type": kind, "source": source })
        }
    };
    match pieces {
        [Piece::Text { text }] => json!(text),
        _ => pieces.iter().map(block).collect(),
    }
}

fn rename(fields: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = fields.remove(from) {
        fields.entry(to).or_insert(value);
    }
}

/// The hunks of a shown change.
fn patch(shown: Option<&Block>) -> Value {
    let Some(Block::Diff { unified, .. }) = shown else { return json!([]) };
    let mut hunks: Vec<Value> = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    let mut head = None;
    let mut close = |head: Option<[u64; 4]>, lines: &mut Vec<&str>| {
        let lines = std::mem::take(lines);
        if let Some([old_start, old_lines, new_start, new_lines]) = head {
            hunks.push(json!({
                "oldStart": old_start, "oldLines": old_lines,
                "newStart": new_start, "newLines": new_lines,
                "lines": lines,
            }));
        }
    };
    for line in unified.lines() {
        if let Some(next) = hunk_head(line) {
            close(head.replace(next), &mut lines);
        } else {
            lines.push(line);
        }
    }
    close(head, &mut lines);
    Value::Array(hunks)
}

/// Whether a shown change has made a file: there was no line before.
fn is_new(shown: Option<&Block>) -> bool {
    let Some(Block::Diff { unified, .. }) = shown else { return false };
    unified.lines().find_map(hunk_head).is_some_and(|[_, old_lines, _, _]| old_lines == 0)
}

/// The numbers of `@@ -1,2 +3,4 @@`: starts and lengths, old before new.
fn hunk_head(line: &str) -> Option<[u64; 4]> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let span = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    let ((old_start, old_lines), (new_start, new_lines)) = (span(old)?, span(new)?);
    Some([old_start, old_lines, new_start, new_lines])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn inputs_get_the_fields_wrappers_expect() {
        let bash = object(&json!({ "command": "ls", "timeout": 5 }));
        assert_eq!(input("bash", &bash), json!({ "command": "ls", "timeout": 5000 }));
        let view = object(&json!({ "path": "a", "limit": 3 }));
        assert_eq!(input("view", &view), json!({ "limit": 3, "file_path": "a" }));
        let todos = object(&json!({ "todos": [{ "content": "x", "active_form": "doing x" }] }));
        assert_eq!(input("todos", &todos)["todos"][0]["activeForm"], "doing x");
    }

    #[test]
    fn an_input_finds_its_way_back() {
        for (tool, given) in [
            ("bash", json!({ "command": "ls", "timeout": 5 })),
            ("grep", json!({ "pattern": "x", "include": "*.rs" })),
            ("job_output", json!({ "job": 1 })),
            ("agent", json!({ "prompt": "look", "agent": "scout" })),
            ("write", json!({ "file_path": "a", "content": "x" })),
        ] {
            let given = object(&given);
            assert_eq!(ours(tool, object(&input(tool, &given))), given, "{tool}");
        }
    }

    #[test]
    fn a_change_becomes_hunks() {
        let unified = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9 +9,0 @@ fn x\n-z\n";
        let shown = Block::Diff { path: "f".into(), unified: unified.into() };
        assert_eq!(
            patch(Some(&shown)),
            json!([
                { "oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" a", "-b", "+c"] },
                { "oldStart": 9, "oldLines": 1, "newStart": 9, "newLines": 0, "lines": ["-z"] },
            ])
        );
        assert_eq!(patch(None), json!([]));
    }
}
