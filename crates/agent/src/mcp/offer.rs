//! The lent tools a model is offered, and those it is told of later. Both are bounded: schemas go out by
//! themselves while they fit a budget, the rest is names in the description of `use_tool`.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::transcript::{self, Seen, ToolSpec};
use base::{Entry, EntryKind, Origin, Part, PartBody};
use tools::AnyTool;
use tools::mcp::{self, Lent, RESOURCES, USE_TOOL, lines};

use crate::mind::Tools;
use crate::session::Session;
use crate::{tokens, toolset};

/// What `use_tool` is for.
const ABOUT: &str = "Call a tool of an MCP server by name. If the input does not fit, you get its schema. With \
a server as name, you get its tools.";
/// Begins the list in it.
const HEAD: &str = "The tools:";
/// Begins what is told later.
const NEWS: &str = "Tools of MCP servers that have been added; call them with use_tool:";
/// What `mcp_resources` is for.
const ABOUT_RESOURCES: &str = "List or read what MCP servers let be read.";
/// Bytes of the list in `use_tool`: about 2,000 tokens.
const LIST_BYTES: usize = 8_000;
/// Bytes of what is told later.
const NEWS_BYTES: usize = 4_000;
/// Begins the line that says how many tools of a server are left out.
const MORE: &str = "- and ";

/// Whether a tool is lent, or leads to those that are.
pub(crate) fn is_lent(name: &str) -> bool {
    name == USE_TOOL || name.starts_with("mcp_")
}

impl Session {
    /// The lent tools the model is offered: as they were offered first, in this process or another.
    pub(crate) fn lent_specs(&self, wanted: &Tools) -> Vec<ToolSpec> {
        let (_, known) = self.prefix().unwrap_or_default();
        let mut specs: Vec<ToolSpec> =
            known.iter().filter(|tool| is_lent(&tool.name)).cloned().collect();
        if specs.is_empty() && !self.workspace.mcp.servers().is_empty() {
            specs = self.fresh_specs();
        }
        let disabled = &self.mind.config.options.disabled_tools;
        let is_wanted = |name: &str| match name {
            USE_TOOL | RESOURCES => super::reaches(wanted),
            _ => toolset::includes(wanted, name),
        };
        specs.retain(|tool| is_wanted(&tool.name) && !disabled.contains(&tool.name));
        specs
    }

    fn fresh_specs(&self) -> Vec<ToolSpec> {
        let lending = &self.workspace.mcp;
        let mut left = self.mind.config.options.mcp_schema_tokens;
        let (mut specs, mut listed) = (Vec::new(), Vec::new());
        for of_server in lending.tools().chunk_by(|one, other| one.server() == other.server()) {
            let whole: Vec<ToolSpec> = of_server.iter().map(spec).collect();
            let is_free = of_server.first().is_some_and(|tool| lending.loads_always(tool.server()));
            let cost = if is_free { 0 } else { tokens::of_tools(&whole) };
            match left.checked_sub(cost) {
                Some(rest) => {
                    left = rest;
                    specs.extend(whole);
                }
                None => listed.extend(of_server.iter().cloned()),
            }
        }
        if lending.has_resources() {
            specs.push(ToolSpec {
                name: RESOURCES.to_owned(),
                description: ABOUT_RESOURCES.to_owned(),
                schema: mcp::resources_schema(),
            });
        }
        specs.push(ToolSpec {
            name: USE_TOOL.to_owned(),
            description: about(&listed, &lending.silent()),
            schema: mcp::use_tool_schema(),
        });
        specs
    }

    /// What the next prompt must say of lent tools; none while the model knows them. `before` is what comes
    /// between the branch and the prompt.
    pub(crate) fn lent_news(&self, before: &[Entry]) -> Option<Part> {
        if self.workspace.mcp.servers().is_empty() {
            return None;
        }
        let (_, tools) = transcript::prefix(before).or_else(|| self.prefix())?;
        let known = Known::of(tools, &self.branch)?;
        let tools = self.workspace.mcp.tools();
        let fresh: Vec<Arc<Lent>> = tools.into_iter().filter(|it| !known.covers(it)).collect();
        if fresh.is_empty() {
            return None;
        }
        let text = format!("{NEWS}\n{}", lines(&fresh, NEWS_BYTES));
        Some(Part::new(PartBody::Text { text }, Origin::System))
    }
}

fn spec(tool: &Arc<Lent>) -> ToolSpec {
    ToolSpec {
        name: tool.shown().to_owned(),
        description: tool.description(),
        schema: tool.schema(),
    }
}

fn about(listed: &[Arc<Lent>], silent: &[&str]) -> String {
    let mut text = ABOUT.to_owned();
    if !listed.is_empty() {
        text = format!("{text} {HEAD}\n{}", lines(listed, LIST_BYTES));
    }
    if !silent.is_empty() {
        let silent: Vec<String> =
            silent.iter().map(|name| guard::rule::names::server(name)).collect();
        text = format!("{text}\nServers whose tools are not known yet: {}.", silent.join(", "));
    }
    text
}

/// What a model knows of lent tools.
struct Known {
    names: BTreeSet<String>,
    /// Servers of which not all tools were named.
    in_part: BTreeSet<String>,
}

impl Known {
    /// What it was offered, and what it was told since and still has before it; none where it cannot call
    /// tools by name.
    fn of(tools: &[ToolSpec], branch: &[Entry]) -> Option<Self> {
        let by_name = tools.iter().find(|tool| tool.name == USE_TOOL)?;
        let mut known = Self {
            names: tools.iter().map(|tool| tool.name.clone()).collect(),
            in_part: BTreeSet::new(),
        };
        known.read(&by_name.description);
        for entry in Seen::of(branch).entries {
            let EntryKind::User { parts } = &entry.kind else { continue };
            let told = parts.iter().filter(|part| part.origin == Origin::System);
            for text in told.filter_map(Part::as_text).filter(|text| text.starts_with(NEWS)) {
                known.read(text);
            }
        }
        Some(known)
    }

    fn read(&mut self, list: &str) {
        for line in list.lines() {
            if let Some(more) = line.strip_prefix(MORE) {
                self.in_part.extend(more.split_once(" more of ").map(|(_, name)| name.to_owned()));
            } else if let Some(line) = line.strip_prefix("- ") {
                let name = line.split_once(':').map_or(line, |(name, _)| name);
                self.names.insert(name.to_owned());
            }
        }
    }

    fn covers(&self, tool: &Lent) -> bool {
        self.names.contains(tool.shown()) || self.in_part.contains(tool.server())
    }
}
