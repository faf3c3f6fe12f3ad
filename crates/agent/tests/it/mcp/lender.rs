//! Servers that do what a file tells them, and rooms that know them.

use std::path::PathBuf;
use std::time::Duration;

use base::Entry;
use base::protocol::{Client, Query};
use base::transcript::{CallResult, Part};
use serde_json::{Value, json};
use settings::Config;
use tempfile::TempDir;

use crate::room::{Plan, Room};

/// The server's program.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp/server.py");

/// A server and the file that scripts it.
pub(super) struct Lender {
    file: PathBuf,
    _dir: TempDir,
}

impl Lender {
    /// A server that does what `spec` says.
    pub(super) fn new(spec: &Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("spec.json");
        std::fs::write(&file, spec.to_string()).unwrap();
        Self { file, _dir: dir }
    }

    /// One that lends tools, each with the steps it does.
    pub(super) fn of_tools(tools: &[(&str, Value)]) -> Self {
        let tool = |(name, does): &(&str, Value)| json!({ "name": name, "description": format!("Does {name}."), "does": does });
        Self::new(&json!({ "tools": tools.iter().map(tool).collect::<Vec<_>>() }))
    }

    /// Its settings.
    pub(super) fn settings(&self) -> Value {
        json!({ "command": "python3", "args": [PROGRAM, self.file] })
    }

    /// A file beside its own.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.file.with_file_name(name)
    }

    /// What it was asked, by method and parameters.
    pub(super) fn heard(&self) -> Vec<(String, Value)> {
        let text = std::fs::read_to_string(self.beside("spec.json.heard")).unwrap_or_default();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let method = |it: &Value| it["method"].as_str().unwrap_or_default().to_owned();
        lines.map(|it| (method(&it), it["params"].clone())).collect()
    }

    /// The tools that were called.
    pub(super) fn called(&self) -> Vec<String> {
        let calls = self.heard().into_iter().filter(|(method, _)| method == "tools/call");
        calls.map(|(_, params)| params["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// Settings with servers.
pub(super) fn config(servers: &[(&str, &Lender)]) -> Config {
    let servers = servers.iter().map(|(name, it)| ((*name).to_owned(), it.settings()));
    let config = json!({ "mcp": servers.collect::<serde_json::Map<_, _>>() });
    serde_json::from_value(config).unwrap()
}

/// A room whose servers have told what they lend.
pub(super) async fn ready(plan: Plan) -> Room {
    let servers: Vec<String> = plan.config.mcp.keys().cloned().collect();
    let room = Room::new(plan).await;
    wake(&room).await;
    for server in servers {
        told(&room, &server, "lends").await;
    }
    room
}

/// Opens the session: nobody has said anything yet.
pub(super) async fn wake(room: &Room) {
    room.coordinator.ask(Query::Context { session: room.session }).await.unwrap();
}

/// Waits until a server's state or log has some words.
pub(super) async fn told(room: &Room, server: &str, words: &str) {
    let told = async {
        loop {
            let states = room.coordinator.servers();
            let it = states.iter().find(|state| state.name == server);
            if it.is_some_and(|it| it.state.contains(words) || it.log.join("\n").contains(words)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_mins(1), told).await;
    waited.unwrap_or_else(|_| panic!("{server}: {words}: {:?}", room.coordinator.servers()));
}

/// The tools of a request, by name, with all that is said of them.
pub(super) fn offered(room: &Room, request: usize) -> Vec<(String, Value)> {
    let body = &room.server.requests()[request].body;
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
    tools.into_iter().map(|tool| (name(&tool), tool["function"].clone())).collect()
}

/// The names of lent tools in a request.
pub(super) fn lent(room: &Room, request: usize) -> Vec<String> {
    let is_lent = |name: &String| name.starts_with("mcp_") || name == "use_tool";
    offered(room, request).into_iter().map(|(name, _)| name).filter(is_lent).collect()
}

/// The parts that hold results, oldest first.
pub(super) async fn results(room: &Room) -> Vec<(Part, CallResult)> {
    let branch: Vec<Entry> = room.store.branch(room.session).await.unwrap();
    let parts = branch.iter().flat_map(|entry| entry.kind.parts().to_vec());
    parts.filter_map(|part| Some((part.clone(), part.as_result()?.clone()))).collect()
}
