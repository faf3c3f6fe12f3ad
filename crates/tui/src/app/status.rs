//! The line below the composer and the one above it: what is set, what is going on, what was just said.

use base::protocol::Mode;
use base::{Effort, Money};

use super::App;
use super::session::Turn;
use crate::canvas::{Canvas, Rect};
use crate::figures::{self, money};
use crate::keymap::Action;
use crate::line::Line;
use crate::message::Screen;
use crate::text;
use crate::theme::Role;

/// How long something of passing interest is shown.
const SHOWN_MS: u64 = 5_000;
/// Pictures of the spinner.
const SPINNER: [&str; 10] = ["⠋ ", "⠙ ", "⠹ ", "⠸ ", "⠼ ", "⠴ ", "⠦ ", "⠧ ", "⠇ ", "⠏ "];
/// Pictures of the spinner where only ASCII is shown.
const PLAIN_SPINNER: [&str; 4] = ["- ", "\\ ", "| ", "/ "];

/// What was just said, and until when it is shown.
#[derive(Debug, Default)]
pub(super) struct Status {
    said: Option<(String, u64)>,
}

impl Status {
    pub(super) fn say(&mut self, text: String, now_ms: u64) {
        self.said = Some((text, now_ms + SHOWN_MS));
    }

    /// What was said is true no more.
    pub(super) fn hush(&mut self) {
        self.said = None;
    }

    /// Time has passed.
    pub(super) fn pass(&mut self, now_ms: u64) {
        if self.said.as_ref().is_some_and(|(_, until)| *until <= now_ms) {
            self.said = None;
        }
    }

    pub(super) fn until_ms(&self) -> Option<u64> {
        self.said.as_ref().map(|(_, until)| *until)
    }
}

impl App {
    /// The line below the composer: folder and mode at the left, model, context and cost at the right.
    pub(super) fn draw_status(&self, canvas: &mut Canvas, area: Rect) {
        let style = |role| self.look.theme.style(role);
        let right = self.figures();
        let wide = u16::try_from(text::width(&right)).unwrap_or(u16::MAX);
        let (left_area, right_area) = if wide + 12 < area.width {
            area.split_left(area.width - wide)
        } else {
            (area, Rect { width: 0, ..area })
        };
        let mut left = Line::EMPTY;
        if let Some((said, _)) = &self.status.said {
            left.push(said.as_str(), style(Role::Accent));
        } else if let Some(words) = self.waits_elsewhere() {
            let key = self.keys.hint(Action::OpenSessions);
            left.push(format!("{words} · {key}"), style(Role::Warning));
        } else if !self.transcript.is_following() && self.screen == Screen::Full {
            let key = self.free_key(Action::ScrollBottom);
            left.push(format!("{key} to the newest"), style(Role::Accent));
        } else {
            let (mode, role) = mode_words(self.mode());
            left.push(mode, style(role));
            if !mode.is_empty() {
                left.push(" · ", style(Role::Faint));
            }
            left.push(self.where_we_are(), style(Role::Muted));
        }
        let width = left_area.width.saturating_sub(u16::from(right_area.width > 0));
        canvas.line(Rect { width, ..left_area }, &left.cut(usize::from(width)));
        canvas.text(right_area, &right, style(Role::Muted));
    }

    /// The key of an action that does not edit what is written now.
    fn free_key(&self, action: Action) -> String {
        let keys = self.keys.keys(action);
        let free = keys.iter().find(|key| !self.composer.edits_with(**key));
        free.or(keys.first()).map(ToString::to_string).unwrap_or_default()
    }

    /// Model, effort, how full the context is, and what it cost.
    fn figures(&self) -> String {
        let session = &self.session;
        let model = session.model.as_ref().map(|model| short_model(&model.model).to_owned());
        let effort = session.effort.map(|effort: Effort| effort.to_string());
        let full = session.fullness().filter(|_| session.used > 0).map(|full| format!("{full}%"));
        let cost = (session.cost != Money::default()).then(|| money(session.cost));
        let parts: Vec<String> = [model, effort, full, cost].into_iter().flatten().collect();
        parts.join(" · ")
    }

    fn where_we_are(&self) -> String {
        let folder = self.folder();
        let place = self.place.as_ref().filter(|place| place.folder == folder);
        let folder = text::below_home(folder, self.env.get("HOME").unwrap_or_default());
        match place.and_then(|place| place.branch.as_ref()) {
            Some(branch) => format!("{folder} ({branch})"),
            None => folder,
        }
    }

    /// The line above the composer while something is going on.
    pub(super) fn activity(&self) -> Option<Line> {
        let style = |role| self.look.theme.style(role);
        if !self.session.is_busy() {
            return None;
        }
        let waits = !self.panels.is_empty();
        let passed = figures::clock(self.look.now_ms.saturating_sub(self.session.since_ms));
        let state = match self.session.turn {
            _ if waits => "waiting for your answer",
            Turn::Stops => "stopping",
            Turn::Runs => "working",
            Turn::None => "your command runs",
        };
        let mut line = Line::EMPTY;
        line.push(if waits { "? " } else { self.spinner() }, style(Role::Accent));
        line.push(state, style(Role::Text));
        line.push(format!(" · {passed}"), style(Role::Muted));
        let stop = self.keys.hint(Action::Stop);
        let hint = if self.composer.is_empty() || !self.session.is_running() {
            let edit = self.keys.hint(Action::OpenQueue);
            let queue = if self.session.waiting.is_empty() {
                String::new()
            } else {
                format!(" · {edit} edits what waits")
            };
            format!(" · {stop} stops{queue}")
        } else {
            let later = self.keys.hint(Action::SendLater);
            format!(" · enter joins the turn · {later} waits for its end · {stop} stops")
        };
        line.push(hint, style(Role::Faint));
        Some(line)
    }

    fn spinner(&self) -> &'static str {
        let frame = usize::try_from(self.look.frame).unwrap_or(0);
        let pictures: &[&str] = if self.look.unicode { &SPINNER } else { &PLAIN_SPINNER };
        pictures[frame % pictures.len()]
    }

    /// Prompts that wait, a row each.
    pub(super) fn waiting_rows(&self, most: usize, cells: usize) -> Vec<Line> {
        let style = |role| self.look.theme.style(role);
        let waiting = &self.session.waiting;
        let mut rows: Vec<Line> = waiting
            .iter()
            .take(most)
            .map(|prompt| {
                let words = prompt.parts.iter().find_map(base::Part::as_text).unwrap_or("…");
                let first = words.lines().next().unwrap_or_default();
                let how = match prompt.delivery {
                    base::protocol::Delivery::Steer => "joins ",
                    base::protocol::Delivery::Queue => "waits ",
                };
                Line::new(how, style(Role::Faint)).then(first, style(Role::Muted)).cut(cells)
            })
            .collect();
        if waiting.len() > most
            && let Some(last) = rows.last_mut()
        {
            let more = format!("  and {} more", waiting.len() - most);
            *last = last.cut(cells.saturating_sub(text::width(&more)));
            last.push(more, style(Role::Faint));
        }
        rows
    }
}

/// What a mode is called, and how loudly.
pub(super) fn mode_words(mode: Mode) -> (&'static str, Role) {
    match mode {
        Mode::Default => ("", Role::Muted),
        Mode::AcceptEdits => ("accept edits", Role::Good),
        Mode::Plan => ("plan", Role::Accent),
        Mode::DontAsk => ("don't ask", Role::Warning),
        Mode::Bypass => ("asks nothing", Role::Bad),
    }
}

/// A model's id without what only its provider needs.
pub(super) fn short_model(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}
