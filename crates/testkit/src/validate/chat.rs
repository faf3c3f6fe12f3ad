//! `OpenAI` Chat Completions.
//!
//! With [`Server::Compatible`] the rules that only `OpenAI` itself enforces are left out: servers
//! that speak this wire add roles' fields, content parts and choices of their own.

use serde_json::{Map, Value};
use settings::provider::CallIdForm;

use super::shape::{IMAGES, Report, at, join, word};
use super::{Rules, Server, Violation};

const FIELDS: [&str; 37] = [
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

const MESSAGE_FIELDS: [&str; 8] =
    ["role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio", "function_call"];

/// `OpenAI` refuses longer call ids.
const LONGEST_CALL_ID: usize = 40;

/// Checks a request body.
pub fn check(body: &Value, rules: &Rules) -> Vec<Violation> {
    let mut report = Report::default();
    let fields = report.object(body, "");
    report.text(fields.get("model"), "model");
    let messages = report.list(fields.get("messages"), "messages");
    match rules.server {
        Server::Original => {
            report.known_fields(fields, &FIELDS, "");
            for (index, message) in messages.iter().enumerate() {
                let fields = report.object(message, &at("messages", index));
                report.known_fields(fields, &MESSAGE_FIELDS, &at("messages", index));
            }
        }
        Server::Compatible => {}
    }
    each_message(&mut report, messages, rules);
    pairing(&mut report, messages);
    tools(&mut report, fields, rules);
    settings(&mut report, fields);
    let marks = count_marks(fields.get("messages")) + count_marks(fields.get("tools"));
    report.require(marks <= 4, "cache_control", "at most 4 parts may carry it");
    report.done()
}

fn each_message(report: &mut Report, messages: &[Value], rules: &Rules) {
    let mut speaks = false;
    for (index, message) in messages.iter().enumerate() {
        let path = at("messages", index);
        let inside = join(&path, "content");
        match word(message, "role") {
            "system" | "developer" => text_content(report, message.get("content"), &inside),
            "user" => {
                speaks = true;
                user_content(report, message.get("content"), rules, &inside);
            }
            "assistant" => assistant(report, message, rules, &path),
            "tool" => tool_message(report, message, rules, &path),
            role => report.add(&join(&path, "role"), format!("`{role}` is no role")),
        }
    }
    report.require(messages.is_empty() || speaks, "messages", "nobody asks anything");
}

/// Text, or a list of text parts; never nothing.
fn text_content(report: &mut Report, content: Option<&Value>, path: &str) {
    match content {
        Some(Value::String(text)) => report.require(!text.is_empty(), path, "must not be empty"),
        parts => {
            for (place, part) in report.list(parts, path).iter().enumerate() {
                let path = at(path, place);
                report.require(word(part, "type") == "text", &path, "must be a text part");
                report.text(part.get("text"), &join(&path, "text"));
            }
        }
    }
}

fn user_content(report: &mut Report, content: Option<&Value>, rules: &Rules, path: &str) {
    if let Some(Value::String(text)) = content {
        report.require(!text.is_empty(), path, "must not be empty");
        return;
    }
    for (place, part) in report.list(content, path).iter().enumerate() {
        user_part(report, part, rules, &at(path, place));
    }
}

fn user_part(report: &mut Report, part: &Value, rules: &Rules, path: &str) {
    match word(part, "type") {
        "text" => {
            report.text(part.get("text"), &join(path, "text"));
        }
        "image_url" => {
            let image = part.get("image_url");
            let url = image.and_then(|image| image.get("url"));
            report.address(url, &IMAGES, &join(path, "image_url.url"));
            let detail = image.map_or("", |image| word(image, "detail"));
            report.require(
                matches!(detail, "" | "auto" | "low" | "high" | "original"),
                &join(path, "image_url.detail"),
                "must be auto, low or high",
            );
        }
        "file" => {
            let file = part.get("file").unwrap_or(&Value::Null);
            if word(file, "file_id").is_empty() {
                report.text(file.get("filename"), &join(path, "file.filename"));
                let media = ["application/pdf"];
                report.address(file.get("file_data"), &media, &join(path, "file.file_data"));
            }
        }
        "input_audio" => {}
        kind => match rules.server {
            Server::Original => report.add(path, format!("`{kind}` is no content part")),
            Server::Compatible => {}
        },
    }
}

fn assistant(report: &mut Report, message: &Value, rules: &Rules, path: &str) {
    let calls = message.get("tool_calls").filter(|calls| !calls.is_null());
    let says = match message.get("content") {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(parts) => {
            for (place, part) in report.list(Some(parts), &join(path, "content")).iter().enumerate()
            {
                assistant_part(report, part, rules, &at(&join(path, "content"), place));
            }
            true
        }
    };
    let refuses = !word(message, "refusal").is_empty();
    report.require(says || refuses || calls.is_some(), path, "says nothing and calls nothing");
    if let Some(calls) = calls {
        for (place, call) in report.list(Some(calls), &join(path, "tool_calls")).iter().enumerate()
        {
            one_call(report, call, rules, &at(&join(path, "tool_calls"), place));
        }
    }
    for (place, detail) in
        message.get("reasoning_details").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        let path = at(&join(path, "reasoning_details"), place);
        for field in ["signature", "data"] {
            if detail.get(field).is_some_and(|seal| !seal.is_null()) {
                report.seal(detail.get(field), rules, &join(&path, field));
            }
        }
    }
}

