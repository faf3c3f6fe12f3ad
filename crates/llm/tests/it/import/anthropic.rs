//! Anthropic Messages, also as Bedrock's and Vertex's body.

use base::transcript::{Maker, Native, Origin, Outcome, Part, PartBody, Piece, Role};
use llm::{Reasoning, Request, ToolChoice};
use serde_json::{Value, json};

use super::{
    call, file, inline, list, located, result, said, text, text_piece, thought, tool, turn,
};

pub(super) fn request(body: &Value, maker: &Maker) -> Request {
    let system = match &body["system"] {
        Value::String(text) => vec![text.clone()],
        blocks => blocks
            .as_array()
            .map(|blocks| blocks.iter().map(|block| text(block, "text").to_owned()).collect())
            .unwrap_or_default(),
    };
    let turns = list(body, "messages").iter().map(|message| {
        let role = if text(message, "role") == "assistant" { Role::Assistant } else { Role::User };
        let parts = match &message["content"] {
            Value::String(words) => vec![said(role, words)],
            _ => list(message, "content").iter().filter_map(|b| block(role, b, maker)).collect(),
        };
        turn(role, parts)
    });
    let tools = list(body, "tools").iter().filter(|tool| tool.get("input_schema").is_some());
    Request {
        system,
        turns: turns.collect(),
        tools: tools
            .map(|t| tool(text(t, "name"), text(t, "description"), t.get("input_schema")))
            .collect(),
        tool_choice: match text(&body["tool_choice"], "type") {
            "any" => ToolChoice::Required,
            "none" => ToolChoice::Never,
            "tool" => ToolChoice::Named(text(&body["tool_choice"], "name").to_owned()),
            _ => ToolChoice::Auto,
        },
        max_tokens: body["max_tokens"].as_u64(),
        reasoning: body["thinking"]["budget_tokens"]
            .as_u64()
            .map_or(Reasoning::ModelDefault, Reasoning::Budget),
        ..Request::default()
    }
}

fn block(role: Role, block: &Value, maker: &Maker) -> Option<Part> {
    let part = match text(block, "type") {
        "text" => said(role, text(block, "text")),
        "image" | "document" => file(media(block)?, role),
        "tool_use" => call(text(block, "id"), text(block, "name"), &block["input"]),
        "tool_result" => {
            let failed = block["is_error"].as_bool().unwrap_or(false);
            let outcome = if failed { Outcome::Failed } else { Outcome::Done };
            result(text(block, "tool_use_id"), "tool", outcome, pieces(&block["content"]))
        }
        "thinking" => {
            let seal = json!({ "signature": text(block, "signature") });
            thought(text(block, "thinking"), maker, Some(seal))
        }
        "redacted_thinking" => thought("", maker, Some(json!({ "redacted": text(block, "data") }))),
        other => Part::new(PartBody::Opaque { label: other.to_owned() }, Origin::Assistant)
            .with_native(Native { maker: maker.clone(), data: block.clone() }),
    };
    Some(part)
}

fn media(block: &Value) -> Option<base::transcript::File> {
    let source = &block["source"];
    let usual = if text(block, "type") == "image" { "image/png" } else { "application/pdf" };
    match text(source, "type") {
        "base64" => Some(inline(text(source, "media_type"), text(source, "data"))),
        "url" => Some(located(text(source, "url"), usual)),
        _ => None,
    }
}

fn pieces(content: &Value) -> Vec<Piece> {
    match content {
        Value::String(words) => vec![text_piece(words)],
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| match text(block, "type") {
                "text" => Some(text_piece(text(block, "text"))),
                _ => media(block).map(Piece::File),
            })
            .collect(),
        _ => Vec::new(),
    }
}
