//! MCP and language servers of the settings. Nothing starts them yet.

use base::config::Config;
use base::protocol::{ServerKind, ServerState};

/// How a server is that nobody has started.
const NOT_STARTED: &str = "not started";
/// How a server is that the settings switch off.
const OFF: &str = "switched off";

/// The servers of the settings, by name.
pub(super) fn of(settings: &Config) -> Vec<ServerState> {
    let state = |name: &String, kind, is_off: bool| ServerState {
        name: name.clone(),
        kind,
        state: if is_off { OFF } else { NOT_STARTED }.to_owned(),
        log: Vec::new(),
    };
    let mcp = settings.mcp.iter().map(|(name, it)| state(name, ServerKind::Mcp, it.disabled));
    let lsp = settings.lsp.iter().map(|(name, it)| state(name, ServerKind::Lsp, it.disabled));
    let mut servers: Vec<ServerState> = mcp.chain(lsp).collect();
    servers.sort_by(|one, other| one.name.cmp(&other.name));
    servers
}