fn assistant_part(report: &mut Report, part: &Value, rules: &Rules, path: &str) {
    match word(part, "type") {
        "text" => {
            report.text(part.get("text"), &join(path, "text"));
        }
        "refusal" => {
            report.text(part.get("refusal"), &join(path, "refusal"));
        }
        kind => match rules.server {
            Server::Original => report.add(path, format!("`{kind}` is no part of an answer")),
            Server::Compatible => {}
        },
    }
}

fn one_call(report: &mut Report, call: &Value, rules: &Rules, path: &str) {
    report.require(word(call, "type") == "function", &join(path, "type"), "must be function");
    call_id(report, word(call, "id"), rules, &join(path, "id"));
    let function = call.get("function").unwrap_or(&Value::Null);
    let name = report.text(function.get("name"), &join(path, "function.name"));
    report.tool_name(name, 64, "", &join(path, "function.name"));
    // OpenAI takes any string; templates of other servers parse it, and fail.
    let args = function.get("arguments").and_then(Value::as_str).unwrap_or_default();
    let object = serde_json::from_str::<Map<String, Value>>(args).is_ok();
    report.require(object, &join(path, "function.arguments"), "must be the text of a JSON object");
}

fn call_id(report: &mut Report, id: &str, rules: &Rules, path: &str) {
    match (rules.call_id, rules.server) {
        (Some(CallIdForm::Nine), _) => {
            let fits = id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric());
            report.require(fits, path, "must be nine letters or digits");
        }
        (Some(CallIdForm::Plain), _) => report.plain_id(id, 64, path),
        (None, Server::Original) => {
            let fits = !id.is_empty() && id.len() <= LONGEST_CALL_ID;
            report.require(fits, path, "must have 1 to 40 characters");
        }
        (None, Server::Compatible) => report.require(!id.is_empty(), path, "must not be empty"),
    }
}

fn tool_message(report: &mut Report, message: &Value, rules: &Rules, path: &str) {
    let inside = join(path, "content");
    match (message.get("content"), rules.server) {
        (Some(Value::String(_)), _) => {}
        (Some(Value::Array(parts)), Server::Compatible) => {
            report.require(!parts.is_empty(), &inside, "must not be empty");
        }
        (parts, _) => text_content(report, parts, &inside),
    }
    call_id(report, word(message, "tool_call_id"), rules, &join(path, "tool_call_id"));
}

