//! The parts of a message, in exactly the order they were produced.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::block::Block;
use crate::id::CallId;

/// Stands before a command the user ran.
const RAN: &str = "The user ran a command in a shell of their own, and sees what it printed:\n$ ";

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// What it is.
    #[serde(flatten)]
    pub body: PartBody,
    /// Where it came from; feeds the taint rule.
    pub origin: Origin,
    /// What only its maker understands: a signature, an encrypted thought, a provider's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Native>,
    /// How long a thought took, for faces; none where nobody has measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
}

impl Part {
    /// A part without a sidecar.
    pub fn new(body: PartBody, origin: Origin) -> Self {
        Self { body, origin, native: None, took_ms: None }
    }

    /// Text the user wrote.
    pub fn user_text(text: impl Into<String>) -> Self {
        Self::new(PartBody::Text { text: text.into() }, Origin::User)
    }

    /// Text a model wrote.
    pub fn assistant_text(text: impl Into<String>) -> Self {
        Self::new(PartBody::Text { text: text.into() }, Origin::Assistant)
    }

    /// A command the user ran, and what it printed: what the model is told of it.
    pub fn own_command(line: &str, output: impl Into<String>) -> Vec<Self> {
        let ran = PartBody::Text { text: format!("{RAN}{line}") };
        let printed = PartBody::Text { text: output.into() };
        vec![Self::new(ran, Origin::System), Self::new(printed, Origin::Shell)]
    }

    /// The same part with a sidecar.
    #[must_use]
    pub fn with_native(mut self, native: Native) -> Self {
        self.native = Some(native);
        self
    }

    /// The call of a part that is one.
    pub fn as_call(&self) -> Option<&Call> {
        if let PartBody::Call(call) = &self.body { Some(call) } else { None }
    }

    /// The result of a part that is one.
    pub fn as_result(&self) -> Option<&CallResult> {
        if let PartBody::Result(result) = &self.body { Some(result) } else { None }
    }

    /// The text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        if let PartBody::Text { text } = &self.body { Some(text) } else { None }
    }
}

/// The command and its output, where parts are what [`Part::own_command`] makes.
pub fn own_command(parts: &[Part]) -> Option<(&str, &str)> {
    let [ran, printed, ..] = parts else { return None };
    let line = ran.as_text()?.strip_prefix(RAN)?;
    let is_it = ran.origin == Origin::System && printed.origin == Origin::Shell;
    printed.as_text().filter(|_| is_it).map(|output| (line, output))
}

/// What a part is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PartBody {
    /// Text, refusals included.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thought; empty when the provider shows nothing of it.
    Reasoning {
        /// The thought, or a summary of it.
        text: String,
    },
    /// The model calls a tool.
    Call(Call),
    /// A tool answers a call.
    Result(CallResult),
    /// An image, document or other file.
    File(File),
    /// A step only its maker understands (a search the provider ran itself); lives in the sidecar.
    Opaque {
        /// What the provider calls it.
        label: String,
    },
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// Pairs the call with its result.
    pub id: CallId,
    /// Which tool.
    pub name: String,
    /// Its arguments.
    pub input: CallInput,
}

impl Call {
    /// The result of a call that did not run or did not end; `text` tells the model so.
    pub fn failed(&self, text: impl Into<String>) -> Part {
        let result = CallResult {
            call: self.id.clone(),
            name: self.name.clone(),
            outcome: Outcome::Failed,
            pieces: vec![Piece::Text { text: text.into() }],
            shown: None,
        };
        Part::new(PartBody::Result(result), Origin::System)
    }

    /// The result of a call whose process died.
    pub fn lost(&self) -> Part {
        self.failed(
            "caiman ended before this call had a result; whether it ran is not known. Look at the \
             state of things before you call it again.",
        )
    }
}

/// A call's arguments: always an object, with the model's own text kept where it was not one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallInput {
    /// The arguments.
    pub value: Map<String, Value>,
    /// Set when the model's text was not a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mended: Option<Mended>,
}

impl CallInput {
    /// Arguments that needed no mending.
    pub fn sound(value: Map<String, Value>) -> Self {
        Self { value, mended: None }
    }
}

/// What the model really sent when its arguments were not a JSON object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", content = "original", rename_all = "snake_case")]
pub enum Mended {
    /// Almost JSON: the value beside this is what it must have meant.
    Repaired(String),
    /// Beyond repair: the value is empty and the call must not run.
    Broken(String),
}

/// A tool's answer to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallResult {
    /// The call it answers.
    pub call: CallId,
    /// The tool's name; some wires pair by it.
    pub name: String,
    /// Whether it worked.
    pub outcome: Outcome,
    /// What came out.
    pub pieces: Vec<Piece>,
    /// What faces show of it; no model sees this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Box<Shown>>,
}

/// What faces show of a call that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shown {
    /// One line: what it did.
    pub title: String,
    /// What to show; none for the text of the result itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Block>,
    /// How long it took.
    #[serde(default)]
    pub took_ms: u64,
}

/// Whether a call worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did what it should.
    Done,
    /// It failed; the pieces say why.
    Failed,
}

/// A piece of a tool's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Piece {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image or document.
    File(File),
}

/// An image, document or other file in a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct File {
    /// Its media type, such as `image/png`.
    pub media_type: String,
    /// A name to show and to send where a wire has room for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its bytes or address.
    pub source: FileSource,
}

impl File {
    /// Whether it is a picture.
    pub fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }
}

/// A file's bytes or address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "at", content = "value", rename_all = "snake_case")]
pub enum FileSource {
    /// The bytes in standard base64, as every wire wants them.
    Base64(String),
    /// An address the provider fetches.
    Url(String),
}

/// Where a part came from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "from", content = "name", rename_all = "snake_case")]
pub enum Origin {
    /// The person at the keyboard.
    User,
    /// A model.
    Assistant,
    /// Caiman itself: a note about the session that no person and no model wrote.
    System,
    /// A file of the workspace.
    Workspace,
    /// A command's output.
    Shell,
    /// A page or search result.
    Web,
    /// An MCP server, by name.
    Mcp(String),
    /// A skill, by name.
    Skill(String),
    /// Stored memory.
    Memory,
    /// A chat channel's sender.
    Channel(String),
}

/// A sidecar that only the model that made it may see again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Native {
    /// Who made it.
    pub maker: Maker,
    /// What the maker's wire format put here; only that format's file reads it.
    pub data: Value,
}

/// Who made a sidecar: provider, model and wire format must all match for a replay.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Maker {
    /// The provider's id.
    pub provider: String,
    /// The model's id, as it was asked for.
    pub model: String,
    /// The wire format's name.
    pub wire: String,
}
