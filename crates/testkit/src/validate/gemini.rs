//! Gemini `generateContent`, as the Gemini API and Vertex take it.

use serde_json::{Map, Value};

use super::shape::{Report, at, join, word};
use super::{Rules, Violation};

const FIELDS: [&str; 9] = [
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "cachedContent",
    "labels",
    "serviceTier",
];

/// What a part may be; it is exactly one of these.
const PARTS: [&str; 7] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
];

const MEDIA: [&str; 8] = [
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/heic",
    "image/heif",
    "image/gif",
    "application/pdf",
    "text/plain",
];

/// Seals Google documents for thoughts of other models; they are never foreign.
const DUMMY_SEALS: [&str; 2] =
    ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// Checks a request body.
pub fn check(body: &Value, rules: &Rules) -> Vec<Violation> {
    let mut report = Report::default();
    let fields = report.object(body, "");
    report.known_fields(fields, &FIELDS, "");
    let contents = report.list(fields.get("contents"), "contents");
    for (index, content) in contents.iter().enumerate() {
        one_content(&mut report, content, rules, &at("contents", index));
    }
    turns(&mut report, contents, rules);
    if rules.model.as_ref().is_some_and(|model| model.contains("gemini-3")) {
        sealed_calls(&mut report, contents);
    }
    if let Some(system) = fields.get("systemInstruction").filter(|system| !system.is_null()) {
        let path = "systemInstruction.parts";
        for (index, part) in report.list(system.get("parts"), path).iter().enumerate() {
            report.text(part.get("text"), &join(&at(path, index), "text"));
        }
    }
    tools(&mut report, fields);
    generation(&mut report, fields.get("generationConfig"));
    report.done()
}

fn parts(content: &Value) -> &[Value] {
    content.get("parts").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn one_content(report: &mut Report, content: &Value, rules: &Rules, path: &str) {
    let role = word(content, "role");
    let known = matches!(role, "user" | "model" | "function");
    report.require(known, &join(path, "role"), "must be user or model");
    for (place, part) in report.list(content.get("parts"), &join(path, "parts")).iter().enumerate()
    {
        one_part(report, part, role, rules, &at(&join(path, "parts"), place));
    }
}

fn one_part(report: &mut Report, part: &Value, role: &str, rules: &Rules, path: &str) {
    let fields = report.object(part, path);
    let seal = fields.get("thoughtSignature").filter(|seal| !seal.is_null());
    let kinds: Vec<&str> = PARTS
        .into_iter()
        .filter(|kind| fields.get(*kind).is_some_and(|value| !value.is_null()))
        .collect();
    match kinds.as_slice() {
        ["text"] => {
            let empty = word(part, "text").is_empty();
            report.require(!empty || seal.is_some(), &join(path, "text"), "must not be empty");
        }
        ["inlineData"] => {
            let data = part.get("inlineData").unwrap_or(&Value::Null);
            let media = word(data, "mimeType");
            let heard = media.starts_with("audio/") || media.starts_with("video/");
            let media = heard || MEDIA.contains(&media);
            report.require(media, &join(path, "inlineData.mimeType"), "is no media type it takes");
            report.base64(data.get("data"), &join(path, "inlineData.data"));
        }
        ["fileData"] => {
            let uri = part.get("fileData").and_then(|file| file.get("fileUri"));
            report.text(uri, &join(path, "fileData.fileUri"));
        }
        ["functionCall"] => {
            report.require(role == "model", path, "a functionCall is the model's");
            let call = part.get("functionCall").unwrap_or(&Value::Null);
            function_name(report, call, &join(path, "functionCall.name"));
            let args = call.get("args").is_none_or(|args| args.is_object() || args.is_null());
            report.require(args, &join(path, "functionCall.args"), "must be an object");
        }
        ["functionResponse"] => {
            report.require(role != "model", path, "a functionResponse is not the model's");
            let response = part.get("functionResponse").unwrap_or(&Value::Null);
            function_name(report, response, &join(path, "functionResponse.name"));
            let object = response.get("response").is_some_and(Value::is_object);
            report.require(object, &join(path, "functionResponse.response"), "must be an object");
        }
        ["executableCode" | "codeExecutionResult"] => {}
        [] => report.add(path, "must hold something"),
        _ => report.add(path, "must hold exactly one thing"),
    }
    if let Some(seal) = seal {
        let place = join(path, "thoughtSignature");
        if !seal.as_str().is_some_and(|seal| DUMMY_SEALS.contains(&seal)) {
            report.base64(Some(seal), &place);
            report.seal(Some(seal), rules, &place);
        }
    }
}

fn function_name(report: &mut Report, function: &Value, path: &str) {
    let name = report.text(function.get("name"), path);
    report.tool_name(name, 128, ".:", path);
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    report.require(name.is_empty() || begins, path, "must begin with a letter or _");
}

/// Calls follow the user's words or results, and are answered at once, as many as they are.
fn turns(report: &mut Report, contents: &[Value], rules: &Rules) {
    let names = |content: &Value, kind: &str| -> Vec<String> {
        let mut names: Vec<String> = parts(content)
            .iter()
            .filter_map(|part| part.get(kind))
            .map(|function| word(function, "name").to_owned())
            .collect();
        names.sort();
        names
    };
    for (index, content) in contents.iter().enumerate() {
        let path = at("contents", index);
        let before = index.checked_sub(1).and_then(|before| contents.get(before));
        let role_of = |content: &Value| match word(content, "role") {
            "function" => "user".to_owned(),
            role => role.to_owned(),
        };
        report.takes_turns(&role_of(content), before.map(role_of).as_deref(), rules, &path);
        let calls = names(content, "functionCall");
        let answers =
            contents.get(index + 1).map_or(Vec::new(), |next| names(next, "functionResponse"));
        if !calls.is_empty() && calls != answers {
            report.add(&path, format!("calls {calls:?} are answered by {answers:?}"));
        }
        let called = before.map_or(Vec::new(), |before| names(before, "functionCall"));
        let responses = names(content, "functionResponse");
        if !responses.is_empty() && called.is_empty() {
            report.add(&path, format!("answers {responses:?}, which nobody called"));
        }
    }
    let last = contents.last().map_or("user", |content| word(content, "role"));
    report.require(last != "model", "contents", "the last turn must be the user's");
}

/// Gemini 3 wants a seal on the first call of every step since the user last spoke.
fn sealed_calls(report: &mut Report, contents: &[Value]) {
    let asks = |content: &Value| {
        word(content, "role") == "user"
            && parts(content).iter().any(|part| part.get("functionResponse").is_none())
    };
    let start = contents.iter().rposition(asks).unwrap_or(0);
    for (index, content) in contents.iter().enumerate().skip(start) {
        let first = parts(content).iter().find(|part| part.get("functionCall").is_some());
        let sealed = first.is_none_or(|part| part.get("thoughtSignature").is_some());
        report.require(
            sealed,
            &at("contents", index),
            "the first functionCall needs its thoughtSignature",
        );
    }
}

fn tools(report: &mut Report, fields: &Map<String, Value>) {
    let tools = fields.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut names = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let path = join(&at("tools", index), "functionDeclarations");
        let declared = tool.get("functionDeclarations").and_then(Value::as_array);
        for (place, function) in declared.into_iter().flatten().enumerate() {
            let path = at(&path, place);
            function_name(report, function, &join(&path, "name"));
            names.push(word(function, "name"));
            let is_set = |field: &str| function.get(field).is_some_and(|schema| !schema.is_null());
            let both = is_set("parameters") && is_set("parametersJsonSchema");
            report.require(!both, &path, "has parameters twice");
            if is_set("parameters") {
                report.object_schema(function.get("parameters"), &join(&path, "parameters"));
                schema(report, function.get("parameters"), &join(&path, "parameters"));
            }
            if is_set("parametersJsonSchema") {
                let place = join(&path, "parametersJsonSchema");
                report.object_schema(function.get("parametersJsonSchema"), &place);
            }
        }
    }
    report.unique(names.iter().copied(), "tools", "function");
    let config = fields.get("toolConfig").and_then(|config| config.get("functionCallingConfig"));
    let Some(config) = config else { return };
    let mode = word(config, "mode");
    let path = "toolConfig.functionCallingConfig";
    let known = matches!(mode, "AUTO" | "ANY" | "NONE" | "VALIDATED" | "auto" | "any" | "none");
    report.require(known, &join(path, "mode"), "is no mode");
    let allowed = config.get("allowedFunctionNames").and_then(Value::as_array);
    for name in allowed.into_iter().flatten().filter_map(Value::as_str) {
        report.require(
            names.contains(&name),
            &join(path, "allowedFunctionNames"),
            "names no function",
        );
        let forced = matches!(mode, "ANY" | "VALIDATED");
        report.require(forced, &join(path, "allowedFunctionNames"), "needs mode ANY or VALIDATED");
    }
}

