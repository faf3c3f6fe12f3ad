//! `call_hierarchy`: who calls a function, and whom it calls.

use guard::Action;
use links::lsp::{Call, Direction};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::code::{Named, PLACES, is_closed, name, reads, refused};
use crate::lenient;
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Who calls a function, or whom it calls.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "path")]
    file_path: Target,
    symbol: String,
    #[serde(default, deserialize_with = "lenient::number")]
    line: Option<u64>,
    direction: Way,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Way {
    Incoming,
    Outgoing,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct CallHierarchy;

impl Tool for CallHierarchy {
    const NAME: &'static str = "call_hierarchy";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        let way = match input.direction {
            Way::Incoming => "callers of",
            Way::Outgoing => "called by",
        };
        format!("{way} {} in {}", input.symbol, input.file_path)
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        reads(&input.file_path, workspace)
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let workspace = &ctx.workspace;
        let named = Named::find(workspace, &input.file_path, input.line, Some(&input.symbol))?;
        let way = match input.direction {
            Way::Incoming => Direction::Incoming,
            Way::Outgoing => Direction::Outgoing,
        };
        let asking = workspace.code.lsp.calls(named.at(), way);
        let asked = ctx.cancel.run_until_cancelled(asking).await.ok_or(ToolError::Cancelled)?;
        let mut calls = asked.map_err(refused)?;
        calls.retain(|call| !is_closed(ctx, &call.place.path));
        if calls.is_empty() {
            return Ok(Output::text("None that the server knows."));
        }
        let line = |call: &Call| {
            let place = format!("{}:{}", name(workspace, &call.place.path), call.place.line);
            let lines: Vec<String> = call.lines.iter().map(ToString::to_string).collect();
            format!("{place} {} {}, calls at line {}", call.kind, call.name, lines.join(", "))
        };
        let lines: Vec<String> = calls.iter().take(PLACES).map(line).collect();
        Ok(Output::text(lines.join("\n")))
    }
}
