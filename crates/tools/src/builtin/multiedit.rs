//! `multiedit`: several pieces of one file replaced, all or none.

use std::fmt::Write as _;

use base::Block;
use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use super::edit::plan_edits;
use crate::code;
use crate::draft::{Draft, Plan, aside};
use crate::edit::{Failure, Scope, Wish};
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Several `edit`s of one file in order, each on the result of the one before; all or none are written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "path")]
    file_path: Target,
    edits: Vec<Piece>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Piece {
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

impl Piece {
    fn wish(&self) -> Wish<'_> {
        let scope = if self.replace_all { Scope::All } else { Scope::One };
        Wish { old: &self.old_string, new: &self.new_string, scope }
    }
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Multiedit;

impl Tool for Multiedit {
    const NAME: &'static str = "multiedit";
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        format!("{} ({} edits)", input.file_path, input.edits.len())
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Edit(input.file_path.spot(&workspace.fence)?.clone())])
    }

    async fn preview(&self, input: &Input, ctx: &ToolCtx) -> Option<Block> {
        let input = input.clone();
        aside(ctx, move |workspace| Ok(plan(&input, workspace)?.block())).await.ok()
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        code::change(ctx, move |workspace| plan(&input, workspace)?.carry_out(workspace)).await
    }
}

fn plan(input: &Input, workspace: &Workspace) -> Result<Plan, ToolError> {
    if input.edits.is_empty() {
        return Err(ToolError::Refused("edits is empty; give at least one".to_owned()));
    }
    let wishes: Vec<Wish<'_>> = input.edits.iter().map(Piece::wish).collect();
    let created = usize::from(wishes[0].old.is_empty());
    plan_edits(&input.file_path, &wishes, workspace, |draft, failures| {
        explain(draft, failures, created, wishes.len())
    })
}

fn explain(draft: &Draft, failures: &[Failure], created: usize, all: usize) -> String {
    let (name, failed) = (&draft.name, failures.len());
    let mut text = format!("{name} was not changed: {failed} of {all} edits do not fit.");
    for Failure { number, misfit } in failures {
        let _fits = write!(text, "\nedit {}: {misfit}", number + created);
    }
    text
}
