//! Panes: lists and pages that lie over the conversation, one file each in `pane/`.
//!
//! | module | holds |
//! |---|---|
//! | `list`, `sheet` | what all lists and all pages have in common |
//! | `shared` | what the interface knows already and panes show |
//! | `overlay` | a small box over a pane: a name, a choice |
//! | `words` | numbers, ages and prices as people write them |

mod changes;
mod checkpoints;
mod context;
mod cost;
mod help;
mod history;
mod list;
mod models;
mod offers;
mod overlay;
mod palette;
mod patch;
mod queue;
mod servers;
mod sessions;
mod shared;
mod sheet;
mod themes;
mod todos;

use base::protocol::{ClientError, Reply};

use crate::canvas::{Canvas, Point, Rect};
use crate::key::{Key, Mouse};
use crate::look::Look;
use crate::message::{Effect, Purpose};
use crate::welcome::Welcome;

use list::ListPane;
use sheet::SheetPane;

pub use models::{FAVOURITE, RECENT};
pub(crate) use overlay::{Overlay, overlay};
pub(crate) use patch::lines as diff_lines;
pub use shared::Shared;
pub use themes::THEME;

/// Which pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaneKind {
    /// All commands and actions.
    Palette,
    /// Sessions of all projects.
    Sessions,
    /// Models.
    Models,
    /// Files changed in this session.
    Changes,
    /// Moments to go back to.
    Checkpoints,
    /// Agents.
    Agents,
    /// Skills.
    Skills,
    /// MCP and language servers.
    Servers,
    /// What is to be done.
    Todos,
    /// What fills the context window.
    Context,
    /// What the session cost.
    Cost,
    /// Themes.
    Themes,
    /// Prompts that wait.
    Queue,
    /// What was said before.
    History,
    /// Keys and commands.
    Help,
    /// A provider's key.
    Login,
}

/// What a pane does with a key or a click.
#[derive(Debug, Clone, PartialEq)]
pub enum Pressed {
    /// It took it; this is to be done.
    Taken(Vec<Effect>),
    /// It has no use for it: the interface's own keys are tried.
    Ignored,
    /// It took it, is done, and this is to be done.
    Done(Vec<Effect>),
}

/// Something that lies over the conversation and takes the keys while it is open.
pub trait Pane: std::fmt::Debug {
    /// What it must look up when it opens; `ask` makes its look-ups.
    fn open(&mut self) -> Vec<Effect>;

    /// The answer to its look-up number `what`.
    fn hear(&mut self, what: u8, reply: Result<Reply, ClientError>) -> Vec<Effect>;

    /// A key.
    fn key(&mut self, key: Key) -> Pressed;

    /// Pasted text; most put it into their search line.
    fn paste(&mut self, text: &str) -> Pressed;

    /// The mouse, at a point of the whole screen.
    fn mouse(&mut self, mouse: Mouse) -> Pressed;

    /// Draws it into the whole screen and returns where the caret is.
    fn draw(&mut self, canvas: &mut Canvas, area: Rect, look: &Look) -> Option<Point>;

    /// An operation that it submitted was taken, or not.
    fn submitted(&mut self, _purpose: Purpose, _outcome: Result<(), ClientError>) -> Vec<Effect> {
        Vec::new()
    }

    /// Whether it is done without a key: what it submitted has settled it. Asked after [`Pane::submitted`].
    fn is_done(&self) -> bool {
        false
    }

    /// What the interface knows is another now.
    fn share(&mut self, _shared: &Shared) {}

    /// Whether it waits for time to pass: it is ticked until it does no longer.
    fn wants_tick(&self) -> bool {
        false
    }

    /// Time has passed.
    fn tick(&mut self, _now_ms: u64) -> Vec<Effect> {
        Vec::new()
    }
}

/// Makes a pane; its look-ups come from [`Pane::open`].
pub fn open(kind: PaneKind, shared: &Shared) -> Box<dyn Pane> {
    match kind {
        PaneKind::Palette => Box::new(ListPane::new(palette::Palette::new(shared))),
        PaneKind::Sessions => Box::new(ListPane::new(sessions::Sessions::new(shared))),
        PaneKind::Models => Box::new(ListPane::new(models::Models::new(shared))),
        PaneKind::Changes => Box::new(ListPane::new(changes::Changes::new(shared))),
        PaneKind::Checkpoints => Box::new(ListPane::new(checkpoints::Checkpoints::new(shared))),
        PaneKind::Agents => Box::new(ListPane::new(offers::Offers::agents(shared))),
        PaneKind::Skills => Box::new(ListPane::new(offers::Offers::skills(shared))),
        PaneKind::Servers => Box::new(ListPane::new(servers::Servers::new(shared))),
        PaneKind::Todos => Box::new(SheetPane::new(todos::Todos::new(shared))),
        PaneKind::Context => Box::new(SheetPane::new(context::Context::new(shared))),
        PaneKind::Cost => Box::new(SheetPane::new(cost::Cost::new(shared))),
        PaneKind::Themes => Box::new(ListPane::new(themes::Themes::new(shared))),
        PaneKind::Queue => Box::new(ListPane::new(queue::Queue::new(shared))),
        PaneKind::History => Box::new(ListPane::new(history::History::new(shared))),
        PaneKind::Help => Box::new(ListPane::new(help::Help::new(shared))),
        PaneKind::Login => Box::new(Welcome::login(shared)),
    }
}

#[cfg(test)]
mod tests;
