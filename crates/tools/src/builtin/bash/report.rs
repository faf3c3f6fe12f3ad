//! What a model is told of a command.

use std::sync::Arc;

use super::Patience;
use crate::jobs::{Cause, Ending, Job, Rest};
use crate::workspace::ToolCtx;

/// A command that has ended, or goes on in the background.
pub(super) struct Report {
    pub(super) job: Arc<Job>,
    /// How it ended; none if it goes on.
    pub(super) ending: Option<Ending>,
    /// How long it was waited for.
    pub(super) patience: Patience,
}

/// What commands say when the sandbox stops them.
const REFUSALS: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "network is unreachable",
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
];
/// How much of the end of an output is searched for them.
const REFUSAL_BYTES: usize = 4_000;

impl Report {
    /// The output, and below it what else there is to know.
    pub(super) fn text(&self, timeout_s: Option<u64>, ctx: &ToolCtx) -> String {
        let output = self.job.text();
        let mut lines = Vec::new();
        match self.ending {
            Some(ending) => {
                lines.extend(ended(ending, timeout_s));
                if ending.rest == Rest::LivesOn && ending.cause == Cause::Itself {
                    let number = ctx.workspace.jobs.keep(&self.job);
                    lines.push(format!(
                        "processes it started still run, as job {number}; job_kill ends them"
                    ));
                }
                if ctx.cage.is_some() && !ending.exit.is_success() && is_refusal(&output) {
                    lines.push(HINT.to_owned());
                }
            }
            None => lines.push(self.moved(ctx)),
        }
        lines.extend(self.job.notes());
        join(&output, &lines)
    }

    fn moved(&self, ctx: &ToolCtx) -> String {
        let number = ctx.workspace.jobs.keep(&self.job);
        match self.patience {
            Patience::For(patience) => format!(
                "moved to the background as job {number} after {} s; job_output shows more, job_kill ends it",
                patience.as_secs()
            ),
            Patience::FirstLook | Patience::Endless => {
                format!("runs in the background as job {number}; job_output shows more")
            }
        }
    }
}

/// The sandbox may be the reason, and there is a way out.
const HINT: &str = "the sandbox may be why: no network, and only the workspace can be written. \
    If the task needs more, call again with `uncaged` and `why`; the user is asked";

fn ended(ending: Ending, timeout_s: Option<u64>) -> Option<String> {
    match ending.cause {
        Cause::TimedOut => {
            Some(format!("killed: it took longer than {} s", timeout_s.unwrap_or_default()))
        }
        Cause::Asked => Some(format!("ended before it was done ({})", ending.exit)),
        Cause::Itself if ending.exit.is_success() => None,
        Cause::Itself => Some(ending.exit.to_string()),
    }
}

fn is_refusal(output: &str) -> bool {
    let start = output.ceil_char_boundary(output.len().saturating_sub(REFUSAL_BYTES));
    let end = output[start..].to_ascii_lowercase();
    REFUSALS.iter().any(|refusal| end.contains(refusal))
}

pub(super) fn join(output: &str, lines: &[String]) -> String {
    let output = output.trim_end_matches('\n');
    let output = if output.is_empty() { "no output" } else { output };
    let mut text = output.to_owned();
    for line in lines {
        text.push('\n');
        text.push_str(line);
    }
    text
}
