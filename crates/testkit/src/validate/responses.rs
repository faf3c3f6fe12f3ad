//! `OpenAI` Responses.

use serde_json::{Map, Value};

use super::shape::{IMAGES, Report, at, join, word};
use super::{Rules, Server, Violation};

const FIELDS: [&str; 31] = [
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_output_tokens",
    "max_tool_calls",
    "temperature",
    "top_p",
    "top_logprobs",
    "reasoning",
    "text",
    "include",
    "store",
    "stream",
    "stream_options",
    "previous_response_id",
    "conversation",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "safety_identifier",
    "service_tier",
    "metadata",
    "truncation",
    "background",
    "user",
    "context_management",
    "moderation",
];

const INCLUDES: [&str; 8] = [
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
    "message.input_image.image_url",
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
];

/// Checks a request body.
pub fn check(body: &Value, rules: &Rules) -> Vec<Violation> {
    let mut report = Report::default();
    let fields = report.object(body, "");
    match rules.server {
        Server::Original => report.known_fields(fields, &FIELDS, ""),
        Server::Compatible => {}
    }
    report.text(fields.get("model"), "model");
    match fields.get("input") {
        Some(Value::String(text)) => report.require(!text.is_empty(), "input", "must not be empty"),
        None if fields.contains_key("previous_response_id") => {}
        list => {
            let items = report.list(list, "input");
            each_item(&mut report, items, fields, rules);
            reasoning_order(&mut report, items);
            if !fields.contains_key("previous_response_id") {
                pairing(&mut report, items);
            }
        }
    }
    tools(&mut report, fields);
    settings(&mut report, fields);
    report.done()
}

fn each_item(report: &mut Report, items: &[Value], fields: &Map<String, Value>, rules: &Rules) {
    let stored = fields.get("store").and_then(Value::as_bool).unwrap_or(true);
    for (index, item) in items.iter().enumerate() {
        let path = at("input", index);
        match word(item, "type") {
            "" | "message" => message(report, item, &path),
            "reasoning" => reasoning(report, item, stored, rules, &path),
            "function_call" => {
                let id = report.text(item.get("call_id"), &join(&path, "call_id"));
                report.require(
                    id.len() <= 64,
                    &join(&path, "call_id"),
                    "has more than 64 characters",
                );
                let name = report.text(item.get("name"), &join(&path, "name"));
                report.tool_name(name, 64, "", &join(&path, "name"));
                let args = item.get("arguments").and_then(Value::as_str).unwrap_or_default();
                let object = serde_json::from_str::<Map<String, Value>>(args).is_ok();
                report.require(
                    object,
                    &join(&path, "arguments"),
                    "must be the text of a JSON object",
                );
                item_id(report, item, "fc", rules, &path);
            }
            "function_call_output" => {
                report.text(item.get("call_id"), &join(&path, "call_id"));
                output(report, item.get("output"), &join(&path, "output"));
            }
            "item_reference"
            | "web_search_call"
            | "file_search_call"
            | "computer_call"
            | "computer_call_output"
            | "image_generation_call"
            | "code_interpreter_call"
            | "local_shell_call"
            | "local_shell_call_output"
            | "shell_call"
            | "shell_call_output"
            | "apply_patch_call"
            | "apply_patch_call_output"
            | "mcp_list_tools"
            | "mcp_approval_request"
            | "mcp_approval_response"
            | "mcp_call"
            | "custom_tool_call"
            | "custom_tool_call_output"
            | "compaction" => {}
            kind => report.add(&path, format!("`{kind}` is no item")),
        }
    }
    let ids = items.iter().map(|item| word(item, "id")).filter(|id| !id.is_empty());
    report.unique(ids, "input", "item id");
}

