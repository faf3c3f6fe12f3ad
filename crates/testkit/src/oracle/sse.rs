//! The plainest reader of server-sent events: lines, fields, blank line.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::Event;

/// Every event whose data is JSON. `[DONE]` comes out as the string `[DONE]`.
pub(super) fn events(text: &str) -> Vec<Event> {
    let mut events = Vec::new();
    let mut name = String::new();
    let mut data: Vec<&str> = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for line in text.split('\n').chain([""]) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            let joined = data.join("\n");
            if joined.trim() == "[DONE]" {
                events.push(Event::unnamed(Value::from("[DONE]")));
            } else if let Ok(data) = serde_json::from_str(&joined) {
                events.push(Event { name: std::mem::take(&mut name), data });
            }
            name.clear();
            data.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => data.push(value),
            "event" => value.clone_into(&mut name),
            _ => {}
        }
    }
    events
}

/// JSON that travels in base64 inside another event.
pub(super) fn unpack(base64: &str) -> Value {
    let bytes = STANDARD.decode(base64).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}
