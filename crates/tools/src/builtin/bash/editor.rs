//! A command in a terminal of the editor we work in: where nothing cages it anyway, its user sees it run there.

use std::time::Duration;

use links::acp::{End, Errand, Ran};

use super::{Input, LONGEST_S, folder, origin, report};
use crate::bound::{bounded, spill_for};
use crate::jobs;
use crate::tool::{Output, ToolError};
use crate::workspace::ToolCtx;

/// How much of the end of an output is asked for.
const OUTPUT_BYTES: u64 = 1 << 20;
/// Seconds after which a command is killed that names no time itself: nobody can send it to the background.
const USUAL_S: u64 = 600;

/// Runs the command there; none where it is to run as a process of ours.
pub(super) async fn run(input: &Input, ctx: &ToolCtx) -> Result<Option<Output>, ToolError> {
    let workspace = &ctx.workspace;
    let is_ours = ctx.cage.is_some() || input.run_in_background || input.terminal;
    let editor = workspace.editor.as_ref().filter(|_| !is_ours && !workspace.fence.is_confined());
    let Some(editor) = editor else { return Ok(None) };
    let timeout_s = input.timeout.unwrap_or(USUAL_S).clamp(1, LONGEST_S);
    let errand = Errand {
        program: jobs::shell(&workspace.env).to_owned(),
        args: vec!["-c".to_owned(), "--".to_owned(), input.command.clone()],
        folder: folder(input, workspace)?.real,
        output_bytes: OUTPUT_BYTES,
        timeout: Duration::from_secs(timeout_s),
    };
    let running = editor.run(workspace.session, &ctx.call, errand);
    let ran = ctx.cancel.run_until_cancelled(running).await.ok_or(ToolError::Cancelled)?;
    workspace.code.lsp.command_has_run();
    let told = |ran: Ran| {
        let output = bounded(&ran.output, spill_for(ctx));
        let text = report::join(&output, &remarks(&ran, timeout_s));
        Output::text(text).from(origin(input, ctx.cage.as_deref()))
    };
    Ok(ran.map(told))
}

/// What else there is to know.
fn remarks(ran: &Ran, timeout_s: u64) -> Vec<String> {
    let mut lines = Vec::new();
    match &ran.end {
        End::Exit(0) => {}
        End::Exit(code) => lines.push(format!("exit code {code}")),
        End::Signal(signal) => lines.push(format!("ended by signal {signal}")),
        End::TimedOut => {
            lines.push(format!("killed: it took longer than {timeout_s} s"));
            if timeout_s == USUAL_S {
                lines.push("name a timeout, or run it in the background".to_owned());
            }
        }
        End::Unknown => lines.push("the editor does not tell how it ended".to_owned()),
    }
    if ran.is_cut {
        lines.push("the beginning of the output is left out: too long".to_owned());
    }
    lines
}
