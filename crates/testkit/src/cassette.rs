//! Recorded provider traffic: one JSON file an exchange, in folders by provider.
//!
//! The folder is `CAIMAN_CASSETTES`, else `../shared/cassettes` beside the workspace. It is never
//! part of this repository; a test that needs it says so when it is not there.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base::Env;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use settings::provider::Wire;

/// One recorded request and its answer.
#[derive(Debug, Clone, Deserialize)]
pub struct Exchange {
    /// The provider's id.
    pub provider: String,
    /// Which project recorded it.
    #[serde(default)]
    pub source: String,
    /// What the project calls the case.
    #[serde(default)]
    pub case: String,
    /// Its place in the case, from 1.
    #[serde(default)]
    pub step: u32,
    /// What was spoken, such as `anthropic-messages` or `bedrock-invoke`.
    pub protocol: String,
    /// What is in it, such as `stream`, `calls`, `error-400`.
    #[serde(default)]
    pub features: Vec<String>,
    /// What was asked.
    pub request: Request,
    /// What came back.
    pub response: Response,
    /// The file, relative to the folder.
    #[serde(skip)]
    pub file: String,
}

/// A recorded request.
#[derive(Debug, Clone, Deserialize)]
pub struct Request {
    /// The method.
    #[serde(default)]
    pub method: String,
    /// The address.
    #[serde(default)]
    pub url: String,
    /// Headers, less those that could name an account.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body as it was sent.
    #[serde(default)]
    pub body: Option<String>,
}

/// A recorded answer.
#[derive(Debug, Clone, Deserialize)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    body_base64: Option<String>,
}

impl Response {
    /// The body's bytes, exactly as recorded.
    pub fn bytes(&self) -> Vec<u8> {
        match (&self.body_base64, &self.body) {
            (Some(base64), _) => STANDARD.decode(base64).unwrap_or_default(),
            (None, Some(text)) => text.clone().into_bytes(),
            (None, None) => Vec::new(),
        }
    }

    /// A header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

impl Exchange {
    /// Whether a feature is in it.
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|one| one == feature)
    }

    /// The wire it speaks; none for embeddings, lists of models and wires we do not have.
    pub fn wire(&self) -> Option<Wire> {
        match self.protocol.as_str() {
            "anthropic-messages" | "vertex-anthropic" => Some(Wire::AnthropicMessages),
            // Bedrock's invoke carries whatever the model's maker speaks; Claude's is ours.
            "bedrock-invoke" => {
                self.request.url.contains("anthropic").then_some(Wire::AnthropicMessages)
            }
            "bedrock-converse" => Some(Wire::BedrockConverse),
            "openai-chat" => Some(Wire::OpenaiChat),
            "openai-responses" => Some(Wire::OpenaiResponses),
            "gemini" => Some(Wire::Gemini),
            _ => None,
        }
    }

    /// The request's body as JSON; null when it has none.
    pub fn request_json(&self) -> Value {
        let body = self.request.body.as_deref().unwrap_or_default();
        serde_json::from_str(body).unwrap_or_default()
    }

    /// Whether the answer is a stream of events, told by its bytes and type.
    pub fn is_stream(&self) -> bool {
        let kind = self.response.header("content-type").unwrap_or_default();
        kind.starts_with("text/event-stream")
            || kind.starts_with("application/vnd.amazon.eventstream")
            || self.has("stream")
    }
}

/// Why cassettes could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The folder or a file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is no exchange.
    #[error("{} is no recorded exchange: {source}", path.display())]
    Format {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// The folder of cassettes; none when there is none on this machine. One that is named but not
/// there is an error of whoever reads it, not a reason to skip.
pub fn folder() -> Option<PathBuf> {
    let named = Env::of_process().get("CAIMAN_CASSETTES").map(PathBuf::from);
    named.or_else(|| Some(shared("cassettes")).filter(|folder| folder.is_dir()))
}

/// A folder of test data that lies beside the workspace.
pub fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name)
}

/// Reads every exchange of a folder, in a stable order: by `INDEX.jsonl` if it has one.
pub fn load(folder: &Path) -> Result<Vec<Exchange>, CassetteError> {
    let index = folder.join("INDEX.jsonl");
    let files = if index.is_file() { listed(&index)? } else { walked(folder)? };
    files.into_iter().map(|file| load_one(folder, file)).collect()
}

/// Reads the exchanges of the default folder that speak a wire we have; none when it is absent.
pub fn supported() -> Result<Option<Vec<Exchange>>, CassetteError> {
    let Some(folder) = folder() else { return Ok(None) };
    let mut all = load(&folder)?;
    all.retain(|exchange| exchange.wire().is_some());
    Ok(Some(all))
}

fn load_one(folder: &Path, file: String) -> Result<Exchange, CassetteError> {
    let path = folder.join(&file);
    let text = read(&path)?;
    match serde_json::from_str::<Exchange>(&text) {
        Ok(exchange) => Ok(Exchange { file, ..exchange }),
        Err(source) => Err(CassetteError::Format { path, source }),
    }
}

fn listed(index: &Path) -> Result<Vec<String>, CassetteError> {
    #[derive(Deserialize)]
    struct Line {
        file: String,
    }
    let text = read(index)?;
    let line = |line: &str| match serde_json::from_str::<Line>(line) {
        Ok(line) => Ok(line.file),
        Err(source) => Err(CassetteError::Format { path: index.to_owned(), source }),
    };
    text.lines().filter(|text| !text.trim().is_empty()).map(line).collect()
}

fn walked(folder: &Path) -> Result<Vec<String>, CassetteError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| CassetteError::Read { path, source }
    };
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).map_err(failed(&next))? {
            let path = entry.map_err(failed(&next))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json")
                && let Ok(file) = path.strip_prefix(folder)
            {
                files.push(file.to_string_lossy().into_owned());
            }
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String, CassetteError> {
    fs::read_to_string(path).map_err(|source| CassetteError::Read { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"provider":"p","source":"s","license":"MIT","case":"c","step":1,"steps":1,
        "protocol":"openai-chat","features":["stream"],
        "request":{"method":"POST","url":"https://x/v1/chat/completions","headers":{},"body":"{}"},
        "response":{"status":200,"headers":{"content-type":"text/event-stream"},"body":"data: 1"}}"#;

    #[test]
    fn a_folder_without_an_index_is_walked() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("p")).unwrap();
        fs::write(folder.path().join("p/s.c.1.json"), ONE).unwrap();
        let all = load(folder.path()).unwrap();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].file, "p/s.c.1.json");
        assert_eq!(all[0].response.bytes(), b"data: 1");
        assert_eq!(all[0].wire(), Some(Wire::OpenaiChat));
        assert!(all[0].is_stream());
    }

    #[test]
    fn a_broken_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bad.json"), "{").unwrap();
        let error = load(folder.path()).unwrap_err();
        assert!(error.to_string().contains("bad.json"), "{error}");
    }
}
