//! Anthropic Messages, as Anthropic, Bedrock (`invoke`) and Vertex take it.

use serde_json::{Map, Value};

use super::shape::{IMAGES, Report, at, join, word};
use super::{Rules, Server, Violation};

const FIELDS: [&str; 23] = [
    "model",
    "messages",
    "max_tokens",
    "system",
    "stop_sequences",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "tools",
    "tool_choice",
    "thinking",
    "metadata",
    "service_tier",
    "container",
    "mcp_servers",
    "context_management",
    "output_config",
    "output_format",
    "cache_control",
    "inference_geo",
    "anthropic_version",
    "anthropic_beta",
];

/// Checks a request body.
pub fn check(body: &Value, rules: &Rules) -> Vec<Violation> {
    let mut report = Report::default();
    let fields = report.object(body, "");
    match rules.server {
        Server::Original => report.known_fields(fields, &FIELDS, ""),
        Server::Compatible => {}
    }
    if fields.contains_key("anthropic_version") {
        // Bedrock and Vertex have the model in the path.
        report.require(!fields.contains_key("model"), "model", "stands in the path here");
    } else {
        report.text(fields.get("model"), "model");
    }
    let most = fields.get("max_tokens").and_then(Value::as_u64).unwrap_or(0);
    report.require(most > 0, "max_tokens", "must be a number of at least 1");
    system(&mut report, fields.get("system"));
    messages(&mut report, fields, rules);
    tools(&mut report, fields);
    thinking(&mut report, fields, most);
    report.number_between(fields, "temperature", 0.0, 1.0);
    report.number_between(fields, "top_p", 0.0, 1.0);
    for (index, stop) in
        fields.get("stop_sequences").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        report.visible_text(Some(stop), &at("stop_sequences", index));
    }
    cache_marks(&mut report, body);
    report.done()
}

fn system(report: &mut Report, system: Option<&Value>) {
    match system {
        None => {}
        Some(Value::String(text)) => {
            report.require(!text.is_empty(), "system", "must not be empty");
        }
        Some(blocks) => {
            for (index, block) in report.list(Some(blocks), "system").iter().enumerate() {
                let path = at("system", index);
                report.require(word(block, "type") == "text", &path, "must be a text block");
                report.visible_text(block.get("text"), &join(&path, "text"));
            }
        }
    }
}

fn messages(report: &mut Report, fields: &Map<String, Value>, rules: &Rules) {
    let messages = report.list(fields.get("messages"), "messages");
    let mut open: Vec<&str> = Vec::new();
    let mut all_ids: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let path = at("messages", index);
        let role = word(message, "role");
        report.require(
            matches!(role, "user" | "assistant"),
            &join(&path, "role"),
            "must be user or assistant",
        );
        let before = index.checked_sub(1).map(|before| word(&messages[before], "role"));
        report.takes_turns(role, before, rules, &join(&path, "role"));
        let last = index + 1 == messages.len();
        let blocks = content(report, message, &path, last && role == "assistant");
        results(report, blocks, &mut open, &path);
        for (place, block) in blocks.iter().enumerate() {
            let path = at(&join(&path, "content"), place);
            one_block(report, block, role, rules, &path);
            if word(block, "type") == "tool_use" {
                open.push(word(block, "id"));
                all_ids.push(word(block, "id"));
            }
        }
        if last && role == "assistant" {
            prefill(report, fields, message, blocks, &path);
        }
    }
    if let Some(id) = open.first() {
        report.add("messages", format!("tool_use `{id}` has no tool_result in the next message"));
    }
    report.unique(all_ids, "messages", "tool_use id");
}

/// The blocks of a message; a plain string has none.
fn content<'v>(
    report: &mut Report,
    message: &'v Value,
    path: &str,
    may_be_empty: bool,
) -> &'v [Value] {
    let path = join(path, "content");
    match message.get("content") {
        Some(Value::String(text)) => {
            report.require(may_be_empty || !text.trim().is_empty(), &path, "must not be empty");
            &[]
        }
        Some(Value::Array(blocks)) if blocks.is_empty() && may_be_empty => &[],
        blocks => report.list(blocks, &path),
    }
}

