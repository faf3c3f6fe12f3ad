//! `job_kill`: ending a background job.

use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::timeout;

use super::job_output::{find, number_of, report};
use crate::jobs::GRACE;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// End a background job, with all it started.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "job_id", alias = "shell_id", alias = "id", deserialize_with = "number_of")]
    job: u32,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct JobKill;

impl Tool for JobKill {
    const NAME: &'static str = "job_kill";
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        format!("job {}", input.job)
    }

    fn actions(&self, _input: &Input, _workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Inner])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let job = find(&ctx.workspace.jobs, input.job)?;
        job.end();
        tokio::select! {
            () = ctx.cancel.cancelled() => return Err(ToolError::Cancelled),
            // Killed after the grace; what the system cannot kill is told as running.
            gone = timeout(GRACE * 2, job.gone()) => drop(gone),
        }
        Ok(Output::text(report(&job, None)).from(job.origin()))
    }
}
