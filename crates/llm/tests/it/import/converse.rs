//! Bedrock Converse.

use base::transcript::{File, Maker, Outcome, Part, Piece, Role};
use llm::{Request, ToolChoice};
use serde_json::{Value, json};

use super::{call, file, inline, list, result, said, text, text_piece, thought, tool, turn};

pub(super) fn request(body: &Value, maker: &Maker) -> Request {
    let turns = list(body, "messages").iter().map(|message| {
        let role = if text(message, "role") == "assistant" { Role::Assistant } else { Role::User };
        let parts = list(message, "content").iter().filter_map(|b| block(role, b, maker)).collect();
        turn(role, parts)
    });
    let choice = &body["toolConfig"]["toolChoice"];
    Request {
        system: list(body, "system")
            .iter()
            .filter_map(|block| block["text"].as_str().map(str::to_owned))
            .collect(),
        turns: turns.collect(),
        tools: list(&body["toolConfig"], "tools")
            .iter()
            .map(|t| &t["toolSpec"])
            .filter(|spec| spec.is_object())
            .map(|s| tool(text(s, "name"), text(s, "description"), s["inputSchema"].get("json")))
            .collect(),
        tool_choice: match (choice.get("any"), choice.get("tool")) {
            (Some(_), _) => ToolChoice::Required,
            (_, Some(named)) => ToolChoice::Named(text(named, "name").to_owned()),
            _ => ToolChoice::Auto,
        },
        max_tokens: body["inferenceConfig"]["maxTokens"].as_u64(),
        ..Request::default()
    }
}

fn block(role: Role, block: &Value, maker: &Maker) -> Option<Part> {
    if let Some(words) = block["text"].as_str() {
        Some(said(role, words))
    } else if let Some(one) = block.get("toolUse") {
        Some(call(text(one, "toolUseId"), text(one, "name"), &one["input"]))
    } else if let Some(one) = block.get("toolResult") {
        let outcome = if text(one, "status") == "error" { Outcome::Failed } else { Outcome::Done };
        let pieces = list(one, "content").iter().filter_map(piece).collect();
        Some(result(text(one, "toolUseId"), "tool", outcome, pieces))
    } else if let Some(one) = block.get("reasoningContent") {
        let words = &one["reasoningText"];
        let seal = match one["redactedContent"].as_str() {
            Some(data) => json!({ "redacted": data }),
            None => json!({ "signature": text(words, "signature") }),
        };
        Some(thought(text(words, "text"), maker, Some(seal)))
    } else {
        media(block).map(|media| file(media, role))
    }
}

fn piece(content: &Value) -> Option<Piece> {
    match (content["text"].as_str(), content.get("json")) {
        (Some(words), _) => Some(text_piece(words)),
        (_, Some(json)) => Some(text_piece(&json.to_string())),
        _ => media(content).map(Piece::File),
    }
}

fn media(block: &Value) -> Option<File> {
    let image = block.get("image").map(|image| (image, "image"));
    let document = block.get("document").map(|document| (document, "application"));
    let (one, family) = image.or(document)?;
    let data = one["source"]["bytes"].as_str()?;
    Some(inline(&format!("{family}/{}", text(one, "format")), data))
}
