//! What the protocol's conformance suite needs besides: it starts us with variables that name a scenario, and
//! has no browser. All that is only for the suite is in this file; `scripts/conformance` runs it.

use base::{Env, Secret};
use futures::future::BoxFuture;
use links::mcp::connection::Lifecycle;
use links::mcp::{Outside, SignInError, Tool, Visitor};
use serde::Deserialize;
use serde_json::json;
use settings::Template;
use url::Url;

use super::Arguments;
use crate::commands::mcp::connect::Server;
use crate::failure::Failure;

/// The document the suite takes for ours where a server accepts such; nobody fetches it.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
/// Where its sign-in page is told to lead back to; nobody listens there.
const REDIRECT: &str = "http://localhost:3000/callback";
/// The tool that wants to be shown the schema of another.
const SCHEMA_ECHO: (&str, &str) = ("json_schema_echo", "json_schema_2020_12_tool");

/// A scenario of the suite.
#[derive(Debug)]
pub(super) struct Suite {
    context: Context,
    lifecycle: Lifecycle,
}

/// What a scenario gives its client.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Context {
    client_id: Option<String>,
    client_secret: Option<Secret>,
    #[serde(rename = "toolCalls")]
    tool_calls: Vec<ToolCall>,
}

#[derive(Debug, Deserialize)]
struct ToolCall {
    name: String,
    arguments: Arguments,
}

impl Suite {
    /// The scenario that the environment names.
    pub(super) fn of(env: &Env) -> Result<Option<Self>, Failure> {
        if env.get("MCP_CONFORMANCE_SCENARIO").is_none() {
            return Ok(None);
        }
        let text = env.get("MCP_CONFORMANCE_CONTEXT").unwrap_or("{}");
        let context = serde_json::from_str(text)
            .map_err(|error| Failure::user(format!("MCP_CONFORMANCE_CONTEXT: {error}")))?;
        let is_older = env.get("MCP_CONFORMANCE_PROTOCOL_VERSION").is_some_and(|it| it < "2026");
        let lifecycle = if is_older { Lifecycle::Older } else { Lifecycle::Newest };
        Ok(Some(Self { context, lifecycle }))
    }

    /// Sets what the scenario wants.
    pub(super) fn prepare(&self, server: &mut Server) {
        let id = self.context.client_id.as_deref().unwrap_or(DOCUMENT);
        server.settings.oauth_client_id = Some(Template::new(id));
        server.settings.oauth_client_secret.clone_from(&self.context.client_secret);
        server.lifecycle = self.lifecycle;
    }

    /// The calls the scenario names, else one of each tool.
    pub(super) fn calls(
        &self,
        tools: &[Tool],
        made_up: impl Fn(&Tool) -> Arguments,
    ) -> Vec<(Tool, Arguments)> {
        let named = |tool: &Tool| {
            let mut named = self.context.tool_calls.iter().filter(|call| call.name == tool.name);
            named.next().map(|call| call.arguments.clone())
        };
        let is_called = |tool: &&Tool| self.context.tool_calls.is_empty() || named(tool).is_some();
        let arguments = |tool: &Tool| {
            if tool.name == SCHEMA_ECHO.0
                && let Some(focal) = tools.iter().find(|tool| tool.name == SCHEMA_ECHO.1)
            {
                return Arguments::from_iter([("schema".to_owned(), json!(focal.schema))]);
            }
            named(tool).unwrap_or_else(|| made_up(tool))
        };
        tools.iter().filter(is_called).map(|tool| (tool.clone(), arguments(tool))).collect()
    }
}

/// Goes where a sign-in page leads at once, as those of the suite do.
pub(super) struct Follower {
    pub(super) outside: Outside,
}

impl Visitor for Follower {
    fn redirect(&self) -> &str {
        REDIRECT
    }

    fn visit<'a>(&'a self, page: &'a Url) -> BoxFuture<'a, Result<Url, SignInError>> {
        Box::pin(async move {
            let client = (self.outside.dial)(page).map_err(SignInError::Failed)?;
            let answer = client.get(page.clone()).send().await;
            let answer = answer.map_err(|error| SignInError::Failed(error.to_string()))?;
            let location = answer.headers().get("location").and_then(|it| it.to_str().ok());
            let back = location.and_then(|location| page.join(location).ok());
            back.ok_or_else(|| SignInError::Refused("the page led nowhere".to_owned()))
        })
    }
}
