//! MCP servers of the editor's, as our settings would name them.

use std::collections::BTreeMap;

use agent_client_protocol_schema::v1::McpServer as Named;
use settings::{McpServer, McpTransport, Template};

use super::{Ground, Lend, invalid};
use crate::rpc::Fault;

/// Makes servers known to the mind that works somewhere. Connects to none.
pub(super) fn lend(lend: &Lend, ground: &Ground, servers: &[Named]) -> Result<(), Fault> {
    for server in servers {
        let (name, server) = of(server)?;
        lend(ground, &name, &server);
    }
    Ok(())
}

fn of(server: &Named) -> Result<(String, McpServer), Fault> {
    let on = |transport, url: &str, headers| {
        let url = Some(literal(url)?);
        Ok(McpServer { transport: Some(transport), url, headers, ..McpServer::default() })
    };
    match server {
        Named::Http(http) => {
            let headers = literals(http.headers.iter().map(|it| (&it.name, &it.value)))?;
            Ok((http.name.clone(), on(McpTransport::Http, &http.url, headers)?))
        }
        Named::Sse(sse) => {
            let headers = literals(sse.headers.iter().map(|it| (&it.name, &it.value)))?;
            Ok((sse.name.clone(), on(McpTransport::Sse, &sse.url, headers)?))
        }
        Named::Stdio(stdio) => {
            let command = literal(&stdio.command.display().to_string())?;
            let args = stdio.args.iter().map(|word| literal(word));
            let server = McpServer {
                transport: Some(McpTransport::Stdio),
                command: Some(command),
                args: args.collect::<Result<_, _>>()?,
                env: literals(stdio.env.iter().map(|it| (&it.name, &it.value)))?,
                ..McpServer::default()
            };
            Ok((stdio.name.clone(), server))
        }
        _ => Err(invalid("an MCP server is reached in a way this version does not know")),
    }
}

fn literals<'a>(
    pairs: impl Iterator<Item = (&'a String, &'a String)>,
) -> Result<BTreeMap<String, Template>, Fault> {
    pairs.map(|(name, value)| Ok((name.clone(), literal(value)?))).collect()
}

/// A value that means itself: what an editor sends is no template, so nothing in it may be expanded or run.
fn literal(text: &str) -> Result<Template, Fault> {
    if text.contains("\\$") {
        return Err(invalid("a setting of an MCP server holds a backslash before a dollar sign"));
    }
    Ok(Template::new(text.replace('$', "$$")))
}

#[cfg(test)]
mod tests {
    use base::Env;
    use serde_json::json;
    use settings::Expander;

    use super::*;

    #[test]
    fn nothing_an_editor_sends_is_expanded() {
        let named = json!({
            "name": "git",
            "command": "/bin/git-mcp",
            "args": ["--token", "$(touch /tmp/x) $HOME ${A:-b}"],
            "env": [{ "name": "KEY", "value": "a$$b" }],
        });
        let (name, server) = of(&serde_json::from_value(named).unwrap()).unwrap();
        let env = Env::default().with([("HOME".to_owned(), "/home/u".to_owned())]);
        let expander = Expander { env: &env, runner: None };
        assert_eq!((name.as_str(), server.transport), ("git", Some(McpTransport::Stdio)));
        let text = |template: &Template| expander.text(template).unwrap();
        assert_eq!(text(&server.args[1]), "$(touch /tmp/x) $HOME ${A:-b}");
        assert_eq!(text(&server.env["KEY"]), "a$$b");
        assert!(literal("a\\$b").is_err());
    }

    #[test]
    fn servers_on_the_network_keep_their_headers() {
        for (kind, transport) in [("http", McpTransport::Http), ("sse", McpTransport::Sse)] {
            let headers = json!([{ "name": "Authorization", "value": "Bearer x" }]);
            let named = json!({ "type": kind, "name": "n", "url": "https://x.test/mcp", "headers": headers });
            let (_, server) = of(&serde_json::from_value(named).unwrap()).unwrap();
            assert_eq!(server.transport, Some(transport));
            assert_eq!(server.headers["Authorization"].as_str(), "Bearer x");
        }
    }
}
