//! What a server says, for a model: words, and what it can look at or listen to. What it cannot is kept in a file, so
//! that a tool can be set on it.

use base::transcript::{File, FileSource};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use links::mcp::Content;

use crate::bound::Spill;
use crate::workspace::Workspace;

/// Longest ending of a file's name that a media type gives.
const ENDING: usize = 8;

/// Who reads what a server says.
#[derive(Debug, Default)]
pub struct Reader {
    /// Whether it can look at pictures.
    pub sees: bool,
    /// Whether it can listen.
    pub hears: bool,
    /// Where the rest is kept; nowhere, if it could not be looked at there.
    pub keeps: Option<Spill>,
}

impl Reader {
    /// The model of a session. What is kept is named after the call, or whatever else it came by.
    pub fn of(workspace: &Workspace, name: &str) -> Self {
        let spill = Spill::new(workspace.spill.clone(), name);
        Self {
            sees: workspace.sees_images,
            hears: workspace.hears_sound,
            keeps: Some(spill.shown_in(workspace.fence.shown(&workspace.spill))),
        }
    }

    /// What a server says as text, and the files the model is given with it.
    pub fn words_of(&self, content: Vec<Content>) -> (String, Vec<File>) {
        let (mut words, mut files) = (Vec::new(), Vec::new());
        for piece in content {
            match piece {
                Content::Text(text) => words.push(text),
                Content::Picture(file) if self.sees && file.is_image() => files.push(file),
                Content::Sound(file) if self.hears => files.push(file),
                Content::Picture(file) => words.push(self.kept("a picture", &file)),
                Content::Sound(file) => words.push(self.kept("sound", &file)),
                Content::Link { uri, name, description } => {
                    words.push(format!("[resource {name}: {uri} {description}]"));
                }
                Content::Resource { uri, text } => words.push(format!("{uri}:\n{text}")),
                Content::Blob { uri, file } => words.push(self.kept(&uri, &file)),
            }
        }
        (words.join("\n"), files)
    }

    /// Where something is that the model cannot be shown.
    fn kept(&self, what: &str, file: &File) -> String {
        let File { media_type, source, .. } = file;
        let FileSource::Base64(data) = source else { return format!("[{what}: {media_type}]") };
        let Ok(bytes) = STANDARD.decode(data) else {
            return format!("[{what}: {media_type}, whose bytes cannot be read]");
        };
        let count = bytes.len();
        let place = match self.keeps.as_ref().map(|spill| spill.keep(&bytes, &ending(media_type))) {
            None => String::new(),
            Some(Ok(path)) => format!(", in {}", path.display()),
            Some(Err(error)) => format!(", which could not be kept: {error}"),
        };
        format!("[{what}: {media_type}, {count} bytes{place}]")
    }
}

/// How the name of a file ends, by its media type.
fn ending(media_type: &str) -> String {
    let kind = media_type.split(';').next().unwrap_or_default().trim();
    let kind = kind.rsplit(['/', '.', '+', '-']).next().unwrap_or_default();
    let is_plain = !kind.is_empty() && kind.chars().all(|it| it.is_ascii_alphanumeric());
    if is_plain && kind.len() <= ENDING { kind.to_ascii_lowercase() } else { "bin".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_shown_is_kept_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = |media_type: &str, data: &str| File {
            media_type: media_type.to_owned(),
            name: None,
            source: FileSource::Base64(data.to_owned()),
        };
        let said = || {
            vec![
                Content::Sound(file("audio/x-wav", "AAEC")),
                Content::Blob {
                    uri: "x://b".to_owned(),
                    file: file("a/very-long.kind+of", "//8="),
                },
                Content::Picture(file("image/png", "!")),
            ]
        };
        let keeps = Some(Spill::new(folder.path().to_owned(), "call"));
        let (text, files) = Reader { keeps, ..Reader::default() }.words_of(said());
        let lines: Vec<&str> = text.lines().collect();
        let at = |name: &str| folder.path().join(name);
        assert_eq!(
            lines[0],
            format!("[sound: audio/x-wav, 3 bytes, in {}]", at("call.wav").display())
        );
        assert_eq!(
            lines[1],
            format!("[x://b: a/very-long.kind+of, 2 bytes, in {}]", at("call.of").display())
        );
        assert_eq!(lines[2], "[a picture: image/png, whose bytes cannot be read]");
        assert_eq!(files, []);
        assert_eq!(std::fs::read(at("call.wav")).unwrap(), [0, 1, 2]);
        assert_eq!(std::fs::read(at("call.of")).unwrap(), [255, 255]);
        let (text, files) = Reader { sees: true, hears: true, keeps: None }.words_of(said());
        assert_eq!((text.as_str(), files.len()), ("[x://b: a/very-long.kind+of, 2 bytes]", 2));
    }
}
