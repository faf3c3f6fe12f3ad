//! What a server says, from its words to ours.

use base::transcript::{File, FileSource};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents, Role, ServerResult};
use serde_json::Value;

use super::talk::{Answer, Content, Message};

/// The media type of what a server does not name.
const UNKNOWN: &str = "application/octet-stream";

/// The answer to a call, whatever rmcp has taken it for.
pub(super) fn answer_of(result: ServerResult) -> Answer {
    if let ServerResult::CallToolResult(result) = result {
        return answer(result);
    }
    answer_of_value(&serde_json::to_value(result).unwrap_or_default())
}

fn answer(result: CallToolResult) -> Answer {
    Answer {
        content: result.content.into_iter().map(content).collect(),
        structured: result.structured_content,
        failed: result.is_error == Some(true),
    }
}

/// The answer to a call, of a result with pieces that rmcp does not know.
pub(super) fn answer_of_value(result: &Value) -> Answer {
    let pieces = result.get("content").and_then(Value::as_array);
    Answer {
        content: pieces.into_iter().flatten().map(content_of_value).collect(),
        structured: result.get("structuredContent").filter(|value| !value.is_null()).cloned(),
        failed: result.get("isError").and_then(Value::as_bool) == Some(true),
    }
}

/// A piece of what a server says.
pub(super) fn content(block: ContentBlock) -> Content {
    match block {
        ContentBlock::Text(text) => Content::Text(text.text),
        ContentBlock::Image(image) => file(image.data, image.mime_type, Content::Picture),
        ContentBlock::Audio(sound) => file(sound.data, sound.mime_type, Content::Sound),
        ContentBlock::Resource(embedded) => resource(embedded.resource),
        ContentBlock::ResourceLink(link) => Content::Link {
            uri: link.uri,
            name: link.title.unwrap_or(link.name),
            description: link.description.unwrap_or_default(),
        },
        // rmcp may learn more kinds than we know.
        other => Content::Text(serde_json::to_string(&other).unwrap_or_default()),
    }
}

/// A piece of any kind: one that nobody knows is shown as it came.
pub(super) fn content_of_value(value: &Value) -> Content {
    let known = serde_json::from_value::<ContentBlock>(value.clone());
    known.map_or_else(|_| Content::Text(value.to_string()), content)
}

/// A resource itself.
pub(super) fn resource(contents: ResourceContents) -> Content {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => Content::Resource { uri, text },
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            let kind = mime_type.unwrap_or_else(|| UNKNOWN.to_owned());
            match kind.split('/').next() {
                Some("image") => file(blob, kind, Content::Picture),
                Some("audio") => file(blob, kind, Content::Sound),
                Some(_) | None => file(blob, kind, |file| Content::Blob { uri, file }),
            }
        }
        // rmcp may learn more kinds than we know.
        other => Content::Text(serde_json::to_string(&other).unwrap_or_default()),
    }
}

/// A message of a prompt.
pub(super) fn message(role: &Role, block: ContentBlock) -> Message {
    Message { by_model: matches!(role, Role::Assistant), content: content(block) }
}

/// A file, unless its bytes are none: a provider would refuse the whole request.
fn file(data: String, media_type: String, content: impl FnOnce(File) -> Content) -> Content {
    if STANDARD.decode(&data).is_ok_and(|bytes| !bytes.is_empty()) {
        content(File { media_type, name: None, source: FileSource::Base64(data) })
    } else {
        Content::Text(format!("({media_type}, whose bytes cannot be read)"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_nobody_knows_are_shown_as_they_came() {
        let result = json!({ "isError": true, "structuredContent": { "a": 1 }, "content": [
            { "type": "text", "text": "words" },
            { "type": "hologram", "data": 7 },
            { "type": "image", "data": "!!", "mimeType": "image/png" },
            { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
        ]});
        let answer = answer_of_value(&result);
        assert!(answer.failed);
        assert_eq!(answer.structured, Some(json!({ "a": 1 })));
        assert_eq!(
            answer.content,
            [
                Content::Text("words".to_owned()),
                Content::Text(r#"{"type":"hologram","data":7}"#.to_owned()),
                Content::Text("(image/png, whose bytes cannot be read)".to_owned()),
                Content::Sound(File {
                    media_type: "audio/wav".to_owned(),
                    name: None,
                    source: FileSource::Base64("AAAA".to_owned()),
                }),
            ]
        );
    }
}
