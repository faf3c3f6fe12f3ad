//! Bedrock Converse.

use serde_json::{Map, Value};

use super::shape::{Report, at, join, word};
use super::{Rules, Violation};

const FIELDS: [&str; 12] = [
    "modelId",
    "messages",
    "system",
    "inferenceConfig",
    "toolConfig",
    "guardrailConfig",
    "additionalModelRequestFields",
    "additionalModelResponseFieldPaths",
    "promptVariables",
    "requestMetadata",
    "performanceConfig",
    "outputConfig",
];

const BLOCKS: [&str; 10] = [
    "text",
    "image",
    "document",
    "video",
    "toolUse",
    "toolResult",
    "guardContent",
    "cachePoint",
    "reasoningContent",
    "citationsContent",
];

const DOCUMENTS: [&str; 9] = ["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"];

/// Checks a request body.
pub fn check(body: &Value, rules: &Rules) -> Vec<Violation> {
    let mut report = Report::default();
    let fields = report.object(body, "");
    report.known_fields(fields, &FIELDS, "");
    let messages = report.list(fields.get("messages"), "messages");
    let mut open: Vec<&str> = Vec::new();
    let mut uses_tools = false;
    for (index, message) in messages.iter().enumerate() {
        let path = at("messages", index);
        let role = word(message, "role");
        let known = matches!(role, "user" | "assistant");
        report.require(known, &join(&path, "role"), "must be user or assistant");
        let before = index.checked_sub(1).map(|before| word(&messages[before], "role"));
        report.takes_turns(role, before, rules, &join(&path, "role"));
        let blocks = report.list(message.get("content"), &join(&path, "content"));
        results(&mut report, blocks, &mut open, &path);
        for (place, block) in blocks.iter().enumerate() {
            one_block(&mut report, block, role, rules, &at(&join(&path, "content"), place));
            if let Some(call) = block.get("toolUse") {
                open.push(word(call, "toolUseId"));
                uses_tools = true;
            }
        }
        report.unique(open.iter().copied(), &path, "toolUseId");
        let documents = blocks.iter().any(|block| block.get("document").is_some());
        let words = blocks.iter().any(|block| block.get("text").is_some());
        report.require(!documents || words, &path, "a document needs a text beside it");
    }
    for id in open {
        report.add("messages", format!("toolUse `{id}` has no toolResult"));
    }
    let last = messages.last().map_or("user", |message| word(message, "role"));
    report.require(last == "user", "messages", "the last message must be the user's");
    system(&mut report, fields.get("system"));
    tools(&mut report, fields.get("toolConfig"), uses_tools);
    settings(&mut report, fields);
    let points = count_points(body);
    report.require(points <= 4, "cachePoint", "there may be at most 4");
    report.done()
}

fn results(report: &mut Report, blocks: &[Value], open: &mut Vec<&str>, path: &str) {
    let waiting = std::mem::take(open);
    let mut answered = Vec::new();
    for result in blocks.iter().filter_map(|block| block.get("toolResult")) {
        let id = word(result, "toolUseId");
        if !waiting.contains(&id) {
            report.add(path, format!("answers `{id}`, which the message before does not call"));
        } else if answered.contains(&id) {
            report.add(path, format!("answers `{id}` a second time"));
        }
        answered.push(id);
    }
    for id in waiting.iter().filter(|id| !answered.contains(id)) {
        report.add(path, format!("toolUse `{id}` has no toolResult in the next message"));
    }
}

fn one_block(report: &mut Report, block: &Value, role: &str, rules: &Rules, path: &str) {
    let fields = report.object(block, path);
    let kinds: Vec<&str> = fields.keys().map(String::as_str).collect();
    let [kind] = kinds.as_slice() else {
        report.add(path, "must hold exactly one thing");
        return;
    };
    report.require(BLOCKS.contains(kind), path, &format!("`{kind}` is no content block"));
    let inside = join(path, kind);
    let speaker = match *kind {
        "toolUse" | "reasoningContent" => Some("assistant"),
        "toolResult" | "image" | "document" | "video" => Some("user"),
        _ => None,
    };
    if speaker.is_some_and(|speaker| speaker != role) {
        report.add(path, format!("a {kind} block is not the {role}'s"));
    }
    let value = &fields[*kind];
    match *kind {
        "text" => report.visible_text(Some(value), &inside),
        "image" => image(report, value, &inside),
        "document" => document(report, value, &inside),
        "toolUse" => {
            report.plain_id(word(value, "toolUseId"), 64, &join(&inside, "toolUseId"));
            let name = report.text(value.get("name"), &join(&inside, "name"));
            report.tool_name(name, 64, "", &join(&inside, "name"));
            let object = value.get("input").is_some_and(Value::is_object);
            report.require(object, &join(&inside, "input"), "must be an object");
        }
        "toolResult" => tool_result(report, value, &inside),
        "reasoningContent" => reasoning(report, value, rules, &inside),
        _ => {}
    }
}

