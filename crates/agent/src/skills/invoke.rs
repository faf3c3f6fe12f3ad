//! `/name`: a skill or a custom command the user calls. Its text is made beside the lane, so that a stop
//! reaches the commands in it, and then begins a turn like any other prompt.

use base::definition::skill::Context;
use base::definition::{Command, Definitions, Skill};
use base::protocol::Delivery;
use base::{CallId, EntryId, ModelRef, Origin, Part, PartBody};
use llm::Target;
use store::{Queued, StoreError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tools::{Progress, ToolCtx, ToolError};

use super::fill::FillError;
use super::recipe::{Recipe, Terms};
use super::{fork, is_for_user};
use crate::commands;
use crate::lane::Answered;
use crate::session::Session;
use crate::turn::{Close, run_turn};

/// A call of a skill or a custom command by the user.
#[derive(Debug)]
pub(crate) struct Invocation {
    what: What,
    recipe: Recipe,
    arguments: String,
}

#[derive(Debug)]
enum What {
    Skill(Box<Skill>),
    Command,
}

/// Why a call did not begin a turn.
#[derive(Debug, thiserror::Error)]
enum InvokeError {
    /// Its text could not be made.
    #[error("/{name}: {source}")]
    Text {
        /// The name.
        name: String,
        /// What went wrong.
        source: FillError,
    },
    /// The sub-agent that should have worked on it failed.
    #[error("/{name}: {source}")]
    Fork {
        /// The name.
        name: String,
        /// What went wrong.
        source: ToolError,
    },
}

/// The user's skill of a name.
pub(crate) fn skill<'a>(definitions: &'a Definitions, name: &str) -> Option<&'a Skill> {
    definitions.skill(name).filter(|skill| is_for_user(skill))
}

impl Session {
    /// What a line calls; none if it is no skill and no custom command. Commands of ours come first.
    pub(crate) fn called(&self, line: &str) -> Option<Invocation> {
        let (name, arguments) = commands::split(line)?;
        if commands::find(name).is_some() {
            return None;
        }
        let definitions = self.definitions();
        let (what, recipe) = if let Some(skill) = skill(&definitions, name) {
            (What::Skill(Box::new(skill.clone())), Recipe::of_skill(skill, &definitions))
        } else {
            let command: &Command = definitions.command(name)?;
            (What::Command, Recipe::of_command(command, &definitions))
        };
        Some(Invocation { what, recipe, arguments: arguments.to_owned() })
    }

    /// Makes the text of a call and runs the turn it begins. The one who called hears once the text is
    /// durable, or why there is none.
    pub(crate) async fn invoke(
        &mut self,
        invocation: Invocation,
        answer: oneshot::Sender<Answered>,
        cancel: &CancellationToken,
    ) -> Result<Option<Close>, StoreError> {
        let parts = match self.parts_of(&invocation, cancel).await {
            Ok(parts) => parts,
            Err(error) => {
                // A face that is gone needs no answer.
                drop(answer.send(Answered::Refused(error.to_string())));
                return Ok(None);
            }
        };
        let at = self.mind.clock.now();
        let said = Queued { entry: EntryId::new(), at, delivery: Delivery::Queue, parts };
        let terms = Terms::of(&invocation.recipe, self.workspace.fence.folder());
        self.live.lend_with(said.entry, terms.rules);
        if let Err(error) = self.hand_over(said).await {
            drop(answer.send(Answered::Refused(error.to_string())));
            return Ok(None);
        }
        if let What::Skill(skill) = &invocation.what {
            self.hooks.adopt_skill(skill);
        }
        drop(answer.send(Answered::Begun));
        let other = terms.model.and_then(|model| self.model_named(&model));
        let Some(other) = other else { return Box::pin(run_turn(self, cancel)).await.map(Some) };
        let own = self.options.target.clone();
        self.live.set_target(other);
        let worked = Box::pin(run_turn(self, cancel)).await;
        self.live.set_target_unless_wished(own);
        worked.map(Some)
    }

    /// Makes a prompt durable: as an entry, or where hooks see it before it becomes one.
    async fn hand_over(&mut self, said: Queued) -> Result<(), StoreError> {
        if !self.screens_prompts() {
            return self.take_prompts(vec![said]).await;
        }
        self.mind.store.enqueue(self.id, said.clone()).await?;
        self.live.queue.join(said);
        Ok(())
    }

    async fn parts_of(
        &self,
        invocation: &Invocation,
        cancel: &CancellationToken,
    ) -> Result<Vec<Part>, InvokeError> {
        let Invocation { what, recipe, arguments } = invocation;
        let name = || recipe.name.clone();
        let ctx = ToolCtx {
            workspace: self.workspace.clone(),
            call: CallId::generate(),
            cage: None,
            cancel: cancel.clone(),
            progress: Progress::none(),
        };
        let text = self.book.text(recipe, arguments, &ctx).await;
        let text = text.map_err(|source| InvokeError::Text { name: name(), source })?;
        let text = self.mind.redactor.text(&text).into_owned();
        match what {
            What::Command => Ok(vec![Part::user_text(text)]),
            What::Skill(skill) if skill.context == Context::Fork => {
                let report = fork(skill, text, &ctx).await;
                let report = report.map_err(|source| InvokeError::Fork { name: name(), source })?;
                let intro = format!(
                    "The user called the skill `{}`; a sub-agent worked on it and reports:",
                    skill.name
                );
                let intro = PartBody::Text { text: intro };
                let words = PartBody::Text { text: report.text };
                Ok(vec![Part::new(intro, Origin::System), Part::new(words, report.origin)])
            }
            What::Skill(skill) => {
                let origin = Origin::Skill(skill.name.clone());
                Ok(vec![Part::new(PartBody::Text { text }, origin)])
            }
        }
    }

    /// The model a definition names; none for the session's own.
    fn model_named(&self, name: &str) -> Option<Target> {
        let name = name.trim();
        let name = self.mind.config.agents.models.get(name).map_or(name, String::as_str);
        match name.to_ascii_lowercase().as_str() {
            "" | "inherit" | "large" | "sonnet" | "opus" | "fable" => return None,
            "small" | "haiku" => return self.options.small.clone(),
            _ => {}
        }
        let model = name.parse::<ModelRef>();
        let model = model.unwrap_or_else(|_| ModelRef::new(&self.options.target.provider, name));
        let target = (self.mind.resolve)(&model).ok();
        if target.is_none() {
            let own = self.options.target.model_ref();
            self.say_notice(&format!("There is no model `{name}` here; {own} answers."));
        }
        target
    }
}
