//! Where things are drawn, on the whole screen and inline.

use super::App;
use super::says::with_own;
use crate::canvas::{Canvas, Point, Rect};
use crate::keymap::Action;
use crate::line::Line;
use crate::pane::Shared;
use crate::text;
use crate::theme::Role;

/// Columns of the side pane.
const SIDE: u16 = 36;
/// The least size at which there is a side pane.
const WIDE: (u16, u16) = (120, 30);
/// Rows a pane gets in inline mode, if the terminal has them.
const INLINE_PANE: u16 = 20;
/// Rows above the composer that its popup gets in inline mode.
const INLINE_POPUP: u16 = 10;
/// Waiting prompts shown above the composer.
const WAITING: usize = 3;

impl App {
    /// Draws on a canvas as large as the screen.
    pub(super) fn draw_full(&mut self, canvas: &mut Canvas) -> Option<Point> {
        let area = canvas.area();
        let is_wide = area.width >= WIDE.0 && area.height >= WIDE.1;
        let main = if is_wide && !self.is_side_hidden {
            let (main, side) = area.split_left(area.width - SIDE);
            self.draw_side(canvas, side);
            main
        } else {
            area
        };
        let parts = self.below(main);
        let (rest, below) = main.split_bottom(parts.height());
        self.pointer.transcript = rest;
        if self.is_fresh() {
            self.draw_landing(canvas, rest);
        } else {
            self.transcript.draw(canvas, rest, &self.look);
        }
        let caret = self.draw_below(canvas, below, &parts);
        if self.panes.is_empty() { caret } else { self.draw_pane(canvas, area) }
    }

    /// Rows that what still changes wants in inline mode, at most `most`.
    pub(super) fn inline_height(&mut self, width: u16, most: u16) -> u16 {
        if !self.panes.is_empty() {
            return most.min(INLINE_PANE);
        }
        let below = self.below(Rect::sized(width, most)).height().min(most);
        let popup = if self.composer.is_popup_open() { INLINE_POPUP } else { 0 };
        let landing = if self.is_fresh() { self.short_landing().len() } else { 0 };
        let landing = u16::try_from(landing).unwrap_or(u16::MAX);
        let live = self.transcript.live_height(width, &self.look).max(popup).max(landing);
        below + live.min(most - below)
    }

    /// Draws what still changes, on a canvas as high as it wants to be.
    pub(super) fn draw_inline(&mut self, canvas: &mut Canvas) -> Option<Point> {
        let area = canvas.area();
        if !self.panes.is_empty() {
            return self.draw_pane(canvas, area);
        }
        let height = self.size.1.max(area.height);
        let parts = self.below(Rect { height, ..area });
        let (live, below) = area.split_bottom(parts.height());
        self.pointer.transcript = live;
        if self.is_fresh() {
            let live = live.inset(1, 0);
            let cut = |row: Line| row.cut(usize::from(live.width));
            canvas.lines(live, &self.short_landing().into_iter().map(cut).collect::<Vec<_>>());
        } else {
            self.transcript.draw_live(canvas, live, &self.look);
        }
        self.draw_below(canvas, below, &parts)
    }

    /// Rows of each thing below the conversation; what does not fit is taken from the panel.
    fn below(&mut self, area: Rect) -> Below {
        let is_low = area.height < 12;
        // On a low screen a question needs the rows, and says itself that it waits.
        let is_tight = is_low && !self.panels.is_empty();
        let composer_most = if is_tight { 1 } else { (area.height / 3).clamp(1, 12) };
        let status = u16::from(area.height > 3);
        let composer = self.composer.height(area.width, composer_most).min(area.height);
        let activity = u16::from(self.session.is_busy() && area.height > 4 && !is_tight);
        let waiting = self.session.waiting.len().min(if is_low { 1 } else { WAITING });
        let waiting = u16::try_from(waiting).unwrap_or(0);
        let taken = composer + status + activity + waiting;
        let room = area.height.saturating_sub(taken);
        let panel_most = (area.height * 3 / 5).max(6).min(room);
        let panel = if self.panels.is_empty() {
            0
        } else {
            self.panels.height(area.width, panel_most, &self.look).min(room)
        };
        Below { panel, activity, waiting, composer, status }
    }

    fn draw_below(&mut self, canvas: &mut Canvas, area: Rect, parts: &Below) -> Option<Point> {
        let (rest, status) = area.split_bottom(parts.status);
        let (rest, composer) = rest.split_bottom(parts.composer);
        let (rest, waiting) = rest.split_bottom(parts.waiting);
        let (panel, activity) = rest.split_bottom(parts.activity);
        self.pointer.composer = composer;
        self.pointer.panel = panel;
        let has = self.panel_has();
        let in_panel = if self.panels.is_empty() {
            None
        } else {
            self.panels.draw(canvas, panel, has, &self.look)
        };
        if activity.height > 0
            && let Some(line) = self.activity()
        {
            let area = activity.inset(1, 0);
            canvas.line(area, &line.cut(usize::from(area.width)));
        }
        let (most, waiting) = (usize::from(waiting.height), waiting.inset(1, 0));
        canvas.lines(waiting, &self.waiting_rows(most, usize::from(waiting.width)));
        let hint = self.hint();
        let caret = self.composer.draw(canvas, composer, &hint, &self.look);
        if status.height > 0 {
            self.draw_status(canvas, status.inset(1, 0));
        }
        self.composer.draw_popup(canvas, composer, &self.look);
        in_panel.or(caret)
    }

