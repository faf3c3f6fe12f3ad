//! `job_output`: what a background job has printed.

use std::sync::Arc;
use std::time::Duration;

use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::{sleep, timeout};

use crate::jobs::{Cause, Job, Jobs, Rest};
use crate::lenient;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Longest wait: ten minutes.
const LONGEST_WAIT_S: u64 = 600;
/// How long is waited for the rest once a job begins to print.
const SETTLE: Duration = Duration::from_millis(50);

/// Show what a background job printed since you last looked, and whether it still runs.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "job_id", alias = "shell_id", alias = "id", deserialize_with = "number_of")]
    job: u32,
    /// Seconds to wait for something new.
    #[serde(default, deserialize_with = "wait")]
    #[schemars(with = "Option<u64>")]
    wait: Option<u64>,
    /// Show again from this cursor; 0 is the beginning.
    #[serde(default, deserialize_with = "lenient::number", alias = "cursor")]
    from: Option<u64>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct JobOutput;

impl Tool for JobOutput {
    const NAME: &'static str = "job_output";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        format!("job {}", input.job)
    }

    fn actions(&self, _input: &Input, _workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Inner])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let job = find(&ctx.workspace.jobs, input.job)?;
        if let Some(seconds) = input.wait.filter(|_| input.from.is_none()) {
            let patience = Duration::from_secs(seconds.min(LONGEST_WAIT_S));
            tokio::select! {
                () = ctx.cancel.cancelled() => return Err(ToolError::Cancelled),
                () = something_new(&job, patience) => {}
            }
        }
        // What runs in the background changes files at any time; who looks at it wants to know.
        ctx.workspace.code.lsp.command_has_run();
        Ok(Output::text(report(&job, input.from)).from(job.origin()))
    }
}

/// Finds a job, or says which ones there are.
pub(super) fn find(jobs: &Jobs, number: u32) -> Result<Arc<Job>, ToolError> {
    jobs.get(number).ok_or_else(|| {
        let known: Vec<String> = jobs
            .list()
            .iter()
            .filter_map(|job| Some(format!("{} ({})", job.number()?, job.title())))
            .collect();
        let known = if known.is_empty() { "there are none".to_owned() } else { known.join(", ") };
        ToolError::Refused(format!("there is no job {number}; jobs: {known}"))
    })
}

/// Waits until a job has printed something, has ended, or `patience` is over.
pub(super) async fn something_new(job: &Job, patience: Duration) {
    let version = job.version();
    if job.has_news() || job.ending().is_some() {
        return;
    }
    if timeout(patience, job.changed(version)).await.is_ok() {
        tokio::select! {
            () = sleep(SETTLE) => {}
            _ = job.ended() => {}
        }
    }
}

/// What is new, and below it how the job is.
pub(super) fn report(job: &Job, from: Option<u64>) -> String {
    // The state first: what is printed after it is seen next time.
    let (number, age, ending) =
        (job.number().unwrap_or_default(), job.age().as_secs(), job.ending());
    let news = job.news(from);
    let text = news.text.trim_end_matches('\n');
    let text = if text.is_empty() { "no new output" } else { text };
    let state = match ending {
        None => format!("job {number} runs since {age} s; cursor {}", news.next),
        Some(ending) => {
            let how = match ending.cause {
                Cause::Itself => ending.exit.to_string(),
                Cause::Asked => format!("ended on request, {}", ending.exit),
                Cause::TimedOut => "killed at its timeout".to_owned(),
            };
            let rest = match ending.rest {
                Rest::Gone => "",
                Rest::LivesOn => "; processes it started may still run, job_kill ends them",
            };
            format!("job {number} is over after {age} s: {how}{rest}")
        }
    };
    let mut lines = vec![text.to_owned(), format!("[{state}]")];
    lines.extend(job.notes());
    lines.join("\n")
}

/// A job's number: 3, "3" or "job 3".
pub(super) fn number_of<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let digits = text.trim().trim_start_matches("job").trim();
    digits
        .parse()
        .map_err(|_| serde::de::Error::custom(format!("`{text}` is no job's number; bash told it")))
}

/// Seconds; `true` means a minute, as models used to other agents write it.
fn wait<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    match value.as_bool() {
        Some(true) => Ok(Some(60)),
        Some(false) => Ok(None),
        None => lenient::number(value).map_err(serde::de::Error::custom),
    }
}
