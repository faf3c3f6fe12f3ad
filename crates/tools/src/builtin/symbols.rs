//! `symbols`: the outline of a file, or symbols of the workspace by name.

use std::fmt::Write as _;

use guard::Action;
use links::lsp::Symbol;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::code::{Named, is_closed, name, reads, refused};
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Symbols that are listed.
const LISTED: usize = 200;

/// Outline of a file; or, with `query`, symbols of the whole project whose name is like it.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "path")]
    file_path: Option<Target>,
    query: Option<String>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Symbols;

impl Tool for Symbols {
    const NAME: &'static str = "symbols";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        let file = input.file_path.as_ref().map(ToString::to_string);
        input.query.clone().or(file).unwrap_or_default()
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        match &input.file_path {
            Some(target) => reads(target, workspace),
            None => Ok(vec![Action::Read(workspace.fence.locate(".")?)]),
        }
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let workspace = &ctx.workspace;
        let query = input.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
        let asking = async {
            match (query, &input.file_path) {
                (Some(query), _) => {
                    let found = workspace.code.lsp.symbols(query, workspace.fence.folder()).await;
                    let mut found = found.map_err(refused)?;
                    found.retain(|symbol| !is_closed(ctx, &symbol.place.path));
                    Ok(found_by_name(&found, workspace))
                }
                (None, Some(target)) => {
                    let named = Named::find(workspace, target, None, None)?;
                    let outline = workspace.code.lsp.outline(named.at()).await;
                    Ok(outline_of(&outline.map_err(refused)?))
                }
                (None, None) => {
                    let text = "give file_path for an outline, or query for a search";
                    Err(ToolError::Arguments(text.to_owned()))
                }
            }
        };
        let text = ctx.cancel.run_until_cancelled(asking).await.ok_or(ToolError::Cancelled)??;
        let text = if text.is_empty() { "No symbols.".to_owned() } else { text };
        Ok(Output::text(text))
    }
}

fn outline_of(symbols: &[Symbol]) -> String {
    let lines = symbols.iter().take(LISTED).map(|symbol| {
        let Symbol { name, kind, place, depth, .. } = symbol;
        format!("{}{} {kind} {name}", "  ".repeat(*depth), place.line)
    });
    with_rest(&lines.collect::<Vec<_>>(), symbols.len())
}

fn found_by_name(symbols: &[Symbol], workspace: &Workspace) -> String {
    let lines = symbols.iter().take(LISTED).map(|symbol| {
        let place = format!("{}:{}", name(workspace, &symbol.place.path), symbol.place.line);
        let container = symbol.container.as_deref().map(|it| format!(" in {it}"));
        format!("{place} {} {}{}", symbol.kind, symbol.name, container.unwrap_or_default())
    });
    with_rest(&lines.collect::<Vec<_>>(), symbols.len())
}

fn with_rest(lines: &[String], all: usize) -> String {
    let mut text = lines.join("\n");
    if all > lines.len() {
        let _fits = write!(text, "\n… and {} more", all - lines.len());
    }
    text
}