fn tool_result(report: &mut Report, result: &Value, path: &str) {
    report.plain_id(word(result, "toolUseId"), 64, &join(path, "toolUseId"));
    let status = word(result, "status");
    let known = matches!(status, "" | "success" | "error");
    report.require(known, &join(path, "status"), "must be success or error");
    for (place, piece) in
        report.list(result.get("content"), &join(path, "content")).iter().enumerate()
    {
        let path = at(&join(path, "content"), place);
        let kinds: Vec<&str> =
            piece.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        match kinds.as_slice() {
            ["text"] => report.visible_text(piece.get("text"), &join(&path, "text")),
            ["image"] => image(report, &piece["image"], &join(&path, "image")),
            ["document"] => document(report, &piece["document"], &join(&path, "document")),
            ["json" | "video"] => {}
            _ => report.add(&path, "must be exactly one of text, json, image, document, video"),
        }
    }
}

fn reasoning(report: &mut Report, value: &Value, rules: &Rules, path: &str) {
    match (value.get("reasoningText"), value.get("redactedContent")) {
        (Some(text), None) => {
            report.text(text.get("text"), &join(path, "reasoningText.text"));
            // Claude takes back only what it signed; other models sign nothing.
            let claude = rules.model.as_ref().is_some_and(|model| model.contains("anthropic"));
            if claude || text.get("signature").is_some() {
                report.seal(text.get("signature"), rules, &join(path, "reasoningText.signature"));
            }
        }
        (None, Some(data)) => report.seal(Some(data), rules, &join(path, "redactedContent")),
        (None, None) | (Some(_), Some(_)) => {
            report.add(path, "must be either reasoningText or redactedContent");
        }
    }
}

fn image(report: &mut Report, image: &Value, path: &str) {
    let known = matches!(word(image, "format"), "png" | "jpeg" | "gif" | "webp");
    report.require(known, &join(path, "format"), "must be png, jpeg, gif or webp");
    source(report, image, path);
}

fn document(report: &mut Report, document: &Value, path: &str) {
    let known = DOCUMENTS.contains(&word(document, "format"));
    report.require(known, &join(path, "format"), "is no format of a document");
    let name = report.text(document.get("name"), &join(path, "name"));
    let fits = |c: char| c.is_alphanumeric() || " -()[]".contains(c);
    let named = name.chars().all(fits) && !name.contains("  ") && name.len() <= 200;
    report.require(named, &join(path, "name"), "holds characters a document's name may not have");
    source(report, document, path);
}

fn source(report: &mut Report, file: &Value, path: &str) {
    let source = file.get("source").unwrap_or(&Value::Null);
    if source.get("s3Location").is_none() && source.get("text").is_none() {
        report.base64(source.get("bytes"), &join(path, "source.bytes"));
    }
}

fn system(report: &mut Report, system: Option<&Value>) {
    let blocks = system.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (index, block) in blocks.iter().enumerate() {
        if block.get("cachePoint").is_none() && block.get("guardContent").is_none() {
            report.visible_text(block.get("text"), &join(&at("system", index), "text"));
        }
    }
}

fn tools(report: &mut Report, config: Option<&Value>, uses_tools: bool) {
    let Some(config) = config.filter(|config| !config.is_null()) else {
        report.require(!uses_tools, "toolConfig", "must be there when messages call tools");
        return;
    };
    let mut names = Vec::new();
    for (index, tool) in report.list(config.get("tools"), "toolConfig.tools").iter().enumerate() {
        let path = at("toolConfig.tools", index);
        let Some(spec) = tool.get("toolSpec") else { continue };
        let name = report.text(spec.get("name"), &join(&path, "toolSpec.name"));
        report.tool_name(name, 64, "", &join(&path, "toolSpec.name"));
        names.push(name);
        if spec.get("description").is_some() {
            report.text(spec.get("description"), &join(&path, "toolSpec.description"));
        }
        let schema = spec.get("inputSchema").and_then(|schema| schema.get("json"));
        report.object_schema(schema, &join(&path, "toolSpec.inputSchema.json"));
    }
    report.unique(names.iter().copied(), "toolConfig.tools", "tool");
    let Some(choice) = config.get("toolChoice") else { return };
    let kinds: Vec<&str> =
        choice.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    match kinds.as_slice() {
        ["auto" | "any"] => {}
        ["tool"] => {
            let known = names.contains(&word(&choice["tool"], "name"));
            report.require(known, "toolConfig.toolChoice.tool.name", "names no tool");
        }
        _ => report.add("toolConfig.toolChoice", "must be exactly one of auto, any, tool"),
    }
}

fn settings(report: &mut Report, fields: &Map<String, Value>) {
    let Some(config) = fields.get("inferenceConfig") else { return };
    let fields = report.object(config, "inferenceConfig");
    let known = ["maxTokens", "temperature", "topP", "stopSequences"];
    report.known_fields(fields, &known, "inferenceConfig");
    if let Some(most) = fields.get("maxTokens") {
        report.require(most.as_u64() > Some(0), "inferenceConfig.maxTokens", "must be at least 1");
    }
    report.number_between(fields, "temperature", 0.0, 1.0);
    report.number_between(fields, "topP", 0.0, 1.0);
}

fn count_points(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            let own = usize::from(fields.contains_key("cachePoint"));
            let inner =
                fields.iter().filter(|(key, _)| !matches!(key.as_str(), "input" | "inputSchema"));
            own + inner.map(|(_, value)| count_points(value)).sum::<usize>()
        }
        Value::Array(list) => list.iter().map(count_points).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
