//! `hover`: type and documentation of a symbol.

use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::code::{Named, is_closed, reads, refused};
use crate::lenient;
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Bytes of documentation that are told.
const LONGEST: usize = 4_000;

/// Type and documentation of a symbol.
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
pub(super) struct Hover;

impl Tool for Hover {
    const NAME: &'static str = "hover";
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
        let lsp = &workspace.code.lsp;
        let asking = async {
            // What a server tells of a symbol it takes from where the symbol comes from.
            if ctx.policy.closes_some() {
                let sources = lsp.sources(named.at()).await.map_err(refused)?;
                if sources.iter().any(|place| is_closed(ctx, &place.path)) {
                    let text = "it comes from a file that the rules keep from being read";
                    return Err(ToolError::Refused(text.to_owned()));
                }
            }
            lsp.hover(named.at()).await.map_err(refused)
        };
        let asked = ctx.cancel.run_until_cancelled(asking).await.ok_or(ToolError::Cancelled)?;
        let mut text = asked?;
        if text.is_empty() {
            "The server says nothing of it.".clone_into(&mut text);
        }
        if text.len() > LONGEST {
            text.truncate(text.floor_char_boundary(LONGEST));
            text.push('…');
        }
        Ok(Output::text(text))
    }
}