fn message(report: &mut Report, item: &Value, path: &str) {
    let role = word(item, "role");
    let known = matches!(role, "user" | "assistant" | "system" | "developer");
    report.require(known, &join(path, "role"), "is no role");
    let inside = join(path, "content");
    if let Some(Value::String(text)) = item.get("content") {
        report.require(!text.is_empty(), &inside, "must not be empty");
        return;
    }
    for (place, part) in report.list(item.get("content"), &inside).iter().enumerate() {
        let path = at(&inside, place);
        let kind = word(part, "type");
        let theirs = matches!(kind, "output_text" | "refusal");
        report.require(
            theirs == (role == "assistant"),
            &path,
            &format!("`{kind}` cannot stand in a message of the {role}"),
        );
        match kind {
            "output_text" | "input_text" => {
                report.text(part.get("text"), &join(&path, "text"));
            }
            "refusal" => {
                report.text(part.get("refusal"), &join(&path, "refusal"));
            }
            _ => file(report, part, &path),
        }
    }
}

fn file(report: &mut Report, part: &Value, path: &str) {
    match word(part, "type") {
        "input_image" if word(part, "file_id").is_empty() => {
            report.address(part.get("image_url"), &IMAGES, &join(path, "image_url"));
        }
        "input_file" if !word(part, "file_data").is_empty() => {
            report.text(part.get("filename"), &join(path, "filename"));
            let media = ["application/pdf", "text/plain"];
            report.address(part.get("file_data"), &media, &join(path, "file_data"));
        }
        "input_file" => {
            let known = !word(part, "file_id").is_empty() || !word(part, "file_url").is_empty();
            report.require(known, path, "needs file_data, file_id or file_url");
        }
        "input_image" | "input_audio" => {}
        kind => report.add(path, format!("`{kind}` is no content part")),
    }
}

fn reasoning(report: &mut Report, item: &Value, stored: bool, rules: &Rules, path: &str) {
    let listed = item.get("summary").is_some_and(Value::is_array);
    report.require(listed, &join(path, "summary"), "must be a list");
    item_id(report, item, "rs", rules, path);
    let sealed = item.get("encrypted_content").is_some_and(|seal| !seal.is_null());
    if sealed {
        report.seal(item.get("encrypted_content"), rules, &join(path, "encrypted_content"));
    } else if rules.server == Server::Original {
        report.require(
            stored,
            &join(path, "encrypted_content"),
            "must be there when nothing is stored",
        );
        report.require(item.get("id").is_some(), &join(path, "id"), "must name a stored item");
    }
}

/// `OpenAI` checks the beginning of an item's id.
fn item_id(report: &mut Report, item: &Value, prefix: &str, rules: &Rules, path: &str) {
    if let (Some(id), Server::Original) = (item.get("id").and_then(Value::as_str), rules.server) {
        let fits = id.starts_with(prefix) && id.len() <= 64;
        report.require(fits, &join(path, "id"), &format!("must begin with {prefix} (at most 64)"));
    }
}

fn output(report: &mut Report, output: Option<&Value>, path: &str) {
    if output.is_some_and(Value::is_string) {
        return;
    }
    for (place, part) in report.list(output, path).iter().enumerate() {
        let path = at(path, place);
        match word(part, "type") {
            "input_text" => {
                report.text(part.get("text"), &join(&path, "text"));
            }
            _ => file(report, part, &path),
        }
    }
}

/// A thought stands directly before what it led to.
fn reasoning_order(report: &mut Report, items: &[Value]) {
    for (index, item) in items.iter().enumerate() {
        if word(item, "type") != "reasoning" {
            continue;
        }
        let next = items.get(index + 1);
        let follows = next.is_some_and(|next| match word(next, "type") {
            "" | "message" => word(next, "role") == "assistant",
            kind => !kind.ends_with("_output"),
        });
        report.require(follows, &at("input", index), "a reasoning item needs the item it led to");
    }
}

