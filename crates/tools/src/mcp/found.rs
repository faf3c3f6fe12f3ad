//! What a call means: `use_tool` and the names models call tools by lead to a tool, a list or a resource.

use std::sync::Arc;

use guard::rule::names;
use serde_json::{Map, Value};

use super::lent::Lent;
use super::list::List;
use super::resource::Read;
use super::{Lending, RESOURCES, USE_TOOL};
use crate::registry::AnyTool;
use crate::tool::ToolError;

/// What a call means.
pub struct Found {
    /// The tool that is called: its name is the one that rules and hooks know.
    pub tool: Arc<dyn AnyTool>,
    /// What it is called with.
    pub input: Map<String, Value>,
}

impl Lending {
    /// What a call of a lent tool, or of one that leads to them, means; none for any other tool.
    pub fn find(&self, name: &str, input: &Map<String, Value>) -> Option<Result<Found, ToolError>> {
        match name {
            USE_TOOL => Some(self.used(input.clone())),
            RESOURCES => Some(self.resource(input.clone())),
            _ if name.starts_with("mcp_") => Some(self.named(name, input.clone())),
            _ => None,
        }
    }

    /// What `use_tool` is to call. Models put the input into a text, or beside the name.
    fn used(&self, mut input: Map<String, Value>) -> Result<Found, ToolError> {
        let name = ["name", "tool", "tool_name"].iter().find_map(|key| input.remove(*key));
        let Some(Value::String(name)) = name else {
            let text = "say which tool in `name`, and its arguments in `input`";
            return Err(ToolError::Arguments(text.to_owned()));
        };
        let inner = ["input", "arguments", "args"].iter().find_map(|key| input.remove(*key));
        let is_bare = inner.is_none() && input.is_empty();
        let input = match inner {
            None => input,
            Some(Value::Null) => Map::new(),
            Some(Value::Object(inner)) => inner,
            Some(Value::String(text)) if text.trim().is_empty() => Map::new(),
            Some(Value::String(text)) => serde_json::from_str(&text).map_err(|_| {
                ToolError::Arguments("`input` is a text that is no JSON object".to_owned())
            })?,
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
                return Err(ToolError::Arguments("`input` must be an object".to_owned()));
            }
        };
        match name.trim() {
            RESOURCES => self.resource(input),
            name => match self.meant(name)? {
                // Whoever says nothing may not know what there is to say.
                Some(lent) if is_bare && lent.takes_input() => {
                    Err(lent.unfit("`input` is missing; {} says nothing"))
                }
                Some(tool) => Ok(Found { tool, input }),
                None => self.list_for(name),
            },
        }
    }

    fn named(&self, name: &str, input: Map<String, Value>) -> Result<Found, ToolError> {
        match self.meant(name)? {
            Some(tool) => Ok(Found { tool, input }),
            None => self.list_for(name),
        }
    }

    /// The tool a name means; none where there is no such tool.
    fn meant(&self, name: &str) -> Result<Option<Arc<Lent>>, ToolError> {
        let tools = self.tools();
        if let Some(tool) = tools.iter().find(|tool| tool.shown() == name) {
            return Ok(Some(tool.clone()));
        }
        let is_meant = |tool: &&Arc<Lent>| {
            tool.name() == name || names::ours(tool.name()).contains(&name.to_owned())
        };
        let meant: Vec<&Arc<Lent>> = tools.iter().filter(is_meant).collect();
        match meant.as_slice() {
            [tool] => Ok(Some((*tool).clone())),
            [] => Ok(None),
            several => {
                let names: Vec<&str> = several.iter().map(|tool| tool.shown()).collect();
                let text = format!("Several tools are called `{name}`: {}.", names.join(", "));
                Err(ToolError::Refused(text))
            }
        }
    }

    /// The tools of the server that a name begins with.
    fn list_for(&self, name: &str) -> Result<Found, ToolError> {
        let Some((server, rest)) = self.server_in(name) else {
            let servers: Vec<String> = self.servers.iter().map(|it| names::server(it)).collect();
            let text = format!(
                "There is no MCP tool `{name}`. The servers are: {}. {USE_TOOL} with a server's name lists \
                 its tools.",
                servers.join(", ")
            );
            return Err(ToolError::Refused(text));
        };
        let missed = (!rest.is_empty()).then(|| name.to_owned());
        let list = List::Tools { server: server.to_owned(), missed };
        Ok(Found { tool: Arc::new(list), input: Map::new() })
    }

    /// The server a name begins with, and what follows; the longest where there are several.
    fn server_in<'n>(&self, name: &'n str) -> Option<(&str, &'n str)> {
        let bare =
            ["mcp__", "mcp_"].iter().find_map(|head| name.strip_prefix(head)).unwrap_or(name);
        let fits = self.servers.iter().filter_map(|server| {
            if server == name {
                return Some((server.as_str(), ""));
            }
            let rest = bare.strip_prefix(names::server(server).as_str())?;
            (rest.is_empty() || rest.starts_with('_')).then_some((server.as_str(), rest))
        });
        fits.min_by_key(|(_, rest)| rest.len())
    }

    fn resource(&self, mut input: Map<String, Value>) -> Result<Found, ToolError> {
        let mut text = |key: &str| match input.remove(key) {
            Some(Value::String(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            Some(_) | None => None,
        };
        let (server, uri) = (text("server"), text("uri"));
        let unknown = |name: &str| ToolError::Refused(format!("There is no MCP server `{name}`."));
        let server = server.map(|name| match self.server_in(&name) {
            Some((server, "")) => Ok(server.to_owned()),
            Some(_) | None => Err(unknown(&name)),
        });
        let server = server.transpose()?;
        let Some(uri) = uri else {
            return Ok(Found { tool: Arc::new(List::Resources { server }), input: Map::new() });
        };
        let owner = || {
            let has = |(_, resource): &&(String, _)| {
                let resource: &links::mcp::Resource = resource;
                resource.uri == uri
            };
            self.resources().iter().find(has).map(|(server, _)| server.clone())
        };
        let only = || match self.servers.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        };
        let Some(server) = server.or_else(owner).or_else(only) else {
            let text = "say in `server` whose resource it is".to_owned();
            return Err(ToolError::Arguments(text));
        };
        Ok(Found { tool: Arc::new(Read::new(server, uri)), input: Map::new() })
    }
}
