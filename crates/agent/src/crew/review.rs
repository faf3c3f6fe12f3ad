//! What an agent's file asks for that is not here. It is used all the same: what is missing is left out.

use base::protocol::ModelChoice;
use guard::rule::names;
use serde_json::Value;
use settings::Config;
use settings::definition::{Agent, Definitions};

use super::model;
use super::word::{Part, Word, is_all};

/// What there is to ask for.
#[derive(Debug)]
pub struct Around<'a> {
    /// The settings.
    pub config: &'a Config,
    /// The models that are listed.
    pub models: &'a [ModelChoice],
    /// Skills, and servers of plugins.
    pub definitions: &'a Definitions,
}

/// What of an agent's wishes cannot be met, a sentence each.
pub fn review(agent: &Agent, around: &Around<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let wanted = agent.tools.iter().flatten().map(|word| ("tools", word, "the tool is not given"));
    let taken = agent.disallowed_tools.iter();
    let taken = taken.map(|word| ("disallowedTools", word, "the whole tool is taken away"));
    for (key, word, so) in wanted.chain(taken).filter(|(_, word, _)| !is_all(word)) {
        let Word { tools, part } = Word::read(word);
        if tools.is_empty() {
            notes.push(format!("`{key}`: there is no tool `{word}`; it is left out"));
        } else if let Part::Unclear(why) = part {
            notes.push(format!("`{key}`: `{word}`: {why}; {so}"));
        }
    }
    let is_model = |word: &&String| !model::is_known(word, &around.config.agents, around.models);
    notes.extend(agent.model.as_ref().filter(is_model).map(|word| {
        format!("there is no model `{word}` here; it works with its caller's, or set agents.models")
    }));
    let is_missing = |name: &&String| around.definitions.skill(name).is_none();
    let skills = agent.skills.iter().filter(is_missing);
    notes.extend(skills.map(|name| format!("there is no skill `{name}`; it is left out")));
    let servers = agent.mcp_servers.iter().filter_map(Value::as_str);
    let servers = servers.filter(|name| !is_server(name, around));
    notes.extend(servers.map(|name| format!("there is no MCP server `{name}`; it is left out")));
    notes
}

fn is_server(name: &str, around: &Around<'_>) -> bool {
    let of_plugins = around.definitions.plugins.iter().flat_map(|plugin| {
        plugin.mcp_servers.keys().map(move |server| format!("plugin_{}_{server}", plugin.name))
    });
    let mut known = around.config.mcp.keys().cloned().chain(of_plugins);
    known.any(|known| names::server(&known) == names::server(name))
}
