//! What an edit has brought: asked of the servers right after it, and waited for as long as they need.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::{Instant, timeout_at};

use super::board::{Posted, Shift, brought};
use super::client::{Client, Fresh};
use super::documents::Synced;
use super::protocol::Diagnostic;
use super::server::Server;
use super::text;
use super::{Lsp, LspError, Problem, Severity};

/// What is left beyond the deadline to those who have heard all they will.
const MOMENT: Duration = Duration::from_millis(200);

/// A file that has changed on disk.
#[derive(Debug, Clone)]
pub struct Edited {
    /// The file.
    pub path: PathBuf,
    /// The folder that holds it and its project.
    pub within: PathBuf,
    /// Its text before; none if it is new.
    pub before: Option<String>,
    /// Its text now; none if it is gone.
    pub after: Option<String>,
}

impl Lsp {
    /// Errors that edits have brought, as far as the servers can tell within 5 seconds. Files without a server
    /// cost nothing; a server that is broken or slow to start costs no more than once.
    pub async fn after(&self, edits: &[Edited]) -> Vec<Problem> {
        let Some(hub) = &self.0 else { return Vec::new() };
        let mut work: Vec<(Arc<Server>, Vec<&Edited>)> = Vec::new();
        for edit in edits {
            if hub.catalog().for_file(&edit.path).next().is_none() {
                continue;
            }
            for server in hub.servers_for(&edit.path, &edit.within) {
                match work.iter_mut().find(|(known, _)| Arc::ptr_eq(known, &server)) {
                    Some((_, edits)) => edits.push(edit),
                    None => work.push((server, vec![edit])),
                }
            }
        }
        if work.is_empty() {
            return Vec::new();
        }
        let longest = hub.keeping.longest;
        let deadline = Instant::now() + longest;
        let commands = hub.commands.load(Ordering::Relaxed);
        let all = work.iter().map(|(server, edits)| {
            let asking = async move {
                // One that has never got as far is not waited for again.
                let still = if server.has_failed_to_start() { Duration::ZERO } else { longest };
                let client = server.client(deadline, still).await?;
                client.hear_of_commands(commands).await?;
                client.brought_by(edits, deadline).await
            };
            // One that does not even read what it is told is not waited for either.
            timeout_at(deadline + MOMENT, asking)
        });
        let mut problems = Vec::new();
        for found in join_all(all).await {
            match found {
                Ok(Ok(found)) => problems.extend(found),
                Ok(Err(error)) => tracing::debug!(%error, "no diagnostics after an edit"),
                Err(_) => tracing::debug!("no diagnostics after an edit: a server does not read"),
            }
        }
        let place = |it: &Problem| (it.path.clone(), it.line, it.column);
        problems.sort_by_key(place);
        problems.dedup_by(|one, other| place(one) == place(other) && one.message == other.message);
        problems
    }
}

impl Client {
    async fn brought_by(
        &self,
        edits: &[&Edited],
        deadline: Instant,
    ) -> Result<Vec<Problem>, LspError> {
        let before = self.before(edits, deadline).await?;
        let since = self.desk.board.news();
        let begun = self.desk.watch_work().borrow().begun;
        let mut synced = Vec::new();
        for edit in edits {
            let kind = match (&edit.before, &edit.after) {
                (_, None) => 3,
                (None, Some(_)) => 1,
                (Some(_), Some(_)) => 2,
            };
            if let Some(after) = &edit.after {
                let told = self.sync(&edit.path, after).await?;
                // Whoever has told it this text a moment ago has not waited for the answer.
                let is_news = edit.before.as_ref() != Some(after);
                synced.push((*edit, Synced { is_news, ..told }));
            } else {
                self.close(&edit.path).await?;
                self.desk.board.forget(&edit.path);
            }
            self.saved(&edit.path, kind).await?;
        }
        let waits = synced
            .iter()
            .map(|(edit, synced)| self.settled(&edit.path, (*synced, since), deadline));
        let fresh = join_all(waits).await;
        let changed: Vec<&Path> = edits.iter().map(|edit| edit.path.as_path()).collect();
        self.ask_neighbours(&changed, deadline).await;
        self.checked(begun, deadline).await;
        if fresh.iter().all(|fresh| *fresh == Fresh::Unknown) {
            // What it has to say comes too late for this edit, and is news at the next.
            self.has_told(before);
            return Ok(Vec::new());
        }
        let news = self.news(&before, &synced.iter().map(|(edit, _)| *edit).collect::<Vec<_>>());
        self.has_told(self.desk.board.all());
        Ok(news)
    }

