//! What a path may look like before anybody asks the disk.

use std::path::{Component, Path};

use super::FenceError;

/// Longest path the kernel takes, and longest name the usual file systems do, in bytes.
const PATH_BYTES: usize = 4096;
const NAME_BYTES: usize = 255;

/// Refuses what is no path, or what looks like another one to the person who is asked about it.
pub(super) fn check(path: &Path) -> Result<(), FenceError> {
    match fault(path) {
        None => Ok(()),
        Some(why) => {
            let shown: String = path.display().to_string().chars().take(200).collect();
            Err(FenceError::Bad { path: shown.escape_debug().to_string(), why })
        }
    }
}

fn fault(path: &Path) -> Option<&'static str> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let too_long = |part: Component<'_>| part.as_os_str().len() > NAME_BYTES;
    if bytes.is_empty() {
        Some("it is empty")
    } else if bytes.contains(&0) {
        Some("it has a NUL in it")
    } else if bytes.len() >= PATH_BYTES || path.components().any(too_long) {
        Some("it is too long")
    } else if path.to_string_lossy().chars().any(invisible) {
        Some("it has a control character in it")
    } else if names_a_user(path) {
        Some(
            "`~name` is not understood; write the whole path, or `./~name` for a file of that name",
        )
    } else {
        None
    }
}

/// Controls (line ends, escapes), and what turns the direction of writing: with them a path can be shown
/// as another one.
fn invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn names_a_user(path: &Path) -> bool {
    let first = path.components().next().map(|part| part.as_os_str().as_encoded_bytes());
    first.is_some_and(|name| name.starts_with(b"~") && name != b"~")
}
