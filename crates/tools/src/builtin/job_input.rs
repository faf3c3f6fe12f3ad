//! `job_input`: typing into a background job.

use std::time::Duration;

use base::Block;
use guard::process::Terminals;
use guard::{Action, JobText};
use schemars::JsonSchema;
use serde::Deserialize;

use super::job_output::{find, number_of, report, something_new};
use crate::jobs::Job;
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

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        let job = find(&workspace.jobs, input.job)?;
        Ok(vec![Action::Type(JobText {
            command: job.line().to_owned(),
            folder: workspace.fence.locate(job.folder())?,
            reach: job.reach(),
            terminal: matches!(job.stdio(), Terminals::Pty { .. }),
            before: job.typed(),
            text: input.typed(),
        })])
    }

    async fn preview(&self, input: &Input, ctx: &ToolCtx) -> Option<Block> {
        let job = find(&ctx.workspace.jobs, input.job).ok()?;
        let text = format!("{}\n\nTyped into the running job: {}", input.typed(), job.line());
        Some(Block::Text { text })
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let job = find(&ctx.workspace.jobs, input.job)?;
        let bytes = input.bytes(&job);
        job.remember_typed(&input.typed());
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
        Ok(Output::text(report(&job, None)).from(job.origin()))
    }
}

impl Input {
    /// Whether Enter is pressed after the text: not after a single key such as the interrupt.
    fn has_enter(&self) -> bool {
        let is_key = self.text.chars().count() == 1 && self.text.contains(char::is_control);
        self.enter && !is_key
    }

    /// The text as it is judged: each Enter is a newline.
    fn typed(&self) -> String {
        let text = self.text.replace("\r\n", "\n").replace('\r', "\n");
        if self.has_enter() { text + "\n" } else { text }
    }

    /// The text as the job reads it.
    fn bytes(&self, job: &Job) -> Vec<u8> {
        let mut bytes = self.text.clone().into_bytes();
        if self.has_enter() {
            bytes.push(match job.stdio() {
                // What the Enter key of a terminal sends; programs that read keys wait for it.
                Terminals::Pty { .. } => b'\r',
                Terminals::Output | Terminals::InputOutput | Terminals::Apart => b'\n',
            });
        }
        bytes
    }
}
