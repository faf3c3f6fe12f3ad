//! MCP and language servers: those of the settings, and how those are that sessions have needed.

use base::protocol::{ServerKind, ServerState};
use settings::Config;

/// How a server is that nobody has started.
const NOT_STARTED: &str = "not started";
/// How a server is that the settings switch off.
const OFF: &str = "switched off";

/// The servers by name: `running` ones as they are, the others of the settings as they are written.
pub(super) fn of(settings: &Config, running: Vec<ServerState>) -> Vec<ServerState> {
    let state = |name: &String, kind, is_off: bool| ServerState {
        name: name.clone(),
        kind,
        state: if is_off { OFF } else { NOT_STARTED }.to_owned(),
        log: Vec::new(),
    };
    let mcp = settings.mcp.iter().map(|(name, it)| state(name, ServerKind::Mcp, it.disabled));
    let lsp = settings.lsp.iter().map(|(name, it)| state(name, ServerKind::Lsp, it.disabled));
    let mut servers = running;
    for written in mcp.chain(lsp) {
        let same = |it: &ServerState| it.name == written.name && it.kind == written.kind;
        if !servers.iter().any(same) {
            servers.push(written);
        }
    }
    servers.sort_by(|one, other| one.name.cmp(&other.name));
    servers
}
