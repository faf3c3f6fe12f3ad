//! The side pane of a wide terminal: session, model, context, todos, changed files.

use base::Money;
use base::block::TodoState;

use super::App;
use super::status::{mode_words, short_model};
use crate::canvas::{Canvas, Rect};
use crate::figures;
use crate::line::Line;
use crate::text;
use crate::theme::Role;

/// Todos shown.
const TODOS: usize = 12;
/// Changed files shown.
const FILES: usize = 12;

impl App {
    pub(super) fn draw_side(&self, canvas: &mut Canvas, area: Rect) {
        let style = |role| self.look.theme.style(role);
        let bar = if self.look.unicode { "│" } else { "|" };
        for y in area.y..area.bottom() {
            canvas.text(Rect { y, height: 1, ..area }, bar, style(Role::Faint));
        }
        let inner = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
        let width = usize::from(inner.width);
        let mut rows: Vec<Line> = Vec::new();
        let title = self.session.title.as_deref().unwrap_or("new session");
        rows.extend(Line::new(title, style(Role::Strong)).wrap(width, 0).into_iter().take(3));
        rows.push(Line::EMPTY);
        rows.extend(self.side_model(width));
        rows.extend(self.side_todos(width));
        rows.extend(self.side_files(width));
        canvas.lines(inner, &rows);
    }

    fn side_model(&self, width: usize) -> Vec<Line> {
        let style = |role| self.look.theme.style(role);
        let session = &self.session;
        let mut rows = Vec::new();
        if let Some(model) = &session.model {
            let name = text::ellipsis(short_model(&model.model), width).into_owned();
            rows.push(Line::new(name, style(Role::Text)));
            rows.push(Line::new(model.provider.clone(), style(Role::Faint)));
        }
        let (mode, role) = mode_words(session.mode);
        if !mode.is_empty() {
            rows.push(Line::new(mode, style(role)));
        }
        if let Some(full) = session.fullness() {
            rows.push(Line::new(gauge(full, self.look.unicode), style(Role::Accent)).then(
                format!(" {full}% of {}", figures::tokens(session.window)),
                style(Role::Muted),
            ));
        }
        let tokens = session.usage.prompt() + session.usage.output;
        if tokens > 0 {
            // Nothing is what calls without a known price add up to.
            let cost = Some(session.cost).filter(|cost| *cost != Money::ZERO);
            let cost = cost.map(|cost| format!(" · {}", figures::money(cost)));
            let words = format!("{} tokens{}", figures::tokens(tokens), cost.unwrap_or_default());
            rows.push(Line::new(words, style(Role::Muted)));
        }
        rows
    }

    fn side_todos(&self, width: usize) -> Vec<Line> {
        let style = |role| self.look.theme.style(role);
        let todos = &self.session.todos;
        if todos.is_empty() {
            return Vec::new();
        }
        let done = todos.iter().filter(|todo| todo.state == TodoState::Completed).count();
        let head = format!("todos {done}/{}", todos.len());
        let mut rows = vec![Line::EMPTY, Line::new(head, style(Role::Muted))];
        for todo in todos.iter().take(TODOS) {
            let (fine, plain, role) = match todo.state {
                TodoState::Pending => ("○ ", "o ", Role::Muted),
                TodoState::InProgress => ("● ", "* ", Role::Accent),
                TodoState::Completed => ("✓ ", "x ", Role::Faint),
            };
            let mark = if self.look.unicode { fine } else { plain };
            let line = Line::new(mark, style(role)).then(todo.text.as_str(), style(role));
            rows.extend(line.wrap(width, 2).into_iter().take(2));
        }
        rows
    }

    fn side_files(&self, width: usize) -> Vec<Line> {
        let style = |role| self.look.theme.style(role);
        if self.session.changed.is_empty() {
            return Vec::new();
        }
        let head = format!("{} changed", self.session.changed.len());
        let mut rows = vec![Line::EMPTY, Line::new(head, style(Role::Muted))];
        for (path, (added, removed)) in self.session.changed.iter().take(FILES) {
            let counts = format!(" +{added} -{removed}");
            let room = width.saturating_sub(text::width(&counts));
            let name = tail(path, room);
            rows.push(
                Line::new(name, style(Role::Text))
                    .then(format!(" +{added}"), style(Role::Good))
                    .then(format!(" -{removed}"), style(Role::Bad)),
            );
        }
        rows
    }
}

/// The end of a path, which tells more than its beginning.
fn tail(path: &str, cells: usize) -> String {
    if text::width(path) <= cells {
        return path.to_owned();
    }
    let mut kept = String::new();
    for grapheme in text::graphemes(path).rev() {
        if text::width(&kept) + text::width(grapheme) + 1 > cells {
            break;
        }
        kept.insert_str(0, grapheme);
    }
    format!("…{kept}")
}

fn gauge(percent: u64, unicode: bool) -> String {
    let filled = usize::try_from(percent / 10).unwrap_or(0).min(10);
    let (full, empty) = if unicode { ("█", "░") } else { ("#", ".") };
    format!("{}{}", full.repeat(filled), empty.repeat(10 - filled))
}
