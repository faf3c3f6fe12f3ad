//! One session as a turn works on it: branch, prefix, hands.

mod open;

use std::sync::Arc;

use base::protocol::Scope;
use base::transcript::{
    self, Call, ToolSpec, is_unfinished, last_said, open_calls, own_command, turns,
};
use base::{Entry, EntryId, EntryKind, Event, ModelRef, Origin, Part, PartBody, SessionId};
use guard::{Rule, Taint};
use llm::Request;
use store::{By, Queued, StoreError, UsageQuery};
use tools::Workspace;

use crate::approvals::Waiting;
use crate::crew::{Crew, Kin};
use crate::events::Events;
use crate::hooks::{Begin, Hooks};
use crate::instructions::{self, Loaded};
use crate::live::{Live, Wishes, lock};
use crate::mind::{Mind, Options, Presence, Tools};
use crate::prompt::{self, Audience, Hints};
use crate::purse::Purse;
use crate::skills::{self, Book};
use crate::surroundings::{STATUS_TIMEOUT, SurroundingsReader};
use crate::{commands, surroundings, toolset};

/// What is said for the user who wants an interrupted answer to go on.
const GO_ON: &str = "Go on from where you stopped.";

/// Why a session cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// It could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its folder is gone or cannot be entered.
    #[error("cannot work in {folder}: {source}")]
    Folder {
        /// The folder.
        folder: String,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A session. One owner at a time: its lane, or the turn that runs.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) mind: Arc<Mind>,
    pub(crate) events: Events,
    pub(crate) waiting: Waiting,
    pub(crate) options: Options,
    pub(crate) live: Arc<Live>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) book: Arc<Book>,
    project: String,
    /// The current branch, oldest first.
    pub(crate) branch: Vec<Entry>,
    /// Whether content nobody vouches for is in the context.
    pub(crate) taint: Taint,
    /// What the session and its sub-agents have used up and may use up.
    pub(crate) purse: Arc<Purse>,
    /// Its sub-agents.
    pub(crate) crew: Arc<Crew>,
    /// What it is in its family.
    pub(crate) kin: Kin,
    /// The user's own programs, which are told and asked.
    pub(crate) hooks: Arc<Hooks>,
    /// How it begins, where its branch does not tell.
    pub(crate) came: Option<Begin>,
    /// What hooks have the user say before the first prompt.
    pub(crate) first_words: Option<String>,
    /// The instruction files the system prompt was made with; loaded when they are first asked for.
    instructions: Option<Loaded>,
}

impl Session {
    /// The newest entry of the branch.
    pub(crate) fn head(&self) -> Option<EntryId> {
        self.branch.last().map(|entry| entry.id)
    }

    /// An entry that follows the newest one.
    pub(crate) fn entry(&self, kind: EntryKind) -> Entry {
        Entry { id: EntryId::new(), parent: self.head(), at: self.mind.clock.now(), kind }
    }

    /// Makes entries durable, each below the one before, and tells the faces.
    pub(crate) async fn append(&mut self, entries: Vec<Entry>) -> Result<(), StoreError> {
        self.mind.store.append(self.id, entries.clone()).await?;
        self.took(entries);
        Ok(())
    }

    /// The same for a step inside a turn.
    pub(crate) async fn append_step(&mut self, entry: Entry) -> Result<(), StoreError> {
        self.mind.store.append_step(self.id, vec![entry.clone()]).await?;
        self.took(vec![entry]);
        Ok(())
    }

