//! One line of a host's, read.

use base::transcript::{File, FileSource};
use base::{Origin, Part, PartBody};
use serde_json::Value;

/// What a host says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Heard {
    /// Something for the model.
    Prompt {
        /// What.
        parts: Vec<Part>,
        /// The message as it came.
        message: Value,
    },
    /// It wants something of us.
    Control {
        /// What to answer to.
        id: String,
        /// What it wants.
        ask: Ask,
    },
    /// It answers a question of ours.
    Answer {
        /// Which.
        id: String,
        /// The answer, or why there is none.
        answer: Result<Value, String>,
    },
    /// Nothing that concerns us.
    Nothing,
}

/// What a host wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ask {
    /// To know what there is. The names are the parts of the request that ask for more than that, and that are not
    /// supported: hooks, agents, prompts, servers.
    Initialize {
        /// In the order of the request.
        unsupported: Vec<String>,
    },
    /// The running turn stopped.
    Interrupt,
    /// Another mode, by name.
    SetMode(String),
    /// Another model, by name; none for the first one.
    SetModel(Option<String>),
    /// Something we do not serve.
    Unknown(String),
}

/// Reads a line; the error says what is wrong with it.
pub(super) fn read(line: &[u8]) -> Result<Heard, String> {
    let text = std::str::from_utf8(line).map_err(|error| format!("is not UTF-8: {error}"))?;
    if text.trim().is_empty() {
        return Ok(Heard::Nothing);
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
    match value["type"].as_str() {
        Some("user") => prompt(&value),
        Some("control_request") => control(&value),
        Some("control_response") => answer(&value),
        // Hosts also send what only their own program knows: keep_alive, cancellations, new variables.
        Some(_) => Ok(Heard::Nothing),
        None => Err("has no type".to_owned()),
    }
}

fn prompt(value: &Value) -> Result<Heard, String> {
    let message = &value["message"];
    let parts = match &message["content"] {
        Value::String(text) => vec![Part::user_text(text)],
        Value::Array(blocks) => blocks.iter().map(part).collect::<Result<_, _>>()?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            return Err("is a message without content".to_owned());
        }
    };
    let says_something = |part: &Part| part.as_text().is_none_or(|text| !text.trim().is_empty());
    if !parts.iter().any(says_something) {
        return Err("is a message that says nothing".to_owned());
    }
    Ok(Heard::Prompt { parts, message: message.clone() })
}

/// A content block of the Messages API.
fn part(block: &Value) -> Result<Part, String> {
    let kind = block["type"].as_str().unwrap_or_default();
    match (kind, block["text"].as_str()) {
        ("text", Some(text)) => return Ok(Part::user_text(text)),
        ("image" | "document", _) => {}
        _ => return Err(format!("has a content block of type `{kind}`, which is not taken")),
    }
    let source = &block["source"];
    let field = |name: &str| source[name].as_str().map(str::to_owned);
    let fallback = if kind == "image" { "image/png" } else { "application/pdf" };
    let media_type = field("media_type").unwrap_or_else(|| fallback.to_owned());
    let source = match source["type"].as_str() {
        Some("base64") => field("data").map(FileSource::Base64),
        Some("url") => field("url").map(FileSource::Url),
        Some(_) | None => None,
    };
    let source = source.ok_or_else(|| format!("has an {kind} without base64 or url"))?;
    let file = File { media_type, name: None, source };
    Ok(Part::new(PartBody::File(file), Origin::User))
}

fn control(value: &Value) -> Result<Heard, String> {
    let id = value["request_id"].as_str().ok_or("is a control_request without request_id")?;
    let request = &value["request"];
    let word = |name: &str| request[name].as_str().map(str::to_owned);
    let ask = match request["subtype"].as_str().unwrap_or_default() {
        "initialize" => Ask::Initialize { unsupported: unsupported(request) },
        "interrupt" => Ask::Interrupt,
        "set_permission_mode" => Ask::SetMode(word("mode").unwrap_or_default()),
        "set_model" => Ask::SetModel(word("model").filter(|model| model != "default")),
        other => Ask::Unknown(other.to_owned()),
    };
    Ok(Heard::Control { id: id.to_owned(), ask })
}

