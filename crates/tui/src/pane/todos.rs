//! What is to be done, as the model has written it down.

use base::block::{Todo, TodoState};

use super::Shared;
use super::sheet::Sheet;
use crate::line::Line;
use crate::look::Look;
use crate::style::Attrs;
use crate::theme::Role;

/// The list of things to do.
#[derive(Debug)]
pub(crate) struct Todos {
    todos: Vec<Todo>,
}

impl Todos {
    /// A page of what is known.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self { todos: shared.todos.clone() }
    }
}

impl Sheet for Todos {
    fn title(&self) -> String {
        let done = self.todos.iter().filter(|todo| todo.state == TodoState::Completed).count();
        format!("to do {done}/{}", self.todos.len())
    }

    fn share(&mut self, shared: &Shared) {
        self.todos.clone_from(&shared.todos);
    }

    fn lines(&self, width: usize, look: &Look) -> Vec<Line> {
        let style = |role| look.theme.style(role);
        if self.todos.is_empty() {
            let words = "the model has written nothing down";
            return vec![Line::new(words, style(Role::Faint))];
        }
        let line = |todo: &Todo| {
            let (mark, plain, role, attrs) = match todo.state {
                TodoState::Pending => ("◌", "[ ]", Role::Text, Attrs::NONE),
                TodoState::InProgress => ("●", "[>]", Role::Accent, Attrs::BOLD),
                TodoState::Completed => ("✓", "[x]", Role::Faint, Attrs::STRIKE),
            };
            let mark = if look.unicode { mark } else { plain };
            let begin = Line::new(format!("{mark} "), style(role));
            begin.then(&todo.text, style(role).with(attrs)).wrap(width, 2)
        };
        self.todos.iter().flat_map(line).collect()
    }
}
