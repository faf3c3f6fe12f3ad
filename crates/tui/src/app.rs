//! The interface as a whole: what it knows, what it does with a message, how it is laid out.
//!
//! | module | does |
//! |---|---|
//! | [`update`] | a message on its way: input, events, answers, ticks |
//! | [`act`] | what each action does |
//! | [`says`] | prompts, and the slash commands that are the face's own |
//! | [`hears`] | events of the mind |
//! | [`answers`] | answers to look-ups, refusals of operations |
//! | [`points`] | the mouse |
//! | [`session`] | what is known of the session on the screen |
//! | [`layout`], [`status`], [`side`] | where things are drawn; status line; side pane |

mod act;
mod answers;
mod hears;
mod layout;
mod points;
mod says;
mod session;
mod side;
mod status;
#[cfg(test)]
mod tests;
mod update;

use std::collections::{BTreeMap, HashSet};

use base::interface::Tui;
use base::protocol::{Event, Mode, Offer, Op, Place, Query};
use base::{CallId, EntryId, Env, RequestId, SessionId, Timestamp};

use crate::canvas::{Canvas, Point};
use crate::composer::{Composer, Habits, Wanted};
use crate::face::{Application, Start};
use crate::key::Focus;
use crate::keymap::{Action, KeyMap};
use crate::line::Line;
use crate::look::{Look, Pictures};
use crate::message::{Asker, Effect, Message, MouseUse, Purpose, Screen};
use crate::pane::{Pane, RECENT, THEME};
use crate::panel::{Has, Panels};
use crate::terminal::abilities::Abilities;
use crate::theme::{Background, Theme};
use crate::transcript::Transcript;

use points::Pointer;
use session::Session;
use status::Status;

/// Entries looked up at a time.
const WINDOW: usize = 200;
/// Prompts of earlier sessions that the composer walks through.
const HISTORY: usize = 200;
/// How long nothing must be typed before the draft is kept.
const DRAFT_PAUSE_MS: u64 = 700;
/// How long a second press counts as one that means it.
const TWICE_MS: u64 = 2_000;
/// How long a pane that waits for a pause in typing is let alone.
const PANE_TICK_MS: u64 = 60;
/// How long the terminal may take to tell what is on its clipboard.
const CLIP_MS: u64 = 2_000;
/// Time between two pictures of a spinner.
const FRAME_MS: u64 = 120;

/// What the interface begins with, beside what the terminal must know.
#[derive(Debug, Clone)]
pub struct Beginning {
    /// What to say first.
    pub prompt: Option<String>,
    /// The time of day.
    pub now: Timestamp,
}

/// The interface.
#[derive(Debug)]
pub struct App {
    /// The folder, absolute.
    folder: String,
    opened: Option<SessionId>,
    beginning: Beginning,
    settings: Tui,
    env: Env,
    version: String,
    keys: KeyMap,
    look: Look,
    background: Background,
    /// The theme's name, or `auto`.
    theme: String,
    screen: Screen,
    mouse: MouseUse,
    focus: Option<Focus>,
    size: (u16, u16),
    is_side_hidden: bool,
    session: Session,
    place: Option<Place>,
    offers: Vec<Offer>,
    transcript: Transcript,
    composer: Composer,
    panels: Panels,
    has: Has,
    /// Whether the first questions are open.
    is_welcoming: bool,
    /// Open panes, the one on top last, each with its number.
    panes: Vec<(u64, Box<dyn Pane>)>,
    panes_opened: u64,
    status: Status,
    pointer: Pointer,
    draft: Draft,
    /// What the terminal was asked for.
    clip: Option<Wanting>,
    /// Which look-up for files was the newest, and for what.
    files: (u64, String),
    /// What the popup wanted to offer after the last change of the text.
    wanted: Wanted,
    /// A first press of a key that must be pressed twice, and until when it counts.
    armed: Option<(Armed, u64)>,
    /// Models used recently, newest first.
    recent: Vec<String>,
    /// Whether the session's newest entries have come.
    is_loaded: bool,
    /// The entry before which older ones are to be looked up.
    older: Option<EntryId>,
    /// Calls whose sub-agents are to be looked up.
    crews: Vec<CallId>,
    /// What went on when the session was opened, until its entries have come.
    going_on: Vec<Event>,
    /// Sessions that were left.
    left: Vec<Left>,
    /// Questions of other sessions that wait, with the session at the top of the family.
    elsewhere: BTreeMap<RequestId, Option<SessionId>>,
    /// What was sent last: put back into the composer if it is refused.
    sent: Option<String>,
}