/// The parts of an `initialize` request that ask for something. None of them is supported: a host whose hooks were
/// silently dropped would take a guard to be in place that never runs.
fn unsupported(request: &Value) -> Vec<String> {
    let parts = request.as_object().into_iter().flatten();
    let asked = parts.filter(|(name, value)| *name != "subtype" && !is_empty(value));
    asked.map(|(name, _)| name.clone()).collect()
}

/// Whether a value asks for nothing, such as `null`, `[]` or `{"PreToolUse": []}`.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is_on) => !is_on,
        Value::Number(_) => false,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(fields) => fields.values().all(is_empty),
    }
}

fn answer(value: &Value) -> Result<Heard, String> {
    let response = &value["response"];
    let id = response["request_id"].as_str().ok_or("is a control_response without request_id")?;
    let answer = match response["subtype"].as_str() {
        Some("success") => Ok(response["response"].clone()),
        Some(_) | None => {
            Err(response["error"].as_str().unwrap_or("no reason was given").to_owned())
        }
    };
    Ok(Heard::Answer { id: id.to_owned(), answer })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn heard(value: &Value) -> Result<Heard, String> {
        read(value.to_string().as_bytes())
    }

    #[test]
    fn a_message_is_text_or_blocks() {
        let spoken =
            |content: Value| heard(&json!({ "type": "user", "message": { "content": content } }));
        let Ok(Heard::Prompt { parts, .. }) = spoken(json!("hi")) else { panic!("no prompt") };
        assert_eq!(parts, [Part::user_text("hi")]);
        let image = json!({ "type": "image", "source": { "type": "base64", "data": "AA==" } });
        let Ok(Heard::Prompt { parts, .. }) =
            spoken(json!([{ "type": "text", "text": "see" }, image]))
        else {
            panic!("no prompt")
        };
        assert!(matches!(&parts[1].body, PartBody::File(file) if file.media_type == "image/png"));
        for bad in [json!(null), json!(" "), json!([]), json!([{ "type": "tool_result" }])] {
            assert!(spoken(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn control_lines_are_told_apart() {
        let asked = |request: Value| {
            heard(&json!({ "type": "control_request", "request_id": "1", "request": request }))
        };
        let wants = |ask| Ok(Heard::Control { id: "1".to_owned(), ask });
        assert_eq!(asked(json!({ "subtype": "interrupt" })), wants(Ask::Interrupt));
        assert_eq!(
            asked(json!({ "subtype": "set_model", "model": null })),
            wants(Ask::SetModel(None))
        );
        let initialize = |names: &[&str]| {
            let unsupported = names.iter().map(ToString::to_string).collect();
            wants(Ask::Initialize { unsupported })
        };
        let empty = json!({ "subtype": "initialize", "hooks": { "Stop": [] }, "agents": null,
            "sdkMcpServers": [], "systemPrompt": "", "promptSuggestions": false });
        assert_eq!(asked(empty), initialize(&[]));
        for name in [
            "hooks",
            "agents",
            "systemPrompt",
            "appendSystemPrompt",
            "sdkMcpServers",
            "mcpServers",
            "skills",
            "outputFormat",
            "jsonSchema",
            "somethingNew",
        ] {
            let mut request = json!({ "subtype": "initialize", "hooks": {} });
            request[name] = json!({ "x": [{ "y": 1 }] });
            assert_eq!(asked(request), initialize(&[name]), "{name}");
        }
        assert_eq!(asked(json!({ "subtype": "dance" })), wants(Ask::Unknown("dance".to_owned())));
        let response = json!({ "subtype": "error", "request_id": "2", "error": "no" });
        assert_eq!(
            heard(&json!({ "type": "control_response", "response": response })),
            Ok(Heard::Answer { id: "2".to_owned(), answer: Err("no".to_owned()) })
        );
        assert_eq!(heard(&json!({ "type": "keep_alive" })), Ok(Heard::Nothing));
        assert!(
            heard(&json!({ "a": 1 })).is_err() && read(b"{").is_err() && read(b"\xff").is_err()
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_line_is_read_or_refused(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            drop(read(&line));
        }
    }
}
