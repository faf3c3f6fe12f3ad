//! Hooks: the user's own programs, told of what happens, and asked before it does.
//!
//! | module | does |
//! |---|---|
//! | [`occasion`] | the moments, by Claude Code's names |
//! | [`matcher`], [`handler`] | which handlers an event is for |
//! | [`run`] | runs one: a program, or an address that is told |
//! | [`said`], [`ruling`] | what one said; what all of them say together |
//! | [`lasting`] | what shall hold beyond one call |
//! | [`exports`] | variables for later commands, as `SessionStart` leaves them in a file |
//! | [`moments`], [`telling`] | the moments of a session; what handlers are told of each |
//! | [`story`] | the transcript, as a file that handlers can read |
//!
//! Handlers run outside the sandbox unless they ask for it (`sandbox`), with the environment Caiman was started with:
//! they are the user's, or of a project the user trusts. Until then they start in an empty folder. They can forbid anything; what they allow is no more than a user's yes.

mod exports;
mod handler;
mod lasting;
mod matcher;
mod moments;
mod occasion;
mod ruling;
mod run;
mod said;
mod story;
pub mod telling;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::protocol::HookState;
use base::{Entry, EntryId, Event, HookRunId, Paths, SessionId, TaskScope};
use futures::future::join_all;
use guard::{Decision, Fence};
use serde_json::{Map, Value, json};
use settings::definition::{self, Standing};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tools::Exported;
use tools::bound::{Bounded, Spill};

use crate::events::Events;
use crate::live::{Live, lock};
use crate::mind::Mind;

pub use handler::{Handler, Handlers, Judged, Source};
pub use lasting::Lasting;
pub use matcher::Subject;
pub(crate) use moments::{Begin, Beginner, End, ToolCall, Trigger};
pub use occasion::Occasion;
pub use ruling::Ruling;
pub use run::{Ended, Place, Timed, Wait};
pub use said::{Change, Said};

use exports::{Exports, Page};
use handler::Stops;
use story::Story;
use telling::Setting;

/// Most characters of one text that a handler hands to the model or the user.
const TEXT_CHARS: usize = 10_000;
/// How long handlers nobody waits for may go on when the session is closed: as long as those of its end.
const LAST_MOMENT: Duration = Duration::from_millis(1500);

/// The hooks of one session.
pub(crate) struct Hooks {
    handlers: Mutex<Arc<Handlers>>,
    seat: Seat,
    place: Place,
    story: Story,
    /// The prompt that is worked on.
    prompt: Mutex<Option<EntryId>>,
    /// What the model should know with the next prompt.
    pending: Mutex<Vec<String>>,
    /// Whether they were told that the session begins.
    begun: AtomicBool,
    /// Whether a handler keeps the context from being summarised; until the next prompt.
    holds_compaction: AtomicBool,
    /// Handlers nobody waits for.
    background: TaskScope,
}

/// The session whose hooks they are.
pub(crate) struct Seat {
    pub(crate) mind: Arc<Mind>,
    pub(crate) events: Events,
    pub(crate) live: Arc<Live>,
    pub(crate) session: SessionId,
    pub(crate) fence: Fence,
    /// Where texts go that are too long.
    pub(crate) spill: PathBuf,
    /// What its commands get besides.
    pub(crate) exported: Exported,
    /// The sub-agent whose session it is.
    pub(crate) agent: Option<Actor>,
}

/// A sub-agent, as handlers are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Actor {
    /// Its id.
    pub(crate) id: String,
    /// Its kind: the agent's name.
    pub(crate) kind: String,
    /// The session at the top of its family, which is the one handlers know.
    pub(crate) root: SessionId,
    /// The folder of that session.
    pub(crate) project: PathBuf,
}

/// An event as handlers are told of it.
struct Firing<'a> {
    occasion: Occasion,
    subject: Subject<'a>,
    call: Option<Judged<'a>>,
    fields: Map<String, Value>,
}

impl Hooks {
    /// The hooks of the settings and of trusted plugins, for one session.
    pub(crate) fn for_session(seat: Seat) -> Arc<Self> {
        let (mind, folder) = (&seat.mind, seat.fence.folder());
        let (root, project) = match &seat.agent {
            Some(agent) => (agent.root, agent.project.as_path()),
            None => (seat.session, folder),
        };
        let found = mind.shelf.look(project);
        let (handlers, warnings) = Handlers::new(&mind.config, &found.plugins);
        let mut place = Place::new(project, &mind.env, root, &mind.config.network, &mind.paths);
        // A room holds nothing of the user's, and handlers are the user's.
        if !seat.fence.is_confined() {
            folder.clone_into(&mut place.folder);
        }
        if seat.agent.is_some() {
            let child = ("CLAUDE_CODE_CHILD_SESSION".to_owned(), "1".to_owned());
            place.env = place.env.with([child]);
        }
        let story = Story::new(transcript(&mind.paths, seat.session), seat.session, &place.folder);
        let hooks = Self {
            handlers: Mutex::new(Arc::new(handlers)),
            seat,
            place,
            story,
            prompt: Mutex::default(),
            pending: Mutex::default(),
            begun: AtomicBool::new(false),
            holds_compaction: AtomicBool::new(false),
            background: TaskScope::new(),
        };
        hooks.warn(warnings);
        Arc::new(hooks)
    }

