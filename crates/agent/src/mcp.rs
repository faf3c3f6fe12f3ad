//! MCP servers in the mind: which of them a session has, what its model is told of their tools, and what
//! servers may ask of it.
//!
//! What a session's model is offered is settled with its first prompt and kept in the prefix, whatever becomes
//! of the servers: a tool that comes later is told with the next prompt and called by `use_tool`.
//!
//! | module | does |
//! |---|---|
//! | `servers` | servers that plugins and agents bring |
//! | `offer` | the tools a model is offered, and those it is told of later |
//! | `sampling` | answers of a model for servers |
//! | `prompts` | prompts of servers as slash commands |
//! | `mention` | resources named in a prompt |
//! | `fetch` | whom servers may ask back while they give one of those |

mod fetch;
mod mention;
mod offer;
pub(crate) mod prompts;
mod sampling;
mod servers;

use std::sync::Arc;
use std::time::Duration;

use base::{Entry, Event, Origin, SessionId};
use guard::rule::names;
use links::Mcp;
use tools::mcp::{Lending, USE_TOOL, name};

pub(crate) use sampling::Sampling;
pub(crate) use servers::{of_agent, of_plugins};

use crate::coordinator::Hub;
use crate::crew::Kin;
use crate::mind::{Mind, Options, Tools};
use crate::toolset;

/// The pause before a server is woken. Starting a program holds the only thread up for some milliseconds: a first
/// request leaves before them, and what faces do comes between them.
const PAUSE: Duration = Duration::from_millis(40);

/// The tools of all servers, as a choice of tools names them.
const EVERY_SERVER: &str = "mcp_*_*";

/// How long it is watched whether servers that were woken work.
const WATCHED: Duration = Duration::from_mins(1);

/// Wakes servers, one after the other, in the background, and tells the user which of them do not work.
pub(crate) fn wake(hub: &Hub, servers: &[String], session: Option<SessionId>) {
    if servers.is_empty() {
        return;
    }
    let (mcp, events, servers) = (hub.mind.mcp.clone(), hub.events.clone(), servers.to_vec());
    hub.scope.spawn(async move {
        for server in &servers {
            tokio::time::sleep(PAUSE).await;
            mcp.wake(std::slice::from_ref(server));
        }
        let Some(session) = session else { return };
        let tell = |text| events.publish(Event::Notice { session: Some(session), text });
        tokio::time::timeout(WATCHED, tell_broken(&mcp, servers, tell)).await.ok();
    });
}

/// Tells of each server that does not work, until all work or do not.
async fn tell_broken(mcp: &Mcp, mut open: Vec<String>, tell: impl Fn(String)) {
    loop {
        let states = mcp.states();
        open.retain(|name| {
            let Some(state) = states.iter().find(|state| state.name == *name) else { return false };
            let is_broken = state.state.starts_with("broken");
            if is_broken {
                tell(format!("The MCP server {name} is {}", state.state));
            }
            !is_broken && !state.state.starts_with("ready")
        });
        if open.is_empty() {
            return;
        }
        mcp.stirred().await;
    }
}

/// What MCP servers lend a session that is being opened.
pub(crate) fn lending(
    mind: &Mind,
    (options, kin): (&Options, &Kin),
    folder: &std::path::Path,
    sampling: Sampling,
) -> Lending {
    if kin.is_confined() || !reaches(&options.tools) {
        return Lending::none();
    }
    let mut servers = options.servers.clone().unwrap_or_else(|| {
        let mut servers = mind.mcp.names();
        servers.extend(of_plugins(mind, &mind.shelf.look(folder)));
        servers
    });
    servers.retain(|server| mind.mcp.is_on(server));
    if servers.is_empty() {
        return Lending::none();
    }
    let (wanted, rules) = (options.tools.clone(), options.rules.clone());
    let disabled = mind.config.options.disabled_tools.clone();
    let admits = move |server: &str, tool: &str| {
        let (ours, theirs) = (name::plain(server, tool), names::mcp(server, tool));
        let is_disabled = disabled.iter().any(|name| *name == ours || *name == theirs);
        !is_disabled && toolset::includes(&wanted, &ours) && !rules.removes(&theirs)
    };
    Lending::new(mind.mcp.clone(), servers, Arc::new(admits), Arc::new(sampling))
}

/// Whether a choice of tools leaves any of a server's.
fn reaches(tools: &Tools) -> bool {
    match tools {
        Tools::All => true,
        Tools::But(of, names) => reaches(of) && !names.iter().any(|name| name == EVERY_SERVER),
        Tools::Only(names) => names.iter().any(|name| name.starts_with("mcp_") || name == USE_TOOL),
        Tools::None => false,
    }
}

/// Takes note of the servers whose words are in a branch.
pub(crate) fn recall(lending: &Lending, branch: &[Entry]) {
    let parts = branch.iter().flat_map(|entry| entry.kind.parts());
    for part in parts {
        if let Origin::Mcp(server) = &part.origin {
            lending.has_told(server);
        }
    }
}
