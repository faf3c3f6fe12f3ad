//! A prompt of an editor: words, links, files and pictures, as the parts of a message.

use std::path::Path;

use agent_client_protocol_schema::v1::{
    ContentBlock, EmbeddedResource, EmbeddedResourceResource, ResourceLink,
};
use base::transcript::{File, FileSource};
use base::{Origin, Part, PartBody};
use url::Url;

use crate::rpc::Fault;

/// Most bytes of one file that an editor puts into a prompt. The rest can be read with tools.
const LONGEST: usize = 200_000;

/// What a prompt says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// Something for the model.
    Parts(Vec<Part>),
    /// A slash command, slash included.
    Command(String),
}

/// Reads a prompt. Links become part of the words around them; what they lead to, where the editor sent it along,
/// follows the words.
pub(super) fn read(blocks: &[ContentBlock], folder: &Path) -> Result<Said, Fault> {
    let mut words = String::new();
    let mut beside = Vec::new();
    for block in blocks {
        match block {
            ContentBlock::Text(text) => words.push_str(&text.text),
            ContentBlock::ResourceLink(link) => words.push_str(&mention(link, folder)),
            ContentBlock::Image(image) => {
                beside.push(file(&image.mime_type, image.uri.as_deref(), &image.data));
            }
            ContentBlock::Resource(resource) => beside.extend(embedded(resource, folder)),
            ContentBlock::Audio(_) => {
                return Err(invalid("sound is not understood: send text, images or files"));
            }
            _ => return Err(invalid("the prompt holds something this version does not know")),
        }
    }
    if is_command(&words) {
        return Ok(Said::Command(words.trim().to_owned()));
    }
    if words.trim().is_empty() && beside.is_empty() {
        return Err(invalid("the prompt is empty"));
    }
    let words = (!words.trim().is_empty()).then(|| Part::user_text(words));
    Ok(Said::Parts(words.into_iter().chain(beside).collect()))
}

/// Whether a text is a slash command, known or not, rather than something that begins with a path.
fn is_command(text: &str) -> bool {
    let Some(rest) = text.trim().strip_prefix('/') else { return false };
    let name = rest.split(char::is_whitespace).next().unwrap_or_default();
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "-_:.".contains(letter);
    !name.is_empty() && name.chars().all(is_word)
}

/// A link as the user would have typed it.
fn mention(link: &ResourceLink, folder: &Path) -> String {
    format!("@{}", place(&link.uri, folder))
}

/// What an address leads to: a path, below the folder if it is there, with the lines that are meant; or the address itself.
fn place(uri: &str, folder: &Path) -> String {
    let url = Url::parse(uri).ok().filter(|url| url.scheme() == "file");
    let path = url.as_ref().and_then(|url| url.to_file_path().ok());
    let Some(path) = path else { return uri.to_owned() };
    let shown = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
    match url.as_ref().and_then(Url::fragment).and_then(lines) {
        Some(lines) => format!("{shown}:{lines}"),
        None => shown,
    }
}

/// Lines as editors put them behind an address: `L5`, `L5-L9`, `L5:9`.
fn lines(fragment: &str) -> Option<String> {
    let number = |text: &str| text.trim_start_matches('L').parse::<u32>().ok();
    let Some((first, last)) = fragment.split_once(['-', ':']) else {
        return number(fragment).map(|line| line.to_string());
    };
    match (number(first)?, number(last)?) {
        (first, last) if first == last => Some(first.to_string()),
        (first, last) => Some(format!("{first}-{last}")),
    }
}

fn embedded(resource: &EmbeddedResource, folder: &Path) -> Option<Part> {
    match &resource.resource {
        EmbeddedResourceResource::TextResourceContents(text) => {
            let place = place(&text.uri, folder);
            let mut content = text.text.clone();
            if content.len() > LONGEST {
                content.truncate(content.floor_char_boundary(LONGEST));
                content.push_str("\n[the rest is left out: read it with tools]");
            }
            let text_of = format!("What the user attached, {place}:\n{content}");
            Some(Part::new(PartBody::Text { text: text_of }, origin(&text.uri)))
        }
        EmbeddedResourceResource::BlobResourceContents(blob) => {
            let media_type = blob.mime_type.as_deref().unwrap_or("application/octet-stream");
            let mut part = file(media_type, Some(&blob.uri), &blob.blob);
            part.origin = origin(&blob.uri);
            Some(part)
        }
        _ => None,
    }
}

