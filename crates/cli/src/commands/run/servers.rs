//! MCP servers of a run: those of the command line, and how they are in Claude Code's words.

use base::protocol::ServerState;
use guard::rule::names;
use links::Mcp;
use serde_json::{Value, json};
use settings::Config;

use super::flags::Place;
use crate::app::App;
use crate::failure::Failure;

/// What a file of servers looks like.
const SHAPE: &str = r#"it looks like {"mcpServers": {"name": {"command": "…", "args": ["…"]}}}"#;

/// Puts the servers of `--mcp-config` into the settings. With `--strict-mcp-config` there are no others: then
/// they are named.
pub(crate) fn of_flags(
    app: &App,
    place: &Place,
    settings: &mut Config,
) -> Result<Option<Vec<String>>, Failure> {
    if place.strict_mcp_config {
        settings.mcp.clear();
    }
    for given in &place.mcp_config {
        let text = if given.trim_start().starts_with('{') {
            given.clone()
        } else {
            let read = std::fs::read_to_string(app.cwd.join(given));
            read.map_err(|error| Failure::user(format!("--mcp-config {given}: {error}")))?
        };
        let read = settings::parse_text("--mcp-config", &text);
        if read.config.mcp.is_empty() {
            return Err(Failure::user("--mcp-config names no servers").hint(SHAPE));
        }
        settings.mcp.extend(read.config.mcp);
    }
    let names = || settings.mcp.iter().filter(|(_, server)| !server.disabled);
    Ok(place.strict_mcp_config.then(|| names().map(|(name, _)| name.clone()).collect()))
}

/// What is said of servers of the command line that must not be used. Those of settings are off already.
pub(super) fn forbidden(settings: &Config) -> Vec<String> {
    let on = settings.mcp.iter().filter(|(_, server)| !server.disabled);
    let forbidden = on.filter(|(name, server)| settings.bans.forbid(name, server));
    let told = |name: &String| {
        format!(
            "warning: the MCP server {name} is off: the settings of Claude Code forbid it \
             (deniedMcpServers, allowedMcpServers, disabledMcpServers)"
        )
    };
    forbidden.map(|(name, _)| told(name)).collect()
}

/// How servers are, for the line that begins an exchange.
pub(super) fn told(mcp: &Mcp) -> Vec<Value> {
    let states = mcp.states();
    states.iter().map(|it| json!({ "name": it.name, "status": status(it) })).collect()
}

fn status(state: &ServerState) -> &'static str {
    match state.state.as_str() {
        words if words.starts_with("ready") => "connected",
        words if words.contains("sign-in") => "needs-auth",
        words if words.starts_with("broken") => "failed",
        words if words.starts_with("switched off") => "disabled",
        _ => "pending",
    }
}

/// A tool's name at Claude Code. A server's name may hold underscores: which one it is, only those who know the
/// servers can tell.
pub(super) fn claude(tool: &str, mcp: &Mcp) -> String {
    let rest = tool.strip_prefix("mcp_").filter(|rest| !rest.starts_with('_'));
    let servers = mcp.names();
    let of_server = |server: &String| {
        let name = rest?.strip_prefix(names::server(server).as_str())?.strip_prefix('_')?;
        Some((server.len(), names::mcp(server, name)))
    };
    let longest = servers.iter().filter_map(of_server).max();
    longest.map_or_else(|| names::claude(tool), |(_, name)| name)
}