    /// Adds the hooks of an agent's file, for as long as the agent runs.
    pub(crate) fn adopt_agent(&self, agent: &definition::Agent) {
        // A plugin's agents bring none: the plugin has hooks of its own.
        let is_plugin = matches!(agent.home.source, definition::Source::Plugin(_));
        if agent.home.standing == Standing::Trusted && !is_plugin {
            self.adopt(&Source::Agent(agent.name.clone()), &agent.hooks, None);
        }
    }

    /// Adds the hooks of a skill that is in use, once.
    pub(crate) fn adopt_skill(&self, skill: &definition::Skill) {
        let source = Source::Skill(skill.name.clone());
        let known = self.handlers();
        let mut all = Occasion::ALL.into_iter().flat_map(|occasion| known.of(occasion));
        if skill.home.standing == Standing::Trusted && !all.any(|it| it.source == source) {
            self.adopt(&source, &skill.hooks, Some(&skill.folder));
        }
    }

    fn adopt(&self, source: &Source, hooks: &definition::Hooks, root: Option<&Path>) {
        if hooks.is_empty() || self.seat.mind.config.options.disable_hooks {
            return;
        }
        let stops = if self.seat.agent.is_some() { Stops::Sub } else { Stops::Main };
        let warnings = Arc::make_mut(&mut lock(&self.handlers)).add(source, hooks, root, stops);
        self.warn(warnings);
    }

    /// Whether any handler waits for this. A sub-agent's task is nobody's prompt, and its end not the session's.
    pub(crate) fn watches(&self, occasion: Occasion) -> bool {
        let of_the_main_session = matches!(
            occasion,
            Occasion::SessionStart
                | Occasion::SessionEnd
                | Occasion::UserPromptSubmit
                | Occasion::Stop
        );
        let is_ours = !of_the_main_session || self.seat.agent.is_none();
        is_ours && !lock(&self.handlers).of(occasion).is_empty()
    }

    /// Whether a handler waits for the beginning and was not told of it.
    pub(crate) fn has_to_begin(&self) -> bool {
        !self.begun.load(Ordering::Relaxed) && self.watches(self.begin_occasion())
    }

    /// Whether it is now that they must be told of the beginning: true once.
    pub(crate) fn begins(&self) -> bool {
        !self.begun.swap(true, Ordering::Relaxed) && self.watches(self.begin_occasion())
    }

    /// A prompt is worked on from now on, whether handlers have seen it or not.
    pub(crate) fn take_up(&self, prompt: EntryId) {
        *lock(&self.prompt) = Some(prompt);
        self.holds_compaction.store(false, Ordering::Relaxed);
    }

    /// Leaves the context as it is until the next prompt.
    pub(crate) fn hold_compaction(&self) {
        self.holds_compaction.store(true, Ordering::Relaxed);
    }

    /// Whether the context is left as it is.
    pub(crate) fn holds_compaction(&self) -> bool {
        self.holds_compaction.load(Ordering::Relaxed)
    }

    /// Keeps what handlers said to the model for the next prompt.
    pub(crate) fn keep_pending(&self, ruling: &Ruling, occasion: Occasion) {
        let texts = ruling.context.iter().map(|text| fragment(occasion, text));
        lock(&self.pending).extend(texts);
    }

