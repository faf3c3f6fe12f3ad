//! What a handler said: exit code, or JSON in Claude Code's words and Crush's.

use guard::Decision;
use serde_json::{Map, Value};

use super::lasting::Lasting;
use super::occasion::Occasion;
use super::run::Ended;

/// The exit code that says no.
const NO: i32 = 2;
/// Crush's exit code that ends the turn.
const HALT: i32 = 49;

/// What a handler said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// Whether it may go on; `Deny` is what others call `block`.
    pub decision: Option<Decision>,
    /// Why.
    pub reason: Option<String>,
    /// What the call's input shall be.
    pub input: Option<Change>,
    /// What shall hold beyond the call.
    pub lasting: Lasting,
    /// What the call's result shall be.
    pub output: Option<String>,
    /// What the model should know.
    pub context: Vec<String>,
    /// What the user should know.
    pub message: Option<String>,
    /// Why the turn shall end.
    pub halt: Option<String>,
    /// What the session shall be called.
    pub title: Option<String>,
    /// What the user says first, in the handler's words.
    pub first_words: Option<String>,
    /// Why it is as good as if it had said nothing.
    pub failure: Option<String>,
}

/// A change of a call's input.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// In place of all of it.
    Whole(Map<String, Value>),
    /// Over it, field by field.
    Fields(Map<String, Value>),
}

impl Said {
    /// What a handler said by how it ended. One that has said that nobody need wait decides nothing.
    pub fn read(occasion: Occasion, ended: &Ended) -> Self {
        let said = Self::heard(occasion, ended);
        let body = match ended {
            Ended::Exited { stdout: body, .. } | Ended::Answered { body, .. } => body.as_bytes(),
            Ended::TooSlow(_) | Ended::Cancelled | Ended::Broken(_) => &[],
        };
        if releases(body) == Some(true) { said.unawaited() } else { said }
    }

    /// What is left of it where nobody has waited: words. A no is one more for the user.
    #[must_use]
    pub fn unawaited(self) -> Self {
        let Self { decision, reason, context, message, failure, .. } = self;
        let no = reason.filter(|_| decision == Some(Decision::Deny));
        Self { context, message: message.or(no), failure, ..Self::default() }
    }

    fn heard(occasion: Occasion, ended: &Ended) -> Self {
        match ended {
            Ended::Exited { code: Some(code), stdout, stderr } => {
                exited(occasion, *code, stdout, stderr.trim())
            }
            Ended::Exited { code: None, stderr, .. } => {
                Self::failed(with_detail("a signal ended it", stderr.trim()))
            }
            Ended::Answered { status: 200..=299, body } => spoken(occasion, body),
            Ended::Answered { status, body } => {
                Self::failed(with_detail(&format!("it answered {status}"), body.trim()))
            }
            Ended::TooSlow(limit) => {
                Self::failed(format!("it took longer than {} s", limit.as_secs_f64()))
            }
            Ended::Cancelled => Self::default(),
            Ended::Broken(why) => Self::failed(why.clone()),
        }
    }

    fn failed(why: String) -> Self {
        Self { failure: Some(why), ..Self::default() }
    }
}

fn exited(occasion: Occasion, code: i32, stdout: &str, stderr: &str) -> Said {
    match code {
        0 => spoken(occasion, stdout),
        NO | HALT => {
            // The code beats whatever else was printed, save words for the user.
            let message = json_of(stdout).ok().flatten().and_then(|it| text(&it, "systemMessage"));
            let reason = (!stderr.is_empty()).then(|| stderr.to_owned());
            let said = Said { message, ..Said::default() };
            if code == HALT {
                return Said { halt: Some(reason.unwrap_or_default()), ..said };
            }
            if occasion.can_be_stopped() {
                return Said { decision: Some(Decision::Deny), reason, ..said };
            }
            Said { message: reason.or(said.message.clone()), ..said }
        }
        code => match json_of(stdout) {
            Ok(Some(words)) => understood(occasion, &words),
            Ok(None) | Err(_) => {
                Said::failed(with_detail(&format!("it ended with exit code {code}"), stderr))
            }
        },
    }
}

/// What the text of a handler that is content says.
fn spoken(occasion: Occasion, body: &str) -> Said {
    match json_of(body) {
        Ok(Some(words)) => understood(occasion, &words),
        Ok(None) if occasion.hears_text() && !body.trim().is_empty() => {
            Said { context: vec![body.trim().to_owned()], ..Said::default() }
        }
        Ok(None) => Said::default(),
        Err(error) => {
            Said::failed(format!("what it printed begins like JSON and is none: {error}"))
        }
    }
}

