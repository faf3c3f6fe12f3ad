//! Notes an agent keeps between tasks: a folder of its own, whose `MEMORY.md` its prompt begins with.

use std::path::{Path, PathBuf};

use settings::definition::agent::Memory;
use settings::definition::{Agent, slug};

use crate::mind::Mind;

/// The file that is read at the start of each task.
const FILE: &str = "MEMORY.md";
/// Most of it that is read.
const LINES: usize = 200;
const BYTES: usize = 25_000;

/// Tools an agent with a memory cannot do without.
pub(super) const TOOLS: [&str; 3] = ["view", "write", "edit"];

/// The folder an agent keeps its notes in; none if it keeps none, or if a link of the project's leads it out of
/// there.
pub(super) fn folder(agent: &Agent, mind: &Mind, project: &Path) -> Option<PathBuf> {
    let name = slug(&agent.name);
    let (place, fence) = match agent.memory? {
        Memory::User => (mind.paths.data().join("agent-memory"), None),
        Memory::Project => (project.join(".caiman/agent-memory"), Some(project)),
        Memory::Local => (project.join(".caiman/agent-memory-local"), Some(project)),
    };
    let folder = Some(place.join(&name)).filter(|_| !name.is_empty())?;
    fence.is_none_or(|fence| stays_in(&folder, fence)).then_some(folder)
}

/// Whether a place, as far as it is there, lies in a folder, links followed.
fn stays_in(place: &Path, folder: &Path) -> bool {
    let real = place.ancestors().find(|it| it.symlink_metadata().is_ok());
    let real = real.and_then(|it| it.canonicalize().ok());
    folder.canonicalize().is_ok_and(|folder| real.is_some_and(|real| real.starts_with(folder)))
}

/// What an agent is told of its notes.
pub(super) fn told(folder: &Path) -> String {
    let file = Some(folder.join(FILE)).filter(|file| stays_in(file, folder));
    let text = file.and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    let mut notes = String::new();
    for line in text.lines().take(LINES) {
        if notes.len() + line.len() > BYTES {
            break;
        }
        notes.push_str(line);
        notes.push('\n');
    }
    let shown = folder.display();
    let about = format!(
        "You keep notes for later tasks in {shown}/{FILE}: what you learned that a next task needs, in a \
         few lines. Other files there hold details; name them in it."
    );
    if notes.trim().is_empty() { about } else { format!("{about} It says now:\n\n{notes}") }
}
