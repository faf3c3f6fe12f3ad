//! Files that go with a prompt.

use base::transcript::{File, FileSource};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::marks::Content;
use super::paste::cleaned;

/// Bytes a file may have.
const MOST_BYTES: usize = 5 << 20;

/// Why a file is not attached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    /// It is too big to be sent.
    #[error("{name} has {} MB: 5 MB is the most that can be attached", bytes.div_ceil(1 << 20))]
    TooBig {
        /// The file.
        name: String,
        /// Its size.
        bytes: usize,
    },
    /// It is neither a picture nor a document nor text.
    #[error(
        "{name} is neither a picture, a PDF nor text: name its path instead, and it can be looked at"
    )]
    Unreadable {
        /// The file.
        name: String,
    },
    /// There are thousands already.
    #[error("{name} is one too many: send what is attached first")]
    TooMany {
        /// The file.
        name: String,
    },
    /// There is nothing in it.
    #[error("{name} is empty")]
    Empty {
        /// The file.
        name: String,
    },
}

/// What a file becomes in a prompt.
pub(super) fn content(
    path: &str,
    bytes: Vec<u8>,
    media_type: &str,
) -> Result<Content, AttachError> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).replace(['"', '\n'], "");
    if bytes.is_empty() {
        return Err(AttachError::Empty { name });
    }
    if bytes.len() > MOST_BYTES {
        return Err(AttachError::TooBig { name, bytes: bytes.len() });
    }
    // A drawing in SVG is text: models read it as such, and none takes it as a picture.
    let is_picture = media_type.starts_with("image/") && media_type != "image/svg+xml";
    if is_picture || media_type == "application/pdf" {
        let source = FileSource::Base64(STANDARD.encode(&bytes));
        let media_type = media_type.to_owned();
        return Ok(Content::File(File { media_type, name: Some(name), source }));
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(Content::Text { name, text: cleaned(&text) }),
        Ok(_) | Err(_) => Err(AttachError::Unreadable { name }),
    }
}
