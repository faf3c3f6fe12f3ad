//! What the session cost, by model.

use base::protocol::Spent;
use base::{Money, Usage};

use super::Shared;
use super::sheet::Sheet;
use crate::figures;
use crate::line::Line;
use crate::look::Look;
use crate::text;
use crate::theme::Role;

/// The page of costs.
#[derive(Debug)]
pub(crate) struct Cost {
    spent: Vec<Spent>,
}

impl Cost {
    /// A page of what is known.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self { spent: shared.spent.clone() }
    }
}

impl Sheet for Cost {
    fn title(&self) -> String {
        "cost".to_owned()
    }

    fn share(&mut self, shared: &Shared) {
        self.spent.clone_from(&shared.spent);
    }

    fn lines(&self, width: usize, look: &Look) -> Vec<Line> {
        let style = |role| look.theme.style(role);
        if self.spent.is_empty() {
            return vec![Line::new("nothing was spent yet", style(Role::Faint))];
        }
        let known: Money = self.spent.iter().filter_map(|spent| spent.cost).sum();
        let is_whole = self.spent.iter().all(|spent| spent.cost.is_some());
        let note = if is_whole { "" } else { " and what has no known price" };
        let mut lines = vec![Line::new(format!("{known}{note}"), style(Role::Strong)), Line::EMPTY];
        for spent in &self.spent {
            let cost = spent.cost.map_or_else(|| "no price".to_owned(), |cost| cost.to_string());
            let name = spent.model.to_string();
            let room = width.saturating_sub(text::width(&cost) + 2);
            let name = text::ellipsis(&name, room).into_owned();
            let gap = width.min(60).saturating_sub(text::width(&name) + text::width(&cost)).max(2);
            lines.push(
                Line::new(name, style(Role::Text))
                    .then(" ".repeat(gap), style(Role::Text))
                    .then(cost, style(Role::Accent)),
            );
            let told = Line::new(format!("  {}", tokens(spent)), style(Role::Muted));
            lines.extend(told.wrap(width, 2));
        }
        lines
    }
}

fn tokens(spent: &Spent) -> String {
    let Usage { input, cache_read, cache_write, output, reasoning } = spent.usage;
    let calls =
        if spent.calls == 1 { "1 call".to_owned() } else { format!("{} calls", spent.calls) };
    let mut words = vec![calls, format!("{} in", figures::tokens(input))];
    let cached = spent.usage.prompt();
    if cache_read > 0 {
        let share = cache_read.saturating_mul(100) / cached.max(1);
        words.push(format!("{} from cache ({share} %)", figures::tokens(cache_read)));
    }
    if cache_write > 0 {
        words.push(format!("{} to cache", figures::tokens(cache_write)));
    }
    words.push(format!("{} out", figures::tokens(output)));
    if reasoning > 0 {
        words.push(format!("{} of it thought", figures::tokens(reasoning)));
    }
    words.join(" · ")
}
