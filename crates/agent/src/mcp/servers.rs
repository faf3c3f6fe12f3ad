//! The servers of a session beside those that are there for everybody: of trusted plugins, and of the agent it
//! runs as.

use guard::rule::names;
use serde_json::{Value, json};
use settings::McpServer;
use settings::definition::{Agent, Definitions, Plugin, Source, Standing};

use crate::mind::Mind;

/// The servers of trusted plugins, which are made known with it. As at Claude Code, their names begin with
/// the plugin's.
pub(crate) fn of_plugins(mind: &Mind, definitions: &Definitions) -> Vec<String> {
    let trusted = definitions.plugins.iter().filter(|it| it.standing == Standing::Trusted);
    let servers = trusted.flat_map(|plugin| {
        let read = plugin.mcp_servers.iter().filter_map(|(name, value)| {
            Some((format!("plugin_{}_{name}", plugin.name), of_plugin(plugin, name, value)?))
        });
        read.collect::<Vec<_>>()
    });
    let added = servers.filter(|(_, server)| !server.disabled).map(|(name, server)| {
        mind.mcp.add_aside(&name, &server);
        name
    });
    added.collect()
}

fn of_plugin(plugin: &Plugin, name: &str, value: &Value) -> Option<McpServer> {
    let folder = plugin.folder.display().to_string();
    let mut value = value.clone();
    put_in(&mut value, &folder);
    if let Some(fields) = value.as_object_mut() {
        let env = fields.entry("env").or_insert_with(|| json!({}));
        if let Some(env) = env.as_object_mut() {
            env.entry("CLAUDE_PLUGIN_ROOT").or_insert_with(|| json!(folder));
        }
    }
    read(name, &value)
}

/// Puts a plugin's folder in where its settings name it.
fn put_in(value: &mut Value, folder: &str) {
    match value {
        Value::String(text) => {
            *text = text
                .replace("${CLAUDE_PLUGIN_ROOT}", folder)
                .replace("${CAIMAN_PLUGIN_ROOT}", folder);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| put_in(item, folder)),
        Value::Object(fields) => fields.values_mut().for_each(|field| put_in(field, folder)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The servers an agent names or defines; none where it leaves that to its parent. A server that is defined
/// takes the place of no other: where its name is taken, the agent's stands before it. Only a file that may run
/// something defines any, and a plugin's agents do not: the plugin has servers of its own.
pub(crate) fn of_agent(mind: &Mind, agent: &Agent) -> Option<Vec<String>> {
    if agent.mcp_servers.is_empty() {
        return None;
    }
    let is_plugin = matches!(agent.home.source, Source::Plugin(_));
    let may_define = agent.home.standing == Standing::Trusted && !is_plugin;
    let mut servers = Vec::new();
    for entry in &agent.mcp_servers {
        match entry {
            Value::String(name) => servers.extend(known(mind, name)),
            Value::Object(_) if !may_define => {}
            Value::Object(defined) => {
                for (name, value) in defined {
                    let Some(server) = read(name, value) else { continue };
                    let is_taken = mind.mcp.names().contains(name)
                        && mind.config.mcp.get(name) != Some(&server);
                    let name =
                        if is_taken { format!("{}_{name}", agent.name) } else { name.clone() };
                    mind.mcp.add_aside(&name, &server);
                    servers.push(name);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
        }
    }
    Some(servers)
}

/// A server that is there, by its own name or as it stands in the names of its tools.
fn known(mind: &Mind, name: &str) -> Option<String> {
    let names: Vec<String> = mind.mcp.states().into_iter().map(|state| state.name).collect();
    let exact = names.iter().find(|known| *known == name);
    let is_it = |known: &&String| names::server(known) == names::server(name);
    exact.or_else(|| names.iter().find(is_it)).cloned()
}

/// A server's settings as other programs write them.
fn read(name: &str, value: &Value) -> Option<McpServer> {
    let text = json!({ "mcpServers": { name: value } }).to_string();
    settings::parse_text("mcpServers", &text).config.mcp.remove(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use settings::Template;
    use settings::definition::Hooks;

    use super::*;

    #[test]
    fn a_plugins_folder_is_put_in() {
        let plugin = Plugin {
            name: "p".to_owned(),
            version: None,
            description: None,
            folder: "/plugins/p".into(),
            hooks: Hooks::new(),
            mcp_servers: BTreeMap::new(),
            standing: Standing::Trusted,
        };
        let value = json!({
            "command": "${CLAUDE_PLUGIN_ROOT}/run", "args": ["--at=${CLAUDE_PLUGIN_ROOT}"], "timeout": 2500,
        });
        let server = of_plugin(&plugin, "s", &value).unwrap();
        assert_eq!(server.command, Some(Template::new("/plugins/p/run")));
        assert_eq!(server.args, [Template::new("--at=/plugins/p")]);
        assert_eq!(server.env["CLAUDE_PLUGIN_ROOT"], Template::new("/plugins/p"));
        assert_eq!(server.timeout_s, Some(3));
        assert_eq!(of_plugin(&plugin, "s", &json!(5)), None);
    }
}