/// `parameters` is Google's own subset of JSON Schema: unknown words are refused.
fn schema(report: &mut Report, value: Option<&Value>, path: &str) {
    const WORDS: [&str; 24] = [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "prefixItems",
        "maxItems",
        "minItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "example",
        "anyOf",
        "propertyOrdering",
        "default",
        "additionalProperties",
    ];
    let Some(fields) = value.and_then(Value::as_object) else { return };
    report.known_fields(fields, &WORDS, path);
    for (name, property) in
        fields.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        schema(report, Some(property), &join(&join(path, "properties"), name));
    }
    schema(report, fields.get("items"), &join(path, "items"));
    for (index, one) in
        fields.get("anyOf").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        schema(report, Some(one), &at(&join(path, "anyOf"), index));
    }
}

fn generation(report: &mut Report, config: Option<&Value>) {
    let Some(config) = config.filter(|config| !config.is_null()) else { return };
    let fields = report.object(config, "generationConfig");
    report.number_between(fields, "temperature", 0.0, 2.0);
    report.number_between(fields, "topP", 0.0, 1.0);
    if let Some(most) = fields.get("maxOutputTokens").filter(|most| !most.is_null()) {
        report.require(
            most.as_u64() > Some(0),
            "generationConfig.maxOutputTokens",
            "must be at least 1",
        );
    }
    let stops = fields.get("stopSequences").and_then(Value::as_array).map_or(0, Vec::len);
    report.require(stops <= 5, "generationConfig.stopSequences", "holds at most 5 texts");
    let Some(thinking) = fields.get("thinkingConfig").filter(|thinking| !thinking.is_null()) else {
        return;
    };
    let path = "generationConfig.thinkingConfig";
    let budget = thinking.get("thinkingBudget").filter(|budget| !budget.is_null());
    let level = thinking.get("thinkingLevel").filter(|level| !level.is_null());
    report.require(budget.is_none() || level.is_none(), path, "has both a budget and a level");
    if let Some(budget) = budget {
        report.require(
            budget.as_i64() >= Some(-1),
            &join(path, "thinkingBudget"),
            "must be -1 or more",
        );
    }
    if let Some(level) = level.and_then(Value::as_str) {
        let known = ["minimal", "low", "medium", "high"].contains(&level.to_lowercase().as_str());
        report.require(known, &join(path, "thinkingLevel"), "is no level");
    }
}
