//! Files as the user's editor has them, where we work in one: what is typed there and not saved yet counts, and what
//! tools write appears there. Fence, checkpoints and what the session has seen stay what they are; where the editor
//! does not answer, the disk does.

use std::borrow::Cow;
use std::io::{self, Read as _};

use guard::Spot;
use links::acp::Written;

use crate::text;
use crate::workspace::Workspace;

/// Larger files are nobody's to type in.
const LONGEST: u64 = 10_000_000;

impl Workspace {
    /// A file's content as the editor has it, if that is not what is on disk.
    pub(crate) fn unsaved(&self, spot: &Spot, disk: &[u8]) -> Option<Vec<u8>> {
        let editor = self.editor.as_ref().filter(|_| self.is_for_editor(spot))?;
        let disk = text_of(disk)?;
        let typed = editor.read(self.session, &spot.real)?;
        as_on_disk(disk, &typed)
    }

    /// Has the editor write a file; tells whether it stands on disk now.
    pub(crate) fn is_written_by_editor(&self, spot: &Spot, bytes: &[u8]) -> io::Result<bool> {
        let editor = self.editor.as_ref().filter(|_| self.is_for_editor(spot));
        let (Some(editor), Some(text)) = (editor, text_of(bytes)) else { return Ok(false) };
        let before = self.on_disk(spot)?;
        if editor.write(self.session, &spot.real, text) == Written::No {
            return Ok(false);
        }
        // An editor that only changes what it shows leaves the file to us.
        let after = self.on_disk(spot)?;
        Ok(after.is_some() && (after != before || after.as_deref() == Some(bytes)))
    }

    /// Whether a file is one that a person may have open: theirs, and not a locked-in session's.
    pub(crate) fn is_for_editor(&self, spot: &Spot) -> bool {
        self.editor.is_some() && spot.inside && !self.fence.is_confined()
    }

    fn on_disk(&self, spot: &Spot) -> io::Result<Option<Vec<u8>>> {
        let file = match self.fence.open(spot) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut content = Vec::new();
        file.take(LONGEST + 1).read_to_end(&mut content)?;
        Ok(Some(content))
    }
}

/// The text that some content is, if editors can have it.
fn text_of(content: &[u8]) -> Option<&str> {
    let is_short = content.len() as u64 <= LONGEST;
    let is_text = is_short && text::is_text(&content[..content.len().min(text::SAMPLE)]);
    is_text.then(|| str::from_utf8(content).ok()).flatten()
}

/// What the editor has, with the line ends and the mark of the file on disk, which editors keep to themselves; none
/// if that is the file.
fn as_on_disk(disk: &str, typed: &str) -> Option<Vec<u8>> {
    const MARK: char = '\u{feff}';
    let plain = |text: &str| text.trim_start_matches(MARK).replace("\r\n", "\n");
    if plain(disk) == plain(typed) {
        return None;
    }
    let feeds = disk.matches('\n').count();
    let has_returns = feeds > 0 && disk.matches("\r\n").count() * 2 > feeds;
    let mut text = Cow::Borrowed(typed);
    if has_returns && !typed.contains("\r\n") {
        text = Cow::Owned(typed.replace('\n', "\r\n"));
    }
    let mark = disk.starts_with(MARK) && !typed.starts_with(MARK);
    let mut bytes = if mark { MARK.to_string().into_bytes() } else { Vec::new() };
    bytes.extend(text.bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_file_is_nothing_new() {
        for (disk, typed) in
            [("a\nb\n", "a\nb\n"), ("a\r\nb\r\n", "a\nb\n"), ("\u{feff}a", "a"), ("", "")]
        {
            assert_eq!(as_on_disk(disk, typed), None, "{disk:?}");
        }
    }

    #[test]
    fn what_is_typed_gets_the_form_of_the_file() {
        let new = |disk, typed| String::from_utf8(as_on_disk(disk, typed).unwrap()).unwrap();
        assert_eq!(new("a\nb\n", "a\nc\n"), "a\nc\n");
        assert_eq!(new("a\r\nb\r\n", "a\nc\n"), "a\r\nc\r\n");
        assert_eq!(new("a\r\nb\r\n", "a\r\nc\n"), "a\r\nc\n");
        assert_eq!(new("\u{feff}a", "b"), "\u{feff}b");
    }

    #[test]
    fn only_text_is_the_editors() {
        assert_eq!(text_of(b"a\xc3\xa9"), Some("aé"));
        assert_eq!(text_of(b"\x7fELF\0\0\0"), None);
        assert_eq!(text_of(b"caf\xe9"), None);
    }
}
