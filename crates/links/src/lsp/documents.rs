//! The files a server has open: what it was told of each, last.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Value, json};

use super::protocol::Sync;
use super::text::{self, Units};

/// Files that are open at once; the one used longest ago gives way.
const OPEN: usize = 64;

/// The open files.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: HashMap<PathBuf, Document>,
    uses: u64,
    /// The newest version of any file: a file that is opened again goes on from there, so that of two versions the
    /// greater is the later one.
    newest: i64,
}

#[derive(Debug)]
struct Document {
    text: String,
    version: i64,
    /// When it was used last.
    used: u64,
    /// What the disk said of it when it was read from there.
    stamp: Option<Stamp>,
}

/// What the disk says of a file without reading it.
pub(crate) type Stamp = (SystemTime, u64);

/// What a server is to be told.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
}

/// What came of bringing a file up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Synced {
    /// The version the server has now.
    pub(crate) version: i64,
    /// Whether it was told anything.
    pub(crate) is_news: bool,
}

impl Documents {
    /// Whether a file is open.
    pub(crate) fn is_open(&self, path: &Path) -> bool {
        self.open.contains_key(path)
    }

    /// The version of a file that is open.
    pub(crate) fn version(&self, path: &Path) -> Option<i64> {
        self.open.get(path).map(|document| document.version)
    }

    /// Brings a file up to date, and says what to tell the server, who does not hear of the mark a text may begin with.
    pub(crate) fn update(
        &mut self,
        path: &Path,
        new: &str,
        language: &str,
        (sync, units): (Sync, Units),
    ) -> (Synced, Option<Note>) {
        self.uses += 1;
        let (uri, new) = (text::address(path), text::bare(new));
        let Some(document) = self.open.get_mut(path) else {
            self.newest += 1;
            let version = self.newest;
            let document = Document { text: new.to_owned(), version, used: self.uses, stamp: None };
            self.open.insert(path.to_owned(), document);
            let item =
                json!({ "uri": uri, "languageId": language, "version": version, "text": new });
            let params = json!({ "textDocument": item });
            let note = Note { method: "textDocument/didOpen", params };
            return (Synced { version, is_news: true }, Some(note));
        };
        document.used = self.uses;
        if document.text == new {
            return (Synced { version: document.version, is_news: false }, None);
        }
        self.newest += 1;
        document.version = self.newest;
        document.stamp = None;
        let change = match sync {
            Sync::Incremental => units.change(&document.text, new),
            Sync::Full | Sync::None => json!({ "text": new }),
        };
        new.clone_into(&mut document.text);
        let identity = json!({ "uri": uri, "version": document.version });
        let params = json!({ "textDocument": identity, "contentChanges": [change] });
        let note = Note { method: "textDocument/didChange", params };
        let synced = Synced { version: document.version, is_news: true };
        (synced, (sync != Sync::None).then_some(note))
    }

    /// Closes a file.
    pub(crate) fn close(&mut self, path: &Path) -> Option<Note> {
        self.open.remove(path)?;
        let params = json!({ "textDocument": { "uri": text::address(path) } });
        Some(Note { method: "textDocument/didClose", params })
    }

    /// The file to close because there are too many.
    pub(crate) fn surplus(&self) -> Option<PathBuf> {
        let oldest = self.open.iter().min_by_key(|(_, document)| document.used);
        oldest.filter(|_| self.open.len() > OPEN).map(|(path, _)| path.clone())
    }

    /// Whether the disk says the same of a file as when it was last read; remembers what it says.
    pub(crate) fn is_as_read(&mut self, path: &Path, stamp: Stamp) -> bool {
        let document = self.open.get_mut(path);
        document.is_some_and(|document| document.stamp.replace(stamp) == Some(stamp))
    }

    /// All open files.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.open.keys().cloned().collect()
    }

    /// A file's text, as the server knows it.
    pub(crate) fn text(&self, path: &Path) -> Option<&str> {
        self.open.get(path).map(|document| document.text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOW: (Sync, Units) = (Sync::Incremental, Units::Utf16);

    #[test]
    fn a_server_is_told_only_what_is_new() {
        let mut documents = Documents::default();
        let path = Path::new("/x/a.py");
        let (_, note) = documents.update(path, "one\n", "python", HOW);
        assert_eq!(note.unwrap().method, "textDocument/didOpen");
        let (synced, note) = documents.update(path, "one\n", "python", HOW);
        assert!(note.is_none() && !synced.is_news);
        let (synced, note) = documents.update(path, "one\ntwo\n", "python", HOW);
        let note = note.unwrap();
        assert_eq!(synced, Synced { version: 2, is_news: true });
        assert_eq!(note.params["contentChanges"][0]["text"], "two\n");
        assert_eq!(note.params["contentChanges"][0]["range"]["start"]["line"], 1);
    }

    #[test]
    fn a_file_that_is_opened_again_has_a_later_version() {
        let mut documents = Documents::default();
        let path = Path::new("/x/a.py");
        let version = |documents: &mut Documents, text: &str| {
            documents.update(path, text, "python", HOW).0.version
        };
        let first = version(&mut documents, "one");
        let second = version(&mut documents, "two");
        documents.close(path);
        let third = version(&mut documents, "three");
        assert!(first < second && second < third);
    }

    #[test]
    fn the_file_used_longest_ago_gives_way() {
        let mut documents = Documents::default();
        for number in 0..=OPEN {
            documents.update(Path::new(&format!("/x/{number}")), "", "c", HOW);
        }
        assert_eq!(documents.surplus().unwrap(), Path::new("/x/0"));
        assert!(documents.close(Path::new("/x/0")).is_some());
        assert_eq!(documents.surplus(), None);
    }
}
