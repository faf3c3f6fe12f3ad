//! `/name`: a skill or a custom command the user calls. Its text is made beside the lane, so that a stop
//! reaches the commands in it, and then begins a turn like any other prompt.

use base::protocol::Delivery;
use base::{CallId, EntryId, Origin, Part, PartBody, TurnId};
use llm::{Reasoning, Target};
use settings::definition::skill::Context;
use settings::definition::{Definitions, Skill};
use store::{Queued, StoreError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tools::{Progress, ToolCtx, ToolError};

use super::fill::FillError;
use super::is_for_user;
use super::recipe::{Recipe, Terms};
use crate::commands;
use crate::crew::Choice;
use crate::lane::Answered;
use crate::session::Session;
use crate::turn::{Close, TurnStart, run_turn};

/// A call of a skill or a custom command by the user.
#[derive(Debug)]
pub(crate) struct Invocation {
    kind: Kind,
    skill: Skill,
    recipe: Recipe,
    arguments: String,
}

/// Which of the two was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Skill,
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
        let (kind, skill, recipe) = if let Some(skill) = skill(&definitions, name) {
            (Kind::Skill, skill, Recipe::of_skill(skill, &definitions))
        } else {
            let command = definitions.command(name)?;
            (Kind::Command, command, Recipe::of_command(command, &definitions))
        };
        let (skill, arguments) = (skill.clone(), arguments.to_owned());
        Some(Invocation { kind, skill, recipe, arguments })
    }

    /// Makes the text of a call and runs the turn it begins. The one who called hears once the text is
    /// durable, or why there is none.
    pub(crate) async fn invoke(
        &mut self,
        invocation: Invocation,
        turn: TurnId,
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
        // The terms of what is forked were its sub-agent's.
        let terms = match invocation.skill.context {
            Context::Fork => Terms::default(),
            Context::Here => Terms::of(&invocation.recipe, self.workspace.fence.folder()),
        };
        let start = TurnStart { id: turn, entries: vec![said.entry] };
        self.live.lend_with(said.entry, terms.rules);
        if let Err(error) = self.hand_over(said).await {
            drop(answer.send(Answered::Refused(error.to_string())));
            return Ok(None);
        }
        if invocation.skill.context == Context::Here {
            self.hooks.adopt_skill(&invocation.skill);
        }
        drop(answer.send(Answered::Begun));
        let own = (self.options.target.clone(), self.options.reasoning);
        let model = terms.model.and_then(|model| self.model_named(&model));
        if let Some(model) = &model {
            self.live.set_target(model.clone());
        }
        if let Some(effort) = terms.effort {
            self.live.set_reasoning(Reasoning::Effort(effort));
        }
        let worked = Box::pin(run_turn(self, start, cancel)).await;
        if model.is_some() {
            self.live.set_target_unless_wished(own.0);
        }
        if terms.effort.is_some() {
            self.live.set_reasoning_unless_wished(own.1);
        }
        worked.map(Some)
    }

    /// Makes a prompt durable: as an entry, or where hooks see it before it becomes one.
    pub(crate) async fn hand_over(&mut self, said: Queued) -> Result<(), StoreError> {
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
        let Invocation { kind, skill, recipe, arguments } = invocation;
        let name = || recipe.name.clone();
        let ctx = ToolCtx {
            workspace: self.workspace.clone(),
            call: CallId::generate(),
            policy: self.live.policy(),
            cage: None,
            cancel: cancel.clone(),
            progress: Progress::none(),
        };
        let text = self.book.text(recipe, arguments, &ctx).await;
        let text = text.map_err(|source| InvokeError::Text { name: name(), source })?;
        let text = self.mind.redactor.text(&text).into_owned();
        if skill.context == Context::Fork {
            let report = self.book.fork(skill, recipe, text, &ctx).await;
            let report = report.map_err(|source| InvokeError::Fork { name: name(), source })?;
            let what = match kind {
                Kind::Skill => "skill",
                Kind::Command => "command",
            };
            let intro = format!(
                "The user called the {what} `{}`; a sub-agent worked on it and reports:",
                skill.name
            );
            let intro = PartBody::Text { text: intro };
            let words = PartBody::Text { text: report.text };
            return Ok(vec![Part::new(intro, Origin::System), Part::new(words, report.origin)]);
        }
        Ok(vec![match kind {
            Kind::Command => Part::user_text(text),
            Kind::Skill => Part::new(PartBody::Text { text }, Origin::Skill(skill.name.clone())),
        }])
    }

    /// The model a definition names; none for the session's own.
    fn model_named(&self, word: &str) -> Option<Target> {
        let caller = &self.options.target;
        let own = caller.model_ref();
        match (Choice { mind: &self.mind, top: &self.options, caller }).of(word) {
            Ok(target) => Some(target).filter(|target| target.model_ref() != own),
            Err(why) => {
                self.say_notice(&format!("The skill's model: {why}; {own} answers."));
                None
            }
        }
    }
}
