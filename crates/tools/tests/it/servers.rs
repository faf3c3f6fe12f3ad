//! Rooms with real language servers, as `scripts/servers` installs them.

use std::sync::Arc;
use std::time::Duration;

use base::{Env, TaskScope};
use links::Lsp;
use links::lsp::Keeping;
use serde_json::{Value, json};
use settings::Config;
use testkit::parts;
use tools::Code;

use crate::room::Room;

/// The environment in which they are found.
fn env() -> Env {
    let own = ["node_modules/.bin", "py/bin", "bin"].map(|part| parts::folder().join(part));
    let process = Env::of_process();
    let path = process.get("PATH").unwrap_or_default();
    let all = own.into_iter().chain(std::env::split_paths(path));
    let path = std::env::join_paths(all).unwrap().into_string().unwrap();
    process.with([("PATH".to_owned(), path)])
}

/// Whether a program is installed; says so aloud where it is not.
pub(crate) fn has(program: &str) -> bool {
    let path = env().get("PATH").unwrap_or_default().to_owned();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).exists());
    if !found {
        parts::skipped(&format!("{program} is not installed; run scripts/servers"));
    }
    found
}

/// A room whose files are served by these servers and no others.
pub(crate) async fn room(servers: Value) -> Room {
    let config = json!({ "options": { "auto_lsp": false }, "lsp": servers });
    with(config, &TaskScope::new()).await
}

/// The same for settings as they are.
pub(crate) async fn with(config: Value, scope: &TaskScope) -> Room {
    kept(config, scope, patient()).await
}

/// Servers of a machine that is busy with other tests are waited for.
pub(crate) fn patient() -> Keeping {
    Keeping { longest: Duration::from_secs(20), ..Keeping::default() }
}

/// The same with servers kept in a way of one's own.
pub(crate) async fn kept(config: Value, scope: &TaskScope, keeping: Keeping) -> Room {
    let mut room = Room::new().await;
    let config: Config = serde_json::from_value(config).unwrap();
    let lsp = Lsp::kept(Arc::new(config), env(), scope, keeping);
    Arc::get_mut(&mut room.workspace).unwrap().code = Code { lsp, fits: true };
    room
}

impl Room {
    pub(crate) fn lsp(&self) -> &Lsp {
        &self.workspace.code.lsp
    }

    /// What a tool says.
    pub(crate) async fn says(&self, tool: &str, input: Value) -> String {
        match self.call(tool, input).await {
            Ok(output) => output.text,
            Err(error) => format!("ERROR {error}"),
        }
    }

    /// What changing a piece of a file says; the file is viewed first.
    pub(crate) async fn edits(&self, file: &str, old: &str, new: &str) -> String {
        self.says("view", json!({ "file_path": file })).await;
        let input = json!({ "file_path": file, "old_string": old, "new_string": new });
        self.says("edit", input).await
    }

    /// Waits until a file's server has begun and has looked at it, however slow the machine is.
    pub(crate) async fn warm(&self, file: &str) {
        for _ in 0..10 {
            let said = self.says("diagnostics", json!({ "file_path": file })).await;
            if !said.contains("not ready yet") {
                return;
            }
        }
        panic!("no server for {file}: {:?}", self.lsp().states());
    }

    /// Waits until no server is busy any more: a project may take a minute to be read.
    pub(crate) async fn rests(&self) {
        let is_busy = || self.lsp().states().iter().any(|it| it.state.contains("busy"));
        for _ in 0..1_200 {
            if !is_busy() {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("still busy: {:?}", self.lsp().states());
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder().join(path)).unwrap()
    }
}
