//! The part of the Language Server Protocol that is used here, as plain data.
//!
//! Our own thirty structures instead of `lsp-types`: its last release is of 2024, its `Uri` has no way to a
//! path, and it rejects a whole answer for one field a server writes differently. These take what they need
//! and let the rest be.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A place in a document, in the units that were agreed on.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(crate) struct Position {
    /// Lines before it.
    pub(crate) line: u32,
    /// Units before it in its line.
    pub(crate) character: u32,
}

/// From one place to another, the latter not included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Range {
    /// Its first place.
    pub(crate) start: Position,
    /// The place after its last.
    pub(crate) end: Position,
}

/// A range in a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Location {
    pub(crate) uri: String,
    pub(crate) range: Range,
}

/// A location with more around it, as some answers have it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LocationLink {
    pub(crate) target_uri: String,
    pub(crate) target_selection_range: Range,
}

/// What a server complains of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Diagnostic {
    pub(crate) range: Range,
    /// 1 error, 2 warning, 3 information, 4 hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) severity: Option<u8>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) code: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    #[serde(deserialize_with = "words")]
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) data: Value,
}

/// News about a file's diagnostics.
#[derive(Debug, Deserialize)]
pub(crate) struct Published {
    pub(crate) uri: String,
    pub(crate) version: Option<i64>,
    #[serde(deserialize_with = "readable")]
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// The answer to a pull.
#[derive(Debug, Deserialize)]
pub(crate) struct Pulled {
    #[serde(default)]
    pub(crate) kind: String,
    #[serde(default, rename = "resultId")]
    pub(crate) result_id: Option<String>,
    #[serde(default, deserialize_with = "readable")]
    pub(crate) items: Vec<Diagnostic>,
}

/// A piece of text to replace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TextEdit {
    /// What to replace.
    pub(crate) range: Range,
    /// With what.
    pub(crate) new_text: String,
}

/// A symbol in the outline of a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DocumentSymbol {
    pub(crate) name: String,
    pub(crate) kind: u8,
    pub(crate) selection_range: Range,
    #[serde(default)]
    pub(crate) children: Vec<DocumentSymbol>,
}

/// A symbol and where it is.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SymbolInformation {
    pub(crate) name: String,
    pub(crate) kind: u8,
    pub(crate) location: LooseLocation,
    #[serde(default)]
    pub(crate) container_name: Option<String>,
}

/// A location that may lack its range.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LooseLocation {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) range: Range,
}

/// A function in a tree of calls. What else the server has put into it goes back to it unread.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallItem {
    pub(crate) name: String,
    pub(crate) kind: u8,
    pub(crate) uri: String,
    pub(crate) selection_range: Range,
}

/// An action a server offers.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CodeAction {
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) edit: Option<Value>,
    #[serde(default)]
    pub(crate) command: Value,
    #[serde(default)]
    pub(crate) arguments: Value,
    #[serde(default)]
    pub(crate) disabled: Value,
    #[serde(default)]
    pub(crate) data: Value,
}

/// Something a server does when it is told to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ServerCommand {
    pub(crate) command: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) arguments: Value,
}

impl CodeAction {
    /// The command that does it, or that follows its edit: it may stand in an action or in place of one.
    pub(crate) fn command(&self) -> Option<ServerCommand> {
        match &self.command {
            Value::String(command) => {
                let arguments = self.arguments.clone();
                Some(ServerCommand { command: command.clone(), arguments })
            }
            Value::Object(_) => serde_json::from_value(self.command.clone()).ok(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        }
    }
}

/// What a server can do, as it said when it began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Capabilities(pub(crate) Value);

/// How a server wants to be told of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    None,
    Full,
    Incremental,
}

impl Capabilities {
    /// Whether it offers something, such as `renameProvider`.
    pub(crate) fn has(&self, provider: &str) -> bool {
        !matches!(self.0.get(provider), None | Some(Value::Null | Value::Bool(false)))
    }

    /// How it wants to be told of changes.
    pub(crate) fn sync(&self) -> Sync {
        let sync = self.0.get("textDocumentSync");
        let change = sync.and_then(|sync| sync.get("change").or(Some(sync)));
        match change.and_then(Value::as_u64) {
            Some(0) => Sync::None,
            Some(2) => Sync::Incremental,
            // Whoever says nothing understands at least this.
            Some(_) | None => Sync::Full,
        }
    }

    /// Whether it wants to be told that a file was saved; and whether with its text.
    pub(crate) fn save(&self) -> Option<bool> {
        match self.0.pointer("/textDocumentSync/save")? {
            Value::Bool(wanted) => wanted.then_some(false),
            Value::Object(how) => Some(how.get("includeText") == Some(&Value::Bool(true))),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        }
    }

    /// Whether it can be told to do something by this name.
    pub(crate) fn does(&self, command: &str) -> bool {
        let all = self.0.pointer("/executeCommandProvider/commands").and_then(Value::as_array);
        all.into_iter().flatten().any(|known| known == command)
    }

    /// Whether what is wrong in one file depends on others.
    pub(crate) fn looks_across_files(&self) -> bool {
        self.0.pointer("/diagnosticProvider/interFileDependencies") == Some(&Value::Bool(true))
    }

    /// Whether actions come without their edit at first.
    pub(crate) fn resolves_actions(&self) -> bool {
        self.0.pointer("/codeActionProvider/resolveProvider") == Some(&Value::Bool(true))
    }
}

/// Reads an answer; null stands for nothing.
pub(crate) fn read<T: DeserializeOwned + Default>(value: Value) -> Result<T, serde_json::Error> {
    if value.is_null() { Ok(T::default()) } else { serde_json::from_value(value) }
}

/// Those of a list that can be read.
pub(crate) fn read_some<T: DeserializeOwned>(value: Value) -> Vec<T> {
    let items = match value {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        one @ (Value::Object(_) | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            vec![one]
        }
    };
    items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect()
}

fn readable<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Diagnostic>, D::Error> {
    Ok(read_some(Value::deserialize(from)?))
}

/// A text, or an object that holds one.
fn words<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let value = Value::deserialize(from)?;
    let text = value.as_str().or_else(|| value.get("value").and_then(Value::as_str));
    Ok(text.unwrap_or_default().to_owned())
}

/// The name of a kind of symbol.
pub(crate) fn kind_name(kind: u8) -> &'static str {
    const NAMES: [&str; 26] = [
        "file",
        "module",
        "namespace",
        "package",
        "class",
        "method",
        "property",
        "field",
        "constructor",
        "enum",
        "interface",
        "function",
        "variable",
        "constant",
        "string",
        "number",
        "boolean",
        "array",
        "object",
        "key",
        "null",
        "variant",
        "struct",
        "event",
        "operator",
        "type parameter",
    ];
    usize::from(kind).checked_sub(1).and_then(|at| NAMES.get(at)).copied().unwrap_or("symbol")
}
