//! What faces look up of the past: changes, checkpoints, words, history.

use std::collections::HashSet;
use std::path::Path;

use base::protocol::{Change, Checkpoint, ClientError, Hit, Reply};
use base::{EntryKind, SessionId};
use guard::Fence;
use store::{Index, Moments, Prompt, StoreError};
use tools::builtin::runs_commands;
use tools::past::Past;

use crate::coordinator::{Hub, refused};

/// Characters of a checkpoint's label.
const LABEL: usize = 100;
/// What a label says where commands have run.
const COMMANDS_RAN: &str = " (ran commands: what they changed stays)";
/// Most prompts of a history.
const HISTORY: usize = 2_000;

impl Hub {
    /// Sessions in which something was said. What was said since the last search is read first.
    pub(crate) async fn find(&self, words: &str, limit: usize) -> Result<Reply, StoreError> {
        while self.mind.store.index_more().await? == Index::Behind {}
        let found = self.mind.store.find(words, limit).await?;
        let hit = |found: store::Found| Hit {
            session: found.session,
            entry: found.entry,
            snippet: found.snippet,
        };
        Ok(Reply::Found { hits: found.into_iter().map(hit).collect() })
    }

    /// What the user has said in a folder's project.
    pub(crate) async fn history(&self, folder: &str, limit: usize) -> Result<Reply, StoreError> {
        let project = store::project_of(Path::new(folder)).display().to_string();
        let prompts = self.mind.store.history(project, limit.min(HISTORY)).await?;
        Ok(Reply::History { prompts })
    }

    /// The moments one can go back to.
    pub(crate) async fn checkpoints(&self, session: SessionId) -> Result<Reply, ClientError> {
        let store = &self.mind.store;
        let row = store.session(session).await.map_err(|error| refused(&error))?;
        let moments = store.moments(session).await.map_err(|error| refused(&error))?;
        // States are kept under real paths.
        let folder = tokio::fs::canonicalize(&row.summary.folder).await;
        let folder = folder.unwrap_or_else(|_| row.summary.folder.into());
        let checkpoints = checkpoints(&moments, &folder);
        Ok(Reply::Checkpoints { checkpoints })
    }

    /// What tools have changed in a session.
    pub(crate) async fn changes(&self, session: SessionId) -> Result<Reply, ClientError> {
        let changes = self.compared(session).await?;
        Ok(Reply::Changes { changes })
    }

    /// The same as text.
    pub(crate) async fn changes_told(&self, session: SessionId) -> Result<String, ClientError> {
        let line = |change: &Change| {
            let Change { path, added, removed, .. } = change;
            format!("{path}  +{added} −{removed}")
        };
        let changes = self.compared(session).await?;
        let lines: Vec<String> = changes.iter().map(line).collect();
        Ok(match lines.as_slice() {
            [] => "Tools have changed no file in this session.".to_owned(),
            lines => lines.join("\n"),
        })
    }

    async fn compared(&self, session: SessionId) -> Result<Vec<Change>, ClientError> {
        let store = self.mind.store.clone();
        let row = store.session(session).await.map_err(|error| refused(&error))?;
        let (folder, home) = (row.summary.folder, self.mind.paths.home().to_owned());
        let (more, clock) = (self.options.more_folders.clone(), self.mind.clock.clone());
        let compare = move || {
            let fence = Fence::new(folder.as_ref(), &more, &home).map_err(|error| {
                ClientError::Refused(format!("cannot look at {folder}: {error}"))
            })?;
            let past = Past { store, fence, session, clock };
            past.changes().map_err(|error| refused(&error))
        };
        let compared = tokio::task::spawn_blocking(compare).await;
        let mut changes = compared.unwrap_or(Err(ClientError::Closed))?;
        for change in &mut changes {
            change.unified = self.mind.redactor.text(&change.unified).into_owned();
        }
        Ok(changes)
    }
}

/// The moments of a branch that one can go back to, newest first; before them that of the last rewind, if
/// nothing was said since.
pub fn checkpoints(moments: &Moments, folder: &Path) -> Vec<Checkpoint> {
    let mut checkpoints: Vec<Checkpoint> = Vec::new();
    let mut ran_commands = false;
    // What a report of a sub-agent sets off belongs to the prompt before it.
    let mut files: Vec<String> = Vec::new();
    for prompt in moments.prompts.iter().rev() {
        files.splice(0..0, prompt.files.iter().map(|path| shown(path, folder)));
        ran_commands |= prompt.tools.iter().any(|tool| runs_commands(tool));
        let Some(said) = store::typed(&prompt.entry.kind) else { continue };
        let mut changed = std::mem::take(&mut files);
        let mut seen = HashSet::new();
        changed.retain(|path| seen.insert(path.clone()));
        let mut checkpoint = checkpoint(prompt, &said, changed);
        if std::mem::take(&mut ran_commands) {
            checkpoint.label.push_str(COMMANDS_RAN);
        }
        checkpoints.push(checkpoint);
    }
    if let Some(entry) = &moments.rewound {
        let label = if let EntryKind::Checkpoint { label } = &entry.kind { label } else { "" };
        let undo = Checkpoint {
            entry: entry.id,
            before: Some(entry.id),
            at: entry.at,
            label: label.to_owned(),
            files: Vec::new(),
        };
        checkpoints.insert(0, undo);
    }
    checkpoints
}

fn checkpoint(prompt: &Prompt, said: &str, files: Vec<String>) -> Checkpoint {
    let label = one_line(said, LABEL);
    let entry = &prompt.entry;
    Checkpoint { entry: entry.id, before: entry.parent, at: entry.at, label, files }
}

fn shown(path: &str, folder: &Path) -> String {
    let path = Path::new(path);
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

/// A text in one line of at most `limit` characters.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
