//! Bringing files back to what they were, and what has become of them since.
//!
//! Only what tools changed is known: files inside the workspace, changed by a tool of the session or of its
//! sub-agents. Everything goes through the fence, as a tool's writing does.

use std::io;
use std::path::Path;

use base::protocol::Change;
use base::{Clock, EntryId, SessionId};
use guard::{Fence, Spot};
use store::{Changing, ContentHash, FileState, Kept, Moment, Store, StoreError, Was};

use crate::changing::look;
use crate::draft::one_by_one;
use crate::workspace::Workspace;
use crate::{diff, text};

/// What came of bringing files back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Returned {
    /// Files that are now what they were.
    pub files: Vec<String>,
    /// Those of them that somebody else had changed since: what was in them is kept, too.
    pub others: Vec<String>,
    /// Files that stay as they are, and why.
    pub left: Vec<(String, String)>,
}

/// The files of a session, and what is known of what they were.
#[derive(Debug, Clone)]
pub struct Past {
    /// Where it is kept.
    pub store: Store,
    /// The workspace.
    pub fence: Fence,
    /// The session at the top of its family.
    pub session: SessionId,
    /// The time.
    pub clock: Clock,
}

impl Past {
    /// That of a workspace's session.
    pub fn of(workspace: &Workspace) -> Self {
        Self {
            store: workspace.store.clone(),
            fence: workspace.fence.clone(),
            session: workspace.session,
            clock: workspace.clock.clone(),
        }
    }

    /// Makes files what they were when `entry` was made. What they are now is kept under `checkpoint`, a
    /// newer entry of the same session: going back to that takes this back. Blocks.
    pub fn go_back(&self, entry: EntryId, checkpoint: EntryId) -> Result<Returned, StoreError> {
        let mut returned = Returned::default();
        for state in self.store.states_since(self.session, Some(entry)).wait()? {
            let name = shown(&self.fence, &state.path);
            match self.one_back(&state, checkpoint) {
                Ok(Step::Same) => {}
                Ok(Step::Back { others }) => {
                    if others {
                        returned.others.push(name.clone());
                    }
                    returned.files.push(name);
                }
                Err(Stuck::File(why)) => returned.left.push((name, why)),
                Err(Stuck::Store(error)) => return Err(error),
            }
        }
        Ok(returned)
    }

    fn one_back(&self, state: &FileState, to: EntryId) -> Result<Step, Stuck> {
        let stays = |why: &str| Err(Stuck::File(why.to_owned()));
        let Some(spot) = place(&self.fence, &state.path) else {
            return stays("it is not in the workspace any more, or a link stands in its way");
        };
        let _alone = one_by_one();
        let now = look(&self.fence, &spot)?;
        let (was, leaves) = match state.was {
            Kept::TooLarge { .. } => return stays("it was too large to be kept"),
            Kept::Absent => (Was::Absent, None),
            Kept::File { hash, mode } => {
                let content = self.store.content(hash).wait()?;
                (Was::File { content, mode }, Some(hash))
            }
        };
        if now == was {
            return Ok(Step::Same);
        }
        let others = match &now {
            Was::TooLarge { .. } => return stays("it is too large now to be kept"),
            Was::Absent => state.left.is_some(),
            Was::File { content, .. } => state.left != Some(ContentHash::of(content)),
        };
        let change = Changing { path: state.path.clone(), leaves, at: self.clock.now() };
        let moment = Moment::Rewind(to);
        self.store.keep_state(self.session, moment, change, now).wait()?;
        match was {
            Was::File { content, mode } => self.fence.restore(&spot, &content, mode)?,
            Was::Absent | Was::TooLarge { .. } => self.fence.remove(&spot)?,
        }
        Ok(Step::Back { others })
    }

    /// What tools have changed, as it is now against as it was before. By path; blocks.
    pub fn changes(&self) -> Result<Vec<Change>, StoreError> {
        let (store, fence) = (&self.store, &self.fence);
        let mut changes = Vec::new();
        for state in store.states_since(self.session, None).wait()? {
            // What cannot be looked at now cannot be compared.
            let Some(spot) = place(fence, &state.path) else { continue };
            let Ok(now) = look(fence, &spot) else { continue };
            let path = fence.name(&spot);
            match (state.was, now) {
                (Kept::Absent, Was::Absent) => {}
                (Kept::TooLarge { .. }, _) | (_, Was::TooLarge { .. }) => {
                    changes.push(Change { path, unified: String::new(), added: 0, removed: 0 });
                }
                (
                    was @ (Kept::Absent | Kept::File { .. }),
                    now @ (Was::Absent | Was::File { .. }),
                ) => {
                    let before = match was {
                        Kept::File { hash, .. } => store.content(hash).wait()?,
                        Kept::Absent | Kept::TooLarge { .. } => Vec::new(),
                    };
                    let after = match now {
                        Was::File { content, .. } => content,
                        Was::Absent | Was::TooLarge { .. } => Vec::new(),
                    };
                    changes.push(compared(path, &before, &after));
                }
            }
        }
        Ok(changes)
    }
}

/// What became of one file.
enum Step {
    /// It is what it was.
    Same,
    /// It was brought back; whether somebody else had changed it.
    Back { others: bool },
}

/// Why a file was not brought back.
enum Stuck {
    /// It stays as it is, for this reason; the others go on.
    File(String),
    /// The memory failed: nothing goes on.
    Store(StoreError),
}

impl From<io::Error> for Stuck {
    fn from(error: io::Error) -> Self {
        Self::File(error.to_string())
    }
}

impl From<StoreError> for Stuck {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn compared(path: String, before: &[u8], after: &[u8]) -> Change {
    let is_text = |content: &[u8]| text::is_text(&content[..content.len().min(text::SAMPLE)]);
    if !is_text(before) || !is_text(after) {
        return Change { path, unified: String::new(), added: 0, removed: 0 };
    }
    let diff::Change { unified, added, removed, .. } = diff::Change::between(before, after);
    Change { path, unified, added: added as u64, removed: removed as u64 }
}

/// The spot of a path that was kept; none if it leads elsewhere by now.
fn place(fence: &Fence, path: &str) -> Option<Spot> {
    let spot = fence.locate(path).ok()?;
    (spot.inside && spot.real == Path::new(path)).then_some(spot)
}

/// A kept path as the user knows it.
fn shown(fence: &Fence, path: &str) -> String {
    let path = Path::new(path);
    path.strip_prefix(fence.folder()).unwrap_or(path).display().to_string()
}