/// A session that was left: what it is called when it needs the user.
#[derive(Debug)]
struct Left {
    id: SessionId,
    title: Option<String>,
    children: HashSet<SessionId>,
}

/// A key that does something when it is pressed twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Armed {
    Quit,
    Rewind,
}

/// The text in the composer, kept so that a crash does not lose it.
#[derive(Debug, Default)]
struct Draft {
    /// What was kept last.
    kept: String,
    /// When the newest change is to be kept.
    due_ms: Option<u64>,
}

/// The terminal's clipboard, which the user wants to paste and programs could not tell.
#[derive(Debug)]
struct Wanting {
    /// What is said if the terminal does not tell, either.
    problem: String,
    /// How long it is waited for.
    until_ms: u64,
}

impl App {
    /// An interface that has drawn nothing yet.
    pub fn new(start: &Start, beginning: Beginning) -> Self {
        let settings = &start.settings;
        let (keys, problems) = KeyMap::new(&settings.keys);
        let theme = settings.theme.clone().unwrap_or_else(|| "auto".to_owned());
        let mouse = if settings.no_mouse { MouseUse::Terminals } else { MouseUse::Ours };
        let look = Look {
            theme: Theme::dark(),
            version: 0,
            diff: settings.diff_mode,
            frame: 0,
            now_ms: 0,
            unicode: true,
            pictures: Pictures::HalfBlocks,
            unfold: keys.hint(Action::ToggleFold),
        };
        let mut app = Self {
            composer: Composer::new(Habits { vim: settings.vim }),
            is_side_hidden: settings.compact_mode,
            session: Session::new(start.session),
            look,
            background: Background::Unknown,
            theme,
            screen: start.screen,
            mouse,
            focus: None,
            size: (80, 24),
            place: None,
            offers: Vec::new(),
            transcript: Transcript::new(),
            panels: Panels::with_keys(&keys),
            keys,
            has: Has::OnlySpareKeys,
            is_welcoming: false,
            panes: Vec::new(),
            panes_opened: 0,
            status: Status::default(),
            pointer: Pointer::default(),
            draft: Draft::default(),
            clip: None,
            files: (0, String::new()),
            wanted: Wanted::Nothing,
            armed: None,
            recent: Vec::new(),
            is_loaded: false,
            sent: None,
            older: None,
            crews: Vec::new(),
            going_on: Vec::new(),
            left: Vec::new(),
            elsewhere: BTreeMap::new(),
            folder: start.folder.display().to_string(),
            opened: start.session,
            beginning,
            settings: start.settings.clone(),
            env: start.env.clone(),
            version: start.version.clone(),
        };
        app.transcript.set_scrollbar(app.settings.scrollbar);
        app.choose_theme();
        for problem in problems {
            app.transcript.notice(&problem);
        }
        app
    }

    /// What is to be looked up first. The composer takes keys before any of it is answered.
    fn first_look(&self) -> Vec<Effect> {
        let folder = self.folder.clone();
        let mut effects = vec![
            ask(Query::Place { folder: folder.clone() }, Asker::Place),
            ask(Query::Offers { folder: folder.clone() }, Asker::Offers),
            ask(Query::History { folder, limit: HISTORY }, Asker::History),
            ask(Query::Recall { key: self.draft_key() }, Asker::Draft),
            ask(Query::Recall { key: RECENT.to_owned() }, Asker::Recent),
            ask(Query::Recall { key: THEME.to_owned() }, Asker::Theme),
        ];
        if let Some(session) = self.opened {
            effects.extend(look_up(session));
        }
        effects.push(Effect::Title(self.window_title()));
        effects
    }

