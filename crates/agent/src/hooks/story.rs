//! The transcript as a file of JSON lines, in Claude Code's shape, for handlers that want to read it.
//!
//! It is brought up to date when handlers are about to run, grows at its end, and goes with the session:
//! what lasts is in the store.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use base::transcript::Part;
use base::{Entry, EntryId, EntryKind, SessionId, Timestamp};
use serde_json::{Value, json};
use tools::claude;

use super::lock;

/// A session's transcript, as a file.
#[derive(Debug)]
pub(super) struct Story {
    path: PathBuf,
    session: SessionId,
    folder: PathBuf,
    told: Mutex<Told>,
}

/// How much of the branch the file has.
#[derive(Debug, Default)]
struct Told {
    entries: usize,
    last: Option<EntryId>,
}

impl Story {
    /// The story of a session that works in `folder`; its file is made when something is told.
    pub(super) fn new(path: PathBuf, session: SessionId, folder: &Path) -> Self {
        Self { path, session, folder: folder.to_owned(), told: Mutex::default() }
    }

    /// Where the file is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what the file does not have yet; all of it, if another branch is current.
    pub(super) fn tell(&self, branch: &[Entry]) -> io::Result<()> {
        let mut told = lock(&self.told);
        let known = told.entries.checked_sub(1).and_then(|last| branch.get(last));
        let goes_on = told.last.is_some() && known.map(|entry| entry.id) == told.last;
        let new = if goes_on { &branch[told.entries..] } else { branch };
        if new.is_empty() && goes_on {
            return Ok(());
        }
        let mut file = self.open(if goes_on { Mode::Append } else { Mode::Afresh })?;
        let lines: String = new.iter().filter_map(|entry| self.line(entry)).collect();
        file.write_all(lines.as_bytes())?;
        *told = Told { entries: branch.len(), last: branch.last().map(|entry| entry.id) };
        Ok(())
    }

    /// Removes the file.
    pub(super) fn forget(&self) {
        if std::mem::take(&mut *lock(&self.told)).last.is_some() {
            // Whoever has removed it already has done our work.
            std::fs::remove_file(&self.path).ok();
        }
    }

    fn open(&self, mode: Mode) -> io::Result<File> {
        let mut folder = DirBuilder::new();
        let mut options = OpenOptions::new();
        options.create(true).write(true);
        match mode {
            Mode::Append => options.append(true),
            Mode::Afresh => options.truncate(true),
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
            folder.mode(0o700);
            options.mode(0o600);
        }
        if let Some(parent) = self.path.parent() {
            folder.recursive(true).create(parent)?;
        }
        options.open(&self.path)
    }

    fn line(&self, entry: &Entry) -> Option<String> {
        let (role, content) = match &entry.kind {
            EntryKind::User { parts } => ("user", blocks(parts)),
            EntryKind::Assistant { parts, .. } => ("assistant", blocks(parts)),
            EntryKind::ToolResults { parts } => ("user", results(parts)),
            EntryKind::Notice { .. }
            | EntryKind::Compaction { .. }
            | EntryKind::Pruned { .. }
            | EntryKind::Undone { .. }
            | EntryKind::Prefix { .. }
            | EntryKind::ModelChange { .. }
            | EntryKind::Checkpoint { .. } => return None,
        };
        let line = json!({
            "type": role,
            "uuid": entry.id,
            "parentUuid": entry.parent,
            "isSidechain": false,
            "sessionId": self.session,
            "cwd": self.folder,
            "version": env!("CARGO_PKG_VERSION"),
            "timestamp": moment(entry.at),
            "message": { "role": role, "content": content },
        });
        Some(format!("{line}\n"))
    }
}

/// Whether the file grows or begins anew.
#[derive(Debug, Clone, Copy)]
enum Mode {
    Append,
    Afresh,
}

fn blocks(parts: &[Part]) -> Value {
    parts.iter().filter_map(claude::block).collect()
}

fn results(parts: &[Part]) -> Value {
    let block = |part: &Part| {
        let result = part.as_result()?;
        Some(json!({
            "type": "tool_result",
            "tool_use_id": result.call,
            "content": claude::content(&result.pieces),
        }))
    };
    parts.iter().filter_map(block).collect()
}

/// A moment as JSON has it: RFC 3339, in UTC.
fn moment(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.as_millis()).map(|at| at.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;

    fn said(text: &str) -> Entry {
        let kind = EntryKind::User { parts: vec![Part::user_text(text)] };
        Entry { id: EntryId::new(), parent: None, at: Clock::system().now(), kind }
    }

    fn texts(story: &Story) -> Vec<String> {
        let file = std::fs::read_to_string(story.path()).unwrap();
        let text = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["message"]["content"][0]["text"].as_str().unwrap().to_owned()
        };
        file.lines().map(text).collect()
    }

    #[test]
    fn a_story_grows_at_its_end_and_begins_anew_on_another_branch() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("transcripts/story.jsonl");
        let story = Story::new(path, SessionId::new(), dir.path());
        story.tell(&[]).unwrap();
        assert_eq!(texts(&story), Vec::<String>::new());
        let mut branch = vec![said("one"), said("two")];
        story.tell(&branch).unwrap();
        branch.push(said("three"));
        story.tell(&branch).unwrap();
        story.tell(&branch).unwrap();
        assert_eq!(texts(&story), ["one", "two", "three"]);
        branch.truncate(1);
        branch.push(said("other"));
        story.tell(&branch).unwrap();
        assert_eq!(texts(&story), ["one", "other"]);
        story.forget();
        assert!(!story.path().exists());
    }
}
