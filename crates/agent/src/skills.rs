//! Skills and custom commands: what the model is told of them, and what comes of calling one.
//!
//! The model calls a skill with the `skill` tool, the user with `/name`; both get its text, expanded
//! ([`crate::expand`]) under the lock. Its header may lend rules until the user's next word: what it allows
//! only where its file is trusted, what it forbids always.
//!
//! | module | does |
//! |---|---|
//! | [`listing`] | what the model is told of the skills there are |
//! | [`recipe`] | a skill or a command, as far as calling it goes |
//! | [`fill`] | commands run and files read, as the lock allows |
//! | [`invoke`] | `/name`: one the user calls |
//! | [`lending`] | rules that hold until the user's next word |
//! | [`offer`] | what a session's prompts say of skills |
//! | [`shown`] | which texts the model has before it already |

pub(crate) mod fill;
pub(crate) mod invoke;
pub(crate) mod lending;
pub mod listing;
mod offer;
pub(crate) mod recipe;
mod shown;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::{Entry, Origin, Part};
use futures::future::BoxFuture;
use guard::{Action, Decision, Rules, Taint};
use llm::Reasoning;
use settings::definition::agent::Isolation;
use settings::definition::skill::{Callers, Context};
use settings::definition::{Definitions, Shelf, Skill};
use tools::{Order, Output, Skills, ToolCtx, ToolError, Who};

use self::fill::{FillError, Filling};
use self::recipe::{Place, Recipe, Terms};
use self::shown::Shown;
use crate::expand;
use crate::hooks::Hooks;
use crate::live::Live;
use crate::mind::Mind;

/// The tool that loads a skill.
pub(crate) const TOOL: &str = "skill";
/// The agent that works on a forked skill which names none.
const WORKER: &str = "general";
/// Where calls name the file they are about.
const FILE_KEYS: [&str; 2] = ["file_path", "path"];
/// Most folders below the session's own whose skills are looked for.
const MOST_BELOW: usize = 128;

/// The skills of one session, for the tool that loads one.
pub(crate) struct Book {
    mind: Arc<Mind>,
    live: Arc<Live>,
    hooks: Arc<Hooks>,
    known: Mutex<Known>,
}

/// What a session tells its book.
#[derive(Default)]
struct Known {
    taint: Taint,
    effort: String,
    shown: Shown,
    /// Folders below the session's own in which calls have named something, in the order they did.
    below: Vec<PathBuf>,
    /// How many of them had skills when somebody asked last.
    found: usize,
}

impl Book {
    /// A book for a session that has seen nothing yet.
    pub(crate) fn new(mind: Arc<Mind>, live: Arc<Live>, hooks: Arc<Hooks>) -> Self {
        Self { mind, live, hooks, known: Mutex::default() }
    }

    /// Takes in the newest entry of a branch.
    pub(crate) fn see(&self, branch: &[Entry], taint: &Taint) {
        self.follow(branch.last().into_iter());
        let mut known = self.known();
        known.shown.see(branch);
        if known.taint != *taint {
            known.taint.clone_from(taint);
        }
    }

    /// Takes in the whole branch of a session in `folder`: the skills in it stay readable.
    pub(crate) fn open(&self, branch: &[Entry], taint: &Taint, folder: &Path) {
        self.follow(branch.iter());
        let below = self.below();
        let mut known = self.known();
        known.found = below.len();
        known.shown = Shown::of(branch);
        known.taint.clone_from(taint);
        if known.shown.names().next().is_none() {
            return;
        }
        let definitions = self.mind.shelf.look_below(folder, &below);
        for skill in known.shown.names().filter_map(|name| definitions.skill(name)) {
            self.live.open_to_reading(Recipe::of_skill(skill, &definitions).readable());
        }
    }

    /// The definitions that can be found from a session's folder now, and the skills of folders below it in which
    /// calls have named something.
    pub(crate) fn definitions(&self, folder: &Path) -> Arc<Definitions> {
        self.mind.shelf.look_below(folder, &self.below())
    }

    /// The folders below that have skills of their own.
    pub(crate) fn below(&self) -> Vec<PathBuf> {
        let below = self.known().below.clone();
        Shelf::with_skills(&below)
    }

    /// Whether there are more of them than when this was asked last.
    pub(crate) fn has_found_more(&self) -> bool {
        let found = self.below().len();
        std::mem::replace(&mut self.known().found, found) < found
    }

