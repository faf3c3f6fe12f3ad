//! An open session, seen from outside: what is durable of it and what may change. A turn that has the
//! session need not be asked.

use std::path::Path;
use std::sync::Arc;

use base::protocol::{ClientError, ModelChoice};
use base::transcript::prefix;
use base::{Entry, Event, ModelRef, SessionId};
use store::{By, UsageQuery};
use tools::Workspace;

use super::{Stored, aside};
use crate::commands::{self, Ctx};
use crate::coordinator::refused;
use crate::events::Events;
use crate::instructions;
use crate::live::Live;
use crate::mind::Mind;
use crate::session::Session;

/// An open session, seen from outside.
pub(crate) struct Sight {
    pub(crate) id: SessionId,
    pub(crate) mind: Arc<Mind>,
    pub(crate) live: Arc<Live>,
    pub(crate) events: Events,
    pub(crate) workspace: Arc<Workspace>,
    /// How faces were told that it began to work for another session; none for one that a face began.
    pub(crate) begun: Option<Arc<Event>>,
    folder: String,
    style: String,
}

impl Sight {
    /// A session that is being opened.
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            id: session.id,
            mind: session.mind.clone(),
            live: session.live.clone(),
            events: session.events.clone(),
            workspace: session.workspace.clone(),
            begun: session.kin.above.as_ref().map(|above| above.begun.clone()),
            folder: session.workspace.fence.folder().display().to_string(),
            style: session.style_name().to_owned(),
        }
    }

    /// The current branch, as far as it is durable.
    pub(crate) async fn branch(&self) -> Stored<Vec<Entry>> {
        self.mind.store.branch(self.id).await
    }

    /// Runs a slash command that only looks.
    pub(crate) async fn command(
        &self,
        line: &str,
        models: &[ModelChoice],
    ) -> Result<commands::Reply, ClientError> {
        let branch = self.branch().await.map_err(|error| refused(&error))?;
        let past = self.mind.store.moments(self.id).await.map_err(|error| refused(&error))?;
        let query = UsageQuery { by: By::All, since: None, session: Some(self.id) };
        let sums = self.mind.store.usage(query).await.map_err(|error| refused(&error))?;
        let (mind, folder) = (self.mind.clone(), self.folder.clone());
        let (definitions, instructions) = aside(move || {
            let (folder, options) = (Path::new(&folder), &mind.config.options);
            let loaded = instructions::load(folder, &mind.paths, &mind.env, options);
            (mind.shelf.look(folder), loaded)
        })
        .await?;
        let target = self.live.next_target();
        let models: Vec<ModelRef> = models.iter().map(|choice| choice.model.clone()).collect();
        let (system, tools) = prefix(&branch).unwrap_or_default();
        let ctx = Ctx {
            session: self.id,
            folder: &self.folder,
            branch: &branch,
            past: &past,
            system,
            tools,
            instructions: &instructions,
            model: &target.model_ref(),
            window: target.model.context_window,
            models: &models,
            mode: self.live.policy().mode,
            spent: sums.first().map(|(_, sum)| *sum).unwrap_or_default(),
            initialize_as: &self.mind.config.options.initialize_as,
            definitions: &definitions,
            style: &self.style,
        };
        Ok(commands::run(line, &ctx))
    }
}
