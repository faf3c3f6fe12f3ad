//! Files in words: the text of those that are text, and a note where a file cannot stand.

use base::transcript::{File, FileSource};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The file's media type by its usual name, without parameters.
pub(crate) fn media_type(file: &File) -> &str {
    match file.media_type.split(';').next().unwrap_or_default().trim() {
        "image/jpg" => "image/jpeg",
        usual => usual,
    }
}

/// Whether a file has content and is of one of `types`, those with a slash at the end being
/// families.
pub(super) fn is_taken(file: &File, types: &[&str]) -> bool {
    let kind = media_type(file);
    let fits = |known: &&str| match known.strip_suffix('/') {
        Some(family) => kind.split('/').next() == Some(family),
        None => kind == *known,
    };
    let (FileSource::Base64(content) | FileSource::Url(content)) = &file.source;
    !content.is_empty() && types.iter().any(fits)
}

/// The text of a file that is nothing but text.
pub(crate) fn text(file: &File) -> Option<String> {
    let FileSource::Base64(bytes) = &file.source else { return None };
    let kind = media_type(file);
    let textual = kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || matches!(kind, "application/json" | "application/xml" | "application/yaml");
    let bytes = textual.then(|| STANDARD.decode(bytes).ok()).flatten()?;
    String::from_utf8(bytes).ok().filter(|text| !text.trim().is_empty())
}

/// A text file as something said.
pub(crate) fn quoted(file: &File) -> Option<String> {
    let name = file.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("without a name");
    text(file).map(|text| format!("File {name}:\n{text}"))
}

/// What stands where a file cannot.
pub(crate) fn left_out(file: &File) -> String {
    let name = file.name.as_deref().map(|name| format!(" `{name}`")).unwrap_or_default();
    let place = match &file.source {
        FileSource::Url(url) if !url.starts_with("data:") => format!(" at {url}"),
        FileSource::Url(_) | FileSource::Base64(_) => String::new(),
    };
    let kind = &file.media_type;
    format!("[A file{name}{place} of type {kind} was left out: this model cannot read it.]")
}