/// Every call of the message before is answered once, before anything else is said.
fn results(report: &mut Report, blocks: &[Value], open: &mut Vec<&str>, path: &str) {
    let waiting = std::mem::take(open);
    let mut answered: Vec<&str> = Vec::new();
    let mut other = false;
    for (place, block) in blocks.iter().enumerate() {
        if word(block, "type") != "tool_result" {
            other = true;
            continue;
        }
        let path = at(&join(path, "content"), place);
        let id = word(block, "tool_use_id");
        report.require(!other, &path, "tool_result must stand before other content");
        if !waiting.contains(&id) {
            report.add(&path, format!("answers `{id}`, which the message before does not call"));
        } else if answered.contains(&id) {
            report.add(&path, format!("answers `{id}` a second time"));
        }
        answered.push(id);
    }
    for id in waiting.iter().filter(|id| !answered.contains(id)) {
        report.add(path, format!("tool_use `{id}` has no tool_result in the next message"));
    }
}

fn one_block(report: &mut Report, block: &Value, role: &str, rules: &Rules, path: &str) {
    let kind = word(block, "type");
    let speaker = match kind {
        "thinking" | "redacted_thinking" | "tool_use" | "server_tool_use" => Some("assistant"),
        "image" | "document" | "tool_result" => Some("user"),
        _ => None,
    };
    if speaker.is_some_and(|speaker| speaker != role) {
        report.add(path, format!("a {kind} block is not the {role}'s"));
    }
    match kind {
        "text" => report.visible_text(block.get("text"), &join(path, "text")),
        "image" | "document" => source(report, block, path),
        "tool_use" | "server_tool_use" => {
            report.plain_id(word(block, "id"), 128, &join(path, "id"));
            report.text(block.get("name"), &join(path, "name"));
            report.tool_name(word(block, "name"), 200, "", &join(path, "name"));
            let object = block.get("input").is_some_and(Value::is_object);
            report.require(object, &join(path, "input"), "must be an object");
        }
        "tool_result" => result(report, block, path),
        "thinking" => {
            let shown = block.get("thinking").is_some_and(Value::is_string);
            report.require(shown, &join(path, "thinking"), "must be a string");
            report.seal(block.get("signature"), rules, &join(path, "signature"));
        }
        "redacted_thinking" => report.seal(block.get("data"), rules, &join(path, "data")),
        "search_result" | "container_upload" => {}
        kind if kind.ends_with("_tool_result") => {
            report.text(block.get("tool_use_id"), &join(path, "tool_use_id"));
        }
        kind => report.add(path, format!("`{kind}` is no content block")),
    }
}

fn result(report: &mut Report, block: &Value, path: &str) {
    let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    let inside = join(path, "content");
    match block.get("content") {
        None | Some(Value::Null) => {
            report.require(!failed, &inside, "an error must say what went wrong");
        }
        Some(Value::String(text)) => {
            report.require(
                !failed || !text.is_empty(),
                &inside,
                "an error must say what went wrong",
            );
        }
        Some(Value::Array(pieces)) => {
            for (place, piece) in pieces.iter().enumerate() {
                let path = at(&inside, place);
                match word(piece, "type") {
                    "text" => report.visible_text(piece.get("text"), &join(&path, "text")),
                    kind if failed => {
                        report.add(&path, format!("an error holds text only, not {kind}"));
                    }
                    "image" | "document" => source(report, piece, &path),
                    "search_result" | "tool_reference" => {}
                    kind => report.add(&path, format!("`{kind}` is nothing a result may hold")),
                }
            }
        }
        Some(_) => report.add(&inside, "must be a string or a list"),
    }
}

fn source(report: &mut Report, block: &Value, path: &str) {
    let picture = word(block, "type") == "image";
    let path = join(path, "source");
    let Some(source) = block.get("source") else {
        report.add(&path, "is missing");
        return;
    };
    let media = word(source, "media_type");
    match word(source, "type") {
        "base64" => {
            let fits = if picture { IMAGES.contains(&media) } else { media == "application/pdf" };
            report.require(fits, &join(&path, "media_type"), "is no media type this block takes");
            report.base64(source.get("data"), &join(&path, "data"));
        }
        "text" if !picture => {
            report.require(media == "text/plain", &join(&path, "media_type"), "must be text/plain");
            report.visible_text(source.get("data"), &join(&path, "data"));
        }
        "url" => report.address(source.get("url"), &[], &join(&path, "url")),
        "file" => {
            report.text(source.get("file_id"), &join(&path, "file_id"));
        }
        "content" if !picture => {}
        kind => report.add(&path, format!("`{kind}` is no source")),
    }
}