    /// What was wrong before, as far as somebody was told: what came later is news. Of files it has not seen, what it
    /// says to their text before.
    async fn before(
        &self,
        edits: &[&Edited],
        deadline: Instant,
    ) -> Result<HashMap<PathBuf, Posted>, LspError> {
        let told = self.told();
        let since = self.desk.board.news();
        let mut asked = Vec::new();
        for edit in edits {
            let Some(before) = &edit.before else { continue };
            // Somebody who looked at the file may have shown it as it is after the edit.
            let knows_another =
                self.text(&edit.path).is_some_and(|known| known != text::bare(before));
            if knows_another || !self.posted(&edit.path).is_known() {
                asked.push((edit, self.sync(&edit.path, before).await?));
            }
        }
        // Half of it is for what was wrong before the edit.
        let now = Instant::now();
        let deadline = now + deadline.saturating_duration_since(now) / 2;
        let waits =
            asked.iter().map(|(edit, synced)| self.settled(&edit.path, (*synced, since), deadline));
        join_all(waits).await;
        let mut known = self.desk.board.all();
        let is_asked = |path: &Path| asked.iter().any(|(edit, _)| edit.path == path);
        known.extend(told.into_iter().filter(|(path, it)| it.is_known() && !is_asked(path)));
        for edit in edits.iter().filter(|edit| edit.before.is_none()) {
            // Nothing was wrong in a file that was not there.
            known.insert(edit.path.clone(), Posted { told: 1, ..Posted::default() });
        }
        Ok(known)
    }

    /// Errors that were not there before, in the files that changed and in those that stayed.
    fn news(&self, before: &HashMap<PathBuf, Posted>, edits: &[&Edited]) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (path, posted) in self.desk.board.all() {
            let edit = edits.iter().find(|edit| edit.path == path);
            let known = before.get(&path).filter(|posted| posted.is_known()).map(Posted::all);
            let shift = match edit {
                Some(edit) => Shift::between(
                    edit.before.as_deref().unwrap_or_default(),
                    edit.after.as_deref().unwrap_or_default(),
                ),
                // What it says for the first time of a file nobody changed may be old.
                None if known.is_none() => continue,
                None => Shift::none(),
            };
            let found = brought(known.as_deref(), &errors(posted.all()), shift);
            problems.extend(found.into_iter().map(|it| self.problem(&path, it)));
        }
        problems
    }

    /// A complaint in our words.
    pub(crate) fn problem(&self, path: &Path, it: Diagnostic) -> Problem {
        let text = self.text(path);
        let column = text.map_or(it.range.start.character, |text| {
            let byte = self.units.byte(&text, it.range.start);
            let start = text[..byte].rfind('\n').map_or(0, |feed| feed + 1);
            u32::try_from(text[start..byte].chars().count()).unwrap_or(u32::MAX)
        });
        let source = it.source.unwrap_or_else(|| self.spec.name.clone());
        Problem {
            path: path.to_owned(),
            line: it.range.start.line.saturating_add(1),
            column: column.saturating_add(1),
            severity: severity(it.severity),
            source,
            message: it.message,
        }
    }
}

fn severity(number: Option<u8>) -> Severity {
    match number {
        // Whoever does not say means it.
        None | Some(0 | 1) => Severity::Error,
        Some(2) => Severity::Warning,
        Some(3) => Severity::Information,
        Some(_) => Severity::Hint,
    }
}

fn errors(all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    all.into_iter().filter(|it| severity(it.severity) == Severity::Error).collect()
}
