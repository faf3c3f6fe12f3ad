//! When a server has said what it thinks of a file: pushed or pulled, fresh, and no longer waited for than it needs.

use std::path::Path;
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::Client;
use crate::lsp::board::Posted;
use crate::lsp::desk::Work;
use crate::lsp::documents::Synced;
use crate::lsp::protocol::Pulled;
use crate::lsp::text;
use crate::rpc::{Fault, RpcError};

/// What is waited for more complaints after some came: a server that tells versions sends all at once.
const QUIET_WITH_VERSION: Duration = Duration::from_millis(50);
const QUIET: Duration = Duration::from_millis(250);
/// While it works on something it may have taken back what it said before, and say more: rust-analyzer does.
const QUIET_AT_WORK: Duration = Duration::from_secs(1);
/// The most that anybody waits for complaints; whoever asks says less.
const MOST: Duration = Duration::from_mins(1);
/// The least that is waited for complaints of a server that sends none when there are none.
pub(super) const LEAST: Duration = Duration::from_secs(1);
/// How long after a file was saved a server may begin to check it: rust-analyzer runs a compiler then.
const BEGINNING: Duration = Duration::from_millis(200);
/// Files beside the changed ones that are asked about after an edit.
const NEIGHBOURS: usize = 16;
/// The request that pulls complaints.
const PULL: &str = "textDocument/diagnostic";

/// How fast a server complains.
#[derive(Debug, Default)]
pub(super) struct Tempo {
    /// The longest it took.
    slowest: Option<Duration>,
    /// How often it said nothing at all.
    silent: u32,
    /// When it was last told a text.
    pub(super) told: Option<Instant>,
}

/// Whether complaints mean the text as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fresh {
    Yes,
    /// The server said nothing in time.
    Unknown,
}

impl Client {
    /// Waits for what it began because files were saved, after `begun` pieces of work.
    pub(crate) async fn checked(&self, begun: u64, deadline: Instant) {
        if !self.hears_of_saving() {
            return;
        }
        let mut work = self.desk.watch_work();
        let soon = deadline.min(Instant::now() + BEGINNING);
        let begins = timeout_at(soon, work.wait_for(|work| work.begun > begun)).await;
        if !begins.is_ok_and(|begins| begins.is_ok()) {
            return;
        }
        let ends = timeout_at(deadline, work.wait_for(Work::is_done)).await;
        if ends.is_ok_and(|ends| ends.is_ok()) {
            // What it has found follows.
            tokio::time::sleep(QUIET_WITH_VERSION).await;
        }
    }

    /// Asks what it thinks of other files it has open, where that may have changed with some. One that pushes tells by
    /// itself.
    pub(crate) async fn ask_neighbours(&self, changed: &[&Path], deadline: Instant) {
        let looks_across = self.can.looks_across_files() || self.desk.looks_across_files();
        if !self.pulls() || !looks_across {
            return;
        }
        let mut files = self.open_files();
        files.retain(|path| !changed.contains(&path.as_path()) && self.posted(path).is_known());
        files.sort();
        files.truncate(NEIGHBOURS);
        let asking = files.iter().map(|path| self.pull(path, deadline));
        drop(join_all(asking).await);
    }

    fn hears_of_saving(&self) -> bool {
        self.can.save().is_some() || self.desk.is_registered("textDocument/didSave")
    }

    pub(super) fn pulls(&self) -> bool {
        self.can.has("diagnosticProvider") || self.desk.is_registered(PULL)
    }