    /// When a tick is wanted; none while nothing moves and nothing waits for a time.
    fn next_due(&self) -> Option<u64> {
        let seen = self.focus != Some(Focus::Away);
        let moves = seen && (self.session.is_busy() || self.transcript.is_animated());
        // While the user is waited for, only the clock moves.
        let step = if self.panels.is_empty() { FRAME_MS } else { 1_000 };
        let frame = moves.then(|| (self.look.now_ms / step + 1) * step);
        let pane = self.panes.last().filter(|(_, pane)| pane.wants_tick());
        let pane = pane.map(|_| self.look.now_ms + PANE_TICK_MS);
        let is_wanting = self.older.is_some() || !self.crews.is_empty();
        let wanted = is_wanting.then_some(self.look.now_ms);
        let clip = self.clip.as_ref().map(|wanted| wanted.until_ms);
        [frame, self.draft.due_ms, self.status.until_ms(), pane, wanted, clip]
            .into_iter()
            .flatten()
            .min()
    }

    /// The folder that the session on the screen works in.
    fn folder(&self) -> &str {
        let ours = self.place.as_ref().map_or(&self.folder, |place| &place.folder);
        self.session.folder.as_ref().unwrap_or(ours)
    }

    fn draft_key(&self) -> String {
        format!("draft:{}", self.folder)
    }

    /// Takes the theme that settings, terminal and user lead to.
    fn choose_theme(&mut self) {
        let themes = &self.settings.themes;
        let plain = self.env.get("NO_COLOR").is_some_and(|value| !value.is_empty());
        let name = if plain { "plain" } else { &self.theme };
        match Theme::named(name, self.background, themes) {
            Ok(theme) => self.look.theme = theme,
            Err(problem) => {
                self.transcript.notice(&problem.to_string());
                "auto".clone_into(&mut self.theme);
            }
        }
        if self.settings.transparent {
            self.look.theme.uncover();
        }
        self.look.version += 1;
    }

    fn window_title(&self) -> String {
        let title = self.session.title.as_deref();
        let folder = self.folder.rsplit('/').next().unwrap_or_default();
        let mark = if self.session.is_running() { "● " } else { "" };
        format!("{mark}{} · caiman", title.unwrap_or(folder))
    }

    fn time_of_day(&self) -> Timestamp {
        let passed = i64::try_from(self.look.now_ms).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.beginning.now.as_millis().saturating_add(passed))
    }

    fn mode(&self) -> Mode {
        self.session.mode
    }
}

/// Look-ups for a session that is being opened.
fn look_up(session: SessionId) -> [Effect; 2] {
    [ask(Query::State { session }, Asker::State(session)), look_up_entries(session, None)]
}

fn look_up_entries(session: SessionId, before: Option<EntryId>) -> Effect {
    ask(Query::Entries { session, before, limit: WINDOW }, Asker::Entries(session))
}

/// A look-up.
fn ask(query: Query, asker: Asker) -> Effect {
    Effect::Ask { query, asker }
}

/// An operation whose failure is shown in the status line.
fn submit(op: Op) -> Effect {
    Effect::Submit { op, purpose: Purpose::Other }
}

impl Application for App {
    fn begin(&mut self, now_ms: u64) -> Vec<Effect> {
        self.look.now_ms = now_ms;
        self.first_look()
    }

    fn update(&mut self, message: Message, now_ms: u64) -> Vec<Effect> {
        self.take(message, now_ms)
    }

    fn learn(&mut self, abilities: &Abilities) {
        let is_news =
            self.look.pictures != abilities.pictures || self.look.unicode != abilities.unicode;
        self.look.pictures = abilities.pictures;
        self.look.unicode = abilities.unicode;
        if is_news {
            self.look.version += 1;
        }
    }

    fn draw(&mut self, canvas: &mut Canvas, now_ms: u64) -> Option<Point> {
        self.look.now_ms = self.look.now_ms.max(now_ms);
        let caret = match self.screen {
            Screen::Full => self.draw_full(canvas),
            Screen::Inline => self.draw_inline(canvas),
        };
        self.older = self.older.or_else(|| self.transcript.wants_older());
        self.crews.extend(self.transcript.wants_children());
        caret
    }

    fn take_settled(&mut self, width: u16) -> Vec<Line> {
        self.transcript.take_settled(width, &self.look)
    }

    fn height(&mut self, width: u16, most: u16) -> u16 {
        self.inline_height(width, most)
    }

    fn next_tick(&self) -> Option<u64> {
        self.next_due()
    }

    fn session(&self) -> Option<SessionId> {
        self.session.is_begun.then_some(self.session.id)
    }
}
