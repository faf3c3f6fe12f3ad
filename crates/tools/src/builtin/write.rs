//! `write`: a whole file.

use base::Block;
use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::code;
use crate::draft::{Draft, Plan, aside};
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Create a file or replace all of it; folders are made as needed. View an existing file first.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "path")]
    file_path: Target,
    content: String,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Write;

impl Tool for Write {
    const NAME: &'static str = "write";
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        input.file_path.to_string()
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Edit(input.file_path.spot(&workspace.fence)?.clone())])
    }

    async fn preview(&self, input: &Input, ctx: &ToolCtx) -> Option<Block> {
        let input = input.clone();
        aside(ctx, move |workspace| Ok(plan(input, workspace)?.block())).await.ok()
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        code::change(ctx, move |workspace| plan(input, workspace)?.carry_out(workspace)).await
    }
}

fn plan(input: Input, workspace: &Workspace) -> Result<Plan, ToolError> {
    let draft = Draft::open(workspace, &input.file_path)?;
    let after = input.content.into_bytes();
    if draft.before.as_ref() == Some(&after) {
        let name = &draft.name;
        return Err(ToolError::Refused(format!("{name} has exactly this content already")));
    }
    draft.must_be_known(workspace)?;
    Ok(Plan { draft, after, notes: Vec::new() })
}
