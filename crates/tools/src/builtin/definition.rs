//! `definition`: where a symbol is defined.

use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::code::{Named, lines_of, reads, refused};
use crate::lenient;
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Where a symbol that a line of a file uses is defined.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "path")]
    file_path: Target,
    symbol: String,
    #[serde(default, deserialize_with = "lenient::number")]
    line: Option<u64>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Definition;

impl Tool for Definition {
    const NAME: &'static str = "definition";
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
        let asking = workspace.code.lsp.definition(named.at());
        let asked = ctx.cancel.run_until_cancelled(asking).await.ok_or(ToolError::Cancelled)?;
        let places = asked.map_err(refused)?;
        Ok(Output::text(lines_of(ctx, &places, "The server knows no definition of it.")))
    }
}
