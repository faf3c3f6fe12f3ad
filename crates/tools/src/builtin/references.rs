//! `references`: where a symbol is used.

use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::code::{Named, lines_of, reads, refused};
use crate::lenient;
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Every use of a symbol, by the language server: surer than grep.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "path")]
    file_path: Target,
    symbol: String,
    /// A line that has it.
    #[serde(default, deserialize_with = "lenient::number")]
    line: Option<u64>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct References;

impl Tool for References {
    const NAME: &'static str = "references";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        format!("{} in {}", input.symbol, input.file_path)
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        reads(&input.file_path, workspace)
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let workspace = &ctx.workspace;
        let named = Named::find(workspace, &input.file_path, input.line, Some(&input.symbol))?;
        let asking = workspace.code.lsp.references(named.at());
        let asked = ctx.cancel.run_until_cancelled(asking).await.ok_or(ToolError::Cancelled)?;
        let places = asked.map_err(refused)?;
        let text = lines_of(ctx, &places, "It is used nowhere the server knows.");
        Ok(Output::text(text).with_title(format!("{}: {} places", input.symbol, places.len())))
    }
}
