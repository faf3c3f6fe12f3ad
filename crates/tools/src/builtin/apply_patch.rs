//! `apply_patch`: several files changed by one patch, all or none.

use std::io;
use std::sync::OnceLock;

use base::Block;
use guard::{Action, Spot};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::code::{self, Written};
use crate::diff::Change;
use crate::draft::{Draft, aside};
use crate::patch::{Deed, Section, parse, place};
use crate::seen;
use crate::target::Target;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Change files by a patch in codex's format: `*** Begin Patch`, then `*** Add File: path`,
/// `*** Delete File: path` or `*** Update File: path` sections, then `*** End Patch`. All or nothing.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "input")]
    patch: String,
    /// Read once, so that the files that are judged are those that are changed.
    #[serde(skip)]
    #[schemars(skip)]
    sections: OnceLock<Vec<Section>>,
}

impl Input {
    fn sections(&self) -> Result<&[Section], ToolError> {
        if let Some(sections) = self.sections.get() {
            return Ok(sections);
        }
        let sections = parse(&self.patch).map_err(|error| ToolError::Refused(error.to_string()))?;
        Ok(self.sections.get_or_init(|| sections))
    }
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct ApplyPatch;

impl Tool for ApplyPatch {
    const NAME: &'static str = "apply_patch";
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        match input.sections() {
            Ok(sections) => {
                let paths: Vec<String> =
                    sections.iter().map(|section| section.path.to_string()).collect();
                paths.join(", ")
            }
            Err(error) => error.to_string(),
        }
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        let mut actions = Vec::new();
        for Section { path, deed } in input.sections()? {
            actions.push(Action::Edit(path.spot(&workspace.fence)?.clone()));
            match deed {
                Deed::Update { to: Some(to), .. } => {
                    actions.push(Action::Edit(to.spot(&workspace.fence)?.clone()));
                }
                Deed::Update { to: None, .. } | Deed::Add { .. } | Deed::Delete => {}
            }
        }
        Ok(actions)
    }

    async fn preview(&self, input: &Input, ctx: &ToolCtx) -> Option<Block> {
        let input = input.clone();
        aside(ctx, move |workspace| Ok(Work::plan(&input, workspace)?.block())).await.ok()
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        code::change(ctx, move |workspace| {
            let work = Work::plan(&input, workspace)?;
            work.carry_out(workspace)?;
            Ok(work.written())
        })
        .await
    }
}

/// What a patch does to all its files, worked out before any is touched.
#[derive(Default)]
pub(super) struct Work {
    /// Each file once, whatever its sections do to it.
    files: Vec<Touched>,
    /// Files that change their name: from, to.
    moves: Vec<(usize, usize)>,
    notes: Vec<String>,
}

/// A file a patch touches.
struct Touched {
    draft: Draft,
    /// Its content after the sections so far; none if it is gone.
    after: Option<Vec<u8>>,
}

/// Whether a section may change what the session has not seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// It replaces the content whole, so it must know it.
    Known,
    /// The lines it names, or that it deletes the file, say what it knows.
    Current,
}

impl Work {
    /// Files that get other content, whoever has worked that out.
    pub(super) fn of(files: Vec<(Draft, Vec<u8>)>) -> Self {
        let touched = |(draft, after)| Touched { draft, after: Some(after) };
        Self { files: files.into_iter().map(touched).collect(), ..Self::default() }
    }

    /// What was done.
    pub(super) fn written(self) -> Written {
        let output = Output::text(self.report()).with_body(self.block());
        let file = |Touched { draft, after }| (draft.spot, draft.before, after);
        Written { output, files: self.files.into_iter().map(file).collect() }
    }

    fn plan(input: &Input, workspace: &Workspace) -> Result<Self, ToolError> {
        let mut work = Self::default();
        for section in input.sections()? {
            work.section(section, workspace)?;
        }
        Ok(work)
    }

    fn section(&mut self, section: &Section, workspace: &Workspace) -> Result<(), ToolError> {
        match &section.deed {
            Deed::Add { content } => {
                let file = self.touch(&section.path, Need::Known, workspace)?;
                self.files[file].after = Some(content.clone().into_bytes());
            }
            Deed::Delete => {
                let file = self.touch(&section.path, Need::Current, workspace)?;
                self.existing(file)?;
                self.files[file].after = None;
            }
            Deed::Update { to, chunks } => {
                let file = self.touch(&section.path, Need::Current, workspace)?;
                let placed = place(self.existing(file)?, chunks).map_err(|error| {
                    let name = &self.files[file].draft.name;
                    ToolError::Refused(format!("nothing was changed. {name}: {error}"))
                })?;
                let name = self.files[file].draft.name.clone();
                self.notes.extend(placed.notes.iter().map(|note| format!("{name}: {note}")));
                self.files[file].after = Some(placed.bytes);
                if let Some(to) = to {
                    let to = self.touch(to, Need::Known, workspace)?;
                    self.rename(file, to);
                }
            }
        }
        Ok(())
    }

    fn rename(&mut self, from: usize, to: usize) {
        if from == to {
            return;
        }
        self.files[to].after = self.files[from].after.take();
        // What this patch makes is not on disk under its first name.
        if self.files[from].draft.before.is_some() {
            self.moves.push((from, to));
        }
    }

    /// The file at a path, read when the patch first names it.
    fn touch(
        &mut self,
        target: &Target,
        need: Need,
        workspace: &Workspace,
    ) -> Result<usize, ToolError> {
        let spot = target.spot(&workspace.fence)?;
        let same = |file: &Touched| file.draft.spot.real == spot.real;
        if let Some(known) = self.files.iter().position(same) {
            return Ok(known);
        }
        let draft = Draft::open(workspace, target)?;
        match need {
            Need::Known => draft.must_be_known(workspace)?,
            Need::Current => draft.must_not_be_stale(workspace)?,
        }
        let after = draft.before.clone();
        self.files.push(Touched { draft, after });
        Ok(self.files.len() - 1)
    }

