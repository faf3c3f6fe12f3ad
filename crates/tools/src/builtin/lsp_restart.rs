//! `lsp_restart`: language servers, started anew.

use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Restart a language server that is broken or stale; all if no name is given.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    name: Option<String>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct LspRestart;

impl Tool for LspRestart {
    const NAME: &'static str = "lsp_restart";
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        input.name.clone().unwrap_or_else(|| "all".to_owned())
    }

    fn actions(&self, _: &Input, _: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Inner])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let lsp = &ctx.workspace.code.lsp;
        let done = lsp.restart(input.name.as_deref()).await;
        if !done.is_empty() {
            return Ok(Output::text(format!("restarted {}", done.join(", "))));
        }
        let names: Vec<String> = lsp.states().into_iter().map(|state| state.name).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(ToolError::Refused(format!("no such server has been started; there are: {names}")))
    }
}
