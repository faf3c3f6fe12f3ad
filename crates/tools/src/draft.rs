//! A file that is about to change: read, compared with what the session knows, then written.

use std::io::{self, Read as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::Block;
use guard::Spot;

use crate::code::Written;
use crate::diff::Change;
use crate::seen::{self, Seen};
use crate::target::Target;
use crate::text;
use crate::tool::{Output, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// A file before it changes.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) spot: Spot,
    /// Its path as the user knows it.
    pub(crate) name: String,
    /// Its content; none if there is no such file.
    pub(crate) before: Option<Vec<u8>>,
}

impl Draft {
    /// Reads the file a path leads to, if there is one.
    pub(crate) fn open(workspace: &Workspace, target: &Target) -> Result<Self, ToolError> {
        let spot = target.spot(&workspace.fence)?.clone();
        let name = workspace.fence.name(&spot);
        let before = match content(workspace, &spot) {
            Ok(Content::Whole(bytes)) => Some(bytes),
            Ok(Content::TooLarge(bytes)) => return Err(too_large(&name, bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                return Err(ToolError::Refused(format!("{name} is a folder, not a file")));
            }
            Err(source) => return Err(ToolError::Io { what: "read", path: spot.asked, source }),
        };
        Ok(Self { spot, name, before })
    }

    /// Its content; an error if there is no such file.
    pub(crate) fn existing(&self) -> Result<&[u8], ToolError> {
        self.before.as_deref().ok_or_else(|| {
            ToolError::Refused(format!("there is no file {}; check the path with ls", self.name))
        })
    }

    /// Refuses to change content the session has never seen, or that somebody changed since.
    pub(crate) fn must_be_known(&self, workspace: &Workspace) -> Result<(), ToolError> {
        let name = &self.name;
        match self.seen(workspace)? {
            None | Some(Seen::Now) => Ok(()),
            Some(Seen::Never) if !self.is_text() => Err(ToolError::Refused(format!(
                "{name} is not text; change, move or delete it with a command"
            ))),
            Some(Seen::Never) => {
                Err(ToolError::Refused(format!("{name} has not been read; view it first")))
            }
            Some(Seen::Before) => Err(changed(name)),
        }
    }

    /// Refuses only content that somebody changed since the session saw it.
    pub(crate) fn must_not_be_stale(&self, workspace: &Workspace) -> Result<(), ToolError> {
        match self.seen(workspace)? {
            None | Some(Seen::Now | Seen::Never) => Ok(()),
            Some(Seen::Before) => Err(changed(&self.name)),
        }
    }

    fn is_text(&self) -> bool {
        let content = self.before.as_deref().unwrap_or_default();
        text::is_text(&content[..content.len().min(text::SAMPLE)])
    }

    fn seen(&self, workspace: &Workspace) -> Result<Option<Seen>, ToolError> {
        let check = |content: &Vec<u8>| seen::check(workspace, &self.spot, content);
        self.before.as_ref().map(check).transpose()
    }

    /// What writing `after` would change.
    pub(crate) fn change(&self, after: &[u8]) -> Change {
        Change::between(self.before.as_deref().unwrap_or_default(), after)
    }

    /// Writes the file and remembers its new content, so that it can be edited again at once.
    pub(crate) fn save(&self, workspace: &Workspace, after: &[u8]) -> Result<(), ToolError> {
        let write = workspace.replace(&self.spot, after);
        write.map_err(|source| self.io("write", source))?;
        seen::remember_written(workspace, &self.spot, after);
        Ok(())
    }

    /// An error of the system while it was being used.
    pub(crate) fn io(&self, what: &'static str, source: io::Error) -> ToolError {
        ToolError::Io { what, path: self.spot.asked.clone(), source }
    }
}

fn changed(name: &str) -> ToolError {
    ToolError::Refused(format!("{name} has changed since it was read; view it again"))
}

fn too_large(name: &str, bytes: u64) -> ToolError {
    let size = text::size(bytes);
    ToolError::Refused(format!("{name} is too large to edit ({size}); change it with a command"))
}

enum Content {
    Whole(Vec<u8>),
    TooLarge(u64),
}

fn content(workspace: &Workspace, spot: &Spot) -> io::Result<Content> {
    let file = workspace.fence.open(spot)?;
    let size = file.metadata()?.len();
    if size > seen::WHOLE {
        return Ok(Content::TooLarge(size));
    }
    let mut bytes = Vec::new();
    file.take(seen::WHOLE).read_to_end(&mut bytes)?;
    let unsaved = workspace.unsaved(spot, &bytes);
    Ok(Content::Whole(unsaved.unwrap_or(bytes)))
}

/// A change of one file that fits but is not written yet.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) draft: Draft,
    pub(crate) after: Vec<u8>,
    /// What the model should know besides.
    pub(crate) notes: Vec<String>,
}

impl Plan {
    /// What it would change, for a face.
    pub(crate) fn block(&self) -> Block {
        self.draft.change(&self.after).block(&self.draft.name)
    }

    /// Writes it.
    pub(crate) fn carry_out(self, workspace: &Workspace) -> Result<Written, ToolError> {
        self.draft.save(workspace, &self.after)?;
        let change = self.draft.change(&self.after);
        let (name, counts) = (&self.draft.name, change.counts());
        let done = match &self.draft.before {
            None => format!("created {name} ({counts})"),
            Some(_) => format!("changed {name} ({counts}) from line {}", change.first_line),
        };
        let mut text = done;
        for note in &self.notes {
            text.push('\n');
            text.push_str(note);
        }
        let title = format!("{name} {counts}");
        let output = Output::text(text).with_title(title).with_body(change.block(name));
        let (before, after) = (self.draft.before, Some(self.after));
        Ok(Written { output, files: vec![(self.draft.spot, before, after)] })
    }
}

/// Runs work that waits for the disk beside the turn; a cancelled call does not wait for it.
pub(crate) async fn aside<T: Send + 'static>(
    ctx: &ToolCtx,
    work: impl FnOnce(&Workspace) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let workspace = ctx.workspace.clone();
    let task = tokio::task::spawn_blocking(move || work(&workspace));
    match ctx.cancel.run_until_cancelled(task).await {
        Some(Ok(done)) => done,
        Some(Err(error)) => Err(ToolError::Refused(format!("the tool failed: {error}"))),
        None => Err(ToolError::Cancelled),
    }
}

/// Held from reading a file to writing it, so that two edits, of two sessions even, cannot both start from
/// the same content and one undo the other. One for all files: it is held for a millisecond.
static WRITING: Mutex<()> = Mutex::new(());

/// Waits until nobody else changes files.
pub(crate) fn one_by_one() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same for what must not be left half done: once begun it is waited for.
pub(crate) async fn to_the_end<T: Send + 'static>(
    ctx: &ToolCtx,
    work: impl FnOnce(&Workspace) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    if ctx.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let workspace = ctx.workspace.clone();
    let task = tokio::task::spawn_blocking(move || {
        let _alone = one_by_one();
        work(&workspace)
    });
    task.await.unwrap_or_else(|error| Err(ToolError::Refused(format!("the tool failed: {error}"))))
}
