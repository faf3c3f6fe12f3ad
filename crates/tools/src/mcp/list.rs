//! What servers lend, as a list: told by `use_tool` to whoever names a server, and by `mcp_resources`.

use std::sync::Arc;
use std::time::Duration;

use base::{Block, Origin};
use futures::future::BoxFuture;
use guard::Action;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{Lending, Lent, USE_TOOL};
use crate::registry::{AnyCall, AnyTool};
use crate::tool::{Effect, Output, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// How long a description may be, in characters; the first at which all lines fit.
const DESCRIPTION_CHARS: [usize; 3] = [100, 50, 0];
/// How long is waited for a server that has not told what it lends.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often is looked meanwhile, whether or not something happens.
const LOOK: Duration = Duration::from_millis(250);
/// Bytes of a list that somebody asked for.
const ASKED_BYTES: usize = 20_000;
/// Resources that are listed.
const RESOURCES: usize = 200;

/// Tools, a line each, in at most `bytes`: descriptions are cut before names are left out, and who is left
/// out is said by server.
pub fn lines(tools: &[Arc<Lent>], bytes: usize) -> String {
    let list = |chars: usize| tools.iter().map(|tool| line(tool, chars)).collect::<Vec<_>>();
    let size = |lines: &[String]| lines.iter().map(|line| line.len() + 1).sum::<usize>();
    let fitting = DESCRIPTION_CHARS.into_iter().map(list).find(|lines| size(lines) <= bytes);
    if let Some(lines) = fitting {
        return lines.join("\n");
    }
    let mut lines = list(0);
    let mut left_out: Vec<(&str, usize)> = Vec::new();
    while size(&lines) > bytes && lines.pop().is_some() {
        let server = tools[lines.len()].server();
        match left_out.last_mut() {
            Some((known, count)) if *known == server => *count += 1,
            Some(_) | None => left_out.push((server, 1)),
        }
    }
    let more = left_out.iter().rev();
    lines.extend(more.map(|(server, count)| format!("- and {count} more of {server}")));
    lines.join("\n")
}

fn line(tool: &Lent, chars: usize) -> String {
    let about = tool.about(chars);
    if about.is_empty() {
        format!("- {}", tool.shown())
    } else {
        format!("- {}: {about}", tool.shown())
    }
}

/// A list of what servers lend.
pub(super) enum List {
    /// The tools of a server, of which the call has named one that is not known.
    Tools { server: String, missed: Option<String> },
    /// What can be read, of one server or all.
    Resources { server: Option<String> },
}

impl AnyTool for List {
    fn name(&self) -> &str {
        USE_TOOL
    }

    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn description(&self) -> String {
        String::new()
    }

    fn schema(&self) -> Value {
        json!({})
    }

    fn prepare(self: Arc<Self>, _: Map<String, Value>) -> Result<Box<dyn AnyCall>, ToolError> {
        Ok(Box::new(Listing(self)))
    }
}

struct Listing(Arc<List>);

impl AnyCall for Listing {
    fn title(&self) -> String {
        match &*self.0 {
            List::Tools { server, .. } => format!("tools of {server}"),
            List::Resources { server: Some(server) } => format!("resources of {server}"),
            List::Resources { server: None } => "resources of all servers".to_owned(),
        }
    }

    fn foresee<'a>(&'a self, _: &'a Arc<Workspace>) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async { Ok(()) })
    }

    fn actions(&self, _: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Inner])
    }

    fn preview<'a>(&'a self, _: &'a ToolCtx) -> BoxFuture<'a, Option<Block>> {
        Box::pin(async { None })
    }

    fn run(self: Box<Self>, ctx: &ToolCtx) -> BoxFuture<'_, Result<Output, ToolError>> {
        Box::pin(async move {
            let lending = &ctx.workspace.mcp;
            match &*self.0 {
                List::Tools { server, missed } => {
                    lending.await_menu(server, &ctx.cancel).await?;
                    Ok(tools_of(lending, server, missed.as_deref()))
                }
                List::Resources { server } => {
                    if let Some(server) = server {
                        lending.await_menu(server, &ctx.cancel).await?;
                    }
                    Ok(resources_of(lending, server.as_deref()))
                }
            }
        })
    }
}

impl Lending {
    /// Waits until a server has told what it lends, though not for long, and not for one that breaks.
    pub async fn await_menu(
        &self,
        server: &str,
        cancel: &CancellationToken,
    ) -> Result<(), ToolError> {
        let (None, Some(mcp)) = (self.menu(server), &self.mcp) else { return Ok(()) };
        let state = || {
            let found = mcp.states().into_iter().find(|state| state.name == server);
            found.map_or_else(|| "not there".to_owned(), |it| it.state)
        };
        mcp.wake(&[server.to_owned()]);
        let told = async {
            while self.menu(server).is_none() && !state().starts_with("broken") {
                // What happens between the look and the wait is seen at the next look.
                tokio::time::timeout(LOOK, mcp.stirred()).await.ok();
            }
        };
        let waited = cancel.run_until_cancelled(tokio::time::timeout(PATIENCE, told)).await;
        waited.ok_or(ToolError::Cancelled)?.ok();
        if self.menu(server).is_some() {
            return Ok(());
        }
        let state = state();
        let text = format!("The MCP server {server} has not told what it lends: {state}.");
        let origin = Origin::Mcp(server.to_owned());
        Err(ToolError::Told { text, origin, files: Vec::new() })
    }
}

fn tools_of(lending: &Lending, server: &str, missed: Option<&str>) -> Output {
    let tools = lending.tools();
    let own: Vec<Arc<Lent>> = tools.into_iter().filter(|tool| tool.server() == server).collect();
    let missed = missed.map(|name| format!("There is no tool `{name}`. ")).unwrap_or_default();
    let text = if own.is_empty() {
        format!("{missed}The MCP server {server} lends no tools.")
    } else {
        let lines = lines(&own, ASKED_BYTES);
        format!("{missed}Tools of the MCP server {server}, for {USE_TOOL}:\n{lines}")
    };
    Output::text(text).from(Origin::Mcp(server.to_owned()))
}

fn resources_of(lending: &Lending, server: Option<&str>) -> Output {
    let all = lending.resources();
    let wanted = all.iter().filter(|(of, _)| server.is_none_or(|server| server == of));
    let mut lines: Vec<String> = wanted
        .map(|(server, it)| {
            let about = if it.description.is_empty() { &it.name } else { &it.description };
            let about: String = about.split_whitespace().collect::<Vec<_>>().join(" ");
            let about: String = about.chars().take(DESCRIPTION_CHARS[0]).collect();
            format!("- {server}: {} {about}", it.uri)
        })
        .collect();
    let count = lines.len();
    lines.truncate(RESOURCES);
    if count > RESOURCES {
        lines.push(format!("- and {} more", count - RESOURCES));
    }
    let text =
        if lines.is_empty() { "There is nothing to read.".to_owned() } else { lines.join("\n") };
    let origin = server.or(all.first().map(|(server, _)| server.as_str()));
    match origin {
        Some(server) => Output::text(text).from(Origin::Mcp(server.to_owned())),
        None => Output::text(text).from(Origin::System),
    }
}
