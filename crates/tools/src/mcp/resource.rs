//! Reading what a server lets be read.

use std::sync::Arc;

use base::{Block, Origin};
use futures::future::BoxFuture;
use guard::Action;
use guard::rule::names;
use serde_json::{Map, Value, json};

use super::borrow::Borrowing;
use super::lent::{bounded, failed};
use super::said::Reader;
use crate::registry::{AnyCall, AnyTool};
use crate::tool::{Effect, Output, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// What rules call reading a server's resources, as if it were one of its tools.
const TOOL: &str = "resources";

/// A resource to read.
pub(super) struct Read {
    name: String,
    server: String,
    uri: String,
}

impl Read {
    pub(super) fn new(server: String, uri: String) -> Self {
        Self { name: names::mcp(&server, TOOL), server, uri }
    }
}

impl AnyTool for Read {
    fn name(&self) -> &str {
        &self.name
    }

    fn effect(&self) -> Effect {
        Effect::Apart
    }

    fn description(&self) -> String {
        String::new()
    }

    fn schema(&self) -> Value {
        json!({})
    }

    fn prepare(self: Arc<Self>, _: Map<String, Value>) -> Result<Box<dyn AnyCall>, ToolError> {
        Ok(Box::new(Reading(self)))
    }
}

struct Reading(Arc<Read>);

impl AnyCall for Reading {
    fn title(&self) -> String {
        format!("{}: {}", self.0.server, self.0.uri)
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
            let Read { server, uri, .. } = &*self.0;
            let Some(mcp) = &ctx.workspace.mcp.mcp else { return Err(ToolError::Cancelled) };
            let borrower = Arc::new(Borrowing::of_call(server, ctx));
            let reading = ctx.cancel.run_until_cancelled(mcp.read(server, uri, borrower));
            let content = reading.await.ok_or(ToolError::Cancelled)?;
            let content = content.map_err(|error| failed(&error, server))?;
            let reader = Reader::of(&ctx.workspace, ctx.call.as_str());
            let (text, files) = reader.words_of(content);
            let text =
                if text.is_empty() && files.is_empty() { "(empty)".to_owned() } else { text };
            let output = Output::text(bounded(&text, ctx)).from(Origin::Mcp(server.clone()));
            Ok(Output { files, ..output })
        })
    }
}
