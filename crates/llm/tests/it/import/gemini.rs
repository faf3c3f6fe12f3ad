//! Gemini generateContent. Calls without an id are paired by name and order.

use std::collections::{HashMap, VecDeque};

use base::transcript::{Maker, Native, Outcome, Part, Role};
use llm::{Request, ToolChoice};
use serde_json::Value;

use super::{
    call, file, inline, list, located, result, said, text, text_piece, thought, tool, turn,
};

pub(super) fn request(body: &Value, maker: &Maker) -> Request {
    let field = |camel: &str, snake: &str| body.get(camel).or(body.get(snake)).cloned();
    let system = field("systemInstruction", "system_instruction").unwrap_or_default();
    let words: Vec<&str> = list(&system, "parts").iter().map(|part| text(part, "text")).collect();
    let mut open = Open::default();
    let turns = list(body, "contents").iter().map(|content| {
        let role = if text(content, "role") == "model" { Role::Assistant } else { Role::User };
        let parts = list(content, "parts").iter().filter_map(|part| open.part(role, part, maker));
        turn(role, parts.collect())
    });
    let turns: Vec<_> = turns.collect();
    let declared = list(body, "tools").iter().flat_map(|group| {
        let camel = list(group, "functionDeclarations");
        if camel.is_empty() { list(group, "function_declarations") } else { camel }
    });
    let config = field("toolConfig", "tool_config").unwrap_or_default();
    let mode = &config["functionCallingConfig"];
    Request {
        system: if words.is_empty() { Vec::new() } else { vec![words.concat()] },
        turns,
        tools: declared
            .map(|d| {
                let schema = d.get("parametersJsonSchema").or(d.get("parameters"));
                tool(text(d, "name"), text(d, "description"), schema)
            })
            .collect(),
        tool_choice: match (text(mode, "mode"), list(mode, "allowedFunctionNames")) {
            ("ANY", [name]) => ToolChoice::Named(name.as_str().unwrap_or_default().to_owned()),
            ("ANY", _) => ToolChoice::Required,
            ("NONE", _) => ToolChoice::Never,
            _ => ToolChoice::Auto,
        },
        max_tokens: body["generationConfig"]["maxOutputTokens"].as_u64(),
        ..Request::default()
    }
}

#[derive(Default)]
struct Open {
    made: usize,
    waiting: HashMap<String, VecDeque<String>>,
}

impl Open {
    fn part(&mut self, role: Role, part: &Value, maker: &Maker) -> Option<Part> {
        let signature = part.get("thoughtSignature").map(|_| part.clone());
        let made = if let Some(one) = part.get("functionCall") {
            self.made += 1;
            let given = text(one, "id");
            let id =
                if given.is_empty() { format!("made_{}", self.made) } else { given.to_owned() };
            self.waiting.entry(text(one, "name").to_owned()).or_default().push_back(id.clone());
            call(&id, text(one, "name"), &one["args"])
        } else if let Some(one) = part.get("functionResponse") {
            let name = text(one, "name");
            let waiting = self.waiting.get_mut(name).and_then(VecDeque::pop_front);
            let id = waiting.unwrap_or_else(|| text(one, "id").to_owned());
            let words = one["response"].to_string();
            return Some(result(&id, name, Outcome::Done, vec![text_piece(&words)]));
        } else if let Some(data) = part.get("inlineData").or(part.get("inline_data")) {
            let media = data.get("mimeType").or(data.get("mime_type")).and_then(Value::as_str);
            file(inline(media.unwrap_or("image/png"), text(data, "data")), role)
        } else if let Some(data) = part.get("fileData") {
            file(located(text(data, "fileUri"), text(data, "mimeType")), role)
        } else if part["thought"].as_bool() == Some(true) {
            thought(text(part, "text"), maker, None)
        } else if part.get("text").is_some() {
            said(role, text(part, "text"))
        } else {
            return None;
        };
        Some(match signature {
            Some(data) => made.with_native(Native { maker: maker.clone(), data }),
            None => made,
        })
    }
}
