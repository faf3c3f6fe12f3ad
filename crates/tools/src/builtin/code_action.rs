//! `code_action`: quick fixes and refactorings a language server offers.

use std::sync::{Arc, OnceLock};

use base::Block;
use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use super::rename::{Foreseen, known};
use crate::code::{Named, reads, refused, short};
use crate::draft::aside;
use crate::lenient;
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Actions that are listed.
const LISTED: usize = 40;

/// Quick fixes and refactorings of a line: lists them, or does the one with this title.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "path")]
    file_path: Target,
    #[serde(default, deserialize_with = "lenient::number")]
    line: Option<u64>,
    symbol: Option<String>,
    title: Option<String>,
    /// Worked out once, so that the files that are judged are those that are changed.
    #[serde(skip)]
    #[schemars(skip)]
    foreseen: OnceLock<Foreseen>,
}

impl Input {
    fn title(&self) -> Option<&str> {
        self.title.as_deref().map(str::trim).filter(|title| !title.is_empty())
    }

    async fn offered(&self, workspace: &Workspace) -> Result<Vec<links::lsp::Action>, ToolError> {
        let named = Named::find(workspace, &self.file_path, self.line, self.symbol.as_deref())?;
        workspace.code.lsp.actions(named.at()).await.map_err(refused)
    }
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct CodeAction;

impl Tool for CodeAction {
    const NAME: &'static str = "code_action";
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        let line = input.line.map(|line| format!(":{line}")).unwrap_or_default();
        let title = input.title().map(|title| format!(" {title}")).unwrap_or_default();
        format!("{}{line}{title}", input.file_path)
    }

    fn looks_at(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        // A list is nothing to foresee: looking is all it does.
        input.title().map_or(Ok(Vec::new()), |_| reads(&input.file_path, workspace))
    }

    async fn foresee(&self, input: &Input, workspace: &Arc<Workspace>) -> Result<(), ToolError> {
        let Some(title) = input.title() else { return Ok(()) };
        let offered = input.offered(workspace).await?;
        let same = offered.iter().find(|action| action.title == title);
        let alike = || offered.iter().find(|action| action.title.contains(title));
        let Some(action) = same.or_else(alike) else {
            let text = format!("no action is called `{title}`. There are:\n{}", listed(&offered));
            return Err(ToolError::Refused(text));
        };
        let rewrite = action.rewrite().await.map_err(refused)?;
        let foreseen = Foreseen::of(&rewrite, workspace)?;
        if foreseen.is_empty() {
            let text =
                format!("`{}` changes no file by itself; make the change with edit", action.title);
            return Err(ToolError::Refused(text));
        }
        input.foreseen.get_or_init(|| foreseen);
        Ok(())
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        match input.title() {
            None => reads(&input.file_path, workspace),
            Some(_) => known(&input.foreseen)?.actions(workspace),
        }
    }

    async fn preview(&self, input: &Input, ctx: &ToolCtx) -> Option<Block> {
        let foreseen = input.foreseen.get()?.clone();
        aside(ctx, move |workspace| Ok(foreseen.plan(workspace)?.block())).await.ok()
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        if input.title().is_some() {
            return known(&input.foreseen)?.clone().carry_out(ctx).await;
        }
        let asking = input.offered(&ctx.workspace);
        let offered =
            ctx.cancel.run_until_cancelled(asking).await.ok_or(ToolError::Cancelled)??;
        Ok(Output::text(listed(&offered)))
    }
}

fn listed(offered: &[links::lsp::Action]) -> String {
    if offered.is_empty() {
        return "The server offers nothing here.".to_owned();
    }
    let line = |action: &links::lsp::Action| {
        let kind = action.kind.as_deref().map(|kind| format!(" ({kind})")).unwrap_or_default();
        format!("{}{kind}", short(&action.title))
    };
    offered.iter().take(LISTED).map(line).collect::<Vec<_>>().join("\n")
}
