//! `edit`: one piece of a file replaced.

use base::Block;
use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::code;
use crate::draft::{Draft, Plan, aside};
use crate::edit::{Failure, Outcome, Scope, Tolerance, Wish, apply_all};
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Replace text in a file you have viewed. `old_string` must fit exactly one place, whitespace included.
/// An empty `old_string` creates a new file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "path")]
    file_path: Target,
    old_string: String,
    new_string: String,
    /// Replace every match.
    #[serde(default)]
    replace_all: bool,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Edit;

impl Tool for Edit {
    const NAME: &'static str = "edit";
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        input.file_path.to_string()
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Edit(input.file_path.spot(&workspace.fence)?.clone())])
    }

    async fn preview(&self, input: &Input, ctx: &ToolCtx) -> Option<Block> {
        let input = input.clone();
        aside(ctx, move |workspace| Ok(plan(&input, workspace)?.block())).await.ok()
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        code::change(ctx, move |workspace| plan(&input, workspace)?.carry_out(workspace)).await
    }
}

fn plan(input: &Input, workspace: &Workspace) -> Result<Plan, ToolError> {
    let scope = if input.replace_all { Scope::All } else { Scope::One };
    let wish = Wish { old: &input.old_string, new: &input.new_string, scope };
    plan_edits(&input.file_path, &[wish], workspace, |draft, failures| {
        let reasons: Vec<String> = failures.iter().map(|found| found.misfit.to_string()).collect();
        format!("{}: {}", draft.name, reasons.join("\n"))
    })
}

/// Edits of one file that all fit; `explain` says why if they do not. `multiedit` plans with it too.
pub(super) fn plan_edits(
    target: &Target,
    wishes: &[Wish<'_>],
    workspace: &Workspace,
    explain: impl FnOnce(&Draft, &[Failure]) -> String,
) -> Result<Plan, ToolError> {
    let draft = Draft::open(workspace, target)?;
    let (start, rest) = match wishes.split_first() {
        Some((first, rest)) if first.old.is_empty() => (created(&draft, first)?, rest),
        Some(_) | None => {
            let content = draft.existing()?;
            draft.must_be_known(workspace)?;
            (content, wishes)
        }
    };
    let Outcome { bytes: after, fits } = match apply_all(start, rest) {
        Ok(outcome) => outcome,
        Err(failures) => return Err(ToolError::Refused(explain(&draft, &failures))),
    };
    if draft.before.as_deref() == Some(&after) {
        let name = &draft.name;
        return Err(ToolError::Refused(format!("the edits leave {name} as it is")));
    }
    let notes = notes(wishes.len() - rest.len(), &fits);
    Ok(Plan { draft, after, notes })
}

/// An empty old text means a new file.
fn created<'a>(draft: &Draft, first: &Wish<'a>) -> Result<&'a [u8], ToolError> {
    match draft.before {
        None => Ok(first.new.as_bytes()),
        Some(_) => Err(ToolError::Refused(format!(
            "{} exists already; give the text to replace as old_string, or use write",
            draft.name
        ))),
    }
}

fn notes(skipped: usize, fits: &[(usize, Tolerance)]) -> Vec<String> {
    let several = fits.len() + skipped > 1;
    let mut notes = Vec::new();
    for (at, (matches, tolerance)) in fits.iter().enumerate() {
        let which = if several { format!("edit {}: ", at + skipped + 1) } else { String::new() };
        if *matches > 1 {
            notes.push(format!("{which}{matches} places replaced"));
        }
        match tolerance {
            Tolerance::None | Tolerance::Trailing => {}
            Tolerance::Blanks => notes.push(format!(
                "{which}old_string fitted only with blanks ignored; new lines were indented like the file"
            )),
            Tolerance::Typography => notes.push(format!(
                "{which}old_string fitted only with quotes, dashes or special blanks taken as plain ones; \
                 lines you did not change kept theirs"
            )),
        }
    }
    notes
}