/// Whether the beginning of what a handler prints says that nobody need wait for it; none while that may
/// still come.
pub(super) fn releases(printed: &[u8]) -> Option<bool> {
    let body = printed.trim_ascii_start();
    match body.first() {
        None => return None,
        Some(b'{') => {}
        Some(_) => return Some(false),
    }
    let mut values = serde_json::Deserializer::from_slice(body).into_iter::<Map<String, Value>>();
    match values.next()? {
        Ok(words) => Some(is_release(&words)),
        Err(error) if error.is_eof() => None,
        Err(_) => Some(false),
    }
}

fn is_release(words: &Map<String, Value>) -> bool {
    words.get("async") == Some(&Value::Bool(true))
}

/// The object a text begins with, or the one behind a release; none if it does not begin like one.
fn json_of(body: &str) -> Result<Option<Map<String, Value>>, serde_json::Error> {
    let body = body.trim();
    if !body.starts_with('{') {
        return Ok(None);
    }
    let mut values = serde_json::Deserializer::from_str(body).into_iter::<Map<String, Value>>();
    match values.next().transpose()? {
        Some(words) if is_release(&words) => {
            let rest = json_of(&body[values.byte_offset()..])?;
            Ok(rest.or(Some(Map::new())))
        }
        first => Ok(first),
    }
}

fn understood(occasion: Occasion, words: &Map<String, Value>) -> Said {
    let empty = Map::new();
    let special = words.get("hookSpecificOutput").and_then(Value::as_object).unwrap_or(&empty);
    let event = text(special, "hookEventName");
    if let Some(event) = event.filter(|event| Occasion::of_name(event) != Some(occasion)) {
        return Said::failed(format!("it answers to {event}, but was told of {occasion}"));
    }
    let answer = special.get("decision").and_then(Value::as_object).unwrap_or(&empty);
    let decision = text(special, "permissionDecision")
        .or_else(|| text(answer, "behavior"))
        .or_else(|| text(words, "decision"));
    let reason = text(special, "permissionDecisionReason")
        .or_else(|| text(answer, "message"))
        .or_else(|| text(words, "reason"));
    let stops = words.get("continue") == Some(&Value::Bool(false))
        || words.get("halt") == Some(&Value::Bool(true))
        || answer.get("interrupt") == Some(&Value::Bool(true));
    let halt = stops.then(|| text(words, "stopReason").or(reason.clone()).unwrap_or_default());
    let whole = object(special, "updatedInput").or_else(|| object(answer, "updatedInput"));
    let patch = || object(words, "updated_input").map(Change::Fields);
    let lasting = answer.get("updatedPermissions").and_then(Value::as_array);
    let output = special.get("updatedToolOutput").or(special.get("updatedMCPToolOutput"));
    Said {
        decision: decision.as_deref().and_then(decided),
        reason,
        input: whole.map(Change::Whole).or_else(patch),
        lasting: lasting.map(|updates| Lasting::read(updates)).unwrap_or_default(),
        output: output.filter(|output| !output.is_null()).map(plain),
        context: context(special, words),
        message: text(words, "systemMessage"),
        halt,
        title: text(special, "sessionTitle"),
        first_words: text(special, "initialUserMessage").filter(|words| !words.trim().is_empty()),
        failure: None,
    }
}

/// A word for a decision. To put it off is to ask: there is nobody else to put it off to.
fn decided(word: &str) -> Option<Decision> {
    match word {
        "allow" | "approve" => Some(Decision::Allow),
        "ask" | "defer" => Some(Decision::Ask),
        "deny" | "block" => Some(Decision::Deny),
        _ => None,
    }
}

fn context(special: &Map<String, Value>, words: &Map<String, Value>) -> Vec<String> {
    let given = special
        .get("additionalContext")
        .or_else(|| words.get("additionalContext"))
        .or_else(|| words.get("context"));
    let pieces = match given {
        Some(Value::Array(pieces)) => pieces.iter().map(plain).collect(),
        Some(Value::String(piece)) => vec![piece.clone()],
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            Vec::new()
        }
    };
    pieces.into_iter().filter(|piece: &String| !piece.trim().is_empty()).collect()
}

fn text(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn object(fields: &Map<String, Value>, name: &str) -> Option<Map<String, Value>> {
    fields.get(name).and_then(Value::as_object).cloned()
}

/// A value as text: a string as it is, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn with_detail(what: &str, detail: &str) -> String {
    match detail.lines().next() {
        Some(line) => format!("{what}: {line}"),
        None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests;