    fn existing(&self, file: usize) -> Result<&[u8], ToolError> {
        let Touched { draft, after } = &self.files[file];
        after.as_deref().ok_or_else(|| {
            let name = &draft.name;
            ToolError::Refused(format!("nothing was changed: there is no file {name}"))
        })
    }

    /// Writes everything; if the system refuses half way, what was written is taken back.
    pub(super) fn carry_out(&self, workspace: &Workspace) -> Result<(), ToolError> {
        for (done, step) in self.steps().iter().enumerate() {
            if let Err((draft, source)) = self.take(step, workspace) {
                let left = self.take_back(done, workspace);
                return Err(match left.as_slice() {
                    [] => draft.io("write", source),
                    left => ToolError::Refused(format!(
                        "cannot write {}: {source}; these files could not be put back: {}",
                        draft.name,
                        left.join(", ")
                    )),
                });
            }
        }
        for Touched { draft, after } in &self.files {
            if let Some(after) = after {
                seen::remember_written(workspace, &draft.spot, after);
            }
        }
        Ok(())
    }

    /// Names first, so that a file keeps its mode under the new one.
    fn steps(&self) -> Vec<Step> {
        let moves = self.moves.iter().map(|&(from, to)| Step::Move(from, to));
        let rest = (0..self.files.len()).map(|file| match self.files[file].after {
            Some(_) => Step::Write(file),
            None => Step::Remove(file),
        });
        moves.chain(rest).collect()
    }

    fn take(&self, step: &Step, workspace: &Workspace) -> Result<(), (&Draft, io::Error)> {
        let (file, done) = match *step {
            Step::Move(from, to) => (to, workspace.rename(self.spot(from), self.spot(to))),
            Step::Write(file) => {
                let bytes = self.files[file].after.as_deref().unwrap_or_default();
                (file, workspace.replace(self.spot(file), bytes))
            }
            Step::Remove(file) => (file, gone(workspace.remove(self.spot(file)))),
        };
        done.map_err(|source| (&self.files[file].draft, source))
    }

    /// Undoes the first steps, last first. Gives the names of files that could not be put back.
    fn take_back(&self, steps: usize, workspace: &Workspace) -> Vec<String> {
        let mut left = Vec::new();
        for step in self.steps()[..steps].iter().rev() {
            let restore = |file: usize| match &self.files[file].draft.before {
                Some(before) => workspace.replace(self.spot(file), before),
                None => gone(workspace.remove(self.spot(file))),
            };
            let (file, undone) = match *step {
                Step::Move(from, to) => {
                    let back = workspace.rename(self.spot(to), self.spot(from));
                    (from, back.and_then(|()| restore(from)).and_then(|()| restore(to)))
                }
                Step::Write(file) if self.moves.iter().any(|&(_, to)| to == file) => continue,
                Step::Write(file) | Step::Remove(file) => (file, restore(file)),
            };
            if undone.is_err() {
                left.push(self.files[file].draft.name.clone());
            }
        }
        left
    }

    fn spot(&self, file: usize) -> &Spot {
        &self.files[file].draft.spot
    }

    /// What happened to each file, a line each.
    fn report(&self) -> String {
        let lines = self.changes().map(|(file, change)| {
            let Touched { draft, after } = &self.files[file];
            let (name, counts) = (&draft.name, change.counts());
            match (self.moves.iter().find(|&&(_, to)| to == file), &draft.before, after) {
                (Some(&(from, _)), _, Some(_)) => {
                    let from = &self.files[from].draft.name;
                    format!("moved {from} to {name} ({counts})")
                }
                (_, _, None) => format!("deleted {name}"),
                (None, None, Some(_)) => format!("created {name} ({counts})"),
                (None, Some(_), Some(_)) => {
                    format!("changed {name} ({counts}) from line {}", change.first_line)
                }
            }
        });
        let lines: Vec<String> = lines.chain(self.notes.iter().cloned()).collect();
        lines.join("\n")
    }

    /// The diff of each file a face should see; one that moved is compared with what it was before.
    fn changes(&self) -> impl Iterator<Item = (usize, Change)> {
        let moved_away = |file: usize| {
            self.files[file].after.is_none() && self.moves.iter().any(|&(from, _)| from == file)
        };
        (0..self.files.len()).filter(move |&file| !moved_away(file)).map(|file| {
            let from =
                self.moves.iter().find(|&&(_, to)| to == file).map_or(file, |&(from, _)| from);
            let before = self.files[from].draft.before.as_deref().unwrap_or_default();
            let after = self.files[file].after.as_deref().unwrap_or_default();
            (file, Change::between(before, after))
        })
    }

    pub(super) fn block(&self) -> Block {
        let changes: Vec<(usize, Change)> = self.changes().collect();
        match changes.as_slice() {
            [(file, change)] => change.block(&self.files[*file].draft.name),
            several => {
                let part = |(file, change): &(usize, Change)| {
                    let name = &self.files[*file].draft.name;
                    format!("--- {name}\n+++ {name}\n{}", change.unified)
                };
                let unified = several.iter().map(part).collect();
                Block::Diff { path: format!("{} files", several.len()), unified }
            }
        }
    }
}

/// One step of writing.
enum Step {
    Move(usize, usize),
    Write(usize),
    Remove(usize),
}

/// A file that is gone already needs no removing.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
