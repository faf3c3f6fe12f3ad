//! `diagnostics`: what language servers complain of.

use guard::Action;
use links::lsp::{Complaints, Severity};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::code::{Named, is_closed, line_of, refused};
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Problems that are listed.
const LISTED: usize = 50;

/// Errors and warnings of the language server: of a file, or of all files known so far.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "path")]
    file_path: Option<Target>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Diagnostics;

impl Tool for Diagnostics {
    const NAME: &'static str = "diagnostics";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        input.file_path.as_ref().map_or_else(|| "all files".to_owned(), ToString::to_string)
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        let spot = match &input.file_path {
            Some(target) => target.spot(&workspace.fence)?.clone(),
            None => workspace.fence.locate(".")?,
        };
        Ok(vec![Action::Read(spot)])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let workspace = &ctx.workspace;
        let lsp = &workspace.code.lsp;
        let mut complaints = match &input.file_path {
            None => {
                let asking = lsp.known_problems(workspace.fence.folder());
                ctx.cancel.run_until_cancelled(asking).await.ok_or(ToolError::Cancelled)?
            }
            Some(target) => {
                let named = Named::find(workspace, target, None, None)?;
                let at = named.at();
                let asking = lsp.problems(at.path, at.within);
                let asked = ctx.cancel.run_until_cancelled(asking).await;
                asked.ok_or(ToolError::Cancelled)?.map_err(refused)?
            }
        };
        complaints.problems.retain(|problem| !is_closed(ctx, &problem.path));
        Ok(Output::text(report(&complaints, workspace)))
    }
}

fn report(complaints: &Complaints, workspace: &Workspace) -> String {
    let Complaints { problems, asked, silent } = complaints;
    let silence = format!("{} has not answered yet; ask again later", silent.join(", "));
    if *asked == 0 {
        return "No language server runs yet; name a file.".to_owned();
    }
    if problems.is_empty() && !silent.is_empty() {
        return silence;
    }
    let count = |severity| problems.iter().filter(|it| it.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let mut lines = vec![format!("{errors} errors, {warnings} warnings")];
    for problem in problems.iter().take(LISTED) {
        let kind = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information => "info",
            Severity::Hint => "hint",
        };
        lines.push(format!("{kind} {}", line_of(workspace, problem)));
    }
    if problems.len() > LISTED {
        lines.push(format!("… and {} more", problems.len() - LISTED));
    }
    if !silent.is_empty() {
        lines.push(silence);
    }
    lines.join("\n")
}
