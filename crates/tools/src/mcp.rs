//! Tools that MCP servers lend: what a model calls them, what it means by a call, and what came of it.
//!
//! A lent tool has two names. The model calls it `mcp_<server>_<tool>` ([`name`]); rules, hooks and whoever
//! is asked know it by Claude Code's `mcp__<server>__<tool>`, whichever way it was called. What does not fit
//! into a request by itself is called by `use_tool`, which is nothing but a way to another tool: it is that
//! tool that is judged.
//!
//! | module | does |
//! |---|---|
//! | [`name`] | names for models: plain, short, unique |
//! | `found` | what a call means: a tool, a list, a resource |
//! | `lent` | calling a tool, and its answer in words |
//! | `list` | what a server lends, told when somebody asks |
//! | `resource` | reading what a server lets be read |
//! | `said` | what a server says, for a model |
//! | `check` | whether arguments fit a schema |
//! | `borrow`, `form` | what servers ask back while they work |

mod borrow;
mod check;
pub mod form;
mod found;
mod lent;
mod list;
pub mod name;
mod resource;
mod said;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use base::CallId;
use futures::future::BoxFuture;
use links::Mcp;
use links::mcp::{Menu, Resource, Sampled, Sampling};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub use borrow::Borrowing;
pub use found::Found;
pub use lent::Lent;
pub use list::lines;
pub use said::Reader;

/// The tool that calls lent tools by their names.
pub const USE_TOOL: &str = "use_tool";
/// The tool that lists and reads resources.
pub const RESOURCES: &str = "mcp_resources";
/// Bytes of a server's instructions that are told.
const INSTRUCTIONS: usize = 2_000;

/// Decides whether a session may use a tool, by server and tool.
pub type Admits = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// Has a model answer for a server. The mind implements it.
pub trait Sampler: Send + Sync {
    /// Asks whoever must be asked, then a model; the text of a failure goes to the server.
    fn sample<'a>(
        &'a self,
        server: &'a str,
        asked: Sampling,
        by: &'a Asker,
    ) -> BoxFuture<'a, Result<Sampled, String>>;
}

/// The call for which a server asks something.
#[derive(Debug, Clone)]
pub struct Asker {
    /// The call.
    pub call: CallId,
    /// Ends it.
    pub cancel: CancellationToken,
}

/// What MCP servers lend one session.
pub struct Lending {
    mcp: Option<Mcp>,
    /// Its servers, by name.
    servers: Vec<String>,
    admits: Admits,
    sampler: Arc<dyn Sampler>,
    /// Servers whose instructions the model has read.
    told: Mutex<BTreeSet<String>>,
}

impl fmt::Debug for Lending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lending").field("servers", &self.servers).finish_non_exhaustive()
    }
}

impl Lending {
    /// Nobody lends anything.
    pub fn none() -> Self {
        Self {
            mcp: None,
            servers: Vec::new(),
            admits: Arc::new(|_, _| false),
            sampler: Arc::new(NoModel),
            told: Mutex::default(),
        }
    }

    /// What `servers` lend to a session, as far as it admits their tools.
    pub fn new(
        mcp: Mcp,
        mut servers: Vec<String>,
        admits: Admits,
        sampler: Arc<dyn Sampler>,
    ) -> Self {
        servers.sort_unstable();
        servers.dedup();
        Self { mcp: Some(mcp), servers, admits, sampler, told: Mutex::default() }
    }

    /// The session's servers, by name.
    pub fn servers(&self) -> &[String] {
        &self.servers
    }

    /// What a server of the session lends, as far as that is known.
    pub fn menu(&self, server: &str) -> Option<Arc<Menu>> {
        self.mcp.as_ref()?.menu(self.servers.iter().find(|known| *known == server)?)
    }

    /// The tools that can be called now, by server and in each server's order.
    pub fn tools(&self) -> Vec<Arc<Lent>> {
        let menus = self.servers.iter().filter_map(|server| Some((server, self.menu(server)?)));
        let mut tools = Vec::new();
        for (server, menu) in menus {
            let mut seen = BTreeSet::new();
            for (at, tool) in menu.tools.iter().enumerate() {
                if (self.admits)(server, &tool.name) && seen.insert(&tool.name) {
                    tools.push((server, menu.clone(), at));
                }
            }
        }
        let real: Vec<(&str, &str)> = tools
            .iter()
            .map(|(server, menu, at)| (server.as_str(), menu.tools[*at].name.as_str()))
            .collect();
        let shown = name::all(&real);
        let lent = tools.into_iter().zip(shown);
        lent.map(|((server, menu, at), name)| Arc::new(Lent::new(name, server, menu, at))).collect()
    }

    /// Whether the settings want all of a server's schemas in every request.
    pub fn loads_always(&self, server: &str) -> bool {
        self.mcp.as_ref().is_some_and(|mcp| mcp.loads_always(server))
    }

    /// The servers that have not told what they lend.
    pub fn silent(&self) -> Vec<&str> {
        let silent = self.servers.iter().filter(|server| self.menu(server).is_none());
        silent.map(String::as_str).collect()
    }

    /// Whether a server of the session has something to read.
    pub fn has_resources(&self) -> bool {
        let menus = self.servers.iter().filter_map(|server| self.menu(server));
        menus.into_iter().any(|menu| menu.has_resources || !menu.resources.is_empty())
    }

    /// What servers let be read, as far as they have told.
    pub fn resources(&self) -> Vec<(String, Resource)> {
        let menus = self.servers.iter().filter_map(|server| Some((server, self.menu(server)?)));
        let all = menus.flat_map(|(server, menu)| {
            let resources = menu.resources.clone();
            resources.into_iter().map(move |resource| (server.clone(), resource))
        });
        all.collect()
    }

    /// Takes note that the model has read words of a server already: its instructions are not told again.
    pub fn has_told(&self, server: &str) {
        self.told().insert(server.to_owned());
    }

    /// How a server wants to be used; told once.
    fn instructions(&self, server: &str) -> Option<String> {
        let menu = self.menu(server)?;
        let is_new = self.told().insert(server.to_owned());
        let words = menu.instructions.as_deref().map(str::trim).filter(|it| !it.is_empty())?;
        let end = words.floor_char_boundary(INSTRUCTIONS.min(words.len()));
        let more = if end < words.len() { "…" } else { "" };
        is_new
            .then(|| format!("How the server {server} wants to be used:\n{}{more}", &words[..end]))
    }

    fn told(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The schema of `use_tool`.
pub fn use_tool_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "input": { "type": "object" } },
        "required": ["name"],
    })
}

/// The schema of `mcp_resources`.
pub fn resources_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "server": { "type": "string" },
            "uri": { "type": "string", "description": "What to read; none lists what there is." },
        },
    })
}

/// Where no model answers for servers.
struct NoModel;

impl Sampler for NoModel {
    fn sample<'a>(
        &'a self,
        _: &'a str,
        _: Sampling,
        _: &'a Asker,
    ) -> BoxFuture<'a, Result<Sampled, String>> {
        Box::pin(async { Err("no model answers for servers here".to_owned()) })
    }
}