    fn took(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            let event = Event::Appended { session: self.id, entry: entry.clone() };
            self.events.publish(event);
            self.adopt(entry);
        }
    }

    /// Takes an entry that is durable already into the branch.
    pub(crate) fn adopt(&mut self, entry: Entry) {
        self.taint = stain(std::mem::take(&mut self.taint), taint_of(&entry));
        lock(&self.live.taint).clone_from(&self.taint);
        self.branch.push(entry);
        self.book.see(&self.branch, &self.taint);
    }

    /// Makes prompts entries of the branch, with what must stand before the first of them.
    pub(crate) async fn take_prompts(&mut self, prompts: Vec<Queued>) -> Result<(), StoreError> {
        let mut entries = self.standing_before().await;
        let mut news: Vec<Part> =
            self.skill_news(&entries).into_iter().chain(self.lent_news(&entries)).collect();
        let is_prompt =
            |kind: &EntryKind| matches!(kind, EntryKind::User { .. }) && !kind.is_own_command();
        let is_begun = self.branch.iter().any(|it| is_prompt(&it.kind));
        let mut first_words = self.crew.first_words().filter(|_| !is_begun);
        for mut prompt in prompts {
            self.live.hear(prompt.entry);
            self.hooks.take_up(prompt.entry);
            if own_command(&prompt.parts).is_none() {
                prompt.parts.splice(0..0, first_words.take());
                prompt.parts.extend(self.crew.asides(&prompt.parts, &self.branch));
            }
            prompt.parts.append(&mut news);
            let kind = EntryKind::User { parts: prompt.parts };
            entries.push(Entry { id: prompt.entry, parent: None, at: prompt.at, kind });
        }
        let mut parent = self.head();
        for entry in &mut entries {
            entry.parent = parent;
            parent = Some(entry.id);
        }
        self.append(entries).await
    }

    /// Prepares an interrupted turn to go on; false if there is nothing to go on with.
    pub(crate) async fn take_up(&mut self) -> Result<bool, StoreError> {
        let before = self.standing_before().await;
        if !before.is_empty() {
            self.append(before).await?;
        }
        if !is_unfinished(&self.branch) {
            return Ok(false);
        }
        if let Some(EntryKind::Assistant { .. }) = last_said(&self.branch) {
            let text = PartBody::Text { text: GO_ON.to_owned() };
            let parts = vec![Part::new(text, Origin::System)];
            let entry = self.entry(EntryKind::User { parts });
            self.append(vec![entry]).await?;
        }
        Ok(true)
    }

    /// What must stand before the next prompt: results of calls a dead process left open, and the prefix
    /// where it is new.
    async fn standing_before(&mut self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let open = open_calls(&self.branch);
        if !open.is_empty() {
            let parts = open.into_iter().map(Call::lost).collect();
            entries.push(self.entry(EntryKind::ToolResults { parts }));
        }
        if let Some(prefix) = self.new_prefix().await {
            let mut entry = self.entry(prefix);
            entry.parent = entries.last().map(|entry| entry.id).or(entry.parent);
            entries.push(entry);
        }
        entries
    }

    /// The prefix requests must begin with from now on; none while it is what it was.
    async fn new_prefix(&mut self) -> Option<EntryKind> {
        let tools = match &self.options.tools {
            Tools::None => Vec::new(),
            wanted @ (Tools::All | Tools::But(..) | Tools::Only(_)) => {
                let mut tools = toolset::specs(self, wanted);
                tools.retain(|tool| tool.name != skills::TOOL || self.offers_skills());
                tools
            }
        };
        match self.prefix() {
            Some((_, known)) if known == tools => None,
            Some((system, _)) => Some(EntryKind::Prefix {
                system: system.to_vec(),
                tools,
                reason: "the tools changed".to_owned(),
            }),
            None => {
                let reason = "the session begins".to_owned();
                Some(EntryKind::Prefix { system: self.system_prompt().await, tools, reason })
            }
        }
    }

    async fn system_prompt(&mut self) -> Vec<String> {
        let whole = match (&self.options.system_prompt, &self.options.tools) {
            (Some(own), _) => Some(own.clone()),
            (None, Tools::None) => {
                Some(self.kin.prompt().unwrap_or_else(|| prompt::TALK.to_owned()))
            }
            (None, Tools::All | Tools::But(..) | Tools::Only(_)) => None,
        };
        if let Some(whole) = whole {
            let skills = self.skill_segment();
            let more = skills.into_iter().chain(self.options.append_prompt.clone());
            return std::iter::once(whole).chain(more).collect();
        }
        if self.kin.is_confined() {
            let date = surroundings::day(self.mind.clock.now(), &self.mind.env);
            let where_and_when =
                format!("{}{}\nDate: {date}", surroundings::FIRST, guard::room::SHOWN);
            return self.kin.prompt().into_iter().chain([where_and_when]).collect();
        }
        let folder = self.workspace.fence.folder().to_owned();
        let (mind, at) = (self.mind.clone(), folder.clone());
        // Git runs while the instruction files are read.
        let reader = SurroundingsReader::start(
            &folder,
            &self.mind.env,
            &self.mind.clock,
            move || mind.git(&at),
            STATUS_TIMEOUT,
        );
        let loaded = self.instructions().clone();
        let hints = Hints {
            audience: match self.mind.presence {
                Presence::Attended | Presence::Reachable => Audience::Person,
                Presence::Alone => Audience::Nobody,
            },
            attribution: prompt::attribution(
                &self.mind.config.options.attribution,
                &self.options.target.model.id,
            ),
            agents: self.crew.offered(),
            skills: self.skill_segment(),
            style: self.style(),
            ..Hints::default()
        };
        for warning in &loaded.warnings {
            self.say_notice(warning);
        }
        let surroundings = reader.finish().await;
        let mut segments = prompt::system(&surroundings, &loaded.files, &hints);
        if let (Some(own), Some(first)) = (self.kin.prompt(), segments.first_mut()) {
            *first = own;
        }
        segments.extend(self.crew.briefing());
        segments.extend(self.options.append_prompt.clone());
        segments
    }

    /// The instruction files of the session's folder.
    pub(crate) fn instructions(&mut self) -> &Loaded {
        let (mind, folder) = (&self.mind, self.workspace.fence.folder());
        self.instructions.get_or_insert_with(|| {
            instructions::load(folder, &mind.paths, &mind.env, &mind.config.options)
        })
    }

    /// Records the prefix anew if the tools have changed.
    pub(crate) async fn renew_prefix(&mut self) -> Result<(), StoreError> {
        if let Some(prefix) = self.new_prefix().await {
            let entry = self.entry(prefix);
            self.append(vec![entry]).await?;
        }
        Ok(())
    }

    /// What requests begin with.
    pub(crate) fn prefix(&self) -> Option<(&[String], &[ToolSpec])> {
        transcript::prefix(&self.branch)
    }

    /// The next request.
    pub(crate) fn request(&self) -> Request {
        let (system, tools) = self.prefix().unwrap_or_default();
        Request {
            system: system.to_vec(),
            turns: turns(&self.branch),
            tools: tools.to_vec(),
            reasoning: self.options.reasoning,
            max_tokens: self.options.max_tokens,
            sampling: self.options.sampling.clone(),
            session_key: Some(self.id.to_string()),
            ..Request::default()
        }
    }

    /// Adopts another model or effort a face has asked for.
    pub(crate) async fn heed_wishes(&mut self) -> Result<(), StoreError> {
        let Wishes { target, reasoning } = std::mem::take(&mut *lock(&self.live.wishes));
        if let Some(reasoning) = reasoning {
            self.options.reasoning = reasoning;
            self.book.set_effort(reasoning);
        }
        let Some(target) = target else { return Ok(()) };
        if target.model_ref() != self.options.target.model_ref() {
            let change = self.entry(EntryKind::ModelChange { to: target.model_ref() });
            self.append(vec![change]).await?;
        }
        *lock(&self.live.target) = target.clone();
        self.options.target = target;
        self.renew_prefix().await
    }

    /// Runs a slash command.
    pub(crate) async fn command(
        &mut self,
        line: &str,
        models: &[ModelRef],
    ) -> Result<commands::Reply, StoreError> {
        let query = UsageQuery { by: By::All, since: None, session: Some(self.id) };
        let sums = self.mind.store.usage(query).await?;
        let past = self.mind.store.moments(self.id).await?;
        let instructions = self.instructions().clone();
        let folder = self.workspace.fence.folder().display().to_string();
        let definitions = self.definitions();
        let (system, tools) = self.prefix().unwrap_or_default();
        let ctx = commands::Ctx {
            session: self.id,
            folder: &folder,
            branch: &self.branch,
            past: &past,
            system,
            tools,
            instructions: &instructions,
            model: &self.options.target.model_ref(),
            window: self.options.target.model.context_window,
            models,
            mode: self.live.policy().mode,
            spent: sums.first().map(|(_, sum)| *sum).unwrap_or_default(),
            initialize_as: &self.mind.config.options.initialize_as,
            definitions: &definitions,
            style: self.style_name(),
        };
        let reply = commands::run(line, &ctx);
        if let commands::Reply::Style { name, .. } = &reply
            && self.prefix().is_none()
        {
            self.options.output_style = Some(name.clone());
        }
        Ok(reply)
    }

    /// Keeps what a yes beyond one call allows.
    pub(crate) async fn grant(&self, scope: Scope, rules: Vec<Rule>) -> Result<(), StoreError> {
        let reach = match scope {
            Scope::Once => return Ok(()),
            Scope::Session => store::Reach::Session(self.kin.root(self.id)),
            Scope::Project => store::Reach::Project(self.project.clone()),
            Scope::Always => store::Reach::Everywhere,
        };
        for rule in &rules {
            let at = self.mind.clock.now();
            self.mind.store.add_grant(reach.clone(), rule.to_string(), at).await?;
        }
        self.live.allow(rules);
        Ok(())
    }
}

/// What an entry brings into the context that nobody vouches for.
pub(crate) fn taint_of(entry: &Entry) -> Taint {
    let foreign = entry.kind.parts().iter().find_map(|part| match &part.origin {
        Origin::Web => Some("the web".to_owned()),
        Origin::Mcp(server) => Some(format!("the MCP server {server}")),
        Origin::Channel(sender) => Some(format!("a message of {sender}")),
        Origin::User
        | Origin::Assistant
        | Origin::System
        | Origin::Workspace
        | Origin::Shell
        | Origin::Skill(_)
        | Origin::Memory => None,
    });
    foreign.map_or(Taint::Clean, Taint::From)
}

/// Once tainted, always tainted.
pub(crate) fn stain(before: Taint, more: Taint) -> Taint {
    match before {
        Taint::Clean => more,
        Taint::From(_) => before,
    }
}
