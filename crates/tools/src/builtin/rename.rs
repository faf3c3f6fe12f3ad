//! `rename`: a symbol gets another name everywhere, or nowhere.

use std::sync::{Arc, OnceLock};

use base::Block;
use guard::Action;
use links::lsp::Rewrite;
use schemars::JsonSchema;
use serde::Deserialize;

use super::apply_patch::Work;
use crate::code::{self, Named, content, name, reads, refused};
use crate::draft::{Draft, aside};
use crate::lenient;
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Rename a symbol in all files that use it, by the language server.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "path")]
    file_path: Target,
    symbol: String,
    #[serde(default, deserialize_with = "lenient::number")]
    line: Option<u64>,
    new_name: String,
    /// Worked out once, so that the files that are judged are those that are changed.
    #[serde(skip)]
    #[schemars(skip)]
    foreseen: OnceLock<Foreseen>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Rename;

impl Tool for Rename {
    const NAME: &'static str = "rename";
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        format!("{} to {}", input.symbol, input.new_name)
    }

    fn looks_at(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        reads(&input.file_path, workspace)
    }

    async fn foresee(&self, input: &Input, workspace: &Arc<Workspace>) -> Result<(), ToolError> {
        let named = Named::find(workspace, &input.file_path, input.line, Some(&input.symbol))?;
        let new_name = input.new_name.trim();
        let rewrite = workspace.code.lsp.rename(named.at(), new_name).await.map_err(refused)?;
        if rewrite.files.is_empty() {
            let text = format!("the language server cannot rename `{}` here", input.symbol);
            return Err(ToolError::Refused(text));
        }
        let foreseen = Foreseen::of(&rewrite, workspace)?;
        input.foreseen.get_or_init(|| foreseen);
        Ok(())
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        known(&input.foreseen)?.actions(workspace)
    }

    async fn preview(&self, input: &Input, ctx: &ToolCtx) -> Option<Block> {
        let foreseen = input.foreseen.get()?.clone();
        aside(ctx, move |workspace| Ok(foreseen.plan(workspace)?.block())).await.ok()
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        known(&input.foreseen)?.clone().carry_out(ctx).await
    }
}

/// What a call has worked out before it was judged.
pub(super) fn known(foreseen: &OnceLock<Foreseen>) -> Result<&Foreseen, ToolError> {
    let missing = || ToolError::Refused("what it would change is not known; try again".to_owned());
    foreseen.get().ok_or_else(missing)
}

/// What a language server wants changed, worked out before the lock is asked.
#[derive(Debug, Clone)]
pub(super) struct Foreseen(Vec<Foreseeable>);

#[derive(Debug, Clone)]
struct Foreseeable {
    target: Target,
    before: String,
    after: String,
}

impl Foreseen {
    /// Works out every file's new text.
    pub(super) fn of(rewrite: &Rewrite, workspace: &Workspace) -> Result<Self, ToolError> {
        let mut files = Vec::new();
        for file in &rewrite.files {
            let target = Target::from(file.path.display().to_string());
            let before = content(workspace, target.spot(&workspace.fence)?)?;
            let after = rewrite.apply(file, &before).map_err(|error| {
                let name = name(workspace, &file.path);
                ToolError::Refused(format!("nothing was changed: {name}: {error}"))
            })?;
            if before != after {
                files.push(Foreseeable { target, before, after });
            }
        }
        Ok(Self(files))
    }

    /// Whether no file changes.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every file that changes; its lines are shown, so it is read as well.
    pub(super) fn actions(&self, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        let mut actions = Vec::new();
        for file in &self.0 {
            let spot = file.target.spot(&workspace.fence)?;
            actions.extend([Action::Read(spot.clone()), Action::Edit(spot.clone())]);
        }
        Ok(actions)
    }

    /// The same as a change of files that are still what they were.
    pub(super) fn plan(self, workspace: &Workspace) -> Result<Work, ToolError> {
        let mut files = Vec::new();
        for Foreseeable { target, before, after } in self.0 {
            let draft = Draft::open(workspace, &target)?;
            if draft.before.as_deref() != Some(before.as_bytes()) {
                let name = &draft.name;
                let text = format!("nothing was changed: {name} has just been changed; try again");
                return Err(ToolError::Refused(text));
            }
            files.push((draft, after.into_bytes()));
        }
        Ok(Work::of(files))
    }

    /// Writes all files, or none.
    pub(super) async fn carry_out(self, ctx: &ToolCtx) -> Result<Output, ToolError> {
        code::change(ctx, move |workspace| {
            let work = self.plan(workspace)?;
            work.carry_out(workspace)?;
            Ok(work.written())
        })
        .await
    }
}