/// Each call has exactly one output, somewhere after it.
fn pairing(report: &mut Report, items: &[Value]) {
    let mut open: Vec<&str> = Vec::new();
    let mut called: Vec<&str> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let id = word(item, "call_id");
        match word(item, "type") {
            "function_call" => {
                if called.contains(&id) {
                    report.add(&at("input", index), format!("call id `{id}` is there twice"));
                }
                open.push(id);
                called.push(id);
            }
            "function_call_output" => match open.iter().position(|&waiting| waiting == id) {
                Some(place) => {
                    open.remove(place);
                }
                None => {
                    report.add(
                        &at("input", index),
                        format!("answers `{id}`, which no open call has"),
                    );
                }
            },
            _ => {}
        }
    }
    for id in open {
        report.add("input", format!("call `{id}` has no output"));
    }
}

fn tools(report: &mut Report, fields: &Map<String, Value>) {
    let mut names = Vec::new();
    let tools = fields.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (index, tool) in tools.iter().enumerate() {
        let path = at("tools", index);
        let kind = report.text(tool.get("type"), &join(&path, "type"));
        if kind != "function" {
            continue;
        }
        let name = report.text(tool.get("name"), &join(&path, "name"));
        report.tool_name(name, 64, "", &join(&path, "name"));
        names.push(name);
        report.object_schema(tool.get("parameters"), &join(&path, "parameters"));
        if tool.get("strict").and_then(Value::as_bool) == Some(true) {
            strict_schema(report, tool.get("parameters"), &join(&path, "parameters"));
        }
    }
    report.unique(names.iter().copied(), "tools", "tool");
    let Some(choice) = fields.get("tool_choice").filter(|choice| !choice.is_null()) else { return };
    report.require(!tools.is_empty(), "tool_choice", "needs tools");
    match (choice.as_str(), word(choice, "type")) {
        (Some("none" | "auto" | "required"), _) => {}
        (Some(word), _) => report.add("tool_choice", format!("`{word}` is no choice")),
        (None, "function") => {
            let known = names.contains(&word(choice, "name"));
            report.require(known, "tool_choice.name", "names no tool");
        }
        (None, kind) => report.require(!kind.is_empty(), "tool_choice", "must have a type"),
    }
}

/// A strict schema closes its objects and requires every property.
fn strict_schema(report: &mut Report, schema: Option<&Value>, path: &str) {
    let Some(properties) =
        schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object)
    else {
        return;
    };
    let closed =
        schema.and_then(|schema| schema.get("additionalProperties")) == Some(&Value::Bool(false));
    report.require(closed, path, "a strict schema must set additionalProperties to false");
    let required = schema.and_then(|schema| schema.get("required")).and_then(Value::as_array);
    let all = properties.keys().all(|name| {
        required.is_some_and(|names| names.iter().any(|other| other.as_str() == Some(name)))
    });
    report.require(all, path, "a strict schema must require every property");
}

fn settings(report: &mut Report, fields: &Map<String, Value>) {
    if let Some(most) = fields.get("max_output_tokens").filter(|most| !most.is_null()) {
        report.require(most.as_u64() >= Some(16), "max_output_tokens", "must be at least 16");
    }
    report.number_between(fields, "temperature", 0.0, 2.0);
    report.number_between(fields, "top_p", 0.0, 1.0);
    for (index, include) in
        fields.get("include").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        let known = include.as_str().is_some_and(|word| INCLUDES.contains(&word));
        report.require(known, &at("include", index), "is nothing that can be included");
    }
    let reasoning = fields.get("reasoning").unwrap_or(&Value::Null);
    if let Some(effort) = reasoning.get("effort").and_then(Value::as_str) {
        let known = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
        report.require(known.contains(&effort), "reasoning.effort", "is no effort");
    }
    if let Some(summary) = reasoning.get("summary").and_then(Value::as_str) {
        let known = ["auto", "concise", "detailed"];
        report.require(known.contains(&summary), "reasoning.summary", "is no way to summarise");
    }
    let key = fields.get("prompt_cache_key").and_then(Value::as_str).unwrap_or_default();
    report.require(key.len() <= 64, "prompt_cache_key", "has more than 64 characters");
}