    /// Waits until it has said what it thinks of a file that was brought up to date when `since` was the
    /// board's number; not beyond `deadline`, and not longer than it needs.
    pub(crate) async fn settled(
        &self,
        path: &Path,
        (synced, since): (Synced, u64),
        deadline: Instant,
    ) -> Fresh {
        if self.pulls() {
            return self.pull(path, deadline).await;
        }
        let posted = self.posted(path);
        if !synced.is_news && posted.is_known() {
            return Fresh::Yes;
        }
        let (began, latest) = (Instant::now(), deadline);
        let left = latest.saturating_duration_since(began);
        let deadline = began + self.patience().min(left);
        let is_fresh = |posted: &Posted| {
            let newer = posted.told > since || (!synced.is_news && posted.is_known());
            newer && posted.version.is_none_or(|version| version >= synced.version)
        };
        let mut news = self.desk.board.watch();
        loop {
            news.mark_unchanged();
            if is_fresh(&self.posted(path)) {
                break;
            }
            let waited = tokio::select! {
                waited = timeout_at(deadline, news.changed()) => waited,
                () = self.peer.closed() => return Fresh::Unknown,
                // One that has just begun may say only now that it must be asked.
                () = self.desk.has_registered(PULL) => return self.pull(path, latest).await,
            };
            if !matches!(waited, Ok(Ok(()))) {
                self.tempo().silent += 1;
                return Fresh::Unknown;
            }
        }
        self.heard(began.elapsed());
        loop {
            let posted = self.posted(path);
            let quiet = match (self.desk.work().is_some(), posted.version) {
                (true, _) => QUIET_AT_WORK,
                (false, Some(_)) => QUIET_WITH_VERSION,
                (false, None) => QUIET,
            };
            let until = deadline.min(Instant::now() + quiet);
            let more = async {
                while self.posted(path).told == posted.told && news.changed().await.is_ok() {}
            };
            if timeout_at(until, more).await.is_err() || self.is_lost() {
                return Fresh::Yes;
            }
        }
    }

    async fn pull(&self, path: &Path, deadline: Instant) -> Fresh {
        /// The server has changed its mind about what it was asked; it is to be asked again.
        const ASK_AGAIN: [i64; 2] = [-32801, -32802];
        let began = Instant::now();
        loop {
            let posted = self.posted(path);
            let mut params = json!({ "textDocument": { "uri": text::address(path) } });
            if let Some(id) = &posted.result_id {
                params["previousResultId"] = json!(id);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.peer.request(PULL, params, left).await {
                Ok(answer) => {
                    let Ok(pulled) = serde_json::from_value::<Pulled>(answer) else {
                        return Fresh::Unknown;
                    };
                    let says_nothing = pulled.kind != "unchanged" && pulled.items.is_empty();
                    let found = (pulled.kind != "unchanged").then_some(pulled.items);
                    self.desk.board.pull(path, found, pulled.result_id);
                    // Whoever still reads the project has nothing to say of what it does not know yet.
                    if !says_nothing || self.desk.work().is_none() {
                        return Fresh::Yes;
                    }
                    if !pause(deadline.min(began + self.patience())).await {
                        self.tempo().silent += 1;
                        return Fresh::Unknown;
                    }
                }
                Err(RpcError::Refused(Fault { code, .. })) if ASK_AGAIN.contains(&code) => {
                    if !pause(deadline).await {
                        return Fresh::Unknown;
                    }
                }
                Err(_) => return Fresh::Unknown,
            }
        }
    }

    /// How long its complaints are worth waiting for. One that has always said something will say something, on
    /// a busy machine later than ever before. Of one that may say nothing: three times the longest it ever took.
    fn patience(&self) -> Duration {
        let tempo = self.tempo();
        match tempo.slowest {
            _ if tempo.silent < 2 => MOST,
            Some(slowest) => (slowest * 3).max(LEAST),
            None => LEAST,
        }
    }

    fn heard(&self, took: Duration) {
        let mut tempo = self.tempo();
        tempo.slowest = Some(tempo.slowest.map_or(took, |slowest| slowest.max(took)));
    }
}

/// Waits a moment before something is asked again; false where there is no time for that.
async fn pause(deadline: Instant) -> bool {
    let again = Instant::now() + Duration::from_millis(100);
    if again < deadline {
        tokio::time::sleep_until(again).await;
    }
    again < deadline
}