    /// Draws the pane on top.
    fn draw_pane(&mut self, canvas: &mut Canvas, area: Rect) -> Option<Point> {
        let (_, pane) = self.panes.last_mut()?;
        let caret = pane.draw(canvas, area, &self.look);
        if !self.panels.is_empty() {
            let row = Rect { height: 1.min(area.height), ..area }.inset(1, 0);
            let style = self.look.theme.style(Role::Warning);
            canvas.text(row, " a question waits: close this to answer ", style);
        }
        caret
    }

    /// What an empty composer says.
    fn hint(&self) -> String {
        if self.session.is_running() {
            return "say something: it joins the turn".to_owned();
        }
        if !self.session.waiting.is_empty() {
            let edit = self.keys.hint(Action::OpenQueue);
            return format!("enter sends what waits · {edit} edits it");
        }
        "ask anything · / commands · @ files · ! shell".to_owned()
    }

    /// Whether nothing was said yet.
    fn is_fresh(&self) -> bool {
        self.transcript.is_empty() && !self.session.is_begun
    }

    /// What an empty conversation shows, in the middle.
    fn draw_landing(&self, canvas: &mut Canvas, area: Rect) {
        let rows = self.landing(usize::from(area.height));
        let rows: Vec<Line> = rows.iter().map(|row| row.cut(usize::from(area.width))).collect();
        let height = u16::try_from(rows.len()).unwrap_or(u16::MAX);
        let width = rows.iter().map(Line::width).max().unwrap_or(0);
        let place = area.middle(u16::try_from(width).unwrap_or(u16::MAX), height);
        canvas.lines(place, &rows);
    }

    /// Who we are, and which version.
    fn name(&self) -> Line {
        let style = |role| self.look.theme.style(role);
        Line::new("caiman", style(Role::Accent).with(crate::style::Attrs::BOLD))
            .then(format!(" {}", self.version), style(Role::Faint))
    }

    /// What answers.
    fn answering(&self) -> String {
        match (&self.session.model, &self.place) {
            (Some(model), _) => model.to_string(),
            (None, Some(_)) => "no model yet".to_owned(),
            (None, None) => "…".to_owned(),
        }
    }

    /// Inline there is room for little: what a terminal wraps when it gets narrow may stay in its history.
    fn short_landing(&self) -> Vec<Line> {
        let style = |role| self.look.theme.style(role);
        let keys = [Action::OpenPalette, Action::OpenHelp].map(|action| self.keys.hint(action));
        let words = format!("{} everything there is to do · {} help", keys[0], keys[1]);
        let mut rows = vec![
            self.name().then(format!(" · {}", self.answering()), style(Role::Text)),
            Line::new(words, style(Role::Faint)),
        ];
        if let Some(file) = self.place.as_ref().and_then(|place| place.init.as_ref()) {
            let words = format!("/init writes {file}, notes for agents");
            rows.push(Line::new(words, style(Role::Faint)));
        }
        rows
    }

    /// Who we are, what answers, and what can be done; in few rows without air, and without what is found
    /// elsewhere.
    fn landing(&self, height: usize) -> Vec<Line> {
        let style = |role| self.look.theme.style(role);
        // What is left out first comes last.
        let hints = [
            (Action::OpenPalette, "everything there is to do", 0),
            (Action::OpenModels, "another model", 3),
            (Action::OpenSessions, "earlier sessions", 2),
            (Action::NextMode, "plan, accept edits", 4),
            (Action::OpenHelp, "help", 1),
        ];
        let mut offers: Vec<(String, String, usize)> = hints
            .iter()
            .map(|(action, words, rank)| (self.keys.hint(*action), (*words).to_owned(), *rank))
            .collect();
        if let Some(file) = self.place.as_ref().and_then(|place| place.init.as_ref()) {
            offers.push(("/init".to_owned(), format!("write {file}, notes for agents"), 0));
        }
        let airy = vec![
            self.name(),
            Line::EMPTY,
            Line::new(self.answering(), style(Role::Text)),
            Line::EMPTY,
        ];
        let mut rows = if airy.len() + offers.len() <= height {
            airy
        } else {
            vec![self.name().then(format!(" · {}", self.answering()), style(Role::Text))]
        };
        let room = height.saturating_sub(rows.len());
        let mut ranks: Vec<usize> = offers.iter().map(|(_, _, rank)| *rank).collect();
        ranks.sort_unstable();
        ranks.truncate(room);
        offers.retain(|(_, _, rank)| ranks.contains(rank));
        let wide = offers.iter().map(|(key, ..)| text::width(key)).max().unwrap_or(0);
        for (key, words, _) in offers {
            let pad = " ".repeat(wide - text::width(&key) + 2);
            rows.push(
                Line::new(key, style(Role::Muted))
                    .then(pad, style(Role::Text))
                    .then(words, style(Role::Faint)),
            );
        }
        rows
    }

    /// What a pane is made from.
    pub(super) fn shared(&self, pane: u64) -> Shared {
        Shared {
            pane,
            folder: self.folder.clone(),
            home: self.env.get("HOME").unwrap_or_default().to_owned(),
            session: self.session.is_begun.then_some(self.session.id),
            now: self.time_of_day(),
            keys: self.keys.clone(),
            offers: with_own(self.offers.clone()),
            todos: self.session.todos.clone(),
            waiting: self.session.waiting.clone(),
            model: self.session.model.clone(),
            window: self.session.window,
            used: self.session.used,
            spent: self.session.spent.clone(),
            theme: self.theme.clone(),
            themes: self.settings.themes.clone(),
        }
    }
}

/// Rows of each thing below the conversation.
struct Below {
    panel: u16,
    activity: u16,
    waiting: u16,
    composer: u16,
    status: u16,
}

impl Below {
    fn height(&self) -> u16 {
        self.panel + self.activity + self.waiting + self.composer + self.status
    }
}