/// Each call is answered by exactly one tool message, directly after the message that calls.
fn pairing(report: &mut Report, messages: &[Value]) {
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let path = at("messages", index);
        if word(message, "role") == "tool" {
            let id = word(message, "tool_call_id");
            match open.iter().position(|&waiting| waiting == id) {
                Some(place) => {
                    open.remove(place);
                }
                None => report.add(&path, format!("answers `{id}`, which no open call has")),
            }
            continue;
        }
        for id in open.drain(..) {
            report.add(&path, format!("stands before the answer to call `{id}`"));
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        open = calls.into_iter().flatten().map(|call| word(call, "id")).collect();
        report.unique(open.iter().copied(), &path, "call id");
    }
    for id in open {
        report.add("messages", format!("call `{id}` has no answer"));
    }
}

fn tools(report: &mut Report, fields: &Map<String, Value>, rules: &Rules) {
    let mut names = Vec::new();
    if let Some(tools) = fields.get("tools").filter(|tools| !tools.is_null()) {
        for (index, tool) in report.list(Some(tools), "tools").iter().enumerate() {
            let path = at("tools", index);
            if word(tool, "type") != "function" {
                report.require(rules.server == Server::Compatible, &path, "must be a function");
                continue;
            }
            let function = tool.get("function").unwrap_or(&Value::Null);
            let name = report.text(function.get("name"), &join(&path, "function.name"));
            report.tool_name(name, 64, "", &join(&path, "function.name"));
            names.push(name);
            if let Some(schema) = function.get("parameters") {
                report.object_schema(Some(schema), &join(&path, "function.parameters"));
            }
        }
    }
    report.unique(names.iter().copied(), "tools", "tool");
    let choice = fields.get("tool_choice").filter(|choice| !choice.is_null());
    let Some(choice) = choice else { return };
    report.require(!names.is_empty(), "tool_choice", "needs tools");
    match (choice.as_str(), rules.server) {
        (Some("none" | "auto" | "required"), _) | (Some("any"), Server::Compatible) => {}
        (Some(word), _) => report.add("tool_choice", format!("`{word}` is no choice")),
        (None, _) => {
            let name = choice.get("function").map_or("", |function| word(function, "name"));
            report.require(names.contains(&name), "tool_choice.function.name", "names no tool");
            let function = word(choice, "type") == "function";
            report.require(function, "tool_choice.type", "must be function");
        }
    }
}

fn settings(report: &mut Report, fields: &Map<String, Value>) {
    let is_set = |field: &str| fields.get(field).is_some_and(|value| !value.is_null());
    let streams = fields.get("stream").and_then(Value::as_bool).unwrap_or(false);
    report.require(streams || !is_set("stream_options"), "stream_options", "needs stream");
    report.require(
        !(is_set("max_tokens") && is_set("max_completion_tokens")),
        "max_tokens",
        "cannot be set beside max_completion_tokens",
    );
    for field in ["max_tokens", "max_completion_tokens"] {
        let fits =
            fields.get(field).is_none_or(|value| value.is_null() || value.as_u64() > Some(0));
        report.require(fits, field, "must be a number of at least 1");
    }
    report.number_between(fields, "temperature", 0.0, 2.0);
    report.number_between(fields, "top_p", 0.0, 1.0);
    report.number_between(fields, "frequency_penalty", -2.0, 2.0);
    report.number_between(fields, "presence_penalty", -2.0, 2.0);
    let stops = fields.get("stop").and_then(Value::as_array).map_or(0, Vec::len);
    report.require(stops <= 4, "stop", "holds at most 4 texts");
    if let Some(effort) = fields.get("reasoning_effort").and_then(Value::as_str) {
        let known = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
        report.require(known.contains(&effort), "reasoning_effort", "is no effort");
    }
}

fn count_marks(value: Option<&Value>) -> usize {
    match value {
        Some(Value::Object(fields)) => {
            let own = usize::from(fields.contains_key("cache_control"));
            own + fields
                .iter()
                .filter(|(key, _)| *key != "parameters")
                .map(|(_, inner)| count_marks(Some(inner)))
                .sum::<usize>()
        }
        Some(Value::Array(list)) => list.iter().map(|inner| count_marks(Some(inner))).sum(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => 0,
    }
}
