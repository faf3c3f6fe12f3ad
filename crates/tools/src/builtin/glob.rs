//! `glob`: files by the pattern of their path.

use std::path::{Path, PathBuf};
use std::time::Duration;

use guard::{Action, Spot};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::search::newest::{Choice, Found, Kind, Wanted, newest};
use crate::search::pattern::{Patterns, anchor};
use crate::search::walk::Root;
use crate::search::{RESULT_LIMIT, aside, counted, grouped};
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Find files by path pattern, newest first, at most 100. Ignored files are left out.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// Like `*.rs` or `src/**/*.{ts,tsx}`.
    pattern: String,
    /// Folder to look in.
    path: Option<String>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Glob;

impl Tool for Glob {
    const NAME: &'static str = "glob";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        match &input.path {
            Some(path) => format!("{} in {path}", input.pattern),
            None => input.pattern.clone(),
        }
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Read(begins_at(input, workspace)?)])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let spot = begins_at(&input, &ctx.workspace)?;
        let root = Root::new(&ctx.workspace.fence, &spot);
        let (_, rest) = anchor(&input.pattern);
        let kind = if rest.ends_with('/') { Kind::Folders } else { Kind::Files };
        // The walk begins below the pattern's folder: what is left stands right there.
        let anchored = rest.len() < input.pattern.len();
        let patterns = if anchored && !rest.trim_end_matches('/').contains('/') {
            Patterns::of([format!("/{rest}").as_str()])?
        } else {
            Patterns::of([rest])?
        };
        let wanted = Wanted { patterns, kind, limit: RESULT_LIMIT };
        let time = Duration::from_millis(ctx.workspace.limits.glob.timeout_ms);
        let (found, root, late) = aside(ctx, time, move |stop| {
            let found = newest(&root, &wanted, stop);
            (found, root, stop.was_late())
        })
        .await?;
        let text = told(&found, &root, &input.pattern, late);
        Ok(Output::text(text).with_title(title(&found)))
    }
}

/// Where the walk begins: the folder the pattern names, in the folder asked for.
fn begins_at(input: &Input, workspace: &Workspace) -> Result<Spot, ToolError> {
    let (folder, rest) = anchor(&input.pattern);
    if rest.trim().is_empty() {
        return Err(ToolError::Arguments("`pattern` names no file; write one like `*.rs`".into()));
    }
    // Joined with `.`, the `~` of `~/x/*` would be a name like others.
    let path = match &input.path {
        Some(path) => Path::new(path).join(folder),
        None if folder.is_empty() => PathBuf::from("."),
        None => PathBuf::from(folder),
    };
    Ok(workspace.fence.locate(path)?)
}

fn title(found: &Found) -> String {
    let files = counted(found.seen, "file");
    match found.choice {
        Choice::Newest => files,
        Choice::MetFirst => format!("more than {files}"),
    }
}

fn told(found: &Found, root: &Root, pattern: &str, late: bool) -> String {
    if found.paths.is_empty() && !late {
        return format!("No files match `{pattern}`. Ignored files are not looked at.");
    }
    let mut text = String::new();
    for path in &found.paths {
        text.push_str(&root.name(path));
        text.push('\n');
    }
    let (shown, seen) = (grouped(found.paths.len()), grouped(found.seen));
    match found.choice {
        Choice::MetFirst => text.extend([
            "(",
            &shown,
            " of more than ",
            &seen,
            ", by path: too many to tell which are the newest; narrow the pattern or `path`)\n",
        ]),
        Choice::Newest if found.seen > found.paths.len() => text.extend([
            "(the newest ",
            &shown,
            " of ",
            &seen,
            "; narrow the pattern for others)\n",
        ]),
        Choice::Newest => {}
    }
    if late {
        text.push_str("(time ran out before all folders were seen; give a narrower `path`)\n");
    }
    text
}
