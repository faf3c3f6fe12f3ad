//! Files as the editor has them: what its user has typed and not saved yet counts.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, FileSystemCapabilities, ReadTextFileRequest, ReadTextFileResponse,
    WriteTextFileRequest,
};
use base::{CallId, SessionId};
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::runtime::Handle;

use super::sessions::wire;
use super::{Agent, Errand, Ran, Shared};
use crate::rpc::{Peer, RpcError};

/// How long an editor may take for a file.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whoever has files open that a person works on. Its functions wait for the answer: they are called where waiting
/// hurts nobody.
pub trait Editor: fmt::Debug + Send + Sync {
    /// The text of a file as the person sees it; none where the editor does not tell.
    fn read(&self, session: SessionId, path: &Path) -> Option<String>;
    /// Has a file written.
    fn write(&self, session: SessionId, path: &Path, text: &str) -> Written;
    /// Runs a command in a terminal of the editor's, for a call; whoever stops waiting ends it. None where the
    /// editor lends no terminal.
    fn run<'a>(
        &'a self,
        _session: SessionId,
        _call: &'a CallId,
        _errand: Errand,
    ) -> BoxFuture<'a, Option<Ran>> {
        Box::pin(async { None })
    }
}

/// Whether an editor has written a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It has.
    Yes,
    /// It has not, or nobody knows.
    No,
}

/// What is known of the editor's files.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Whether the editor once gave no answer: then nobody waits for it again.
    is_deaf: AtomicBool,
}

impl Editor for Agent {
    fn read(&self, session: SessionId, path: &Path) -> Option<String> {
        if !self.0.offers().read_text_file {
            return None;
        }
        let (root, path) = self.0.open_file(session, path)?;
        let asked = ReadTextFileRequest::new(wire(root), path);
        let answer = self.0.ask(CLIENT_METHOD_NAMES.fs_read_text_file, &asked)?;
        serde_json::from_value::<ReadTextFileResponse>(answer).ok().map(|answer| answer.content)
    }

    fn write(&self, session: SessionId, path: &Path, text: &str) -> Written {
        let open = self.0.open_file(session, path).filter(|_| self.0.offers().write_text_file);
        let Some((root, path)) = open else { return Written::No };
        let asked = WriteTextFileRequest::new(wire(root), path, text);
        match self.0.ask(CLIENT_METHOD_NAMES.fs_write_text_file, &asked) {
            Some(_) => Written::Yes,
            None => Written::No,
        }
    }

    fn run<'a>(
        &'a self,
        session: SessionId,
        call: &'a CallId,
        errand: Errand,
    ) -> BoxFuture<'a, Option<Ran>> {
        Box::pin(self.0.run(session, call, errand))
    }
}

impl Shared {
    fn offers(&self) -> FileSystemCapabilities {
        self.editor.get().map(|editor| editor.fs.clone()).unwrap_or_default()
    }

    /// Session and path as the editor knows them: the session is that of whoever has begun a sub-agent.
    pub(super) fn open_file(
        &self,
        session: SessionId,
        path: &Path,
    ) -> Option<(SessionId, PathBuf)> {
        let rooms = self.rooms();
        let root = rooms.kin.get(&session).map_or(session, |kin| kin.root);
        let seat = rooms.seats.get(&root)?;
        Some((root, seat.named(path)))
    }

    /// Asks and waits; none where there is no answer to be had.
    fn ask(&self, method: &str, params: &impl serde::Serialize) -> Option<Value> {
        if self.files.is_deaf.load(Ordering::Relaxed) {
            return None;
        }
        let peer: Peer = self.peer.get()?.clone();
        let params = serde_json::to_value(params).ok()?;
        let asking = peer.request(method, params, PATIENCE);
        match Handle::try_current().ok()?.block_on(asking) {
            Ok(answer) => Some(answer),
            Err(RpcError::TimedOut { .. }) => {
                self.files.is_deaf.store(true, Ordering::Relaxed);
                tracing::warn!(method, "the editor gives no answer; files are read from disk");
                None
            }
            Err(RpcError::Closed(_) | RpcError::Refused(_) | RpcError::Unreadable { .. }) => None,
        }
    }
}
