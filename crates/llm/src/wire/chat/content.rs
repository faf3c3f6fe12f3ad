//! The parts of a message's content.

use base::transcript::{File, FileSource};
use serde_json::{Value, json};

use crate::projection::{self, files};

/// What servers of this wire take; text goes as text, which every server understands.
pub(super) const TAKEN: [&str; 6] =
    ["image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf", "audio/"];

/// One part of a message's content.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    Text(String),
    /// A part that is not text, as it goes over the wire.
    Other(Value),
}

impl From<&projection::Content<'_>> for Content {
    fn from(said: &projection::Content<'_>) -> Self {
        match said {
            projection::Content::Text(text) => Self::Text(text.clone().into_owned()),
            projection::Content::File(file) => Self::file(file),
        }
    }
}

impl Content {
    /// A file as a part.
    pub(super) fn file(file: &File) -> Self {
        let media_type = files::media_type(file);
        let url = match &file.source {
            FileSource::Base64(bytes) => format!("data:{media_type};base64,{bytes}"),
            FileSource::Url(url) => url.clone(),
        };
        Self::Other(match (media_type.split_once('/'), &file.source) {
            (Some(("audio", format)), FileSource::Base64(bytes)) => {
                let format = if format.contains("wav") { "wav" } else { "mp3" };
                json!({"type": "input_audio", "input_audio": {"data": bytes, "format": format}})
            }
            _ if file.is_image() => json!({"type": "image_url", "image_url": {"url": url}}),
            _ => {
                let name = file.name.as_deref().filter(|name| !name.is_empty());
                let name = name.unwrap_or("file.pdf");
                json!({"type": "file", "file": {"filename": name, "file_data": url}})
            }
        })
    }

    /// Writes content: as one text where it is only text, which every server understands, and as a
    /// list where it holds more or where parts may be `marked`.
    pub(super) fn write(content: Vec<Self>, marked: bool) -> Value {
        let texts: Option<Vec<&str>> = content.iter().map(Self::text).collect();
        match texts {
            Some(texts) if !marked => json!(texts.join("\n\n")),
            Some(_) | None => content.into_iter().map(Self::part).collect(),
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Other(_) => None,
        }
    }

    fn part(self) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Other(value) => value,
        }
    }
}