    /// What the model should know with the next prompt; asked for once.
    pub(crate) fn take_pending(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.pending))
    }

    /// Brings the file that handlers read up to date; nothing where there are none.
    pub(crate) fn tell_story(&self, branch: &[Entry]) {
        let handlers = self.handlers();
        if Occasion::ALL.into_iter().all(|occasion| handlers.of(occasion).is_empty()) {
            return;
        }
        if let Err(error) = self.story.tell(branch) {
            tracing::warn!(%error, "the transcript cannot be written for hooks");
        }
    }

    /// Gives the handlers nobody waits for a moment, then ends them.
    pub(crate) async fn close(&self) {
        drop(timeout(LAST_MOMENT, self.background.join()).await);
        self.background.close().await;
        self.story.forget();
    }

    fn handlers(&self) -> Arc<Handlers> {
        lock(&self.handlers).clone()
    }

    /// Tells all handlers that are meant, beside each other, and hears what they say.
    async fn fire(self: &Arc<Self>, firing: Firing<'_>, cancel: &CancellationToken) -> Ruling {
        let mut ruling = Ruling::default();
        let call = firing.call.as_ref();
        let meant = self.handlers().meant(firing.occasion, firing.subject, call);
        if meant.is_empty() {
            return ruling;
        }
        let input = self.input(&firing).to_string();
        let (background, awaited): (Vec<_>, Vec<_>) =
            meant.into_iter().partition(|handler| handler.hook.is_background());
        for handler in background {
            self.run_behind(handler, input.clone());
        }
        let runs = awaited.iter().map(|handler| self.await_one(handler, &input, cancel));
        let said = join_all(runs).await;
        for (handler, said) in awaited.iter().zip(said) {
            ruling.take(handler, said);
        }
        self.bound(&mut ruling);
        self.warn(std::mem::take(&mut ruling.messages));
        ruling
    }

    /// Waits for a handler's answer, unless it says that nobody need.
    async fn await_one(
        self: &Arc<Self>,
        handler: &Arc<Handler>,
        input: &str,
        cancel: &CancellationToken,
    ) -> Said {
        // A turn that is stopped ends those it waits for, and no others.
        let wait = Wait { cancel: self.background.token().child_token(), ..Wait::default() };
        let mut hearing = Box::pin({
            let (hooks, handler, input, wait) =
                (self.clone(), handler.clone(), input.to_owned(), wait.clone());
            async move { hooks.hear(&handler, &input, &wait).await }
        });
        tokio::select! {
            biased;
            said = &mut hearing => return said,
            () = cancel.cancelled() => {
                wait.cancel.cancel();
                return hearing.await;
            }
            () = wait.released.cancelled() => {}
        }
        self.leave_behind(handler.clone(), hearing);
        Said::default()
    }

    async fn hear(&self, handler: &Handler, input: &str, wait: &Wait) -> Said {
        if let Some(status) = &handler.hook.status_message {
            self.notice(status.clone());
        }
        let run = HookRunId::new();
        let page = self.page(handler, run);
        let mut place = self.place.clone();
        if let Some(page) = &page {
            place.env = place.env.with(page.variables());
        }
        self.publish(run, handler, HookState::Started);
        let Timed { ended, took } = handler.timed(input, &place, wait).await;
        let (hook, event) = (handler.label(), handler.occasion.name());
        tracing::debug!(hook, event, took_ms = took.as_millis(), "a hook ended");
        if let Some(page) = page {
            self.export(handler, &page.read());
        }
        self.publish(run, handler, self.ending(&ended));
        Said::read(handler.occasion, &ended)
    }

    /// The file in which a handler can leave variables for later commands.
    fn page(&self, handler: &Handler, run: HookRunId) -> Option<Page> {
        if handler.occasion != Occasion::SessionStart || handler.hook.url.is_some() {
            return None;
        }
        let made = Page::new(&self.seat.mind.paths.cache().join("hooks"), run);
        made.map_err(|error| tracing::warn!(%error, "a hook gets no CLAUDE_ENV_FILE")).ok()
    }

    /// Gives later commands of the session the variables a handler has left. Those whose names say secret are
    /// masked from now on.
    fn export(&self, handler: &Handler, text: &str) {
        let Seat { mind, exported, .. } = &self.seat;
        let known = mind.env.with(exported.all());
        let Exports { variables, left } = Exports::of(text, &known);
        mind.redactor.learn(&variables.clone().into_iter().collect());
        exported.add(variables);
        if let Some(line) = left.first() {
            self.notice(format!(
                "the {} hook `{}`: line {line} of CLAUDE_ENV_FILE is not `export NAME=value` and was left out",
                handler.occasion,
                handler.label()
            ));
        }
    }

    fn publish(&self, run: HookRunId, handler: &Handler, state: HookState) {
        let (name, occasion) = (handler.label(), handler.occasion.name().to_owned());
        let session = self.seat.session;
        self.seat.events.publish(Event::Hook { session, run, name, occasion, state });
    }

    /// What faces are told of a handler's end.
    fn ending(&self, ended: &Ended) -> HookState {
        let shown = |text: &str| {
            let end = text.char_indices().nth(TEXT_CHARS).map_or(text.len(), |(end, _)| end);
            self.seat.mind.redactor.text(&text[..end]).into_owned()
        };
        let (code, stdout, stderr) = match ended {
            Ended::Exited { code, stdout, stderr } => (*code, shown(stdout), shown(stderr)),
            Ended::Answered { status, body } => {
                (Some(i32::from(*status)), shown(body), String::new())
            }
            Ended::TooSlow(_) | Ended::Cancelled => (None, String::new(), String::new()),
            Ended::Broken(why) => (None, String::new(), shown(why)),
        };
        HookState::Ended { code, stdout, stderr }
    }

    /// Runs a handler nobody waits for.
    fn run_behind(self: &Arc<Self>, handler: Arc<Handler>, input: String) {
        let hooks = self.clone();
        let wait = Wait { cancel: self.background.token().clone(), ..Wait::default() };
        let heard = handler.clone();
        self.leave_behind(handler, async move { hooks.hear(&heard, &input, &wait).await });
    }

    /// Goes on hearing a handler nobody waits for; what it says comes with the next prompt.
    fn leave_behind(
        self: &Arc<Self>,
        handler: Arc<Handler>,
        hearing: impl Future<Output = Said> + Send + 'static,
    ) {
        let hooks = self.clone();
        self.background.spawn(async move {
            let mut ruling = Ruling::default();
            let mut said = hearing.await;
            if handler.hook.async_rewake && said.decision == Some(Decision::Deny) {
                said.context.extend(said.reason.clone());
            }
            ruling.take(&handler, said.unawaited());
            hooks.bound(&mut ruling);
            hooks.keep_pending(&ruling, handler.occasion);
            hooks.warn(ruling.messages);
        });
    }

    /// What every handler is told, and what this event adds.
    fn input(&self, firing: &Firing<'_>) -> Value {
        let seat = &self.seat;
        let prompt = *lock(&self.prompt);
        let root = seat.agent.as_ref().map_or(seat.session, |agent| agent.root);
        let setting = Setting {
            session: root,
            prompt,
            transcript: transcript(&seat.mind.paths, root),
            folder: &self.place.folder,
            mode: seat.live.policy().mode,
            effort: seat.live.effort(),
        };
        let mut input = setting.fields(firing.occasion);
        if let Some(agent) = &seat.agent {
            input.insert("agent_id".to_owned(), json!(agent.id));
            input.insert("agent_type".to_owned(), json!(agent.kind));
            input.insert("agent_transcript_path".to_owned(), json!(self.story.path()));
        }
        input.extend(firing.fields.clone());
        Value::Object(input)
    }

    /// Cuts texts that are too long, and masks secrets in what the model will read, and places it may not know.
    fn bound(&self, ruling: &mut Ruling) {
        let cut = |text: &mut String| {
            *text = self.without_places(text);
            if text.len() > TEXT_CHARS {
                let folder = self.seat.spill.clone();
                let shown = self.seat.fence.shown(&folder);
                let spill = Spill::new(folder, "hook").shown_in(shown);
                let mut bounded = Bounded::with_limit(spill, TEXT_CHARS);
                bounded.push(text.as_bytes());
                bounded.finish();
                *text = bounded.text();
            }
            *text = self.seat.mind.redactor.text(text).into_owned();
        };
        ruling.context.iter_mut().for_each(cut);
        ruling.messages.iter_mut().for_each(cut);
        ruling.reason.iter_mut().for_each(cut);
        ruling.output.iter_mut().for_each(cut);
        ruling.halt.iter_mut().for_each(cut);
    }

    /// A text for a session that is locked in, which knows no folder of this machine.
    fn without_places(&self, text: &str) -> String {
        let Seat { fence, mind, agent, .. } = &self.seat;
        let Some(agent) = agent.as_ref().filter(|_| fence.is_confined()) else {
            return text.to_owned();
        };
        let room = fence.shown(fence.folder()).display().to_string();
        let places = [
            (fence.folder(), room.as_str()),
            (&agent.project, "$CLAUDE_PROJECT_DIR"),
            (mind.paths.home(), "~"),
        ];
        let hide = |text: String, (real, name): (&Path, &str)| {
            text.replace(&real.display().to_string(), name)
        };
        places.into_iter().fold(text.to_owned(), hide)
    }

    fn warn(&self, texts: Vec<String>) {
        for text in texts {
            self.notice(text);
        }
    }

    fn notice(&self, text: String) {
        self.seat.events.publish(Event::Notice { session: Some(self.seat.session), text });
    }
}

/// What a handler's text becomes where the model reads it.
pub(crate) fn fragment(occasion: Occasion, text: &str) -> String {
    format!("[{occasion} hook] {text}")
}

/// Where handlers find the transcript of a session.
pub fn transcript(paths: &Paths, session: SessionId) -> PathBuf {
    paths.cache().join("transcripts").join(format!("{session}.jsonl"))
}
