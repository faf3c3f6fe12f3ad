//! Reads every provider's way of writing down an error.

use serde_json::{Map, Value};

use crate::sse;

/// Errors wrapped in errors are unwrapped this deep; a gateway, a provider and its backend, each
/// quoting the next as text, need seven.
const DEPTH: usize = 8;

/// Types and statuses that name the envelope or event, not the failure.
const ENVELOPES: &[&str] = &["error", "failed", "response.failed", "response.error"];

/// What an error body says, before anybody judges it.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Codes, types and status words, the most telling first.
    pub names: Vec<String>,
    /// The provider's explanation.
    pub message: String,
    /// A number in the body that can only be an HTTP status.
    pub status: Option<u16>,
    /// Seconds to wait, as the body says.
    pub wait_s: Option<f64>,
    /// A quota that only refills daily is used up.
    pub daily_quota: bool,
    /// The request was judged by a moderator, whatever the status says.
    pub moderated: bool,
    /// Headers: the response's own, and those a gateway passes on inside the body.
    pub headers: Vec<(String, String)>,
}

impl Report {
    /// Reads a body: JSON of any known shape, an event stream, a proxy's page, or plain text.
    pub(super) fn read(body: &[u8]) -> Self {
        let mut report = Self::default();
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{feff}').trim();
        if let Some(value) = json(text).or_else(|| json(first_event(body)?.trim())) {
            report.value(&value, DEPTH);
            if report.message.is_empty() && report.names.is_empty() {
                report.message = value.to_string();
            }
        } else if looks_like_html(text) {
            report.message = page_title(text);
        } else {
            text.clone_into(&mut report.message);
        }
        report
    }

    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Object(object) => self.object(object, depth),
            Value::Array(items) => {
                let telling = |item: &&Value| item.get("error").is_some();
                if let Some(item) = items.iter().find(telling).or_else(|| items.first()) {
                    self.value(item, depth);
                }
            }
            Value::String(text) => self.text(text, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn object(&mut self, object: &Map<String, Value>, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        self.error_field(object, depth);
        self.names_of(object);
        self.numbers_of(object);
        self.metadata(object, depth);
        self.details(object, depth);
        for key in ["innererror", "base_resp", "Output", "response"] {
            if let Some(Value::Object(inner)) = object.get(key) {
                self.object(inner, depth);
            }
        }
        for key in [
            "message",
            "Message",
            "originalMessage",
            "error_description",
            "detail",
            "status_msg",
            "msg",
            "title",
        ] {
            if !self.message.is_empty() {
                break;
            }
            match object.get(key) {
                Some(Value::Array(items)) => self.message = field_complaints(items),
                Some(value) => self.value(value, depth),
                None => {}
            }
        }
    }

    /// `error` is an object, a text, or (OAuth) a code with its text beside it.
    fn error_field(&mut self, object: &Map<String, Value>, depth: usize) {
        match object.get("error") {
            Some(Value::String(code)) if object.contains_key("error_description") => {
                self.name(code);
            }
            Some(Value::String(code)) if is_code(code) && object.contains_key("message") => {
                self.name(code);
            }
            Some(value) => self.value(value, depth),
            None => {}
        }
        if let Some(Value::Array(errors)) = object.get("errors")
            && let Some(first) = errors.first()
        {
            self.value(first, depth);
        }
    }

    fn names_of(&mut self, object: &Map<String, Value>) {
        for key in ["code", "reason", "type", "status", "__type", "error_type"] {
            if let Some(Value::String(name)) = object.get(key) {
                self.name(name);
            }
        }
    }

    /// Takes a code, without what Amazon puts around it: `com.amazon#Name:http://…`.
    pub(super) fn name(&mut self, name: &str) {
        let name = name.rsplit('#').next().unwrap_or(name);
        let name = name.split(":http").next().unwrap_or(name).trim();
        match name.parse() {
            Ok(status @ 400..=599) => self.status = self.status.or(Some(status)),
            Ok(_) | Err(_) if name.is_empty() || ENVELOPES.contains(&name) => {}
            Ok(_) | Err(_) => self.names.push(name.to_owned()),
        }
    }

    fn numbers_of(&mut self, object: &Map<String, Value>) {
        for key in ["code", "status", "status_code", "raw_status_code", "statusCode"] {
            let number = object.get(key).and_then(Value::as_u64);
            match number.and_then(|number| u16::try_from(number).ok()) {
                Some(status @ 400..=599) => self.status = self.status.or(Some(status)),
                Some(0) | None => {}
                Some(code) if key == "code" => self.names.push(code.to_string()),
                Some(code) => self.names.push(format!("{key}_{code}")),
            }
        }
        for key in ["resets_in_seconds", "retry_after", "retry_after_seconds"] {
            self.wait_s = self.wait_s.or_else(|| object.get(key)?.as_f64());
        }
    }

    /// `OpenRouter` hands on what the provider behind it said, with that provider's name.
    fn metadata(&mut self, object: &Map<String, Value>, depth: usize) {
        let Some(Value::Object(metadata)) = object.get("metadata") else { return };
        self.moderated |= metadata.get("reasons").is_some_and(Value::is_array);
        if let Some(Value::Object(headers)) = metadata.get("headers") {
            let pairs = headers.iter().filter_map(|(name, value)| {
                Some((name.to_ascii_lowercase(), value.as_str()?.to_owned()))
            });
            self.headers.extend(pairs);
        }
        let Some(raw) = metadata.get("raw") else { return };
        self.value(raw, depth);
        if let Some(provider) = metadata.get("provider_name").and_then(Value::as_str)
            && !self.message.is_empty()
        {
            self.message = format!("{provider}: {}", self.message);
        }
    }

    /// Google's `details`: why, when to come back, and which quota it was.
    fn details(&mut self, object: &Map<String, Value>, depth: usize) {
        let Some(Value::Array(details)) = object.get("details") else { return };
        for detail in details.iter().filter_map(Value::as_object) {
            if let Some(Value::String(reason)) = detail.get("reason") {
                self.names.insert(0, reason.clone());
            }
            if let Some(Value::String(delay)) = detail.get("retryDelay") {
                self.wait_s = delay.strip_suffix('s').and_then(|s| s.parse().ok()).or(self.wait_s);
            }
            let violations = detail.get("violations").and_then(Value::as_array);
            self.daily_quota |= violations.into_iter().flatten().any(|violation| {
                violation.get("quotaId").and_then(Value::as_str).is_some_and(is_daily)
            });
            if let Some(inner @ Value::Object(_)) = detail.get("error") {
                self.value(inner, depth);
            }
        }
    }

    fn text(&mut self, text: &str, depth: usize) {
        match (json(text), depth.checked_sub(1)) {
            (Some(inner @ (Value::Object(_) | Value::Array(_))), Some(depth)) => {
                self.value(&inner, depth);
                if self.message.is_empty() {
                    text.clone_into(&mut self.message);
                }
            }
            _ if self.message.is_empty() => text.clone_into(&mut self.message),
            _ => {}
        }
    }
}

fn json(text: &str) -> Option<Value> {
    if !text.starts_with(['{', '[', '"']) {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// The data of the first event, for servers that stream even their refusals.
fn first_event(body: &[u8]) -> Option<String> {
    let mut decoder = sse::Decoder::new();
    decoder.push(body);
    decoder.finish();
    let event = decoder.next().ok()??;
    Some(sse::text(event.data).into_owned())
}

fn is_code(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_daily(quota: &str) -> bool {
    quota.contains("PerDay")
}

/// `FastAPI`'s and Mistral's list of fields that do not fit.
fn field_complaints(items: &[Value]) -> String {
    let complaint = |item: &Value| {
        let place: Vec<_> = item
            .get("loc")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned))
            .collect();
        let text = item.get("msg").or_else(|| item.get("message")).and_then(Value::as_str);
        let text = text.map_or_else(|| item.to_string(), str::to_owned);
        if place.is_empty() { text } else { format!("{}: {text}", place.join(".")) }
    };
    items.iter().take(5).map(complaint).collect::<Vec<_>>().join("; ")
}

fn looks_like_html(text: &str) -> bool {
    let start: String = text.chars().take(64).collect::<String>().to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html") || start.starts_with("<head")
}

/// The title of a proxy's page: the page itself helps nobody.
fn page_title(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let between = |open: &str, close: &str| {
        let start = lower.find(open)? + open.len();
        let start = start + lower.get(start..)?.find('>')? + 1;
        let end = start + lower.get(start..)?.find(close)?;
        let title = page.get(start..end)?.split_whitespace().collect::<Vec<_>>().join(" ");
        (!title.is_empty()).then_some(title)
    };
    let title = between("<title", "</title").or_else(|| between("<h1", "</h1"));
    title.map_or_else(
        || "a web page came back instead of an answer".to_owned(),
        |title| format!("a web page came back instead of an answer: {title}"),
    )
}
