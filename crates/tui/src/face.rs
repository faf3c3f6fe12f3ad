//! The loop that runs an interface: messages come in, effects are carried out, frames are drawn.
//!
//! One thread owns the interface. The terminal is read by another, the mind is reached by a task of the caller's
//! runtime ([`Bridge::serve`]); both send what they have to the loop, which sleeps until then.

mod bridge;
#[cfg(unix)]
mod editor;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod last_words;
mod lines;
#[cfg(unix)]
mod run;
mod signals;
#[cfg(unix)]
mod world;

use std::path::PathBuf;

use base::interface::{Notifications, Tui};
use base::{Env, SessionId};

use crate::canvas::{Canvas, Point};
use crate::line::Line;
use crate::message::{Effect, Message, Screen};
use crate::terminal::abilities::Abilities;

pub use crate::face::bridge::{Bridge, Wire, bridge};
pub use crate::face::lines::run_lines;
#[cfg(unix)]
pub use crate::face::run::{drive, run};

/// An interface: what happens changes it, and it can be drawn. It does nothing to the world itself.
pub trait Application {
    /// What is to be done at the start.
    fn begin(&mut self, now_ms: u64) -> Vec<Effect>;

    /// Takes something that happened; returns what is to be done.
    fn update(&mut self, message: Message, now_ms: u64) -> Vec<Effect>;

    /// What the terminal can do: at the start, and when its answers tell more.
    fn learn(&mut self, abilities: &Abilities);

    /// Draws it and returns where the caret is.
    fn draw(&mut self, canvas: &mut Canvas, now_ms: u64) -> Option<Point>;

    /// Inline: lines that will change no more and were not taken before.
    fn take_settled(&mut self, width: u16) -> Vec<Line>;

    /// Inline: rows it wants for what still changes, at most `most`.
    fn height(&mut self, width: u16, most: u16) -> u16;

    /// When it wants a [`Message::Tick`]; none while nothing moves by itself.
    fn next_tick(&self) -> Option<u64>;

    /// The session that is open.
    fn session(&self) -> Option<SessionId>;
}

/// What an interface starts with.
#[derive(Debug, Clone)]
pub struct Start {
    /// The project's folder.
    pub folder: PathBuf,
    /// The session to go on with; none for a new one.
    pub session: Option<SessionId>,
    /// Where it draws.
    pub screen: Screen,
    /// Settings.
    pub settings: Tui,
    /// How the user is told of what happens while they look elsewhere.
    pub notifications: Notifications,
    /// Whether progress is shown in the task bar.
    pub progress: bool,
    /// The environment.
    pub env: Env,
    /// Where the log is written, to be named after a crash.
    pub log: PathBuf,
    /// Our version.
    pub version: String,
}

/// What is left to say at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Farewell {
    /// The session that was open, to name it for the next time.
    pub session: Option<SessionId>,
}

/// Why an interface ended that should not have.
#[derive(Debug, thiserror::Error)]
pub enum FaceError {
    /// There is no terminal.
    #[error(
        "there is no terminal to draw on: {0}. Run `caiman run \"<prompt>\"` for work without one"
    )]
    NoTerminal(#[source] std::io::Error),
    /// It was there, and is gone or cannot be used.
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] std::io::Error),
}
