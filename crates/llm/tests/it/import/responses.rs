//! OpenAI Responses.

use base::transcript::{Maker, Outcome, Part, Piece, Role};
use llm::{Request, ToolChoice};
use serde_json::Value;

use super::{
    call_with_text, file, inline, list, located, result, said, text, text_piece, thought, tool,
    turn,
};

pub(super) fn request(body: &Value, maker: &Maker) -> Request {
    let mut request = Request {
        tools: list(body, "tools")
            .iter()
            .filter(|t| text(t, "type") == "function")
            .map(|t| tool(text(t, "name"), text(t, "description"), t.get("parameters")))
            .collect(),
        tool_choice: match &body["tool_choice"] {
            Value::String(word) if word == "required" => ToolChoice::Required,
            Value::String(word) if word == "none" => ToolChoice::Never,
            Value::Object(choice) if choice.contains_key("name") => {
                ToolChoice::Named(text(&body["tool_choice"], "name").to_owned())
            }
            _ => ToolChoice::Auto,
        },
        max_tokens: body["max_output_tokens"].as_u64(),
        ..Request::default()
    };
    if !text(body, "instructions").is_empty() {
        request.system.push(text(body, "instructions").to_owned());
    }
    match &body["input"] {
        Value::String(words) => request.turns.push(turn(Role::User, vec![said(Role::User, words)])),
        _ => list(body, "input").iter().for_each(|item| take(item, &mut request, maker)),
    }
    request
}

fn take(item: &Value, request: &mut Request, maker: &Maker) {
    let (role, parts) = match (text(item, "type"), text(item, "role")) {
        ("function_call", _) => {
            let (id, name) = (text(item, "call_id"), text(item, "name"));
            (Role::Assistant, vec![call_with_text(id, name, text(item, "arguments"))])
        }
        ("function_call_output", _) => {
            let pieces = output(&item["output"]);
            (Role::User, vec![result(text(item, "call_id"), "tool", Outcome::Done, pieces)])
        }
        ("reasoning", _) => {
            let words: Vec<&str> = list(item, "summary").iter().map(|s| text(s, "text")).collect();
            (Role::Assistant, vec![thought(&words.join("\n\n"), maker, Some(item.clone()))])
        }
        (_, "system" | "developer") => {
            let words: Vec<String> = content(Role::User, &item["content"])
                .iter()
                .filter_map(|part| part.as_text().map(str::to_owned))
                .collect();
            return request.system.push(words.concat());
        }
        (_, "assistant") => (Role::Assistant, content(Role::Assistant, &item["content"])),
        (_, "user") => (Role::User, content(Role::User, &item["content"])),
        _ => return,
    };
    request.turns.push(turn(role, parts));
}

fn output(output: &Value) -> Vec<Piece> {
    match output {
        Value::String(words) => vec![text_piece(words)],
        Value::Array(parts) => parts
            .iter()
            .map(|part| match text(part, "type") {
                "input_image" => Piece::File(located(text(part, "image_url"), "image/png")),
                _ => text_piece(text(part, "text")),
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn content(role: Role, content: &Value) -> Vec<Part> {
    match content {
        Value::String(words) => vec![said(role, words)],
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| match text(part, "type") {
                "input_text" | "output_text" | "text" => Some(said(role, text(part, "text"))),
                "refusal" => Some(said(role, text(part, "refusal"))),
                "input_image" => Some(file(located(text(part, "image_url"), "image/png"), role)),
                "input_file" => {
                    let data = text(part, "file_data");
                    let plain = || inline("application/pdf", data);
                    let whole = if data.starts_with("data:") { located(data, "") } else { plain() };
                    (!data.is_empty()).then(|| file(whole, role))
                }
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}
