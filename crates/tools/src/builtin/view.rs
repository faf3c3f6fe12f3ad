//! `view`: a file as the model reads it.

use std::io;

use guard::{Action, Spot};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::draft::aside;
use crate::reading::{Part, Reading, near_misses};
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Read a file: numbered lines of text, a picture, pages of a PDF, cells of a notebook.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "path")]
    file_path: Target,
    /// First line (page, cell); 1 if left out.
    #[serde(default)]
    offset: usize,
    /// How many; 2000 lines if left out.
    limit: Option<usize>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct View;

impl Tool for View {
    const NAME: &'static str = "view";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        match (input.offset, input.limit) {
            (0 | 1, None) => input.file_path.to_string(),
            (first, None) => format!("{} from {first}", input.file_path),
            (first, Some(count)) => {
                let first = first.max(1);
                format!("{} {first}–{}", input.file_path, first.saturating_add(count) - 1)
            }
        }
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Read(input.file_path.spot(&workspace.fence)?.clone())])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let cancel = ctx.cancel.clone();
        aside(ctx, move |workspace| {
            let spot = input.file_path.spot(&workspace.fence)?;
            let name = workspace.fence.name(spot);
            let file = match workspace.fence.open(spot) {
                Ok(file) => file,
                Err(error) => return Err(not_opened(workspace, spot, &name, error)),
            };
            let part = Part { first: input.offset.max(1), count: input.limit };
            workspace.code.touch(workspace, spot);
            let reading = Reading { workspace, spot, name: &name, part, cancel: &cancel };
            let shown = reading.show(file)?;
            let mut output = Output::text(shown.text);
            output.files = shown.files;
            Ok(output)
        })
        .await
    }
}

fn not_opened(workspace: &Workspace, spot: &Spot, name: &str, source: io::Error) -> ToolError {
    if source.kind() == io::ErrorKind::NotFound {
        let near = near_misses(workspace, spot).join(" or ");
        let hint = if near.is_empty() { near } else { format!("; did you mean {near}?") };
        return ToolError::Refused(format!("there is no file {name}{hint}"));
    }
    if source.kind() == io::ErrorKind::IsADirectory {
        return ToolError::Refused(format!("{name} is a folder; use ls to see what is in it"));
    }
    ToolError::Io { what: "read", path: spot.asked.clone(), source }
}
