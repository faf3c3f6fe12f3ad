//! Every built-in tool: one file, one line.

mod agent;
mod agentic_fetch;
mod apply_patch;
mod bash;
mod call_hierarchy;
mod code_action;
mod definition;
mod diagnostics;
mod download;
mod edit;
mod fetch;
mod glob;
mod grep;
mod hover;
mod job_input;
mod job_kill;
mod job_output;
mod ls;
mod lsp_restart;
mod multiedit;
mod question;
mod recall;
mod references;
mod rename;
mod skill;
mod sourcegraph;
mod symbols;
mod todos;
mod view;
mod web_fetch;
mod web_search;
mod write;

use std::sync::Arc;

pub use bash::runs_commands;
pub use todos::list as todo_list;

use crate::registry::AnyTool;

/// All built-in tools.
pub fn all() -> Vec<Arc<dyn AnyTool>> {
    vec![
        Arc::new(agent::Agent),
        Arc::new(agentic_fetch::AgenticFetch),
        Arc::new(apply_patch::ApplyPatch),
        Arc::new(bash::Bash),
        Arc::new(call_hierarchy::CallHierarchy),
        Arc::new(code_action::CodeAction),
        Arc::new(definition::Definition),
        Arc::new(diagnostics::Diagnostics),
        Arc::new(download::Download),
        Arc::new(edit::Edit),
        Arc::new(fetch::Fetch),
        Arc::new(glob::Glob),
        Arc::new(grep::Grep),
        Arc::new(hover::Hover),
        Arc::new(job_input::JobInput),
        Arc::new(job_kill::JobKill),
        Arc::new(job_output::JobOutput),
        Arc::new(ls::Ls),
        Arc::new(lsp_restart::LspRestart),
        Arc::new(multiedit::Multiedit),
        Arc::new(question::Question),
        Arc::new(recall::Recall),
        Arc::new(references::References),
        Arc::new(rename::Rename),
        Arc::new(skill::Skill),
        Arc::new(sourcegraph::Sourcegraph),
        Arc::new(symbols::Symbols),
        Arc::new(todos::Todos),
        Arc::new(view::View),
        Arc::new(web_fetch::WebFetch),
        Arc::new(web_search::WebSearch),
        Arc::new(write::Write),
    ]
}
