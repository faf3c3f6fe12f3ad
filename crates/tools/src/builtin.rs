//! Every built-in tool: one file, one line.

mod apply_patch;
mod bash;
mod download;
mod edit;
mod fetch;
mod glob;
mod grep;
mod job_input;
mod job_kill;
mod job_output;
mod ls;
mod multiedit;
mod question;
mod recall;
mod sourcegraph;
mod todos;
mod view;
mod write;

use std::sync::Arc;

use crate::registry::AnyTool;

/// All built-in tools.
pub fn all() -> Vec<Arc<dyn AnyTool>> {
    vec![
        Arc::new(apply_patch::ApplyPatch),
        Arc::new(bash::Bash),
        Arc::new(download::Download),
        Arc::new(edit::Edit),
        Arc::new(fetch::Fetch),
        Arc::new(glob::Glob),
        Arc::new(grep::Grep),
        Arc::new(job_input::JobInput),
        Arc::new(job_kill::JobKill),
        Arc::new(job_output::JobOutput),
        Arc::new(ls::Ls),
        Arc::new(multiedit::Multiedit),
        Arc::new(question::Question),
        Arc::new(recall::Recall),
        Arc::new(sourcegraph::Sourcegraph),
        Arc::new(todos::Todos),
        Arc::new(view::View),
        Arc::new(write::Write),
    ]
}