/// A last message of the assistant is the beginning of the answer.
fn prefill(
    report: &mut Report,
    fields: &Map<String, Value>,
    message: &Value,
    blocks: &[Value],
    path: &str,
) {
    let text = match message.get("content") {
        Some(Value::String(text)) => text.as_str(),
        _ => blocks.last().map_or("", |block| word(block, "text")),
    };
    report.require(
        text.trim_end().len() == text.len(),
        &join(path, "content"),
        "a last assistant message must not end with white space",
    );
    let thinks =
        fields.get("thinking").is_some_and(|thinking| word(thinking, "type") != "disabled");
    report.require(!thinks, path, "with thinking on, the last message must be the user's");
}

fn tools(report: &mut Report, fields: &Map<String, Value>) {
    let mut names = Vec::new();
    if let Some(tools) = fields.get("tools") {
        for (index, tool) in tools.as_array().map_or(&[][..], Vec::as_slice).iter().enumerate() {
            let path = at("tools", index);
            let name = report.text(tool.get("name"), &join(&path, "name"));
            report.tool_name(name, 128, "", &join(&path, "name"));
            names.push(name);
            if matches!(word(tool, "type"), "" | "custom") {
                report.object_schema(tool.get("input_schema"), &join(&path, "input_schema"));
            }
        }
        report.require(tools.is_array(), "tools", "must be a list");
    }
    report.unique(names.iter().copied(), "tools", "tool");
    let Some(choice) = fields.get("tool_choice") else { return };
    report.require(!names.is_empty(), "tool_choice", "needs tools");
    match word(choice, "type") {
        "auto" | "any" | "none" => {}
        "tool" => {
            let known = names.contains(&word(choice, "name"));
            report.require(known, "tool_choice.name", "names no tool");
        }
        kind => report.add("tool_choice.type", format!("`{kind}` is no choice")),
    }
}

fn thinking(report: &mut Report, fields: &Map<String, Value>, most: u64) {
    let Some(thinking) = fields.get("thinking") else { return };
    match word(thinking, "type") {
        "disabled" => return,
        "adaptive" => {}
        "enabled" => {
            let budget = thinking.get("budget_tokens").and_then(Value::as_u64).unwrap_or(0);
            report.require(budget >= 1024, "thinking.budget_tokens", "must be at least 1024");
            report.require(budget < most, "thinking.budget_tokens", "must be less than max_tokens");
        }
        kind => report.add("thinking.type", format!("`{kind}` is no way to think")),
    }
    let warm = fields.get("temperature").and_then(Value::as_f64);
    report.require(
        warm.is_none_or(|value| (value - 1.0).abs() < 1e-9),
        "temperature",
        "must be 1 with thinking on",
    );
    report.require(!fields.contains_key("top_k"), "top_k", "cannot be set with thinking on");
    let forced = fields.get("tool_choice").map_or("", |choice| word(choice, "type"));
    report.require(
        !matches!(forced, "any" | "tool"),
        "tool_choice",
        "a forced call is not possible with thinking on",
    );
}

/// At most four cache marks in the whole request, none of them on thoughts.
fn cache_marks(report: &mut Report, body: &Value) {
    fn walk(value: &Value, path: &str, marks: &mut Vec<String>, report: &mut Report) {
        match value {
            Value::Object(fields) => {
                if let Some(mark) = fields.get("cache_control").filter(|mark| !mark.is_null()) {
                    let place = join(path, "cache_control");
                    report.require(word(mark, "type") == "ephemeral", &place, "must be ephemeral");
                    let ttl = mark.get("ttl").map_or("5m", |ttl| ttl.as_str().unwrap_or_default());
                    report.require(matches!(ttl, "5m" | "1h"), &place, "lives for 5m or 1h");
                    let thought = word(value, "type").ends_with("thinking");
                    report.require(!thought, &place, "cannot stand on a thought");
                    marks.push(place);
                }
                // A tool's schema and a call's input may have a property of that name.
                for (key, inner) in fields
                    .iter()
                    .filter(|(key, _)| !matches!(key.as_str(), "input" | "input_schema"))
                {
                    walk(inner, &join(path, key), marks, report);
                }
            }
            Value::Array(list) => {
                for (index, inner) in list.iter().enumerate() {
                    walk(inner, &at(path, index), marks, report);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut marks = Vec::new();
    walk(body, "", &mut marks, report);
    report.require(marks.len() <= 4, "cache_control", "at most 4 blocks may carry it");
}