    /// Notes the folders of the files that calls name.
    fn follow<'e>(&self, entries: impl Iterator<Item = &'e Entry>) {
        let named = entries.flat_map(named_files);
        let policy = self.live.policy();
        let fence = &policy.fence;
        if fence.is_confined() {
            return;
        }
        for place in named.filter_map(|path| fence.locate(path).ok()) {
            let inner = place.real.ancestors().skip(usize::from(!place.real.is_dir()));
            let inner =
                inner.take_while(|it| *it != fence.folder() && it.starts_with(fence.folder()));
            let mut known = self.known();
            for folder in inner {
                if known.below.len() < MOST_BELOW && !known.below.iter().any(|it| it == folder) {
                    known.below.push(folder.to_owned());
                }
            }
        }
    }

    /// How hard the model thinks, from now on.
    pub(crate) fn set_effort(&self, reasoning: Reasoning) {
        self.known().effort = match reasoning {
            Reasoning::ModelDefault => "default".to_owned(),
            Reasoning::Effort(effort) => effort.to_string(),
            Reasoning::Budget(tokens) => format!("{tokens} tokens"),
        };
    }

    /// The text of a recipe with its arguments put in; its folder can be read from now on.
    pub(crate) async fn text(
        &self,
        recipe: &Recipe,
        arguments: &str,
        ctx: &ToolCtx,
    ) -> Result<String, FillError> {
        let (taint, effort) = {
            let known = self.known();
            (known.taint.clone(), known.effort.clone())
        };
        let place = Place { workspace: &ctx.workspace, paths: &self.mind.paths, effort: &effort };
        let variables = recipe.variables(&place);
        self.live.open_to_reading(recipe.readable());
        let pieces = expand::expand(recipe.template(), arguments, &variables);
        let filling = Filling { live: &self.live, recipe, taint, variables: &variables, ctx };
        let text = filling.text(pieces).await?;
        Ok(format!("{}{}", recipe.heading(), text.trim()))
    }

    async fn load(&self, name: &str, arguments: &str, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let folder = ctx.workspace.fence.folder();
        let definitions = self.definitions(folder);
        let skill = called(&definitions, name)?;
        self.check_name(name, &skill.name)?;
        let recipe = Recipe::of_skill(skill, &definitions);
        let text = self.text(&recipe, arguments, ctx).await.map_err(|error| match error {
            FillError::Cancelled => ToolError::Cancelled,
            FillError::Untrusted
            | FillError::Refused { .. }
            | FillError::Failed { .. }
            | FillError::Start { .. }
            | FillError::TooMany => {
                ToolError::Refused(format!("The skill `{}`: {error}", skill.name))
            }
        })?;
        match skill.context {
            Context::Fork => self.fork(skill, &recipe, text, ctx).await,
            Context::Here => {
                self.live.lend(Terms::of(&recipe, folder).rules);
                self.hooks.adopt_skill(skill);
                let text = ctx.workspace.redactor.text(&text).into_owned();
                let is_known = self.known().shown.has(&skill.name, &text);
                let text = if is_known { same(&skill.name) } else { text };
                let origin = Origin::Skill(skill.name.clone());
                Ok(Output::text(text).from(origin).with_title(&skill.name))
            }
        }
    }

    /// Has a sub-agent work on a skill's text, on the skill's terms. What it allows is lent to the caller, since
    /// a sub-agent may no more than that one; the rest is for the sub-agent alone.
    pub(crate) async fn fork(
        &self,
        skill: &Skill,
        recipe: &Recipe,
        prompt: String,
        ctx: &ToolCtx,
    ) -> Result<Output, ToolError> {
        let Rules { allow, deny, .. } = Terms::of(recipe, ctx.workspace.fence.folder()).rules;
        self.live.lend(Rules { allow, ..Rules::default() });
        let (effort, adopted) = (skill.effort, Some(Arc::new(skill.clone())));
        let order = Order {
            who: Who::Named(skill.agent.clone().unwrap_or_else(|| WORKER.to_owned())),
            prompt,
            title: skill.name.clone(),
            model: skill.model.clone().filter(|model| model != "inherit"),
            background: Some(skill.background),
            isolation: Isolation::None,
            resume: None,
            terms: tools::Terms { deny, effort, skill: adopted },
        };
        let report = ctx.workspace.spawner.spawn(order, ctx).await?;
        let text = if skill.background {
            format!("The skill `{}` runs in the background, by {}.", skill.name, report.agent)
        } else {
            report.text
        };
        Ok(Output::text(text).from(report.origin).with_title(&skill.name))
    }

    /// Refuses another spelling of a name that rules are about: what was judged is what was called.
    fn check_name(&self, asked: &str, name: &str) -> Result<(), ToolError> {
        if asked.trim().trim_start_matches('/') == name {
            return Ok(());
        }
        let action = Action::Named(name.to_owned());
        let verdict = self.live.policy().decide(TOOL, &[action], &Taint::Clean);
        match verdict.decision {
            Decision::Allow => Ok(()),
            Decision::Ask | Decision::Deny => Err(ToolError::Refused(format!(
                "The skill is called `{name}`; only by that name can it be allowed."
            ))),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Skills for Book {
    fn read<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
        ctx: &'a ToolCtx,
    ) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(self.load(name, arguments, ctx))
    }
}

/// The files that the calls of an entry name.
pub(crate) fn named_files(entry: &Entry) -> impl Iterator<Item = &str> {
    let calls = entry.kind.parts().iter().filter_map(Part::as_call);
    calls.filter_map(|call| {
        let input = &call.input.value;
        FILE_KEYS.iter().find_map(|key| input.get(*key)?.as_str())
    })
}

/// Whether the model may call a skill.
pub(crate) fn is_for_model(skill: &Skill) -> bool {
    match skill.callers {
        Callers::Both | Callers::Model => true,
        Callers::User => false,
    }
}

/// Whether the user may call a skill.
pub(crate) fn is_for_user(skill: &Skill) -> bool {
    match skill.callers {
        Callers::Both | Callers::User => true,
        Callers::Model => false,
    }
}

/// The skill the model means.
fn called<'a>(definitions: &'a Definitions, name: &str) -> Result<&'a Skill, ToolError> {
    let name = name.trim().trim_start_matches('/');
    let Some(skill) = definitions.skill(name) else {
        let usable = definitions.skills.iter().filter(|skill| is_for_model(skill));
        let names: Vec<&str> = usable.map(|skill| skill.name.as_str()).collect();
        let text = if names.is_empty() {
            format!("There is no skill `{name}`, and no other either.")
        } else {
            format!("There is no skill `{name}`. The skills are: {}.", names.join(", "))
        };
        return Err(ToolError::Refused(text));
    };
    if is_for_model(skill) {
        return Ok(skill);
    }
    Err(ToolError::Refused(format!("Only the user may call the skill `{name}`, as /{name}.")))
}

/// What is said instead of a text the model has before it.
fn same(name: &str) -> String {
    format!("The skill `{name}` is loaded already, word for word; go by what it says above.")
}