/// Where something attached comes from: what is no file of this machine may say anything.
fn origin(uri: &str) -> Origin {
    let is_ours = Url::parse(uri).map_or(true, |url| !matches!(url.scheme(), "http" | "https"));
    if is_ours { Origin::Workspace } else { Origin::Web }
}

fn file(media_type: &str, uri: Option<&str>, data: &str) -> Part {
    let name = uri.and_then(|uri| uri.rsplit('/').next()).filter(|name| !name.is_empty());
    let file = File {
        media_type: media_type.to_owned(),
        name: name.map(str::to_owned),
        source: FileSource::Base64(data.to_owned()),
    };
    Part::new(PartBody::File(file), Origin::User)
}

fn invalid(why: &str) -> Fault {
    Fault { code: -32602, message: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read_json(blocks: Value) -> Result<Said, Fault> {
        let blocks: Vec<ContentBlock> = serde_json::from_value(blocks).unwrap();
        read(&blocks, Path::new("/work"))
    }

    fn texts(said: Said) -> Vec<(String, Origin)> {
        let Said::Parts(parts) = said else { panic!("{said:?}") };
        let text = |part: Part| (part.as_text().unwrap_or("(file)").to_owned(), part.origin);
        parts.into_iter().map(text).collect()
    }

    #[test]
    fn links_join_the_words_and_files_follow_them() {
        let said = read_json(json!([
            { "type": "text", "text": "Fix " },
            { "type": "resource_link", "name": "a.rs", "uri": "file:///work/src/a.rs" },
            { "type": "text", "text": ", please." },
            { "type": "resource", "resource": { "uri": "file:///etc/b", "text": "bb" } },
            { "type": "resource", "resource": { "uri": "https://x.test/p", "text": "page" } },
            { "type": "image", "mimeType": "image/png", "data": "AAAA" },
        ]));
        let told: Vec<_> = texts(said.unwrap());
        assert_eq!(
            told,
            [
                ("Fix @src/a.rs, please.".to_owned(), Origin::User),
                ("What the user attached, /etc/b:\nbb".to_owned(), Origin::Workspace),
                ("What the user attached, https://x.test/p:\npage".to_owned(), Origin::Web),
                ("(file)".to_owned(), Origin::User),
            ]
        );
    }

    #[test]
    fn lines_that_are_meant_stay_with_the_file() {
        for (uri, told) in [
            ("file:///work/a.rs#L5", "a.rs:5"),
            ("file:///work/a.rs#L5:9", "a.rs:5-9"),
            ("file:///work/a.rs?symbol=run#L5-L9", "a.rs:5-9"),
            ("file:///work/a.rs#L7:7", "a.rs:7"),
            ("file:///work/a.rs#intro", "a.rs"),
            ("zed:///agent/thread/1#L5", "zed:///agent/thread/1#L5"),
        ] {
            assert_eq!(place(uri, Path::new("/work")), told);
        }
    }

    #[test]
    fn a_slash_is_a_command_unless_it_begins_a_path() {
        let said = |text: &str| read_json(json!([{ "type": "text", "text": text }])).unwrap();
        assert_eq!(said(" /compact the parser\n"), Said::Command("/compact the parser".into()));
        assert_eq!(said("/mcp:git:commit x"), Said::Command("/mcp:git:commit x".into()));
        assert!(matches!(said("/usr/bin is a folder"), Said::Parts(_)));
        assert!(matches!(said("/ alone"), Said::Parts(_)));
    }

    #[test]
    fn what_cannot_be_understood_is_refused_with_a_reason() {
        let sound = json!([{ "type": "audio", "mimeType": "audio/wav", "data": "AAAA" }]);
        assert!(read_json(sound).unwrap_err().message.contains("sound"));
        assert!(read_json(json!([])).unwrap_err().message.contains("empty"));
        let blank = json!([{ "type": "text", "text": " \n" }]);
        assert!(read_json(blank).is_err());
    }

    #[test]
    fn a_huge_attachment_is_cut_at_a_letter() {
        let text = "é".repeat(LONGEST);
        let block =
            json!([{ "type": "resource", "resource": { "uri": "zed:///x", "text": text } }]);
        let told = texts(read_json(block).unwrap());
        assert!(told[0].0.len() < LONGEST + 200);
        assert!(told[0].0.ends_with("read it with tools]"));
    }
}
