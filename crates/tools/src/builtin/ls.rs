//! `ls`: a folder as a tree.

use std::time::Duration;

use base::Block;
use guard::{Action, Spot};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::search::aside;
use crate::search::pattern::Patterns;
use crate::search::tree::{Wanted, tree};
use crate::search::walk::Root;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Names listed unless the settings say otherwise.
const LIMIT: usize = 1_000;
/// Time for one listing: a folder on a slow network is not waited for.
const TIME: Duration = Duration::from_secs(10);

/// List a folder as a tree, at most 1,000 names. Ignored files are left out.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The folder.
    path: Option<String>,
    /// Levels to show; 0 for all.
    depth: Option<u32>,
    /// Patterns to leave out.
    ignore: Option<Vec<String>>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Ls;

impl Tool for Ls {
    const NAME: &'static str = "ls";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        input.path.clone().unwrap_or_else(|| ".".to_owned())
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Read(place(input, workspace)?)])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let workspace = &ctx.workspace;
        let spot = place(&input, workspace)?;
        let limits = &workspace.limits.ls;
        let depth = input.depth.or(limits.max_depth).filter(|depth| *depth > 0);
        let ignore = input.ignore.filter(|patterns| !patterns.is_empty());
        let without = match &ignore {
            Some(patterns) => Some(Patterns::of(patterns.iter().map(String::as_str))?),
            None => None,
        };
        let wanted = Wanted {
            root: Root::new(&workspace.fence, &spot),
            depth: depth.map(|depth| depth as usize),
            limit: limits
                .max_items
                .filter(|items| *items > 0)
                .map_or(LIMIT, |items| items as usize),
            without,
        };
        let listed = aside(ctx, TIME, move |stop| tree(&wanted, stop)).await?;
        let tree = listed.map_err(|source| {
            if source.kind() == std::io::ErrorKind::NotADirectory {
                return ToolError::Refused(format!("{} is a file; use view", spot.asked.display()));
            }
            ToolError::Io { what: "list", path: spot.asked.clone(), source }
        })?;
        let mut text = tree.text();
        if tree.left_out > 0 {
            text.push_str("(some folders are cut, see `… more`; list one of them by its path)\n");
        }
        let title = format!("{}: {}", workspace.fence.name(&spot), tree.summary());
        let body = Block::Tree { roots: vec![tree.node()] };
        Ok(Output::text(text).with_title(title).with_body(body))
    }
}

fn place(input: &Input, workspace: &Workspace) -> Result<Spot, ToolError> {
    Ok(workspace.fence.locate(input.path.as_deref().unwrap_or("."))?)
}
