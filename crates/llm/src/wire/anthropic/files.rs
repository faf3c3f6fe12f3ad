//! Images and documents as Messages blocks.

use base::transcript::{File, FileSource};
use serde_json::{Value, json};

use super::text_block;
use crate::projection::files::{left_out, media_type, text};

/// What this wire takes: text becomes a document.
pub(super) const TAKEN: [&str; 9] = [
    "image/jpeg",
    "image/png",
    "image/gif",
    "image/webp",
    "application/pdf",
    "text/",
    "application/json",
    "application/xml",
    "application/yaml",
];

/// A file as a block; what the wire cannot take is mentioned in words.
pub(super) fn block(file: &File) -> Value {
    match media_type(file) {
        image @ ("image/jpeg" | "image/png" | "image/gif" | "image/webp") => {
            json!({ "type": "image", "source": source(file, image) })
        }
        pdf @ "application/pdf" => document(file, &source(file, pdf)),
        _ => match text(file) {
            Some(text) => {
                let source = json!({ "type": "text", "media_type": "text/plain", "data": text });
                document(file, &source)
            }
            None => text_block(&left_out(file)),
        },
    }
}

fn source(file: &File, media_type: &str) -> Value {
    match &file.source {
        FileSource::Base64(data) => {
            json!({ "type": "base64", "media_type": media_type, "data": data })
        }
        FileSource::Url(url) => json!({ "type": "url", "url": url }),
    }
}

fn document(file: &File, source: &Value) -> Value {
    let mut document = json!({ "type": "document", "source": source });
    if let Some(name) = &file.name {
        document["title"] = name.as_str().into();
    }
    document
}
