//! Commands in a terminal of the editor's: its user sees them run where they see their own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest,
    ReleaseTerminalRequest, SessionId as WireId, TerminalExitStatus, TerminalId,
    TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
};
use base::{CallId, SessionId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Shared;
use super::sessions::wire;
use crate::rpc::{Peer, RpcError};

/// How long an editor may take to begin a command, and to tell what it printed.
const PATIENCE: Duration = Duration::from_secs(10);

/// A command for the editor.
#[derive(Debug, Clone)]
pub struct Errand {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// How much of the end of its output is wanted.
    pub output_bytes: u64,
    /// When it is killed.
    pub timeout: Duration,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// What it printed.
    pub output: String,
    /// Whether the beginning of that is missing.
    pub is_cut: bool,
    /// How it ended.
    pub end: End,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exit(u32),
    /// By this signal.
    Signal(String),
    /// It took too long.
    TimedOut,
    /// The editor does not tell.
    Unknown,
}

/// A terminal the editor keeps for us. Whoever lets go of it ends what runs there.
struct Terminal {
    shared: Arc<Shared>,
    session: WireId,
    id: TerminalId,
    has_ended: bool,
}

impl Shared {
    /// Runs a command in a terminal of the editor's; none where it lends none.
    pub(super) async fn run(
        self: &Arc<Self>,
        session: SessionId,
        call: &CallId,
        errand: Errand,
    ) -> Option<Ran> {
        self.editor.get().filter(|editor| editor.terminal)?;
        let (root, folder) = self.open_file(session, &errand.folder)?;
        let asked = CreateTerminalRequest::new(wire(root), errand.program)
            .args(errand.args)
            .cwd(folder)
            .output_byte_limit(errand.output_bytes);
        let method = CLIENT_METHOD_NAMES.terminal_create;
        let begun: CreateTerminalResponse = self.wants(method, &asked, PATIENCE).await.ok()?;
        let id = begun.terminal_id;
        let mut terminal =
            Terminal { shared: self.clone(), session: wire(root), id, has_ended: false };
        self.show_terminal((root, session), call, &terminal.id);
        let end = terminal.ended(errand.timeout).await;
        let method = CLIENT_METHOD_NAMES.terminal_output;
        let asked = TerminalOutputRequest::new(terminal.session.clone(), terminal.id.clone());
        let printed = self.wants::<TerminalOutputResponse>(method, &asked, PATIENCE).await.ok();
        let (output, is_cut) = printed.map(|it| (it.output, it.truncated)).unwrap_or_default();
        Some(Ran { output, is_cut, end })
    }

    fn show_terminal(
        &self,
        (root, session): (SessionId, SessionId),
        call: &CallId,
        id: &TerminalId,
    ) {
        let mut rooms = self.rooms();
        let Some(seat) = rooms.seats.get_mut(&root) else { return };
        let updates = seat.teller.runs_in((session, call), id);
        drop(rooms);
        self.outbox.tell(&wire(root), updates.into_iter().collect());
    }

    async fn wants<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        patience: Duration,
    ) -> Result<T, RpcError> {
        let unreadable = |error: serde_json::Error| RpcError::Unreadable {
            method: method.to_owned(),
            why: error.to_string(),
        };
        let peer: Peer = self.peer.wait().await.clone();
        let params = serde_json::to_value(params).map_err(unreadable)?;
        let answer = peer.request(method, params, patience).await?;
        serde_json::from_value(answer).map_err(unreadable)
    }
}

impl Terminal {
    /// Waits for the end of the command, and makes one where it takes too long.
    async fn ended(&mut self, timeout: Duration) -> End {
        let method = CLIENT_METHOD_NAMES.terminal_wait_for_exit;
        let asked = WaitForTerminalExitRequest::new(self.session.clone(), self.id.clone());
        let waited = self.shared.wants::<WaitForTerminalExitResponse>(method, &asked, timeout);
        match waited.await {
            Ok(WaitForTerminalExitResponse { exit_status, .. }) => {
                self.has_ended = true;
                let TerminalExitStatus { exit_code, signal, .. } = exit_status;
                let exit = exit_code.map(End::Exit);
                exit.or(signal.map(End::Signal)).unwrap_or(End::Unknown)
            }
            Err(RpcError::TimedOut { .. }) => {
                let asked = KillTerminalRequest::new(self.session.clone(), self.id.clone());
                let method = CLIENT_METHOD_NAMES.terminal_kill;
                let killed = self.shared.wants::<serde_json::Value>(method, &asked, PATIENCE);
                self.has_ended = killed.await.is_ok();
                End::TimedOut
            }
            Err(RpcError::Closed(_) | RpcError::Refused(_) | RpcError::Unreadable { .. }) => {
                End::Unknown
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let (shared, has_ended) = (self.shared.clone(), self.has_ended);
        let kill = KillTerminalRequest::new(self.session.clone(), self.id.clone());
        let release = ReleaseTerminalRequest::new(self.session.clone(), self.id.clone());
        self.shared.scope.spawn(async move {
            let names = CLIENT_METHOD_NAMES;
            // An editor that does not answer has ended it or never will.
            if !has_ended {
                drop(shared.wants::<serde_json::Value>(names.terminal_kill, &kill, PATIENCE).await);
            }
            let releasing =
                shared.wants::<serde_json::Value>(names.terminal_release, &release, PATIENCE);
            drop(releasing.await);
        });
    }
}
