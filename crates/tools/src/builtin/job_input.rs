//! `job_input`: typing into a background job.

use std::time::Duration;

use base::Origin;
use guard::Action;
use guard::process::Terminals;
use schemars::JsonSchema;
use serde::Deserialize;

use super::job_output::{find, number_of, report, something_new};
use crate::lenient;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// How long an answer is waited for.
const ANSWER: Duration = Duration::from_millis(500);

/// Type into a background job, and show what it answers.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "job_id", alias = "shell_id", alias = "id", deserialize_with = "number_of")]
    job: u32,
    /// What to type; \u0003 interrupts in a terminal, \u0004 ends the input.
    #[serde(alias = "input")]
    text: String,
    /// Press Enter after it; default true.
    #[serde(default = "yes", deserialize_with = "lenient::switch")]
    enter: bool,
}

fn yes() -> bool {
    true
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct JobInput;

impl Tool for JobInput {
    const NAME: &'static str = "job_input";
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        let text: String =
            input.text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("job {}: {}", input.job, text.trim())
    }

    fn actions(&self, _input: &Input, _workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Inner])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let job = find(&ctx.workspace.jobs, input.job)?;
        let is_key = input.text.chars().count() == 1 && input.text.contains(char::is_control);
        let mut bytes = input.text.into_bytes();
        if input.enter && !is_key {
            bytes.push(match job.stdio() {
                // What the Enter key of a terminal sends; programs that read keys wait for it.
                Terminals::Pty { .. } => b'\r',
                Terminals::Output | Terminals::InputOutput | Terminals::Apart => b'\n',
            });
        }
        let typed = async {
            // What it printed before is no answer.
            let seen = job.version();
            job.send(bytes).await?;
            if job.version() == seen {
                something_new(&job, ANSWER).await;
            }
            Ok::<(), crate::jobs::InputError>(())
        };
        let sent = tokio::select! {
            () = ctx.cancel.cancelled() => return Err(ToolError::Cancelled),
            sent = typed => sent,
        };
        sent.map_err(|error| {
            ToolError::Refused(format!("job {} got nothing: {error}", input.job))
        })?;
        Ok(Output::text(report(&job, None)).from(Origin::Shell))
    }
}
