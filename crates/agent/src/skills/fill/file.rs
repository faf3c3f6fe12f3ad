//! Files a body refers to: read through the fence, as the lock allows, bounded, below the text.

use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::PathBuf;

use guard::fence::EntryKind;
use guard::{Action, Decision, Policy, Spot};

use super::Filling;
use crate::instructions::markdown::{is_surely_path, readings};

/// Most of one file.
const FILE_BYTES: usize = 50_000;
/// Most of all files.
const ALL_BYTES: usize = 150_000;
/// Most names of a folder.
const NAMES: usize = 200;

/// The files of one body.
#[derive(Default)]
pub(super) struct Files {
    seen: Vec<Spot>,
    text: String,
}

impl Files {
    /// Adds the file a word means; a word that means none stays a word.
    pub(super) fn add(&mut self, filling: &Filling<'_>, word: &str, policy: &Policy) {
        let Some(spot) = locate(filling, word) else {
            if is_surely_path(word) {
                self.note(word, "there is no such file");
            }
            return;
        };
        if self.seen.contains(&spot) {
            return;
        }
        let name = filling.ctx.workspace.fence.name(&spot);
        let verdict = policy.decide("view", &[Action::Read(spot.clone())], &filling.taint);
        if verdict.decision != Decision::Allow {
            self.note(&name, &format!("not read: {}", verdict.reason));
            return;
        }
        match content(filling, &spot) {
            Ok(text) => self.put(&name, &filling.ctx.workspace.redactor.text(&text)),
            Err(why) => self.note(&name, &why),
        }
        self.seen.push(spot);
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn put(&mut self, name: &str, text: &str) {
        let room = FILE_BYTES.min(ALL_BYTES.saturating_sub(self.text.len()));
        let kept = &text[..text.floor_char_boundary(room)];
        // A file must not close its own frame and go on as somebody else.
        let shown = kept.replace("</file", "<\\/file");
        let name = framed(name);
        write!(self.text, "\n\n<file path=\"{name}\">\n{}\n</file>", shown.trim_end()).ok();
        if kept.len() < text.len() {
            write!(self.text, "\n[{name} is cut here: view it for the rest.]").ok();
        }
    }

    fn note(&mut self, name: &str, why: &str) {
        write!(self.text, "\n\n[@{}: {why}]", framed(name)).ok();
    }
}

/// The place a word means: below the workspace, or below the skill's own folder.
fn locate(filling: &Filling<'_>, word: &str) -> Option<Spot> {
    let fence = &filling.ctx.workspace.fence;
    let exists = |spot: &Spot| fs::symlink_metadata(&spot.real).is_ok();
    let there: Vec<&str> = readings(word).filter(|path| !path.is_empty()).collect();
    let beside = |path: &&str| Some(filling.recipe.folder.as_ref()?.join(path));
    let below = there.iter().map(PathBuf::from);
    let mut places = below.chain(there.iter().filter_map(beside));
    places.find_map(|path| fence.locate(path).ok().filter(exists))
}

fn content(filling: &Filling<'_>, spot: &Spot) -> Result<String, String> {
    let fence = &filling.ctx.workspace.fence;
    if fs::symlink_metadata(&spot.real).is_ok_and(|found| found.is_dir()) {
        let entries = fence.read_dir(spot).map_err(|error| error.to_string())?;
        let names = entries.iter().take(NAMES).map(|entry| {
            let mark = if entry.kind == EntryKind::Folder { "/" } else { "" };
            format!("{}{mark}", entry.name.to_string_lossy())
        });
        return Ok(names.collect::<Vec<_>>().join("\n"));
    }
    let file = fence.open(spot).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let most = u64::try_from(FILE_BYTES + 1).unwrap_or(u64::MAX);
    file.take(most).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.contains(&0) {
        return Err("it is not text".to_owned());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A name that stands in a frame.
fn framed(name: &str) -> String {
    name.chars().map(|c| if c.is_control() || c == '"' { '?' } else { c }).collect()
}
