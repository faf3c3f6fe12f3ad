//! `skill`: loads a skill's text when a task calls for it.

use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Load a skill: instructions for a kind of task.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "name", alias = "command")]
    skill: String,
    #[serde(default, alias = "arguments")]
    args: Option<String>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Skill;

impl Tool for Skill {
    const NAME: &'static str = "skill";
    // What it allows and forbids holds for the calls behind it.
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        match input.args.as_deref().map(str::trim) {
            Some(args) if !args.is_empty() => format!("{} {args}", input.skill),
            Some(_) | None => input.skill.clone(),
        }
    }

    fn actions(&self, input: &Input, _workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        if input.skill.trim().is_empty() {
            return Err(ToolError::Arguments("`skill` is empty".to_owned()));
        }
        Ok(vec![Action::Named(input.skill.trim().trim_start_matches('/').to_owned())])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let arguments = input.args.unwrap_or_default();
        ctx.workspace.skills.read(&input.skill, &arguments, ctx).await
    }
}
