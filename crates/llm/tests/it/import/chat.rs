//! OpenAI Chat Completions.

use base::transcript::{Outcome, Part, Role};
use llm::{Request, ToolChoice};
use serde_json::Value;

use super::{call_with_text, file, list, located, result, said, text, text_piece, tool, turn};

pub(super) fn request(body: &Value) -> Request {
    let mut request = Request {
        tools: list(body, "tools")
            .iter()
            .map(|t| &t["function"])
            .filter(|function| function.is_object())
            .map(|f| tool(text(f, "name"), text(f, "description"), f.get("parameters")))
            .collect(),
        tool_choice: match &body["tool_choice"] {
            Value::String(word) if word == "required" || word == "any" => ToolChoice::Required,
            Value::String(word) if word == "none" => ToolChoice::Never,
            Value::Object(_) => {
                ToolChoice::Named(text(&body["tool_choice"]["function"], "name").to_owned())
            }
            _ => ToolChoice::Auto,
        },
        max_tokens: body["max_tokens"].as_u64().or(body["max_completion_tokens"].as_u64()),
        ..Request::default()
    };
    if matches!(&request.tool_choice, ToolChoice::Named(name) if name.is_empty()) {
        request.tool_choice = ToolChoice::Auto;
    }
    for message in list(body, "messages") {
        match text(message, "role") {
            "system" | "developer" => {
                let words: Vec<String> = content(Role::User, &message["content"])
                    .iter()
                    .filter_map(|part| part.as_text().map(str::to_owned))
                    .collect();
                request.system.push(words.concat());
            }
            "assistant" => request.turns.push(turn(Role::Assistant, answer(message))),
            "tool" | "function" => {
                let words: Vec<String> = content(Role::User, &message["content"])
                    .iter()
                    .filter_map(|part| part.as_text().map(str::to_owned))
                    .collect();
                let part = result(
                    text(message, "tool_call_id"),
                    "tool",
                    Outcome::Done,
                    vec![text_piece(&words.concat())],
                );
                request.turns.push(turn(Role::User, vec![part]));
            }
            _ => request.turns.push(turn(Role::User, content(Role::User, &message["content"]))),
        }
    }
    request
}

fn answer(message: &Value) -> Vec<Part> {
    let mut parts = content(Role::Assistant, &message["content"]);
    for one in list(message, "tool_calls") {
        let function = &one["function"];
        let (id, name) = (text(one, "id"), text(function, "name"));
        parts.push(call_with_text(id, name, text(function, "arguments")));
    }
    parts
}

fn content(role: Role, content: &Value) -> Vec<Part> {
    match content {
        Value::String(words) => vec![said(role, words)],
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| match text(part, "type") {
                "text" => Some(said(role, text(part, "text"))),
                "image_url" => {
                    let url = part["image_url"].as_str().unwrap_or(text(&part["image_url"], "url"));
                    Some(file(located(url, "image/png"), role))
                }
                "file" => {
                    let data = text(&part["file"], "file_data");
                    (!data.is_empty()).then(|| file(located(data, "application/pdf"), role))
                }
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}
